/* SPDX-License-Identifier: Apache-2.0 */
/* What registry.c keeps and registry_text.c prints. */
#ifndef SAKER_EXPORTER_REGISTRY_IMPL_H
#define SAKER_EXPORTER_REGISTRY_IMPL_H

#include "registry.h"

enum { TRACE_ID_SZ = 64 };

struct kept_exemplar {
	uint64_t ns, at_ns; /* the observation, and its time since the epoch */
	uint8_t len; /* 0: none yet */
	char trace_id[TRACE_ID_SZ];
};

struct histogram {
	struct kept_exemplar *exemplars; /* one per bucket; owned; NULL: none was given */
	uint64_t buckets[]; /* not cumulative; the last is +Inf */
};

struct series {
	struct series *hash_next;
	struct series *prev, *next; /* of the family, oldest first */
	struct series *older, *newer; /* of all that can be evicted, by their last use */
	struct histogram *h; /* owned; NULL: no histogram */
	uint64_t value; /* of a histogram: sum */
	uint64_t hash, last_ns;
	uint64_t start_ns; /* it counts since then (CLOCK_MONOTONIC); 0: since the registry is there
			    */
	uint32_t labels_len;
	uint16_t row;
	uint8_t used; /* a value was set or added: it is exported */
	uint8_t kind; /* enum metric_kind */
	char labels[]; /* rendered: a="b",c="d" */
};

struct family {
	struct series *first, *last;
	struct series *other; /* owned; NULL: a fixed set */
	uint64_t ended_ns; /* when one of its series ended last; 0: none did */
};

struct registry {
	const struct metric_row *rows;
	struct family *families; /* owned; by row */
	struct series **buckets; /* owned; by hash of row and labels */
	struct series *oldest, *newest;
	size_t n_rows, n_buckets, n; /* n_buckets is a power of two */
	uint64_t seed, idle_ns;
	uint64_t max_lines, n_open_lines, n_fixed_lines;
	uint64_t n_evicted, n_refused;
	char key[METRIC_LABELS * (64 + 3 * METRIC_VALUE_SZ)]; /* scratch: rendered labels */
};

/* Returns the number of finite buckets; 0: no histogram. */
static inline uint32_t buckets_of(uint8_t kind)
{
	return kind == METRIC_HISTOGRAM ? METRIC_BUCKETS
	       : kind == METRIC_POWERS  ? METRIC_POWERS_BUCKETS
					: 0;
}

static inline uint64_t bound_ns(uint8_t kind, size_t bucket)
{
	return kind == METRIC_POWERS ? 1000ull << bucket : registry_bounds_ns[bucket];
}

static inline uint32_t lines_of(const struct metric_row *row)
{
	const uint32_t n = buckets_of(row->kind);

	return n ? n + 3 : 1; /* +Inf, sum, count */
}

#endif /* SAKER_EXPORTER_REGISTRY_IMPL_H */
