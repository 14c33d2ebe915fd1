/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hooks of system calls and task switches: sys_enter, sys_exit, sched_switch, fork and exec.
 *
 * "Lazy enter": sys_enter only stores the call in the CPU's slot. sys_exit finds it there and
 * writes one record for both, or makes a tail call to the filler of the call, which does. If the
 * task is switched out in between, sched_switch sends the enter as a record of its own (a raw
 * enter) and moves the call to the task's storage.
 *
 * All parts are one translation unit, because the programs share maps and settings. libscap finds
 * the filler of a call (a tail call of sys_exit) by its name.
 */
#include "call_regs.bpf.h"
#include "enter.bpf.h"
#include "sampling.bpf.h"
#include "select.bpf.h"
#include "snaplen.bpf.h"
#include "writer.bpf.h"

#include "io_uring.bpf.c"
#include "sample.bpf.c"
#include "sample_off.bpf.c"
#include "sched.bpf.c"
#include "sys_auto.bpf.c"
#include "sys_file.bpf.c"
#include "sys_io.bpf.c"
#include "sys_ipc.bpf.c"
#include "sys_mem.bpf.c"
#include "sys_net.bpf.c"
#include "sys_proc.bpf.c"
#include "task_rows.bpf.c"
#include "tls.bpf.c"
#include "waits.bpf.c"

#include "tcp.bpf.c" /* uses the selection of waits.bpf.c */

char LICENSE[] SEC("license") = "GPL";

static __always_inline void count_self(void)
{
	struct ring *ring = this_ring();

	if (ring)
		ring->hdr.counters[0].n_self++;
}

/* Returns whether the call never returns. */
static __always_inline bool never_returns(u32 row)
{
	return row == NR_exit || row == NR_exit_group;
}

/* Fills the call of @slot from the registers: at its enter, or at the exit after a missed enter. */
static __always_inline void note_call(struct drv_slot *slot, u32 nr, const struct pt_regs *regs,
				      bool ia32, u32 sel)
{
	slot->call.nr = nr;
	slot->call.raw_nr = nr;
	slot->call.flags = ia32 ? REC_F_IA32 : 0;
	note_args(slot->call.args, regs, ia32);
	if (ia32)
		ia32_arrange();
	slot->call.flags |= sel_flags(sel, &slot->call);
}

/*
 * Opens the call, its time last. A record of an interrupt before that is older; one after CALL_OPEN
 * sends the enter first; one in between sets slot->overtaken, and the time is read again.
 */
static __always_inline void call_open(struct drv_slot *slot)
{
	for (int i = 0; i < 2; i++) {
		ONCE(slot->call.state) = CALL_NONE;
		ONCE(slot->overtaken) = 0;
		barrier();
		slot->call.ts = bpf_ktime_get_boot_ns();
		barrier();
		ONCE(slot->call.state) = CALL_OPEN;
		barrier();
		if (!ONCE(slot->overtaken))
			break;
	}
}

static __always_inline int enter_call(u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	struct drv_slot *slot = this_slot();
	struct task_struct *task;
	u32 nr, sel;
	bool ia32;

	if (sel_skips(slot, ctx[1])) {
		slot->n_filtered++;
		slot->n_suppressed += slot->sel_task && slot->sel == SEL_NONE;
		return 0;
	}
	task = bpf_get_current_task_btf();
	ia32 = task->thread_info.status & TS_COMPAT;
	nr = rec_nr(ctx[1]);
	if (!call_in(&cfg.want, nr, ia32)) {
		slot->n_filtered++;
		return 0;
	}
	if (slot->other != (u64)task) {
		if (is_self(task)) {
			count_self();
			return 0;
		}
		slot->other = (u64)task;
	}
	sel = task_sel(slot, task);
	slot->sel_saved = 0; /* a saved call ended without sys_exit */
	if (!sel_allows(sel, nr, ia32)) {
		slot->n_filtered++;
		slot->n_suppressed += sel == SEL_NONE;
		return 0;
	}
	if (is_sampled(nr, ia32) && sampling_pauses(ctx)) {
		slot->n_unsampled++;
		return 0;
	}
	ONCE(slot->call.state) = CALL_NONE;
	ONCE(slot->task) = (u64)task;
	slot->tid = task->pid;
	note_call(slot, nr, regs, ia32, sel);
	guard_enter(task, &slot->call);
	barrier();
	if (never_returns(slot->call.nr)) {
		send_last(ctx, slot, task);
		slot_clear(slot);
		return 0;
	}
	call_open(slot);
	return 0;
}

SEC("tp_btf/sys_enter")
int sys_enter(u64 *ctx)
{
	return PINNED(enter_call(ctx));
}

static __always_inline bool is_clone(const struct drv_call *call)
{
	u32 nr = call->nr;

	if (call->state == CALL_NONE)
		return false;
	return nr == NR_clone || nr == NR_fork || nr == NR_vfork || nr == NR_clone3;
}

/*
 * Stores the clone flags in the child's storage, in the parent and before the child runs. When the
 * child exits the call that it never entered, the parent may be gone, and clone3's struct with it.
 */
static __always_inline int save_birth(u64 *ctx)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	struct drv_slot *slot = this_slot();
	struct drv_call *call = slot->task == (u64)parent ? &slot->call : saved_find(parent);
	struct drv_call born = {.state = CALL_BORN};

	mark_inherit(parent, (void *)ctx[1]);
	saved_delete((void *)ctx[1]);
	if (!call || !is_clone(call))
		return 0;
	born.nr = call->nr;
	born.raw_nr = call->raw_nr;
	born.args[0] = clone_flags_of(call);
	saved_put((void *)ctx[1], &born);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int sched_process_fork(u64 *ctx)
{
	return PINNED(save_birth(ctx));
}

/* Attached when the driver is loaded, whatever is captured. */
SEC("?tp_btf/sched_process_fork")
int helper_fork(u64 *ctx)
{
	helper_add(bpf_get_current_task_btf(), (void *)ctx[1]);
	return 0;
}

/*
 * Sends the enter of an exec while its arguments can be read: the exec frees the memory that they
 * are in, and a task switch after that would send the enter without them.
 */
static __always_inline int send_exec_enter(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct drv_slot *slot = this_slot();

	if (slot->task == (u64)task && slot->call.state == CALL_OPEN)
		send_enter(ctx, this_ring(), slot, task, rows_of(&slot->call), 0);
	return 0;
}

SEC("?tp_btf/sched_prepare_exec")
int sched_prepare_exec(u64 *ctx)
{
	return PINNED(send_exec_enter(ctx));
}

/* The kernel runs it with interrupts off. */
SEC("tp_btf/sched_switch")
int sched_switch(u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1];
	struct drv_slot *slot = this_slot();
	bool preempt = ctx[0];
	u32 state = ctx[3];

	if (slot->task) {
		if (slot->task == (u64)prev && !(state & STATE_DEAD)) {
			if (slot->call.state == CALL_OPEN)
				send_enter(ctx, this_ring(), slot, prev, rows_of(&slot->call),
					   !preempt && state ? REC_F_BLOCKED : 0);
			saved_put(prev, &slot->call);
		}
		slot_clear(slot);
	}
	if (cfg.switches)
		send_switch(ctx, prev);
	if (state & STATE_DEAD) {
		mark_delete(prev);
		helper_remove(prev);
	}
	sel_invalidate(slot);
	slot->other = 0;
	if (is_preemptible())
		slot->passed_for = 0;
	return 0;
}

/* Returns whether @call is the one that ends with @orig_ax. -1: rt_sigreturn or a tracer overwrote
 * it. */
static __always_inline bool call_matches(const struct drv_call *call, u64 orig_ax)
{
	u32 nr = call->raw_nr;

	if (nr == rec_nr(orig_ax) || (u32)orig_ax == (u32)-1)
		return true;
	/* An exec may change the ABI, and with it the number. */
	return is_exec(call);
}

/* Returns whether the call that ends with @orig_ax may be in storage, or is to be recorded. */
static __always_inline bool may_recover(struct drv_slot *slot, struct task_struct *task,
					u64 orig_ax, bool ia32)
{
	u32 nr = rec_nr(orig_ax);

	if (!cfg.state_only || (u32)orig_ax == (u32)-1)
		return true;
	/* An exec may have changed the ABI, and with it the number. */
	if (!call_in(&cfg.want, nr, ia32) && !changes_task(nr) && !ia32)
		return false;
	return sel_allows(task_sel(slot, task), nr, ia32) || slot->sel_saved;
}

/* Restores the call that ends to the slot: from storage, or without its enter. False: do not record
 * it. */
static __always_inline bool call_recover(struct drv_slot *slot, const struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool ia32 = task->thread_info.status & TS_COMPAT;
	u32 nr = rec_nr(regs->orig_ax), sel;
	struct drv_call *saved;
	struct ring *ring;

	if (!may_recover(slot, task, regs->orig_ax, ia32) || is_self(task))
		return false;
	sel = task_sel(slot, task);
	slot->sel_saved = 0;
	ring = this_ring();
	saved = saved_find(task);
	if (saved && saved->state != CALL_NONE && call_matches(saved, regs->orig_ax)) {
		slot->call = *saved;
		saved_drop(task, saved);
		if (slot->call.state == CALL_BORN && sel == SEL_NONE)
			return false;
		if (slot->call.state == CALL_BORN) /* a child has not entered its clone */
			slot->call.flags |= sel_flags(sel, &slot->call);
		else if (ring)
			ring->hdr.counters[0].n_saved++;
	} else {
		if ((u32)regs->orig_ax == (u32)-1 || !call_in(&cfg.want, nr, ia32) ||
		    !sel_allows(sel, nr, ia32) || is_sampled(nr, ia32))
			return false;
		slot->call.state = CALL_NO_ENTER;
		note_call(slot, nr, regs, ia32, sel);
		note_same(&slot->call);
		if (ring)
			ring->hdr.counters[0].n_no_enter++;
	}
	ONCE(slot->task) = (u64)task;
	slot->tid = task->pid;
	return true;
}

/* Writes the generic event of the claimed call. Its room is exact, so that none is given back. */
static __always_inline int fill_generic(u64 *ctx)
{
	u32 nr = this_slot()->call.raw_nr, n_native = nr == REC_NR_NONE ? sizeof(u32) : 0;
	struct rec r;

	if (!begin_call(&r, ctx, EVT_SYSCALL_X, EVT_SYSCALL_X_NPARAMS,
			EVT_SYSCALL_X_FIXED_SZ - sizeof(u32) + n_native))
		return 0;
	if (nr >= DRV_MAX_NR)
		put_u16(&r, 0);
	else if (r.slot->call.flags & REC_F_IA32)
		put_u16(&r, ppm_sc_ia32[nr]);
	else
		put_u16(&r, ppm_sc[nr]);
	put_u16(&r, nr);
	put_s64(&r, r.ret);
	if (n_native)
		put_u32(&r, ((struct pt_regs *)ctx[0])->orig_ax);
	else
		put_empty(&r);
	return commit(&r);
}

/* Returns whether the call that ends is to be recorded; it is in the slot then. */
static __always_inline bool exit_call(u64 *ctx, struct drv_slot *slot)
{
	struct pt_regs *regs = (void *)ctx[0];

	if (sel_skips(slot, regs->orig_ax))
		return false;
	/* A call in the slot is the current task's: each task switch clears the slot. */
	if (!slot->task || !call_matches(&slot->call, regs->orig_ax)) {
		if (!call_recover(slot, regs)) {
			slot->n_unrecorded++;
			return false;
		}
	}
	if (!sel_exit(slot, ctx[1])) {
		slot->n_filtered++;
		slot_clear(slot);
		return false;
	}
	snaplen_set(slot);
	return true;
}

/* Frequent calls with a filler. */
#define FREQUENT_CALLS(X)                                                                          \
	X(openat)                                                                                  \
	X(futex)                                                                                   \
	X(epoll_wait)                                                                              \
	X(epoll_pwait)                                                                             \
	X(poll)                                                                                    \
	X(recvfrom)                                                                                \
	X(sendto)                                                                                  \
	X(recvmsg)                                                                                 \
	X(sendmsg)                                                                                 \
	X(readv)                                                                                   \
	X(writev)                                                                                  \
	X(newfstatat)                                                                              \
	X(fstat)                                                                                   \
	X(mmap)                                                                                    \
	X(munmap)                                                                                  \
	X(ioctl)

/* Tail calls with a constant number are jumps: they do not touch the table and the program, which
 * are in memory pages of their own. */
static __always_inline void to_frequent_filler(u64 *ctx, u32 nr)
{
	switch (nr) {
#define X(name)                                                                                    \
	case NR_##name:                                                                            \
		bpf_tail_call_static(ctx, &fillers, NR_##name);                                    \
		break;
		FREQUENT_CALLS(X)
#undef X
	}
}

/*
 * The commonest calls are filled here: a tail call costs as much as their record. The kernel
 * refuses a tail call with preemption disabled, so other fillers claim the call again.
 */
SEC("tp_btf/sys_exit")
int sys_exit(u64 *ctx)
{
	struct drv_slot *slot = this_slot();
	bool ready;
	u32 nr;

	pin();
	ready = exit_call(ctx, slot);
	nr = slot->call.nr;
	if (!ready) {
		unpin();
		return 0;
	}
	if (nr == NR_read || nr == NR_write)
		return fill_io(ctx, nr == NR_read ? EVT_READ_X : EVT_WRITE_X);
	if (nr == NR_pread64 || nr == NR_pwrite64)
		return fill_io_at(ctx, nr == NR_pread64 ? EVT_PREAD_X : EVT_PWRITE_X);
	if (nr == NR_close)
		return fill_close(ctx);
	if (nr < DRV_MAX_NR && call_traits[nr] & IS_GENERIC)
		return fill_generic(ctx);
	unpin();
	to_frequent_filler(ctx, nr);
	bpf_tail_call(ctx, &fillers, nr);
	return call_claim() ? fill_generic(ctx) : 0;
}

/* Returns whether the call that ends now with @ret is recorded, and shown; it is in the slot then.
 * Verified on its own. */
__noinline int call_is_shown(s64 ret)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct drv_slot *slot = this_slot();

	if (sel_skips(slot, regs->orig_ax))
		return 0;
	if ((!slot->task || !call_matches(&slot->call, regs->orig_ax)) && !call_recover(slot, regs))
		return 0;
	return sel_exit(slot, ret) && !(slot->call.flags & REC_F_STATE_ONLY);
}

static __always_inline int sample_call(u64 *ctx)
{
	struct drv_sample_counts *c = &this_sampler()->by[SAMPLE_SRC_SYSCALL];
	struct task_struct *task = bpf_get_current_task_btf();
	const struct sample s = {.reason = SAMPLE_SYSCALL};
	enum sample_filter why = task_filter(task);

	count(&c->runs);
	if (why != SAMPLE_FILTER_MAX)
		return filtered(c, why);
	if (!call_is_shown(ctx[1]))
		return filtered(c, SAMPLE_FILTER_NO_CALL);
	return send_sample(c, ctx, task, &s);
}

/* Attached before sys_exit, so that the sample comes before the event of the call. */
SEC("?tp_btf/sys_exit")
int stack_of_call(u64 *ctx)
{
	return PINNED(sample_call(ctx));
}
