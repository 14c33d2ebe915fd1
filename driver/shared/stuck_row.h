/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* A call that was under way when the capture began, as the iterator stuck_rows writes it. */
#ifndef DRIVER_SHARED_STUCK_ROW_H
#define DRIVER_SHARED_STUCK_ROW_H

#include "shared/record.h"

struct stuck_row {
	u64 at_ns; /* boot clock when the row was written */
	u64 enter_ns; /* boot clock at the enter; 0: before the driver was attached */
	u64 args[6]; /* as the caller passed them */
	u32 tid, pid;
	u32 cpu; /* its last CPU */
	u16 nr; /* REC_NR_NONE: a larger number */
	u16 flags; /* enum stuck_flags */
};

enum stuck_flags {
	STUCK_F_IA32 = 1 << 0,
	STUCK_F_SLEEPS = 1 << 1, /* it is blocked; else it was preempted */
};

#endif /* DRIVER_SHARED_STUCK_ROW_H */
