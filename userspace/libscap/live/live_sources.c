/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sources of the merge: the ring of each CPU, notes (losses, clock steps, the sampler) with the
 * calls under way at the start, and the buffers of mappings.
 */
#include <errno.h>
#include <stdlib.h>

#include "live/live_engine.h"

/* A round takes a microsecond, in which a busy CPU writes a record or two. */
#define ROUND_NS 100000

/* Notes what a ring lost since the last time. */
static void note_lost(struct live_engine *e, unsigned int i)
{
	struct live_source *s = &e->rings[i];
	const uint64_t n_lost = ring_n_lost(s->ring);
	int noted = 1;

	if (n_lost == s->n_lost)
		return;
	for (unsigned int why = 0; why < DRV_DROP_MAX; why++) {
		struct ring_lost lost;

		ring_lost(s->ring, why, &lost);
		if (!lost.from_ns)
			continue;
		if (live_notes_lost(e->notes, ring_cpu(s->ring), why, &lost, &e->epoch))
			ring_set_reported(s->ring, why, lost.to_ns);
		else
			noted = 0;
	}
	if (noted)
		s->n_lost = n_lost;
}

static void source_refresh(void *source, struct ring_bound *bound)
{
	struct live_source *s = source;

	if (s->ring) {
		ring_refresh(s->ring, bound);
		return;
	}
	*bound = (struct ring_bound){.open_ns = UINT64_MAX};
	if (s->map_ring >= 0) {
		live_maps_refresh(s->engine->maps, (unsigned int)s->map_ring);
		return;
	}
	for (unsigned int i = 0; i < s->engine->n_rings; i++)
		note_lost(s->engine, i);
}

/* Returns the next call that was under way at the start, before any note; NULL: none. */
const struct rec_hdr *live_next_call_under_way(const struct live_engine *e)
{
	const struct rec_hdr *rec = e->under_way ? calls_under_way_first(e->under_way) : NULL;
	const struct ppm_evt_hdr *note;
	uint16_t cpu;

	if (!rec)
		return NULL;
	note = live_notes_first(e->notes, &cpu);
	return note && note->ts < rec->evt.ts ? NULL : rec;
}

static uint64_t notes_key(const struct live_engine *e)
{
	uint16_t cpu;
	const struct rec_hdr *under_way = live_next_call_under_way(e);
	const struct ppm_evt_hdr *note =
		under_way ? &under_way->evt : live_notes_first(e->notes, &cpu);

	return note ? note->ts : MERGE_NO_KEY;
}

static void notes_pop(struct live_engine *e)
{
	if (live_next_call_under_way(e))
		calls_under_way_pop(e->under_way);
	else
		live_notes_pop(e->notes);
}

/* Reads the first record of a ring. Returns its key. */
static inline uint64_t first_key(struct live_source *s)
{
	s->rec = ring_peek(s->ring);
	if (!s->rec)
		return MERGE_NO_KEY;
	s->enter_due = scap_rec_has_enter(s->rec);
	return rec_key(s->rec);
}

static __attribute__((noinline)) uint64_t other_key(struct live_source *s)
{
	return s->map_ring >= 0 ? live_maps_key(s->engine->maps, (unsigned int)s->map_ring)
				: notes_key(s->engine);
}

static uint64_t source_key(void *source)
{
	struct live_source *s = source;

	if (!s->ring)
		return other_key(s);
	return s->rec ? MERGE_NO_KEY : first_key(s); /* a record whose time is MERGE_NO_KEY */
}

static __attribute__((noinline)) uint64_t other_pop(struct live_source *s)
{
	if (s->map_ring >= 0)
		live_maps_pop(s->engine->maps, (unsigned int)s->map_ring);
	else
		notes_pop(s->engine);
	return other_key(s);
}

uint64_t live_pop_record(struct live_source *s)
{
	if (!s->ring)
		return other_pop(s);
	ring_advance(s->ring);
	s->n_records++;
	return first_key(s);
}

static void source_release(void *source)
{
	struct live_source *s = source;

	if (s->ring)
		ring_release(s->ring);
	else if (s->map_ring >= 0)
		live_maps_release(s->engine->maps, (unsigned int)s->map_ring);
}

static const struct merge_ops ring_merge_ops = {
	.refresh = source_refresh,
	.key = source_key,
	.release = source_release,
	.now = live_boot_now,
};

/* Adds rings and buffers that are new to the sources. */
unsigned int live_add_sources(struct live_engine *e)
{
	const unsigned int n_others = 1 + (e->maps ? live_maps_n(e->maps) : 0);

	for (; e->n_rings < live_n_rings(e->driver); e->n_rings++) {
		struct live_source *s = &e->rings[e->n_rings];

		*s = (struct live_source){
			.engine = e, .ring = live_ring(e->driver, e->n_rings), .map_ring = -1};
		e->sources[e->n_rings + e->n_others] = s;
	}
	for (; e->n_others < n_others; e->n_others++) {
		struct live_source *s = &e->others[e->n_others];

		*s = (struct live_source){.engine = e, .map_ring = (int)e->n_others - 1};
		e->sources[e->n_rings + e->n_others] = s;
	}
	return e->n_rings + e->n_others;
}

int live_open_sources(struct live_engine *e)
{
	const unsigned int n_cpus = live_n_cpus(e->driver), n_max = 2 * n_cpus + 1;

	e->rings = calloc(n_cpus, sizeof(*e->rings));
	e->others = calloc(n_cpus + 1, sizeof(*e->others));
	e->sources = calloc(n_max, sizeof(*e->sources));
	e->cpu_stats = calloc(DRV_MAX_CPUS, sizeof(*e->cpu_stats));
	if (!e->rings || !e->others || !e->sources || !e->cpu_stats)
		return -ENOMEM;
	e->notes = live_notes_new();
	e->merge = merge_new(&ring_merge_ops, e->sources, live_add_sources(e), n_max, e);
	e->expand = scap_expand_new();
	if (!e->notes || !e->merge || !e->expand)
		return -ENOMEM;
	merge_set_pace(e->merge, ROUND_NS);
	return 0;
}
