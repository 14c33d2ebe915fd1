/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a live capture, and the threads that run at its end. */
#include <errno.h>
#include <unistd.h>

#include "live/live_engine.h"
#include "procfs/task_rows.h"

/* Rows are read one by one: a thread that migrates meanwhile may be in two of them. */
int live_running_threads(void *engine, const struct scap_running **out)
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
	struct drv_sums c = {0};

	ring_counters(s->ring, &c);
	*of = (struct scap_cpu_stats){
		.cpu = ring_cpu(s->ring), .n_seen = c.n.seen, .n_records = s->n_records};
	for (unsigned int i = 0; i < DRV_DROP_MAX; i++)
		of->dropped_by[i] = drv_dropped(&c.other, i);
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

int live_stats(const void *engine, struct scap_stats *st)
{
	const struct live_engine *e = engine;
	struct drv_sums c;

	live_counters(e->driver, &c);
	cpu_stats(e, st);
	st->n_seen = c.n.seen;
	for (unsigned int i = 0; i < DRV_DROP_MAX; i++) {
		st->dropped_by[i] = drv_dropped(&c.other, i);
		st->n_dropped += st->dropped_by[i];
	}
	st->n_clamped = merge_n_late(e->merge);
	st->n_no_enter = c.other.n_no_enter;
	st->n_storage_fail = c.other.n_storage_fail;
	st->n_bad_record = c.n_bad_record + e->n_bad;
	for (unsigned int i = 0; i < e->n_rings; i++)
		st->n_bad_record += ring_n_corrupt(e->rings[i].ring);
	st->n_self = c.other.n_self;
	st->n_filtered = c.other.n_filtered;
	st->n_unmarked = c.other.n_unmarked;
	st->n_suppressed = live_n_suppressed(e->driver);
	st->n_unsampled = live_n_unsampled(e->driver);
	live_bpf_stats(e->driver, &st->bpf_run_ns, &st->bpf_run_cnt);
	live_exits(e->driver, &st->n_exit_runs, &st->n_exits);
	st->ring_kind = live_ring_kind(e->driver);
	return 0;
}

int live_sampler_stats_of(const void *engine, struct scap_sampler_stats *st)
{
	const struct live_engine *e = engine;
	const struct live_sampler *s = live_sampler_of(e->driver);

	if (!s)
		return -ENODATA;
	live_sampler_stats(s, st);
	if (e->join) {
		st->n_lone = deferred_stacks_n_lone(e->join);
		st->n_never = deferred_stacks_n_never(e->join);
	}
	if (live_unwind_of(e->driver))
		live_unwind_stats(live_unwind_of(e->driver), &st->unwind);
	return 0;
}
