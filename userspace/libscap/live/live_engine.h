/* SPDX-License-Identifier: Apache-2.0 */
/* The live engine: what its files share. */
#ifndef SCAP_LIVE_LIVE_ENGINE_H
#define SCAP_LIVE_LIVE_ENGINE_H

#include "engine.h"
#include "event/expand.h"
#include "live/calls_under_way.h"
#include "live/live_load.h"
#include "live/live_notes.h"
#include "ring/clock_offset.h"
#include "ring/merge.h"
#include "sampling/deferred_stacks.h"
#include "sampling/live_maps.h"
#include "sampling/live_sampler.h"
#include "unwind/live_unwind.h"

/* Times for which the reader naps while events come; the second one unless options say another. */
#define NAP_MIN_MS 2
#define NAP_MAX_MS 5

/* A ring as a source of the merge: a record that stands for two events is two items. */
struct live_source {
	struct live_engine *engine;
	struct ring *ring; /* NULL: the source of notes, or of mappings */
	int map_ring; /* number of the buffer of mappings; -1: none */
	const struct rec_hdr *rec; /* the first record; NULL: none */
	int enter_due; /* its enter event is next */
	uint64_t n_lost; /* losses of the ring that were noted */
	uint64_t n_records; /* events of the ring that were delivered */
};

struct live_engine {
	struct scap_log log;
	struct live_driver *driver;
	struct scap_state_build *build;
	const struct scap_state *state;
	struct live_source *rings; /* rings as the driver has them; room for all CPUs, also in the
				      arrays below */
	struct live_source *others; /* the source of notes, then buffers of mappings */
	void **sources; /* all sources, in the order in which they were added */
	unsigned int n_rings, n_others;
	cpu_set_t online; /* CPUs for which everything is open */
	struct live_notes *notes;
	struct calls_under_way *under_way; /* calls under way at the start; NULL: none */
	uint64_t begin_ns; /* boot clock when the state was known */
	struct live_maps *maps; /* NULL: not requested */
	struct deferred_stacks *join; /* NULL: no samples */
	struct live_unwind *unwind; /* NULL: no tables */
	int has_samples; /* some of these three are there */
	int held; /* an event that waits for others that go before it */
	struct scap_evt held_evt;
	uint64_t stack_wait_ns; /* since when it waits for its stack, and all events behind it; 0:
			     it does not */
	struct ppm_evt_hdr *part; /* the stack of a sample */
	int part_due; /* deliver it as it is, not joined */
	uint64_t at_ns; /* time of the stream */
	struct merge *merge;
	struct scap_expand *expand;
	struct clock_offset epoch;
	uint64_t now; /* boot clock, as last read */
	uint64_t next_clock_check;
	uint64_t n_bad;
	struct scap_cpu_stats *cpu_stats; /* array of DRV_MAX_CPUS */
	struct scap_running running[DRV_MAX_CPUS]; /* lent to the caller */
	int nap_ms, nap_max_ms;
	int quiet; /* the last nap brought no events */
	int stopped;
};

/* Returns the boot clock, and keeps it in e->now. */
uint64_t live_boot_now(void *engine);

/* ---- live_sources.c: rings, notes and mappings as sources of the merge ---- */

/* Opens all of them. Returns 0 or -ENOMEM. */
int live_open_sources(struct live_engine *e);
/* Adds rings and buffers that are new. Returns the number of all sources. */
unsigned int live_add_sources(struct live_engine *e);
/* Returns the next call that was under way at the start, before any note; NULL: none. */
const struct rec_hdr *live_next_call_under_way(const struct live_engine *e);

/* Pops the first record, or note. Returns the key of the next one. */
uint64_t live_pop_record(struct live_source *s);

/* ---- live_events.c: the stream of events ---- */

int live_next(void *engine, struct scap_evt *evt, int timeout_ms);
int live_next_split(void *engine, struct scap_evt *evt, struct scap_params *params, int timeout_ms);

/* ---- engine_live.c: what follows the clock and the CPUs ---- */

/* Follows intervals of sampling, and CPUs that come online. */
void live_follow_sampler(struct live_engine *e, uint64_t now);
/* Reopens perf events: CPUs that come back lost theirs, new ones have none yet. */
void live_follow_online(struct live_engine *e);
/* Handles the event of a CPU that is about to come online. */
void live_follow_hotplug(struct live_engine *e, const struct scap_evt *evt);

/* ---- live_stats.c: counters, and running threads ---- */

int live_running_threads(void *engine, const struct scap_running **out);
int live_stats(const void *engine, struct scap_stats *st);
int live_sampler_stats_of(const void *engine, struct scap_sampler_stats *st);

#endif /* SCAP_LIVE_LIVE_ENGINE_H */
