/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What sampler and libscap share beside the records: settings, written before load, and counters,
 * by CPU. For each source runs == samples + sum(dropped) + sum(filtered), to the sample.
 */
#ifndef DRIVER_SHARED_SAMPLER_H
#define DRIVER_SHARED_SAMPLER_H

#include "shared/config.h"
#include "shared/stack.h"

#define SAMPLE_TRACEPOINTS 4
#define SAMPLE_TP_NAME 48

/* The programs that take samples. */
enum sample_source {
	SAMPLE_SRC_CPU,
	SAMPLE_SRC_OFF_CPU,
	SAMPLE_SRC_PAGE_FAULT,
	SAMPLE_SRC_TRACEPOINT,
	SAMPLE_SRC_MAX = SAMPLE_SRC_TRACEPOINT + SAMPLE_TRACEPOINTS
};

/* Why a run of a program makes no sample: symbol, sentence. */
#define SAMPLE_FILTERS(X)                                                                          \
	X(IDLE, "the CPU was idle")                                                                \
	X(SELF, "saker itself was at work")                                                        \
	X(NOT_MEANT, "the thread did not match")                                                   \
	X(SHORT, "the wait was shorter than --off-cpu-min")                                        \
	X(NO_START, "the start of the wait was not recorded")                                      \
	X(OWN_FAULT, "a non-blocking read of saker faulted")                                       \
	X(PAUSED, "sampling paused")

enum sample_filter {
#define X(sym, text) SAMPLE_FILTER_##sym,
	SAMPLE_FILTERS(X)
#undef X
		SAMPLE_FILTER_MAX
};

#define SAMPLE_FILTER_ROOM 8

struct drv_sample_counts {
	u64 runs;
	u64 samples; /* in the ring */
	u64 dropped;
	u64 filtered[SAMPLE_FILTER_ROOM];
};

/* Per CPU. */
struct drv_sampler {
	struct drv_sample_counts by[SAMPLE_SRC_MAX];
	u64 ends[STACK_END_ROOM]; /* of user stacks, by enum stack_end */
	u64 n_later; /* user stacks left to be finished on the way to user mode */
	u64 n_finished; /* of them: records with the rest in the ring */
	u64 n_finish_dropped; /* of them: not */
	u64 n_not_later; /* that could not be left */
	u64 n_unsaved; /* threads that left the CPU and had no room for their stack */
	u64 n_rules; /* of frames, by unwind tables */
	u64 n_searched; /* of them: that no walk had found lately */
	u64 n_cold; /* user stacks left to be walked once their tables are there */
	u64 n_not_cold; /* that could not be left: there was no room */
	u64 n_cold_spent; /* the same: too many of that process were */
	u64 next_id; /* of stacks that come later */
	u64 here; /* scratch: an address as a number */
} __attribute__((aligned(128)));

#define SAMPLE_ID_CPU_SHIFT 48

/* const volatile in BPF. */
struct drv_sampler_config {
	u32 on; /* the record of events has samples */
	u32 depth; /* user frames at most */
	u32 user, kernel; /* which stacks are taken */
	u32 tables; /* user stacks are walked by unwind tables; else by frame pointers alone */
	u32 later; /* the kernel can run a program on a thread's way to user mode */
	u64 period_ns; /* of CPU samples */
	u32 off_cpu; /* threads are sampled that leave the CPU */
	u64 off_min_ns; /* off-CPU samples of less are left out */
	char tracepoints[SAMPLE_TRACEPOINTS][SAMPLE_TP_NAME];
};

#endif /* DRIVER_SHARED_SAMPLER_H */
