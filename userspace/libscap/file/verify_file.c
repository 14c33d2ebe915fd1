// SPDX-License-Identifier: Apache-2.0
/* Verifies a file. The reader checks every block; this adds the order of times and, for sections by
 * saker, that the trailer's counters match what was read. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "file/scap_file.h"
#include "file/scap_format.h"
#include "shared/config.h"

#define ULL(x) ((unsigned long long)(x))

/* A section that is being read. */
struct section {
	bool saker;
	unsigned int n_closings; /* of the reader when the section began */
	uint64_t n_events, n_private, n_clamped;
	uint64_t n_lost; /* the sum over lost events */
	uint64_t lost_on[DRV_MAX_CPUS]; /* the same by CPU */
	uint64_t last_ns;
	uint64_t n_back, first_back; /* events older than the one before; the first of them */
};

struct verifier {
	struct scap_log log;
	const char *path;
	struct scap_reader *reader;
	struct section s;
	unsigned int n_sections;
	unsigned int n_findings;
	uint64_t n_events;
};

__attribute__((format(printf, 2, 3))) static void finding(struct verifier *v, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	scap_say(&v->log, SCAP_LOG_ERROR, "%s: section %u: %s", v->path, v->n_sections, text);
	v->n_findings++;
}

static void begin_section(struct verifier *v)
{
	struct file_trailer c;

	v->s = (struct section){
		.saker = scap_reader_is_saker(v->reader),
		.n_closings = scap_reader_trailer(v->reader, &c),
	};
	v->n_sections++;
}

static void add_lost(struct section *s, const struct scap_evt *evt)
{
	struct scap_params p;
	uint64_t n;

	if (scap_evt_params(evt->hdr, &p) || p.n < 2 || p.v[1].len != sizeof(n))
		return;
	memcpy(&n, p.v[1].p, sizeof(n));
	s->n_lost += n;
	s->lost_on[evt->cpu % DRV_MAX_CPUS] += n;
}

static void add_event(struct verifier *v, const struct scap_evt *evt)
{
	struct section *s = &v->s;

	if (evt_is_private(evt->type))
		s->n_private++;
	else
		s->n_events++;
	if (evt->type == EVT_LOST_E)
		add_lost(s, evt);
	s->n_clamped += !!(evt->flags & SCAP_EVT_F_CLAMPED);
	/* The state of a process is written when an event needs it. */
	if (!(evt->flags & SCAP_EVT_F_STATE_ONLY) && evt->type != EVT_FILE_E &&
	    evt->type != EVT_COMM_E) {
		if (evt->ts_ns < s->last_ns && s->n_back++ == 0)
			s->first_back = s->n_events;
		s->last_ns = evt->ts_ns;
	}
	v->n_events++;
}

/* seen = delivered + dropped, by reason: nothing was lost silently. */
static void check_identity(struct verifier *v, const struct scap_stats *st)
{
	uint64_t dropped = 0;

	for (unsigned int i = 0; i < sizeof(st->dropped_by) / sizeof(st->dropped_by[0]); i++)
		dropped += st->dropped_by[i];
	if (dropped != st->n_dropped)
		finding(v, "%llu records were dropped, but %llu by the reasons given",
			ULL(st->n_dropped), ULL(dropped));
	if (st->n_seen && st->n_seen != st->n_records + st->n_dropped)
		finding(v, "the driver saw %llu records, but %llu were delivered and %llu dropped",
			ULL(st->n_seen), ULL(st->n_records), ULL(st->n_dropped));
	if (st->n_dropped)
		scap_say(&v->log, SCAP_LOG_WARN,
			 "%s: section %u: %llu records were lost while it was captured", v->path,
			 v->n_sections, ULL(st->n_dropped));
}

static uint64_t dropped_on(const struct scap_cpu_stats *cpu)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < sizeof(cpu->dropped_by) / sizeof(cpu->dropped_by[0]); i++)
		n += cpu->dropped_by[i];
	return n;
}

/* The same for one CPU, compared with the lost events in the stream. */
static void check_cpu(struct verifier *v, const struct scap_cpu_stats *cpu, bool has_markers)
{
	const uint64_t dropped = dropped_on(cpu), reported = v->s.lost_on[cpu->cpu % DRV_MAX_CPUS];

	if (cpu->n_seen != cpu->n_records + dropped)
		finding(v,
			"on CPU %llu the driver saw %llu records, but %llu were delivered and "
			"%llu dropped",
			ULL(cpu->cpu), ULL(cpu->n_seen), ULL(cpu->n_records), ULL(dropped));
	if (has_markers &&
	    (reported < dropped - cpu->dropped_by[DRV_DROP_NO_RING] || reported > dropped))
		finding(v, "%llu records of CPU %llu were dropped, but its lost events say %llu",
			ULL(dropped), ULL(cpu->cpu), ULL(reported));
	scap_say(&v->log, SCAP_LOG_INFO,
		 "%s: section %u: CPU %llu: %llu records seen, %llu delivered, %llu dropped",
		 v->path, v->n_sections, ULL(cpu->cpu), ULL(cpu->n_seen), ULL(cpu->n_records),
		 ULL(dropped));
}

/* The kernel counts the runs that it skipped only for all CPUs together. */
static void check_cpus(struct verifier *v, const struct scap_stats *st, bool has_markers)
{
	struct scap_cpu_stats sum = {0}, all = {.n_seen = st->n_seen, .n_records = st->n_records};

	for (uint64_t i = 0; i < st->n_cpus; i++) {
		check_cpu(v, &st->cpus[i], has_markers);
		sum.n_seen += st->cpus[i].n_seen;
		sum.n_records += st->cpus[i].n_records;
		for (unsigned int why = 0; why < 8; why++)
			sum.dropped_by[why] += st->cpus[i].dropped_by[why];
	}
	memcpy(all.dropped_by, st->dropped_by, sizeof(all.dropped_by));
	all.n_seen -= all.dropped_by[DRV_DROP_MISSED];
	all.dropped_by[DRV_DROP_MISSED] = 0;
	if (st->n_cpus && memcmp(&sum, &all, sizeof(sum)) != 0)
		finding(v, "the counters of its %llu CPUs do not add up to the totals",
			ULL(st->n_cpus));
}

static void check_closing(struct verifier *v)
{
	const struct section *s = &v->s;
	struct file_trailer c;
	uint64_t marked;

	if (scap_reader_trailer(v->reader, &c) == s->n_closings) {
		finding(v, "the counters at its end are missing: the capture still runs, or saker "
			   "was killed while it wrote the file");
		return;
	}
	if (c.events != s->n_events)
		finding(v, "%llu events were written, but %llu are in it", ULL(c.events),
			ULL(s->n_events));
	if (c.private_events != s->n_private)
		finding(v, "%llu private events were written, but %llu are in it",
			ULL(c.private_events), ULL(s->n_private));
	/* Only if no filter or limit stood between source and file. */
	if (c.stats.n_events == s->n_events + s->n_private && c.stats.n_clamped != s->n_clamped)
		finding(v, "the times of %llu events were corrected, but %llu are marked so",
			ULL(c.stats.n_clamped), ULL(s->n_clamped));
	/* Losses that belong to no CPU's ring have no lost event. */
	marked = c.stats.n_dropped - c.stats.dropped_by[DRV_DROP_NO_RING] -
		 c.stats.dropped_by[DRV_DROP_MISSED];
	if (c.stats.n_seen && c.stats.n_events == s->n_events + s->n_private &&
	    (s->n_lost < marked || s->n_lost > c.stats.n_dropped))
		finding(v, "%llu records were lost, but its lost events say %llu", ULL(marked),
			ULL(s->n_lost));
	check_identity(v, &c.stats);
	check_cpus(v, &c.stats, c.stats.n_seen && c.stats.n_events == s->n_events + s->n_private);
}

static void end_section(struct verifier *v)
{
	if (v->s.n_back)
		finding(v, "time goes back %llu times, first at event %llu", ULL(v->s.n_back),
			ULL(v->s.first_back));
	if (v->s.saker)
		check_closing(v);
}

static int verify(struct verifier *v)
{
	struct scap_params params;
	struct scap_evt evt;
	int ret;

	begin_section(v);
	while ((ret = scap_reader_next(v->reader, &evt, &params, -1)) > 0) {
		if (ret == 1) {
			add_event(v, &evt);
			continue;
		}
		end_section(v);
		begin_section(v);
	}
	/* A section that ends in damage has no trailer; that needs no second message. */
	if (ret != -ENODATA)
		return ret;
	if (scap_reader_is_damaged(v->reader)) {
		scap_say(&v->log, SCAP_LOG_ERROR, "%s: the file is damaged", v->path);
		v->n_findings++;
	}
	if (scap_reader_left_out(v->reader)) {
		scap_say(&v->log, SCAP_LOG_ERROR, "%s: the file has more than its gzip data",
			 v->path);
		v->n_findings++;
	}
	if (scap_reader_has_uncompared(v->reader))
		scap_say(&v->log, SCAP_LOG_WARN,
			 "%s: what was joined to the first file has checksums of another place: "
			 "they "
			 "are not compared",
			 v->path);
	end_section(v);
	if (v->n_findings)
		return -EBADMSG;
	scap_say(&v->log, SCAP_LOG_INFO, "%s is complete: %llu events in %u section%s", v->path,
		 ULL(v->n_events), v->n_sections, v->n_sections == 1 ? "" : "s");
	return 0;
}

int scap_verify(const char *path, scap_log_fn log, void *log_ctx)
{
	struct verifier v = {.log = {log, log_ctx}, .path = path};
	static const struct scap_reader_opts opts;
	int err = scap_reader_open(&v.reader, path, &opts, &v.log);

	if (err)
		return err;
	err = verify(&v);
	scap_reader_close(v.reader);
	return err;
}
