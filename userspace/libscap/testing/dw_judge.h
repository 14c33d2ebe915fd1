/* SPDX-License-Identifier: Apache-2.0 */
/* Judges stacks by libdw: unwinds the copy of a sampled stack by the files of the process. */
#ifndef SCAP_TESTING_DW_JUDGE_H
#define SCAP_TESTING_DW_JUDGE_H

#include "testing/dual_sampler.h"

struct dw_judge;

struct dw_frames {
	uint64_t v[SELFTEST_FRAMES];
	size_t n;
	int rooted; /* root reached: not where it had no rule, or a read failed */
	int beyond; /* it read beyond the copy */
};

/* What libdw uses at an address. */
enum dw_ground {
	DW_RULE, /* the file's rule */
	DW_REG, /* the same, by a register that libdw has only in the first frame */
	DW_NO_RULE, /* the file has no rule there: it guesses by rbp */
	DW_GO, /* Go's rules, which lack signals and switches of the stack */
	DW_NO_FILE, /* JIT code */
};

int dw_judge_new(struct dw_judge **out);
void dw_judge_free(struct dw_judge *j);

/* Unwinds @s. @again: libdw's state of the process may be outdated, and is read again. Returns
 * -ESRCH: the process cannot be read any more. */
int dw_judge_unwind(struct dw_judge *j, struct dw_frames *out, const struct dual_sample *s,
		    int again);

/* Returns whether the rule at @s's instruction restores rbp though it was popped. Compilers do not
 * describe the last pop in code that aligned its stack, and libdw continues with a wrong rbp. */
int dw_judge_is_late(struct dw_judge *j, const struct dual_sample *s);

/* Of the process of the last sample. */
enum dw_ground dw_judge_ground(struct dw_judge *j, uint64_t pc);
/* Returns the file that @pc is in, and the offset; "": none. Borrowed until the next call. */
const char *dw_judge_file(struct dw_judge *j, uint64_t *offset, uint64_t pc);

#endif /* SCAP_TESTING_DW_JUDGE_H */
