/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What a walk of a user stack knows, and how it reaches memory: by functions that the driver
 * (walk_memory.bpf.h) and user space, for stacks that were kept, each define for themselves.
 */
#ifndef DRIVER_SHARED_WALK_STATE_H
#define DRIVER_SHARED_WALK_STATE_H

#include "shared/unwind_table.h"

#include "shared/record.h"
#include "shared/stack.h"

#define WALK_WINDOW 4096u /* bytes of stack that are read at a time, a page at most */
#define WALK_REGS 16
#define WALK_SWITCHES_MAX 4 /* of stacks; a walk in circles makes more */

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
	/* In: registers as DWARF numbers them, and which of them are known. sp and bp are above. */
	u64 regs[WALK_REGS];
	u32 known;
	u64 tls; /* In: what points to the thread's own memory; 0: not known */
	/* In: the process's mappings. None: by frame pointers alone. */
	u32 maps, n_maps; /* place */
	u32 gen;
	/* The walk's own. */
	u64 rule; /* for ip */
	u32 exact; /* ip is no return address */
	u32 switches;
	u32 go_switches; /* those of Go's that were followed */
	u32 n_cached, n_searched; /* addresses that the cache had, and had not */
	u64 window_at;
	u32 window_sz; /* 0: empty */
	u32 scripts; /* walkers that have begun, as bits */
	u64 script[STACK_WALKER_ROOM]; /* of each: where it goes on in the next frame of its loop */
	u8 window[WALK_WINDOW];
};

/* Reads the stack into w->window; 0, or the memory is not there. */
static int walk_fill(struct user_walk *w, u32 sz, u64 addr);
/* A chunk of the tables; NULL: there is none. */
static const u64 *walk_chunk(const struct user_walk *w, u32 chunk);
/* The walk is at the frame of an interpreter's loop: puts what that frame runs, innermost first,
 * with walk_put_script. Not 0: the walk ends. */
#if defined(__bpf__) || defined(WALK_SCRIPTS)
static int walk_script(struct user_walk *w, u32 walker);
#else /* nobody asks for more than the native frames */
static inline int walk_script(struct user_walk *w, u32 walker)
{
	(void)w;
	(void)walker;
	return 0;
}
#endif

/* The walk is in a probe's code: finds where that goes on, and puts it into w->ip, w->sp and
 * w->exact. Not 0: nobody knows. */
#if defined(__bpf__) || defined(WALK_PROBES)
static int walk_probe(struct user_walk *w);
#else /* the kernel knows only while the thread is there */
static inline int walk_probe(struct user_walk *w)
{
	(void)w;
	return -1;
}
#endif

#endif /* DRIVER_SHARED_WALK_STATE_H */
