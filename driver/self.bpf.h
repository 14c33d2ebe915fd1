/* SPDX-License-Identifier: GPL-2.0 */
/*
 * saker's own processes, which are never recorded: the capturing one and its helpers. A thread of
 * saker writes its TID to helper_forking while it forks a helper (helper_process.c), and the fork
 * hook adds the child before it runs, so that no call of it is recorded.
 */
#ifndef DRIVER_SELF_BPF_H
#define DRIVER_SELF_BPF_H

#include "compiler.bpf.h"
#include "maps.bpf.h"
#include "untrusted.bpf.h"
#include <bpf/bpf_core_read.h>

#define HELPERS_MAX 64 /* maximum number of helpers */
#define HELPER_PLACES 64 /* a power of two */

/* By PID; the value is unused. Helpers never exec. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HELPERS_MAX);
	__type(key, u32);
	__type(value, u32);
} helper_pids SEC(".maps");

/* The number of own processes for each remainder of the PID: other processes need no look-up. On
 * cache lines that are written only when a helper begins or ends. */
u32 n_helpers[HELPER_PLACES] __attribute__((aligned(128)));
u32 helper_forking; /* TID in its own PID namespace; 0: no helper is being forked */

static __always_inline u32 *helper_count(u32 tgid)
{
	return &n_helpers[tgid & (HELPER_PLACES - 1)];
}

/* Verified on its own; not on a hot path. */
__noinline int is_helper(u32 tgid)
{
	return bpf_map_lookup_elem(&helper_pids, &tgid) != NULL;
}

static __always_inline bool is_self(struct task_struct *task)
{
	u32 tgid = task->tgid;

	if (!cfg.self_tgid)
		return false;
	if (tgid == cfg.self_tgid)
		return true;
	return ONCE(*helper_count(tgid)) && is_helper(tgid);
}

/* Returns the TID of @task in its own PID namespace. */
static __always_inline u32 self_tid(struct task_struct *task)
{
	struct pid *pid = untrusted_task(task)->thread_pid;
	struct upid upid = {};
	u32 level = BPF_CORE_READ(pid, level);
	void *numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);

	bpf_probe_read_kernel(&upid, sizeof(upid), numbers + level * sizeof(upid));
	return upid.nr;
}

/* Adds @child, which has not run yet, if its parent marks it as a helper. */
static __always_inline void helper_add(struct task_struct *maker, struct task_struct *child)
{
	u32 tgid = child->tgid, forking = ONCE(helper_forking);

	if (!forking || (u32)maker->tgid != cfg.self_tgid || tgid == cfg.self_tgid ||
	    self_tid(maker) != forking)
		return;
	if (!bpf_map_update_elem(&helper_pids, &tgid, &tgid, BPF_NOEXIST))
		__sync_fetch_and_add(helper_count(tgid), 1);
}

/* The leader of a process has left the CPU for good. */
static __always_inline void helper_remove(struct task_struct *task)
{
	u32 tgid = task->tgid;

	if (task->pid != task->tgid || !ONCE(*helper_count(tgid)))
		return;
	if (!bpf_map_delete_elem(&helper_pids, &tgid))
		__sync_fetch_and_add(helper_count(tgid), -1);
}

#endif /* DRIVER_SELF_BPF_H */
