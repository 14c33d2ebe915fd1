/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Event types, parameter types, formats, categories and flags. The values are those of the .scap
 * format and never change. */
#ifndef DRIVER_SHARED_EVENTS_H
#define DRIVER_SHARED_EVENTS_H

enum evt_type {
#define EVT(id, sym, name, category, flags, n_2022, ...) EVT_##sym = id,
#include "events.def"
#undef EVT
};

#define EVT_COMPAT_MAX 336 /* sysdig 0.29.3 has the types below this */
#define EVT_PUBLIC_MAX 454 /* Falco's libs have the types below this */
#define EVT_PRIVATE 0x4000 /* saker's own types: private, other tools skip them */
#define EVT_OWN_CALL 0x4080 /* saker's own types for calls: events 0 and 1 in a compatible file */
#define EVT_OWN_END 0x4300
#define EVT_MAX_PARAMS 36

/* Returns the index of an event's row in a table of EVT_INDEX_MAX, without gaps. Even stays even,
 * odd stays odd. */
#define EVT_INDEX(id) ((id) < EVT_PRIVATE ? (id) : (id)-EVT_PRIVATE + EVT_PUBLIC_MAX)
#define EVT_INDEX_MAX EVT_INDEX(EVT_OWN_END)

/* A type that no event has: the last row of such a table, always empty. */
#define EVT_NONE (EVT_OWN_END - 1)

static inline unsigned int evt_index(unsigned int type)
{
	if (type < EVT_PUBLIC_MAX)
		return type;
	if (type >= EVT_PRIVATE && type < EVT_OWN_END)
		return EVT_INDEX(type);
	return EVT_INDEX(EVT_NONE);
}

/* Returns whether the event takes no number and has no line: it is about the capture, not about the
 * system. */
static inline int evt_is_private(unsigned int type)
{
	return type >= EVT_PRIVATE && (type < EVT_OWN_CALL || type >= EVT_OWN_END);
}

/* Returns whether the event reports a container. A capture of another tool begins with those that
 * were there before. */
static inline int evt_is_of_container(unsigned int type)
{
	return type == EVT_CONTAINER_272_E || type == EVT_CONTAINER_E;
}

/* Returns whether the event reports a user or group that another tool added to its own table or
 * removed. It takes no number. */
static inline int evt_is_of_users(unsigned int type)
{
	return type >= EVT_USERADDED_E && type <= EVT_GROUPDELETED_E;
}

/* Returns whether sysdig numbers the event. The first comparison decides most events. */
static inline int evt_takes_number(unsigned int type)
{
	return type < EVT_USERADDED_E || !(evt_is_private(type) || evt_is_of_users(type));
}

/* Returns whether times may be counted from the event: it is no container that was there before. */
static inline int evt_begins_capture(unsigned int type)
{
	return evt_takes_number(type) && !evt_is_of_container(type);
}

static inline int evt_is_own_call(unsigned int type)
{
	return type >= EVT_OWN_CALL && type < EVT_OWN_END;
}

static inline int evt_is_enter(unsigned int type)
{
	return !(type & 1);
}

/* In the order of the format: the value is not in files, but the tables of all tools agree. */
enum param_type {
	PT_NONE,
	PT_INT8,
	PT_INT16,
	PT_INT32,
	PT_INT64,
	PT_UINT8,
	PT_UINT16,
	PT_UINT32,
	PT_UINT64,
	PT_CHARBUF, /* text with its NUL */
	PT_BYTEBUF,
	PT_ERRNO, /* s64: a result, negative for an error */
	PT_SOCKADDR, /* u8 family, then ip, port; or path */
	PT_SOCKTUPLE, /* u8 family, then source and destination ip, port; unix: two u64, path */
	PT_FD, /* s64 */
	PT_PID, /* s64 */
	PT_FDLIST, /* u16 n, then n of s64 fd, s16 flags */
	PT_FSPATH,
	PT_SYSCALLID, /* u16, ppm_sc.def */
	PT_SIGTYPE, /* u8 */
	PT_RELTIME, /* u64 ns */
	PT_ABSTIME, /* u64 ns */
	PT_PORT,
	PT_L4PROTO,
	PT_SOCKFAMILY,
	PT_BOOL, /* u32 */
	PT_IPV4ADDR,
	PT_DYN, /* u8 index, then the value */
	PT_FLAGS8,
	PT_FLAGS16,
	PT_FLAGS32,
	PT_UID,
	PT_GID,
	PT_DOUBLE,
	PT_SIGSET, /* u32 */
	PT_CHARBUFARRAY,
	PT_CHARBUF_PAIR_ARRAY,
	PT_IPV4NET,
	PT_IPV6ADDR,
	PT_IPV6NET,
	PT_IPADDR,
	PT_IPNET,
	PT_MODE, /* u32 */
	PT_FSRELPATH,
	PT_ENUMFLAGS8,
	PT_ENUMFLAGS16,
	PT_ENUMFLAGS32,
	PT_FD32,
	PT_PID32,
	/* From here on saker's own, for its own events only. */
	PT_SIGSET64, /* u64, bit 0: signal 1 */
	PT_FLAGS64,
	PT_ENUMFLAGS64,
	PT_WAITSTATUS, /* u32, as wait4 gives it */
	PT_CPUSET, /* bit mask, of as many bytes as there are */
	PT_GIDLIST, /* u32 each */
	PT_LIST, /* structures as in the kernel, one after the other: lists.def */
	PT_MAX
};

enum param_fmt { PF_NA, PF_DEC, PF_HEX, PF_PADDED_DEC, PF_ID, PF_DIR, PF_OCT, PF_LIST, PF_LOW_DEC };

enum evt_category {
	EC_UNKNOWN = 0,
	EC_OTHER = 1,
	EC_FILE = 2,
	EC_NET = 3,
	EC_IPC = 4,
	EC_MEMORY = 5,
	EC_PROCESS = 6,
	EC_SLEEP = 7,
	EC_SYSTEM = 8,
	EC_SIGNAL = 9,
	EC_USER = 10,
	EC_TIME = 11,
	EC_PROCESSING = 12,
	EC_IO_READ = 32,
	EC_IO_WRITE = 33,
	EC_IO_OTHER = 34,
	EC_WAIT = 64,
	EC_SCHEDULER = 128,
	EC_INTERNAL = 256,
};

enum evt_flags {
	EF_NONE = 0,
	EF_CREATES_FD = 1 << 0,
	EF_DESTROYS_FD = 1 << 1,
	EF_USES_FD = 1 << 2,
	EF_READS_FROM_FD = 1 << 3,
	EF_WRITES_TO_FD = 1 << 4,
	EF_MODIFIES_STATE = 1 << 5,
	EF_UNUSED = 1 << 6,
	EF_WAITS = 1 << 7,
	EF_SKIPPARSERESET = 1 << 8,
	EF_OLD_VERSION = 1 << 9,
	EF_DROP_SIMPLE_CONS = 1 << 10,
	EF_LARGE_PAYLOAD = 1 << 11,
};

/* Values of PT_ABSTIME that are not times: UTIME_NOW and UTIME_OMIT of utimensat. */
#define ABSTIME_NOW (~0ull)
#define ABSTIME_OMIT (~0ull - 1)

#endif /* DRIVER_SHARED_EVENTS_H */
