/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is recorded: of which tasks, and which calls of them. What nobody asked for is left
 * out before it costs anything, unless it changes what is known of threads and files: that is
 * recorded, and marked REC_F_STATE_ONLY.
 *
 * Whether a task is meant is found out once per turn that it has on a CPU: the answer is
 * kept in the CPU's slot until the task is switched out, or changes what the answer was made
 * of. So nothing has to be forgotten when a task ends, and a change from outside (another
 * task moves it to a cgroup) holds from its next turn on. Where no calls are hooked, few ask: it is
 * found out each time, and switches of tasks need no hook.
 */
#ifndef DRIVER_SELECT_BPF_H
#define DRIVER_SELECT_BPF_H

#include "own.bpf.h"
#include "saved.bpf.h"
#include <bpf/bpf_core_read.h>

/* Those that last with DRV_MARK_LASTS. */
#define DRV_MARKS_OF_NUMBERS (DRV_MARK_LASTS | DRV_MARK_MEANT | DRV_MARK_THREAD)

/* What is recorded of a task. */
enum task_sel {
	SEL_NONE, /* nothing */
	SEL_OTHER, /* what the state needs */
	SEL_MEANT, /* what was asked for, and what the state needs */
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
	char comm[16]; /* filled up with NULs */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DRV_MAX_LISTED);
	__type(key, struct comm_key);
	__type(value, u32);
} sel_comms SEC(".maps");

/* Names of processes of which nothing is recorded. */
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

/* Is what was found out of the current task still so? Another task may have given it a name. */
static __always_inline bool sel_holds(const struct drv_slot *slot)
{
	return !(cfg.tasks & DRV_TASKS_COMM) || slot->sel_renamed == ONCE(n_renamed);
}

/*
 * The first look, which has to be short: is it clear that the call @nr is left out? What the slot
 * says of a task is about the current one, as each switch of tasks clears it.
 */
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

/* The mark of @task's process, and not of the one that had its number before. */
static __always_inline u32 own_mark(struct task_struct *task)
{
	u32 mark = mark_of(task->tgid);

	return mark & DRV_MARK_DYING && !(task->flags & PF_EXITING) ? 0 : mark;
}

/* A process that no room is left for is as one without a mark, which is counted. */
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

/* A child that is no thread begins with what it has of its maker's mark. */
static __always_inline void mark_inherit(struct task_struct *parent, struct task_struct *child)
{
	u32 mark, of_child = 0;

	if (!(cfg.tasks & (DRV_TASKS_INHERIT | DRV_TASKS_SUPPRESS)) || parent->tgid == child->tgid)
		return;
	mark = own_mark(parent);
	if (cfg.tasks & DRV_TASKS_INHERIT)
		of_child = mark & DRV_MARK_MEANT;
	if (mark & DRV_MARKS_SUPPRESS)
		of_child |= DRV_MARK_SUPPRESSED;
	if (of_child)
		mark_set(child->tgid, of_child);
}

/*
 * The last thread of a process ends: its number may become another's. The kernel has yet to take
 * down what the process had, which is time of the process; so the mark stays until a thread of it
 * leaves the CPU for good, for tasks that are exiting alone.
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

/* @task, which ended, has left the CPU for good. A process that has its number by now keeps its
 * own mark. */
static __always_inline void mark_bury(struct task_struct *task)
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

/* The current process has executed something and has the name of it. */
static __always_inline void mark_exec(struct task_struct *task)
{
	u32 old = own_mark(task), new = old & ~DRV_MARK_NAMED;

	if (comm_listed(&suppressed_comms, task))
		new |= DRV_MARK_NAMED | (old & DRV_MARKS_SUPPRESS ? 0 : DRV_MARK_TOLD);
	if (!(new &DRV_MARKS_SUPPRESS))
		new &= ~DRV_MARK_TOLD;
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

/* In a user namespace the numbers of users that calls tell are others than the kernel's. Typed
 * pointers, as sel_find stands at the end of a deep stack, and BPF_CORE_READ takes of it. */
static __always_inline bool uid_listed(struct task_struct *task)
{
	const struct cred *cred = task->cred;
	u32 uid;

	if (!cred)
		return false;
	if (cfg.uids_apart && cred->user_ns->level)
		return true;
	uid = cred->euid.val;
	return bpf_map_lookup_elem(&sel_uids, &uid);
}

/* Is @task selected by all but its cgroup? */
static __always_inline u32 sel_of(struct task_struct *task)
{
	u32 mark = cfg.tasks & DRV_TASKS_MARKS ? own_mark(task) : 0;

	if (mark & DRV_MARKS_SUPPRESS)
		return SEL_NONE;
	if (cfg.tasks & DRV_TASKS_MARKED && !(mark & DRV_MARK_MEANT))
		return SEL_OTHER;
	if (cfg.tasks & DRV_TASKS_THREADS && !(mark_of(task->pid) & DRV_MARK_THREAD))
		return SEL_OTHER;
	if (cfg.tasks & DRV_TASKS_COMM && !comm_listed(&sel_comms, task) &&
	    !comm_listed(&sel_comms, task->group_leader))
		return SEL_OTHER;
	if (cfg.tasks & DRV_TASKS_UID && !uid_listed(task))
		return SEL_OTHER;
	return SEL_MEANT;
}

/* Is the current task meant? A function of its own to the verifier, and on no hot path. */
__noinline u32 sel_find(void)
{
	u32 sel = sel_of(bpf_get_current_task_btf());

	if (sel == SEL_MEANT && cfg.tasks & DRV_TASKS_CGROUP && !cgroup_listed())
		return SEL_OTHER;
	return sel;
}

/* enum task_sel of the current task. Who interrupts in between finds out the same. */
static __always_inline u32 task_sel(struct drv_slot *slot, struct task_struct *task)
{
	struct drv_call *saved;

	if (!cfg.tasks)
		return SEL_MEANT;
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

/* The next look at the current task finds out anew. */
static __always_inline void sel_forget(struct drv_slot *slot)
{
	if (cfg.tasks)
		ONCE(slot->sel_task) = 0;
}

static __always_inline bool sel_takes(u32 sel, u32 nr, bool ia32)
{
	return sel == SEL_MEANT || (sel == SEL_OTHER && call_in(&cfg.other, nr, ia32));
}

/* Was the call asked for, by its own name or, for a 32-bit one, that of the call that it is? */
static __always_inline bool call_shown(const struct drv_call *call)
{
	u32 nr = call->nr, raw_nr = call->raw_nr;
	bool ia32 = call->flags & REC_F_IA32;

	return call_in(&cfg.show, raw_nr, ia32) ||
	       (ia32 && nr < DRV_MAX_NR && call_in(&cfg.show, nr, false));
}

/* REC_F_STATE_ONLY for what is taken without having been asked for. */
static __always_inline u32 sel_flags(u32 sel, const struct drv_call *call)
{
	if (!cfg.state_only || (sel == SEL_MEANT && call_shown(call)))
		return 0;
	return REC_F_STATE_ONLY;
}

/* Calls of the current task after which it may be another task's worth: name, user, cgroup. */
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

/* Failed calls that change something nevertheless: a connect that goes on, a close on EINTR. */
static __always_inline bool failure_counts(u32 nr)
{
	return nr == NR_close || nr == NR_connect;
}

/* The number is of a request that puts a file into the table: TIOCGPTPEER. */
static __always_inline bool ioctl_opens(u32 request)
{
	return request == 0x5441;
}

/* Those that matter for what they open, which is seldom the case. */
static __always_inline bool changes_nothing(const struct drv_call *call)
{
	return call->nr == NR_ioctl && !ioctl_opens((u32)call->args[1]);
}

/*
 * The call in @slot ends with @ret: is it recorded? A call whose enter was sent ahead is, so that
 * the two stay together.
 */
static __always_inline bool sel_exit(struct drv_slot *slot, s64 ret)
{
	struct drv_call *call = &slot->call;
	u32 nr = call->nr, sel;

	if (!cfg.state_only && !cfg.failed_only)
		return true;
	if (cfg.tasks && changes_task(nr)) {
		sel_forget(slot);
		sel = task_sel(slot, bpf_get_current_task_btf());
		if (sel == SEL_NONE)
			return false;
		if (sel == SEL_MEANT && call_shown(call))
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

/* A CPU comes and goes, sampling pauses, another task gets a name, whoever is running. */
static __always_inline bool is_of_task(u32 event)
{
	return event != EVT_CPU_HOTPLUG_E && event != EVT_DROP_E && event != EVT_DROP_X &&
	       event != EVT_COMM_E;
}

static __always_inline bool was_told(struct task_struct *task)
{
	return cfg.tasks & DRV_TASKS_SUPPRESS && mark_of(task->tgid) & DRV_MARK_TOLD;
}

/* Flags for the record of an event of the current task that is no call, whose event is @event
 * and has the flags @evt_flags; negative: it is not recorded. */
static __always_inline s32 sel_event(struct drv_slot *slot, struct task_struct *task, u32 event,
				     u32 evt_flags)
{
	u32 row = EVT_INDEX(event), sel;

	if (event == EVT_DROP_E || event == EVT_DROP_X)
		return 0;
	if (!cfg.state_only && !cfg.failed_only)
		return 0;
	sel = is_of_task(event) ? task_sel(slot, task) : SEL_MEANT;
	if (sel == SEL_NONE && !(event == EVT_PROCEXIT_E && was_told(task)))
		return -1;
	if (cfg.show_events[row / 64 % (DRV_MAX_EVENTS / 64)] >> (row & 63) & 1 && sel == SEL_MEANT)
		return 0;
	if (evt_flags & EF_MODIFIES_STATE ||
	    (event == EVT_SWITCH_E && cfg.switches == DRV_SWITCHES_ALL))
		return REC_F_STATE_ONLY;
	return -1;
}

#endif /* DRIVER_SELECT_BPF_H */
