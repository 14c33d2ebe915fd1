/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of numbers by range, for percentiles with bounded memory. Numbers below 32 have a range
 * each; between two larger powers of two are 16 ranges of the same width, as in
 * chisels/lib/quantiles.lua.
 */
#ifndef SINSP_VIEWS_VIEW_HIST_H
#define SINSP_VIEWS_VIEW_HIST_H

#include <stdint.h>

enum {
	VIEW_HIST_BITS = 44, /* 2^44 ns are 4.9 hours; larger numbers are in the last range */
	VIEW_HIST_RANGES = (VIEW_HIST_BITS - 3) * 16,
};

struct view_hist { /* empty: zeroed */
	uint64_t max;
	uint32_t n;
	uint32_t counts[VIEW_HIST_RANGES];
};

void view_hist_add(struct view_hist *h, uint64_t value);

/* Returns the number that @percent of them do not exceed, at most 1/16 too large; 0: it is empty.
 */
uint64_t view_hist_at(const struct view_hist *h, unsigned int percent);

#endif /* SINSP_VIEWS_VIEW_HIST_H */
