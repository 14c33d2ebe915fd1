/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Converts arguments of a system call to values of the file format (flags.def). Plain C for the
 * driver and libscap, so that a raw enter and an exit agree. Bits are moved without branches, on
 * which the verifier would fork.
 */
#ifndef DRIVER_SHARED_CONVERT_H
#define DRIVER_SHARED_CONVERT_H

#include "shared/record.h"

/* How a parameter is computed from an argument: rows of syscalls.def. */
enum arg_kind {
	ARG_ZERO, /* 0: the call has no such argument */
	ARG_RAW, /* the low bytes, as many as the parameter has */
	ARG_U32, /* unsigned int: upper half cleared */
	ARG_S32, /* int: sign-extended (fd, pid) */
	ARG_OPEN_FLAGS,
	ARG_OPEN_MODE, /* 0 unless the flags in the previous argument create a file */
	ARG_FILE_FLAGS, /* O_CLOEXEC and O_NONBLOCK, also as SOCK_, EFD_, TFD_, ... */
	ARG_PROT,
	ARG_MMAP_FLAGS,
	ARG_CLONE_FLAGS,
	ARG_FCNTL_CMD,
	ARG_WHENCE,
	ARG_SHUT_HOW,
	ARG_RLIMIT,
	ARG_PTRACE_REQUEST,
	ARG_MOUNT_FLAGS,
	ARG_EXECVEAT_FLAGS,
	ARG_FCHOWNAT_FLAGS,
	ARG_EPOLL_FLAGS,
	ARG_PIDFD_FLAGS,
	ARG_SEMGET_FLAGS,
	ARG_SEMCTL_CMD,
	ARG_DELETE_MODULE_FLAGS,
	ARG_QUOTA_CMD,
	ARG_QUOTA_TYPE,
	ARG_RESULT, /* no argument: the result again, to show its names; empty if the call failed */

	/* Pointers to a number. A raw enter carries the number, as u64. */
	ARG_INOUT64, /* in/out u64, as the next one: its value at the enter */
	ARG_INOUT_TIMESPEC, /* in ns */
	ARG_IN_LONG, /* as large as a long; 0 if unreadable; also the next rows */
	ARG_SIGSET, /* signals 1 to 32 */
	ARG_IOVEC, /* sum of lengths; the next argument is the count */
	ARG_MSGHDR, /* sum of the lengths of its iovec */
	ARG_HOW_FLAGS, /* of struct open_how */
	ARG_HOW_MODE,
	ARG_HOW_RESOLVE,
	ARG_URING_FLAGS, /* of struct io_uring_params */
	ARG_OUT32, /* written by the call: -1 if the call failed */

	/* Fields of a structure that an argument points to (AF rows): empty if unreadable. Names of
	 * fields that the call writes begin with OUT_: empty if it failed. */
	ARG_U16_AT,
	ARG_U32_AT,
	ARG_S32_AT,
	ARG_U64_AT,
	ARG_LIMIT_AT, /* long, from a struct rlimit */
	ARG_TIMESPEC_AT, /* in ns; also the next row */
	ARG_TIMEVAL_AT,
	ARG_SECONDS_AT, /* time_t, in ns */
	ARG_UTIME_AT, /* struct timespec in ns, or ABSTIME_NOW, ABSTIME_OMIT */
	ARG_INOUT_TIMESPEC_AT, /* memory that the call may overwrite: the value at the enter */
	ARG_INOUT_TIMEVAL_AT,
	ARG_SAME_U32_AT, /* the value at the enter if the caller used the same memory for this and
			    OUT_ rows */
	ARG_SAME_U64_AT,
	ARG_SAME_LIMIT_AT,
	ARG_SAME_TIMESPEC_AT,
	ARG_SAME_TIMEVAL_AT,
	ARG_U64_VIA, /* the value that this field points to */
	ARG_OUT_U16_AT,
	ARG_OUT_U32_AT,
	ARG_OUT_S32_AT,
	ARG_OUT_U64_AT,
	ARG_OUT_LIMIT_AT,
	ARG_OUT_TIMESPEC_AT,
	ARG_OUT_TIMEVAL_AT,
	ARG_OUT_SECONDS_AT,
	ARG_OUT_SENDER_AT, /* from a siginfo: the PID that sent the signal, if a process sent it */

	/* Pointers to bytes. A raw enter carries the bytes. */
	ARG_PATH, /* text, with its NUL */
	ARG_PATH_OUT, /* text written by the call: unreadable if it failed */
	ARG_SOCKADDR, /* the kernel's sockaddr; the next argument is its length */
	ARG_BYTES, /* at most snaplen; the next argument is the length */
	ARG_OUT_BYTES, /* the same, written by the call: the result is the length, the next argument
			  the size of the buffer */
	ARG_OUT_U64S, /* the same in units of u64 */
	ARG_OUT_BYTES_OF, /* data that a field points to, written by the call: the result is the
			     length, the u32 after the field the size of the buffer */
	ARG_BYTES_OF, /* the same before the call: the u32 is the length. Not carried: AXF */
	ARG_OUT_TEXT, /* text without a NUL, written by the call: the result is its length */
	ARG_TEXT, /* text without a NUL; the next argument is its length */
	ARG_ARRAY, /* AF row, also the next: number of elements as LEN(argument, size of an element)
		      says */
	ARG_OUT_ARRAY, /* the same, written by the call, which may return fewer */
	ARG_LIST, /* an array: OF(size of an element, argument with the number of elements) */
	ARG_OUT_LIST, /* the same, written by the call; OF(size, ARG_OF_RESULT): the result is the
			 number */
	ARG_SELECT_FDS, /* an fdlist from the fd_sets in the next arguments; the argument is nfds */
	ARG_OUT_SELECT_FDS, /* the same, as select left them */
	ARG_POLLFDS, /* struct pollfd[], at most ARG_POLLFDS_MAX; the next argument is the count */
	ARG_KIND_MAX
};

#define ARG_POLLFDS_MAX 16 /* also of select */
#define ARG_LIST_MAX 512u /* bytes */
#define ARG_IOVEC_MAX 16
#define ARG_ARRAY_MAX 512 /* bytes */
#define ARG_PATH_MAX 4096
#define ARG_SOCKADDR_MAX 110 /* the longest: unix */

static inline int arg_is_pointer(unsigned int kind)
{
	return kind >= ARG_INOUT64;
}

static inline int arg_is_bytes(unsigned int kind)
{
	return kind >= ARG_PATH;
}

static inline int arg_is_field(unsigned int kind)
{
	return kind >= ARG_U16_AT && kind <= ARG_OUT_SENDER_AT;
}

/* Returns whether the call writes the memory that it points to, so that the value is known only at
 * the exit. */
#define ARG_IS_OUT(kind)                                                                           \
	((kind) == ARG_OUT32 || ((kind) >= ARG_OUT_U16_AT && (kind) <= ARG_OUT_SENDER_AT) ||       \
	 (kind) == ARG_PATH_OUT || ((kind) >= ARG_OUT_BYTES && (kind) <= ARG_OUT_TEXT) ||          \
	 (kind) == ARG_OUT_ARRAY || (kind) == ARG_OUT_LIST || (kind) == ARG_OUT_SELECT_FDS)

static inline int arg_is_out(unsigned int kind)
{
	return ARG_IS_OUT(kind);
}

/* Returns whether a raw enter carries the value that it points to. */
#define ARG_IS_CARRIED(kind) ((kind) >= ARG_INOUT64 && !ARG_IS_OUT(kind))

/* Returns whether the call may overwrite the value that it points to; it is then copied at the
 * enter. */
#define ARG_IS_INOUT(kind)                                                                         \
	((kind) == ARG_INOUT64 || (kind) == ARG_INOUT_TIMESPEC ||                                  \
	 (kind) == ARG_INOUT_TIMESPEC_AT || (kind) == ARG_INOUT_TIMEVAL_AT)

/* Returns whether it may overlap memory that the call writes, if the caller used the same memory
 * for both. */
#define ARG_IS_SAME(kind) ((kind) >= ARG_SAME_U32_AT && (kind) <= ARG_SAME_TIMEVAL_AT)

/* Both kinds, and the kind as which they are read. */
#define ARG_INOUT_KINDS(X)                                                                         \
	X(INOUT64, U64_AT)                                                                         \
	X(INOUT_TIMESPEC, TIMESPEC_AT)                                                             \
	X(INOUT_TIMESPEC_AT, TIMESPEC_AT)                                                          \
	X(INOUT_TIMEVAL_AT, TIMEVAL_AT)
#define ARG_SAME_KINDS(X)                                                                          \
	X(SAME_U32_AT, U32_AT)                                                                     \
	X(SAME_U64_AT, U64_AT)                                                                     \
	X(SAME_LIMIT_AT, LIMIT_AT)                                                                 \
	X(SAME_TIMESPEC_AT, TIMESPEC_AT)                                                           \
	X(SAME_TIMEVAL_AT, TIMEVAL_AT)

#define CHECK(kind, as) _Static_assert(ARG_IS_INOUT(ARG_##kind), "as its row says");
ARG_INOUT_KINDS(CHECK)
#undef CHECK
#define CHECK(kind, as) _Static_assert(ARG_IS_SAME(ARG_##kind), "as its row says");
ARG_SAME_KINDS(CHECK)
#undef CHECK

/* For arrays, the offset of an AF row is the argument with their length, and the size of an
 * element. */
#define LEN(arg, size) ((arg) | (size) << 3)
#define LEN_ARG(off) ((off)&7)
#define LEN_SIZE(off) ((off) >> 3)

/* When a row of syscalls.def applies: a condition on an argument of the call. */
enum row_when {
	WHEN_ALWAYS,
	WHEN_SET, /* one of these bits is set */
	WHEN_CLEAR, /* none of these bits is set */
	WHEN_ONE_OF, /* the value is the number of a set bit */
	WHEN_IS, /* the low 32 bits are equal */
	WHEN_MIN, /* the value is at least that */
	WHEN_UNNAMED, /* the format has no number for it: bits is its kind */
};

/* A row: how a parameter is computed from an argument. */
struct call_row {
	u8 arg; /* 0 to 5 */
	u8 kind; /* enum arg_kind */
	u8 of_enter; /* not AX, AXF: those only the exit has */
	u8 when; /* enum row_when */
	u8 when_arg; /* or ARG_OF_RESULT */
	u8 count; /* of a list: the argument with the number of elements, or a value of OF */
	u16 off; /* of a field, or of bytes and text; of a list the size of an element */
	u32 bits;
};

/* Flags that a row may add: IF_SET(argument, bits). */
#define IF_SET(a, b) .when = WHEN_SET, .when_arg = (a), .bits = (b)
#define IF_CLEAR(a, b) .when = WHEN_CLEAR, .when_arg = (a), .bits = (b)
#define IF_ONE_OF(a, b) .when = WHEN_ONE_OF, .when_arg = (a), .bits = (b)
#define IF_IS(a, v) .when = WHEN_IS, .when_arg = (a), .bits = (v)
#define IF_MIN(a, n) .when = WHEN_MIN, .when_arg = (a), .bits = (n)
#define IF_UNNAMED(a, kind) .when = WHEN_UNNAMED, .when_arg = (a), .bits = ARG_##kind

/* Instead of an argument, in AX rows. OUT_ kinds need a successful result anyway. */
#define ARG_OF_RESULT 6
#define IF_SOME IF_MIN(ARG_OF_RESULT, 1)

/* Numbers of elements that are in no argument, besides ARG_OF_RESULT. */
#define PAGES 7 /* as many as fit the length in argument 1 */
#define ONE 8
#define OF(size, n) .off = (size), .count = (n)

static inline int row_is_carried(const struct call_row *row)
{
	return row->of_enter && ARG_IS_CARRIED(row->kind);
}

/* Moves bit @from of @v to bit @to; both are constants with one bit set. */
#define MOVE_BIT(v, from, to)                                                                      \
	((from) > (to) ? ((v) & (from)) / ((from) > (to) ? (from) / (to) : 1)                      \
		       : ((v) & (from)) * ((to) > (from) ? (to) / (from) : 1))

/* file_flags */
#define PPM_O_RDONLY (1u << 0)
#define PPM_O_WRONLY (1u << 1)
#define PPM_O_NONBLOCK (1u << 6)
#define PPM_O_CLOEXEC (1u << 12)
#define KERNEL_O_CLOEXEC 0x80000u
#define PPM_O_F_CREATED (1u << 14)
#define PPM_FD_FIFO (1u << 30) /* of saker: far from what the format may still add */

#define KERNEL_O_CREAT 0x40u
#define KERNEL_O_TMPFILE 0x400000u

/* Bits that the format has; those below, too. */
#define OPEN_FLAGS_NAMED 0x59dec3u
/* Access mode 3 has no name. */
#define OPEN_FLAGS_NAMED_OF(v) (OPEN_FLAGS_NAMED & ~((v) & (v) >> 1 & 1))

static inline u32 convert_open_flags(u32 v)
{
	/* 0, 1, 2 (read, write, both) become 1, 2, 3; 3 (neither, for ioctl only) becomes 0. */
	return ((v + 1) & 3) | MOVE_BIT(v, 0x40u, 1u << 2) | MOVE_BIT(v, 0x400u, 1u << 3) |
	       MOVE_BIT(v, 0x1000u, 1u << 4) | MOVE_BIT(v, 0x80u, 1u << 5) |
	       MOVE_BIT(v, 0x800u, PPM_O_NONBLOCK) | MOVE_BIT(v, 0x100000u, 1u << 7) |
	       MOVE_BIT(v, 0x200u, 1u << 8) | MOVE_BIT(v, 0x4000u, 1u << 9) |
	       MOVE_BIT(v, 0x10000u, 1u << 10) | MOVE_BIT(v, 0x8000u, 1u << 11) |
	       MOVE_BIT(v, KERNEL_O_CLOEXEC, PPM_O_CLOEXEC) |
	       MOVE_BIT(v, KERNEL_O_TMPFILE, 1u << 13);
}

static inline u32 convert_open_mode(u32 flags, u32 mode)
{
	return flags & (KERNEL_O_CREAT | KERNEL_O_TMPFILE) ? mode & 07777 : 0;
}

#define FILE_FLAGS_NAMED 0x80800u

static inline u32 convert_file_flags(u32 v)
{
	return MOVE_BIT(v, 0x800u, PPM_O_NONBLOCK) | MOVE_BIT(v, KERNEL_O_CLOEXEC, PPM_O_CLOEXEC);
}

static inline u32 convert_prot(u32 v)
{
	return (v & 0xf) | MOVE_BIT(v, 0x1000000u, 1u << 4) | MOVE_BIT(v, 0x2000000u, 1u << 5);
}

#define MMAP_FLAGS_NAMED 0x1f973u

static inline u32 convert_mmap_flags(u32 v)
{
	return (v & 3) | MOVE_BIT(v, 0x10u, 1u << 2) | MOVE_BIT(v, 0x20u, 1u << 3) |
	       MOVE_BIT(v, 0x40u, 1u << 4) | MOVE_BIT(v, 0x4000u, 1u << 6) |
	       MOVE_BIT(v, 0x8000u, 1u << 7) | MOVE_BIT(v, 0x10000u, 1u << 8) |
	       MOVE_BIT(v, 0x100u, 1u << 9) | MOVE_BIT(v, 0x800u, 1u << 10) |
	       MOVE_BIT(v, 0x1000u, 1u << 11) | MOVE_BIT(v, 0x2000u, 1u << 14);
}

/* clone_flags */
#define PPM_CL_CLONE_FILES (1u << 0)
#define PPM_CL_CLONE_THREAD (1u << 13)
#define PPM_CL_CLONE_VM (1u << 15)
#define PPM_CL_CLONE_VFORK (1u << 27)
#define PPM_CL_CHILD_IN_PIDNS (1u << 29)

#define CLONE_FLAGS_NAMED 0xffbfef00u

static inline u32 convert_clone_flags(u32 v)
{
	return MOVE_BIT(v, 0x400u, PPM_CL_CLONE_FILES) | MOVE_BIT(v, 0x200u, 1u << 1) |
	       MOVE_BIT(v, 0x80000000u, 1u << 2) | MOVE_BIT(v, 0x8000000u, 1u << 3) |
	       MOVE_BIT(v, 0x40000000u, 1u << 4) | MOVE_BIT(v, 0x20000u, 1u << 5) |
	       MOVE_BIT(v, 0x20000000u, 1u << 6) | MOVE_BIT(v, 0x4000000u, 1u << 7) |
	       MOVE_BIT(v, 0x8000u, 1u << 8) | MOVE_BIT(v, 0x100000u, 1u << 9) |
	       MOVE_BIT(v, 0x2000u, 1u << 10) | (v & 0x800u) | MOVE_BIT(v, 0x40000u, 1u << 12) |
	       MOVE_BIT(v, 0x10000u, PPM_CL_CLONE_THREAD) | MOVE_BIT(v, 0x800000u, 1u << 14) |
	       MOVE_BIT(v, 0x100u, PPM_CL_CLONE_VM) | MOVE_BIT(v, 0x10000000u, 1u << 20) |
	       MOVE_BIT(v, 0x200000u, 1u << 23) | (v & 0x1000000u) |
	       MOVE_BIT(v, 0x80000u, 1u << 25) | MOVE_BIT(v, 0x4000u, PPM_CL_CLONE_VFORK) |
	       MOVE_BIT(v, 0x2000000u, 1u << 28);
}

/* Looks up a table of 64 bits whose bits from 48 on stand for the numbers from @second on; 63: in
 * neither part. */
static inline u32 table_index(u32 v, u32 second)
{
	if (v >= second)
		v = v - second < 15 ? v - second + 48 : 63;
	else if (v >= 48)
		v = 63;
#ifdef __bpf__
	asm volatile("" : "+r"(v)); /* clang has proven the bound here, the verifier has not */
#endif
	return v & 63;
}

/* Index: the kernel's command, by table_index. 0: unknown. */
static const u8 fcntl_cmds[64] = {
	[0] = 1,     [1] = 2,     [2] = 3,     [3] = 4,     [4] = 5,     [5] = 6,
	[6] = 8,     [7] = 9,     [8] = 10,    [9] = 12,    [10] = 13,   [11] = 15,
	[15] = 0x15, [16] = 0x16, [36] = 30,   [37] = 31,   [38] = 32,   [48] = 0x17,
	[49] = 0x18, [50] = 0x1b, [53] = 0x19, [54] = 0x1a, [55] = 0x1c, [56] = 0x1d,
};

static inline u32 convert_fcntl_cmd(u32 v)
{
	return fcntl_cmds[table_index(v, 1024)];
}

static inline u32 convert_shut_how(u32 v)
{
	return v <= 2 ? v : 0xff;
}

static inline u32 convert_rlimit(u32 v)
{
	return v <= 15 ? v : 0xff;
}

/* Index: the kernel's request, by table_index. 0: unknown. */
static const u8 ptrace_requests[64] = {
	[0] = 1,     [1] = 2,     [2] = 3,     [3] = 4,     [4] = 5,     [5] = 6,     [6] = 7,
	[7] = 8,     [8] = 9,     [9] = 10,    [12] = 0x1a, [13] = 0x1b, [14] = 0x1c, [15] = 0x1d,
	[16] = 11,   [17] = 12,   [18] = 0x1e, [19] = 0x1f, [21] = 0x20, [24] = 13,   [25] = 0x21,
	[26] = 0x22, [30] = 0x23, [31] = 0x24, [32] = 0x25, [33] = 0x26, [48] = 14,   [49] = 15,
	[50] = 16,   [51] = 17,   [52] = 18,   [53] = 19,   [54] = 20,   [55] = 21,   [56] = 22,
	[57] = 23,   [58] = 24,   [59] = 25,
};

static inline u32 convert_ptrace_request(u32 v)
{
	return ptrace_requests[table_index(v, 0x4200)];
}

/* The flags used to have a magic number in their upper half (MS_MGC_VAL). */
static inline u32 convert_mount_flags(u32 v)
{
	return (v & 0xffff0000u) == 0xc0ed0000u ? v & 0xffff : v;
}

static inline u32 convert_openat2_resolve(u32 v)
{
	return MOVE_BIT(v, 0x8u, 1u << 0) | MOVE_BIT(v, 0x10u, 1u << 1) |
	       MOVE_BIT(v, 0x2u, 1u << 2) | MOVE_BIT(v, 0x4u, 1u << 3) |
	       MOVE_BIT(v, 0x1u, 1u << 4) | (v & 0x20u);
}

#define EXECVEAT_FLAGS_NAMED 0x1100u

static inline u32 convert_execveat_flags(u32 v)
{
	return MOVE_BIT(v, 0x1000u, 1u << 0) | MOVE_BIT(v, 0x100u, 1u << 1);
}

static inline u32 convert_fchownat_flags(u32 v)
{
	return MOVE_BIT(v, 0x100u, 0x400u) | (v & 0x1000u);
}

static inline u32 convert_semget_flags(u32 v)
{
	return (v & 0777) | MOVE_BIT(v, 0x200u, 0x2000u) | MOVE_BIT(v, 0x400u, 0x4000u);
}

/* Index: the kernel's command; value: the bit of semctl_commands, counted from 1. 0: unknown. */
static const u8 semctl_cmds[32] = {
	[0] = 3,  [1] = 2,   [2] = 1,   [3] = 4,   [11] = 9, [12] = 10, [13] = 7,
	[14] = 8, [15] = 11, [16] = 13, [17] = 12, [18] = 6, [19] = 5,
};

static inline u32 convert_semctl_cmd(u32 v)
{
	return v < 32 ? (1u << semctl_cmds[v & 31]) >> 1 : 0;
}

static inline u32 convert_delete_module_flags(u32 v)
{
	return MOVE_BIT(v, 0x200u, 1u) | MOVE_BIT(v, 0x800u, 2u);
}

static inline u32 convert_semop_flags(u32 v)
{
	return MOVE_BIT(v, 0x800u, 1u) | MOVE_BIT(v, 0x1000u, 2u);
}

static inline u32 convert_uring_flags(u32 v)
{
	return (v & 3) | (v & ~3u) << 1;
}

/* poll_flags */
#define PPM_POLLIN 1u
#define PPM_POLLPRI 2u
#define PPM_POLLOUT 4u

/* Converts events and revents. */
static inline u32 convert_poll_events(u32 v)
{
	return (v & 7) | MOVE_BIT(v, 0x2000u, 1u << 3) | ((v & 0x3f8u) << 1);
}

/* sockopt_levels */
static inline u32 convert_sockopt_level(u32 v)
{
	return v == 1 ? 1 : v == 6 ? 2 : 0;
}

/*
 * sockopt_options, of level SOL_SOCKET: the kernel's numbers up to 50; those from 51 on minus 51.
 */
static const u8 sockopts_late[32] = {
	[55 - 51] = 0x34, [57 - 51] = 0x35, [59 - 51] = 0x33, [63 - 51] = 0x1d,
	[64 - 51] = 0x23, [65 - 51] = 0x25, [66 - 51] = 0x14, [67 - 51] = 0x15,
};

static inline u32 convert_sockopt_name(u32 level, u32 v)
{
	if (level != 1)
		return 0;
	if (v <= 50)
		return v;
	return v - 51 < 32 ? sockopts_late[(v - 51) & 31] : 0;
}

/* quotactl_cmds */
#define PPM_Q_QUOTAON (1u << 0)
#define PPM_Q_GETFMT (1u << 2)
#define PPM_Q_GETINFO (1u << 3)
#define PPM_Q_SETINFO (1u << 4)
#define PPM_Q_GETQUOTA (1u << 5)
#define PPM_Q_SETQUOTA (1u << 6)
#define PPM_Q_XGETQUOTA (1u << 10)
#define PPM_Q_XSETQLIM (1u << 11)

#define KERNEL_Q_SYNC 0x800001u /* and the following, to Q_SETQUOTA */
#define KERNEL_Q_XQUOTAON 0x5801u /* and the following, to Q_XQUOTASYNC */

/* The kernel's command has the type in its low byte; 0: a command newer than the format. */
static inline u32 convert_quota_cmd(u32 v)
{
	const u32 cmd = v >> 8;

	if (cmd == KERNEL_Q_SYNC)
		return 1u << 7;
	if (cmd - (KERNEL_Q_SYNC + 1) < 7)
		return 1u << (cmd - (KERNEL_Q_SYNC + 1));
	if (cmd - KERNEL_Q_XQUOTAON < 7)
		return 1u << (8 + (cmd - KERNEL_Q_XQUOTAON));
	return 0;
}

/* quotactl_types: users, groups; 0: projects */
static inline u32 convert_quota_type(u32 v)
{
	return (v & 0xff) < 2 ? (v & 0xff) + 1 : 0;
}

/* quotactl_quota_fmts */
static inline u32 convert_quota_format(u32 v)
{
	return v == 1 || v == 2 ? v << 1 : v == 4 ? 8 : 1;
}

/* quotactl_dqi_flags */
static inline u32 convert_quota_info_flags(u32 v)
{
	return v & 1 ? 2 : 1;
}

/* Other commands have a format or nothing where these have the UID or GID. */
static inline int quota_cmd_has_id(u32 cmd)
{
	return (cmd & (PPM_Q_GETQUOTA | PPM_Q_SETQUOTA | PPM_Q_XGETQUOTA | PPM_Q_XSETQLIM)) != 0;
}

/* Returns whether the format lacks a number for the caller's value. */
static inline int is_unnamed(unsigned int kind, u32 v)
{
	switch (kind) {
	case ARG_FCNTL_CMD:
		return !convert_fcntl_cmd(v);
	case ARG_PTRACE_REQUEST:
		return !convert_ptrace_request(v);
	case ARG_SEMCTL_CMD:
		return !convert_semctl_cmd(v);
	case ARG_QUOTA_CMD:
		return !convert_quota_cmd(v);
	case ARG_SHUT_HOW:
		return convert_shut_how(v) == 0xff;
	case ARG_RLIMIT:
		return convert_rlimit(v) == 0xff;
	}
	return 0;
}

/* @v: argument when_arg of the call. */
static inline int row_holds(const struct call_row *row, u64 v)
{
	switch (row->when) {
	case WHEN_SET:
		return (v & row->bits) != 0;
	case WHEN_CLEAR:
		return (v & row->bits) == 0;
	case WHEN_ONE_OF:
		return (u32)v < 32 && row->bits >> ((u32)v & 31) & 1;
	case WHEN_IS:
		return (u32)v == row->bits;
	case WHEN_MIN:
		return v >= row->bits;
	case WHEN_UNNAMED:
		return is_unnamed(row->bits, (u32)v);
	}
	return 1;
}

/* Returns the value of an argument that is not a pointer. @before: the argument before it. */
static inline u64 arg_value(unsigned int kind, u64 v, u64 before)
{
	switch (kind) {
	case ARG_RAW:
	case ARG_WHENCE:
		return v;
	case ARG_U32:
		return (u32)v;
	case ARG_S32:
		return (u64)(s64)(s32)v;
	case ARG_OPEN_FLAGS:
		return convert_open_flags(v);
	case ARG_OPEN_MODE:
		return convert_open_mode(before, v);
	case ARG_FILE_FLAGS:
		return convert_file_flags(v);
	case ARG_PROT:
		return convert_prot(v);
	case ARG_MMAP_FLAGS:
		return convert_mmap_flags(v);
	case ARG_CLONE_FLAGS:
		return convert_clone_flags(v);
	case ARG_FCNTL_CMD:
		return convert_fcntl_cmd(v);
	case ARG_SHUT_HOW:
		return convert_shut_how(v);
	case ARG_RLIMIT:
		return convert_rlimit(v);
	case ARG_PTRACE_REQUEST:
		return convert_ptrace_request(v);
	case ARG_MOUNT_FLAGS:
		return convert_mount_flags(v);
	case ARG_EXECVEAT_FLAGS:
		return convert_execveat_flags(v);
	case ARG_FCHOWNAT_FLAGS:
		return convert_fchownat_flags(v);
	case ARG_EPOLL_FLAGS:
		return MOVE_BIT((u32)v, 0x80000u, 1u);
	case ARG_PIDFD_FLAGS:
		return MOVE_BIT((u32)v, 0x800u, 1u);
	case ARG_SEMGET_FLAGS:
		return convert_semget_flags(v);
	case ARG_SEMCTL_CMD:
		return convert_semctl_cmd(v);
	case ARG_DELETE_MODULE_FLAGS:
		return convert_delete_module_flags(v);
	case ARG_QUOTA_CMD:
		return convert_quota_cmd(v);
	case ARG_QUOTA_TYPE:
		return convert_quota_type(v);
	}
	return 0;
}

#endif /* DRIVER_SHARED_CONVERT_H */
