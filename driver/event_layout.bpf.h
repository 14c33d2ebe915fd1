/* SPDX-License-Identifier: GPL-2.0 */
/* From events.def: how many parameters an event has, and the bytes of those of fixed size. */
#ifndef DRIVER_EVENT_LAYOUT_BPF_H
#define DRIVER_EVENT_LAYOUT_BPF_H

enum evt_n_params {
#define P(name, type, fmt) +1
#define PX(name, type, fmt, table) +1
#define PR(name, type, fmt, dirfd) +1
#define O P
#define OX PX
#define EVT(id, sym, name, category, flags, n_2022, ...) EVT_##sym##_NPARAMS = 0 __VA_ARGS__,
#include "events.def"
#undef EVT
#undef P
#undef PX
#undef PR
#undef O
#undef OX
};

/* Bytes of a parameter by type; 0: it varies. */
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
};

enum evt_fixed_sz {
#define P(name, type, fmt) +PSZ_##type
#define PX(name, type, fmt, table) +PSZ_##type
#define PR(name, type, fmt, dirfd) +PSZ_##type
#define O P
#define OX PX
#define EVT(id, sym, name, category, flags, n_2022, ...) EVT_##sym##_FIXED_SZ = 0 __VA_ARGS__,
#include "events.def"
#undef EVT
#undef P
#undef PX
#undef PR
#undef O
#undef OX
};

#endif /* DRIVER_EVENT_LAYOUT_BPF_H */
