/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the clocks of this process: now, and deadlines. */
#ifndef SCAP_CLOCK_H
#define SCAP_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_S UINT64_C(1000000000) /* ns */

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * CLOCK_S + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

static inline int64_t clock_now_ms(void)
{
	return (int64_t)(clock_now_ns() / 1000000);
}

/* The clock of events: the kernel's time since boot, with time in suspend. */
static inline uint64_t clock_boot_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME);
}

/* Steps of some ms, but only a read of memory. */
static inline uint64_t clock_coarse_ms(void)
{
	return clock_read_ns(CLOCK_MONOTONIC_COARSE) / 1000000;
}

/* Returns the monotonic time in @ns nanoseconds. */
static inline struct timespec clock_deadline(uint64_t ns)
{
	const uint64_t at = clock_now_ns() + ns;

	return (struct timespec){(time_t)(at / CLOCK_S), (long)(at % CLOCK_S)};
}

#endif /* SCAP_CLOCK_H */
