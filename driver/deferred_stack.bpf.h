/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred stacks that are completed at the thread's return to user mode. The sample gets an id; a
 * program that may wait for pages runs when the thread leaves the kernel, walks the stack again and
 * sends the result in a record with that id. Until then, further samples of the thread get the same
 * id.
 *
 * The kernel functions for this are newer than libbpf and than the verifier of older kernels: they
 * are compiled as helpers with unused numbers, which libscap replaces (live_progs.c) if the kernel
 * has the functions. If it does not, sampler_cfg.deferred is 0 and this code is not reached.
 */
#ifndef DRIVER_DEFERRED_STACK_BPF_H
#define DRIVER_DEFERRED_STACK_BPF_H

#include "sample_record.bpf.h"
#include "shared/kfuncs.h"

#define DEFERRED_SLOTS 256 /* maximum number of threads with such a stack; a power of two */
#define DEFERRED_PAGES 4 /* maximum number of pages that a stack waits for */
#define PAGE_LEN 4096ull

struct deferred_stack {
	struct bpf_task_work work;
	u64 task; /* owner of the slot; 0: free */
	u64 id;
	u64 ip, sp; /* start of the stack: an execve or a signal handler begins another one */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DEFERRED_SLOTS);
	__type(key, u32);
	__type(value, struct deferred_stack);
} deferred_stacks SEC(".maps");

static int (*const task_work_resume)(struct task_struct *task, struct bpf_task_work *work,
				     void *map, void *callback,
				     void *prog) = (void *)KFUNC_TASK_WORK_RESUME;
static void (*const preempt_disable)(void) = (void *)KFUNC_PREEMPT_DISABLE;
static void (*const preempt_enable)(void) = (void *)KFUNC_PREEMPT_ENABLE;

/* Sends the rest of a stack. Preemption is off. */
static __always_inline void send_rest(struct user_walk *w, struct task_struct *task, u64 id)
{
	struct drv_sampler *sampler = this_sampler();
	struct rec r;

	/* These records have no context that the kernel accepts for output. */
	if (!begin_at(&r, this_ring(), NULL, OPEN_SENT, EVT_SAMPLE_STACK_E, 0,
		      EVT_SAMPLE_STACK_E_NPARAMS,
		      EVT_SAMPLE_STACK_E_FIXED_SZ + 8 * STACK_USER_MAX)) {
		count(&sampler->n_finish_dropped);
		return;
	}
	put_u64(&r, id);
	put_s64(&r, task->tgid);
	put_frames(&r, w, w->frames, w->n, STACK_USER_MAX);
	put_u8(&r, w->end);
	if (rec_close(&r, 0, 0))
		count(&sampler->n_finished);
	else
		count(&sampler->n_finish_dropped);
}

static __always_inline bool is_same_stack(const struct deferred_stack *l, struct task_struct *task)
{
	struct pt_regs *regs = user_regs(task);

	return regs && regs->ip == l->ip && regs->sp == l->sp;
}

/* Walks the stack as it is now. Returns the missing page, or 0 if none is missing and the rest was
 * sent. Preemption is off. */
static __always_inline u64 walk_rest(struct task_struct *task, struct deferred_stack *l, bool last)
{
	struct ring *ring = this_ring();
	struct user_walk *w = ring ? walk_enter(this_ends()) : NULL;
	u64 missing = 0, id;

	if (w) {
		walk_user(w, task, sampler_cfg.depth);
		if (w->end == STACK_END_FAULT && !last)
			missing = w->fault;
	}
	if (!missing) {
		id = l->id;
		barrier();
		ONCE(l->task) = 0; /* samples from here on get their own id */
		if (w) {
			send_scripts(NULL, w);
			send_rest(w, task, id);
		} else {
			count(&this_sampler()->n_finish_dropped);
		}
	}
	if (ring)
		ring_leave(this_ends());
	return missing;
}

/* As walk_rest, if the stack is still the one that was deferred. */
static __always_inline u64 walk_deferred(struct task_struct *task, struct deferred_stack *l,
					 bool last)
{
	u64 missing;

	if (!is_same_stack(l, task)) {
		ONCE(l->task) = 0;
		count(&this_sampler()->n_finish_dropped);
		return 0;
	}
	preempt_disable();
	missing = walk_rest(task, l, last);
	preempt_enable();
	return missing;
}

/* Runs when the current task returns to user mode; may sleep. */
static int finish(void *map, void *key, struct deferred_stack *l)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 missing;
	u8 byte;

	(void)map;
	(void)key;
	for (int i = 0; i < DEFERRED_PAGES; i++) {
		missing = walk_deferred(task, l, false);
		if (!missing)
			return 0;
		if (bpf_copy_from_user(&byte, sizeof(byte), (void *)missing))
			break;
		/* It may span two pages. */
		bpf_copy_from_user(&byte, sizeof(byte), (void *)(missing + 15));
	}
	walk_deferred(task, l, true);
	return 0;
}

/* Returns the id for the rest of the stack of @task, which runs or is about to run; 0: it does not
 * come. */
static __always_inline u64 defer_stack(struct task_struct *task)
{
	struct drv_sampler *sampler = this_sampler();
	u32 at = task->pid & (DEFERRED_SLOTS - 1);
	struct pt_regs *regs = user_regs(task);
	struct deferred_stack *l;

	if (!sampler_cfg.deferred || !regs)
		return 0;
	l = bpf_map_lookup_elem(&deferred_stacks, &at);
	if (!l)
		return 0;
	if (ONCE(l->task) == (u64)task && is_same_stack(l, task)) {
		count(&sampler->n_later);
		return l->id;
	}
	if (__sync_val_compare_and_swap(&l->task, 0, (u64)task)) {
		count(&sampler->n_not_later);
		return 0;
	}
	l->ip = regs->ip;
	l->sp = regs->sp;
	l->id = new_stack_id(sampler);
	if (task_work_resume(task, &l->work, &deferred_stacks, finish, NULL)) {
		ONCE(l->task) = 0;
		count(&sampler->n_not_later);
		return 0;
	}
	count(&sampler->n_later);
	return l->id;
}

#endif /* DRIVER_DEFERRED_STACK_BPF_H */
