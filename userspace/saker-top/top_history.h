/* SPDX-License-Identifier: Apache-2.0 */
/* The last tables of a view: bounded in number and bytes, the oldest go. Tables have numbers that
 * never change. No screen. */
#ifndef SAKER_TOP_HISTORY_H
#define SAKER_TOP_HISTORY_H

#include "top_snapshot.h"

enum { TOP_HISTORY_MAX = 300, TOP_HISTORY_BYTES = 32 << 20 };

struct top_history {
	struct top_snapshot v[TOP_HISTORY_MAX]; /* by number % TOP_HISTORY_MAX; tables are owned */
	uint64_t from, to; /* numbers of the first one that is kept, and of the next one */
	uint64_t pinned; /* number + 1 of one that is kept whatever its age; 0: none */
	size_t bytes;
};

/* Keeps a copy of the table. Returns 0 or -ENOMEM. */
int top_history_add(struct top_history *h, const struct top_snapshot *snap);
/* Returns a table; NULL: it is not kept. */
const struct top_snapshot *top_history_at(const struct top_history *h, uint64_t number);
/* Returns a table, and keeps it, instead of the one before, whatever its age. NULL: it is not kept,
 * and the one before still is; with UINT64_MAX, none is any more. */
const struct top_snapshot *top_history_pin(struct top_history *h, uint64_t number);
/* Returns the number of the last table that ends at @ns or before, of the first one if all are
 * later. There must be one. */
uint64_t top_history_find(const struct top_history *h, uint64_t ns);
/* As top_feed_series. */
size_t top_history_series(const struct top_history *h, double *points, size_t max,
			  const struct view_cell *key, size_t col, double *seconds);
void top_history_clear(struct top_history *h);

#endif /* SAKER_TOP_HISTORY_H */
