/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread, and the table of them by tid. Threads of a process share its arguments, and
 * files and directory with whom they were told to. Identity is (tid, start_ns). At most 1 KiB each
 * without files.
 */
#ifndef SINSP_STATE_THREAD_H
#define SINSP_STATE_THREAD_H

#include "fd.h"
#include "sinsp.h"

struct sinsp_fs; /* state/process.h */
struct sinsp_container; /* container/containers.h */
struct sinsp_process; /* what the threads of a process share: state/process.h */
struct sinsp_saved_enter; /* parse/enter.h */

#define SINSP_NO_TYPE 0xffff
#define SINSP_TICK_NS 10000000ull /* /proc tells starts in these */

/* PPM_CL_*: values of the format, the clone flags that state depends on. */
enum sinsp_clone_flags {
	SINSP_CL_FILES = 1 << 0,
	SINSP_CL_FS = 1 << 1,
	SINSP_CL_NEWNS = 1 << 5,
	SINSP_CL_PARENT = 1 << 8,
	SINSP_CL_THREAD = 1 << 13,
	SINSP_CL_VFORK = 1 << 27,
	SINSP_CL_INVERTED = 1 << 16, /* the child's side of the clone came first */
	SINSP_CL_NEWUSER = 1 << 20,
	SINSP_CL_CHILD_IN_PIDNS = 1 << 29,
};

enum sinsp_suppressed {
	SINSP_SUPPRESSED_NAME = 1 << 0, /* until its process executes something else */
	SINSP_SUPPRESSED_ANCESTOR = 1 << 1, /* for good */
};

struct sinsp_thread {
	int64_t tid, pid, ptid;
	int64_t vtid, vpid;
	uint64_t start_ns, snapshot_ns;
	uint64_t as_of_ns; /* what it runs and who it is, was so then; as of an fd */
	uint64_t gone_ns; /* it was no more then; 0: not found so */
	const char *comm; /* interned */
	struct sinsp_process *proc;
	struct sinsp_files *files;
	struct sinsp_fs *fs;
	struct sinsp_thread *sibling; /* the next thread of the process */
	uint32_t flags; /* PPM_CL_* */
	uint32_t uid, gid;
	/* The call that is open in the thread: what an exit of 2022 needs of its enter. */
	uint64_t enter_ns;
	uint64_t pfmajor, pfminor; /* page faults since it began */
	/* CPU time, in hundredths of a second, that the last procinfo events told; and since the
	 * one before. */
	uint32_t cpu_usr, cpu_sys, cpu_usr_delta, cpu_sys_delta;
	uint64_t exec_ns; /* that it ran, as far as switches of the capture tell */
	uint64_t ran_ns, ran_at_ns; /* the kernel's count of it since it began, and when that was
				       told; ran_at_ns 0: it was not */
	uint64_t latency_ns; /* of the last call that ended; 0 inside a call */
	int64_t enter_fd;
	struct sinsp_saved_enter *saved; /* NULL: nothing of the enter is needed */
	uint16_t enter_type; /* the last enter's, SINSP_NO_TYPE: none yet */
	uint8_t enter_hidden;
	uint8_t enter_open; /* its exit has not come */
	uint8_t enter_before; /* it was under way when the capture began: nobody knows since when */
	uint8_t enter_lacks; /* a text of it was not in memory: its exit says all again */
	uint8_t vtid_known; /* 0: vtid and vpid are only taken to be those of the host */
	uint8_t known; /* 0: a stand-in, name "<NA>" */
	uint8_t exited; /* a main thread whose process has others */
	uint8_t resynced; /* learnt from /proc: not before events of that time came */
	uint8_t born; /* its own side of the clone was seen */
	uint8_t has_children; /* processes that it, not another thread of its process, made */
	uint8_t suppressed; /* enum sinsp_suppressed; not 0: it is not shown */
	uint8_t leaves_unseen; /* it left a CPU and no switch told so */
	uint8_t in_tree; /* the root of the tree that is shown, or its descendant */
};

/* NULL: not in the table. */
struct sinsp_thread *sinsp_thread_find(struct sinsp *s, int64_t tid);
/* The thread that @by, which may be in a pid namespace, calls @number. NULL: not known. */
struct sinsp_thread *sinsp_thread_called(struct sinsp *s, const struct sinsp_thread *by,
					 int64_t number);
const struct sinsp_fd *sinsp_thread_fd(const struct sinsp_thread *t, int64_t num);

/* The comm of its main thread, its own if that is not known. */
const char *sinsp_thread_proc_name(const struct sinsp_thread *t);

/* Main thread's values, never NULL; lists are NUL-separated with a length. */
const char *sinsp_thread_exe(const struct sinsp_thread *t);
const char *sinsp_thread_exepath(const struct sinsp_thread *t);
const char *sinsp_thread_cwd(const struct sinsp_thread *t); /* with a trailing '/' */
struct scap_text sinsp_thread_args(const struct sinsp_thread *t);

/* Whether what is known of it holds at @now_ns, the time of an event, or may be out of date since
 * records were lost. */
int sinsp_fd_is_certain(const struct sinsp *s, const struct sinsp_fd *fd, uint64_t now_ns);
int sinsp_thread_is_certain(const struct sinsp *s, const struct sinsp_thread *t, uint64_t now_ns);
int sinsp_fs_is_certain(const struct sinsp *s, const struct sinsp_fs *fs);

/* The container that the thread is in; NULL: the host, or it is not known. Borrowed until the next
 * event. */
const struct sinsp_container *sinsp_thread_container(const struct sinsp_thread *t);
/* Whether its cgroups are known, and in no container. */
int sinsp_thread_is_on_host(const struct sinsp_thread *t);
/* Name and ID of where the thread is, "host" outside of containers, "<NA>" if it is not known. The
 * name of a container is its ID as long as nobody told the name. Borrowed until the next event. */
const char *sinsp_thread_container_name(const struct sinsp_thread *t);
const char *sinsp_thread_container_id(const struct sinsp_thread *t);

/* The name of a user or group to @t (NULL: to the host), NULL if the source does not say. */
const char *sinsp_user_name(const struct sinsp *s, const struct sinsp_thread *t, uint32_t uid);
const char *sinsp_group_name(const struct sinsp *s, const struct sinsp_thread *t, uint32_t gid);

#endif /* SINSP_STATE_THREAD_H */
