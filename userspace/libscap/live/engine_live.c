/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live engine: opens and closes it, and follows CPUs and the sampler. The driver is attached
 * before the state of the machine is read, so that nothing is missed in between; events of a thread
 * older than its snapshot are known by their time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "live/live_engine.h"
#include "procfs/online_cpus.h"
#include "procfs/proc_scan.h"
#include "tls/live_tls.h"

#define INITIAL_PIDNS_INO 0xEFFFFFFCu /* the kernel's PROC_PID_INIT_INO */
#define SETTLE_MS 2000
#define STOP_GRACE_NS 1000000 /* programs that were still running while they were detached */

uint64_t live_boot_now(void *engine)
{
	struct live_engine *e = engine;

	e->now = clock_boot_ns();
	return e->now;
}

static void live_engine_close(void *engine)
{
	struct live_engine *e = engine;

	if (!e)
		return;
	merge_free(e->merge);
	live_notes_free(e->notes);
	calls_under_way_free(e->under_way);
	live_maps_close(e->maps);
	deferred_stacks_free(e->join);
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
		.wakeups = (int)opts->wakeups,
		.tcp = opts->tcp != 0,
		.snap_ports = opts->snap_ports,
		.n_snap_ports = opts->n_snap_ports,
		.sampling = opts->sampling,
		.cpus_per_ring = opts->cpus_per_ring,
		.select = opts->select,
		.sampler = opts->sampler,
		.only_samples = only_samples,
		.tls = opts->tls != 0,
	};

	return live_load(&e->driver, &lo, &e->log);
}

static int scan_state(struct live_engine *e, const struct scap_open_opts *opts)
{
	const struct scap_scan_opts so = {
		.sz = sizeof(so),
		.no_environ = opts->no_environ != 0,
		.no_users = opts->no_users != 0,
		.epoch_offset_ns = e->epoch.leg.offset,
		.task_rows_fd = live_task_rows(e->driver),
		.file_rows = live_file_rows,
		.file_rows_ctx = e->driver,
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
static void read_calls_under_way(struct live_engine *e)
{
	int fd = live_calls_under_way(e->driver), err = fd;

	if (fd == -ENODATA) /* not requested */
		return;
	if (fd >= 0) {
		err = calls_under_way_read(&e->under_way, fd, e->begin_ns);
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
	live_notes_sampler(e->notes, live_boot_now(e), action, &st);
}

/* Follows intervals of sampling, and CPUs that come online. */
void live_follow_sampler(struct live_engine *e, uint64_t now)
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

static void reopen_cpu(struct live_engine *e, unsigned int cpu)
{
	if (e->maps)
		live_maps_cpu_online(e->maps, cpu);
	if (e->unwind)
		live_unwind_cpu_online(e->unwind, cpu);
	if (live_tls_of(e->driver))
		live_tls_cpu_online(live_tls_of(e->driver), cpu);
}

/* CPUs that come back lost their perf events, new ones have none yet. */
void live_follow_online(struct live_engine *e)
{
	cpu_set_t online;

	if (online_cpus(&online))
		return;
	live_follow_cpus(e->driver, &online);
	for (unsigned int cpu = 0; cpu < live_n_cpus(e->driver); cpu++)
		if (CPU_ISSET(cpu, &online) && !CPU_ISSET(cpu, &e->online))
			reopen_cpu(e, cpu);
	e->online = online;
	merge_extend(e->merge, live_add_sources(e));
}

/* Its ring exists before the CPU runs; the nap is opened when it runs. */
void live_follow_hotplug(struct live_engine *e, const struct scap_evt *evt)
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
	merge_extend(e->merge, live_add_sources(e));
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
	live_follow_sampler(e, live_boot_now(e));
	return 0;
}

/* Starts reading: the driver is loaded and attached. */
static int open_driver(struct live_engine *e, const struct scap_open_opts *opts, int only_samples)
{
	const struct scap_sampler_opts *so = opts->sampler;
	int err;

	e->nap_ms = NAP_MIN_MS;
	e->nap_max_ms = opts->nap_ms ? (int)opts->nap_ms : NAP_MAX_MS;
	clock_offset_init(&e->epoch, clock_offset_read());
	err = check_namespace(&e->log);
	err = err ?: online_cpus(&e->online);
	err = err ?: load_driver(e, opts, only_samples);
	if (so && so->maps)
		err = err ?: live_maps_open(&e->maps, &e->log);
	if (so && !so->parts && !err) {
		e->join = deferred_stacks_new();
		err = e->join ? 0 : -ENOMEM;
	}
	if (!err)
		e->unwind = live_unwind_of(e->driver);
	e->has_samples = e->maps || e->join || e->unwind;
	return err ?: live_open_sources(e) ?: live_attach(e->driver);
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
		err = err ?: scan_state(e, opts);
	}
	if (!err) {
		/* Waits that began before are counted from here on, so the scan is not in them. */
		e->begin_ns = live_boot_now(e);
		err = start_sampler(e);
	}
	if (!err)
		read_calls_under_way(e);
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

static uint64_t live_begin(const void *engine)
{
	const struct live_engine *e = engine;

	return clock_offset_at(&e->epoch, e->begin_ns);
}

static uint64_t live_now(const void *engine)
{
	const struct live_engine *e = engine;

	return clock_offset_at(&e->epoch, clock_read_ns(CLOCK_BOOTTIME));
}

static int live_open_code(const void *engine, uint32_t dev, uint64_t ino)
{
	struct live_unwind *u = live_unwind_of(((const struct live_engine *)engine)->driver);

	return u ? live_unwind_open_file(u, dev, ino) : -ENOENT;
}

const struct scap_engine_ops scap_live_ops = {
	.next = live_next,
	.next_split = live_next_split,
	.stop = live_stop,
	.is_over = live_is_over,
	.state = live_state,
	.state_drop = live_state_drop,
	.running = live_running_threads,
	.stats = live_stats,
	.sampler_stats = live_sampler_stats_of,
	.begin = live_begin,
	.now = live_now,
	.open_code = live_open_code,
	.close = live_engine_close,
};
