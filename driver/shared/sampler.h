/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Shared by the sampler's programs and libscap, besides records: settings, written before load, and
 * per-CPU counters. For each source runs == samples + sum(dropped) + sum(filtered), exactly. */
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
	SAMPLE_SRC_SYSCALL = SAMPLE_SRC_TRACEPOINT + SAMPLE_TRACEPOINTS,
	SAMPLE_SRC_MAX
};

/* Reasons why a run of a program takes no sample: symbol, sentence. */
#define SAMPLE_FILTERS(X)                                                                          \
	X(IDLE, "the CPU was idle")                                                                \
	X(SELF, "saker itself was at work")                                                        \
	X(NO_MATCH, "the thread did not match")                                                    \
	X(SHORT, "the wait was shorter than --off-cpu-min")                                        \
	X(NO_START, "the start of the wait was not recorded")                                      \
	X(OWN_FAULT, "a non-blocking read of saker faulted")                                       \
	X(PAUSED, "sampling paused")                                                               \
	X(NO_CALL, "the syscall was not recorded")

enum sample_filter {
#define X(sym, text) SAMPLE_FILTER_##sym,
	SAMPLE_FILTERS(X)
#undef X
		SAMPLE_FILTER_MAX
};

#define SAMPLE_FILTER_ROOM 8

struct drv_sample_counts {
	u64 runs;
	u64 samples; /* sent to the ring */
	u64 dropped;
	u64 filtered[SAMPLE_FILTER_ROOM];
};

/* Per CPU. */
struct drv_sampler {
	struct drv_sample_counts by[SAMPLE_SRC_MAX];
	u64 ends[STACK_END_ROOM]; /* of user stacks, by enum stack_end */
	u64 n_later; /* user stacks deferred to the return to user mode */
	u64 n_finished; /* of these: the rest was sent */
	u64 n_finish_dropped; /* of these: the rest was not sent */
	u64 n_not_later; /* could not be deferred */
	u64 n_unsaved; /* threads that left the CPU when there was no room for their stack */
	u64 n_rules; /* frames unwound by tables */
	u64 n_searched; /* of these: searched, since the cache had no rule */
	u64 n_copied; /* user stacks kept until their tables are built */
	u64 n_not_copied; /* not kept: no room */
	u64 n_copies_refused; /* not kept: too many of that process */
	u64 next_id; /* id of the next deferred stack */
	u64 here; /* scratch: an address as a number */
} __attribute__((aligned(128)));

#define SAMPLE_ID_CPU_SHIFT 48

/* const volatile in BPF. */
struct drv_sampler_config {
	u32 on; /* the ring of events also has samples */
	u32 depth; /* maximum number of user frames */
	u32 user, kernel; /* stacks that are taken */
	u32 tables; /* unwind user stacks by tables; else by frame pointers alone */
	u32 deferred; /* the kernel can run a program at the return to user mode */
	u64 period_ns; /* of samples by the clock */
	u32 off_cpu; /* sample threads that leave the CPU */
	u64 off_min_ns; /* leave out off-CPU samples shorter than this */
	char tracepoints[SAMPLE_TRACEPOINTS][SAMPLE_TP_NAME];
};

#endif /* DRIVER_SHARED_SAMPLER_H */
