/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the user stack of the current task, from the registers that it left user mode with.
 *
 * The walker has its memory to itself: one per CPU and depth of nesting, since a sample may
 * interrupt another. Reads never fault pages in, and each address is checked before it is read: a
 * read that fails costs as much as twenty that do not. One failing read ends the walk.
 */
#ifndef DRIVER_USER_STACK_BPF_H
#define DRIVER_USER_STACK_BPF_H

#include "maps.bpf.h"
#include "stack.h"

struct user_walk {
	/* In, and what of it is known of the frame that the walk is at. */
	u64 ip, sp, bp;
	u32 pid; /* the process */
	u32 max; /* frames at most; no more than STACK_USER_MAX */
	/* Out. */
	u32 n; /* frames */
	u32 end; /* enum stack_end */
	u64 fault; /* with STACK_END_FAULT: where */
	u64 scratch; /* what the verifier is to know nothing of passes through it: forget_in */
	u64 frames[STACK_USER_MAX]; /* addresses, with how they were found: stack.h */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DRV_LEVELS);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct user_walk));
} user_walks SEC(".maps");

#define USER_ADDR_MIN 0x1000ull
#define USER_ADDR_END 0x00fffffffffff000ull /* with five levels of page tables, too */
#define FP_FRAME_MAX (64ull << 20) /* no frame is larger */

static __always_inline bool user_code(u64 pc)
{
	return pc >= USER_ADDR_MIN && pc < USER_ADDR_END;
}

/* Can @fp be the frame pointer of the frame whose stack pointer is @sp? */
static __always_inline bool user_fp(u64 fp, u64 sp)
{
	return !(fp & 7) && fp >= sp && fp - sp < FP_FRAME_MAX && fp >= USER_ADDR_MIN &&
	       fp < USER_ADDR_END - 16;
}

static __always_inline bool walk_ends(struct user_walk *w, u32 end)
{
	w->end = end;
	return true;
}

static __always_inline bool walk_put(struct user_walk *w, u64 frame)
{
	u32 n = w->n;

	if (n >= w->max || n >= STACK_USER_MAX)
		return false;
	w->frames[n & (STACK_USER_MAX - 1)] = frame;
	w->n = n + 1;
	return true;
}

/* One frame up by its frame pointer: true, the walk ends there. */
static __always_inline bool fp_step(struct user_walk *w)
{
	struct {
		u64 fp, ra;
	} at;

	if (!w->bp)
		return walk_ends(w, STACK_END_ROOT);
	if (!user_fp(w->bp, w->sp))
		return walk_ends(w, STACK_END_BAD_FP);
	if (w->n >= w->max)
		return walk_ends(w, STACK_END_DEPTH);
	if (bpf_probe_read_user(&at, sizeof(at), (void *)w->bp)) {
		w->fault = w->bp;
		return walk_ends(w, STACK_END_FAULT);
	}
	if (!at.ra)
		return walk_ends(w, STACK_END_ROOT);
	if (!user_code(at.ra))
		return walk_ends(w, STACK_END_BAD_PC);
	w->sp = w->bp + sizeof(at); /* the next one lies above: no walk in circles */
	w->bp = at.fp;
	w->ip = at.ra;
	walk_put(w, at.ra | (u64)STACK_HOW_FP << STACK_HOW_SHIFT);
	return false;
}

/* A callback of bpf_loop. */
static long user_step(u32 i, void *ctx)
{
	(void)i;
	return fp_step(*(struct user_walk **)ctx);
}

/* The user stack of the current task, into @w. A function of its own to the verifier. */
__noinline int user_frames(struct user_walk *w)
{
	if (!w)
		return 0;
	w->n = 0;
	w->fault = 0;
	w->end = STACK_END_DEPTH;
	if (!user_code(w->ip)) {
		w->end = STACK_END_BAD_PC;
		return 0;
	}
	walk_put(w, w->ip | STACK_EXACT | (u64)STACK_HOW_REGS << STACK_HOW_SHIFT);
	bpf_loop(STACK_USER_MAX, user_step, &w, 0);
	return 0;
}

#endif /* DRIVER_USER_STACK_BPF_H */
