/* SPDX-License-Identifier: Apache-2.0 */
#include "view_hist.h"

/* Numbers of a range have the same 5 leading bits. */
static unsigned int range_of(uint64_t value)
{
	unsigned int shift;

	if (value < 32)
		return (unsigned int)value;
	shift = 59 - (unsigned int)__builtin_clzll(value);
	return (shift + 1) << 4 | (unsigned int)(value >> shift & 15);
}

static uint64_t last_of(unsigned int range)
{
	const uint64_t lead = (range & 15) | 16;

	return range < 32 ? range : ((lead + 1) << ((range >> 4) - 1)) - 1;
}

void view_hist_add(struct view_hist *h, uint64_t value)
{
	const unsigned int range = range_of(value);

	h->counts[range < VIEW_HIST_RANGES ? range : VIEW_HIST_RANGES - 1]++;
	h->n++;
	if (value > h->max)
		h->max = value;
}

uint64_t view_hist_at(const struct view_hist *h, unsigned int percent)
{
	const uint64_t wanted = ((uint64_t)h->n * percent + 99) / 100;
	uint64_t n = 0;

	for (unsigned int range = 0; range < VIEW_HIST_RANGES - 1; range++) {
		n += h->counts[range];
		if (n >= wanted)
			return last_of(range) < h->max ? last_of(range) : h->max;
	}
	return h->max;
}
