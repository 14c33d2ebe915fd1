/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Off-CPU samples. The stack is walked when the thread is switched out, while its memory is mapped,
 * and kept in a slot of the thread. When the thread is switched in again, after at least
 * off_min_ns, the sample is sent: with the time off the CPU, where the thread was blocked, its
 * waker, and how long it then waited in the run queue for a CPU. A stack with a missing page is
 * deferred, as those of other samples.
 */
#include "deferred_stack.bpf.h"
#include "sample_record.bpf.h"
#include "stack_copy.bpf.h"

#define OFF_KERNEL 48 /* frames of each stack in a slot, which has 2 KiB with its header */
#define OFF_USER 168
#define OFF_SLOTS 8192 /* maximum number of threads, before Linux 6.4 */
#define OFF_MORE_SLOTS 512 /* maximum number of threads with deep stacks */

#define NO_CALL 0xffffffffu

struct off_slot {
	u64 out_ns; /* when it was switched out; 0: it runs, or that was missed */
	u64 wake_ns; /* when it was woken; 0: it was not */
	u32 call; /* the call that it is in; NO_CALL: none */
	u32 state; /* TASK_*: when it was switched out */
	s32 waker; /* TID */
	u16 n_kernel, n_user;
	u32 end; /* enum stack_end */
	char waker_comm[COMM_LEN];
	u32 is_older; /* it waited already when the capture began */
	u64 arg; /* first argument of the call */
	u64 ip, sp, bp; /* 0: it has no user stack */
	u64 id; /* of the deferred stack; 0: the stack is not deferred */
	u64 kernel[OFF_KERNEL];
	u64 user[OFF_USER];
};

/* The frames of a deep stack that do not fit the slot. Few threads need this. */
struct off_more {
	u64 kernel[STACK_KERNEL_MAX - OFF_KERNEL];
	u64 user[STACK_USER_MAX - OFF_USER];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct off_slot);
} off_storage SEC(".maps");

/* The same for kernels before 6.4: see saved_hash. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, OFF_SLOTS);
	__type(key, u64);
	__type(value, struct off_slot);
} off_hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct off_more);
} off_more_storage SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, OFF_MORE_SLOTS);
	__type(key, u64);
	__type(value, struct off_more);
} off_more_hash SEC(".maps");

/* Initial values of hash entries. */
static const struct off_slot off_empty;
static const struct off_more off_more_empty;

/* Returns the task's entry, in task storage or, before Linux 6.4, in a hash map. Without an entry:
 * creates it with the value @empty, or returns NULL if @empty is NULL. */
static __always_inline void *of_task(void *storage, void *hash, const void *empty,
				     struct task_struct *task)
{
	u64 key = (u64)task;
	void *found;

	if (cfg.task_storage)
		return bpf_task_storage_get(storage, task, NULL,
					    empty ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	found = bpf_map_lookup_elem(hash, &key);
	if (found || !empty)
		return found;
	bpf_map_update_elem(hash, &key, empty, BPF_ANY);
	return bpf_map_lookup_elem(hash, &key);
}

static __always_inline struct off_slot *off_find(struct task_struct *task)
{
	return of_task(&off_storage, &off_hash, NULL, task);
}

static __always_inline struct off_slot *off_make(struct task_struct *task)
{
	return of_task(&off_storage, &off_hash, &off_empty, task);
}

static __always_inline struct off_more *off_more_find(struct task_struct *task)
{
	return of_task(&off_more_storage, &off_more_hash, NULL, task);
}

static __always_inline struct off_more *off_more_make(struct task_struct *task)
{
	return of_task(&off_more_storage, &off_more_hash, &off_more_empty, task);
}

/* Returns the call that @task is in. After an interrupt or fault from user mode orig_ax is
 * negative. */
static __always_inline u32 call_of(struct task_struct *task)
{
	struct pt_regs *regs = user_regs(task);
	s64 nr;

	if (!regs)
		return NO_CALL;
	nr = regs->orig_ax;
	if (nr < 0 || nr >= SAMPLE_CALL_IA32)
		return NO_CALL;
	return nr | (task->thread_info.status & TS_COMPAT ? SAMPLE_CALL_IA32 : 0);
}

/* Returns the first argument of the call that @task is in. */
static __always_inline u64 arg_of(struct task_struct *task, u32 call)
{
	struct pt_regs *regs = user_regs(task);

	if (!regs)
		return 0;
	return call & SAMPLE_CALL_IA32 ? regs->bx : regs->di;
}

/* Stores the current kernel stack. @ctx must be the program's own. */
static __always_inline void off_keep_kernel(struct off_slot *slot, void *ctx,
					    struct task_struct *task)
{
	struct off_more *more;
	s64 n, rest = 0;

	slot->n_kernel = 0;
	if (!sampler_cfg.kernel)
		return;
	n = bpf_get_stack(ctx, slot->kernel, sizeof(slot->kernel), 0);
	if (n == sizeof(slot->kernel)) {
		more = off_more_make(task);
		if (more)
			rest = bpf_get_stack(ctx, more->kernel, sizeof(more->kernel), OFF_KERNEL);
	}
	slot->n_kernel = ((n < 0 ? 0 : n) + (rest < 0 ? 0 : rest)) / 8;
}

/* Stores the frames that @w found. */
static __always_inline void off_keep_user(struct off_slot *slot, struct user_walk *w,
					  struct task_struct *task)
{
	u64 n = bounded(ONCE(w->n), STACK_USER_MAX), first, rest;
	struct off_more *more;
	u32 end = w->end;

	if (n > OFF_USER) {
		rest = bounded(n - OFF_USER, STACK_USER_MAX - OFF_USER);
		more = off_more_make(task);
		if (!more || bpf_probe_read_kernel(more->user, 8 * rest, w->frames + OFF_USER)) {
			count(&this_sampler()->n_unsaved);
			n = OFF_USER;
			end = STACK_END_DEPTH;
		}
	}
	first = bounded(n, OFF_USER);
	if (first && bpf_probe_read_kernel(slot->user, 8 * first, w->frames))
		n = 0;
	ONCE(slot->n_user) = n;
	ONCE(slot->end) = end;
}

/* Walks and stores the user stack. */
static __always_inline void off_walk(struct off_slot *slot, void *ctx, struct task_struct *task)
{
	struct pt_regs *regs = user_regs(task);
	struct ring *ring = this_ring();
	struct user_walk *w;

	slot->n_user = 0;
	slot->id = 0;
	slot->end = STACK_END_NONE;
	slot->ip = regs ? regs->ip : 0;
	slot->sp = regs ? regs->sp : 0;
	slot->bp = regs ? regs->bp : 0;
	if (!ring)
		return;
	w = walk_enter(this_ends());
	if (w) {
		walk_user(w, task, sampler_cfg.depth);
		count(&this_sampler()->ends[w->end & (STACK_END_ROOM - 1)]);
		slot->id = copy_if_no_tables(w, sampler_cfg.depth, w->level);
		off_keep_user(slot, w, task);
		send_scripts(ctx, w);
	}
	ring_leave(this_ends());
}

/* Fills the slot of @prev, the current task, which is switched out. */
static __always_inline void off_begin(void *ctx, struct task_struct *prev, u32 state)
{
	struct off_slot *slot;

	if (task_filter(prev) != SAMPLE_FILTER_MAX)
		return;
	slot = off_make(prev);
	if (!slot) {
		count(&this_sampler()->n_unsaved);
		return;
	}
	slot->wake_ns = 0;
	slot->state = state;
	slot->call = call_of(prev);
	slot->arg = arg_of(prev, slot->call);
	slot->is_older = 0;
	off_keep_kernel(slot, ctx, prev);
	off_walk(slot, ctx, prev);
	slot->out_ns = bpf_ktime_get_boot_ns();
}

/* Puts @n frames: the first @max from @frames, the others, at most @max_more, from @more. NULL: the
 * others are gone. */
static __always_inline void put_parts(struct rec *r, struct user_walk *w, const u64 *frames,
				      u64 max, const u64 *more, u64 max_more, u64 n)
{
	u64 len = widen_in(&w->scratch, 8 * n, 8 * max), rest = 0;

	if (len && bpf_probe_read_kernel(put_here(r), len, frames))
		len = 0;
	len = widen_in(&w->scratch, len, 8 * max);
	if (more && n > max)
		rest = widen_in(&w->scratch, 8 * (n - max), 8 * max_more);
	if (rest && bpf_probe_read_kernel(put_here(r) + len, rest, more))
		rest = 0;
	put_done(r, widen_in(&w->scratch, len + rest, 8 * (max + max_more)));
	widen_off_in(r, w);
}

/* Puts the parameters from the kernel stack to the stack's id, in the order of events.def. */
static __always_inline void put_off_stacks(struct rec *r, struct user_walk *w,
					   struct off_slot *slot, struct task_struct *task,
					   bool is_back)
{
	struct off_more *more = NULL;
	u32 end = slot->end;
	u64 id = slot->id;

	if (slot->n_kernel > OFF_KERNEL || slot->n_user > OFF_USER)
		more = off_more_find(task);
	if (slot->n_user > OFF_USER && !more)
		end = STACK_END_DEPTH;
	if (is_back && end == STACK_END_FAULT) {
		id = defer_stack(task);
		if (id)
			end = STACK_END_DEFERRED;
	}
	put_parts(r, w, slot->kernel, OFF_KERNEL, more ? more->kernel : NULL,
		  STACK_KERNEL_MAX - OFF_KERNEL, slot->n_kernel);
	put_parts(r, w, slot->user, OFF_USER, more ? more->user : NULL, STACK_USER_MAX - OFF_USER,
		  slot->n_user);
	put_u8(r, end);
	put_u64_when(r, w, slot->ip, slot->ip);
	put_u64_when(r, w, slot->ip, slot->sp);
	put_u64_when(r, w, slot->ip, slot->bp);
	put_u64_when(r, w, id, id);
}

static __always_inline void put_wait(struct rec *r, struct user_walk *w, struct off_slot *slot,
				     u64 now)
{
	bool woken = slot->wake_ns > slot->out_ns;

	store32(put_here(r), slot->call);
	put_done(r, widen_in(&w->scratch, slot->call == NO_CALL ? 0 : 4, 4));
	widen_off_in(r, w);
	put_u8(r, shown_state(slot->state));
	put_u64_when(r, w, woken, (s64)slot->waker);
	put_comm_when(r, w, woken, slot->waker_comm);
	put_u64_when(r, w, woken, now - slot->wake_ns);
	put_u64_when(r, w, slot->call != NO_CALL, slot->arg);
	put_u8(r, slot->is_older);
}

/* Sends the sample of @task. @is_back: it is about to run, else it waits as the capture ends. */
static __always_inline int off_send(struct drv_sample_counts *c, void *ctx,
				    struct task_struct *task, struct off_slot *slot, u64 now,
				    bool is_back)
{
	struct user_walk *w;
	struct rec r;

	/* sched_switch, which runs before, has sent the enter of the task that is switched out. */
	if (!begin_sample(&r, ctx, OPEN_NONE)) {
		count(&c->dropped);
		return 0;
	}
	set_tid(&r, task->pid);
	w = walk_of(r.level);
	put_u8(&r, SAMPLE_OFF_CPU);
	put_u64(&r, now - slot->out_ns);
	put_s64(&r, task->tgid);
	if (!w)
		return commit_sample(&r, c);
	put_comm_of(&r, w, task->comm);
	put_off_stacks(&r, w, slot, task, is_back);
	put_ns_pids(&r, w, task);
	put_empty(&r);
	put_empty(&r);
	put_wait(&r, w, slot, now);
	return commit_sample(&r, c);
}

/* Ends the wait of @next, which is switched in. */
static __always_inline int off_end(struct drv_sample_counts *c, void *ctx, struct task_struct *next)
{
	struct off_slot *slot;
	u64 now;
	int ret;

	if (!next->pid)
		return filtered(c, SAMPLE_FILTER_IDLE);
	slot = off_find(next);
	if (!slot || !slot->out_ns)
		return filtered(c, SAMPLE_FILTER_NO_START);
	now = bpf_ktime_get_boot_ns();
	if (now - slot->out_ns < sampler_cfg.off_min_ns)
		ret = filtered(c, SAMPLE_FILTER_SHORT);
	else
		ret = off_send(c, ctx, next, slot, now, true);
	slot->out_ns = 0;
	return ret;
}

/* ctx: preempted, previous task, next task, state of the previous task. */
SEC("?tp_btf/sched_switch")
int sample_off_switch(u64 *ctx)
{
	struct drv_sample_counts *c = &this_sampler()->by[SAMPLE_SRC_OFF_CPU];
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	u32 state = ctx[0] ? 0 : ctx[3];

	count(&c->runs);
	if (!(state & STATE_DEAD))
		off_begin(ctx, prev, state);
	sel_invalidate(this_slot());
	return off_end(c, ctx, next);
}

#define THREAD_SZ (16u << 10) /* bytes of a task's kernel stack */

/*
 * Returns whether an interrupt runs, not the current task. The program's arguments are on the stack
 * in use: an interrupt's own stack, or that of a task that was interrupted in user mode.
 */
static __always_inline bool in_interrupt(void *ctx, struct task_struct *task)
{
	struct drv_sampler *sampler = this_sampler();
	struct pt_regs *regs = user_regs(task);
	u64 here;

	ONCE(sampler->here) = (u64)ctx; /* as a number: the verifier refuses arithmetic on ctx */
	here = ONCE(sampler->here);
	return here - (u64)task->stack >= THREAD_SZ || (regs && (s64)regs->orig_ax < 0);
}

static const char by_interrupt[COMM_LEN] = "interrupt";

/* Stores the waker of a thread: a thread, or TID 0 for an interrupt. */
SEC("?tp_btf/sched_waking")
int sample_off_waking(u64 *ctx)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct off_slot *slot = off_find((void *)ctx[0]);
	bool interrupt;

	if (!slot || !slot->out_ns)
		return 0;
	interrupt = in_interrupt(ctx, waker);
	slot->waker = interrupt ? 0 : waker->pid;
	if (interrupt)
		__builtin_memcpy(slot->waker_comm, by_interrupt, COMM_LEN);
	else
		bpf_probe_read_kernel_str(slot->waker_comm, COMM_LEN, waker->comm);
	slot->wake_ns = bpf_ktime_get_boot_ns();
	return 0;
}
