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

/* What a capture showed of a descriptor up to the moment of its state, where a state of another
 * origin leaves it to be guessed. */
struct scap_fd_so_far {
	uint8_t known; /* 0: nothing of this is */
	uint8_t uncertain; /* events that were lost may have changed it */
	uint8_t swapped; /* the ends are in the opposite order of that of the capture */
	uint8_t outcome_known, has_latency; /* of its connect */
	uint16_t flags; /* enum sinsp_fd_flags */
	uint16_t error; /* of its connect; 0: success */
	uint64_t connect_ns; /* of a pidfd: the PID of its process */
	uint64_t latency_ns;
	const char *shown; /* its name, if that does not follow from the ends; else "" */
	const char *given; /* the path given to open, if it is not the name; else "" */
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
	struct scap_fd_so_far so_far;
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

/* The system call that a thread is in, or made last. */
enum scap_call_flags {
	SCAP_CALL_OPEN = 1 << 0, /* it did not return yet */
	SCAP_CALL_HIDDEN = 1 << 1, /* of its enter event, as SCAP_EVT_F_* */
	SCAP_CALL_BEFORE = 1 << 2,
	SCAP_CALL_INCOMPLETE = 1 << 3, /* its enter event lacks a text */
};

/* What a capture showed of a thread up to the moment of its state. */
struct scap_thread_so_far {
	uint8_t known; /* 0: nothing of this is */
	uint8_t missing_switch; /* a switch away from a CPU is missing */
	uint8_t has_children, born; /* it created processes; its first event was seen */
	uint8_t vtid_unknown; /* vtid and vpid are assumed */
	uint8_t cwd_unknown;
	uint8_t exited; /* a main thread that ended before others of its process */
	uint8_t own_fs; /* it shares root and cwd not with its main thread */
	uint8_t dead; /* it ended, and may still have a last event; other tools do not see it */
	uint8_t uncertain, cwd_uncertain; /* events that were lost may have changed it */
	uint8_t call_flags; /* enum scap_call_flags */
	uint16_t enter_type; /* of the call's enter event; UINT16_MAX: no call */
	uint32_t cpu_usr, cpu_sys, cpu_usr_delta, cpu_sys_delta; /* 1/100 s */
	uint64_t enter_ns, latency_ns;
	int64_t enter_fd; /* -1: none */
	uint64_t exec_ns; /* time on CPUs, by switches */
	struct scap_text enter; /* the enter event, if the exit event does not repeat it */
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
	struct scap_thread_so_far so_far;
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

/* The thread on a CPU, and the start of its turn, as switches showed them. */
struct scap_turn {
	uint64_t since_ns; /* 0: no switch seen */
	int64_t tid; /* 0: idle; -1: unknown */
	uint32_t cpu;
	uint8_t has_gaps; /* a switch is missing, on any CPU */
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
	const struct scap_turn *turns; /* of a state in the middle of a capture */
	size_t n_turns;
};

#endif /* SCAP_STATE_H */
