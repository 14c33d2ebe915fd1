/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts boot clock times to times since the epoch. The realtime clock can be set and is
 * adjusted; converted times follow it, but never go back: a step forward is applied at once, a step
 * back by letting time pass a thousandth slower until both agree.
 */
#ifndef SCAP_RING_CLOCK_OFFSET_H
#define SCAP_RING_CLOCK_OFFSET_H

#include <stdint.h>

struct clock_offset_leg {
	uint64_t from; /* boot clock */
	int64_t offset; /* offset at from: epoch minus boot */
	int64_t target; /* the offset of the clock; reached slowly if lower */
};

struct clock_offset {
	struct clock_offset_leg leg;
	struct clock_offset_leg next; /* from = UINT64_MAX: none */
};

/* Returns the epoch minus the boot clock, now. */
int64_t clock_offset_read(void);

void clock_offset_init(struct clock_offset *e, int64_t offset);

/* Updates the offset to @offset as of @boot_ns, which must not be older than any converted time.
 * Returns the step of the clock if it is noticeable (10 us), else 0. */
int64_t clock_offset_update(struct clock_offset *e, uint64_t boot_ns, int64_t offset);

/* Returns the time since the epoch, as known now; clock_offset_ns may later return a higher one. */
uint64_t clock_offset_at(const struct clock_offset *e, uint64_t boot_ns);

/* Works as clock_offset_ns while the clock is compensated. */
uint64_t clock_offset_slow(struct clock_offset *e, uint64_t boot_ns);

/* Converts a time. Times may go back within a leg, not across an update. */
static inline uint64_t clock_offset_ns(struct clock_offset *e, uint64_t boot_ns)
{
	if (boot_ns < e->next.from && e->leg.offset == e->leg.target)
		return boot_ns + (uint64_t)e->leg.offset;
	return clock_offset_slow(e, boot_ns);
}

#endif /* SCAP_RING_CLOCK_OFFSET_H */
