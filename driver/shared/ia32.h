/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * 32-bit calls. A 32-bit call with a counterpart on x86_64 is decoded by that call's row in
 * syscalls.def: at the enter the driver puts its arguments into the order and size that the row
 * expects, and code that reads the caller's structures checks whether they are 32-bit. libscap
 * builds the table from syscalls_ia32.def and syscalls.def before the driver is loaded.
 */
#ifndef DRIVER_SHARED_IA32_H
#define DRIVER_SHARED_IA32_H

#include "shared/config.h"

#define NR_IA32_SOCKETCALL 102
#define NR_IA32_IPC 117

/* Calls by number, then those behind socketcall and ipc. */
#define IA32_SUB_MAX 32 /* a power of two */
#define IA32_SOCKETCALLS DRV_MAX_NR
#define IA32_IPCS (IA32_SOCKETCALLS + IA32_SUB_MAX)
#define IA32_TABLE_MAX (IA32_IPCS + IA32_SUB_MAX)

struct ia32_call {
	u16 row; /* number of the call whose row decodes it; REC_NR_NONE: none */
	u16 event; /* the exit event, if it differs from the row's; 0: the same */
	u8 shape; /* enum ia32_shape */
	u8 flags; /* IA32_F_* */
};

#define IA32_F_COMPAT 1 /* structures have pointers, sizes and times of 32 bits */
#define IA32_F_TIME64 2 /* except times, of 64 bits */

/*
 * How the row's arguments are taken from the given ones: name, the number of 32-bit values that the
 * pointer in front stands for, then for each argument the index of its value and that of its upper
 * half (7: none). Then bit masks of arguments: signed ones, 16-bit IDs (where -1 is 65535), IPC
 * commands (with a bit that only 32-bit calls have).
 */
#define IA32_SHAPES(S)                                                                             \
	S(PLAIN, 0, (0, 1, 2, 3, 4, 5), (7, 7, 7, 7, 7, 7), 0, 0, 0)                               \
	S(SIGNED_1, 0, (0, 1, 2, 3, 4, 5), (7, 7, 7, 7, 7, 7), 2, 0, 0)                            \
	S(NO_1, 0, (0, 7, 7, 7, 7, 7), (7, 7, 7, 7, 7, 7), 0, 0, 0)                                \
	S(NO_3, 0, (0, 1, 2, 7, 7, 7), (7, 7, 7, 7, 7, 7), 0, 0, 0)                                \
	S(DROP_1, 0, (0, 2, 3, 4, 5, 7), (7, 7, 7, 7, 7, 7), 0, 0, 0)                              \
	S(UID16_12, 0, (0, 1, 2, 3, 4, 5), (7, 7, 7, 7, 7, 7), 0, 6, 0)                            \
	S(UID16_012, 0, (0, 1, 2, 3, 4, 5), (7, 7, 7, 7, 7, 7), 0, 7, 0)                           \
	S(LO_HI_1, 0, (0, 1, 3, 4, 5, 7), (7, 2, 7, 7, 7, 7), 0, 0, 0)                             \
	S(LO_HI_2, 0, (0, 1, 2, 4, 5, 7), (7, 7, 3, 7, 7, 7), 0, 0, 0)                             \
	S(LO_HI_3, 0, (0, 1, 2, 3, 4, 5), (7, 7, 7, 4, 7, 7), 0, 0, 0)                             \
	S(LO_HI_1_3, 0, (0, 1, 3, 5, 7, 7), (7, 2, 4, 7, 7, 7), 0, 0, 0)                           \
	S(LO_HI_2_4, 0, (0, 1, 2, 4, 7, 7), (7, 7, 3, 5, 7, 7), 0, 0, 0)                           \
	S(HI_LO_1, 0, (0, 2, 4, 7, 7, 7), (7, 1, 7, 7, 7, 7), 0, 0, 0)                             \
	S(BLOCK_2, 2, (0, 1, 7, 7, 7, 7), (7, 7, 7, 7, 7, 7), 0, 0, 0)                             \
	S(BLOCK_3, 3, (0, 1, 2, 7, 7, 7), (7, 7, 7, 7, 7, 7), 0, 0, 0)                             \
	S(BLOCK_4, 4, (0, 1, 2, 3, 7, 7), (7, 7, 7, 7, 7, 7), 0, 0, 0)                             \
	S(BLOCK_5, 5, (0, 1, 2, 3, 4, 7), (7, 7, 7, 7, 7, 7), 0, 0, 0)                             \
	S(BLOCK_6, 6, (0, 1, 2, 3, 4, 5), (7, 7, 7, 7, 7, 7), 0, 0, 0)                             \
	S(IPC64_1, 0, (0, 1, 2, 3, 4, 5), (7, 7, 7, 7, 7, 7), 0, 0, 2)                             \
	S(IPC64_2, 0, (0, 1, 2, 3, 4, 5), (7, 7, 7, 7, 7, 7), 0, 0, 4)                             \
	S(IPC_GET, 0, (1, 2, 3, 7, 7, 7), (7, 7, 7, 7, 7, 7), 0, 0, 0)                             \
	S(IPC_CTL, 0, (1, 2, 4, 7, 7, 7), (7, 7, 7, 7, 7, 7), 0, 0, 2)                             \
	S(IPC_OP, 0, (1, 4, 2, 5, 7, 7), (7, 7, 7, 7, 7, 7), 0, 0, 0)                              \
	S(IPC_SND, 0, (1, 4, 2, 3, 7, 7), (7, 7, 7, 7, 7, 7), 0, 0, 0)                             \
	S(IPC_DT, 0, (4, 7, 7, 7, 7, 7), (7, 7, 7, 7, 7, 7), 0, 0, 0)

enum ia32_shape {
#define S(name, ...) IA32_##name,
	IA32_SHAPES(S)
#undef S
		IA32_SHAPE_MAX
};

#endif /* DRIVER_SHARED_IA32_H */
