/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walker against libdw, on the same samples: one event of the clock gives the frames that the
 * driver found, and registers and 64 KiB of stack that libdw unwinds.
 */
#ifndef SCAP_UNWIND_SELFTEST_RUN_H
#define SCAP_UNWIND_SELFTEST_RUN_H

#include <stdint.h>
#include <stdio.h>

#include "scap.h"
#include "stack.h"

/* Stacks, by what the two make of them. */
enum unwind_verdict {
	VERDICT_SAME, /* each frame, and both reach the root */
	VERDICT_JUDGE_STOPS, /* the same as far as libdw comes by what files say */
	VERDICT_COPY_ENDS, /* the same as far as the copy reaches */
	VERDICT_SHORT, /* ours stops before libdw does */
	VERDICT_DIFFERS, /* another frame */
	VERDICT_NEW, /* our tables were not there yet, or a library's */
	VERDICT_GONE, /* the process ended before libdw could look at its files */
	VERDICT_MAX
};

struct unwind_selftest_sum {
	uint64_t n; /* stacks */
	uint64_t by[VERDICT_MAX];
	uint64_t frames, same_frames; /* those of libdw, and of them that we have, too */
	uint64_t ends[STACK_END_ROOM]; /* of VERDICT_SHORT and VERDICT_DIFFERS, why ours ended */
	uint64_t n_lost;
};

struct unwind_selftest_opts {
	size_t sz;
	unsigned int hz;
	int64_t pid; /* only this process and its threads; 0: all */
	FILE *details; /* each stack that differs; NULL: none */
	scap_log_fn log;
	void *log_ctx;
};

struct unwind_selftest_run;

/* -ENOTSUP: built without libdw. */
int scap_unwind_selftest_open(struct unwind_selftest_run **out,
			      const struct unwind_selftest_opts *opts);
/* Compares what has come, for @timeout_ms. */
int scap_unwind_selftest_step(struct unwind_selftest_run *r, int timeout_ms);
void scap_unwind_selftest_sum(const struct unwind_selftest_run *r, struct unwind_selftest_sum *sum);
void scap_unwind_selftest_close(struct unwind_selftest_run *r);

#endif /* SCAP_UNWIND_SELFTEST_RUN_H */
