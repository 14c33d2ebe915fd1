/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the bytes of a file that is read with the checksums in it. Reading goes on where they
 * differ. */
#ifndef SCAP_FILE_SUMS_CHECK_H
#define SCAP_FILE_SUMS_CHECK_H

#include "file/input.h"

struct sums_check {
	const struct scap_log *log; /* borrowed */
	uint64_t n_wrong; /* pages */
	uint64_t n_first; /* those of them that were reported by their bytes */
	uint64_t n_begun; /* the first page of which no part was compared alone */
	uint64_t n_elsewhere; /* options that are not where they were written */
	int has_no_head; /* a section lacks what a file by saker begins with */
};

/* Compares with the option @val of the block at @block, which lies in the bytes of @in that are
 * ready, or directly before them. Reports the first pages that differ. An option that is not where
 * it was written, as in files that were joined, is ignored. */
void sums_check_option(struct sums_check *c, const struct input *in, const uint8_t *block,
		       const uint8_t *val, uint32_t len);
/* A section that is not marked as one by saker has closing counters: reports it once, as damage. */
void sums_check_no_head(struct sums_check *c, const struct input *in);

/* The file ends: reports the number of pages that differed if there are more than those. */
void sums_check_end(const struct sums_check *c, const struct input *in);

#endif /* SCAP_FILE_SUMS_CHECK_H */
