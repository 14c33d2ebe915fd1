/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live engine: the driver's rings, merged by time and expanded into enter and exit events. The
 * driver is attached before the state of the machine is read, so that nothing is missed in between;
 * events of a thread older than its snapshot are known by their time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "event/expand.h"
#include "live/calls_under_way.h"
#include "live/live_load.h"
#include "live/live_notes.h"
#include "procfs/online_cpus.h"
#include "procfs/proc_scan.h"
#include "procfs/task_rows.h"
#include "ring/clock_offset.h"
#include "ring/merge.h"
#include "sampling/deferred_stacks.h"
#include "sampling/live_maps.h"
#include "sampling/live_sampler.h"
#include "shared/stack.h"
#include "unwind/live_unwind.h"

/* Times for which the reader naps while events come, and sleeps when none do. */
#define NAP_MIN_MS 2
#define NAP_MAX_MS 5
#define SLEEP_MS 1000
#define CLOCK_CHECK_NS 1000000000ull
#define NOTICEABLE_STEP_NS 100000000ll /* for messages */
#define INITIAL_PIDNS_INO 0xEFFFFFFCu /* the kernel's PROC_PID_INIT_INO */
#define COLD_WAIT_NS 500000000ull /* maximum, for tables */
#define SETTLE_MS 2000
#define STOP_GRACE_NS 1000000 /* programs that were still running while they were detached */

/* A ring as a source of the merge: a record that stands for two events is two items. */
struct live_source {
	struct live_engine *engine;
	struct ring *ring; /* NULL: the source of notes, or of mappings */
	int map_ring; /* number of the buffer of mappings; -1: none */
	const struct rec_hdr *rec; /* the first record; NULL: none, or not read yet */
	int enter_done;
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
	struct live_stuck *stuck; /* calls under way at the start; NULL: none */
	uint64_t begin_ns; /* boot clock when the set-up was complete */
	struct live_maps *maps; /* NULL: not requested */
	struct sample_join *join; /* NULL: no samples */
	struct live_unwind *unwind; /* NULL: no tables */
	int held; /* an event that waits for others that go before it */
	struct scap_evt held_evt;
	uint64_t cold_ns; /* since when it waits for its stack, and all events behind it; 0: it does
			     not */
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
	int nap_ms;
	int quiet; /* the last nap brought no events */
	int stopped;
};

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
			ring_told(s->ring, why, lost.to_ns);
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
static const struct rec_hdr *stuck_first(const struct live_engine *e)
{
	const struct rec_hdr *rec = e->stuck ? live_stuck_first(e->stuck) : NULL;
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
	const struct rec_hdr *stuck = stuck_first(e);
	const struct ppm_evt_hdr *note = stuck ? &stuck->evt : live_notes_first(e->notes, &cpu);

	return note ? note->ts : MERGE_NO_KEY;
}

static void notes_pop(struct live_engine *e)
{
	if (stuck_first(e))
		live_stuck_pop(e->stuck);
	else
		live_notes_pop(e->notes);
}

static uint64_t source_key(void *source)
{
	struct live_source *s = source;

	if (s->map_ring >= 0)
		return live_maps_key(s->engine->maps, (unsigned int)s->map_ring);
	if (!s->ring)
		return notes_key(s->engine);
	if (!s->rec)
		s->rec = ring_peek(s->ring);
	if (!s->rec)
		return MERGE_NO_KEY;
	return s->enter_done ? s->rec->evt.ts : rec_key(s->rec);
}

static int at_enter(const struct live_source *s)
{
	return !s->enter_done && scap_rec_has_enter(s->rec);
}

static void source_pop(void *source)
{
	struct live_source *s = source;

	if (s->map_ring >= 0) {
		live_maps_pop(s->engine->maps, (unsigned int)s->map_ring);
		return;
	}
	if (!s->ring) {
		notes_pop(s->engine);
		return;
	}
	if (at_enter(s)) {
		s->enter_done = 1;
		return;
	}
	ring_advance(s->ring);
	s->rec = NULL;
	s->enter_done = 0;
	s->n_records++;
}

static void source_release(void *source)
{
	struct live_source *s = source;

	if (s->ring)
		ring_release(s->ring);
	else if (s->map_ring >= 0)
		live_maps_release(s->engine->maps, (unsigned int)s->map_ring);
}

static uint64_t boot_now(void *engine)
{
	struct live_engine *e = engine;
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	e->now = (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	return e->now;
}

static const struct merge_ops ring_merge_ops = {
	.refresh = source_refresh,
	.key = source_key,
	.pop = source_pop,
	.release = source_release,
	.now = boot_now,
};

static void live_engine_close(void *engine)
{
	struct live_engine *e = engine;

	if (!e)
		return;
	merge_free(e->merge);
	live_notes_free(e->notes);
	live_stuck_free(e->stuck);
	live_maps_close(e->maps);
	sample_join_free(e->join);
	free(e->part);
	live_close(e->driver);
	scap_expand_free(e->expand);
	scap_state_build_free(e->build);
	free(e->rings);
	free(e->others);
	free(e->sources);
	free(e->cpu_stats);
	free(e);
}

static int load_driver(struct live_engine *e, const struct scap_open_opts *opts, int only_samples)
{
	const struct live_opts lo = {
		.sz = sizeof(lo),
		.ring_kind = opts->ring_kind,
		.ring_sz = opts->ring_sz,
		.snaplen = opts->snaplen,
		.page_faults = opts->page_faults != 0,
		.switches = (int)opts->switches,
		.snap_ports = opts->snap_ports,
		.n_snap_ports = opts->n_snap_ports,
		.sampling = opts->sampling,
		.cpus_per_ring = opts->cpus_per_ring,
		.select = opts->select,
		.sampler = opts->sampler,
		.only_samples = only_samples,
	};

	return live_load(&e->driver, &lo, &e->log);
}

/* Adds rings and buffers that are new to the sources. */
static unsigned int add_sources(struct live_engine *e)
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

static int open_sources(struct live_engine *e)
{
	const unsigned int n_cpus = live_n_cpus(e->driver), n_max = 2 * n_cpus + 1;

	e->rings = calloc(n_cpus, sizeof(*e->rings));
	e->others = calloc(n_cpus + 1, sizeof(*e->others));
	e->sources = calloc(n_max, sizeof(*e->sources));
	e->cpu_stats = calloc(DRV_MAX_CPUS, sizeof(*e->cpu_stats));
	if (!e->rings || !e->others || !e->sources || !e->cpu_stats)
		return -ENOMEM;
	e->notes = live_notes_new();
	e->merge = merge_new(&ring_merge_ops, e->sources, add_sources(e), n_max, e);
	e->expand = scap_expand_new();
	return e->notes && e->merge && e->expand ? 0 : -ENOMEM;
}

static int scan_state(struct live_engine *e, const struct scap_open_opts *opts)
{
	const struct scap_scan_opts so = {
		.sz = sizeof(so),
		.no_environ = opts->no_environ != 0,
		.no_users = opts->no_users != 0,
		.epoch_offset_ns = e->epoch.leg.offset,
		.task_rows_fd = live_task_rows(e->driver),
	};
	int err = -ENOMEM;

	e->build = scap_state_build_new();
	if (e->build)
		err = scap_scan_machine(e->build, &e->log, &so);
	if (so.task_rows_fd >= 0)
		close(so.task_rows_fd);
	if (!err)
		e->state = scap_state_build_done(e->build);
	return err;
}

/* Reads the calls under way. On failure the capture goes on without them. */
static void read_stuck(struct live_engine *e)
{
	int fd = live_stuck_rows(e->driver), err = fd;

	if (fd == -ENODATA) /* not requested */
		return;
	if (fd >= 0) {
		err = live_stuck_read(&e->stuck, fd, e->begin_ns);
		close(fd);
	}
	if (err < 0)
		scap_say(&e->log, SCAP_LOG_WARN,
			 "cannot read the syscalls in progress: %s; threads that already wait are "
			 "not shown",
			 strerror(-err));
}

/* The driver has the machine's PIDs, /proc those of the namespace: names and files would be those
 * of other processes. */
static int check_namespace(const struct scap_log *log)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_PIDNS_INO)
		return 0;
	return scap_fail(
		log, -EXDEV,
		"saker runs in a PID namespace, where the PIDs in /proc are not those of the "
		"kernel; run it on the host, or in the host's PID namespace (--pid=host)");
}

/* Notes what the sampler does now, for readers of the file. */
static void note_sampler(struct live_engine *e, enum sampler_action action)
{
	const struct live_sampler *s = live_sampler_of(e->driver);
	struct scap_sampler_stats st;

	if (!s)
		return;
	live_sampler_stats(s, &st);
	live_notes_sampler(e->notes, boot_now(e), action, &st);
}

/* Follows intervals of sampling, and CPUs that come online. */
static void follow_sampler(struct live_engine *e, uint64_t now)
{
	struct live_sampler *s = live_sampler_of(e->driver);
	unsigned int cpu;
	int on;

	if (!s)
		return;
	if (live_sampler_tick(s, now, &on))
		note_sampler(e, on ? SAMPLER_RESUME : SAMPLER_PAUSE);
	while (live_sampler_revive(s, now, &cpu))
		CPU_CLR(cpu, &e->online);
}

static void come_online(struct live_engine *e, unsigned int cpu)
{
	if (e->maps)
		live_maps_revive(e->maps, cpu);
	if (e->unwind)
		live_unwind_revive(e->unwind, cpu);
}

/* CPUs that come back lost their perf events, new ones have none yet. */
static void follow_cpus(struct live_engine *e)
{
	cpu_set_t online;

	if (online_cpus(&online))
		return;
	live_follow_cpus(e->driver, &online);
	for (unsigned int cpu = 0; cpu < live_n_cpus(e->driver); cpu++)
		if (CPU_ISSET(cpu, &online) && !CPU_ISSET(cpu, &e->online))
			come_online(e, cpu);
	e->online = online;
	merge_extend(e->merge, add_sources(e));
}

/* Its ring exists before the CPU runs; the rest is opened when it runs. */
static void follow_hotplug(struct live_engine *e, const struct scap_evt *evt)
{
	struct scap_params ps;
	uint32_t cpu;

	if (scap_evt_params(evt->hdr, &ps) || ps.v[0].len != sizeof(cpu))
		return;
	cpu = get_u32(ps.v[0].p);
	if (cpu >= live_n_cpus(e->driver))
		return;
	CPU_CLR(cpu, &e->online);
	live_expect_cpu(e->driver, cpu);
	merge_extend(e->merge, add_sources(e));
}

static int start_sampler(struct live_engine *e)
{
	struct live_sampler *s = live_sampler_of(e->driver);
	int err;

	if (!s)
		return 0;
	live_begin_waits(e->driver);
	err = live_sampler_start(s);
	if (err)
		return err;
	note_sampler(e, SAMPLER_START);
	follow_sampler(e, boot_now(e));
	return 0;
}

/* Starts reading: the driver is loaded and attached. */
static int open_driver(struct live_engine *e, const struct scap_open_opts *opts, int only_samples)
{
	const struct scap_sampler_opts *so = opts->sampler;
	int err;

	e->nap_ms = NAP_MIN_MS;
	clock_offset_init(&e->epoch, clock_offset_read());
	err = check_namespace(&e->log);
	err = err ?: online_cpus(&e->online);
	err = err ?: load_driver(e, opts, only_samples);
	if (so && so->maps)
		err = err ?: live_maps_open(&e->maps, &e->log);
	if (so && !so->parts && !err) {
		e->join = sample_join_new();
		err = e->join ? 0 : -ENOMEM;
	}
	if (!err)
		e->unwind = live_unwind_of(e->driver);
	return err ?: open_sources(e) ?: live_attach(e->driver);
}

static int finish_open(void **engine, struct live_engine *e, int err, const struct scap_log *log)
{
	if (!err) {
		*engine = e;
		return 0;
	}
	live_engine_close(e);
	return err == -ENOMEM ? scap_fail(log, err, "not enough memory for a live capture") : err;
}

int scap_live_open(void **engine, const struct scap_open_opts *opts, const struct scap_log *log)
{
	struct live_engine *e = calloc(1, sizeof(*e));
	int err = -ENOMEM;

	if (e) {
		e->log = *log;
		err = open_driver(e, opts, 0);
		err = err ?: start_sampler(e);
		err = err ?: scan_state(e, opts);
	}
	if (!err) {
		e->begin_ns = boot_now(e);
		read_stuck(e);
	}
	return finish_open(engine, e, err, log);
}

int scap_live_open_sampler(void **engine, const struct scap_open_opts *opts,
			   const struct scap_log *log)
{
	struct live_engine *e = calloc(1, sizeof(*e));
	int err = -ENOMEM;

	if (e) {
		e->log = *log;
		err = open_driver(e, opts, 1);
	}
	return finish_open(engine, e, err, log);
}

int scap_live_stop_sampler(void *engine)
{
	struct live_engine *e = engine;
	int err = live_sampler_stop(live_sampler_of(e->driver));

	if (!err && e->unwind)
		live_unwind_settle(e->unwind, SETTLE_MS);
	return err;
}

struct live_sampler *scap_live_sampler(void *engine)
{
	return live_sampler_of(((struct live_engine *)engine)->driver);
}

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
	const struct rec_hdr *stuck = stuck_first(e);
	int err;

	if (!stuck)
		return plain_event(evt, live_notes_first(e->notes, &evt->cpu));
	evt->cpu = stuck->cpu;
	err = scap_expand_enter(e->expand, evt, stuck);
	evt->flags |= SCAP_EVT_F_BEFORE;
	return err;
}

static int expand_map(struct scap_evt *evt, struct live_maps *maps, unsigned int i)
{
	evt->cpu = (uint16_t)live_maps_cpu(maps, i);
	return plain_event(evt, live_maps_event(maps, i));
}

static int expand(struct live_engine *e, struct scap_evt *evt, const struct live_source *s)
{
	if (s->map_ring >= 0)
		return expand_map(evt, e->maps, (unsigned int)s->map_ring);
	if (!s->ring)
		return expand_note(e, evt);
	evt->cpu = (uint16_t)ring_cpu(s->ring);
	if (at_enter(s) || s->rec->flags & REC_F_RAW_ENTER)
		return scap_expand_enter(e->expand, evt, s->rec);
	return scap_expand_exit(evt, s->rec);
}

/* Follows steps of the clock, between events. */
static void check_clock(struct live_engine *e)
{
	const uint64_t now = boot_now(e);
	const int64_t offset = clock_offset_read(),
		      step = clock_offset_update(&e->epoch, now, offset);

	e->next_clock_check = now + CLOCK_CHECK_NS;
	if (step)
		live_notes_clock_step(e->notes, now, step, offset);
	follow_sampler(e, now);
	follow_cpus(e);
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
		live_maps_forget(e->maps, (uint32_t)pid);
}

/* Injected events are borrowed by the caller until the next call. */
static const struct ppm_evt_hdr *take_part(struct live_engine *e)
{
	const struct ppm_evt_hdr *hdr = e->part_due ? e->part : NULL;

	e->part_due = 0;
	return hdr;
}

/* Returns 1 with the next event that is in no ring: mappings, and samples that are complete now. */
static int next_aside(struct live_engine *e, struct scap_evt *evt)
{
	const struct ppm_evt_hdr *hdr = e->maps ? live_maps_next(e->maps) : NULL;

	if (!hdr)
		hdr = take_part(e);
	if (hdr) {
		plain_event(evt, hdr);
		evt->cpu = 0;
		evt->true_ns = e->at_ns;
	} else if (!e->join || !sample_join_next(e->join, evt)) {
		return 0;
	}
	if (evt->true_ns != e->at_ns)
		evt->flags |= SCAP_EVT_F_CLAMPED;
	evt->ts_ns = e->at_ns;
	return 1;
}

/* Returns 1 with an event that goes before @evt, which then waits. */
static int one_before(struct live_engine *e, struct scap_evt *evt)
{
	struct scap_evt before;

	if (!next_aside(e, &before))
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
	sample_join_expire(e->join, evt->true_ns);
	return sample_join_put(e->join, evt) == 1;
}

/* ---- samples that were taken before their tables were there ---- */

/* Returns the id under which the thread that builds tables sends the sample's stack; 0: it is
 * complete, or the driver will complete it. */
static uint64_t cold_id(const struct scap_evt *evt)
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

	if (!live_unwind_take(e->unwind, &hdr, cold_id(evt)))
		return 0;
	if (!hdr)
		return 1;
	plain_event(&stack, hdr);
	if (e->join)
		sample_join_put(e->join, &stack);
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
	if (!e->cold_ns || has_stack(e, &e->held_evt))
		return 0;
	/* At the end everything has come. */
	return live_sampler_is_running(live_sampler_of(e->driver)) &&
	       boot_now(e) - e->cold_ns < COLD_WAIT_NS && !is_short_of_room(e);
}

/* Returns 1 if @evt is a sample that is held until its stack comes. */
static int hold_cold(struct live_engine *e, const struct scap_evt *evt)
{
	if (!e->unwind || !cold_id(evt))
		return 0;
	e->held_evt = *evt;
	e->held = 1;
	e->cold_ns = boot_now(e);
	return 1;
}

/* Delivers the event that is held; 0: it keeps waiting. */
static int held_event(struct live_engine *e, struct scap_evt *evt)
{
	if (waits_for_stack(e))
		return 0;
	*evt = e->held_evt;
	e->held = 0;
	if (!e->cold_ns)
		return 1;
	e->cold_ns = 0;
	return !is_part(e, evt) || next_aside(e, evt);
}

static void set_time(struct live_engine *e, struct scap_evt *evt, const struct merge_item *item)
{
	evt->ts_ns = evt->true_ns = e->at_ns = clock_offset_ns(&e->epoch, item->order);
	if (item->order == item->key)
		return;
	evt->true_ns -= item->order - item->key;
	evt->flags |= SCAP_EVT_F_CLAMPED;
}

/* Returns 1 with an event, 0 if none may be delivered yet. */
static int next_event(struct live_engine *e, struct scap_evt *evt)
{
	struct merge_item item;

	if (next_aside(e, evt))
		return 1;
	if (e->held)
		return held_event(e, evt);
	if (e->now >= e->next_clock_check)
		check_clock(e);
	while (merge_next(e->merge, &item)) {
		const struct live_source *s = e->sources[item.source];

		if (expand(e, evt, s)) {
			e->n_bad += s->ring != NULL;
			continue;
		}
		set_time(e, evt, &item);
		if (e->maps)
			follow_maps(e, evt);
		if (evt->type == EVT_CPU_HOTPLUG_E)
			follow_hotplug(e, evt);
		if (hold_cold(e, evt))
			return next_aside(e, evt) || held_event(e, evt);
		if (!is_part(e, evt)) {
			one_before(e, evt);
			return 1;
		}
		if (next_aside(e, evt))
			return 1;
	}
	if (e->stopped && e->join)
		sample_join_expire(e->join, UINT64_MAX);
	return e->stopped && next_aside(e, evt);
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
static int rest(struct live_engine *e, int timeout_ms)
{
	const int sleeps = e->quiet && !e->held && all_read(e);
	const int most = sleeps ? SLEEP_MS : e->held ? NAP_MIN_MS : e->nap_ms;
	int ret = live_wait(e->driver, timeout_ms < 0 || timeout_ms > most ? most : timeout_ms);

	e->quiet = ret == 0;
	return ret >= 0;
}

/* Rests until an event may be delivered. A negative timeout means none. */
static int wait_for_event(struct live_engine *e, struct scap_evt *evt, int timeout_ms)
{
	const uint64_t start = boot_now(e);
	int found, left_ms = timeout_ms;

	for (;;) {
		set_asleep(e, e->quiet ? RING_SLEEPS : RING_NAPS);
		/* Records that came before the driver saw that we sleep ring no doorbell. */
		found = next_event(e, evt);
		if (found || left_ms == 0)
			break;
		if (!rest(e, left_ms))
			break; /* a signal: the caller may want to end */
		if (timeout_ms > 0) {
			uint64_t passed_ms = (boot_now(e) - start) / 1000000;

			left_ms =
				passed_ms < (uint64_t)timeout_ms ? timeout_ms - (int)passed_ms : 0;
		}
	}
	set_asleep(e, RING_AWAKE);
	return found;
}

static int live_next(void *engine, struct scap_evt *evt, int timeout_ms)
{
	struct live_engine *e = engine;
	int found = next_event(e, evt);

	if (!found && e->stopped)
		return -ENODATA;
	if (found)
		return found;
	found = wait_for_event(e, evt, timeout_ms);
	if (found)
		e->nap_ms = e->nap_ms * 2 < NAP_MAX_MS ? e->nap_ms * 2 : NAP_MAX_MS;
	else if (timeout_ms) /* otherwise the caller only polled before it waits */
		e->nap_ms = NAP_MIN_MS;
	return found;
}

static int live_stop(void *engine)
{
	const struct timespec grace = {.tv_nsec = STOP_GRACE_NS};
	struct live_engine *e = engine;

	if (e->stopped)
		return 0;
	live_detach(e->driver);
	nanosleep(&grace, NULL);
	if (e->unwind)
		live_unwind_settle(e->unwind, SETTLE_MS);
	note_sampler(e, SAMPLER_STOP);
	merge_drain(e->merge);
	e->stopped = 1;
	return 0;
}

static int live_is_over(const void *engine)
{
	return live_nobody_left(((const struct live_engine *)engine)->driver);
}

static const struct scap_state *live_state(const void *engine)
{
	return ((const struct live_engine *)engine)->state;
}

static void live_state_drop(void *engine)
{
	struct live_engine *e = engine;

	scap_state_build_free(e->build);
	e->build = NULL;
	e->state = NULL;
}

/* Rows are read one by one: a thread that migrates meanwhile may be in two of them. */
static int live_running(void *engine, const struct scap_running **out)
{
	struct live_engine *e = engine;
	struct task_rows rows = {0};
	int fd = live_running_rows(e->driver), n = 0, err;

	if (fd < 0)
		return fd;
	err = task_rows_read(&rows, fd);
	close(fd);
	if (err)
		return err;
	for (size_t i = 0; i < rows.n && n < DRV_MAX_CPUS; i++)
		if (rows.v[i].tid)
			e->running[n++] = (struct scap_running){
				.tid = rows.v[i].tid,
				.cpu = rows.v[i].cpu,
				.ran_ns = rows.v[i].ran_ns,
				.at_ns = clock_offset_ns(&e->epoch, rows.v[i].snapshot_ns),
			};
	task_rows_fini(&rows);
	*out = e->running;
	return n;
}

static void add_no_ring(struct scap_cpu_stats *of, uint64_t n)
{
	of->n_seen += n;
	of->dropped_by[DRV_DROP_NO_RING] += n;
}

static void ring_stats(struct scap_cpu_stats *of, const struct live_source *s)
{
	struct drv_counters c = {0};

	ring_counters(s->ring, &c);
	*of = (struct scap_cpu_stats){
		.cpu = ring_cpu(s->ring), .n_seen = c.seen, .n_records = s->n_records};
	for (unsigned int i = 0; i < DRV_DROP_MAX; i++)
		of->dropped_by[i] = drv_dropped(&c, i);
	add_no_ring(of, live_n_no_ring(s->engine->driver, of->cpu));
}

/* Returns CPUs with a ring, then those without one. */
static void cpu_stats(const struct live_engine *e, struct scap_stats *st)
{
	struct scap_cpu_stats *v = e->cpu_stats;
	unsigned int n = 0;

	for (unsigned int i = 0; i < e->n_rings; i++)
		ring_stats(&v[n++], &e->rings[i]);
	for (unsigned int cpu = 0; cpu < DRV_MAX_CPUS; cpu++) {
		const uint64_t lost = live_n_no_ring(e->driver, cpu);

		if (!lost || n == DRV_MAX_CPUS || live_has_ring(e->driver, cpu))
			continue;
		v[n] = (struct scap_cpu_stats){.cpu = cpu};
		add_no_ring(&v[n++], lost);
	}
	st->cpus = v;
	st->n_cpus = n;
	st->n_records = 0;
	for (unsigned int i = 0; i < n; i++)
		st->n_records += v[i].n_records;
}

static int live_stats(const void *engine, struct scap_stats *st)
{
	const struct live_engine *e = engine;
	struct drv_counters c;

	live_counters(e->driver, &c);
	cpu_stats(e, st);
	st->n_seen = c.seen;
	for (unsigned int i = 0; i < DRV_DROP_MAX; i++) {
		st->dropped_by[i] = drv_dropped(&c, i);
		st->n_dropped += st->dropped_by[i];
	}
	st->n_clamped = merge_n_late(e->merge);
	st->n_no_enter = c.n_no_enter;
	st->n_storage_fail = c.n_storage_fail;
	st->n_bad_record = c.n_bad_record + e->n_bad;
	for (unsigned int i = 0; i < e->n_rings; i++)
		st->n_bad_record += ring_n_corrupt(e->rings[i].ring);
	st->n_self = c.n_self;
	st->n_filtered = c.n_filtered;
	st->n_unmarked = c.n_unmarked;
	st->n_unsampled = live_n_unsampled(e->driver);
	live_bpf_stats(e->driver, &st->bpf_run_ns, &st->bpf_run_cnt);
	live_exits(e->driver, &st->n_exit_runs, &st->n_exits);
	st->ring_kind = live_ring_kind(e->driver);
	return 0;
}

static int live_sampler_stats_of(const void *engine, struct scap_sampler_stats *st)
{
	const struct live_engine *e = engine;
	const struct live_sampler *s = live_sampler_of(e->driver);

	if (!s)
		return -ENODATA;
	live_sampler_stats(s, st);
	if (e->join) {
		st->n_lone = sample_join_n_lone(e->join);
		st->n_never = sample_join_n_never(e->join);
	}
	if (live_unwind_of(e->driver))
		live_unwind_stats(live_unwind_of(e->driver), &st->unwind);
	return 0;
}

static uint64_t live_begin(const void *engine)
{
	const struct live_engine *e = engine;

	return clock_offset_at(&e->epoch, e->begin_ns);
}

static int live_open_code(const void *engine, uint32_t dev, uint64_t ino)
{
	struct live_unwind *u = live_unwind_of(((const struct live_engine *)engine)->driver);

	return u ? live_unwind_open_file(u, dev, ino) : -ENOENT;
}

const struct scap_engine_ops scap_live_ops = {
	.next = live_next,
	.stop = live_stop,
	.is_over = live_is_over,
	.state = live_state,
	.state_drop = live_state_drop,
	.running = live_running,
	.stats = live_stats,
	.sampler_stats = live_sampler_stats_of,
	.begin = live_begin,
	.open_code = live_open_code,
	.close = live_engine_close,
};
