/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * A stack that was sampled before the tables were there to walk it by: what the walk begins with,
 * and a piece of the stack. The driver sends it by a ring of its own to the thread of libscap that
 * makes tables, which walks it as soon as it has them, and nothing else ever sees its bytes: what
 * goes on is a record of the stack's frames under the id that the sample has, too.
 */
#ifndef DRIVER_SHARED_COLD_STACK_H
#define DRIVER_SHARED_COLD_STACK_H

#include "shared/record.h"

#define COLD_STACK_MAX (28u << 10) /* bytes of stack: a value of a CPU is 32 KiB at most */
#define COLD_REGS 16 /* as DWARF numbers them */
#define COLD_RING_SZ_MIN (4u << 20) /* of all CPUs */
#define COLD_RING_SZ_MAX (16u << 20)

struct cold_stack {
	u64 id; /* that the sample has */
	u64 boot_ns; /* when it was sampled, or before */
	u64 ip, regs[COLD_REGS];
	u64 at; /* address of what follows; it goes to the end of a page */
	u32 pid; /* the process */
	u32 max; /* frames */
	u32 sz; /* bytes of stack that are there */
	u32 pad;
	u8 stack[COLD_STACK_MAX];
};

#endif /* DRIVER_SHARED_COLD_STACK_H */
