/* SPDX-License-Identifier: GPL-2.0 */
/* Compiler barriers, volatile access, and unaligned stores for BPF code. */
#ifndef DRIVER_COMPILER_BPF_H
#define DRIVER_COMPILER_BPF_H

#include "kernel.h"

#ifndef barrier
#define barrier() asm volatile("" ::: "memory")
#endif

/* Loads or stores @x exactly once, in program order: interrupts on this CPU see and change it. */
#define ONCE(x) (*(volatile typeof(x) *)&(x))

/* Hides the value of @x from clang, so that the register that is compared is the one that is used:
 * the verifier of Linux 6.1 loses bounds of spilled copies. */
#define OPAQUE(x) asm volatile("" : "+r"(x))

/* Limits @v to @max, in the register that is used, so that the verifier sees it. Needed for values
 * read back from the context of a loop, of which nothing is known from the second round on. */
static __always_inline u64 bounded(u64 v, u64 max)
{
	/*
	 * 6.1 loses the bounds of a value spilled before the comparison: hence one asm, one
	 * register. The verifier follows the fall-through first: once it has verified the wide
	 * range, it skips the other path, which would otherwise double its work from here to the
	 * end.
	 */
	asm volatile("if %0 > %1 goto +1; goto +1; %0 = %1" : "+r"(v) : "ri"(max));
	return v;
}

/* Limits @v to @max, and hides everything else about it from the verifier. Where paths through a
 * filler join with different knowledge, it would follow each of them to the end. */
static __always_inline u64 widen_in(u64 *scratch, u64 v, u64 max)
{
	ONCE(*scratch) = v;
	return bounded(ONCE(*scratch), max);
}

/* Records are packed, but written with plain stores: the verifier allows unaligned stores on x86,
 * and clang would split an access to a packed member into bytes. */
static __always_inline void store16(u8 *p, u16 v)
{
	*(u16 *)p = v;
}

static __always_inline void store32(u8 *p, u32 v)
{
	*(u32 *)p = v;
}

static __always_inline void store64(u8 *p, u64 v)
{
	*(u64 *)p = v;
}

static __always_inline u64 align8(u64 n)
{
	return (n + 7) & ~7ull;
}

#endif /* DRIVER_COMPILER_BPF_H */
