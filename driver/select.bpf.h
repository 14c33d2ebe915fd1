/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The selection: which tasks are recorded, and which of their calls. Anything else is dropped
 * before it costs much, unless it changes the state of threads and files: that is recorded and
 * marked REC_F_STATE_ONLY.
 *
 * Whether a task is selected is computed once per time slice: the result is kept in the CPU's slot
 * until the task is switched out, or changes what the result depends on. So nothing needs to be
 * invalidated when a task ends, and a change from outside (another task moves it to a cgroup) takes
 * effect at its next time slice. Where no calls are hooked the selection is rarely needed: then it
 * is computed each time, and task switches need no hook.
 */
#ifndef DRIVER_SELECT_BPF_H
#define DRIVER_SELECT_BPF_H

#include "ring.bpf.h"
#include "saved.bpf.h"
#include "self.bpf.h"
#include <bpf/bpf_core_read.h>

/* Includes the marks with DRV_MARK_LASTS. */
#define DRV_MARKS_OF_NUMBERS (DRV_MARK_LASTS | DRV_MARK_SELECTED | DRV_MARK_THREAD)

/* How much is recorded of a task. */
enum task_sel {
	SEL_NONE, /* nothing */
	SEL_OTHER, /* events that the state needs */
	SEL_SELECTED, /* selected events, and those that the state needs */
};

/* enum drv_mark by process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, DRV_MAX_MARKS);
	__type(key, u32);
	__type(value, u32);
} marks SEC(".maps");

struct comm_key {
	char comm[16]; /* padded with NULs */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DRV_MAX_LISTED);
	__type(key, struct comm_key);
	__type(value, u32);
} sel_comms SEC(".maps");

/* Names of suppressed processes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DRV_MAX_LISTED);
	__type(key, struct comm_key);
	__type(value, u32);
} suppressed_comms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DRV_MAX_LISTED);
	__type(key, u32);
	__type(value, u32);
} sel_uids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, DRV_MAX_CGROUPS);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} sel_cgroups SEC(".maps");

static __always_inline bool bit_of(const volatile u64 *bits, u64 nr)
{
	return bits[nr / 64 & (DRV_MAX_NR / 64 - 1)] >> (nr & 63) & 1;
}

static __always_inline bool call_in(const volatile struct drv_calls *calls, u32 nr, bool ia32)
{
	if (nr >= DRV_MAX_NR)
		return cfg.want_unknown;
	return bit_of(calls->bits[ia32], nr);
}

/* Returns whether the cached selection of the current task is still valid: another task may have
 * renamed it. */
static __always_inline bool sel_holds(const struct drv_slot *slot)
{
	return !(cfg.tasks & DRV_TASKS_COMM) || slot->sel_renamed == ONCE(n_renamed);
}

/* The first check, which must be fast: returns whether the call @nr is clearly not recorded. The
 * slot's selection belongs to the current task, since each task switch clears it. */
static __always_inline bool sel_skips(const struct drv_slot *slot, u64 nr)
{
	if (!cfg.state_only || nr >= DRV_MAX_NR)
		return false;
	if (!bit_of(cfg.want_any, nr))
		return true;
	return cfg.tasks && slot->sel_task && !slot->sel_saved && sel_holds(slot) &&
	       (slot->sel == SEL_NONE || (slot->sel == SEL_OTHER && !bit_of(cfg.other_any, nr)));
}

static __always_inline u32 mark_of(u32 tgid)
{
	u32 *mark = bpf_map_lookup_elem(&marks, &tgid);

	return mark ? *mark : 0;
}

/* Returns the mark of @task's process, not that of an earlier process with the same PID. */
static __always_inline u32 mark_of_task(struct task_struct *task)
{
	u32 mark = mark_of(task->tgid);

	return mark & DRV_MARK_DYING && !(task->flags & PF_EXITING) ? 0 : mark;
}

/* A process whose mark does not fit is treated as unmarked, and counted. */
static __always_inline void mark_set(u32 tgid, u32 mark)
{
	struct ring *ring;

	if (!mark)
		bpf_map_delete_elem(&marks, &tgid);
	else if (bpf_map_update_elem(&marks, &tgid, &mark, BPF_ANY)) {
		ring = this_ring();
		if (ring)
			ring->hdr.counters[0].n_unmarked++;
	}
}

/* A new process inherits marks from its parent. */
static __always_inline void mark_inherit(struct task_struct *parent, struct task_struct *child)
{
	u32 mark, of_child = 0;

	if (!(cfg.tasks & (DRV_TASKS_INHERIT | DRV_TASKS_SUPPRESS)) || parent->tgid == child->tgid)
		return;
	mark = mark_of_task(parent);
	if (cfg.tasks & DRV_TASKS_INHERIT)
		of_child = mark & DRV_MARK_SELECTED;
	if (mark & DRV_MARKS_SUPPRESS)
		of_child |= DRV_MARK_SUPPRESSED;
	if (of_child)
		mark_set(child->tgid, of_child);
}

/*
 * The last thread of a process ends: its PID may be reused. The kernel still has to release its
 * memory and files, which counts as time of the process; so the mark stays until a thread of it
 * leaves the CPU for good, for exiting tasks only.
 */
static __always_inline void mark_end(struct task_struct *task)
{
	u32 tgid = task->tgid, mark;

	if (!(cfg.tasks & DRV_TASKS_MARKS) || BPF_CORE_READ(task, signal, live.counter))
		return;
	mark = mark_of(tgid);
	if (mark & DRV_MARK_LASTS)
		mark_set(tgid, mark & DRV_MARKS_OF_NUMBERS);
	else if (mark)
		mark_set(tgid, mark | DRV_MARK_DYING);
}

/*
 * @task has ended and left the CPU for good. A process that has its PID by now keeps its own mark.
 */
static __always_inline void mark_delete(struct task_struct *task)
{
	if (cfg.tasks & DRV_TASKS_MARKS && mark_of(task->tgid) & DRV_MARK_DYING)
		mark_set(task->tgid, 0);
}

static __always_inline bool comm_listed(void *list, struct task_struct *task)
{
	struct comm_key key = {};

	bpf_probe_read_kernel_str(key.comm, sizeof(key.comm), task->comm);
	return bpf_map_lookup_elem(list, &key);
}

/* The current process has executed a program and has its name. */
static __always_inline void mark_exec(struct task_struct *task)
{
	u32 old = mark_of_task(task), new = old & ~DRV_MARK_NAMED;

	if (comm_listed(&suppressed_comms, task))
		new |= DRV_MARK_NAMED | (old & DRV_MARKS_SUPPRESS ? 0 : DRV_MARK_REPORTED);
	if (!(new &DRV_MARKS_SUPPRESS))
		new &= ~DRV_MARK_REPORTED;
	if (new != old)
		mark_set(task->tgid, new);
}

static __always_inline bool cgroup_listed(void)
{
	for (u32 i = 0; i < DRV_MAX_CGROUPS && i < cfg.n_cgroups; i++)
		if (bpf_current_task_under_cgroup(&sel_cgroups, i) == 1)
			return true;
	return false;
}

/* In a user namespace the UIDs in calls differ from the kernel's. Typed pointers, since sel_find
 * runs at the end of a deep stack, of which BPF_CORE_READ takes some. */
static __always_inline bool uid_listed(struct task_struct *task)
{
	const struct cred *cred = untrusted_task(task)->cred;
	u32 uid;

	if (!cred)
		return false;
	if (cfg.uids_apart && cred->user_ns->level)
		return true;
	uid = cred->euid.val;
	return bpf_map_lookup_elem(&sel_uids, &uid);
}

/* Returns whether @task matches all criteria except the cgroup. */
static __always_inline u32 sel_of(struct task_struct *task)
{
	u32 mark = cfg.tasks & DRV_TASKS_MARKS ? mark_of_task(task) : 0;

	if (mark & DRV_MARKS_SUPPRESS)
		return SEL_NONE;
	if (cfg.tasks & DRV_TASKS_MARKED && !(mark & DRV_MARK_SELECTED))
		return SEL_OTHER;
	if (cfg.tasks & DRV_TASKS_THREADS && !(mark_of(task->pid) & DRV_MARK_THREAD))
		return SEL_OTHER;
	if (cfg.tasks & DRV_TASKS_COMM && !comm_listed(&sel_comms, task) &&
	    !comm_listed(&sel_comms, untrusted_task(task)->group_leader))
		return SEL_OTHER;
	if (cfg.tasks & DRV_TASKS_UID && !uid_listed(task))
		return SEL_OTHER;
	return SEL_SELECTED;
}

/* Returns whether the current task is selected. Verified on its own; not on a hot path. */
__noinline u32 sel_find(void)
{
	u32 sel = sel_of(bpf_get_current_task_btf());

	if (sel == SEL_SELECTED && cfg.tasks & DRV_TASKS_CGROUP && !cgroup_listed())
		return SEL_OTHER;
	return sel;
}

/* Returns enum task_sel of the current task. An interrupt in between computes the same. */
static __always_inline u32 task_sel(struct drv_slot *slot, struct task_struct *task)
{
	struct drv_call *saved;

	if (!cfg.tasks)
		return SEL_SELECTED;
	if (!cfg.calls)
		return sel_find();
	if (ONCE(slot->sel_task) != (u64)task || !sel_holds(slot)) {
		saved = saved_find(task);
		slot->sel_saved = saved && saved->state != CALL_NONE;
		slot->sel_renamed = ONCE(n_renamed);
		slot->sel = sel_find();
		barrier();
		ONCE(slot->sel_task) = (u64)task;
	}
	return slot->sel;
}

/* Makes the next check of the current task compute the selection again. */
static __always_inline void sel_invalidate(struct drv_slot *slot)
{
	if (cfg.tasks)
		ONCE(slot->sel_task) = 0;
}

static __always_inline bool sel_allows(u32 sel, u32 nr, bool ia32)
{
	return sel == SEL_SELECTED || (sel == SEL_OTHER && call_in(&cfg.other, nr, ia32));
}

/* Returns whether the call is selected by its name or, for a 32-bit call, by that of its x86_64
 * counterpart. */
static __always_inline bool call_shown(const struct drv_call *call)
{
	u32 nr = call->nr, raw_nr = call->raw_nr;
	bool ia32 = call->flags & REC_F_IA32;

	return call_in(&cfg.show, raw_nr, ia32) ||
	       (ia32 && nr < DRV_MAX_NR && call_in(&cfg.show, nr, false));
}

/* Returns REC_F_STATE_ONLY for an event that is recorded without being selected. */
static __always_inline u32 sel_flags(u32 sel, const struct drv_call *call)
{
	if (!cfg.state_only || (sel == SEL_SELECTED && call_shown(call)))
		return 0;
	return REC_F_STATE_ONLY;
}

/* Returns whether the call may change the selection of the current task: name, user, cgroup. */
static __always_inline bool changes_task(u32 nr)
{
	switch (nr) {
	case NR_execve:
	case NR_execveat:
	case NR_prctl:
	case NR_setuid:
	case NR_setreuid:
	case NR_setresuid:
	case NR_setfsuid:
		return true;
	}
	return false;
}

/* Failed calls that change state nevertheless: a connect that continues, a close with EINTR. */
static __always_inline bool failure_counts(u32 nr)
{
	return nr == NR_close || nr == NR_connect;
}

/* The request installs a file descriptor: TIOCGPTPEER. */
static __always_inline bool ioctl_opens(u32 request)
{
	return request == 0x5441;
}

/* Calls that rarely matter: only for the files that they open. */
static __always_inline bool changes_nothing(const struct drv_call *call)
{
	return call->nr == NR_ioctl && !ioctl_opens((u32)call->args[1]);
}

/* Returns whether the call in @slot, which ends with @ret, is recorded. If its raw enter was sent
 * it is, so that the two stay together. */
static __always_inline bool sel_exit(struct drv_slot *slot, s64 ret)
{
	struct drv_call *call = &slot->call;
	u32 nr = call->nr, sel;

	if (!cfg.state_only && !cfg.failed_only)
		return true;
	if (cfg.tasks && changes_task(nr)) {
		sel_invalidate(slot);
		sel = task_sel(slot, bpf_get_current_task_btf());
		if (sel == SEL_NONE)
			return false;
		if (sel == SEL_SELECTED && call_shown(call))
			call->flags &= ~REC_F_STATE_ONLY;
	}
	if (cfg.failed_only && ret >= 0 && !(call->flags & REC_F_STATE_ONLY)) {
		call->flags |= REC_F_STATE_ONLY;
		if (!call_in(&cfg.state, nr, false) && call->state != CALL_SENT)
			return false;
	}
	if (call->flags & REC_F_STATE_ONLY && call->state != CALL_SENT)
		return ret < 0 ? failure_counts(nr) : !changes_nothing(call);
	return true;
}

/* A CPU comes or goes, sampling pauses, or a task is renamed, whatever task runs. */
static __always_inline bool is_of_task(u32 event)
{
	return event != EVT_CPU_HOTPLUG_E && event != EVT_DROP_E && event != EVT_DROP_X &&
	       event != EVT_COMM_E;
}

static __always_inline bool was_reported(struct task_struct *task)
{
	return cfg.tasks & DRV_TASKS_SUPPRESS && mark_of(task->tgid) & DRV_MARK_REPORTED;
}

/* Returns the flags for the record of a non-call event @event of the current task, with event flags
 * @evt_flags; negative: not recorded. */
static __always_inline s32 sel_event(struct drv_slot *slot, struct task_struct *task, u32 event,
				     u32 evt_flags)
{
	u32 row = EVT_INDEX(event), sel;

	if (event == EVT_DROP_E || event == EVT_DROP_X)
		return 0;
	if (!cfg.state_only && !cfg.failed_only)
		return 0;
	sel = is_of_task(event) ? task_sel(slot, task) : SEL_SELECTED;
	if (sel == SEL_NONE && !(event == EVT_PROCEXIT_E && was_reported(task)))
		return -1;
	if (cfg.show_events[row / 64 % (DRV_MAX_EVENTS / 64)] >> (row & 63) & 1 &&
	    sel == SEL_SELECTED)
		return 0;
	if (evt_flags & EF_MODIFIES_STATE ||
	    (event == EVT_SWITCH_E && cfg.switches == DRV_SWITCHES_ALL))
		return REC_F_STATE_ONLY;
	return -1;
}

#endif /* DRIVER_SELECT_BPF_H */
