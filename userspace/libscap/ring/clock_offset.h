/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts boot clock times to times since the epoch. The realtime clock can be set and is
 * adjusted; converted times follow it, but never go back: a step forward is applied at once, a step
 * back by letting time pass a thousandth slower until both agree.
 */
#ifndef SCAP_RING_CLOCK_OFFSET_H
#define SCAP_RING_CLOCK_OFFSET_H

#include <stdint.h>

struct epoch_leg {
	uint64_t from; /* boot clock */
	int64_t offset; /* offset at from: epoch minus boot */
	int64_t target; /* the offset of the clock; reached slowly if lower */
};

struct epoch {
	struct epoch_leg leg;
	struct epoch_leg next; /* from = UINT64_MAX: none */
};

/* Returns the epoch minus the boot clock, now. */
int64_t epoch_read_offset(void);

void epoch_init(struct epoch *e, int64_t offset);

/* Updates the offset to @offset as of @boot_ns, which must not be older than any converted time.
 * Returns the step of the clock if it is noticeable (10 us), else 0. */
int64_t epoch_update(struct epoch *e, uint64_t boot_ns, int64_t offset);

/* Returns the time since the epoch, as known now; epoch_ns may later return a higher one. */
uint64_t epoch_at(const struct epoch *e, uint64_t boot_ns);

/* Converts a time. Times may go back within a leg, not across an update. */
uint64_t epoch_ns(struct epoch *e, uint64_t boot_ns);

#endif /* SCAP_RING_CLOCK_OFFSET_H */
