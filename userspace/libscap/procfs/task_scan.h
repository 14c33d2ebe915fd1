/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text files in a thread's /proc directory. */
#ifndef SCAP_PROCFS_TASK_SCAN_H
#define SCAP_PROCFS_TASK_SCAN_H

#include "procfs/proc_file.h"
#include "state.h"

#define TASK_LIST_MAX 4096 /* maximum bytes kept of arguments, of the environment, of cgroups */

/* Memory for a thread's texts, until the next thread is read. */
struct task_bufs {
	struct proc_buf stat, status, cmdline, environ, cgroup, limits, loginuid;
	struct proc_buf exepath, cwd, root;
	struct proc_buf cgroup_list; /* "subsys=path\0" */
	struct proc_buf v2_controllers; /* of the machine, read once by the caller */
	uint64_t ticks_per_s;
	int no_environ;
};
void task_bufs_init(struct task_bufs *b);
void task_bufs_fini(struct task_bufs *b);

struct task_extra {
	uint64_t n_threads;
	int kthread;
	int ended; /* zombie: its parent, or another thread, has not waited yet */
};

/* Reads a thread's own values from stat and status in @dirfd. Its start is in nanoseconds of the
 * boot clock. Returns 0, or a negative errno: the thread is gone. */
int task_read_own(struct scap_thread_info *t, struct task_extra *x, struct task_bufs *b, int dirfd);

/* Reads what the threads of a process share. Unreadable parts are empty. */
void task_read_shared(struct scap_thread_info *t, struct task_bufs *b, int dirfd, int kthread);

/* Returns the process of a thread: its Tgid, or 0. */
uint64_t task_read_tgid(struct task_bufs *b, int dirfd);

#endif /* SCAP_PROCFS_TASK_SCAN_H */
