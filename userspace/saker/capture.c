/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a capture: the loop and the end. dispatch.c handles each event; this handles what
 * happens between events: idle flushes, signals, time limits, the end of the command. After an
 * error in the loop, what was captured before is finished and reported.
 */
#include "capture_state.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture_confine.h"
#include "chisels.h"
#include "clock.h"
#include "filter_arg.h"
#include "inspector_open.h"
#include "privileges.h"
#include "say.h"
#include "signals.h"
#include "symbols/symbols.h"

enum {
	IDLE_MS = 200, /* maximum sleep between checks of signals and limits */
	COMMAND_IDLE_MS = 20, /* the same while waiting for a command to end */
	TICK_EVENTS = 512,
	SLOW_TICK_MS = 1000,
};

static struct scap *source(const struct capture *c)
{
	return sinsp_source(c->inspectors[0]);
}

static int next_event(struct capture *c, struct sinsp_evt *evt, int timeout_ms)
{
	return c->streams ? sinsp_streams_next(c->streams, evt)
			  : sinsp_next(c->inspectors[0], evt, timeout_ms);
}

/* Returns how much of all files was read. */
static double read_share(const struct capture *c)
{
	double sum = 0;

	for (size_t i = 0; i < c->n_inspectors; i++)
		sum += scap_progress(sinsp_source(c->inspectors[i]));
	return sum / (double)c->n_inspectors;
}

/* Without them a profile would have no names: it ends without a result. */
static int begin_symbols(struct capture *c)
{
	const int err = sinsp_symbols_begin(c->inspectors[0]);

	if (err) {
		say_cause(say_n_errors(), "cannot read the symbols of the kernel", err);
		c->dispatch.chisels->runs = 0;
	}
	return err;
}

static int open_all(struct capture *c)
{
	int err = capture_check_terminals(c->o) ?: capture_check_files(c->o);

	if (err)
		return err;
	err = dispatch_open_lines(&c->dispatch, c->o);
	if (!err && !c->live) {
		report_sample_memory(&c->report);
		capture_confine(c);
	}
	if (!err)
		err = capture_open_sources(c);
	if (!err)
		err = dispatch_open(&c->dispatch, c->inspectors[0], c->spawn.pid);
	if (err)
		return err;
	signals_install(c->spawn.pid); /* a chisel may print from here on */
	if (c->dispatch.chisels)
		err = dispatch_begin_chisels(&c->dispatch, c->inspectors[0]);
	if (!err && c->live && c->o->profile.on && c->dispatch.chisels)
		err = begin_symbols(c);
	if (!err && c->live)
		privileges_drop(samples_wanted(&c->o->sample),
				c->o->flight.span_ns || pieces_wanted(c->o));
	if (!err && !c->live)
		capture_confine_open(c);
	if (c->live)
		malloc_trim(0); /* loading needed more than the capture will */
	return err;
}

/* From here on the source only delivers what it already has. */
static int stop(struct capture *c)
{
	unsigned int before = say_n_errors();
	int err;

	if (c->stopping)
		return 0;
	c->stopping = 1;
	if (!c->live) {
		c->dispatch.done = 1;
		return 0;
	}
	err = scap_stop(source(c));
	if (err)
		say_cause(before, "cannot stop the capture", err);
	return err;
}

static int time_is_up(const struct capture *c)
{
	return c->deadline_ns && clock_now_ns() >= c->deadline_ns;
}

/* Its PID may be reused from then on: do not signal it any more. */
static int command_ended(struct capture *c, int wait)
{
	if (!c->o->command || !spawn_ended(&c->spawn, wait))
		return 0;
	signals_command_ended();
	return 1;
}

/* All selected processes have ended: nothing more would be shown. */
static int processes_ended(struct capture *c, uint64_t now_ms)
{
	const struct options *o = c->o;

	if (c->stopping || o->command || !o->pids.n)
		return 0;
	/* Less than a sleep: after each one they are checked, also if it ended a tick early. */
	if (now_ms - c->checked_ms < IDLE_MS / 2)
		return 0;
	c->checked_ms = now_ms;
	if (!scap_is_over(source(c)))
		return 0;
	say_log(NULL, SCAP_LOG_WARN,
		o->pids.n > 1 ? "the processes have exited"
		: o->tree     ? "the process and its descendants have exited"
			      : "the process has exited");
	return 1;
}

/* Shows a user who waits for a profile that it proceeds. */
static void show_samples(struct capture *c)
{
	struct scap_sampler_stats st;

	if (c->o->profile.on && c->live && !c->stopping && scap_sampler_stats(source(c), &st) == 0)
		progress_samples(&c->progress, (clock_now_ns() - c->report.opened_ns) / 1000000000,
				 st.n_samples);
}

/* Checks made now and then, but not at each event. */
static int tick(struct capture *c)
{
	uint64_t now = clock_coarse_ms();
	int err;

	if (signals_stop_requested() || command_ended(c, 0) || time_is_up(c) ||
	    processes_ended(c, now)) {
		err = stop(c);
		if (err)
			return err;
	}
	if (c->live && signals_take_trigger())
		dispatch_trigger(&c->dispatch, scap_now_ns(source(c)));
	progress_show(&c->progress, read_share(c));
	err = output_flush_old(&c->dispatch.lines);
	if (!err && c->dispatch.chisels && c->live)
		err = chisels_flush(c->dispatch.chisels);
	if (!err && now - c->slow_tick_ms >= SLOW_TICK_MS) {
		c->slow_tick_ms = now;
		report_sample_memory(&c->report);
		show_samples(c);
		dispatch_flush_file(&c->dispatch);
	}
	return err;
}

/* Returns 0 at the end of the source. */
static int next_error(const struct capture *c, unsigned int errors_before, int err)
{
	if (err == -ENODATA)
		return 0;
	say_cause(errors_before, c->live ? "the capture stopped" : c->o->read.v[0], err);
	return err;
}

/* Returns @ms, or less if the deadline comes earlier. */
static int until_deadline_ms(const struct capture *c, int ms)
{
	const uint64_t now_ns = clock_now_ns(), due_ns = c->deadline_ns;

	if (!due_ns || c->stopping || due_ns >= now_ns + (uint64_t)ms * 1000000)
		return ms;
	return due_ns > now_ns ? (int)((due_ns - now_ns) / 1000000) + 1 : 1;
}

/* Returns when the next check is due if no event comes. */
static int idle_ms(const struct capture *c)
{
	const int ms = until_deadline_ms(c, c->o->command ? COMMAND_IDLE_MS : IDLE_MS);
	uint64_t due_ns, now_ns;

	if (!c->live || !c->dispatch.chisels)
		return ms;
	due_ns = chisels_due_ns(c->dispatch.chisels);
	now_ns = scap_now_ns(source(c));
	if (due_ns <= now_ns)
		return 1;
	return (due_ns - now_ns) / 1000000 < (uint64_t)ms ? (int)((due_ns - now_ns) / 1000000) + 1
							  : ms;
}

/* Samples are counted per source. */
static __attribute__((noinline)) int dispatch_sample(struct capture *c, struct sinsp_evt *evt)
{
	const uint64_t before = c->dispatch.n_shown;
	const int err = dispatch_event(&c->dispatch, evt);
	size_t i = 0;

	if (c->dispatch.done)
		return err;
	while (i + 1 < c->n_inspectors && c->inspectors[i] != evt->insp)
		i++;
	c->samples[i].n_read++;
	c->samples[i].n_matched_samples += c->dispatch.n_shown != before;
	return err;
}

static int loop(struct capture *c)
{
	unsigned int n_ticked = 0, before = say_n_errors();
	struct sinsp_evt evt;
	int n, err, timeout_ms = 0;

	while (!c->dispatch.done) {
		n = next_event(c, &evt, timeout_ms);
		if (n < 0 && n != -EINTR)
			return next_error(c, before, n);
		if (n > 0) {
			/* Sleep only after printed lines were flushed. */
			timeout_ms = 0;
			err = evt.raw.type == EVT_SAMPLE_E ? dispatch_sample(c, &evt)
							   : dispatch_event(&c->dispatch, &evt);
			if (!err && ++n_ticked == TICK_EVENTS) {
				n_ticked = 0;
				err = tick(c);
			}
		} else {
			err = dispatch_idle(&c->dispatch, scap_now_ns(source(c)));
			timeout_ms = idle_ms(c);
			if (!err)
				err = tick(c);
		}
		if (err)
			return err;
	}
	return 0;
}

/* Counts records left in the rings after a limit or an error as delivered: otherwise the file's
 * counters would report them as lost. */
static void drain(struct capture *c)
{
	struct scap *src = source(c);
	struct scap_evt evt;

	while (c->live && c->stopping && scap_next(src, &evt, 0) > 0)
		;
}

/* Adds up the counters of all sources; none if one has none: its losses are unknown. */
static int sum_stats(const struct capture *c, struct scap_stats *sum)
{
	int err = scap_stats(source(c), sum);

	for (size_t i = 1; i < c->n_inspectors && !err; i++) {
		struct scap_stats st;

		err = scap_stats(sinsp_source(c->inspectors[i]), &st);
		if (!err && !st.n_records)
			err = -ENODATA;
		if (!err)
			scap_stats_add(sum, &st);
	}
	return err;
}

/* Views may still name frames after the last event: called behind them. */
static void sum_symbols(struct capture *c)
{
	struct sinsp_symbols_stats st, *sum = &c->report.symbols;

	for (size_t i = 0; i < c->n_inspectors; i++) {
		sinsp_symbols_stats(c->inspectors[i], &st);
		sum->n_cut += st.n_cut;
		sum->n_jit_cut += st.n_jit_cut;
		sum->n_jit_late += st.n_jit_late;
	}
}

static void sum_markers(struct capture *c)
{
	struct sinsp_marker_stats st, *sum = &c->report.markers;

	for (size_t i = 0; i < c->n_inspectors; i++) {
		sinsp_marker_get_stats(c->inspectors[i], &st);
		sum->n += st.n;
		sum->n_malformed += st.n_malformed;
		sum->n_cut += st.n_cut;
		sum->n_evicted += st.n_evicted;
		sum->n_unmatched += st.n_unmatched;
	}
}

static void sum_requests(struct capture *c)
{
	struct sinsp_requests_stats st, *sum = &c->report.requests;

	for (size_t i = 0; i < c->n_inspectors; i++) {
		sinsp_requests_get_stats(c->inspectors[i], &st);
		sum->n_requests += st.n_requests;
		sum->n_evicted_conns += st.n_evicted_conns;
		sum->n_evicted_requests += st.n_evicted_requests;
		sum->n_dropped += st.n_dropped;
	}
}

static void collect(struct capture *c)
{
	const struct scap_skipped *skipped = scap_skipped(source(c));
	struct report *r = &c->report;

	r->end_ns = clock_now_ns();
	r->live = c->live;
	r->is_span = c->o->from.kind || c->o->to.kind;
	r->prints_lines = c->dispatch.prints;
	r->page_faults = c->o->page_faults;
	r->n_events = c->dispatch.n_events;
	r->n_shown = c->dispatch.n_shown;
	r->first_line_ns = c->dispatch.first_line_ns;
	r->n_skipped = skipped ? skipped->n_events : 0;
	/* A file made from another without counters has only its own. */
	r->have_stats = sum_stats(c, &r->stats) == 0 && (c->live || r->stats.n_records);
	r->have_sampler = c->live && scap_sampler_stats(source(c), &r->sampler) == 0;
	r->n_samples_read = c->samples[0].n_read; /* a live capture has one source */
	r->n_samples_shown = c->samples[0].n_matched_samples;
	report_sample_memory(r);
}

/* A closed output pipe is a normal end. */
static int is_failure(int err)
{
	return err && err != -EPIPE;
}

/* An empty result is a result, but looks like a mistake: reports how many events were examined. */
static void report_no_matches(const struct capture *c)
{
	const struct dispatch *t = &c->dispatch;
	const struct report *r = &c->report;
	const unsigned long long n_left = c->live && r->have_stats ? r->stats.n_filtered : 0;

	if (t->filter)
		fprintf(stderr, "saker: 0 of %llu events match", (unsigned long long)t->n_filtered);
	else if (n_left)
		fputs("saker: no matching events", stderr);
	else
		return;
	if (n_left)
		fprintf(stderr, "; %llu calls were filtered in kernel", n_left);
	fputc('\n', stderr);
}

/* A format without * drops events: reports how many. */
static void report_without_line(const struct capture *c)
{
	const char *name;
	size_t len;
	const uint64_t n = lines_n_without(&c->dispatch.form, &name, &len);

	if (n == 1)
		fprintf(stderr,
			"saker: 1 event lacks %.*s and has no line; begin the format with * to "
			"show it\n",
			(int)len, name);
	else if (n)
		fprintf(stderr,
			"saker: %llu events lack %.*s and have no line; begin the format with * to "
			"show them\n",
			(unsigned long long)n, (int)len, name);
}

/* A date as --from takes it. */
static const char *date_of(uint64_t ns, char text[64])
{
	const time_t s = (time_t)(ns / 1000000000);
	struct tm tm;
	size_t n = localtime_r(&s, &tm) ? strftime(text, 64, "%Y-%m-%d %H:%M:%S", &tm) : 0;

	snprintf(text + n, 64 - n, ".%03u", (unsigned int)(ns / 1000000 % 1000));
	return text;
}

static int is_empty_span(const struct capture *c)
{
	return c->n_inspectors && c->report.is_span && !c->dispatch.n_in_span;
}

/* Mostly a date or a time zone is wrong. */
static void report_empty_span(const struct capture *c)
{
	const uint64_t first_ns = sinsp_first_ns(c->inspectors[0]);
	char begin[64], end[64];

	if (!first_ns || !c->dispatch.most_ns)
		say_notice("no events in that time: the capture has none");
	else if (c->dispatch.to_ns < c->dispatch.settled_ns)
		say_notice("no events in that time: --to is before --from");
	else
		say_notice(
			"no events in that time: those of the capture that were read are from %s "
			"to %s",
			date_of(first_ns, begin), date_of(c->dispatch.most_ns, end));
}

/* Reports what lines and tables do not show. */
static void report_unshown(const struct capture *c)
{
	const struct dispatch *t = &c->dispatch;

	/* A chisel that ended the capture has its result; for a profile this was reported. */
	if (!c->n_inspectors || c->o->quiet || c->o->profile.on || t->lines.failed ||
	    (t->chisels && t->chisels->run.end))
		return;
	if (!t->n_matched)
		report_no_matches(c);
	report_without_line(c);
}

/* Otherwise chisels would show nothing; one that ended the capture has its result. */
static int has_no_samples(const struct capture *c)
{
	const struct report *r = &c->report;

	if (!c->o->profile.on || (c->dispatch.chisels && c->dispatch.chisels->run.end))
		return 0;
	return report_no_samples(c->o, c->samples, (r->end_ns - r->opened_ns) / 1e9);
}

/* No more events come: symbols are freed, and views have the memory. */
static int show_views(struct capture *c)
{
	int err = 0;

	for (size_t i = 0; i < c->n_inspectors; i++)
		sinsp_symbols_drop_tables(c->inspectors[i]);
	if (c->n_inspectors)
		err = dispatch_begin_late(&c->dispatch, c->inspectors[0]);
	return err ?: chisels_end(c->dispatch.chisels);
}

/* Writing the file or the lines failed, and was reported. The status of a command that ran is
 * returned nevertheless. */
static int lacks_output(const struct capture *c)
{
	return !c->o->command &&
	       (c->dispatch.file_failed || c->dispatch.file_cut || c->dispatch.lines.failed);
}

/* Also if reading ended before the end of the file, as with -n. */
static int is_damaged(const struct capture *c)
{
	for (size_t i = 0; i < c->n_inspectors; i++)
		if (scap_is_damaged(sinsp_source(c->inspectors[i])))
			return 1;
	return 0;
}

static int finish(struct capture *c, int err)
{
	int failed = is_failure(err) || is_damaged(c);

	progress_end(&c->progress);
	if (c->n_inspectors) {
		stop(c);
		drain(c);
		collect(c);
		failed |= is_failure(dispatch_finish_file(&c->dispatch, &c->report));
	}
	/* The command may continue for long: show the results before. */
	failed |= is_failure(output_flush(&c->dispatch.lines));
	if (c->spawn.go_fd < 0)
		command_ended(c, 1);
	/* A failed command has reported more. */
	if (!failed && has_no_samples(c))
		failed = !c->spawn.status;
	else if (c->dispatch.chisels)
		failed |= is_failure(show_views(c));
	failed |= is_failure(dispatch_finish_lines(&c->dispatch));
	failed |= lacks_output(c);
	sum_symbols(c);
	sum_markers(c);
	sum_requests(c);
	if (c->n_inspectors && c->o->verbose)
		report_print(&c->report, stderr);
	report_warn_lost(&c->report);
	report_warn_requests(&c->report);
	if (c->n_inspectors)
		inspector_report_redacted(c->o->redact);
	if (!err && is_empty_span(c))
		report_empty_span(c);
	else if (!err)
		report_unshown(c);
	dispatch_fini(&c->dispatch);
	sinsp_streams_free(c->streams);
	for (size_t i = 0; i < c->n_inspectors; i++)
		sinsp_close(c->inspectors[i]);
	free(c->inspectors);
	free(c->samples);
	free(c->joined);
	return failed;
}

/* Tell a user at a terminal what saker waits for. */
static void report_start(const struct capture *c)
{
	if (c->live && c->o->profile.on && !c->o->command && !c->o->max_ns && isatty(STDERR_FILENO))
		fputs("saker: sampling; press Ctrl-C to end\n", stderr);
	else if (c->live && c->o->flight.span_ns && !c->o->command && isatty(STDERR_FILENO))
		fprintf(stderr, "saker: keeping the last %g s; press Ctrl-C to end\n",
			(double)c->o->flight.span_ns / 1e9);
	else if (c->live && c->o->write && !c->o->command && !c->dispatch.prints &&
		 isatty(STDERR_FILENO))
		fprintf(stderr, "saker: writing to %s; press Ctrl-C to end\n", c->o->write);
}

/* The time of a capture begins with its first possible event; opening goes on behind that. A
 * command begins later. */
static void set_deadline(struct capture *c)
{
	const uint64_t begin_ns = c->dispatch.settled_ns, now_ns = clock_read_ns(CLOCK_REALTIME);
	uint64_t passed_ns = now_ns - begin_ns;

	if (!c->live || !c->o->max_ns)
		return;
	if (c->o->command || !begin_ns || begin_ns > now_ns)
		passed_ns = 0;
	else if (passed_ns > c->o->max_ns)
		passed_ns = c->o->max_ns;
	c->deadline_ns = clock_now_ns() + c->o->max_ns - passed_ns;
}

static int init_pushdown(struct capture *c)
{
	struct sinsp_filter *f = dispatch_filter(&c->dispatch);
	const uint32_t derive = pushdown_derives(f, c->dispatch.chisels, c->o);
	int err = pushdown_init(&c->pushdown, f, c->o, derive);

	if (!err && c->dispatch.chisels)
		err = pushdown_init_chisels(&c->chisels_pushdown, c->dispatch.chisels, &c->pushdown,
					    c->o);
	if (err)
		say_cause(say_n_errors(), "cannot capture", err);
	return err;
}

int capture_check_privileges(const struct options *o)
{
	const char *what = o->profile.on ? "sampling stacks" : "watching system calls";

	if (o->read.n || privileges_allow(what, "saker"))
		return STATUS_OK;
	return o->command ? STATUS_SELF_FAILED : STATUS_FAILED;
}

/* Compiles what decides about events, and starts the command, which waits. Returns a status. */
static int prepare(struct capture *c)
{
	const struct options *o = c->o;

	if (filter_arg_compile(&c->dispatch.filter, o->filter, "filter", o) ||
	    filter_arg_compile(&c->dispatch.trigger, o->flight.trigger, "--trigger", o) ||
	    (c->live && init_pushdown(c)))
		return o->command ? STATUS_SELF_FAILED : STATUS_FAILED;
	return o->command ? spawn_start(&c->spawn, o->command, samples_wanted(&o->sample) || o->tls)
			  : STATUS_OK;
}

int capture_run(const struct options *o, struct chisels *chisels, uint64_t start_ns)
{
	struct capture c = {
		.o = o,
		.spawn = {.go_fd = -1, .errno_fd = -1},
		.live = !o->read.n,
		.dispatch.chisels = chisels,
		.report.start_ns = start_ns,
	};
	int err, status = capture_check_privileges(o);

	if (status)
		return status;
	signals_begin();
	if (o->flight.span_ns)
		signals_catch_trigger();
	status = prepare(&c);
	if (status) {
		sinsp_filter_free(c.dispatch.filter);
		sinsp_filter_free(c.dispatch.trigger);
		pushdown_fini(&c.chisels_pushdown);
		return status;
	}
	/*
	 * Writes return EPIPE or EFBIG instead. Other signals end an opening that takes too long.
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	err = open_all(&c);
	if (!err) {
		progress_init(&c.progress, o->progress, dispatch_lines_on_terminal(&c.dispatch));
		set_deadline(&c);
		report_start(&c);
		if (o->command)
			spawn_release(&c.spawn);
		err = loop(&c);
	}
	if (finish(&c, err))
		status = o->command ? STATUS_SELF_FAILED : STATUS_FAILED;
	else if (o->command)
		status = c.spawn.status;
	spawn_fini(&c.spawn);
	pushdown_fini(&c.chisels_pushdown);
	return status;
}
