/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * A copy of a stack that was sampled before its unwind tables were built: registers, and a
 * part of the stack's memory. The driver sends it over a ring of its own to libscap's thread that
 * builds the tables, which walks it once they are there. Only that thread ever sees these bytes:
 * what it passes on are frames, under the id that the sample has, too.
 */
#ifndef DRIVER_SHARED_STACK_COPY_H
#define DRIVER_SHARED_STACK_COPY_H

#include "shared/record.h"

#define STACK_COPY_MAX (28u << 10) /* bytes of stack: a per-CPU value has at most 32 KiB */
#define STACK_COPY_REGS 16 /* as DWARF numbers them */
#define STACK_COPIES_SZ_MIN (4u << 20) /* over all CPUs */
#define STACK_COPIES_SZ_MAX (16u << 20)

struct stack_copy {
	u64 id; /* the id of the sample */
	u64 boot_ns; /* time of the sample, or earlier */
	u64 ip, regs[STACK_COPY_REGS];
	u64 at; /* address of the bytes that follow; they reach to the end of a page */
	u32 pid; /* the process */
	u32 max; /* maximum number of frames */
	u32 sz; /* bytes of stack that were copied */
	u32 pad;
	u8 stack[STACK_COPY_MAX];
};

#endif /* DRIVER_SHARED_STACK_COPY_H */
