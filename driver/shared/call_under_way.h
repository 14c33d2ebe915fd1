/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* A call that was under way when the capture began, as the iterator calls_under_way writes it. */
#ifndef DRIVER_SHARED_CALL_UNDER_WAY_H
#define DRIVER_SHARED_CALL_UNDER_WAY_H

#include "shared/record.h"

struct call_under_way {
	u64 at_ns; /* boot clock when the row was written */
	u64 enter_ns; /* boot clock at the enter; 0: before the driver was attached */
	u64 args[6]; /* as the caller passed them */
	u32 tid, pid;
	u32 cpu; /* its last CPU */
	u16 nr; /* REC_NR_NONE: a larger number */
	u16 flags; /* enum call_under_way_flags */
};

enum call_under_way_flags {
	UNDER_WAY_F_IA32 = 1 << 0,
	UNDER_WAY_F_SLEEPS = 1 << 1, /* it is blocked; else it was preempted */
};

#endif /* DRIVER_SHARED_CALL_UNDER_WAY_H */
