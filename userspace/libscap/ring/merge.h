/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many sources, each in the order of its keys, as one. What is delivered can never be
 * overtaken by what a source still has to bring, within bounds:
 *
 *   - a source that a writer is at work in (in_flight) is waited for, at most 1 ms;
 *   - a call that is open (open_ns), whose record will have the time of its enter for
 *     its key, is waited for, at most 50 ms.
 *
 * What comes later than that is delivered late, and says so.
 */
#ifndef SCAP_RING_MERGE_H
#define SCAP_RING_MERGE_H

#include "ring/ring.h"

#define MERGE_IN_FLIGHT_NS 1000000ull
#define MERGE_OPEN_NS 50000000ull
/* A writer reads the clock before it is seen to be at work, by at most this. */
#define MERGE_SLACK_NS 20000ull

#define MERGE_NO_KEY UINT64_MAX

struct merge_ops {
	/* Sees what is complete now, and what is known of the rest: as ring_refresh. */
	void (*refresh)(void *source, struct ring_bound *bound);
	/* Key of the first item that is complete and not popped; MERGE_NO_KEY: none. */
	uint64_t (*key)(void *source);
	void (*pop)(void *source);
	/* What was popped is not needed any more. */
	void (*release)(void *source);
	/* The clock of the keys. */
	uint64_t (*now)(void *ctx);
};

struct merge;

/* @sources, with room for @n_max, and @ops are borrowed. NULL: no memory. */
struct merge *merge_new(const struct merge_ops *ops, void *const *sources, unsigned int n,
			unsigned int n_max, void *clock_ctx);
void merge_free(struct merge *m);

/* There are @n sources now, of the n_max: others have been put behind those there were. */
void merge_extend(struct merge *m, unsigned int n);

struct merge_item {
	unsigned int source;
	uint64_t key;
	uint64_t order; /* key, or, when late, that of the item before: this never goes back */
};

/*
 * 1 with the next item, which is popped by the call after; 0: none may be delivered yet.
 * After merge_drain 0 means that there is nothing left.
 */
int merge_next(struct merge *m, struct merge_item *item);

/* No new items begin: open calls are not waited for any more. */
void merge_drain(struct merge *m);

/* Items that came too late for their place. */
uint64_t merge_n_late(const struct merge *m);

#endif /* SCAP_RING_MERGE_H */
