/* SPDX-License-Identifier: GPL-2.0 */
/* Fillers of clone, fork, exec, prctl, ptrace and their kin. Without hooked calls, the scheduler's
 * tracepoints send the events of clone and exec. */
#include "args.bpf.h"
#include "enter.bpf.h"
#include "fd.bpf.h"
#include "task.bpf.h"

/* Text of varying size in every event of a process: exe, args, cwd, comm, cgroups. */
#define PROC_TEXT_SZ (PATH_SZ + ARGS_SZ + PATH_SZ + 16 + CGROUPS_SZ)

/* tid to vm_swap, which clone and exec share. */
static __always_inline void put_identity(struct rec *r, struct task_struct *task)
{
	put_s64(r, task->pid);
	put_s64(r, task->tgid);
	put_s64(r, BPF_CORE_READ(task, real_parent, pid));
	put_cwd(r, task);
	put_u64(r, BPF_CORE_READ(task, signal, rlim[RLIMIT_NOFILE].rlim_cur));
	put_u64(r, task->maj_flt);
	put_u64(r, task->min_flt);
	put_vm(r, task);
	put_comm(r, task);
	put_cgroups(r, task);
}

#define CLONE_VM 0x00000100
#define CLONE_FS 0x00000200
#define CLONE_FILES 0x00000400
#define CLONE_SIGHAND 0x00000800
#define CLONE_VFORK 0x00004000
#define CLONE_PARENT 0x00008000
#define CLONE_THREAD 0x00010000

/* Bits of clone's flags with the signal number; clone3 has a field for it. */
#define CSIGNAL_OF(nr) ((nr) == NR_clone3 ? 0u : 0xffu)

/* Returns the flags of clone, fork, vfork or clone3. The flags of clone3 are in the caller's
 * memory, so this runs in the caller. */
static __always_inline u64 clone_flags_of(const struct drv_call *call)
{
	if (call->state == CALL_BORN)
		return call->args[0];
	switch (call->nr) {
	case NR_clone:
		return call->args[0];
	case NR_fork:
		return 0;
	case NR_vfork:
		return CLONE_VFORK | CLONE_VM;
	default: /* clone3: the first member of struct clone_args */
		return user_u64(call->args[0], 0);
	}
}

/* flags to pidns_init_start_ts; @flags: the kernel's. */
static __always_inline void put_clone(struct rec *r, struct task_struct *task, u64 flags)
{
	u32 converted = convert_clone_flags(flags);

	if (task_in_pidns(task))
		converted |= PPM_CL_CHILD_IN_PIDNS;
	put_u32(r, converted);
	put_u32(r, BPF_CORE_READ(task, cred, euid.val));
	put_u32(r, BPF_CORE_READ(task, cred, egid.val));
	put_s64(r, task_vtid(task));
	put_s64(r, task_vpid(task));
	put_u64(r, task_pidns_start(task));
}

/* Serves clone, clone3, fork and vfork, in the parent and in the child. */
SEC("?tp_btf/sys_exit")
int fill_clone(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 nr;
	struct rec r;

	if (!call_claim())
		return 0;
	nr = this_slot()->call.nr;
	if (!begin_call(&r, ctx, nr_event[nr & (DRV_MAX_NR - 1)], EVT_CLONE_X_NPARAMS,
			EVT_CLONE_X_FIXED_SZ + PROC_TEXT_SZ))
		return 0;
	put_s64(&r, r.ret);
	put_command(&r, task);
	put_identity(&r, task);
	put_clone(&r, task, clone_flags_of(&r.slot->call));
	put_raw64(&r, clone_flags_of(&r.slot->call), CLONE_FLAGS_NAMED | CSIGNAL_OF(nr));
	return commit(&r);
}

/* Returns the clone flags of @child, derived from what it shares with its maker. */
static __always_inline u64 shared_by(struct task_struct *child, struct task_struct *maker)
{
	u64 flags = 0;

	if (child->mm == maker->mm)
		flags |= CLONE_VM;
	if (child->fs == maker->fs)
		flags |= CLONE_FS;
	if (child->files == maker->files)
		flags |= CLONE_FILES;
	if (child->tgid == maker->tgid)
		flags |= CLONE_THREAD | CLONE_SIGHAND;
	else if (child->real_parent == maker->real_parent)
		flags |= CLONE_PARENT;
	return flags;
}

/* Sends the event of the child's side of clone, in the maker, before the child runs. The child has
 * the maker's memory, or a copy at the same addresses. */
static __always_inline int send_fork(u64 *ctx)
{
	struct task_struct *child = (void *)ctx[1];
	struct rec r;

	if (is_self(child) || !begin_event_after(&r, ctx, CLONE_X, PROC_TEXT_SZ))
		return 0;
	set_tid(&r, child->pid);
	r.slot = this_slot(); /* for its scratch: widen() */
	put_s64(&r, 0);
	put_command(&r, child);
	put_identity(&r, child);
	put_clone(&r, child,
		  shared_by(untrusted_task(child), untrusted_task(bpf_get_current_task_btf())));
	put_empty(&r);
	r.slot = NULL;
	return commit_event(&r);
}

SEC("?tp_btf/sched_process_fork")
int report_fork(u64 *ctx)
{
	return PINNED(send_fork(ctx));
}

/* execve_flags */
#define PPM_EXE_WRITABLE (1u << 0)
#define PPM_EXE_FROM_MEMFD (1u << 2)

#define SB_RDONLY 1
#define S_IMMUTABLE 8
#define CAP_DAC_OVERRIDE 1

static __always_inline bool exe_is_writable(struct inode *inode, const struct cred *cred)
{
	u16 mode = BPF_CORE_READ(inode, i_mode);
	u64 caps = 0;

	if (BPF_CORE_READ(inode, i_sb, s_flags) & SB_RDONLY ||
	    BPF_CORE_READ(inode, i_flags) & S_IMMUTABLE)
		return false;
	bpf_core_read(&caps, sizeof(caps), &cred->cap_effective);
	if (caps >> CAP_DAC_OVERRIDE & 1)
		return true;
	if (BPF_CORE_READ(cred, fsuid.val) == BPF_CORE_READ(inode, i_uid.val))
		return mode & 0200;
	if (BPF_CORE_READ(cred, fsgid.val) == BPF_CORE_READ(inode, i_gid.val))
		return mode & 0020;
	return mode & 0002;
}

/* Returns whether the file is from memfd_create(): named "memfd:NAME", without a parent. */
static __always_inline bool file_is_memfd(struct file *file)
{
	static const char prefix[] = "memfd:";
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);
	char name[8] = {};

	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(dentry, d_name.name));
	for (u32 i = 0; i < sizeof(prefix) - 1; i++)
		if (name[i] != prefix[i])
			return false;
	return BPF_CORE_READ(dentry, d_parent) == dentry;
}

/* A global function, so that the verifier checks its many paths once. */
__noinline u32 exe_flags(u64 exe_addr, u64 cred_addr)
{
	struct file *exe = (void *)exe_addr;
	const struct cred *cred = (void *)cred_addr;

	if (!exe)
		return 0;
	return (exe_is_writable(BPF_CORE_READ(exe, f_inode), cred) ? PPM_EXE_WRITABLE : 0) |
	       (file_is_memfd(exe) ? PPM_EXE_FROM_MEMFD : 0);
}

#define NS_PER_S 1000000000ull

/* Since 6.13: flag in i_ctime_nsec, set when the time was queried. */
#define CTIME_QUERIED (1u << 31)

static __always_inline u64 inode_ctime(struct inode *inode)
{
	struct inode___v67 *v67 = (void *)inode;
	struct inode___v65 *v65 = (void *)inode;

	if (bpf_core_field_exists(inode->i_ctime_sec))
		return BPF_CORE_READ(inode, i_ctime_sec) * NS_PER_S +
		       (BPF_CORE_READ(inode, i_ctime_nsec) & ~CTIME_QUERIED);
	if (bpf_core_field_exists(v67->__i_ctime))
		return BPF_CORE_READ(v67, __i_ctime.tv_sec) * NS_PER_S +
		       BPF_CORE_READ(v67, __i_ctime.tv_nsec);
	return BPF_CORE_READ(v65, i_ctime.tv_sec) * NS_PER_S + BPF_CORE_READ(v65, i_ctime.tv_nsec);
}

static __always_inline u64 inode_mtime(struct inode *inode)
{
	struct inode___v67 *v67 = (void *)inode;
	struct inode___v65 *v65 = (void *)inode;

	if (bpf_core_field_exists(inode->i_mtime_sec))
		return BPF_CORE_READ(inode, i_mtime_sec) * NS_PER_S +
		       BPF_CORE_READ(inode, i_mtime_nsec);
	if (bpf_core_field_exists(v67->__i_mtime))
		return BPF_CORE_READ(v67, __i_mtime.tv_sec) * NS_PER_S +
		       BPF_CORE_READ(v67, __i_mtime.tv_nsec);
	return BPF_CORE_READ(v65, i_mtime.tv_sec) * NS_PER_S + BPF_CORE_READ(v65, i_mtime.tv_nsec);
}

static __always_inline void put_caps(struct rec *r, const struct cred *cred)
{
	u64 caps = 0;

	bpf_core_read(&caps, sizeof(caps), &cred->cap_inheritable);
	put_u64(r, caps);
	bpf_core_read(&caps, sizeof(caps), &cred->cap_permitted);
	put_u64(r, caps);
	bpf_core_read(&caps, sizeof(caps), &cred->cap_effective);
	put_u64(r, caps);
}

/* Puts tty to gid, which follow env in execve and execveat. */
static __always_inline void put_exec(struct rec *r, struct task_struct *task)
{
	struct file *exe = BPF_CORE_READ(task, mm, exe_file);
	struct pid *pgrp = BPF_CORE_READ(task, signal, pids[PIDTYPE_PGID]);
	const struct cred *cred = BPF_CORE_READ(task, cred);
	struct inode *inode = BPF_CORE_READ(exe, f_inode);
	u32 level = BPF_CORE_READ(task, thread_pid, level);

	put_s32(r, task_tty(task));
	put_s64(r, pid_nr(pgrp, level));
	put_s32(r, task_loginuid(task));
	put_u32(r, exe_flags((u64)exe, (u64)cred));
	put_caps(r, cred);
	put_u64(r, BPF_CORE_READ(inode, i_ino));
	put_u64(r, inode_ctime(inode));
	put_u64(r, inode_mtime(inode));
	put_u32(r, BPF_CORE_READ(cred, euid.val));
	put_path(r, &exe->f_path);
	put_s64(r, pid_nr(pgrp, 0));
	put_u32(r, BPF_CORE_READ(cred, egid.val));
}

/* Reads the result again at each call: the verifier does not remember it, and so does not follow
 * the rest of the program once for each outcome. */
static __always_inline bool exec_failed(const struct rec *r)
{
	return ONCE(((s64 *)r->ctx)[1]) < 0;
}

static __always_inline bool is_execveat(const struct rec *r)
{
	return call_nr(r) == NR_execveat;
}

/* Puts exe and args of the new program; if the exec failed, of the program that was requested. */
static __always_inline void put_exec_command(struct rec *r, struct task_struct *task, u64 argv)
{
	u64 exe;

	if (!exec_failed(r)) {
		put_command(r, task);
		return;
	}
	exe = user_ulong(argv, 0);
	put_user_text(r, exe);
	put_strings(r, argv, 1);
}

/* Puts the initial environment of the running program. */
static __always_inline void put_env(struct rec *r, struct task_struct *task)
{
	u64 at = BPF_CORE_READ(task, mm, env_start);
	u64 end = BPF_CORE_READ(task, mm, env_end);

	put_user_bytes_apart(r, at, end - at, ARGS_SZ);
}

static __always_inline void put_exec_env(struct rec *r, struct task_struct *task, u64 envp)
{
	if (exec_failed(r))
		put_strings(r, envp, 0);
	else
		put_env(r, task);
}

/* Puts the name by which the running program was executed: the kernel stores it behind the
 * environment. */
static __always_inline void put_program_name(struct rec *r, struct task_struct *task)
{
	put_user_text(r, BPF_CORE_READ(task, mm, env_end));
}

static __always_inline void put_exec_name(struct rec *r, struct task_struct *task)
{
	if (!exec_failed(r))
		put_program_name(r, task);
	else if (!put_guarded(r, is_execveat(r)))
		put_user_text(r, text_addr(arg(r, is_execveat(r))));
	widen_off(r);
}

#define EXEC_TEXT_SZ (PROC_TEXT_SZ + ARGS_SZ + 2 * PATH_SZ)

_Static_assert(EVT_GOES_ON(EXECVEAT_X, EXECVE_X, 3), "a descriptor, and flags, twice");

/* Serves execve and execveat. The arguments of execveat are shifted by one; its dirfd and flags
 * come last. */
SEC("?tp_btf/sys_exit")
int fill_exec(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 argv, envp;
	struct rec r;

	if (!begin_like(&r, ctx, EVT_EXECVEAT_X_FIXED_SZ + EXEC_TEXT_SZ))
		return 0;
	argv = text_addr(arg(&r, 1 + is_execveat(&r)));
	envp = text_addr(arg(&r, 2 + is_execveat(&r)));
	put_s64(&r, r.ret);
	put_exec_command(&r, task, argv);
	widen_off(&r);
	put_identity(&r, task);
	put_exec_env(&r, task, envp);
	widen_off(&r);
	put_exec(&r, task);
	if (is_execveat(&r))
		put_fd(&r, arg(&r, 0));
	widen_like(&r);
	put_exec_name(&r, task);
	if (is_execveat(&r)) {
		put_u32(&r, convert_execveat_flags(arg(&r, 4)));
		put_raw32(&r, arg(&r, 4), EXECVEAT_FLAGS_NAMED);
	}
	return commit_like(&r);
}

/* Sends the event of a successful exec. The call's own arguments are gone by now. */
static __always_inline int send_exec(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct rec r;

	if (is_self(task) || !begin_event_after(&r, ctx, EXECVE_X, EXEC_TEXT_SZ))
		return 0;
	r.slot = this_slot(); /* as in send_fork */
	put_s64(&r, 0);
	put_command(&r, task);
	widen_off(&r);
	put_identity(&r, task);
	put_env(&r, task);
	widen_off(&r);
	put_exec(&r, task);
	put_program_name(&r, task);
	widen_off(&r);
	r.slot = NULL;
	return commit_event(&r);
}

SEC("?tp_btf/sched_process_exec")
int report_exec(u64 *ctx)
{
	return PINNED(send_exec(ctx));
}

/* Serves capset: the task's capabilities after the call, not those requested. */
SEC("?tp_btf/sys_exit")
int fill_capset(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct rec r;

	if (!begin(&r, ctx, CAPSET_X, 0))
		return 0;
	put_s64(&r, r.ret);
	put_caps(&r, BPF_CORE_READ(task, cred));
	return commit(&r);
}

/* Structures of capget and capset; ABI. Version 1 has no second struct user_cap_data. */
struct user_cap_header {
	u32 version;
	s32 pid;
};

struct user_cap_data {
	u32 effective, permitted, inheritable;
};

#define CAPABILITY_VERSION_1 0x19980330

/* Puts the capabilities that the call returned; without values if it failed. */
static __always_inline void put_cap_data(struct rec *r, u64 addr, u32 n)
{
	struct user_cap_data d[2] = {};

	if (r->ret < 0 || !addr || bpf_probe_read_user(d, n * sizeof(d[0]), (void *)addr)) {
		put_empty(r);
		put_empty(r);
		put_empty(r);
		return;
	}
	put_u64(r, d[0].effective | (u64)d[1].effective << 32);
	put_u64(r, d[0].permitted | (u64)d[1].permitted << 32);
	put_u64(r, d[0].inheritable | (u64)d[1].inheritable << 32);
}

SEC("?tp_btf/sys_exit")
int fill_capget(u64 *ctx)
{
	struct user_cap_header head;
	struct rec r;
	bool known;

	if (!begin(&r, ctx, CAPGET_X, 0))
		return 0;
	known = !bpf_probe_read_user(&head, sizeof(head), (void *)arg(&r, 0));
	put_s64(&r, r.ret);
	put_cap_data(&r, arg(&r, 1), known && head.version == CAPABILITY_VERSION_1 ? 1 : 2);
	if (known) {
		put_u32(&r, head.version);
		put_s64(&r, head.pid);
	} else {
		put_empty(&r);
		put_empty(&r);
	}
	return commit(&r);
}

#define PR_GET_PDEATHSIG 2
#define PR_SET_NAME 15
#define PR_GET_NAME 16
#define PR_GET_TSC 25
#define PR_GET_CHILD_SUBREAPER 37

/* Returns whether the option writes an int to the address in its second argument. */
static __always_inline bool prctl_gives_int(u32 option)
{
	return option == PR_GET_PDEATHSIG || option == PR_GET_TSC ||
	       option == PR_GET_CHILD_SUBREAPER;
}

#define PR_SET_SECCOMP 22
#define PR_MCE_KILL 33

/* Returns whether the option has more than two arguments. The other registers of older options are
 * arbitrary. */
static __always_inline bool prctl_takes_more(u32 option)
{
	return option == PR_SET_SECCOMP || option >= PR_MCE_KILL;
}

/* Puts the text at @addr, cut to the length of a thread name. */
static __always_inline void put_thread_name(struct rec *r, u64 addr)
{
	s64 n = bpf_probe_read_user_str(put_here(r), COMM_SZ, (void *)addr);

	put_str_done(r, n < 0 ? (s64)store_na(put_here(r)) : n, COMM_SZ);
}

SEC("?tp_btf/sys_exit")
int fill_prctl(u64 *ctx)
{
	struct rec r;
	u32 option;
	u64 v;

	if (!begin(&r, ctx, PRCTL_X, PATH_SZ))
		return 0;
	option = arg(&r, 0);
	v = arg(&r, 1);
	put_s64(&r, r.ret);
	put_u32(&r, option);
	if (option == PR_SET_NAME || (option == PR_GET_NAME && r.ret >= 0)) {
		put_thread_name(&r, v);
		put_s64(&r, 0);
	} else if (prctl_gives_int(option) && r.ret >= 0) {
		put_no_text(&r);
		put_s64(&r, user_s32(v, -1));
	} else {
		put_no_text(&r);
		put_s64(&r, v);
	}
	for (u32 i = 2; i < 5; i++)
		if (prctl_takes_more(option))
			put_u64(&r, arg(&r, i));
		else
			put_empty(&r);
	return commit(&r);
}

/* Index of the type of the dynamic parameter. */
enum ptrace_dyn { PTRACE_DYN_U64, PTRACE_DYN_SIG };

static __always_inline void put_dyn_u64(struct rec *r, u64 v)
{
	u8 *to = put_here(r);

	to[0] = PTRACE_DYN_U64;
	store64(to + 1, v);
	put_done(r, 9);
}

static __always_inline void put_dyn_sig(struct rec *r, u8 sig)
{
	u8 *to = put_here(r);

	to[0] = PTRACE_DYN_SIG;
	to[1] = sig;
	put_done(r, 2);
}

#define PTRACE_PEEKUSR 3
#define PTRACE_CONT 7
#define PTRACE_SINGLESTEP 9
#define PTRACE_DETACH 17
#define PTRACE_SYSCALL 24

SEC("?tp_btf/sys_exit")
int fill_ptrace(u64 *ctx)
{
	u32 request;
	struct rec r;
	u64 data;

	if (!begin(&r, ctx, PTRACE_X, 2 * 9))
		return 0;
	request = arg(&r, 0);
	data = arg(&r, 3);
	put_s64(&r, r.ret);
	put_dyn_u64(&r, arg(&r, 2));
	if (request == PTRACE_CONT || request == PTRACE_SINGLESTEP || request == PTRACE_DETACH ||
	    request == PTRACE_SYSCALL)
		put_dyn_sig(&r, data);
	else if (request >= 1 && request <= PTRACE_PEEKUSR)
		put_dyn_u64(&r, r.ret < 0 ? 0 : user_ulong(data, 0));
	else
		put_dyn_u64(&r, data);
	put_u16(&r, convert_ptrace_request(request));
	put_s64(&r, (s32)arg(&r, 1));
	put_raw32(&r, convert_ptrace_request(request) ? 0 : request, 0);
	return commit(&r);
}

/* Serves process_vm_readv and process_vm_writev: data of the caller's own memory. */
SEC("?tp_btf/sys_exit")
int fill_process_vm(u64 *ctx)
{
	u32 nr;
	struct rec r;

	if (!call_claim())
		return 0;
	nr = this_slot()->call.nr;
	if (!begin_call(&r, ctx, nr_event[nr & (DRV_MAX_NR - 1)], EVT_PROCESS_VM_READV_X_NPARAMS,
			EVT_PROCESS_VM_READV_X_FIXED_SZ + cfg.snaplen))
		return 0;
	put_s64(&r, r.ret);
	put_s64(&r, (s32)arg(&r, 0));
	put_user_vector(&r, arg(&r, 1), arg(&r, 2), r.ret);
	return commit(&r);
}
