/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream of events of a live capture: records in order of time, expanded into enter and exit
 * events; mappings before the samples that need them; samples with their deferred stacks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_engine.h"
#include "shared/stack.h"

#define SLEEP_MS 1000 /* while no events come */
#define CLOCK_CHECK_NS 1000000000ull
#define NOTICEABLE_STEP_NS 100000000ll /* for messages */
#define STACK_WAIT_NS 500000000ull /* maximum, for tables */

/* Delivers an event that is in no ring. */
static int plain_event(struct scap_evt *evt, const struct ppm_evt_hdr *hdr)
{
	evt->hdr = hdr;
	if (!hdr)
		return -ENOENT;
	evt->type = hdr->type;
	evt->nr = REC_NR_NONE;
	evt->flags = 0;
	return 0;
}

/* Delivers a call that was under way at the start, or a note. */
static int expand_note(struct live_engine *e, struct scap_evt *evt)
{
	const struct rec_hdr *under_way = live_next_call_under_way(e);
	int err;

	if (!under_way)
		return plain_event(evt, live_notes_first(e->notes, &evt->cpu));
	evt->cpu = under_way->cpu;
	err = scap_expand_enter(e->expand, evt, NULL, under_way);
	evt->flags |= SCAP_EVT_F_BEFORE;
	return err;
}

static int expand_map(struct scap_evt *evt, struct live_maps *maps, unsigned int i)
{
	evt->cpu = (uint16_t)live_maps_cpu(maps, i);
	return plain_event(evt, live_maps_event(maps, i));
}

/* Expands what is in no ring of the driver. */
static __attribute__((noinline)) int expand_other(struct live_engine *e, struct scap_evt *evt,
						  struct scap_params *params,
						  const struct live_source *s)
{
	int err = s->map_ring >= 0 ? expand_map(evt, e->maps, (unsigned int)s->map_ring)
				   : expand_note(e, evt);

	if (!err && params)
		scap_evt_params(evt->hdr, params);
	return err;
}

static inline int expand(struct live_engine *e, struct scap_evt *evt, struct scap_params *params,
			 const struct live_source *s)
{
	if (!s->ring)
		return expand_other(e, evt, params, s);
	evt->cpu = (uint16_t)ring_cpu(s->ring);
	if (s->enter_due || s->rec->flags & REC_F_RAW_ENTER)
		return scap_expand_enter(e->expand, evt, params, s->rec);
	return scap_expand_exit(evt, params, s->rec);
}

/* Follows steps of the clock, between events. */
static __attribute__((noinline)) void check_clock(struct live_engine *e)
{
	const uint64_t now = live_boot_now(e);
	const int64_t offset = clock_offset_read(),
		      step = clock_offset_update(&e->epoch, now, offset);

	e->next_clock_check = now + CLOCK_CHECK_NS;
	if (step)
		live_notes_clock_step(e->notes, now, step, offset);
	live_follow_sampler(e, now);
	live_follow_online(e);
	if (step > NOTICEABLE_STEP_NS)
		scap_say(&e->log, SCAP_LOG_WARN,
			 "the clock was set forward by %.3f s; timestamps follow it", step / 1e9);
	if (step < -NOTICEABLE_STEP_NS)
		scap_say(&e->log, SCAP_LOG_WARN,
			 "the clock was set back by %.3f s; timestamps run slower until they agree "
			 "with it",
			 -step / 1e9);
}

/* Injects the mappings of a process before its first sample, and drops them at its end. */
static void follow_maps(struct live_engine *e, const struct scap_evt *evt)
{
	uint64_t pid;

	if (evt->type == EVT_SAMPLE_E && !scap_evt_u64(evt->hdr, "pid", &pid))
		live_maps_need(e->maps, (uint32_t)pid);
	if (evt->type == EVT_MAP_EXIT_E && !scap_evt_u64(evt->hdr, "pid", &pid))
		live_maps_drop(e->maps, (uint32_t)pid);
}

/* Injected events are borrowed by the caller until the next call. */
static const struct ppm_evt_hdr *next_part(struct live_engine *e)
{
	const struct ppm_evt_hdr *hdr = e->part_due ? e->part : NULL;

	e->part_due = 0;
	return hdr;
}

/* Returns 1 with the next event that is in no ring: mappings, and samples that are complete now. */
static int next_injected(struct live_engine *e, struct scap_evt *evt)
{
	const struct ppm_evt_hdr *hdr = e->maps ? live_maps_next(e->maps) : NULL;

	if (!hdr)
		hdr = next_part(e);
	if (hdr) {
		plain_event(evt, hdr);
		evt->cpu = 0;
		evt->true_ns = e->at_ns;
	} else if (!e->join || !deferred_stacks_next(e->join, evt)) {
		return 0;
	}
	if (evt->true_ns != e->at_ns)
		evt->flags |= SCAP_EVT_F_CLAMPED;
	evt->ts_ns = e->at_ns;
	return 1;
}

/* Returns 1 with an event that goes before @evt, which then waits. */
static int inject_before(struct live_engine *e, struct scap_evt *evt)
{
	struct scap_evt before;

	if (!next_injected(e, &before))
		return 0;
	e->held_evt = *evt;
	e->held = 1;
	*evt = before;
	return 1;
}

/* Returns 1 if @evt is a part of a sample, kept until that is complete. */
static int is_part(struct live_engine *e, const struct scap_evt *evt)
{
	if (!e->join)
		return 0;
	deferred_stacks_expire(e->join, evt->true_ns);
	return deferred_stacks_put(e->join, evt) == 1;
}

/* ---- samples that were taken before their tables were there ---- */

/* Returns the id under which the thread that builds tables sends the sample's stack; 0: it is
 * complete, or the driver will complete it. */
static uint64_t pending_stack(const struct scap_evt *evt)
{
	struct scap_params ps;

	if (evt->type != EVT_SAMPLE_E || scap_evt_params(evt->hdr, &ps) || ps.n <= SAMPLE_P_ID ||
	    ps.v[SAMPLE_P_ID].len != sizeof(uint64_t) || ps.v[SAMPLE_P_END].len != 1 ||
	    ps.v[SAMPLE_P_END].p[0] == STACK_END_DEFERRED)
		return 0;
	return get_u64(ps.v[SAMPLE_P_ID].p);
}

/* Returns 1 if nothing more will come for the sample @evt. */
static int has_stack(struct live_engine *e, const struct scap_evt *evt)
{
	struct ppm_evt_hdr *hdr;
	struct scap_evt stack;

	if (!live_unwind_pop_stack(e->unwind, &hdr, pending_stack(evt)))
		return 0;
	if (!hdr)
		return 1;
	plain_event(&stack, hdr);
	if (e->join)
		deferred_stacks_put(e->join, &stack);
	free(e->part);
	e->part = hdr;
	e->part_due = !e->join;
	return 1;
}

static int is_short_of_room(const struct live_engine *e)
{
	for (unsigned int i = 0; i < e->n_rings; i++)
		if (ring_is_half_full(e->rings[i].ring))
			return 1;
	return 0;
}

/* Returns whether the held sample keeps waiting. All events behind it wait in their rings: they may
 * change mappings, and its frames must be named by the mappings of its own time. */
static int waits_for_stack(struct live_engine *e)
{
	if (!e->stack_wait_ns || has_stack(e, &e->held_evt))
		return 0;
	/* At the end everything has come. */
	return live_sampler_is_running(live_sampler_of(e->driver)) &&
	       live_boot_now(e) - e->stack_wait_ns < STACK_WAIT_NS && !is_short_of_room(e);
}

/* Returns 1 if @evt is a sample that is held until its stack comes. */
static int hold_for_stack(struct live_engine *e, const struct scap_evt *evt)
{
	if (!e->unwind || !pending_stack(evt))
		return 0;
	e->held_evt = *evt;
	e->held = 1;
	e->stack_wait_ns = live_boot_now(e);
	return 1;
}

/* Delivers the event that is held; 0: it keeps waiting. */
static int held_event(struct live_engine *e, struct scap_evt *evt)
{
	if (waits_for_stack(e))
		return 0;
	*evt = e->held_evt;
	e->held = 0;
	if (!e->stack_wait_ns)
		return 1;
	e->stack_wait_ns = 0;
	return !is_part(e, evt) || next_injected(e, evt);
}

/* An event that is late, has the time of the one before. */
static inline void set_time(struct live_engine *e, struct scap_evt *evt, uint64_t key,
			    uint64_t order)
{
	evt->ts_ns = evt->true_ns = e->at_ns = clock_offset_ns(&e->epoch, order);
	if (order == key)
		return;
	evt->true_ns -= order - key;
	evt->flags |= SCAP_EVT_F_CLAMPED;
}

/* Pops the first event of a source of the merge. Returns the key of the next one. */
static inline uint64_t pop_event(void *source)
{
	struct live_source *s = source;

	if (!s->enter_due)
		return live_pop_record(s);
	s->enter_due = 0;
	return s->rec->evt.ts;
}

/* Returns 1 with the next event of the sources, 0 if none may be delivered yet. Inlined: this runs
 * for every event. */
static inline __attribute__((always_inline)) int
next_of_sources(struct live_engine *e, struct scap_evt *evt, struct scap_params *params)
{
	struct merge_item item;

	if (e->now >= e->next_clock_check)
		check_clock(e);
	while (merge_next_by(e->merge, pop_event, &item)) {
		const struct live_source *s = e->sources[item.source];

		if (expand(e, evt, params, s)) {
			e->n_bad += s->ring != NULL;
			continue;
		}
		set_time(e, evt, item.key, item.order);
		if (evt->type == EVT_CPU_HOTPLUG_E)
			live_follow_hotplug(e, evt);
		return 1;
	}
	return 0;
}

/* Returns as next_of_sources, with samples: some events go before others, or wait. */
static int next_sampled(struct live_engine *e, struct scap_evt *evt)
{
	if (next_injected(e, evt))
		return 1;
	if (e->held)
		return held_event(e, evt);
	while (next_of_sources(e, evt, NULL)) {
		if (e->maps)
			follow_maps(e, evt);
		if (hold_for_stack(e, evt))
			return next_injected(e, evt) || held_event(e, evt);
		if (!is_part(e, evt)) {
			inject_before(e, evt);
			return 1;
		}
		if (next_injected(e, evt))
			return 1;
	}
	if (e->stopped && e->join)
		deferred_stacks_expire(e->join, UINT64_MAX);
	return e->stopped && next_injected(e, evt);
}

static __attribute__((noinline)) int next_with_samples(struct live_engine *e, struct scap_evt *evt,
						       struct scap_params *params)
{
	if (!next_sampled(e, evt))
		return 0;
	if (params)
		scap_evt_params(evt->hdr, params);
	return 1;
}

/* Returns 1 with an event, 0 if none may be delivered yet. @params: its parameters, or NULL. */
static inline __attribute__((always_inline)) int
next_event(struct live_engine *e, struct scap_evt *evt, struct scap_params *params)
{
	return e->has_samples ? next_with_samples(e, evt, params) : next_of_sources(e, evt, params);
}

static void set_asleep(struct live_engine *e, enum ring_sleep how)
{
	for (unsigned int i = 0; i < e->n_rings; i++)
		ring_set_asleep(e->rings[i].ring, how);
}

/* Returns whether everything was read that the driver wrote. The rings are asleep. */
static int all_read(const struct live_engine *e)
{
	for (unsigned int i = 0; i < e->n_rings; i++)
		if (ring_unread(e->rings[i].ring))
			return 0;
	return 1;
}

/* While events come the reader naps before it reads again, so that one wake-up serves many. After a
 * nap without events it sleeps, and the next record wakes it. Returns false if interrupted. */
static int nap(struct live_engine *e, int timeout_ms)
{
	const int sleeps = e->quiet && !e->held && all_read(e);
	const int most = sleeps ? SLEEP_MS : e->held ? NAP_MIN_MS : e->nap_ms;
	int ret = live_wait(e->driver, timeout_ms < 0 || timeout_ms > most ? most : timeout_ms);

	e->quiet = ret == 0;
	return ret >= 0;
}

/* Sleeps until an event may be delivered. A negative timeout means none. */
static int wait_for_event(struct live_engine *e, struct scap_evt *evt, struct scap_params *params,
			  int timeout_ms)
{
	const uint64_t start = live_boot_now(e);
	int found, left_ms = timeout_ms;

	for (;;) {
		set_asleep(e, e->quiet ? RING_SLEEPS : RING_NAPS);
		/* Records that came before the driver saw that we sleep ring no doorbell. */
		found = next_event(e, evt, params);
		if (found || left_ms == 0)
			break;
		if (!nap(e, left_ms))
			break; /* a signal: the caller may want to end */
		if (timeout_ms > 0) {
			uint64_t passed_ms = (live_boot_now(e) - start) / 1000000;

			left_ms =
				passed_ms < (uint64_t)timeout_ms ? timeout_ms - (int)passed_ms : 0;
		}
	}
	set_asleep(e, RING_AWAKE);
	return found;
}

/* Works as live_next_split if there is no event at once. */
static __attribute__((noinline)) int next_after_wait(struct live_engine *e, struct scap_evt *evt,
						     struct scap_params *params, int timeout_ms)
{
	int found;

	if (e->stopped)
		return -ENODATA;
	found = wait_for_event(e, evt, params, timeout_ms);
	if (found)
		e->nap_ms = e->nap_ms * 2 < e->nap_max_ms ? e->nap_ms * 2 : e->nap_max_ms;
	else if (timeout_ms) /* otherwise the caller only polled before it waits */
		e->nap_ms = NAP_MIN_MS;
	return found;
}

int live_next_split(void *engine, struct scap_evt *evt, struct scap_params *params, int timeout_ms)
{
	if (next_event(engine, evt, params))
		return 1;
	return next_after_wait(engine, evt, params, timeout_ms);
}

int live_next(void *engine, struct scap_evt *evt, int timeout_ms)
{
	return live_next_split(engine, evt, NULL, timeout_ms);
}
