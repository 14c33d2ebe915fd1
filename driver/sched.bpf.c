/* SPDX-License-Identifier: GPL-2.0 */
/* What happens to tasks beside their calls: they end, and signals reach them. */
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

SEC("tp_btf/sched_process_exit")
int sched_process_exit(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	int status = task->exit_code;
	struct rec r;

	if ((u32)task->tgid == cfg.self_tgid)
		return 0;
	if (!begin_event(&r, ctx, PROCEXIT_E, 0))
		return 0;
	put_s64(&r, status);
	put_s64(&r, STATUS_RET(status));
	put_u8(&r, STATUS_SIGNAL(status));
	put_u8(&r, !!STATUS_CORE(status));
	put_s64(&r, reaper_tid(task));
	return commit_event(&r);
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

SEC("tp_btf/signal_deliver")
int signal_deliver(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kernel_siginfo *info = (void *)ctx[1];
	int sig = ctx[0];
	struct rec r;

	if ((u32)task->tgid == cfg.self_tgid)
		return 0;
	if (!begin_event(&r, ctx, SIGNALDELIVER_E, 0))
		return 0;
	put_s64(&r, signal_sender(info, sig));
	put_s64(&r, task->pid);
	put_u8(&r, sig);
	return commit_event(&r);
}
