/* SPDX-License-Identifier: Apache-2.0 */
/* The clock by which saker measures itself. */
#ifndef SAKER_CLOCK_H
#define SAKER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* Steps of some ms, but only a read of memory. */
static inline uint64_t clock_coarse_ms(void)
{
	return clock_read_ns(CLOCK_MONOTONIC_COARSE) / 1000000;
}

#endif /* SAKER_CLOCK_H */
