/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "objfile/open_in_root.h"
#include "say.h"
#include "shared/config.h"
#include "shared/stack.h"

/* The file stays open: a confined replay cannot open it again. */
void report_sample_memory(struct report *r)
{
	static int fd = -1;
	char buf[4096];
	uint64_t kb;
	const char *at;
	ssize_t n;

	if (fd < 0)
		fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = pread(fd, buf, sizeof(buf) - 1, 0);
	buf[n > 0 ? n : 0] = '\0';
	at = strstr(buf, "RssAnon:");
	if (!at)
		return;
	kb = strtoull(at + strlen("RssAnon:"), NULL, 10);
	if (kb > r->peak_anon_kb)
		r->peak_anon_kb = kb;
}

__attribute__((format(printf, 3, 4))) static void put(FILE *f, const char *name, const char *fmt,
						      ...)
{
	va_list ap;

	fprintf(f, "  %-28s ", name);
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fputc('\n', f);
}

static void put_count(FILE *f, const char *name, uint64_t n)
{
	put(f, name, "%12llu", (unsigned long long)n);
}

static double seconds(uint64_t ns)
{
	return ns / 1e9;
}

static void put_run(const struct report *r, FILE *f)
{
	double elapsed = seconds(r->end_ns - r->opened_ns);

	put(f, "time to start", "%12.3f s", seconds(r->opened_ns - r->start_ns));
	if (r->first_line_ns)
		put(f, "time to the first event", "%12.3f s",
		    seconds(r->first_line_ns - r->start_ns));
	put(f, r->live ? "time of the capture" : "time to read", "%12.3f s", elapsed);
	put_count(f, "events", r->n_events);
	put_count(f, "events shown", r->n_shown);
	if (r->n_skipped)
		put_count(f, "events not read, before --from", r->n_skipped);
	if (elapsed > 0)
		put(f, "events per second", "%12.0f", r->n_events / elapsed);
	if (r->written && r->n_pieces > 1)
		put(f, "bytes written", "%12llu to %u files, the last %s",
		    (unsigned long long)r->written_bytes, r->n_pieces, r->written);
	else if (r->written)
		put(f, "bytes written", "%12llu to %s", (unsigned long long)r->written_bytes,
		    r->written);
}

static void put_reasons(const struct scap_stats *st, FILE *f)
{
	const char *text;
	unsigned int i;

	for (i = 0; (text = scap_drop_reason(i)); i++) {
		if (st->dropped_by[i])
			put(f, "", "%12llu because %s", (unsigned long long)st->dropped_by[i],
			    text);
	}
}

static void put_capture(const struct report *r, FILE *f)
{
	const struct scap_stats *st = &r->stats;

	if (!r->have_stats) {
		put(f, "records lost", "%12s: not in the file", "not counted");
		return;
	}
	if (st->n_seen)
		put_count(f, "records of the kernel", st->n_seen);
	put_count(f, "records delivered", st->n_records);
	put_count(f, "records lost", st->n_dropped);
	put_reasons(st, f);
	put_count(f, "exits without an enter", st->n_no_enter);
	put_count(f, "timestamps moved", st->n_clamped);
	put_count(f, "enter events not kept", st->n_storage_fail);
	put_count(f, "malformed records", st->n_bad_record);
	put_count(f, "syscalls of saker, excluded", st->n_self);
	put_count(f, "filtered in kernel", st->n_filtered);
	if (st->n_suppressed)
		put(f, "", "%12llu of suppressed processes", (unsigned long long)st->n_suppressed);
	put_count(f, "excluded by --sampling", st->n_unsampled);
	put_count(f, "processes not tracked", st->n_unmarked);
	if (st->ring_kind)
		put(f, "rings", "%12s", st->ring_kind);
}

static void put_sample_reasons(const struct scap_sampler_stats *st, FILE *f)
{
	const char *text;

	for (unsigned int why = 0; (text = scap_sample_filter_reason(why)); why++) {
		uint64_t n = 0;

		for (unsigned int i = 0; i < SAMPLE_REASON_MAX; i++)
			n += st->by_reason[i].filtered_by[why];
		if (n)
			put(f, "", "%12llu because %s", (unsigned long long)n, text);
	}
}

static void put_stack_ends(const char *label, const uint64_t *ends, FILE *f)
{
	static const char *const names[] = {
#define X(sym, name) [STACK_END_##sym] = name,
		STACK_ENDS(X)
#undef X
	};

	for (unsigned int i = 0; i < STACK_END_MAX; i++) {
		if (!ends[i])
			continue;
		put(f, label, "%12llu %s", (unsigned long long)ends[i], names[i]);
		label = "";
	}
}

static void put_unwind(const struct scap_unwind_stats *st, FILE *f)
{
	if (!st->n_processes)
		return;
	put(f, "unwind tables", "%12llu, for %llu processes; %.1f of %.0f MiB, built in %.3f s",
	    (unsigned long long)st->n_tables, (unsigned long long)st->n_processes,
	    (double)st->used_sz / (1 << 20), (double)st->sz / (1 << 20), seconds(st->build_ns));
	if (st->n_evicted || st->n_no_room)
		put(f, "", "%12llu evicted, %llu did not fit: raise --unwind-tables",
		    (unsigned long long)st->n_evicted, (unsigned long long)st->n_no_room);
	if (st->n_unreadable)
		put(f, "", "%12llu mappings of unreadable or damaged files",
		    (unsigned long long)st->n_unreadable);
	if (st->n_too_much)
		put(f, "", "%12llu files without a table, which would have taken too much work",
		    (unsigned long long)st->n_too_much);
	if (st->n_processes_too_much)
		put(f, "",
		    "%12llu processes with files without a table, which together would have taken "
		    "too much work",
		    (unsigned long long)st->n_processes_too_much);
	if (st->n_unsupported)
		put(f, "",
		    "%12llu interpreters of an unsupported version, such as %s: native frames "
		    "only",
		    (unsigned long long)st->n_unsupported, st->unsupported);
	if (st->n_refused)
		put(f, "", "%12llu mappings not recorded: no room",
		    (unsigned long long)st->n_refused);
}

/* Prints the counts of the driver's samples. */
static void put_samples(const struct report *r, FILE *f)
{
	const uint64_t n = r->sampler.n_samples, n_read = r->n_samples_read;

	put_count(f, "stack samples", n);
	put(f, "", "%12llu shown", (unsigned long long)r->n_samples_shown);
	put(f, "", "%12llu of other processes, or excluded by the filter",
	    (unsigned long long)(n_read - r->n_samples_shown));
	if (n > n_read)
		put(f, "", "%12llu not read before the capture ended",
		    (unsigned long long)(n - n_read));
}

static void put_sampler(const struct report *r, FILE *f)
{
	const struct scap_sampler_stats *st = &r->sampler;

	if (!r->have_sampler)
		return;
	put_count(f, "sampler runs", st->n_runs);
	put_samples(r, f);
	put_count(f, "samples lost", st->n_dropped);
	put_count(f, "samples filtered", st->n_filtered);
	put_sample_reasons(st, f);
	if (st->n_due)
		put(f, "ticks missed", "%12llu of %llu", (unsigned long long)st->n_missed,
		    (unsigned long long)st->n_due);
	put_stack_ends("user stacks by end reason", st->ends, f);
	if (st->n_later)
		put(f, "deferred stacks", "%12llu", (unsigned long long)st->n_later);
	put_count(f, "waited for unwind tables", st->n_copied);
	put_stack_ends("of these, by end reason", st->unwind.ends, f);
	if (st->n_not_copied || st->n_copies_refused)
		put(f, "not kept", "%12llu no room, %llu of processes over their limit",
		    (unsigned long long)st->n_not_copied, (unsigned long long)st->n_copies_refused);
	put_unwind(&st->unwind, f);
	if (st->n_rules)
		put(f, "unwind rule lookups", "%12llu, %.1f %% not cached",
		    (unsigned long long)st->n_rules, 100.0 * st->n_searched / st->n_rules);
	if (st->n_unsaved)
		put_count(f, "off-CPU waits not recorded", st->n_unsaved);
}

static void put_unanswered(FILE *f)
{
	struct scap_open_stats st;

	scap_open_stats(&st);
	if (!st.n_late)
		return;
	put(f, "files not read", "%12llu: file system did not answer; and %llu on the same mounts",
	    (unsigned long long)st.n_late, (unsigned long long)st.n_refused);
	if (st.n_hung)
		put(f, "", "%12llu lookups still blocked", (unsigned long long)st.n_hung);
}

/* Prints how many names of frames are missing because of limits. */
static void put_symbols(const struct sinsp_symbols_stats *st, FILE *f)
{
	const char *label = "symbols";

	if (st->n_cut) {
		put(f, label,
		    "%12llu files' symbols cut at 8 million symbols, 512 MiB of names or 256 MiB "
		    "of tables",
		    (unsigned long long)st->n_cut);
		label = "";
	}
	if (st->n_jit_cut) {
		put(f, label, "%12llu perf maps and jitdumps cut at a million functions or 256 MiB",
		    (unsigned long long)st->n_jit_cut);
		label = "";
	}
	if (st->n_jit_late)
		put(f, label,
		    "%12llu times perf maps and jitdumps were not read again: more than a tenth of "
		    "the time",
		    (unsigned long long)st->n_jit_late);
}

/* Prints how many markers were read, and what became no span. */
static void put_markers(const struct sinsp_marker_stats *st, FILE *f)
{
	const struct {
		uint64_t n;
		const char *text;
	} rows[] = {
		{st->n_malformed, "malformed"},
		{st->n_cut, "longer than the captured bytes: raise --snaplen"},
		{st->n_unmatched, "exits without an enter"},
		{st->n_evicted, "spans evicted: too many are open"},
	};

	if (!st->n)
		return;
	put_count(f, "markers", st->n);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].n)
			put(f, "", "%12llu %s", (unsigned long long)rows[i].n, rows[i].text);
}

/* Prints how many requests were derived, and what did not fit in the limits. */
static void put_requests(const struct sinsp_requests_stats *st, FILE *f)
{
	if (!st->n_requests && !st->n_evicted_conns && !st->n_dropped)
		return;
	put_count(f, "requests", st->n_requests);
	if (st->n_evicted_requests)
		put(f, "", "%12llu evicted: too many are open",
		    (unsigned long long)st->n_evicted_requests);
	if (st->n_evicted_conns)
		put(f, "", "%12llu connections evicted: too many, or too much memory",
		    (unsigned long long)st->n_evicted_conns);
	if (st->n_dropped)
		put(f, "", "%12llu not recorded: no memory", (unsigned long long)st->n_dropped);
}

static void put_bpf(const struct report *r, FILE *f)
{
	const struct scap_stats *st = &r->stats;

	if (r->have_stats && st->bpf_run_cnt)
		put(f, "time in BPF programs", "%12.3f s, %.0f ns in each of %llu runs",
		    seconds(st->bpf_run_ns), (double)st->bpf_run_ns / st->bpf_run_cnt,
		    (unsigned long long)st->bpf_run_cnt);
	else
		put(f, "time in BPF programs", "%12s (sysctl kernel.bpf_stats_enabled=1)",
		    "not counted");
}

static double timeval_seconds(const struct timeval *t)
{
	return t->tv_sec + t->tv_usec / 1e6;
}

static void put_self(const struct report *r, FILE *f)
{
	double user, sys, elapsed = seconds(r->end_ns - r->start_ns);
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	user = timeval_seconds(&u.ru_utime);
	sys = timeval_seconds(&u.ru_stime);
	put(f, "CPU time of saker", "%12.3f s (user %.3f, system %.3f)", user + sys, user, sys);
	/* The process began before the measurement: that would distort short runs. */
	if (elapsed >= 0.1)
		put(f, "", "%12.1f %% of one CPU", 100 * (user + sys) / elapsed);
	if (r->peak_anon_kb)
		put(f, "memory of saker", "%12.1f MiB peak, without rings",
		    r->peak_anon_kb / 1024.0);
	else
		put(f, "memory of saker", "%12s: no RssAnon in /proc/self/status", "not counted");
}

void report_print(const struct report *r, FILE *f)
{
	fputs(r->live ? "saker: capture\n" : "saker: reading\n", f);
	put_run(r, f);
	if (r->live) {
		put_capture(r, f);
		put_sampler(r, f);
		put_bpf(r, f);
	}
	put_symbols(&r->symbols, f);
	put_markers(&r->markers, f);
	put_requests(&r->requests, f);
	put_unanswered(f);
	put_self(r, f);
	if (!r->live) {
		fputs("saker: counters of the capture\n", f);
		put_capture(r, f);
	}
}

/* How to lose less. */
static const char *remedy(const struct report *r, unsigned int reason)
{
	switch (reason) {
	case DRV_DROP_RING_FULL:
	case DRV_DROP_SHED:
		return r->prints_lines ? "; use a larger --ring-size, or -w FILE instead of lines"
				       : "; use a larger --ring-size";
	case DRV_DROP_TOO_BIG:
		return "; use a smaller -s";
	case DRV_DROP_NO_RING:
		return "; with --ring perf, CPUs that come online later have none";
	case DRV_DROP_REFUSED:
		return "; use another --ring";
	case DRV_DROP_MISSED:
		return r->page_faults
			       ? "; omit --page-faults: page faults of the kernel occur there"
			       : "";
	default:
		return "";
	}
}

void report_warn_lost(const struct report *r)
{
	unsigned int reason;

	/* Of a span of the capture, its lines say where events were lost. */
	if (!r->have_stats || !r->stats.n_dropped || r->is_span)
		return;
	reason = scap_main_drop_reason(&r->stats);
	if (!r->live) {
		say("%llu events were lost during the capture: %s",
		    (unsigned long long)r->stats.n_dropped, scap_drop_reason(reason));
		return;
	}
	say("%llu events were lost: %s%s", (unsigned long long)r->stats.n_dropped,
	    scap_drop_reason(reason), remedy(r, reason));
}

void report_warn_requests(const struct report *r)
{
	const struct sinsp_requests_stats *st = &r->requests;

	if (st->n_evicted_requests)
		say("%llu requests were evicted before their end: too many are open",
		    (unsigned long long)st->n_evicted_requests);
	if (st->n_dropped)
		say("%llu requests were not recorded: no memory",
		    (unsigned long long)st->n_dropped);
}
