/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* One thread that is not its process's first, as the iterator task_rows writes it. */
#ifndef DRIVER_TASK_ROW_H
#define DRIVER_TASK_ROW_H

#include "record.h"

struct task_row {
	u64 snapshot_ns; /* boot clock when this was read, as is start_ns */
	u64 start_ns;
	u64 pfmajor, pfminor;
	u64 cap_inheritable, cap_permitted, cap_effective;
	u32 tid, pid;
	u32 vtid;
	u32 uid, gid; /* effective */
	char comm[16];
	u32 pad;
};

#endif /* DRIVER_TASK_ROW_H */
