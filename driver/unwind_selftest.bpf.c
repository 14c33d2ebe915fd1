/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs the stack walker on a perf event that also delivers registers and a copy of the stack, both
 * from the same instant: another unwinder must find the same frames in the copy.
 */
#include "sample_record.bpf.h"

#include "shared/unwind_selftest.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, SELFTEST_RING_SZ);
} selftest_results SEC(".maps");

u64 n_selftest_lost;

/* PID: samples this process and its descendants; 0: all processes. */
const volatile u32 selftest_root;

#define GENERATIONS 16

static __always_inline bool is_meant(struct task_struct *task)
{
	for (int i = 0; selftest_root && i < GENERATIONS; i++) {
		const u32 pid = BPF_CORE_READ(task, tgid);

		if (pid == selftest_root || pid <= 1)
			return pid == selftest_root;
		task = BPF_CORE_READ(task, real_parent);
	}
	return !selftest_root;
}

/* Returns 1, so that the event is delivered, or 0. */
SEC("perf_event")
int unwind_selftest(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct unwind_selftest *out;
	struct user_walk *w = walk_of(0);

	(void)ctx;
	if (!w || !has_user_stack(task) || (u32)task->tgid == cfg.self_tgid || !is_meant(task))
		return 0;
	out = bpf_ringbuf_reserve(&selftest_results, sizeof(*out), 0);
	if (!out) {
		count(&n_selftest_lost);
		return 0;
	}
	out->ns = bpf_ktime_get_boot_ns();
	walk_user(w, task, SELFTEST_FRAMES);
	out->pid = task->tgid;
	out->tid = task->pid;
	out->n = w->n;
	out->end = w->end;
	BPF_CORE_READ_STR_INTO(&out->comm, task, group_leader, comm);
	bpf_probe_read_kernel(out->frames, sizeof(out->frames), w->frames);
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	return 1;
}

char LICENSE[] SEC("license") = "GPL";
