/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the walker with libdw on the same samples: a clock event gives the driver's frames, and
 * registers with 64 KiB of stack that libdw unwinds. */
#ifndef SCAP_TESTING_UNWIND_SELFTEST_RUN_H
#define SCAP_TESTING_UNWIND_SELFTEST_RUN_H

#include <stdint.h>
#include <stdio.h>

#include "scap.h"
#include "shared/stack.h"

/* Results of a comparison: symbol, name, meaning. The first three are judged. */
#define UNWIND_VERDICTS(X)                                                                         \
	X(SAME, "same", "every frame the same, to the root")                                       \
	X(SHORT, "shorter", "shorter than libdw's")                                                \
	X(DIFFERS, "another frame", "another frame")                                               \
	X(STOPS, "libdw stops", "equal frames, up to one whose rule libdw cannot evaluate")        \
	X(NO_RULE, "no rule", "equal frames, up to code without a rule, where libdw uses rbp")     \
	X(LATE, "late rule",                                                                       \
	  "the compiler's rule restores an rbp that was popped; libdw follows it")                 \
	X(GO, "Go", "equal frames, up to Go code, some of whose rules are wrong")                  \
	X(RUN_TIME, "made at run time", "the same until code that was made at run time")           \
	X(COPY_ENDS, "copy ends", "the same until the copy of the stack ends")                     \
	X(NEW, "too new", "tables of the program or a library were not there yet")                 \
	X(GONE, "gone", "the process ended before libdw looked")

enum unwind_verdict {
#define X(sym, name, sentence) VERDICT_##sym,
	UNWIND_VERDICTS(X)
#undef X
		VERDICT_MAX
};

struct unwind_selftest_counts {
	char name[16]; /* the process's */
	uint64_t n; /* stacks */
	uint64_t by[VERDICT_MAX];
	uint64_t frames, same_frames; /* frames of libdw, and how many of them we have, too */
};

/* Stacks that differ for one reason. */
struct unwind_selftest_cause {
	uint64_t n;
	enum unwind_verdict verdict;
	uint32_t end; /* enum stack_end of our walk */
	char file[64]; /* file of the last common frame; the end of its name */
};

#define SELFTEST_PROGRAMS_MAX 64 /* the last one is for all others */
#define SELFTEST_CAUSES_MAX 16

struct unwind_selftest_sum {
	struct unwind_selftest_counts all;
	struct unwind_selftest_counts programs[SELFTEST_PROGRAMS_MAX];
	size_t n_programs;
	struct unwind_selftest_cause
		causes[SELFTEST_CAUSES_MAX]; /* the last one is for all others */
	size_t n_causes;
	uint64_t n_lost;
};

/* Returns the number of judged stacks: libdw reached their root by rules, or got further than we
 * did. */
uint64_t unwind_selftest_judged(const struct unwind_selftest_counts *c);

struct unwind_selftest_opts {
	size_t sz;
	unsigned int hz;
	int64_t pid; /* only this process and its descendants; 0: all */
	FILE *details; /* receives each stack that differs; NULL: none */
	scap_log_fn log;
	void *log_ctx;
};

struct unwind_selftest_run;

int scap_unwind_selftest_open(struct unwind_selftest_run **out,
			      const struct unwind_selftest_opts *opts);
void scap_unwind_selftest_close(struct unwind_selftest_run *r);
/* Compares what has come, for @timeout_ms. */
void scap_unwind_selftest_step(struct unwind_selftest_run *r, int timeout_ms);
/* Borrowed until the next step. */
const struct unwind_selftest_sum *scap_unwind_selftest_sum(struct unwind_selftest_run *r);

#endif /* SCAP_TESTING_UNWIND_SELFTEST_RUN_H */
