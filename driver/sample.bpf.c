/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of the running task: by the clock, at page faults, at requested tracepoints. Off-CPU
 * samples are in sample_off.bpf.c.
 *
 * A stack with a page that is not in memory is a deferred stack: it is walked again when the thread
 * returns to user mode, where a program may wait for the page, if the kernel supports that
 * (deferred_stack.bpf.h).
 */
#include "deferred_stack.bpf.h"
#include "sample_record.bpf.h"
#include "stack_copy.bpf.h"

/* The parts of a sample that depend on the program. */
struct sample {
	u32 reason; /* enum sample_reason */
	bool weighs;
	u64 weight; /* ns */
	bool has_addr;
	u64 addr; /* of a fault */
	const volatile char *tracepoint; /* NULL: none */
	bool has_kernel; /* the task was in the kernel */
};

/* Puts the stack that @w has found. */
static __always_inline void put_user_stack(struct rec *r, struct user_walk *w,
					   struct task_struct *task)
{
	struct pt_regs *regs = user_regs(task);
	u64 id = 0;

	count(&this_sampler()->ends[w->end & (STACK_END_ROOM - 1)]);
	id = copy_if_no_tables(w, sampler_cfg.depth, r->level);
	if (!id && w->end == STACK_END_FAULT) {
		id = defer_stack(task);
		if (id)
			w->end = STACK_END_DEFERRED;
	}
	/* These frames count if the deferred stack never comes. */
	put_frames(r, w, w->frames, w->n, STACK_USER_MAX);
	put_u8(r, w->end);
	put_u64_when(r, w, regs, regs ? regs->ip : 0);
	put_u64_when(r, w, regs, regs ? regs->sp : 0);
	put_u64_when(r, w, regs, regs ? regs->bp : 0);
	put_u64_when(r, w, id, id);
}

/* Puts the parameters that only off-CPU samples have: without values. */
static __always_inline void put_no_wait(struct rec *r)
{
	put_empty(r);
	put_empty(r);
	put_empty(r);
	put_empty(r);
	put_empty(r);
	put_empty(r);
	put_empty(r);
}

/* Begins a sample, and walks its user stack. Returns false if there is no room. *w NULL: none. */
static __always_inline bool begin_walked(struct rec *r, struct user_walk **w, void *ctx,
					 struct task_struct *task)
{
	if (!begin_sample(r, ctx, OPEN_SENT))
		return false;
	*w = walk_of(r->level); /* there is one for each level */
	if (*w)
		walk_user(*w, task, sampler_cfg.depth);
	return true;
}

static __always_inline int send_sample(struct drv_sample_counts *c, void *ctx,
				       struct task_struct *task, const struct sample *s)
{
	struct user_walk *w;
	struct rec r;
	bool begun = begin_walked(&r, &w, ctx, task);

	if (begun && w && w->n_codes) {
		send_scripts_in(&r, ctx, w);
		begun = begin_walked(&r, &w, ctx, task);
	}
	if (!begun) {
		count(&c->dropped);
		return 0;
	}
	put_u8(&r, s->reason);
	if (s->weighs)
		put_u64(&r, s->weight);
	else
		put_empty(&r);
	put_s64(&r, task->tgid);
	if (!w)
		return commit_sample(&r, c);
	put_comm_of(&r, w, task->comm);
	if (sampler_cfg.kernel && s->has_kernel)
		put_kernel_stack(&r, w, ctx);
	else
		put_empty(&r);
	put_user_stack(&r, w, task);
	put_ns_pids(&r, w, task);
	if (s->tracepoint) {
		put_kernel_str(&r, (const void *)s->tracepoint, SAMPLE_TP_NAME);
		widen_off_in(&r, w);
	} else {
		put_empty(&r);
	}
	if (s->has_addr)
		put_u64(&r, s->addr);
	else
		put_empty(&r);
	put_no_wait(&r);
	return commit_sample(&r, c);
}

/* The context of a perf event program; not relocated: the verifier requires the real offsets. */
struct perf_event_ctx {
	u64 regs[21]; /* as in pt_regs */
	u64 sample_period;
	u64 addr;
};

#define PERF_REG_CS 17

SEC("?perf_event")
int sample_cpu(struct perf_event_ctx *ctx)
{
	struct drv_sample_counts *c = &this_sampler()->by[SAMPLE_SRC_CPU];
	struct task_struct *task = bpf_get_current_task_btf();
	const struct sample s = {
		.reason = SAMPLE_CPU,
		.weighs = true,
		.weight = sampler_cfg.period_ns,
		.has_kernel = !(ctx->regs[PERF_REG_CS] & 3),
	};
	enum sample_filter why = task_filter(task);

	count(&c->runs);
	if (why != SAMPLE_FILTER_MAX)
		return filtered(c, why);
	return send_sample(c, ctx, task, &s);
}

/* ctx: address, registers, error code. */
static __always_inline int sample_fault(u64 *ctx, bool in_kernel)
{
	struct drv_sample_counts *c = &this_sampler()->by[SAMPLE_SRC_PAGE_FAULT];
	struct task_struct *task = bpf_get_current_task_btf();
	const struct sample s = {
		.reason = SAMPLE_PAGE_FAULT,
		.has_addr = true,
		.addr = ctx[0],
		.has_kernel = in_kernel,
	};
	enum sample_filter why;

	count(&c->runs);
	if (fault_is_probe(task))
		return filtered(c, SAMPLE_FILTER_OWN_FAULT);
	why = task_filter(task);
	if (why != SAMPLE_FILTER_MAX)
		return filtered(c, why);
	return send_sample(c, ctx, task, &s);
}

SEC("?tp_btf/page_fault_user")
int sample_fault_user(u64 *ctx)
{
	return PINNED(sample_fault(ctx, false));
}

SEC("?tp_btf/page_fault_kernel")
int sample_fault_kernel(u64 *ctx)
{
	return PINNED(sample_fault(ctx, true));
}

static __always_inline int sample_tracepoint(void *ctx, u32 i)
{
	struct drv_sample_counts *c = &this_sampler()->by[SAMPLE_SRC_TRACEPOINT + i];
	struct task_struct *task = bpf_get_current_task_btf();
	const struct sample s = {
		.reason = SAMPLE_TRACEPOINT,
		.tracepoint = sampler_cfg.tracepoints[i],
		.has_kernel = true,
	};
	enum sample_filter why = task_filter(task);

	count(&c->runs);
	if (why != SAMPLE_FILTER_MAX)
		return filtered(c, why);
	return send_sample(c, ctx, task, &s);
}

SEC("?raw_tp")
int sample_tp0(void *ctx)
{
	return PINNED(sample_tracepoint(ctx, 0));
}

SEC("?raw_tp")
int sample_tp1(void *ctx)
{
	return PINNED(sample_tracepoint(ctx, 1));
}

SEC("?raw_tp")
int sample_tp2(void *ctx)
{
	return PINNED(sample_tracepoint(ctx, 2));
}

SEC("?raw_tp")
int sample_tp3(void *ctx)
{
	return PINNED(sample_tracepoint(ctx, 3));
}
