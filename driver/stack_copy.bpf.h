/* SPDX-License-Identifier: GPL-2.0 */
/* Keeps copies of stacks whose unwind tables are not there yet (stack_copy.h). A process that never
 * gets tables sends only a few for each state of its mappings. */
#ifndef DRIVER_STACK_COPY_BPF_H
#define DRIVER_STACK_COPY_BPF_H

#include "shared/stack_copy.h"
#include "task.bpf.h"
#include "user_stack.bpf.h"

#define STACK_COPY_PAGE 4096ull
#define STACK_COPY_PAGES (STACK_COPY_MAX / STACK_COPY_PAGE + 1)
#define RED_ZONE_SZ 128 /* the red zone: leaf functions use this part below rsp */
#define STACK_COPIES_PER_STATE 256u /* for each state of a process's mappings */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, STACK_COPIES_SZ_MIN);
} stack_copies SEC(".maps");

/* Where copies are made, by depth of nesting; deeper nesting makes none. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct stack_copy));
} stack_copy_scratch SEC(".maps");

/* Returns whether the walk ended because tables are missing that may still come. */
static __always_inline bool lacks_tables(const struct user_walk *w)
{
	switch (w->end) {
	case STACK_END_NEW:
	case STACK_END_NO_MAP:
	case STACK_END_NO_TABLE:
		return true;
	case STACK_END_FAULT: /* by wrong frame pointers */
	case STACK_END_DEPTH:
		return !w->n_maps;
	}
	return false;
}

static __always_inline bool may_send_copy(u32 pid)
{
	struct unwind_process *p = bpf_map_lookup_elem(&unwind_processes, &pid);

	return !p || __sync_fetch_and_add(&p->n_copied, 1) < STACK_COPIES_PER_STATE;
}

/* Returns where the thread's stack ends, as far as known. */
static __always_inline u64 stack_top(struct task_struct *task, u64 sp)
{
	u64 top = BPF_CORE_READ(task, mm, start_stack);

	return top - sp < STACK_COPY_MAX ? top + 8 : sp + STACK_COPY_MAX;
}

/* Copies the stack from @sp on, page by page, until one is missing. */
static __always_inline void copy_stack(struct stack_copy *c, u64 sp, u64 top)
{
	u64 off = 0;

	sp &= ~7ull;
	c->at = (sp & (STACK_COPY_PAGE - 1)) >= RED_ZONE_SZ ? sp - RED_ZONE_SZ : sp;
	for (u32 i = 0; i < STACK_COPY_PAGES; i++) {
		const u64 at = c->at + off, n = STACK_COPY_PAGE - (at & (STACK_COPY_PAGE - 1));

		if (at >= top || off > STACK_COPY_MAX - STACK_COPY_PAGE)
			break;
		if (bpf_probe_read_user(c->stack + off, n, (void *)at))
			break;
		off += n;
	}
	c->sz = off;
}

/* Restores the return addresses that return probes replaced: whoever walks the copy cannot query
 * the kernel. The code of a probe begins at a page boundary. */
static __always_inline void restore_probed(struct stack_copy *c, struct task_struct *task)
{
	struct return_instance *r = return_probes(task);

	for (u32 i = 0; i < PROBES_MAX && r; i++) {
		const u64 at = BPF_CORE_READ(r, stack) - c->at;
		u64 off = bounded(at, STACK_COPY_MAX - 8), *to = (void *)(c->stack + off);

		if (at == off && at + 8 <= c->sz && !(*to & (STACK_COPY_PAGE - 1)))
			*to = BPF_CORE_READ(r, orig_ret_vaddr);
		r = BPF_CORE_READ(r, next);
	}
}

static __always_inline u64 send_stack(struct task_struct *task, u32 max, u32 level)
{
	struct drv_sampler *sampler = this_sampler();
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	struct stack_copy *c;
	u64 len;

	c = bpf_map_lookup_elem(&stack_copy_scratch, &level);
	if (!c)
		return 0;
	copy_stack(c, regs->sp, stack_top(task, regs->sp));
	if (!c->sz)
		return 0;
	restore_probed(c, task);
	c->boot_ns = bpf_ktime_get_boot_ns();
	c->id = new_stack_id(sampler);
	c->ip = regs->ip;
	dwarf_regs(c->regs, regs);
	c->pid = task->tgid;
	c->max = max;
	len = bounded(offsetof(struct stack_copy, stack) + (u64)ONCE(c->sz), sizeof(*c));
	if (!bpf_ringbuf_output(&stack_copies, c, len, 0))
		return c->id;
	return 0;
}

/* Sends a copy of the current task's user stack, for which @w found no tables. Returns the id under
 * which the stack comes later; 0: it does not. Verified on its own. */
__noinline u64 send_copy(struct user_walk *w, u32 max, u32 level)
{
	struct drv_sampler *sampler = this_sampler();
	u64 id;

	if (!w || !sampler_cfg.tables)
		return 0;
	if (!may_send_copy(w->pid)) {
		__sync_fetch_and_add(&sampler->n_copies_refused, 1);
		return 0;
	}
	id = send_stack(bpf_get_current_task_btf(), max, level);
	__sync_fetch_and_add(id ? &sampler->n_copied : &sampler->n_not_copied, 1);
	if (id &&
	    w->end ==
		    STACK_END_FAULT) /* otherwise it would be deferred to the return to user mode */
		w->end = STACK_END_NEW;
	return id;
}

static __always_inline u64 copy_if_no_tables(struct user_walk *w, u32 max, u32 level)
{
	return sampler_cfg.tables && lacks_tables(w) ? send_copy(w, max, level) : 0;
}

#endif /* DRIVER_STACK_COPY_BPF_H */
