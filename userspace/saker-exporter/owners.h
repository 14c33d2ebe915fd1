/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owners of series whose totals another one counts: cgroups, processes. Each keeps what of its
 * totals was added to the registry, so that the next read adds the difference, wherever it goes.
 *
 * owners_begin --> owners_update for each that exists --> owners_end: the others have ended.
 */
#ifndef SAKER_EXPORTER_OWNERS_H
#define SAKER_EXPORTER_OWNERS_H

#include "registry.h"

struct owners;

enum {
	OWNER_LABELS = 7,
	OWNER_BUCKETS = METRIC_POWERS_BUCKETS + 1,
	OWNER_TOTALS = 64, /* at most */
};

/* @first_row: the metric of the first total; the others follow. Returns 0 or -ENOMEM. */
int owners_new(struct owners **out, size_t first_row, size_t n_totals);
/* The totals are those of one histogram: its buckets, +Inf included, then the sum of what it
 * counts. */
int owners_new_histogram(struct owners **out, size_t row, size_t n_buckets);
void owners_free(struct owners *os);

void owners_begin(struct owners *os);
/*
 * The same where the sum over all owners that there ever were is known: after owners_end the sum of
 * all series is @whole, as `other` gets what belongs to no owner of this round. So it also has
 * those that ended before any round. @skip: bit i: the total i is not counted.
 */
void owners_begin_whole(struct owners *os, const uint64_t *whole, uint64_t skip);
/*
 * (@id, @start) identifies the owner. Its labels are those of its first call, or of its rename.
 * @skip: bit i: the total i is not counted.
 */
void owners_update(struct owners *os, struct registry *r, uint64_t id, uint64_t start,
		   const struct label_value *labels, const uint64_t *totals, uint64_t skip,
		   uint64_t now_ns);
/* Changes the labels of an owner, if it exists. Its series are renamed once none of their owners
 * has the old labels. */
void owners_rename(struct owners *os, struct registry *r, uint64_t id, uint64_t start,
		   const struct label_value *labels, uint64_t now_ns);
void owners_end(struct owners *os, struct registry *r);

#endif /* SAKER_EXPORTER_OWNERS_H */
