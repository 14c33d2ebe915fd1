/* SPDX-License-Identifier: Apache-2.0 */
/* Each part is the difference of two rounded sums of weights: so no rounding is lost or made. */
#include "shares.h"

#include <errno.h>
#include <stdlib.h>

#include "hash.h"

enum { BUCKETS = 4096 };

struct share {
	struct share *next; /* in the bucket */
	uint64_t id, start, round;
	uint64_t total, weight; /* weight: of this round */
	uint64_t parts[]; /* by zone */
};

struct shares {
	size_t n_zones;
	uint64_t round, seed, weights; /* weights: sum of this round */
	struct share *buckets[BUCKETS];
};

int shares_new(struct shares **out, size_t n_zones)
{
	struct shares *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->n_zones = n_zones;
	s->seed = scap_hash_seed(s);
	*out = s;
	return 0;
}

void shares_free(struct shares *s)
{
	for (size_t i = 0; s && i < BUCKETS; i++) {
		for (struct share *x = s->buckets[i], *next; x; x = next) {
			next = x->next;
			free(x);
		}
	}
	free(s);
}

void shares_begin(struct shares *s)
{
	s->round++;
	s->weights = 0;
}

static size_t bucket_of(const struct shares *s, uint64_t id, uint64_t start)
{
	return scap_hash_number(scap_hash_number(s->seed, id), start) % BUCKETS;
}

static struct share *find(const struct shares *s, uint64_t id, uint64_t start)
{
	struct share *x = s->buckets[bucket_of(s, id, start)];

	while (x && (x->id != id || x->start != start))
		x = x->next;
	return x;
}

void shares_weigh(struct shares *s, uint64_t id, uint64_t start, uint64_t total)
{
	struct share *x = find(s, id, start), **bucket;

	if (!x) {
		x = calloc(1, sizeof(*x) + s->n_zones * sizeof(x->parts[0]));
		if (!x)
			return;
		x->id = id;
		x->start = start;
		bucket = &s->buckets[bucket_of(s, id, start)];
		x->next = *bucket;
		*bucket = x;
	}
	x->round = s->round;
	x->weight = total > x->total ? total - x->total : 0;
	x->total += x->weight;
	s->weights += x->weight;
}

uint64_t shares_split(struct shares *s, size_t zone, uint64_t amount, uint64_t whole)
{
	const uint64_t all = whole > s->weights ? whole : s->weights;
	uint64_t sum = 0, given = 0;

	for (size_t i = 0; i < BUCKETS && all; i++) {
		for (struct share *x = s->buckets[i]; x; x = x->next) {
			uint64_t up_to;

			if (x->round != s->round)
				continue;
			sum += x->weight;
			up_to = (uint64_t)((unsigned __int128)amount * sum / all);
			x->parts[zone] += up_to - given;
			given = up_to;
		}
	}
	return amount - given;
}

const uint64_t *shares_of(const struct shares *s, uint64_t id, uint64_t start)
{
	const struct share *x = find(s, id, start);

	return x ? x->parts : NULL;
}

void shares_end(struct shares *s)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct share **at = &s->buckets[i], *x; (x = *at);) {
			if (x->round == s->round) {
				at = &x->next;
				continue;
			}
			*at = x->next;
			free(x);
		}
	}
}
