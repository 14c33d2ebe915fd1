/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happens to tasks and CPUs beside calls: tasks end, signals reach them, they fault, they
 * are switched; CPUs come and go. The hooks with a ? are loaded where they are asked for and
 * the kernel has them.
 */
#include "enter.bpf.h"
#include "task.bpf.h"

#define REAPER_DEPTH 16 /* threads and ancestors that are looked at */

#define STATUS_SIGNAL(status) ((status)&0x7f)
#define STATUS_CORE(status) ((status)&0x80)
#define STATUS_RET(status) ((status) >> 8 & 0xff)

/* Another thread of the same process that lives on. */
static __always_inline struct task_struct *live_thread(struct task_struct *task)
{
	struct signal_struct *signal = BPF_CORE_READ(task, signal);
	struct list_head *head =
		(void *)signal + bpf_core_field_offset(struct signal_struct, thread_head);
	struct list_head *at = BPF_CORE_READ(signal, thread_head.next);

	for (int i = 0; i < REAPER_DEPTH && at && at != head; i++) {
		struct task_struct *t =
			(void *)at - bpf_core_field_offset(struct task_struct, thread_node);

		if (!(BPF_CORE_READ(t, flags) & PF_EXITING))
			return t;
		at = BPF_CORE_READ(at, next);
	}
	return NULL;
}

/* The nearest ancestor that asked to inherit orphans, else the first process of the namespace. */
static __always_inline struct task_struct *subreaper(struct task_struct *task)
{
	struct pid_namespace *ns = pid_own(BPF_CORE_READ(task, thread_pid)).ns;
	struct task_struct *init = BPF_CORE_READ(ns, child_reaper);
	struct task_struct *up = BPF_CORE_READ(task, real_parent);

	for (int i = 0; i < REAPER_DEPTH && up && up != init; i++) {
		struct signal_struct *signal = BPF_CORE_READ(up, signal);

		if (pid_own(BPF_CORE_READ(up, thread_pid)).ns != ns)
			break;
		if (BPF_CORE_READ_BITFIELD_PROBED(signal, is_child_subreaper))
			return up;
		up = BPF_CORE_READ(up, real_parent);
	}
	return init;
}

/* The thread that gets the children of @task; 0: there are none. */
static __always_inline s64 reaper_tid(struct task_struct *task)
{
	struct list_head *head = (void *)task + bpf_core_field_offset(struct task_struct, children);
	struct task_struct *reaper;

	if (BPF_CORE_READ(head, next) == head)
		return 0;
	reaper = live_thread(task);
	if (!reaper)
		reaper = subreaper(task);
	return BPF_CORE_READ(reaper, pid);
}

/* The last thread of a process ends, and with it what it had mapped. */
static __always_inline void send_map_exit(u64 *ctx, struct task_struct *task)
{
	struct rec r;

	if (!begin_at(&r, this_ring(), ctx, OPEN_NONE, EVT_MAP_EXIT_E, 0, EVT_MAP_EXIT_E_NPARAMS,
		      EVT_MAP_EXIT_E_FIXED_SZ))
		return;
	put_s64(&r, task->tgid);
	commit_event(&r);
}

static __always_inline int tell_exit(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	int status = task->exit_code;
	struct rec r;
	bool kept;

	saved_forget(task);
	if (is_own(task))
		return 0;
	kept = begin_event(&r, ctx, PROCEXIT_E, 0);
	mark_end(task);
	if (kept) {
		put_s64(&r, status);
		put_s64(&r, STATUS_RET(status));
		put_u8(&r, STATUS_SIGNAL(status));
		put_u8(&r, !!STATUS_CORE(status));
		put_s64(&r, reaper_tid(task));
		put_u64(&r, task->se.sum_exec_runtime); /* as of the last tick */
		commit_event(&r);
	}
	if (sampler_cfg.on && !BPF_CORE_READ(task, signal, live.counter))
		send_map_exit(ctx, task);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int sched_process_exit(u64 *ctx)
{
	return PINNED(tell_exit(ctx));
}

/* Nothing of a process is left when its leader goes, that ended or not. Only where no switches of
 * tasks are hooked, which tell it sooner. */
static __always_inline int bury_process(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	if (task->pid == task->tgid)
		mark_bury(task);
	own_end(task);
	return 0;
}

SEC("?tp_btf/sched_process_free")
int sched_process_free(u64 *ctx)
{
	return PINNED(bury_process(ctx));
}

/* In the process that executes, with its new name. Only for suppressed names. */
SEC("?tp_btf/sched_process_exec")
int suppress_exec(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	(void)ctx;
	pin();
	if (cfg.tasks & DRV_TASKS_SUPPRESS)
		mark_exec(task);
	sel_forget(this_slot());
	unpin();
	return 0;
}

/* prctl and execve say the new name themselves, also when they were switched out meanwhile. Where
 * calls are not hooked, tell_exec does. */
static __always_inline bool call_says_name(const struct drv_slot *slot)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct drv_call *call;

	if (!cfg.calls)
		return is_exec_nr(((struct pt_regs *)bpf_task_pt_regs(task))->orig_ax);
	call = slot->task ? &slot->call : saved_find(task);
	if (!call || call->state == CALL_NONE)
		return false;
	return call->nr == NR_prctl || is_exec(call);
}

/* Also by writing to /proc/PID/comm, in another thread than the one that gets the name. */
static __always_inline int tell_rename(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct rec r;

	__sync_fetch_and_add(&n_renamed, 1);
	if (is_own(task) || call_says_name(this_slot()))
		return 0;
	if (!begin_event(&r, ctx, COMM_E, COMM_SZ))
		return 0;
	put_s64(&r, task->pid);
	put_kernel_str(&r, (void *)ctx[1], COMM_SZ);
	return commit_event(&r);
}

SEC("tp_btf/task_rename")
int task_rename(u64 *ctx)
{
	return PINNED(tell_rename(ctx));
}

#define SIGCHLD 17
#define SI_USER 0

/* The process that sent a signal; 0: the kernel did. */
static __always_inline s64 signal_sender(struct kernel_siginfo *info, int sig)
{
	if (BPF_CORE_READ(info, si_code) > SI_USER && sig != SIGCHLD)
		return 0;
	return BPF_CORE_READ(info, _sifields._kill._pid);
}

static __always_inline int tell_signal(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kernel_siginfo *info = (void *)ctx[1];
	int sig = ctx[0];
	struct rec r;

	if (is_own(task))
		return 0;
	if (!begin_event(&r, ctx, SIGNALDELIVER_E, 0))
		return 0;
	put_s64(&r, signal_sender(info, sig));
	put_s64(&r, task->pid);
	put_u8(&r, sig);
	return commit_event(&r);
}

SEC("tp_btf/signal_deliver")
int signal_deliver(u64 *ctx)
{
	return PINNED(tell_signal(ctx));
}

/* @prev, which is the current task, leaves the CPU. Its open call, if any, was sent before. What it
 * ran is up to date; of a CPU's idle task the kernel does not count it. */
static __always_inline void send_switch(u64 *ctx, struct task_struct *prev)
{
	struct task_struct *next = (void *)ctx[2];
	struct rec r;

	if (!begin_event(&r, ctx, SWITCH_E, 0))
		return;
	put_s64(&r, next->pid);
	put_u64(&r, prev->maj_flt);
	put_u64(&r, prev->min_flt);
	put_vm(&r, prev);
	if (prev->pid)
		put_u64(&r, prev->se.sum_exec_runtime);
	else
		put_empty(&r);
	commit_event(&r);
}

/* pf_flags */
#define PPM_PF_PROTECTION_VIOLATION (1u << 0)
#define PPM_PF_PAGE_NOT_PRESENT (1u << 1)
#define PPM_PF_WRITE_ACCESS (1u << 2)
#define PPM_PF_READ_ACCESS (1u << 3)
#define PPM_PF_USER_FAULT (1u << 4)
#define PPM_PF_SUPERVISOR_FAULT (1u << 5)

/* Of the CPU's error code: the lowest three bits say one thing or its contrary. */
static __always_inline u32 convert_fault(u32 code)
{
	return (code & 0x1 ? PPM_PF_PROTECTION_VIOLATION : PPM_PF_PAGE_NOT_PRESENT) |
	       (code & 0x2 ? PPM_PF_WRITE_ACCESS : PPM_PF_READ_ACCESS) |
	       (code & 0x4 ? PPM_PF_USER_FAULT : PPM_PF_SUPERVISOR_FAULT) |
	       MOVE_BIT(code, 0x8u, 1u << 6) | MOVE_BIT(code, 0x10u, 1u << 7);
}

/* ctx: address, registers, error code. */
static __always_inline int page_fault(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)ctx[1];
	struct rec r;

	if (is_own(task) || fault_is_probe(task))
		return 0;
	if (!begin_event_within(&r, ctx, PAGE_FAULT_E, 0))
		return 0;
	put_u64(&r, ctx[0]);
	put_u64(&r, regs->ip);
	put_u32(&r, convert_fault(ctx[2]));
	return commit_event(&r);
}

SEC("?tp_btf/page_fault_user")
int page_fault_user(u64 *ctx)
{
	return PINNED(page_fault(ctx));
}

SEC("?tp_btf/page_fault_kernel")
int page_fault_kernel(u64 *ctx)
{
	return PINNED(page_fault(ctx));
}

enum hotplug_action { HOTPLUG_ONLINE = 1, HOTPLUG_OFFLINE };

/*
 * Each step by which a CPU comes up or goes down: CPU, target, step. The two that matter run
 * on another CPU, which has a ring: before the one comes to life, and before it dies.
 */
static __always_inline int tell_hotplug(u64 *ctx)
{
	s64 target = (s32)ctx[1], step = (s32)ctx[2];
	u32 action = 0;
	struct rec r;

	if (step == (s64)bpf_core_enum_value(enum cpuhp_state, CPUHP_BRINGUP_CPU) && target > step)
		action = HOTPLUG_ONLINE;
	else if (step == (s64)bpf_core_enum_value(enum cpuhp_state, CPUHP_TEARDOWN_CPU))
		action = HOTPLUG_OFFLINE;
	if (!action || !begin_event(&r, ctx, CPU_HOTPLUG_E, 0))
		return 0;
	put_u32(&r, ctx[0]);
	put_u32(&r, action);
	return commit_event(&r);
}

SEC("?tp_btf/cpuhp_enter")
int cpuhp_enter(u64 *ctx)
{
	return PINNED(tell_hotplug(ctx));
}
