/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many sources, each in the order of its keys, as one. A delivered event is never followed by an
 * older one of any source, within bounds:
 *
 *   - a source that a writer is at work in (in_flight) is waited for, at most 1 ms;
 *   - a call that is open (open_ns), whose record will have the time of its enter for
 *     its key, is waited for, at most 50 ms.
 *
 * An event that comes later is delivered late, and marked as late.
 */
#ifndef SCAP_RING_MERGE_H
#define SCAP_RING_MERGE_H

#include "ring/ring.h"

#define MERGE_IN_FLIGHT_NS 1000000ull
#define MERGE_OPEN_NS 50000000ull
/* A writer reads the clock at most this long before it is seen in flight. */
#define MERGE_SLACK_NS 20000ull

#define MERGE_NO_KEY UINT64_MAX

struct merge_ops {
	/* Refreshes the source, as ring_refresh. */
	void (*refresh)(void *source, struct ring_bound *bound);
	/* Returns the key of the first complete item not popped; MERGE_NO_KEY: none. */
	uint64_t (*key)(void *source);
	/* Pops that item. Returns the key of the next one, as key does. */
	uint64_t (*pop)(void *source);
	/* Releases popped items. */
	void (*release)(void *source);
	/* Returns the clock of the keys. */
	uint64_t (*now)(void *ctx);
};

struct merge;

/* @sources, with room for @n_max, and @ops are borrowed. NULL: no memory. */
struct merge *merge_new(const struct merge_ops *ops, void *const *sources, unsigned int n,
			unsigned int n_max, void *clock_ctx);
void merge_free(struct merge *m);

/* Sets the number of sources to @n, at most n_max: new ones were appended. */
void merge_extend(struct merge *m, unsigned int n);

struct merge_item {
	unsigned int source;
	uint64_t key;
	uint64_t
		order; /* the item's key; of a late item that of the item before: never goes back */
};

/* Returns 1 with the next item, popped by the following call; 0: none may be delivered yet. After
 * merge_drain 0 means that nothing is left. */
int merge_next(struct merge *m, struct merge_item *item);

/* No new items begin: open calls are no longer waited for. */
void merge_drain(struct merge *m);

/* Returns the number of late items. */
uint64_t merge_n_late(const struct merge *m);

#endif /* SCAP_RING_MERGE_H */
