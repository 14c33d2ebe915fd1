/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the running machine, from /proc. Threads beside the first of each process
 * come from the driver's task iterator where there is one: they are what a large machine
 * has most of.
 */
#ifndef SCAP_PROCFS_PROC_SCAN_H
#define SCAP_PROCFS_PROC_SCAN_H

#include "procfs/state_build.h"
#include "scap.h"

struct scap_scan_opts {
	size_t sz;
	const char *proc; /* NULL: /proc */
	int no_environ;
	int no_files; /* threads without their files */
	int no_users; /* nor groups */
	int64_t epoch_offset_ns; /* added to CLOCK_BOOTTIME gives the epoch */
	uint32_t skip_pid; /* a process to leave out, 0: none */
	int task_rows_fd; /* an iterator (driver/shared/task_row.h), read to its end; 0: none */
};

/* Adds machine, threads, files, users, groups, interfaces. 0 or a negative errno; a thread that
 * ends while it is read is left out, what could not be read of another is empty. */
int scap_scan_machine(struct scap_state_build *b, const struct scap_log *log,
		      const struct scap_scan_opts *opts);

/* One thread and its files now, with the main thread of its process (live, for a thread the table
 * does not know). -ESRCH: gone. */
int scap_scan_thread(struct scap_state_build *b, uint64_t tid, const struct scap_scan_opts *opts);

/* The file @num of the thread @tid now. -ESRCH: there is none. */
int scap_scan_file(struct scap_state_build *b, uint64_t tid, uint64_t num,
		   const struct scap_scan_opts *opts);

/* Whether a thread has the number @tid. */
int scap_thread_lives(uint64_t tid);

/* Whether /proc tells the numbers that the driver tells: those of the first pid namespace. */
int scap_proc_is_global(void);

#endif /* SCAP_PROCFS_PROC_SCAN_H */
