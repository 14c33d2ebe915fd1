/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* A thread, as the iterators task_rows and running_rows write it. */
#ifndef DRIVER_SHARED_TASK_ROW_H
#define DRIVER_SHARED_TASK_ROW_H

#include "shared/record.h"

struct task_row {
	u64 snapshot_ns; /* boot clock when the row was written; start_ns has the same clock */
	u64 start_ns;
	u64 pfmajor, pfminor;
	u64 ran_ns; /* total CPU time; of a running thread, as of the last tick */
	u64 cap_inheritable, cap_permitted, cap_effective;
	u32 tid, pid;
	u32 vtid;
	u32 uid, gid; /* effective */
	char comm[16];
	u32 cpu; /* its current or last CPU */
};

#endif /* DRIVER_SHARED_TASK_ROW_H */
