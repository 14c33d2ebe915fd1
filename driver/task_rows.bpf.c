/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The threads of the machine: one read of an iterator gives some hundreds of them, where /proc
 * takes six calls for each. All, for the initial state, though of main threads most is taken from
 * /proc, where what threads share is; or those that are on a CPU now.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "task_row.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
#pragma clang attribute pop

/* The number in the innermost namespace; 0 for a thread that is being reaped. */
static __always_inline u32 innermost_nr(const struct pid *pid)
{
	struct upid upid = {};
	unsigned int level = BPF_CORE_READ(pid, level);
	const void *at = (const void *)pid + bpf_core_field_offset(struct pid, numbers) +
			 (u64)level * bpf_core_type_size(struct upid);

	bpf_probe_read_kernel(&upid.nr, sizeof(upid.nr), at);
	return upid.nr;
}

static __always_inline int write_row(struct bpf_iter_meta *meta, struct task_struct *task)
{
	struct task_row row = {.snapshot_ns = bpf_ktime_get_boot_ns()};
	const struct cred *cred = task->cred;

	row.start_ns = task->start_boottime;
	row.pfmajor = task->maj_flt;
	row.pfminor = task->min_flt;
	row.ran_ns = task->se.sum_exec_runtime;
	row.cpu = task->thread_info.cpu;
	bpf_core_read(&row.cap_inheritable, sizeof(row.cap_inheritable), &cred->cap_inheritable);
	bpf_core_read(&row.cap_permitted, sizeof(row.cap_permitted), &cred->cap_permitted);
	bpf_core_read(&row.cap_effective, sizeof(row.cap_effective), &cred->cap_effective);
	row.tid = task->pid;
	row.pid = task->tgid;
	row.vtid = innermost_nr(BPF_CORE_READ(task, thread_pid)); /* 6.1: no typed pointer */
	row.uid = BPF_CORE_READ(cred, euid.val);
	row.gid = BPF_CORE_READ(cred, egid.val);
	bpf_probe_read_kernel_str(row.comm, sizeof(row.comm), task->comm);
	bpf_seq_write(meta->seq, &row, sizeof(row));
	return 0;
}

SEC("iter/task")
int task_rows(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	return task ? write_row(ctx->meta, task) : 0;
}

SEC("?iter/task")
int running_rows(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	return task && task->on_cpu ? write_row(ctx->meta, task) : 0;
}
