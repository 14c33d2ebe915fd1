/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes samples. Each run of a program that takes samples is counted once: as a sample in the
 * ring, as dropped, or as filtered, by reason. Counters are incremented atomically, since these
 * programs interrupt each other.
 */
#ifndef DRIVER_SAMPLE_RECORD_BPF_H
#define DRIVER_SAMPLE_RECORD_BPF_H

#include "enter.bpf.h"
#include "script_event.bpf.h"
#include "scripts_left.bpf.h"
#include "task.bpf.h"
#include "user_stack.bpf.h"

#define COMM_LEN 16
#define USER32_CS 0x23 /* the code segment of 32-bit programs */

static __always_inline void count(u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

static __always_inline int filtered(struct drv_sample_counts *c, enum sample_filter why)
{
	count(&c->filtered[why]);
	return 0;
}

/* Returns why the current task is not sampled; SAMPLE_FILTER_MAX: it is. */
static __always_inline enum sample_filter task_filter(struct task_struct *task)
{
	if (!task->pid)
		return SAMPLE_FILTER_IDLE;
	if (is_self(task))
		return SAMPLE_FILTER_SELF;
	if (ONCE(samples_pause))
		return SAMPLE_FILTER_PAUSED;
	return task_sel(this_slot(), task) == SEL_SELECTED ? SAMPLE_FILTER_MAX
							   : SAMPLE_FILTER_NO_MATCH;
}

/* Returns the walker of this CPU at a depth of nesting. */
static __always_inline struct user_walk *walk_of(u32 level)
{
	struct user_walk *w;

	level &= DRV_LEVELS - 1;
	w = bpf_map_lookup_elem(&user_walks, &level);
	if (w)
		w->level = level;
	return w;
}

/* Enters a walk outside of records: nest is raised, so that page faults count as the driver's own,
 * and samples that interrupt it have another walker. End: ring_leave. */
static __always_inline struct user_walk *walk_enter(struct ring_ends *ends)
{
	const u32 level = ONCE(ends->nest);

	ONCE(ends->nest) = level + 1;
	barrier();
	return walk_of(level);
}

static __always_inline bool has_user_stack(struct task_struct *task)
{
	return task->mm && !(task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER));
}

/* Returns whether the task is between programs in an exec: its memory is gone and its registers are
 * not set yet. */
static __always_inline bool is_between_programs(const struct pt_regs *regs)
{
	u64 word;

	return (regs->orig_ax == NR_execve || regs->orig_ax == NR_execveat) &&
	       bpf_probe_read_user(&word, sizeof(word), (void *)(regs->sp & ~7ull));
}

/* Sets where the walk of @task's user stack begins. */
static __always_inline void walk_from(struct user_walk *w, struct task_struct *task,
				      const struct pt_regs *regs, u32 max)
{
	w->ip = regs->ip;
	w->sp = regs->sp;
	w->bp = regs->bp;
	w->pid = task->tgid;
	w->max = max;
	dwarf_regs(w->regs, regs);
	w->known = 0xffff;
	w->tls = task->thread.fsbase;
	/* Another program of the process, or another process, can get the same mm. The verifier
	 * refuses arithmetic on a pointer, and does not know it for one in a map. */
	ONCE(w->space) = (u64)task->mm;
	ONCE(w->space) ^= task->self_exec_id * 0xc2b2ae3d27d4eb4full ^
			  task->group_leader->start_boottime * 0x9e3779b97f4a7c15ull;
	w->joins = 0;
}

/* Walks the user stack of the current task into @w. */
static __always_inline void walk_user(struct user_walk *w, struct task_struct *task, u32 max)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	u32 left;

	w->n = 0;
	w->ip = w->sp = w->bp = 0;
	w->end = STACK_END_NONE;
	w->other = 0;
	w->n_codes = 0; /* those of the walk before belong to another task */
	if (!sampler_cfg.user || !has_user_stack(task))
		return;
	walk_from(w, task, regs, max);
	if (regs->cs == USER32_CS) {
		w->end = STACK_END_COMPAT;
		return;
	}
	user_frames(w);
	left = w->end == STACK_END_ROOT ? scripts_left(w) : 0;
	if (left) {
		walk_from(w, task, regs, max);
		w->joins = left;
		user_frames(w);
	}
	__sync_fetch_and_add(&this_sampler()->n_rules, w->n_cached + w->n_searched);
	if (w->n_searched)
		__sync_fetch_and_add(&this_sampler()->n_searched, w->n_searched);
	if (w->end != STACK_END_ROOT && w->n == 1 && is_between_programs(regs)) {
		w->n = 0;
		w->end = STACK_END_NONE;
	}
}

/* Returns the user registers of @task; NULL: it has no user stack. */
static __always_inline struct pt_regs *user_regs(struct task_struct *task)
{
	return has_user_stack(task) ? (void *)bpf_task_pt_regs(task) : NULL;
}

/* Hides the length of the record from the verifier: see widen_off. */
static __always_inline void widen_off_in(struct rec *r, struct user_walk *w)
{
	r->off = widen_in(&w->scratch, r->off, REC_OFF_MAX);
}

/* Puts a number; empty unless @known. */
static __always_inline void put_u64_when(struct rec *r, struct user_walk *w, bool known, u64 v)
{
	store64(put_here(r), v);
	put_done(r, widen_in(&w->scratch, known ? sizeof(v) : 0, sizeof(v)));
	widen_off_in(r, w);
}

static __always_inline void put_comm_of(struct rec *r, struct user_walk *w, const void *comm)
{
	put_kernel_str(r, comm, COMM_LEN);
	widen_off_in(r, w);
}

/* Puts a name of COMM_LEN bytes; empty unless @known. */
static __always_inline void put_comm_when(struct rec *r, struct user_walk *w, bool known,
					  const char *comm)
{
	s64 n = bpf_probe_read_kernel_str(put_here(r), COMM_LEN, comm);

	put_done(r, widen_in(&w->scratch, known && n > 0 ? n : 0, COMM_LEN));
	widen_off_in(r, w);
}

/* Puts @n frames, at most @max, a constant. */
static __always_inline void put_frames(struct rec *r, struct user_walk *w, const u64 *frames, u32 n,
				       u32 max)
{
	u64 len = widen_in(&w->scratch, 8 * (u64)n, 8 * (u64)max);

	if (len && bpf_probe_read_kernel(put_here(r), len, frames))
		len = 0;
	put_done(r, widen_in(&w->scratch, len, 8 * (u64)max));
	widen_off_in(r, w);
}

/* Puts the current kernel stack. @ctx is the program's context. */
static __always_inline void put_kernel_stack(struct rec *r, struct user_walk *w, void *ctx)
{
	s64 n = bpf_get_stack(ctx, put_here(r), 8 * STACK_KERNEL_MAX, 0);

	put_done(r, widen_in(&w->scratch, n < 0 ? 0 : n, 8 * STACK_KERNEL_MAX));
	widen_off_in(r, w);
}

/* Puts PID and TID in the thread's own namespace, if that is not the machine's. */
static __always_inline void put_ns_pids(struct rec *r, struct user_walk *w,
					struct task_struct *task)
{
	bool apart = BPF_CORE_READ(task, thread_pid, level) > 0;

	put_u64_when(r, w, apart, apart ? task_vpid(task) : 0);
	put_u64_when(r, w, apart, apart ? task_vtid(task) : 0);
}

#define SAMPLE_ROOM                                                                                \
	(EVT_SAMPLE_E_FIXED_SZ + 2 * COMM_LEN + SAMPLE_TP_NAME + 8 * STACK_KERNEL_MAX +            \
	 8 * (sampler_cfg.depth < STACK_USER_MAX / 2 ? 2 * sampler_cfg.depth : STACK_USER_MAX) +   \
	 SCRIPT_ROOM)

#define begin_sample(r, ctx, open)                                                                 \
	begin_at(r, this_ring(), ctx, open, EVT_SAMPLE_E, 0, EVT_SAMPLE_E_NPARAMS, SAMPLE_ROOM)

static __always_inline int commit_sample(struct rec *r, struct drv_sample_counts *c)
{
	if (rec_close(r, 0, 0))
		count(&c->samples);
	else
		count(&c->dropped);
	return 0;
}

#endif /* DRIVER_SAMPLE_RECORD_BPF_H */
