/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The walker's result for one sample, for comparison with another unwinder. */
#ifndef DRIVER_SHARED_UNWIND_SELFTEST_H
#define DRIVER_SHARED_UNWIND_SELFTEST_H

#include "shared/record.h"

#define SELFTEST_FRAMES 256
#define SELFTEST_RING_SZ (32u << 20)

struct unwind_selftest {
	u64 ns; /* boot clock */
	u32 pid, tid;
	u32 n, end; /* as in struct user_walk */
	char comm[16]; /* of the process */
	u64 frames[SELFTEST_FRAMES];
};

#endif /* DRIVER_SHARED_UNWIND_SELFTEST_H */
