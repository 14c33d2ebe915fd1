/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's types, with only the fields that the driver reads. Each access is relocated to the
 * running kernel's layout at load (CO-RE), so order and size here are irrelevant; a field that
 * other kernel versions name differently has a flavour (___suffix).
 */
#ifndef DRIVER_KERNEL_H
#define DRIVER_KERNEL_H

#include <linux/bpf.h>
#include <stdbool.h>

#include "shared/types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* Not relocated, since its order matters: the layout is part of the kernel's ABI. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};

struct thread_info {
	u32 status; /* TS_COMPAT: in a 32-bit call */
	u32 cpu;
};

#define TS_COMPAT 0x0002

struct pid_namespace;

typedef struct {
	u32 val;
} kuid_t;

typedef struct {
	u32 val;
} kgid_t;

struct list_head {
	struct list_head *next, *prev;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* level + 1 of them */
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct task_struct *child_reaper;
	unsigned int level;
	struct ns_common ns;
};

struct qstr {
	u32 len;
	const unsigned char *name;
};

struct super_block {
	u32 s_dev;
	unsigned long s_flags;
	unsigned long s_magic;
	struct dentry *s_root;
};

struct timespec64 {
	s64 tv_sec;
	long tv_nsec;
};

struct inode;

struct address_space {
	struct inode *host;
};

struct inode {
	u16 i_mode;
	kuid_t i_uid;
	kgid_t i_gid;
	unsigned int i_flags;
	struct super_block *i_sb;
	unsigned long i_ino;
	u32 i_rdev;
	s64 i_size;
	s64 i_mtime_sec; /* from 6.11 on */
	s64 i_ctime_sec;
	u32 i_mtime_nsec;
	u32 i_ctime_nsec;
};

struct inode___v67 { /* 6.7 to 6.10 */
	struct timespec64 __i_mtime;
	struct timespec64 __i_ctime;
};

struct inode___v66 { /* 6.6 */
	struct timespec64 i_mtime;
	struct timespec64 __i_ctime;
};

struct inode___v65 { /* before */
	struct timespec64 i_mtime;
	struct timespec64 i_ctime;
};

enum pageflags {
	PG_head = 6,
};

/* Begins with the flags of its first page: a number, in a structure of its own since 6.18. */
struct folio {
	unsigned int _nr_pages; /* of a large one */
};

struct folio___earlier {
	unsigned int _folio_nr_pages;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	unsigned int f_mode;
	unsigned int f_flags;
	struct inode *f_inode;
	struct path f_path;
	const void *f_op;
	void *private_data;
};

#define FMODE_CREATED 0x100000

struct fs_struct {
	struct path root;
	struct path pwd;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *close_on_exec;
};

struct files_struct {
	struct fdtable *fdt;
};

struct kernfs_node {
	const char *name;
	struct kernfs_node *__parent; /* from 6.15 on */
	u64 id;
};

struct kernfs_node___v614 { /* before */
	struct kernfs_node *parent;
};

struct cgroup_root;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	unsigned int flags;
};

#define CSS_ONLINE 2

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root; /* of its hierarchy */
};

enum cpuhp_state {
	CPUHP_BRINGUP_CPU,
	CPUHP_TEARDOWN_CPU,
};

enum cgroup_subsys_id {
	cpuset_cgrp_id,
	cpu_cgrp_id,
	cpuacct_cgrp_id,
	io_cgrp_id,
	memory_cgrp_id,
};

struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* one per subsystem of this kernel */
	struct cgroup *dfl_cgrp; /* of the unified hierarchy */
};

struct tty_driver {
	int major;
	int minor_start;
};

struct tty_struct {
	struct tty_driver *driver;
	int index;
};

struct rlimit {
	unsigned long rlim_cur;
	unsigned long rlim_max;
};

enum { PIDTYPE_PID, PIDTYPE_TGID, PIDTYPE_PGID, PIDTYPE_SID, PIDTYPE_MAX };

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live; /* threads that have not begun to exit */
	struct pid *pids[PIDTYPE_MAX];
	struct tty_struct *tty;
	struct rlimit rlim[16];
	struct list_head thread_head;
	unsigned int is_child_subreaper : 1;
};

struct nsproxy {
	struct pid_namespace *pid_ns_for_children;
};

#define RLIMIT_NOFILE 7

struct percpu_counter {
	s64 count;
};

enum { MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES, MM_COUNTERS };

struct mm_struct {
	atomic_t mm_users;
	unsigned long total_vm;
	unsigned long start_stack;
	unsigned long arg_start;
	unsigned long arg_end;
	unsigned long env_start;
	unsigned long env_end;
	struct percpu_counter rss_stat[MM_COUNTERS]; /* from 6.2 on */
	struct file *exe_file;
};

typedef struct {
	s64 counter;
} atomic_long_t;

struct mm_rss_stat___v61 {
	atomic_long_t count[MM_COUNTERS];
};

struct mm_struct___v61 { /* before */
	struct mm_rss_stat___v61 rss_stat;
};

typedef struct {
	u64 val; /* before 6.3 two u32, in the same order */
} kernel_cap_t;

struct user_namespace {
	int level; /* 0: the first one */
};

struct cred {
	kuid_t euid;
	kgid_t egid;
	kuid_t fsuid;
	kgid_t fsgid;
	kernel_cap_t cap_inheritable;
	kernel_cap_t cap_permitted;
	kernel_cap_t cap_effective;
	struct user_namespace *user_ns;
};

struct sched_entity {
	u64 sum_exec_runtime;
	u64 nr_migrations;
};

struct sched_info {
	u64 run_delay; /* with CONFIG_SCHED_INFO; ns in the run queue */
};

struct task_io_accounting { /* with CONFIG_TASK_IO_ACCOUNTING */
	u64 read_bytes;
	u64 write_bytes;
	u64 cancelled_write_bytes;
};

/* The quota of a cgroup: with CONFIG_CFS_BANDWIDTH. */
struct cfs_rq___quota {
	int throttle_count;
};

struct sched_entity___quota {
	struct cfs_rq___quota *cfs_rq; /* with CONFIG_FAIR_GROUP_SCHED */
};

struct task_struct___v617 { /* before 6.18 */
	struct sched_entity___quota se;
};

struct task_struct___v618 { /* from 6.18 on */
	bool throttled;
};

/* Probes of the thread: with CONFIG_UPROBES. */
struct return_instance {
	unsigned long stack; /* where the return address lies that the probe's took the place of */
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances; /* the innermost first */
	unsigned long vaddr; /* of the instruction that runs at xol_vaddr */
	void *active_uprobe;
	unsigned long xol_vaddr;
};

struct thread_struct {
	unsigned long fsbase; /* set by calls, too: what instructions set, at the next switch */
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	void *stack;
	u32 on_cpu; /* a byte since 7.2: libbpf fits loads of unsigned numbers only */
	struct sched_entity se;
	struct sched_info sched_info;
	struct task_io_accounting ioac;
	unsigned int frozen : 1; /* by its cgroup v2 */
	int pid;
	int tgid;
	unsigned int flags;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct list_head children;
	struct list_head thread_node;
	char comm[16];
	struct mm_struct *mm;
	struct fs_struct *fs;
	struct files_struct *files;
	struct signal_struct *signal;
	struct nsproxy *nsproxy;
	struct pid *thread_pid;
	const struct cred *cred;
	struct css_set *cgroups;
	int pagefault_disabled;
	kuid_t loginuid; /* with CONFIG_AUDIT */
	int exit_code;
	unsigned long nvcsw, nivcsw;
	u64 start_boottime;
	u64 self_exec_id; /* number of programs that it has run */
	unsigned long min_flt;
	unsigned long maj_flt;
	struct uprobe_task *utask;
	struct thread_struct thread;
};

/* __state and exit_state of a task that does not come back. */
#define STATE_DEAD (0x10 | 0x20 | 0x80)
#define STATE_INTERRUPTIBLE 0x1
#define STATE_SLEEPS (STATE_INTERRUPTIBLE | 0x2)
#define TASK_NOLOAD 0x400 /* an idle kernel thread */
#define TASK_FROZEN 0x8000 /* by the freezer: of all tasks, or of a cgroup v1 */
#define STATE_STOPPED (0x4 | 0x8) /* by a signal, by a tracer: before or behind a call */

/* Values of task_states: the kernel's, and two. */
#define SHOWN_STATES 0xf
#define SHOWN_IDLE 16
#define SHOWN_DEAD 32
#define SHOWN_THROTTLED 64
#define SHOWN_FROZEN 128

/* Returns the state of a task that comes back as task_states has it. */
static __always_inline u8 shown_state(u32 state)
{
	return state & TASK_NOLOAD   ? SHOWN_IDLE
	       : state & TASK_FROZEN ? SHOWN_FROZEN
				     : state & SHOWN_STATES;
}

#define PF_EXITING 0x4
#define PF_IO_WORKER 0x10
#define PF_USER_WORKER 0x4000
#define PF_KTHREAD 0x200000

/* Sockets. */
struct in6_addr {
	u8 in6_u[16];
};

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	volatile u8 skc_state;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	u16 sk_type;
	u16 sk_protocol;
	int sk_err;
	atomic_t sk_drops;
	u32 sk_ack_backlog;
	u32 sk_max_ack_backlog;
};

/* A TCP connection: struct tcp_sock begins with the others. */
struct inet_connection_sock {
	u8 icsk_ca_state : 5;
};

struct tcp_sock {
	u32 srtt_us; /* times 8 */
	u32 mdev_us; /* times 4 */
	u32 snd_cwnd;
	u32 total_retrans;
	u64 bytes_received;
	u64 bytes_acked;
};

struct sk_buff {
	char cb[48]; /* TCP: struct tcp_skb_cb */
	u32 len;
	u16 protocol; /* big endian */
	u16 network_header; /* offset from head */
	u8 *head;
	struct sock *sk;
};

struct tcp_skb_cb {
	u16 tcp_gso_segs;
};

struct inet_sock {
	u32 inet_saddr;
	u16 inet_sport;
};

struct ipv6_pinfo {
	struct in6_addr saddr;
};

struct sockaddr_un {
	u16 sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[1];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct socket {
	struct file *file;
	struct sock *sk;
};

/* Requests of block devices. */
struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct bio {
	struct blkcg_gq *bi_blkg; /* of the cgroup that the I/O is for */
};

struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	u32 cmd_flags;
	u32 __data_len; /* what is left to do */
	struct bio *bio;
};

#define REQ_OP_MASK 0xff

/* Requests of io_uring. Fields that only one kind has lie at its beginning. */
struct io_cqe {
	u64 user_data;
	int fd; /* until it is completed */
};

struct io_uring_task {
	struct task_struct *task;
};

struct io_ring_ctx {
	u32 compat : 1;
};

struct io_kiocb {
	u8 opcode;
	u32 flags;
	struct io_cqe cqe;
	struct io_ring_ctx *ctx;
	struct io_uring_task *tctx;
};

struct io_kiocb___v612 { /* before 6.13 */
	struct task_struct *task;
};

struct filename {
	const char *name;
};

struct open_how___kernel {
	u64 flags;
};

struct io_open {
	int dfd;
	u32 file_slot;
	struct open_how___kernel how;
};

struct io_open___v619 {
	struct filename *filename;
};

/* Since 7.0: copied, but not looked up yet. */
struct delayed_filename {
	struct filename *__incomplete_filename;
};

struct io_open___v70 {
	struct delayed_filename filename;
};

struct io_rw {
	u64 addr; /* of the buffer, or of a vector */
	u32 len;
};

struct io_sr_msg {
	void *umsg; /* struct user_msghdr */
	void *buf;
	u32 len;
	u32 done_io; /* moved before: the buffer's address is behind these bytes */
	u32 msg_flags;
	u16 flags;
};

struct io_close {
	int fd;
	u32 file_slot;
};

struct io_accept {
	int flags;
	u32 file_slot;
};

struct io_socket {
	int domain;
	int type;
	int protocol;
	int flags;
	u32 file_slot;
};

struct kernel_siginfo {
	int si_signo;
	int si_code;
	union {
		struct {
			int _pid;
		} _kill;
	} _sifields;
};

#pragma clang attribute pop

/* Known to the kernel by its name: what a map's value has to hold for a program to be run on a
 * task's way to user mode. */
struct bpf_task_work {
	u64 opaque;
} __attribute__((aligned(8)));

#endif /* DRIVER_KERNEL_H */
