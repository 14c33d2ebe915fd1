/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Task iterators: rows of all threads for the initial state, of the threads that are on a CPU, and
 * of the calls that threads are in. One read of an iterator returns hundreds of threads, where
 * /proc takes six calls for each. What the threads of a process share comes from /proc, but for the
 * files of a process that has many.
 */
#include "call_regs.bpf.h"
#include "saved.bpf.h"
#include "select.bpf.h"

#include <bpf/bpf_core_read.h>

#include "shared/call_under_way.h"
#include "shared/file_row.h"
#include "shared/task_row.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	u32 fd;
	struct file *file;
};
#pragma clang attribute pop

/* Returns the number in the innermost namespace; 0 for a thread that is being reaped. */
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

/* Returns O_CLOEXEC if the descriptor has it. */
static __always_inline u32 cloexec_of(struct task_struct *task, u32 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	unsigned long *bits = BPF_CORE_READ(fdt, close_on_exec), word = 0;

	if (fd < BPF_CORE_READ(fdt, max_fds))
		bpf_probe_read_kernel(&word, sizeof(word), bits + fd / 64);
	return word >> (fd % 64) & 1 ? KERNEL_O_CLOEXEC : 0;
}

/* The files of the thread that libscap asks for. */
SEC("?iter/task_file")
int file_rows(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct file_row row = {.fd = ctx->fd};

	if (!task || !file)
		return 0;
	row.flags = (BPF_CORE_READ(file, f_flags) & ~KERNEL_O_CLOEXEC) | cloexec_of(task, row.fd);
	row.dentry = (u64)BPF_CORE_READ(file, f_path.dentry);
	row.mnt = (u64)BPF_CORE_READ(file, f_path.mnt);
	row.ops = (u64)BPF_CORE_READ(file, f_op);
	row.ino = BPF_CORE_READ(file, f_inode, i_ino);
	row.dev = dev_number(BPF_CORE_READ(file, f_inode, i_sb, s_dev));
	row.tid = task->pid;
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}

/* Returns whether the call of @row is to be shown. */
static __always_inline bool is_selected_call(const struct call_under_way *row)
{
	const bool ia32 = row->flags & UNDER_WAY_F_IA32;
	struct drv_call call = {.nr = row->nr, .raw_nr = row->nr};

	if (cfg.wakeups)
		return true;
	if (!call_in(&cfg.want, row->nr, ia32))
		return false;
	if (!cfg.state_only)
		return true;
	if (ia32) {
		call.flags = REC_F_IA32;
		call.nr = ia32_calls[row->nr & (DRV_MAX_NR - 1)].row;
	}
	return call_shown(&call);
}

/* Returns when the call was entered, from the task's storage; 0: before the driver was attached. */
static __always_inline u64 enter_ns_of(struct task_struct *task)
{
	const struct drv_call *saved = saved_find(task);

	return saved && (saved->state == CALL_OPEN || saved->state == CALL_SENT) ? saved->ts : 0;
}

/*
 * Returns whether @task does not run and is in a call. Kernel threads and I/O workers have no
 * registers of a call. A thread that was interrupted in user mode has a negative call number. A
 * stopped thread has ended its call, or has not entered it yet.
 */
static __always_inline bool may_be_in_a_call(struct task_struct *task, const struct pt_regs *regs)
{
	if (task->flags & (PF_KTHREAD | PF_EXITING | PF_IO_WORKER) || !regs->ip)
		return false;
	return !(task->__state & (STATE_STOPPED | STATE_DEAD)) && !task->on_cpu &&
	       (s32)regs->orig_ax >= 0;
}

SEC("?iter/task")
int calls_under_way(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct call_under_way row = {.at_ns = bpf_ktime_get_boot_ns()};
	struct pt_regs *regs;
	unsigned long switches;

	if (!task || is_self(task) || sel_of(task) != SEL_SELECTED)
		return 0;
	regs = (void *)bpf_task_pt_regs(task);
	if (!may_be_in_a_call(task, regs))
		return 0;
	switches = task->nvcsw + task->nivcsw;
	row.flags = task->thread_info.status & TS_COMPAT ? UNDER_WAY_F_IA32 : 0;
	row.flags |= task->__state & STATE_SLEEPS ? UNDER_WAY_F_SLEEPS : 0;
	row.tid = task->pid;
	row.pid = task->tgid;
	row.cpu = task->thread_info.cpu;
	row.nr = rec_nr(regs->orig_ax);
	row.enter_ns = enter_ns_of(task);
	note_args(row.args, regs, row.flags & UNDER_WAY_F_IA32);
	/* If the task ran meanwhile, the arguments may be a mix of two calls. */
	if (task->on_cpu || switches != task->nvcsw + task->nivcsw || !is_selected_call(&row))
		return 0;
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}
