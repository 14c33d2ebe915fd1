/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walker against libdw, on the same samples: one event of the clock gives the frames that the
 * driver found, and registers and 64 KiB of stack that libdw unwinds.
 */
#ifndef SCAP_TESTING_UNWIND_SELFTEST_RUN_H
#define SCAP_TESTING_UNWIND_SELFTEST_RUN_H

#include <stdint.h>
#include <stdio.h>

#include "scap.h"
#include "shared/stack.h"

/* What the two make of a stack: symbol, name, what it means. The first three are judged. */
#define UNWIND_VERDICTS(X)                                                                         \
	X(SAME, "same", "every frame the same, to the root")                                       \
	X(SHORT, "shorter", "shorter than libdw's")                                                \
	X(DIFFERS, "another frame", "another frame")                                               \
	X(STOPS, "libdw stops", "the same until libdw cannot follow the rule")                     \
	X(NO_RULE, "no rule", "the same until code without a rule: libdw guesses, by rbp")         \
	X(LATE, "late rule", "libdw restores an rbp that was popped, as the compiler's rule says") \
	X(GO, "Go", "the same until Go code, whose rules are not all true")                        \
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
	uint64_t frames, same_frames; /* those of libdw, and of them that we have, too */
};

/* Stacks that differ for one reason. */
struct unwind_selftest_cause {
	uint64_t n;
	enum unwind_verdict verdict;
	uint32_t end; /* enum stack_end: how ours ended */
	char file[64]; /* that the last frame is in that both have; its name's end */
};

#define SELFTEST_PROGRAMS_MAX 64 /* the last one is all others */
#define SELFTEST_CAUSES_MAX 16

struct unwind_selftest_sum {
	struct unwind_selftest_counts all;
	struct unwind_selftest_counts programs[SELFTEST_PROGRAMS_MAX];
	size_t n_programs;
	struct unwind_selftest_cause causes[SELFTEST_CAUSES_MAX]; /* the last one is all others */
	size_t n_causes;
	uint64_t n_lost;
};

/* Stacks that are judged: libdw reaches their root by rules, or comes further than we do. */
uint64_t unwind_selftest_judged(const struct unwind_selftest_counts *c);

struct unwind_selftest_opts {
	size_t sz;
	unsigned int hz;
	int64_t pid; /* only this process and what it starts; 0: all */
	FILE *details; /* each stack that differs; NULL: none */
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
