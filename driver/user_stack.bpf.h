/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the user stack of the current task, from the registers with which it left user mode.
 *
 * The walker has memory of its own per CPU and depth of nesting, since a sample may interrupt
 * another. Reads never fault pages in, and each address is checked before it is read: a failed read
 * costs as much as twenty successful ones. One failed read ends the walk.
 */
#ifndef DRIVER_USER_STACK_BPF_H
#define DRIVER_USER_STACK_BPF_H

#include "compiler.bpf.h"
#include "maps.bpf.h"
#include "shared/user_walk.h"
#include "walk_memory.bpf.h"

/* Returns the id of a deferred stack. */
static __always_inline u64 new_stack_id(struct drv_sampler *sampler)
{
	return (u64)bpf_get_smp_processor_id() << SAMPLE_ID_CPU_SHIFT |
	       (__sync_fetch_and_add(&sampler->next_id, 1) + 1);
}

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DRV_LEVELS);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct user_walk));
} user_walks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, UNWIND_PROCESSES_MAX);
	__type(key, u32);
	__type(value, struct unwind_process);
} unwind_processes SEC(".maps");

/*
 * All registers except ip, by DWARF number: some code has a CFA based on others than rsp and rbp.
 */
static __always_inline void dwarf_regs(u64 *to, const struct pt_regs *regs)
{
	to[0] = regs->ax;
	to[1] = regs->dx;
	to[2] = regs->cx;
	to[3] = regs->bx;
	to[4] = regs->si;
	to[5] = regs->di;
	to[6] = regs->bp;
	to[7] = regs->sp;
	to[8] = regs->r8;
	to[9] = regs->r9;
	to[10] = regs->r10;
	to[11] = regs->r11;
	to[12] = regs->r12;
	to[13] = regs->r13;
	to[14] = regs->r14;
	to[15] = regs->r15;
}

/* Finds the mappings of the process. Returns false if they are not known yet; the walk then uses
 * frame pointers. */
static __always_inline bool find_process(struct user_walk *w)
{
	u32 pid = w->pid; /* keys must be on the stack for Linux 6.1 */
	struct unwind_process *p;

	w->n_maps = 0;
	if (!sampler_cfg.tables)
		return true;
	p = bpf_map_lookup_elem(&unwind_processes, &pid);
	if (!p)
		return false;
	w->gen = ONCE(p->gen);
	barrier();
	w->maps = p->maps;
	w->n_maps = p->n_maps;
	p->n_walks++; /* may miss some: only shows which processes are sampled */
	barrier();
	return w->n_maps && ONCE(p->gen_end) == w->gen;
}

struct walk_ctx {
	struct user_walk *w;
	struct unwind_cache *cache;
};

/* A callback of bpf_loop. */
static long user_step(u32 i, void *ctx)
{
	const struct walk_ctx *c = ctx;
	int r;

	(void)i;
	r = walk_step(c->w, c->cache);
	OPAQUE(r); /* the verifier requires 0 or 1, but does not know what clang knows */
	return r != 0;
}

/* Walks the user stack of the current task into @w. Verified on its own. */
__noinline int user_frames(struct user_walk *w)
{
	struct walk_ctx c = {.w = w, .cache = walk_cache()};
	bool known;

	if (!w)
		return 0;
	known = find_process(w);
	if (walk_begin(w, c.cache))
		return 0;
	bpf_loop(STACK_USER_MAX, user_step, &c, 0);
	/* A walk by frame pointers may have missed frames. */
	if (!known && w->end != STACK_END_DEPTH && w->end != STACK_END_FAULT)
		w->end = STACK_END_NEW;
	return 0;
}

#endif /* DRIVER_USER_STACK_BPF_H */
