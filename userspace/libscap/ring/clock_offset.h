/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times since the epoch, of times of the boot clock. The clock of the epoch can be set and
 * is steered; what is made here follows it, but never goes back: a step forward is taken at
 * once, a step back by letting time pass a thousandth slower until both agree.
 */
#ifndef SCAP_RING_CLOCK_OFFSET_H
#define SCAP_RING_CLOCK_OFFSET_H

#include <stdint.h>

struct epoch_leg {
	uint64_t from; /* boot clock */
	int64_t offset; /* at from; added to boot gives epoch */
	int64_t target; /* what the clock says; reached slowly if lower */
};

struct epoch {
	struct epoch_leg leg;
	struct epoch_leg next; /* from = UINT64_MAX: none */
};

/* Epoch minus boot clock, now. */
int64_t epoch_read_offset(void);

void epoch_init(struct epoch *e, int64_t offset);

/* At @boot_ns, which must not be older than any time asked for, the offset was @offset.
 * What the clock was stepped by, if it was noticeably (10 us), else 0. */
int64_t epoch_update(struct epoch *e, uint64_t boot_ns, int64_t offset);

/* The time since the epoch, as far as it is known now; epoch_ns may come to find a later one. */
uint64_t epoch_at(const struct epoch *e, uint64_t boot_ns);

/* Times asked for may go back within a leg, not across an update that was passed. */
uint64_t epoch_ns(struct epoch *e, uint64_t boot_ns);

#endif /* SCAP_RING_CLOCK_OFFSET_H */
