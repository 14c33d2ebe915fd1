/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of tasks and CPUs other than calls: exits, renames, signals, page faults, task switches,
 * CPU hotplug. Hooks with a ? are loaded only if they are requested and the kernel has them.
 */
#include "enter.bpf.h"
#include "task.bpf.h"

#define REAPER_DEPTH 16 /* maximum number of threads, and of ancestors, to visit */

#define STATUS_SIGNAL(status) ((status)&0x7f)
#define STATUS_CORE(status) ((status)&0x80)
#define STATUS_RET(status) ((status) >> 8 & 0xff)

/* Returns another thread of the process that is not exiting; NULL: none. */
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

/* Returns the nearest ancestor that is a subreaper, else the init of the PID namespace. */
static __always_inline struct task_struct *subreaper(struct task_struct *task)
{
	struct pid_namespace *ns = pid_innermost(BPF_CORE_READ(task, thread_pid)).ns;
	struct task_struct *init = BPF_CORE_READ(ns, child_reaper);
	struct task_struct *up = BPF_CORE_READ(task, real_parent);

	for (int i = 0; i < REAPER_DEPTH && up && up != init; i++) {
		struct signal_struct *signal = BPF_CORE_READ(up, signal);

		if (pid_innermost(BPF_CORE_READ(up, thread_pid)).ns != ns)
			break;
		if (BPF_CORE_READ_BITFIELD_PROBED(signal, is_child_subreaper))
			return up;
		up = BPF_CORE_READ(up, real_parent);
	}
	return init;
}

/* Returns the TID of the thread that inherits the children of @task; 0: it has no children. */
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

/* Sends that the mappings of the process are gone, as its last thread exits. */
static __always_inline void send_map_exit(u64 *ctx, struct task_struct *task)
{
	struct rec r;

	if (!begin_at(&r, this_ring(), ctx, OPEN_NONE, EVT_MAP_EXIT_E, 0, EVT_MAP_EXIT_E_NPARAMS,
		      EVT_MAP_EXIT_E_FIXED_SZ))
		return;
	put_s64(&r, task->tgid);
	commit_event(&r);
}

static __always_inline int send_exit(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	int status = task->exit_code;
	struct rec r;
	bool began;

	saved_delete(task);
	if (is_self(task))
		return 0;
	began = begin_event(&r, ctx, PROCEXIT_E, 0);
	mark_end(task);
	if (began) {
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
	return PINNED(send_exit(ctx));
}

/* Deletes the marks of a process when its leader is freed. Used only if task switches are not
 * hooked, which happen earlier. */
static __always_inline int delete_marks(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	if (task->pid == task->tgid)
		mark_delete(task);
	helper_remove(task);
	return 0;
}

SEC("?tp_btf/sched_process_free")
int sched_process_free(u64 *ctx)
{
	return PINNED(delete_marks(ctx));
}

/* Updates the mark of a process after exec, with its new name. Used only for suppressed names. */
SEC("?tp_btf/sched_process_exec")
int suppress_exec(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	(void)ctx;
	pin();
	if (cfg.tasks & DRV_TASKS_SUPPRESS)
		mark_exec(task);
	sel_invalidate(this_slot());
	unpin();
	return 0;
}

/* Returns whether the call that renames the task has the new name in its own event (prctl, execve).
 * Without hooked calls, the event of report_exec has it. */
static __always_inline bool call_has_name(const struct drv_slot *slot)
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

/* Sends the new name of a task. A write to /proc/PID/comm runs in another thread than the renamed
 * one. */
static __always_inline int send_rename(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct rec r;

	__sync_fetch_and_add(&n_renamed, 1);
	if (is_self(task) || call_has_name(this_slot()))
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
	return PINNED(send_rename(ctx));
}

#define SIGCHLD 17
#define SI_USER 0

/* Returns the PID of the process that sent the signal; 0: the kernel sent it. */
static __always_inline s64 signal_sender(struct kernel_siginfo *info, int sig)
{
	if (BPF_CORE_READ(info, si_code) > SI_USER && sig != SIGCHLD)
		return 0;
	return BPF_CORE_READ(info, _sifields._kill._pid);
}

static __always_inline int send_signal(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kernel_siginfo *info = (void *)ctx[1];
	int sig = ctx[0];
	struct rec r;

	if (is_self(task))
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
	return PINNED(send_signal(ctx));
}

enum {
	NR_FUTEX = 202,
	NR_FUTEX_IA32 = 240,
	FUTEX_COMMAND = 0x7f,
	FUTEX_WAIT = 0,
	FUTEX_WAIT_BITSET = 9,
	MUTEX_CONTENDED = 2, /* the word of a mutex of glibc for which threads wait */
};

/* The beginning of a mutex of glibc, 64-bit and 32-bit. */
struct mutex_words {
	u32 word, count, owner;
};

/* Puts the owner of the mutex that @prev, which is in @call, waits for, if the futex can be the
 * word of one. @prev is the current task: this reads its memory. */
static __always_inline void put_mutex_owner(struct rec *r, struct task_struct *prev, u32 call)
{
	const bool ia32 = call == (NR_FUTEX_IA32 | SAMPLE_CALL_IA32);
	struct pt_regs *regs = user_regs(prev);
	struct mutex_words m = {};
	u32 command;

	if (!regs || (call != NR_FUTEX && !ia32)) {
		put_empty(r);
		return;
	}
	command = (ia32 ? regs->cx : regs->si) & FUTEX_COMMAND;
	if ((u32)regs->dx == MUTEX_CONTENDED &&
	    (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET))
		bpf_probe_read_user(&m, sizeof(m), (void *)arg_of(prev, call));
	if (m.word == MUTEX_CONTENDED && m.owner)
		put_s64(r, m.owner);
	else
		put_empty(r);
}

/* Returns whether the quota of a cgroup takes the CPU from the thread. */
static __always_inline bool is_throttled(struct task_struct *task)
{
	struct task_struct___v618 *new = (void *)task;
	struct task_struct___v617 *old = (void *)task;

	if (bpf_core_field_exists(new->throttled))
		return BPF_CORE_READ(new, throttled);
	if (!bpf_core_field_exists(struct cfs_rq___quota, throttle_count) ||
	    !bpf_core_field_exists(struct sched_entity___quota, cfs_rq))
		return false;
	return BPF_CORE_READ(old, se.cfs_rq, throttle_count) > 0;
}

/* Returns whether the thread sleeps as its cgroup v2 is frozen. Stopped threads, and those that
 * wait for the exec of a child of vfork, have the mark, too. */
static __always_inline bool is_frozen(struct task_struct *task, u32 state)
{
	return state & STATE_INTERRUPTIBLE && bpf_core_field_exists(task->frozen) &&
	       BPF_CORE_READ_BITFIELD(task, frozen);
}

static __always_inline u8 shown_reason(struct task_struct *prev, u32 state)
{
	if (state & STATE_DEAD)
		return SHOWN_DEAD;
	if (is_frozen(prev, state))
		return SHOWN_FROZEN;
	if (!state && prev->pid && is_throttled(prev))
		return SHOWN_THROTTLED;
	return shown_state(state);
}

/* Puts why @prev leaves the CPU, and if it sleeps the call that it is in, with its first argument,
 * and the owner of a mutex. @state: TASK_*. */
static __always_inline void put_switch_state(struct rec *r, struct task_struct *prev, u32 state)
{
	u32 call = state && prev->pid ? call_of(prev) : NO_CALL;

	put_u8(r, shown_reason(prev, state));
	if (call == NO_CALL) {
		put_empty(r);
		put_empty(r);
		put_empty(r);
		return;
	}
	put_u32(r, call);
	put_u64(r, arg_of(prev, call));
	put_mutex_owner(r, prev, call);
}

/* Sends a task switch. @prev is the current task; the enter of its open call was sent before. Its
 * run time is up to date, except that the kernel does not count that of idle tasks. */
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
	put_switch_state(&r, prev, ctx[0] ? 0 : ctx[3]);
	commit_event(&r);
}

/* Returns whether a wake-up of @task is recorded; *flags are those of its record. */
static __always_inline bool wants_wakeup(struct task_struct *task, u32 *flags)
{
	const u32 row = EVT_INDEX(EVT_WAKEUP_E);

	*flags = 0;
	if (!cfg.state_only && !cfg.failed_only)
		return true;
	if (sel_of(task) != SEL_SELECTED)
		return false;
	if (!(cfg.show_events[row / 64] >> (row & 63) & 1))
		*flags = REC_F_STATE_ONLY;
	return cfg.wakeups == DRV_SWITCHES_ALL || !*flags;
}

/* Puts the thread that wakes another one, the current task, and the call that it is in. */
static __always_inline void put_waker(struct rec *r, u64 *ctx, struct task_struct *waker)
{
	const bool is_thread = !in_interrupt(ctx, waker);
	const u32 call = is_thread ? call_of(waker) : NO_CALL;

	put_s64(r, is_thread ? waker->pid : 0);
	if (call == NO_CALL) {
		put_empty(r);
		put_empty(r);
		return;
	}
	put_u32(r, call);
	put_u64(r, arg_of(waker, call));
}

/* ctx: the task that is woken. The current task, or an interrupt, wakes it. */
static __always_inline int send_wakeup(u64 *ctx)
{
	struct task_struct *waker = bpf_get_current_task_btf(), *task = (void *)ctx[0];
	struct rec r;
	u32 flags;

	if (!wants_wakeup(task, &flags) || is_self(task))
		return 0;
	if (!begin_at(&r, this_ring(), ctx, OPEN_SENT, EVT_WAKEUP_E, flags, EVT_WAKEUP_E_NPARAMS,
		      EVT_WAKEUP_E_FIXED_SZ))
		return 0;
	set_tid(&r, task->pid);
	put_waker(&r, ctx, waker);
	return commit_event(&r);
}

SEC("?tp_btf/sched_waking")
int sched_waking(u64 *ctx)
{
	return PINNED(send_wakeup(ctx));
}

/* pf_flags */
#define PPM_PF_PROTECTION_VIOLATION (1u << 0)
#define PPM_PF_PAGE_NOT_PRESENT (1u << 1)
#define PPM_PF_WRITE_ACCESS (1u << 2)
#define PPM_PF_READ_ACCESS (1u << 3)
#define PPM_PF_USER_FAULT (1u << 4)
#define PPM_PF_SUPERVISOR_FAULT (1u << 5)

/* Converts the CPU's error code. Each of its lowest three bits selects one of two flags. */
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

	if (is_self(task) || fault_is_probe(task))
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
 * Sends that a CPU goes online or offline. ctx, for each hotplug step: CPU, target, step. The two
 * steps used here run on another CPU, which has a ring: before the CPU starts, and before it stops.
 */
static __always_inline int send_hotplug(u64 *ctx)
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
	return PINNED(send_hotplug(ctx));
}
