/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the open files of a process. */
#ifndef SCAP_PROCFS_FD_SCAN_H
#define SCAP_PROCFS_FD_SCAN_H

#include "procfs/proc_file.h"
#include "procfs/sock_scan.h"
#include "procfs/state_build.h"

#define FD_SCAN_MAX 65536 /* maximum number of files read of one process */
/* Files that are read from /proc; further ones by the iterator, if there is one. */
#define FD_SCAN_FEW 32

struct fd_memo;

struct fd_scan {
	struct sock_table *socks;
	struct proc_dir dir;
	struct proc_buf link, info;
	uint64_t memfd_dev; /* device of memfds; 0: unknown */
	int (*rows)(void *ctx, uint32_t tid); /* as in scap_scan_opts */
	void *rows_ctx;
	struct fd_memo *memo; /* of what rows say; NULL: not used yet */
};
int fd_scan_init(struct fd_scan *s); /* 0 or -ENOMEM */
void fd_scan_fini(struct fd_scan *s);

/*
 * Adds the files of the process in @pid_fd as those of @tid. Returns 0, -EFBIG if it has more than
 * FD_SCAN_MAX (the first ones are added), -ENOMEM, or the error that cut the list. Files that close
 * meanwhile are left out.
 */
int fd_scan_process(struct fd_scan *s, struct scap_state_build *b, uint64_t tid, int pid_fd);

/* Adds one file. Returns 0, -ENOMEM, or another negative errno: there is none. */
int fd_scan_one(struct fd_scan *s, struct scap_state_build *b, uint64_t tid, int pid_fd,
		uint64_t num);

#endif /* SCAP_PROCFS_FD_SCAN_H */
