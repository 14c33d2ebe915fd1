/* SPDX-License-Identifier: Apache-2.0 */
/* A thread. Threads of a process share struct sinsp_process; descriptors and directory are shared
 * by the flags of clone. (tid, start_ns) identifies a thread. At most 1 KiB each without
 * descriptors. */
#ifndef SINSP_STATE_THREAD_H
#define SINSP_STATE_THREAD_H

#include "fd_table.h"
#include "sinsp.h"

struct sinsp_fs; /* state/process.h */
struct sinsp_container; /* container/containers.h */
struct sinsp_process; /* state/process.h */
struct sinsp_saved_enter; /* thread_table.c */

#define SINSP_NO_TYPE 0xffff
#define SINSP_TICK_NS 10000000ull /* resolution of start times in /proc */

/* PPM_CL_*: values of the format, the clone flags that state depends on. */
enum sinsp_clone_flags {
	SINSP_CL_FILES = 1 << 0,
	SINSP_CL_FS = 1 << 1,
	SINSP_CL_NEWNS = 1 << 5,
	SINSP_CL_PARENT = 1 << 8,
	SINSP_CL_THREAD = 1 << 13,
	SINSP_CL_VFORK = 1 << 27,
	SINSP_CL_INVERTED = 1 << 16, /* the child's event came first */
	SINSP_CL_NEWUSER = 1 << 20,
	SINSP_CL_CHILD_IN_PIDNS = 1 << 29,
};

enum sinsp_suppressed {
	SINSP_SUPPRESSED_NAME = 1 << 0, /* until the next exec of its process */
	SINSP_SUPPRESSED_ANCESTOR = 1 << 1, /* permanent */
};

/* What a thread did, as sums of its slices (timeline/timeline.h). */
enum slice_sum {
	SLICE_SUM_RUNNING,
	SLICE_SUM_RUNNABLE,
	SLICE_SUM_BLOCKED,
	SLICE_SUM_UNKNOWN,
	SLICE_SUMS
};

/* CPU time as read from /proc by sinsp_cpu_use_read (state/cpu_use.h). */
struct sinsp_cpu_use {
	uint64_t at_ns; /* CLOCK_BOOTTIME of the last read; 0: none */
	uint64_t start_ns, user_ns, system_ns; /* of that read */
	double user, system; /* percent of one CPU in the interval before it */
	uint8_t known; /* these two are */
};

struct sinsp_thread {
	int64_t tid, pid, ptid;
	int64_t vtid, vpid;
	uint64_t start_ns, snapshot_ns;
	uint64_t as_of_ns; /* time at which identity and program are known to be correct */
	uint64_t gone_ns; /* /proc no longer has it; 0: not found missing */
	const char *comm; /* interned */
	struct sinsp_process *proc;
	struct sinsp_files *files;
	struct sinsp_fs *fs;
	struct sinsp_thread *sibling, *prev_sibling; /* of the process */
	uint32_t flags; /* PPM_CL_* */
	uint32_t uid, gid;
	/* The open call: what an exit event of 2022 needs of its enter. */
	uint64_t enter_ns;
	uint64_t pfmajor, pfminor; /* page faults since the start */
	/* CPU time in 1/100 s of the last procinfo event, and the difference to the one before. */
	uint32_t cpu_usr, cpu_sys, cpu_usr_delta, cpu_sys_delta;
	struct sinsp_cpu_use *cpu_use; /* NULL: none was read */
	uint64_t exec_ns; /* time on CPUs by the capture's switches */
	uint64_t ran_ns, ran_at_ns; /* the kernel's count since the start, and the time of that
				       count; ran_at_ns 0: no count yet */
	uint64_t slice_ns[SLICE_SUMS]; /* of its slices so far */
	uint64_t latency_ns; /* of the last call that returned; 0 inside a call */
	int64_t enter_fd;
	struct sinsp_saved_enter *saved; /* or the sample of the call; NULL: not saved */
	uint16_t enter_type; /* of the last enter; SINSP_NO_TYPE: none */
	uint8_t enter_hidden;
	uint8_t enter_open; /* no exit event yet */
	uint8_t enter_before; /* the call began before the capture: its start is unknown */
	uint8_t enter_incomplete; /* a text was not in memory at the enter: the exit event repeats
				     all */
	uint8_t vtid_known; /* 0: vtid and vpid are assumed to be tid and pid */
	uint8_t known; /* 0: a stand-in, name "<NA>" */
	uint8_t exited; /* an ended main thread of a process with other threads */
	uint8_t resynced; /* read from /proc, ahead of the events */
	uint8_t born; /* the child's own event was seen */
	uint8_t has_children; /* it created processes itself */
	uint8_t suppressed; /* enum sinsp_suppressed; not 0: hidden */
	uint8_t missing_switch; /* a switch away from a CPU is missing */
	uint8_t in_tree; /* part of the selected process tree */
};

/* Returns whether the thread has descriptors that no main thread shares with it: all tables are
 * seen once if those of others are left out. */
static inline int sinsp_thread_owns_files(const struct sinsp_thread *t)
{
	return t->tid == t->pid || t->files->refs == 1;
}

/* Returns NULL if the thread is not in the table. */
struct sinsp_thread *sinsp_thread_find(struct sinsp *s, int64_t tid);
/* Returns the thread that has @number in the PID namespace of @by, or NULL. */
struct sinsp_thread *sinsp_thread_in_pidns(struct sinsp *s, const struct sinsp_thread *by,
					   int64_t number);
const struct sinsp_fd *sinsp_thread_fd(const struct sinsp_thread *t, int64_t num);

/* Returns comm of the main thread, of @t if that is unknown. */
const char *sinsp_thread_proc_name(const struct sinsp_thread *t);

/* Values of the main thread, never NULL; lists are separated by NULs, with a length. */
const char *sinsp_thread_exe(const struct sinsp_thread *t);
const char *sinsp_thread_exepath(const struct sinsp_thread *t);
const char *sinsp_thread_cwd(const struct sinsp_thread *t); /* with a trailing '/' */
struct scap_text sinsp_thread_args(const struct sinsp_thread *t);

/* Return whether the state is certain at @now_ns, the time of an event: not older than a loss of
 * records that may have changed it. */
int sinsp_fd_is_certain(const struct sinsp *s, const struct sinsp_fd *fd, uint64_t now_ns);
int sinsp_thread_is_certain(const struct sinsp *s, const struct sinsp_thread *t, uint64_t now_ns);
int sinsp_fs_is_certain(const struct sinsp *s, const struct sinsp_fs *fs);

/* Returns the container; NULL: the host, or unknown. Borrowed until the next event. */
const struct sinsp_container *sinsp_thread_container(const struct sinsp_thread *t);
/* Returns whether the cgroups are known and belong to no container. */
int sinsp_thread_is_on_host(const struct sinsp_thread *t);
/* Return name and ID of the container, "host" outside of containers, "<NA>" if unknown. A container
 * without a name has its ID for it. Borrowed until the next event. */
const char *sinsp_thread_container_name(const struct sinsp_thread *t);
const char *sinsp_thread_container_id(const struct sinsp_thread *t);

/* Return the name of a user or group as @t sees it (NULL: on the host), or NULL. */
const char *sinsp_user_name(const struct sinsp *s, const struct sinsp_thread *t, uint32_t uid);
const char *sinsp_group_name(const struct sinsp *s, const struct sinsp_thread *t, uint32_t gid);

#endif /* SINSP_STATE_THREAD_H */
