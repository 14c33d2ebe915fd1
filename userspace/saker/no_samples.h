/* SPDX-License-Identifier: Apache-2.0 */
/* A profile without samples is a failure, explained in one sentence. */
#ifndef SAKER_NO_SAMPLES_H
#define SAKER_NO_SAMPLES_H

#include "options.h"

/* Counters of one source. */
struct sample_count {
	uint64_t n_read, n_matched_samples; /* matched by the filter */
};

/* Returns whether there is nothing to show (in one of two compared files), after reporting it.
 * @counts: of each file, or of the live system; @seconds: duration of the capture, live. */
int report_no_samples(const struct options *o, const struct sample_count *counts, double seconds);

#endif /* SAKER_NO_SAMPLES_H */
