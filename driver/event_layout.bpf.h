/* SPDX-License-Identifier: GPL-2.0 */
/* Tables made from events.def: the number of parameters of an event, the size of the fixed ones,
 * and what is lost with the event. */
#ifndef DRIVER_EVENT_LAYOUT_BPF_H
#define DRIVER_EVENT_LAYOUT_BPF_H

#include "shared/config.h"
#include "shared/events.h"

enum evt_n_params {
#define P(name, type, fmt) +1
#define PX(name, type, fmt, table) +1
#define PR(name, type, fmt, dirfd) +1
#define PL(name, list) +1
#define O P
#define OX PX
#define OL PL
#define EVT(id, sym, name, category, flags, n_2022, ...) EVT_##sym##_NPARAMS = 0 __VA_ARGS__,
#include "events.def"
#include "undef_rows.h"
};

/* Size of a parameter by type; 0: variable. */
enum param_sz {
	PSZ_NONE = 0,
	PSZ_INT8 = 1,
	PSZ_INT16 = 2,
	PSZ_INT32 = 4,
	PSZ_INT64 = 8,
	PSZ_UINT8 = 1,
	PSZ_UINT16 = 2,
	PSZ_UINT32 = 4,
	PSZ_UINT64 = 8,
	PSZ_CHARBUF = 0,
	PSZ_BYTEBUF = 0,
	PSZ_ERRNO = 8,
	PSZ_SOCKADDR = 0,
	PSZ_SOCKTUPLE = 0,
	PSZ_FD = 8,
	PSZ_PID = 8,
	PSZ_FDLIST = 0,
	PSZ_FSPATH = 0,
	PSZ_SYSCALLID = 2,
	PSZ_SIGTYPE = 1,
	PSZ_RELTIME = 8,
	PSZ_ABSTIME = 8,
	PSZ_PORT = 2,
	PSZ_L4PROTO = 1,
	PSZ_SOCKFAMILY = 1,
	PSZ_BOOL = 4,
	PSZ_IPV4ADDR = 4,
	PSZ_DYN = 0,
	PSZ_FLAGS8 = 1,
	PSZ_FLAGS16 = 2,
	PSZ_FLAGS32 = 4,
	PSZ_UID = 4,
	PSZ_GID = 4,
	PSZ_DOUBLE = 8,
	PSZ_SIGSET = 4,
	PSZ_CHARBUFARRAY = 0,
	PSZ_CHARBUF_PAIR_ARRAY = 0,
	PSZ_IPV4NET = 0,
	PSZ_IPV6ADDR = 16,
	PSZ_IPV6NET = 0,
	PSZ_IPADDR = 0,
	PSZ_IPNET = 0,
	PSZ_MODE = 4,
	PSZ_FSRELPATH = 0,
	PSZ_ENUMFLAGS8 = 1,
	PSZ_ENUMFLAGS16 = 2,
	PSZ_ENUMFLAGS32 = 4,
	PSZ_FD32 = 4,
	PSZ_PID32 = 4,
	PSZ_SIGSET64 = 8,
	PSZ_FLAGS64 = 8,
	PSZ_ENUMFLAGS64 = 8,
	PSZ_WAITSTATUS = 4,
	PSZ_CPUSET = 0,
	PSZ_GIDLIST = 0,
	PSZ_LIST = 0,
};

enum evt_fixed_sz {
#define P(name, type, fmt) +PSZ_##type
#define PX(name, type, fmt, table) +PSZ_##type
#define PR(name, type, fmt, dirfd) +PSZ_##type
#define PL(name, list) +PSZ_LIST
#define O P
#define OX PX
#define OL PL
#define EVT(id, sym, name, category, flags, n_2022, ...) EVT_##sym##_FIXED_SZ = 0 __VA_ARGS__,
#include "events.def"
#include "undef_rows.h"
};

#define EVT_ROWS_MAX 2048 /* size of tables by event, a power of two: the verifier sees a mask */
_Static_assert(EVT_INDEX_MAX <= EVT_ROWS_MAX, "a row for each event");

static const u8 n_params_of[EVT_ROWS_MAX] = {
#define EVT(id, sym, name, category, flags, n_2022, ...) [EVT_INDEX(id)] = EVT_##sym##_NPARAMS,
#include "events.def"
#undef EVT
};

/* Returns whether event @a has the layout of @b, followed by @n more parameters. */
#define EVT_GOES_ON(a, b, n) (EVT_##a##_NPARAMS == EVT_##b##_NPARAMS + (n))

/* enum drv_lost. Enters change no state: their exits carry everything. */
#define LOST_KIND(id, flags)                                                                       \
	(!((id)&1)                   ? LOST_OTHER                                                  \
	 : (flags)&EF_DESTROYS_FD    ? LOST_CLOSE                                                  \
	 : (flags)&EF_CREATES_FD     ? LOST_OPEN                                                   \
	 : (flags)&EF_MODIFIES_STATE ? LOST_STATE                                                  \
				     : LOST_OTHER)

static const u8 lost_kind[EVT_ROWS_MAX] = {
#define EVT(id, sym, name, category, flags, n_2022, ...) [EVT_INDEX(id)] = LOST_KIND(id, flags),
#include "events.def"
#undef EVT
	[EVT_CLONE_X] = LOST_CLONE,
	[EVT_CLONE3_X] = LOST_CLONE,
	[EVT_FORK_X] = LOST_CLONE,
	[EVT_VFORK_X] = LOST_CLONE,
	[EVT_EXECVE_X] = LOST_EXEC,
	[EVT_EXECVEAT_X] = LOST_EXEC,
	[EVT_PROCEXIT_E] = LOST_EXIT,
	[EVT_CLOSE_RANGE_X] = LOST_CLOSE,
	[EVT_INDEX(EVT_MAP_EXIT_E)] = LOST_EXIT,
};

/* How full the ring may be for the record, in eighths. */
#define SHED_AT(id, flags)                                                                         \
	((flags) & (EF_MODIFIES_STATE | EF_CREATES_FD | EF_DESTROYS_FD) ? 8                        \
	 : (flags)&EF_DROP_SIMPLE_CONS                                  ? DRV_SHED_FIRST           \
									: DRV_SHED_NEXT)

static const u8 shed_at[EVT_ROWS_MAX] = {
#define EVT(id, sym, name, category, flags, n_2022, ...) [EVT_INDEX(id)] = SHED_AT(id, flags),
#include "events.def"
#undef EVT
};

/* Returns enum evt_flags of an event. */
enum evt_flags_of {
#define EVT(id, sym, name, category, flags, n_2022, ...) EVT_##sym##_FLAGS = flags,
#include "events.def"
#undef EVT
};

#endif /* DRIVER_EVENT_LAYOUT_BPF_H */
