/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of nothing is a failure, which one sentence explains. */
#ifndef SAKER_NO_SAMPLES_H
#define SAKER_NO_SAMPLES_H

#include "options.h"

/* Of one source. */
struct sample_count {
	uint64_t n_read, n_meant; /* meant: the filter did not leave them out */
};

/* Whether there is nothing to show; of two that are compared, in one of them. Then it was said.
 * @counts: of each file, or of the live system; @seconds: of the capture, live. */
int no_samples_said(const struct options *o, const struct sample_count *counts, double seconds);

#endif /* SAKER_NO_SAMPLES_H */
