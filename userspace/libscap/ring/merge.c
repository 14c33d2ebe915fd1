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

#define RELEASE_EVERY 128

static unsigned int power_of_two(unsigned int n)
{
	unsigned int p = 2;

	while (p < n)
		p *= 2;
	return p;
}

static void play(struct merge *m, unsigned int node)
{
	const uint32_t a = m->winner[2 * node], b = m->winner[2 * node + 1];

	m->winner[node] = m->keys[a] <= m->keys[b] ? a : b;
}

/* Updates the tree after the first key of @source has changed. */
static void replay(struct merge *m, unsigned int source)
{
	for (unsigned int node = (m->n_leaves + source) / 2; node; node /= 2)
		play(m, node);
}

/* Builds the tree over @n sources: known ones keep their first keys, new ones have none. */
static void build(struct merge *m, unsigned int n)
{
	const unsigned int n_old = m->n;

	m->n = n;
	m->n_leaves = power_of_two(n);
	for (unsigned int i = 0; i < m->n_leaves; i++) {
		m->winner[m->n_leaves + i] = i;
		if (i >= n_old)
			m->keys[i] = MERGE_NO_KEY;
	}
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
	m->winner = calloc(2 * most, sizeof(*m->winner));
	m->keys = calloc(most, sizeof(*m->keys));
	m->n_popped = calloc(n_max, sizeof(*m->n_popped));
	if (!m->winner || !m->keys || !m->n_popped) {
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
	free(m->winner);
	free(m->keys);
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
static void refresh(struct merge *m, unsigned int source, struct ring_bound *bound, uint64_t now)
{
	for (;;) {
		m->ops->refresh(m->sources[source], bound);
		if (!bound->in_flight || m->ops->now(m->clock_ctx) - now > MERGE_IN_FLIGHT_NS)
			return;
		__builtin_ia32_pause();
	}
}

/* Returns the watermark that @source allows. */
static uint64_t source_bound(struct merge *m, unsigned int source)
{
	const uint64_t now = m->ops->now(m->clock_ctx);
	struct ring_bound bound;

	refresh(m, source, &bound, now);
	if (m->draining || (now > bound.open_ns && now - bound.open_ns > MERGE_OPEN_NS))
		return MERGE_NO_KEY;
	return bound.open_ns;
}

static void new_round(struct merge *m)
{
	const uint64_t now = m->ops->now(m->clock_ctx);
	uint64_t watermark = m->draining ? MERGE_NO_KEY : now - MERGE_SLACK_NS;

	if (now - m->round_ns < m->pace_ns && !m->draining)
		return;
	m->round_ns = now;
	for (unsigned int i = 0; i < m->n; i++) {
		uint64_t bound;

		release(m, i);
		bound = source_bound(m, i);
		if (bound < watermark)
			watermark = bound;
		if (m->keys[i] == MERGE_NO_KEY) {
			m->keys[i] = m->ops->key(m->sources[i]);
			replay(m, i);
		}
	}
	if (watermark > m->watermark)
		m->watermark = watermark;
}

/* Returns the limit of a run of @source, the winner. */
static uint64_t run_limit(const struct merge *m, uint32_t source)
{
	uint64_t limit = m->watermark;

	for (unsigned int node = m->n_leaves + source; node > 1; node /= 2) {
		const uint32_t rival = m->winner[node ^ 1];

		if (m->keys[rival] < limit)
			limit = m->keys[rival] + (source < rival);
	}
	return limit;
}

/* Begins the run of the winner. Returns 0 if its first item may not be delivered yet. */
static int begin_run(struct merge *m)
{
	const uint32_t i = m->winner[1];

	if (m->keys[i] >= m->watermark)
		return 0;
	m->run.source = m->sources[i];
	m->run.i = i;
	m->run.n_left = RELEASE_EVERY - m->n_popped[i];
	m->run.key = m->keys[i];
	m->run.limit = run_limit(m, i);
	return 1;
}

static void end_run(struct merge *m)
{
	struct merge_run *r = &m->run;

	r->source = NULL;
	m->keys[r->i] = r->key;
	m->n_popped[r->i] = RELEASE_EVERY - r->n_left;
	replay(m, r->i);
}

int merge_next_run(struct merge *m)
{
	if (m->run.source)
		end_run(m);
	if (begin_run(m))
		return 1;
	new_round(m);
	return begin_run(m);
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
