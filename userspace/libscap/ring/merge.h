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
	/* Returns the key of the first complete item not popped, above 0; MERGE_NO_KEY: none. */
	uint64_t (*key)(void *source);
	/* Pops that item. Returns the key of the next one, as key does. NULL: only merge_next_by is
	 * used. */
	uint64_t (*pop)(void *source);
	/* Releases popped items. */
	void (*release)(void *source);
	/* Returns the clock of the keys. */
	uint64_t (*now)(void *ctx);
};

/* The source that delivers now: it goes on while its keys are below the limit. */
struct merge_run {
	void *source; /* NULL: no run */
	unsigned int i; /* its number */
	unsigned int n_left; /* items that it pops until it is released */
	uint64_t key; /* of its first item, which was delivered */
	uint64_t limit;
	uint64_t last; /* order of the last delivered item */
	uint64_t n_late;
};

struct merge_node {
	uint64_t key, source;
};

/* Here because merge_next_by is inlined; merge.c has all else. */
struct merge {
	struct merge_run run;
	const struct merge_ops *ops;
	void *const *sources;
	void *clock_ctx;
	unsigned int n;
	unsigned int n_leaves; /* a power of two */
	/* [1]: winner of all; [i]: of [2i] and [2i + 1]; [n_leaves + i]: source i. The source of a
	 * run has its key at the beginning. */
	struct merge_node *tree;
	uint32_t *n_popped; /* by source, since its last release; not during its run */
	uint64_t watermark;
	uint64_t pace_ns, round_ns; /* time from round to round, and of the last one */
	int draining;
};

/* @sources, with room for @n_max, and @ops are borrowed. NULL: no memory. */
struct merge *merge_new(const struct merge_ops *ops, void *const *sources, unsigned int n,
			unsigned int n_max, void *clock_ctx);
void merge_free(struct merge *m);

/* Sets the number of sources to @n, at most n_max: new ones were appended. */
void merge_extend(struct merge *m, unsigned int n);

/* Begins a round at least @ns after the one before; default 0. A reader that has caught up then
 * reads many items in a round, not the few that came during the last one. */
void merge_set_pace(struct merge *m, uint64_t ns);

struct merge_item {
	unsigned int source;
	uint64_t key;
	uint64_t
		order; /* the item's key; of a late item that of the item before: never goes back */
};

/* Ends the run, if there is one, and begins the next. Returns 0 if none may begin yet. */
int merge_next_run(struct merge *m);
/* Releases the items that the source of the run popped. */
void merge_release_run(struct merge *m);

/* Works as merge_next; @pop: that of the ops, so that it can be inlined. */
static inline int merge_next_by(struct merge *m, uint64_t (*pop)(void *), struct merge_item *item)
{
	struct merge_run *r = &m->run;

	if (r->source) {
		r->key = pop(r->source);
		if (!--r->n_left)
			merge_release_run(m);
	}
	if ((!r->source || r->key >= r->limit) && !merge_next_run(m))
		return 0;
	if (r->key < r->last)
		r->n_late++;
	else
		r->last = r->key;
	*item = (struct merge_item){r->i, r->key, r->last};
	return 1;
}

/* Returns 1 with the next item, popped by the following call; 0: none may be delivered yet. After
 * merge_drain 0 means that nothing is left. */
int merge_next(struct merge *m, struct merge_item *item);

/* No new items begin: open calls are no longer waited for. */
void merge_drain(struct merge *m);

/* Returns the number of late items. */
uint64_t merge_n_late(const struct merge *m);

#endif /* SCAP_RING_MERGE_H */
