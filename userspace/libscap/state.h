/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the machine when a capture began: threads, their files, users, groups, interfaces.
 * Read from the live kernel or from the blocks of a file, and written to files. Text is
 * NUL-terminated and never NULL; lists are NUL-separated, with a length.
 */
#ifndef SCAP_STATE_H
#define SCAP_STATE_H

#include <stddef.h>
#include <stdint.h>

enum scap_fd_type {
	SCAP_FD_FILE = 1,
	SCAP_FD_DIRECTORY = 2,
	SCAP_FD_IPV4_SOCK = 3,
	SCAP_FD_IPV6_SOCK = 4,
	SCAP_FD_IPV4_SERVSOCK = 5,
	SCAP_FD_IPV6_SERVSOCK = 6,
	SCAP_FD_FIFO = 7,
	SCAP_FD_UNIX_SOCK = 8,
	SCAP_FD_EVENT = 9,
	SCAP_FD_UNSUPPORTED = 10,
	SCAP_FD_SIGNALFD = 11,
	SCAP_FD_EVENTPOLL = 12,
	SCAP_FD_INOTIFY = 13,
	SCAP_FD_TIMERFD = 14,
	SCAP_FD_NETLINK = 15,
	SCAP_FD_FILE_V2 = 16,
	SCAP_FD_BPF = 17,
	SCAP_FD_USERFAULTFD = 18,
	SCAP_FD_IOURING = 19,
	SCAP_FD_MEMFD = 20,
	SCAP_FD_PIDFD = 21,
	SCAP_FD_MAX
};

enum scap_l4proto {
	SCAP_L4_UNKNOWN,
	SCAP_L4_NA,
	SCAP_L4_TCP,
	SCAP_L4_UDP,
	SCAP_L4_ICMP,
	SCAP_L4_RAW,
};

struct scap_fd_info {
	int64_t fd;
	uint64_t ino;
	uint8_t type; /* enum scap_fd_type */
	uint8_t l4proto;
	uint16_t sport, dport; /* host order; a server socket has only sport */
	uint8_t sip[16], dip[16]; /* network order; IPv4 in the first four */
	uint32_t open_flags; /* PPM_O_* */
	uint32_t dev;
	uint64_t unix_src, unix_dst;
	const char *name; /* path, or name of the object */
};

/*
 * Returns the fd type of an anonymous inode by the kernel's name for it ("[eventfd]"); 0: unknown.
 */
enum scap_fd_type scap_anon_type(const char *kind);

struct scap_text {
	const char *p;
	size_t len; /* length, including the trailing NUL if there is one */
};

/* Where the file of a program lies: values of execve_flags in the format. */
enum scap_exe_kind {
	SCAP_EXE_UPPER_LAYER =
		1 << 1, /* in the upper layer of an overlay: changed or created there */
	SCAP_EXE_MEMFD = 1 << 2,
	SCAP_EXE_LOWER_LAYER = 1 << 3,
};

struct scap_thread_info {
	uint64_t tid, pid, ptid, sid, vpgid;
	int64_t vtid, vpid;
	const char *comm, *exe, *exepath, *cwd, *root;
	struct scap_text args, env, cgroups;
	uint64_t fdlimit;
	uint32_t flags; /* PPM_CL_* (clone_flags) */
	uint32_t uid, gid;
	uint32_t vmsize_kb, vmrss_kb, vmswap_kb;
	uint64_t pfmajor, pfminor;
	uint32_t tty;
	int32_t loginuid;
	uint8_t exe_writable;
	uint8_t tty_known,
		caps_known; /* 0: the source has no capabilities, these fields are not set */
	uint8_t exe_kind, exe_kind_known; /* enum scap_exe_kind */
	int64_t pgid; /* process group ID as seen in the first PID namespace; 0: unknown */
	uint64_t exe_ino, exe_ctime_ns, exe_mtime_ns; /* 0: unknown */
	uint64_t pidns_start_ns; /* start of the first process of its PID namespace; 0: unknown */
	uint64_t cap_inheritable, cap_permitted, cap_effective;
	uint64_t start_ns; /* since the epoch; 0: unknown (files do not have it) */
	uint64_t ran_ns; /* CPU time since it began */
	uint64_t ran_at_ns; /* when that was read; 0: unknown */
	uint64_t snapshot_ns; /* when the thread was read; older events do not change it; 0: unknown
			       */
	const struct scap_fd_info *fds;
	size_t n_fds;
};

struct scap_user {
	uint32_t uid, gid;
	const char *name, *home, *shell;
};

struct scap_group {
	uint32_t gid;
	const char *name;
};

struct scap_iface {
	int ipv6;
	uint8_t addr[16], netmask[16], bcast[16]; /* network order */
	uint64_t linkspeed;
	const char *name;
};

struct scap_machine {
	uint32_t n_cpus;
	uint64_t memory_bytes;
	uint64_t max_pid;
	uint64_t boot_ns; /* since the epoch; 0: unknown */
	char hostname[128];
};

struct scap_state {
	struct scap_machine machine;
	const struct scap_thread_info *threads;
	size_t n_threads;
	const struct scap_user *users;
	size_t n_users;
	const struct scap_group *groups;
	size_t n_groups;
	const struct scap_iface *ifaces;
	size_t n_ifaces;
};

#endif /* SCAP_STATE_H */
