/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* One thread, as the iterators task_rows and running_rows write it. */
#ifndef DRIVER_SHARED_TASK_ROW_H
#define DRIVER_SHARED_TASK_ROW_H

#include "shared/record.h"

struct task_row {
	u64 snapshot_ns; /* boot clock when this was read, as is start_ns */
	u64 start_ns;
	u64 pfmajor, pfminor;
	u64 ran_ns; /* on CPUs in all; of one that is on a CPU, at the last tick */
	u64 cap_inheritable, cap_permitted, cap_effective;
	u32 tid, pid;
	u32 vtid;
	u32 uid, gid; /* effective */
	char comm[16];
	u32 cpu; /* that it is on, or was last */
};

#endif /* DRIVER_SHARED_TASK_ROW_H */
