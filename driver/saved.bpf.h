/* SPDX-License-Identifier: GPL-2.0 */
/* Saved calls: calls of tasks that were switched out between enter and exit. */
#ifndef DRIVER_SAVED_BPF_H
#define DRIVER_SAVED_BPF_H

#include "maps.bpf.h"
#include "ring.bpf.h"

static __always_inline struct drv_call *saved_find(struct task_struct *task)
{
	u64 key = (u64)task;

	if (cfg.task_storage)
		return bpf_task_storage_get(&saved_storage, task, NULL, 0);
	return bpf_map_lookup_elem(&saved_hash, &key);
}

static __always_inline void saved_put(struct task_struct *task, const struct drv_call *call)
{
	u64 key = (u64)task;
	struct drv_call *saved;
	struct ring *ring;

	if (cfg.task_storage) {
		saved = bpf_task_storage_get(&saved_storage, task, NULL,
					     BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (saved) {
			*saved = *call;
			return;
		}
	} else if (!bpf_map_update_elem(&saved_hash, &key, call, BPF_ANY)) {
		return;
	}
	ring = this_ring();
	if (ring)
		ring->hdr.counters[0].n_storage_fail++;
}

static __always_inline void saved_drop(struct task_struct *task, struct drv_call *saved)
{
	u64 key = (u64)task;

	if (cfg.task_storage)
		saved->state = CALL_NONE;
	else
		bpf_map_delete_elem(&saved_hash, &key);
}

/* Called when a task ends, or begins where another ended: task storage disappears with its task,
 * but an entry of the hash would be found again under the same address. */
static __always_inline void saved_delete(struct task_struct *task)
{
	u64 key = (u64)task;

	if (!cfg.task_storage)
		bpf_map_delete_elem(&saved_hash, &key);
}

#endif /* DRIVER_SAVED_BPF_H */
