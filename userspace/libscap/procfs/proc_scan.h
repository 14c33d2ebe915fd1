/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the state of the running machine from /proc. Threads other than the first of each process
 * come from the driver's task iterator if there is one: a large machine has mostly those. */
#ifndef SCAP_PROCFS_PROC_SCAN_H
#define SCAP_PROCFS_PROC_SCAN_H

#include "procfs/state_build.h"
#include "scap.h"

struct scap_scan_opts {
	size_t sz;
	const char *proc; /* NULL: /proc */
	int no_environ;
	int no_files; /* read threads without their files */
	int no_users; /* and without groups */
	int64_t epoch_offset_ns; /* added to CLOCK_BOOTTIME gives the time since the epoch */
	uint32_t skip_pid; /* a process to leave out, 0: none */
	int task_rows_fd; /* an iterator (driver/shared/task_row.h), read to its end; 0: none */
	/* Opens an iterator over the files of a thread (driver/shared/file_row.h), or returns a
	 * negative errno: /proc is read instead. Called by several threads. NULL: none. */
	int (*file_rows)(void *ctx, uint32_t tid);
	void *file_rows_ctx;
};

/* Adds machine, threads, files, users, groups and interfaces. Returns 0 or a negative errno; a
 * thread that ends meanwhile is left out, and unreadable parts of others are empty. */
int scap_scan_machine(struct scap_state_build *b, const struct scap_log *log,
		      const struct scap_scan_opts *opts);

/* Reads one thread and its files now, with the main thread of its process (for a thread missing in
 * the table of a live capture). Returns -ESRCH if it is gone. */
int scap_scan_thread(struct scap_state_build *b, uint64_t tid, const struct scap_scan_opts *opts);

/* Reads the file @num of the thread @tid now. Returns -ESRCH if there is none. */
int scap_scan_file(struct scap_state_build *b, uint64_t tid, uint64_t num,
		   const struct scap_scan_opts *opts);

/* Returns whether a thread has the TID @tid. */
int scap_thread_lives(uint64_t tid);

/* Returns whether /proc has the same PIDs as the driver: those of the first PID namespace. */
int scap_proc_is_global(void);

#endif /* SCAP_PROCFS_PROC_SCAN_H */
