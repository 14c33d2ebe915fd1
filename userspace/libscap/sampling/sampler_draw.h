/* SPDX-License-Identifier: Apache-2.0 */
/* Probabilistic sampling: a number from 0 to 99 is drawn for each interval, which is sampled if the
 * threshold is higher. The same seed gives the same sequence. */
#ifndef SCAP_SAMPLING_SAMPLER_DRAW_H
#define SCAP_SAMPLING_SAMPLER_DRAW_H

#include <stdint.h>

struct sampler_draw {
	uint64_t state;
	uint32_t threshold; /* 1 to 99 */
};

static inline void sampler_draw_init(struct sampler_draw *d, uint64_t seed)
{
	*d = (struct sampler_draw){.state = seed, .threshold = 100};
}

/* Returns whether the next interval is sampled. splitmix64: any seed is good. */
static inline int sampler_draw(struct sampler_draw *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	return d->threshold > (uint32_t)(z % 100);
}

#endif /* SCAP_SAMPLING_SAMPLER_DRAW_H */
