/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A winner tree over the first keys of the sources, in rounds: read the clock, then refresh each
 * source and read its bound, in this order. Records that arrive in a source after that have a key
 * of at least the watermark, the lowest of all bounds; so the round delivers everything below it.
 * Equal keys are ordered by source, then by position: the result is a stable sort.
 *
 * Most items come in runs from one source. A run goes on while its keys are below the limit, that
 * is the watermark and the first keys of all others; the tree is updated at its end.
 */
#include "ring/merge.h"

#include <stdlib.h>
#include <string.h>

#define RELEASE_EVERY 128

static unsigned int power_of_two(unsigned int n)
{
	unsigned int p = 2;

	while (p < n)
		p *= 2;
	return p;
}

/* The winner of two neighbours; of equal keys the one with the lower number. */
static void play(struct merge *m, unsigned int node)
{
	const struct merge_node *a = &m->tree[2 * node], *b = a + 1;

	m->tree[node] = a->key <= b->key ? *a : *b;
}

/*
 * Sets the first key of @source. Returns the winner of all. Which of two neighbours wins is as good
 * as random where all CPUs are busy: without branches none is mispredicted.
 */
static struct merge_node replay(struct merge *m, unsigned int source, uint64_t key)
{
	struct merge_node best = {key, source};
	unsigned int node = m->n_leaves + source;

	m->tree[node].key = key;
	for (; node > 1; node /= 2) {
		const struct merge_node *rival = &m->tree[node ^ 1];
		/* An odd node is the right one, and loses against an equal key. */
		const uint64_t below = rival->key - (node & (rival->key != 0));
		const uint64_t mask = -(uint64_t)(below < best.key);

		best.key ^= (best.key ^ rival->key) & mask;
		best.source ^= (best.source ^ rival->source) & mask;
		m->tree[node / 2] = best;
	}
	return best;
}

/* Builds the tree over @n sources: known ones keep their first keys, new ones have none. */
static void build(struct merge *m, unsigned int n)
{
	const unsigned int n_old = m->n, n_old_leaves = m->n_leaves;
	struct merge_node *leaves;

	m->n = n;
	m->n_leaves = power_of_two(n);
	leaves = &m->tree[m->n_leaves];
	memmove(leaves, &m->tree[n_old_leaves], n_old * sizeof(*leaves));
	for (unsigned int i = n_old; i < m->n_leaves; i++)
		leaves[i] = (struct merge_node){MERGE_NO_KEY, i};
	for (unsigned int node = m->n_leaves - 1; node; node--)
		play(m, node);
}

struct merge *merge_new(const struct merge_ops *ops, void *const *sources, unsigned int n,
			unsigned int n_max, void *clock_ctx)
{
	const unsigned int most = power_of_two(n_max);
	struct merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->ops = ops;
	m->sources = sources;
	m->clock_ctx = clock_ctx;
	m->tree = calloc(2 * most, sizeof(*m->tree));
	m->n_popped = calloc(n_max, sizeof(*m->n_popped));
	if (!m->tree || !m->n_popped) {
		merge_free(m);
		return NULL;
	}
	build(m, n);
	return m;
}

void merge_extend(struct merge *m, unsigned int n)
{
	build(m, n);
}

void merge_set_pace(struct merge *m, uint64_t ns)
{
	m->pace_ns = ns;
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	free(m->tree);
	free(m->n_popped);
	free(m);
}

static void release(struct merge *m, unsigned int source)
{
	if (!m->n_popped[source])
		return;
	m->n_popped[source] = 0;
	m->ops->release(m->sources[source]);
}

void merge_release_run(struct merge *m)
{
	m->run.n_left = RELEASE_EVERY;
	m->ops->release(m->run.source);
}

/* Refreshes @source until no writer is in flight: everything begun before is then complete. Takes a
 * microsecond, unless the writer itself was interrupted. */
static void refresh(struct merge *m, unsigned int source, struct ring_bound *bound)
{
	uint64_t begin;

	m->ops->refresh(m->sources[source], bound);
	if (!bound->in_flight)
		return;
	begin = m->ops->now(m->clock_ctx);
	do {
		__builtin_ia32_pause();
		m->ops->refresh(m->sources[source], bound);
	} while (bound->in_flight && m->ops->now(m->clock_ctx) - begin <= MERGE_IN_FLIGHT_NS);
}

/* Returns the watermark that @source allows in a round that began at @now. */
static uint64_t source_bound(struct merge *m, unsigned int source, uint64_t now)
{
	struct ring_bound bound;

	refresh(m, source, &bound);
	if (m->draining || (now > bound.open_ns && now - bound.open_ns > MERGE_OPEN_NS))
		return MERGE_NO_KEY;
	return bound.open_ns;
}

static __attribute__((noinline)) void new_round(struct merge *m)
{
	const uint64_t now = m->ops->now(m->clock_ctx);
	uint64_t watermark = m->draining ? MERGE_NO_KEY : now - MERGE_SLACK_NS;

	if (now - m->round_ns < m->pace_ns && !m->draining)
		return;
	m->round_ns = now;
	for (unsigned int i = 0; i < m->n; i++) {
		uint64_t bound, key;

		release(m, i);
		bound = source_bound(m, i, now);
		if (bound < watermark)
			watermark = bound;
		if (m->tree[m->n_leaves + i].key != MERGE_NO_KEY)
			continue;
		key = m->ops->key(m->sources[i]);
		if (key != MERGE_NO_KEY)
			replay(m, i, key);
	}
	if (watermark > m->watermark)
		m->watermark = watermark;
}

/* Returns the limit of a run of @source, the winner. */
static uint64_t run_limit(const struct merge *m, uint32_t source)
{
	uint64_t limit = m->watermark;

	for (unsigned int node = m->n_leaves + source; node > 1; node /= 2) {
		const struct merge_node *rival = &m->tree[node ^ 1];
		/* Of equal keys the lower source goes first: it is the left one. */
		const uint64_t of_rival = rival->key + (~node & (rival->key < MERGE_NO_KEY));

		limit = of_rival < limit ? of_rival : limit;
	}
	return limit;
}

/* Begins the run of the winner, @first. Returns 0 if its first item may not be delivered yet. */
static int begin_run(struct merge *m, struct merge_node first)
{
	if (first.key >= m->watermark)
		return 0;
	m->run.source = m->sources[first.source];
	m->run.i = (unsigned int)first.source;
	m->run.n_left = RELEASE_EVERY - m->n_popped[m->run.i];
	m->run.key = first.key;
	m->run.limit = run_limit(m, m->run.i);
	return 1;
}

/* Returns the winner. */
static struct merge_node end_run(struct merge *m)
{
	struct merge_run *r = &m->run;

	if (!r->source)
		return m->tree[1];
	r->source = NULL;
	m->n_popped[r->i] = RELEASE_EVERY - r->n_left;
	return replay(m, r->i, r->key);
}

int merge_next_run(struct merge *m)
{
	if (begin_run(m, end_run(m)))
		return 1;
	new_round(m);
	return begin_run(m, m->tree[1]);
}

int merge_next(struct merge *m, struct merge_item *item)
{
	return merge_next_by(m, m->ops->pop, item);
}

void merge_drain(struct merge *m)
{
	m->draining = 1;
}

uint64_t merge_n_late(const struct merge *m)
{
	return m->run.n_late;
}
