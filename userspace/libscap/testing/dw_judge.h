/* SPDX-License-Identifier: Apache-2.0 */
/* libdw as the judge: unwinds the copy of a sampled stack by what the process's files say. */
#ifndef SCAP_TESTING_DW_JUDGE_H
#define SCAP_TESTING_DW_JUDGE_H

#include "testing/dual_sampler.h"

struct dw_judge;

struct dw_frames {
	uint64_t v[SELFTEST_FRAMES];
	size_t n;
	int rooted; /* to the root: not where it had no rule, or a read failed */
	int beyond; /* it reached behind the copy */
};

/* What libdw goes by at an address. */
enum dw_ground {
	DW_RULE, /* the file's rule */
	DW_REG, /* the same, by a register that libdw has only of the first frame */
	DW_NO_RULE, /* the file has none there: it guesses, by rbp */
	DW_GO, /* Go's, which know nothing of signals and of changes of stacks */
	DW_NO_FILE, /* code made at run time */
};

int dw_judge_new(struct dw_judge **out);
void dw_judge_free(struct dw_judge *j);

/*
 * The frames of @s. @again: what libdw knows of the process may be old, and is read anew. -ESRCH:
 * the process cannot be looked at any more.
 */
int dw_judge_unwind(struct dw_judge *j, struct dw_frames *out, const struct dual_sample *s,
		    int again);

/*
 * Does the rule of @s's instruction restore rbp, though that was popped? Of code that aligned its
 * stack compilers do not tell the last pop, and libdw goes on from a wrong rbp.
 */
int dw_judge_is_late(struct dw_judge *j, const struct dual_sample *s);

/* Of the process of the last sample. */
enum dw_ground dw_judge_ground(struct dw_judge *j, uint64_t pc);
/* The file that @pc is in, and where; "": none. Borrowed until the next call. */
const char *dw_judge_file(struct dw_judge *j, uint64_t *offset, uint64_t pc);

#endif /* SCAP_TESTING_DW_JUDGE_H */
