/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of one CPU, whatever the kind of its ring. Used by one thread.
 *
 * A reader takes what has arrived in rounds:
 *
 *	now = clock (boot)
 *	for each ring: ring_refresh(r, &bound)
 *	... ring_peek, ring_advance in any order over all rings ...
 *	for each ring: ring_release(r)
 *
 * After ring_refresh, each record that arrives later has a key (rec_key) of at least
 * min(now, bound.open_ns); in flight, a writer was at work and nothing is known.
 */
#ifndef SCAP_RING_RING_H
#define SCAP_RING_RING_H

#include "scap.h"
#include "shared/config.h"

struct ring;

struct ring_bound {
	uint64_t open_ns; /* time of the enter of the CPU's open call, if no enter record was sent;
			     else UINT64_MAX */
	int in_flight; /* a writer is in flight: refresh again */
};

/* Reads what is complete now. */
void ring_refresh(struct ring *r, struct ring_bound *bound);

/*
 * Returns the oldest record not advanced over, among those complete at the last refresh; NULL:
 * none. Its lengths are checked: it lies contiguously in memory, evt.len within len. Borrowed until
 * ring_release after ring_advance, or, kind perf, until the next ring_peek after that.
 */
const struct rec_hdr *ring_peek(struct ring *r);
void ring_advance(struct ring *r);

/* Gives the room of records advanced over back to the driver. */
void ring_release(struct ring *r);

/* Returns the bytes complete at the last refresh and not advanced over. */
uint64_t ring_pending(const struct ring *r);

/* Returns whether there is a record, complete or not, that was not released. */
int ring_unread(const struct ring *r);

/* Returns whether less than half of it is free. */
int ring_is_half_full(const struct ring *r);

/*
 * Sleep protocol: set the state, refresh once more, poll the doorbell (live_load.h), reset the
 * state. A reader that sets RING_SLEEPS must see ring_unread false before it polls for longer than
 * a nap.
 */
void ring_set_asleep(struct ring *r, enum ring_sleep how);

unsigned int ring_cpu(const struct ring *r);

/* Adds this CPU's counters to *sum. */
void ring_counters(const struct ring *r, struct drv_sums *sum);

/* Returns the number of lost records of this CPU: changes when ring_lost has something new. */
uint64_t ring_n_lost(const struct ring *r);

struct ring_lost {
	uint64_t n[LOST_ROOM]; /* since the ring began, by enum drv_lost */
	uint64_t from_ns, to_ns; /* boot clock: of losses after ring_set_reported; 0: none */
};

/* Returns what was lost for the reason @why. */
void ring_lost(const struct ring *r, unsigned int why, struct ring_lost *lost);

/* Marks losses for the reason @why up to @to_ns as noted. */
void ring_set_reported(struct ring *r, unsigned int why, uint64_t to_ns);

/* Returns how often the ring had invalid data; the rest up to its head was then skipped. */
uint64_t ring_n_corrupt(const struct ring *r);

#endif /* SCAP_RING_RING_H */
