/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What a counter of perf_event_open counted between two readings. A counter that shares its
 * hardware with others runs only at times. What it counted is scaled by the share of all time that
 * it ran, not by that of one interval: intervals are shorter than its turns, and it did not run at
 * all in most.
 */
#ifndef DRIVER_SHARED_COUNTER_DELTA_H
#define DRIVER_SHARED_COUNTER_DELTA_H

#include "shared/types.h"

/* As struct bpf_perf_event_value of the kernel. Times in ns. */
struct counter_reading {
	u64 counter;
	u64 enabled, running; /* since it was opened */
};

#define COUNTER_SCALE_BITS                                                                         \
	24 /* of the times, so that products fit: 64 bits have room for 40 more */

/* Returns n * enabled / running, for running > 0. */
static inline u64 counter_scale(u64 n, u64 enabled, u64 running)
{
	if (running >= enabled)
		return n;
	for (int i = 0; i < 10; i++) {
		if (!(enabled >> COUNTER_SCALE_BITS))
			break;
		enabled >>= 4;
		running >>= 4;
	}
	if (!running)
		return 0;
	if (n >> (64 - COUNTER_SCALE_BITS))
		return n / running * enabled;
	return n * enabled / running;
}

/* Returns what was counted since *seen, and moves it to *now. The first reading counts nothing, nor
 * does a counter that went backwards: it began again. Counters wrap at 64 bits. */
static inline u64 counter_delta(struct counter_reading *seen, const struct counter_reading *now)
{
	const u64 n = now->counter - seen->counter;
	const u64 was_enabled = seen->enabled;

	*seen = *now;
	if (!was_enabled || now->enabled < was_enabled || n >> 63 || !now->running)
		return 0;
	return counter_scale(n, now->enabled, now->running);
}

#endif /* DRIVER_SHARED_COUNTER_DELTA_H */
