/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stacks whose tables are not there yet (cold_stack.h). A process for which tables never come
 * sends a few, no more: until libscap has written a new state of its mappings.
 */
#ifndef DRIVER_COLD_STACK_BPF_H
#define DRIVER_COLD_STACK_BPF_H

#include "shared/cold_stack.h"
#include "task.bpf.h"
#include "user_stack.bpf.h"

#define COLD_PAGE 4096ull
#define COLD_PAGES (COLD_STACK_MAX / COLD_PAGE + 1)
#define COLD_RED_ZONE 128 /* below rsp functions that call no other keep things, too */
#define COLD_TRIES 256u /* of one state of a process's mappings */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, COLD_RING_SZ_MIN);
} cold_stacks SEC(".maps");

/* Where they are made, by depth of nesting: beyond, none is. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct cold_stack));
} cold_scratch SEC(".maps");

/* Did the walk end for want of tables that may come? */
static __always_inline bool is_cold(const struct user_walk *w)
{
	switch (w->end) {
	case STACK_END_NEW:
	case STACK_END_NO_MAP:
	case STACK_END_NO_TABLE:
		return true;
	case STACK_END_FAULT: /* by what was taken for frame pointers */
	case STACK_END_DEPTH:
		return !w->n_maps;
	}
	return false;
}

static __always_inline bool may_be_kept(u32 pid)
{
	struct unwind_process *p = bpf_map_lookup_elem(&unwind_processes, &pid);

	return !p || __sync_fetch_and_add(&p->n_cold, 1) < COLD_TRIES;
}

/* Where a thread's stack ends, as far as that is known. */
static __always_inline u64 stack_top(struct task_struct *task, u64 sp)
{
	u64 top = BPF_CORE_READ(task, mm, start_stack);

	return top - sp < COLD_STACK_MAX ? top + 8 : sp + COLD_STACK_MAX;
}

/* The stack from @sp on, by pages, until one is not there. */
static __always_inline void copy_stack(struct cold_stack *c, u64 sp, u64 top)
{
	u64 off = 0;

	sp &= ~7ull;
	c->at = (sp & (COLD_PAGE - 1)) >= COLD_RED_ZONE ? sp - COLD_RED_ZONE : sp;
	for (u32 i = 0; i < COLD_PAGES; i++) {
		const u64 at = c->at + off, n = COLD_PAGE - (at & (COLD_PAGE - 1));

		if (at >= top || off > COLD_STACK_MAX - COLD_PAGE)
			break;
		if (bpf_probe_read_user(c->stack + off, n, (void *)at))
			break;
		off += n;
	}
	c->sz = off;
}

/* Puts back what return probes took the place of: who walks the copy cannot ask the kernel. A
 * probe's code begins with a page. */
static __always_inline void mend_probed(struct cold_stack *c, struct task_struct *task)
{
	struct return_instance *r = return_probes(task);

	for (u32 i = 0; i < PROBES_MAX && r; i++) {
		const u64 at = BPF_CORE_READ(r, stack) - c->at;
		u64 off = bounded(at, COLD_STACK_MAX - 8), *to = (void *)(c->stack + off);

		if (at == off && at + 8 <= c->sz && !(*to & (COLD_PAGE - 1)))
			*to = BPF_CORE_READ(r, orig_ret_vaddr);
		r = BPF_CORE_READ(r, next);
	}
}

static __always_inline u64 send_stack(struct task_struct *task, u32 max, u32 level)
{
	struct drv_sampler *sampler = this_sampler();
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	struct cold_stack *c;
	u64 len;

	c = bpf_map_lookup_elem(&cold_scratch, &level);
	if (!c)
		return 0;
	copy_stack(c, regs->sp, stack_top(task, regs->sp));
	if (!c->sz)
		return 0;
	mend_probed(c, task);
	c->boot_ns = bpf_ktime_get_boot_ns();
	c->id = new_stack_id(sampler);
	c->ip = regs->ip;
	dwarf_regs(c->regs, regs);
	c->pid = task->tgid;
	c->max = max;
	len = bounded(offsetof(struct cold_stack, stack) + (u64)ONCE(c->sz), sizeof(*c));
	if (!bpf_ringbuf_output(&cold_stacks, c, len, 0))
		return c->id;
	return 0;
}

/* The id under which the user stack of the current task comes later, as @w found no tables for it;
 * 0: it does not come. A function of its own to the verifier. */
__noinline u64 send_cold(struct user_walk *w, u32 max, u32 level)
{
	struct drv_sampler *sampler = this_sampler();
	u64 id;

	if (!w || !sampler_cfg.tables)
		return 0;
	if (!may_be_kept(w->pid)) {
		__sync_fetch_and_add(&sampler->n_cold_spent, 1);
		return 0;
	}
	id = send_stack(bpf_get_current_task_btf(), max, level);
	__sync_fetch_and_add(id ? &sampler->n_cold : &sampler->n_not_cold, 1);
	if (id && w->end == STACK_END_FAULT) /* else it would be finished later */
		w->end = STACK_END_NEW;
	return id;
}

static __always_inline u64 keep_cold(struct user_walk *w, u32 max, u32 level)
{
	return sampler_cfg.tables && is_cold(w) ? send_cold(w, max, level) : 0;
}

#endif /* DRIVER_COLD_STACK_BPF_H */
