/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the sources, runs the loop, and finishes. dispatch.c handles each event; this handles what
 * happens between events: idle flushes, signals, time limits, the end of the command. After an
 * error in the loop, what was captured before is finished and reported.
 */
#include "capture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chisels.h"
#include "clock.h"
#include "container/container_lookup.h"
#include "dispatch.h"
#include "filter_arg.h"
#include "no_samples.h"
#include "privileges.h"
#include "progress.h"
#include "pushdown.h"
#include "report.h"
#include "say.h"
#include "signals.h"
#include "spawn.h"
#include "streams.h"
#include "symbols/symbols.h"

enum {
	IDLE_MS = 100, /* maximum sleep between checks of signals and limits */
	COMMAND_IDLE_MS = 20, /* the same while waiting for a command to end */
	TICK_EVENTS = 512,
	SLOW_TICK_MS = 1000,
};

struct capture {
	const struct options *o;
	struct spawn spawn;
	const char **joined; /* files that are joined; owned; NULL: none */
	struct sinsp **inspectors; /* of the live system, or one per file */
	size_t n_inspectors;
	struct sample_count *samples; /* owned; by inspector */
	struct sinsp_streams *streams; /* of several files; NULL: a single source */
	struct dispatch dispatch;
	struct pushdown pushdown, chisels_pushdown; /* of the filter, and of chisels */
	struct progress_bar progress;
	struct report report;
	uint64_t deadline_ns; /* live with -M: CLOCK_MONOTONIC; 0: none */
	uint64_t slow_tick_ms;
	uint64_t look_ms; /* when nobody_left last checked */
	int live;
	int stopping; /* the source was stopped: it delivers what it still has */
};

/* Returns the selection. For a command the kernel records only it and its descendants: @command has
 * room for its PID. */
static struct scap_select selection(struct capture *c, int32_t *command)
{
	const struct options *o = c->o;
	struct scap_select sel = {
		.calls = o->syscalls.given ? &o->syscalls.set : NULL,
		.pids = (const int32_t *)o->pids.v,
		.n_pids = o->pids.n,
		.descendants = o->tree,
		.comms = (const char *const *)o->comms.v,
		.n_comms = o->comms.n,
		.uids = o->uids.v,
		.n_uids = o->uids.n,
		.cgroups = o->cgroups.v,
		.n_cgroups = o->cgroups.n,
		.failed_only = o->failed_only,
		.suppress = o->suppress.v,
		.n_suppress = o->suppress.n,
	};

	*command = c->spawn.pid;
	if (*command && !o->all) {
		sel.pids = command;
		sel.n_pids = 1;
		sel.descendants = 1;
	}
	pushdown_apply(&c->pushdown, &sel);
	pushdown_apply(&c->chisels_pushdown, &sel);
	pushdown_calls(&c->pushdown, &c->chisels_pushdown, o, &sel);
	return sel;
}

/* Starts queries of container engines, NULL: none. Without them containers have no names, which is
 * no error. */
static struct sinsp_lookup *start_lookup(const struct options *o)
{
	const struct sinsp_lookup_opts opts = {
		.sz = sizeof(opts),
		.socket = o->container_socket,
		.on_start = privileges_drop_to_ask,
	};
	struct sinsp_lookup *lookup = NULL;
	int err;

	if (o->container_socket && strcmp(o->container_socket, "none") == 0)
		return NULL;
	err = sinsp_lookup_new(&lookup, &opts);
	if (err)
		say("cannot start the thread that queries names of containers: %s", strerror(-err));
	return lookup;
}

/* Returns the sampler options; *on has the names of tracepoints. NULL: no samples. */
static const struct scap_sampler_opts *sampler(struct scap_sampler_opts *so,
					       const struct sample_options *o, const char **on)
{
	*so = (struct scap_sampler_opts){
		.sz = sizeof(*so),
		.period_ns = o->period_ns,
		.depth = o->depth,
		.off_min_ns = o->off_min_ns,
		.threshold = o->threshold,
		.tables_sz = o->tables_sz,
		.interval_ns = o->interval_ns,
		.tracepoints = on,
		.session = getenv("SAKER_SAMPLER_SESSION"),
		.maps = 1,
	};
	for (size_t i = 0; i < o->on.n; i++) {
		if (strcmp(o->on.v[i], "off_cpu") == 0)
			so->off_cpu = 1;
		else if (strcmp(o->on.v[i], "page_fault") == 0)
			so->page_faults = 1;
		else
			on[so->n_tracepoints++] = o->on.v[i];
	}
	return o->period_ns || o->on.n ? so : NULL;
}

static uint32_t switches_wanted(const struct capture *c)
{
	if (c->chisels_pushdown.turns)
		return 2;
	return c->o->switches || c->pushdown.switches || c->chisels_pushdown.switches;
}

/* Whether the input can be read twice: then it is known before the file begins what can be left
 * out. */
static int wants_first_pass(const struct capture *c)
{
	const struct options *o = c->o;
	struct stat st;

	for (size_t i = 0; i < o->read.n; i++)
		if (stat(o->read.v[i], &st) || !S_ISREG(st.st_mode))
			return 0;
	return !c->live && o->write && c->dispatch.filter && !o->whole_state && !pieces_wanted(o);
}

/* Errors in the file are reported when it is read again. */
static int first_pass(struct capture *c, const struct scap_open_opts *opts,
		      const struct sinsp_opts *sinsp_opts)
{
	struct sinsp_opts quiet_too = *sinsp_opts;
	struct scap_open_opts quiet = *opts;
	struct sinsp *inspector;
	struct scap *src;
	int err;

	quiet.log = quiet_too.log = NULL;
	err = scap_open(&src, &quiet) ?: sinsp_open(&inspector, src, &quiet_too);
	if (err)
		return 0;
	err = dispatch_first_pass(&c->dispatch, c->o, inspector);
	sinsp_close(inspector);
	return err;
}

/* Returns how the inspector of @path is opened. */
static struct sinsp_opts inspector_opts(const struct capture *c, const char *path)
{
	const struct options *o = c->o;

	return (struct sinsp_opts){
		.sz = sizeof(struct sinsp_opts),
		.enter_events =
			o->enter_events || c->dispatch.chisels ||
			(c->dispatch.filter && sinsp_filter_wants_enters(c->dispatch.filter)),
		.tree_root = c->spawn.pid && !o->all ? c->spawn.pid : 0,
		.suppress_comms = o->suppress.v,
		.resync = c->live,
		.source_name = path,
		.debug_dirs = o->debug_dirs,
		.log = say_log,
		.containers = c->live,
	};
}

/* Opens the source, the file that is written, and the inspector @i. */
static int open_inspector(struct capture *c, size_t i, const struct scap_open_opts *opts,
			  struct sinsp_opts *sinsp_opts)
{
	struct scap *src;
	int err = wants_first_pass(c) ? first_pass(c, opts, sinsp_opts) : 0;

	if (!err)
		err = scap_open(&src, opts);
	if (!err)
		c->dispatch.settled_ns = scap_begin_ns(src);
	if (!err && c->o->write) {
		err = dispatch_open_file(&c->dispatch, src);
		if (err)
			scap_close(src);
	}
	if (err) {
		sinsp_lookup_free(sinsp_opts->lookup);
		return err;
	}
	return sinsp_open(&c->inspectors[i], src, sinsp_opts);
}

/* Opens the source @i: the only one, or a file of several. */
static int open_source(struct capture *c, size_t i)
{
	const struct options *o = c->o;
	const char *const one[] = {o->read.n ? o->read.v[i] : NULL, NULL};
	const char *const *const path = c->joined ?: one;
	int32_t command;
	const struct scap_select select = selection(c, &command);
	const char *tracepoints[o->sample.on.n + 1];
	struct scap_sampler_opts so;
	const struct scap_open_opts opts = {
		.sz = sizeof(opts),
		.paths = c->live ? NULL : path,
		.log = say_log,
		.ring_kind = o->ring_kind,
		.ring_sz = o->ring_sz,
		.snaplen = o->snaplen,
		.page_faults = o->page_faults || c->pushdown.page_faults ||
			       c->chisels_pushdown.page_faults,
		.switches = switches_wanted(c),
		.select = &select,
		.snap_ports = o->snap_ports.v,
		.n_snap_ports = o->snap_ports.n,
		.sampling = (uint32_t)o->sampling,
		.cpus_per_ring = o->cpus_per_ring,
		.no_users = (uint32_t)o->no_users,
		.sampler = sampler(&so, &o->sample, tracepoints),
	};
	struct sinsp_opts sinsp_opts = inspector_opts(c, path[0]);
	unsigned int before = say_n_errors();
	int err;

	/* First, since loading the driver takes longer than an answer. */
	if (c->live)
		sinsp_opts.lookup = start_lookup(o);
	if (c->dispatch.chisels)
		c->dispatch.chisels->run.no_calls = (uint8_t)select.no_calls;
	err = open_inspector(c, i, &opts, &sinsp_opts);
	if (err)
		say_cause(before, c->live ? "cannot capture" : path[0], err);
	else
		c->n_inspectors++;
	return err;
}

/* Several files are joined, a section each. */
static int joins_files(const struct options *o)
{
	return o->write && o->read.n > 1;
}

/* Returns the time of its first event; 0: it can be read only once, or not at all. */
static uint64_t first_time(const char *path)
{
	const char *const paths[] = {path, NULL};
	const struct scap_open_opts opts = {.sz = sizeof(opts), .paths = paths};
	struct scap_evt evt;
	uint64_t ns = 0;
	struct stat st;
	struct scap *src;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || scap_open(&src, &opts))
		return 0;
	while (!ns && scap_next(src, &evt, -1) >= 0)
		ns = evt.num ? evt.ts_ns : 0;
	scap_close(src);
	return ns;
}

/* Orders the files by the times of their first events; owned, NULL without memory. */
static const char **files_in_order(const struct options *o)
{
	const char **v = calloc(o->read.n + 1, sizeof(*v));
	uint64_t *times = calloc(o->read.n, sizeof(*times));

	for (size_t i = 0; v && times && i < o->read.n; i++) {
		const uint64_t ns = first_time(o->read.v[i]);
		size_t at = i;

		for (; at && ns && times[at - 1] > ns; at--) {
			v[at] = v[at - 1];
			times[at] = times[at - 1];
		}
		v[at] = o->read.v[i];
		times[at] = ns;
	}
	if (!times) {
		free(v);
		v = NULL;
	}
	free(times);
	return v;
}

static int open_sources(struct capture *c)
{
	const size_t n = c->live || joins_files(c->o) ? 1 : c->o->read.n;
	unsigned int before = say_n_errors();
	int err = 0;

	if (joins_files(c->o)) {
		c->joined = files_in_order(c->o);
		err = c->joined ? 0 : -ENOMEM;
	}
	c->inspectors = calloc(n, sizeof(struct sinsp *));
	c->samples = calloc(n, sizeof(*c->samples));
	if (!c->inspectors || !c->samples)
		err = -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		err = open_source(c, i);
	if (!err && n > 1)
		err = sinsp_streams_new(&c->streams, c->inspectors, n);
	if (err)
		say_cause(before, "cannot read", err);
	c->report.opened_ns = clock_now_ns();
	return err;
}

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

static int is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return a && b && stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Opening a file for writing truncates it: refuses one that is also read, or written twice. */
static int check_files(const struct options *o)
{
	size_t i;

	for (i = 0; i < o->read.n; i++) {
		if (is_same_file(o->read.v[i], o->write) || is_same_file(o->read.v[i], o->output)) {
			say("cannot write to %s: it is also read; write to another file",
			    o->read.v[i]);
			return -EINVAL;
		}
	}
	if (o->profile.diff &&
	    (strcmp(o->read.v[0], o->read.v[1]) == 0 || is_same_file(o->read.v[0], o->read.v[1]))) {
		say("--diff needs two different files, not %s twice", o->read.v[1]);
		return -EINVAL;
	}
	if (o->write && o->output &&
	    (strcmp(o->write, o->output) == 0 || is_same_file(o->write, o->output))) {
		say("cannot write both lines and events to %s", o->write);
		return -EINVAL;
	}
	return 0;
}

static int is_dash(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static int check_terminals(const struct options *o)
{
	if (is_dash(o->write) && o->command) {
		say("-w - would mix what %s prints into the capture: name a file", o->command[0]);
		return -EINVAL;
	}
	if (is_dash(o->write) && isatty(STDOUT_FILENO)) {
		say("-w - would write a capture file to the terminal: pipe it on, or name a file");
		return -EINVAL;
	}
	if (o->read.n && is_dash(o->read.v[0]) && isatty(STDIN_FILENO)) {
		say("-r - would read a capture file from the terminal: pipe one in, or name it");
		return -EINVAL;
	}
	return 0;
}

static int open_all(struct capture *c)
{
	int err = check_terminals(c->o) ?: check_files(c->o);

	if (err)
		return err;
	err = dispatch_open_lines(&c->dispatch, c->o);
	if (!err)
		err = open_sources(c);
	if (!err)
		err = dispatch_open(&c->dispatch, c->inspectors[0], c->spawn.pid);
	if (err)
		return err;
	signals_install(c->spawn.pid); /* a chisel may print from here on */
	if (c->dispatch.chisels)
		err = chisels_begin(c->dispatch.chisels, c->inspectors[0]);
	if (!err && c->live && c->o->profile.on && c->dispatch.chisels)
		err = sinsp_symbols_begin(c->inspectors[0]);
	if (!err && c->live)
		privileges_drop(c->o->sample.period_ns || c->o->sample.on.n);
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
static int command_is_over(struct capture *c, int wait)
{
	if (!c->o->command || !spawn_ended(&c->spawn, wait))
		return 0;
	signals_command_ended();
	return 1;
}

/* All selected processes have ended: nothing more would be shown. */
static int nobody_left(struct capture *c, uint64_t now_ms)
{
	const struct options *o = c->o;

	if (c->stopping || o->command || !o->pids.n || now_ms - c->look_ms < IDLE_MS)
		return 0;
	c->look_ms = now_ms;
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

	if (signals_stop_asked() || command_is_over(c, 0) || time_is_up(c) || nobody_left(c, now)) {
		err = stop(c);
		if (err)
			return err;
	}
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

/* Returns when the next check is due if no event comes. */
static int idle_ms(const struct capture *c)
{
	const int ms = c->o->command ? COMMAND_IDLE_MS : IDLE_MS;
	uint64_t due_ns, now_ns;

	if (!c->live || !c->dispatch.chisels)
		return ms;
	due_ns = chisels_due_ns(c->dispatch.chisels);
	now_ns = clock_read_ns(CLOCK_REALTIME);
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
	c->samples[i].n_meant += c->dispatch.n_shown != before;
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
			err = dispatch_idle(&c->dispatch);
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

static void collect(struct capture *c)
{
	struct report *r = &c->report;

	r->end_ns = clock_now_ns();
	r->live = c->live;
	r->prints_lines = c->dispatch.prints;
	r->page_faults = c->o->page_faults;
	r->n_events = c->dispatch.n_events;
	r->n_shown = c->dispatch.n_shown;
	r->first_line_ns = c->dispatch.first_line_ns;
	/* A file made from another without counters has only its own. */
	r->have_stats = sum_stats(c, &r->stats) == 0 && (c->live || r->stats.n_records);
	r->have_sampler = c->live && scap_sampler_stats(source(c), &r->sampler) == 0;
	r->n_samples_read = c->samples[0].n_read; /* a live capture has one source */
	r->n_samples_shown = c->samples[0].n_meant;
	report_sample_memory(r);
}

/* A closed output pipe is a normal end. */
static int is_failure(int err)
{
	return err && err != -EPIPE;
}

/* An empty result is a result, but looks like a mistake: reports how many events were examined. */
static void tell_nothing(const struct capture *c)
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
static void tell_without_line(const struct capture *c)
{
	const char *name;
	size_t len;
	const uint64_t n = lines_n_without(&c->dispatch.form, &name, &len);

	if (n)
		fprintf(stderr,
			"saker: %llu events lack %.*s and have no line; begin the format with * to "
			"show them\n",
			(unsigned long long)n, (int)len, name);
}

/* What lines and tables do not show. */
static void tell_unshown(const struct capture *c)
{
	const struct dispatch *t = &c->dispatch;

	/* A chisel that ended the capture has its result; for a profile this was reported. */
	if (!c->n_inspectors || c->o->quiet || c->o->profile.on || t->lines.failed ||
	    (t->chisels && t->chisels->run.end))
		return;
	if (!t->n_matched)
		tell_nothing(c);
	tell_without_line(c);
}

/* Otherwise chisels would show nothing; one that ended the capture has its result. */
static int lacks_samples(const struct capture *c)
{
	const struct report *r = &c->report;

	if (!c->o->profile.on || (c->dispatch.chisels && c->dispatch.chisels->run.end))
		return 0;
	return no_samples_said(c->o, c->samples, (r->end_ns - r->opened_ns) / 1e9);
}

/* No more events come: symbols are freed, and views have the memory. */
static int show_views(struct capture *c)
{
	for (size_t i = 0; i < c->n_inspectors; i++)
		sinsp_symbols_drop_tables(c->inspectors[i]);
	return chisels_end(c->dispatch.chisels);
}

/* Writing the file or the lines failed, and was reported. The status of a command that ran is
 * returned nevertheless. */
static int lacks_output(const struct capture *c)
{
	return !c->o->command &&
	       (c->dispatch.file_failed || c->dispatch.file_cut || c->dispatch.lines.failed);
}

static int finish(struct capture *c, int err)
{
	int failed = is_failure(err);

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
		command_is_over(c, 1);
	/* A failed command has reported more. */
	if (!failed && lacks_samples(c))
		failed = !c->spawn.status;
	else if (c->dispatch.chisels)
		failed |= is_failure(show_views(c));
	failed |= is_failure(dispatch_finish_lines(&c->dispatch));
	failed |= lacks_output(c);
	if (c->n_inspectors && c->o->verbose)
		report_print(&c->report, stderr);
	report_warn_lost(&c->report);
	if (!err)
		tell_unshown(c);
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
static void tell_start(const struct capture *c)
{
	if (c->live && c->o->profile.on && !c->o->command && !c->o->max_ns && isatty(STDERR_FILENO))
		fputs("saker: sampling; press Ctrl-C to end\n", stderr);
	else if (c->live && c->o->write && !c->o->command && !c->dispatch.prints &&
		 isatty(STDERR_FILENO))
		fprintf(stderr, "saker: writing to %s; press Ctrl-C to end\n", c->o->write);
}

static void set_deadline(struct capture *c)
{
	if (c->live && c->o->max_ns)
		c->deadline_ns = clock_now_ns() + c->o->max_ns;
}

static int init_pushdown(struct capture *c)
{
	int err = pushdown_init(&c->pushdown, c->dispatch.filter, c->o);

	if (!err && c->dispatch.chisels)
		err = pushdown_init_chisels(&c->chisels_pushdown, c->dispatch.chisels, &c->pushdown,
					    c->o);
	if (err)
		say_cause(say_n_errors(), "cannot capture", err);
	return err;
}

int capture_check_privileges(const struct options *o)
{
	if (o->read.n || privileges_can_capture())
		return STATUS_OK;
	say("%s needs root: use sudo saker, or read a file with -r",
	    o->profile.on ? "sampling stacks" : "watching system calls");
	return o->command ? STATUS_SELF_FAILED : STATUS_FAILED;
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
	if (filter_arg_compile(&c.dispatch.filter, o) || (c.live && init_pushdown(&c)))
		return o->command ? STATUS_SELF_FAILED : STATUS_FAILED;
	if (o->command) {
		status = spawn_start(&c.spawn, o->command);
		if (status) {
			sinsp_filter_free(c.dispatch.filter);
			return status;
		}
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
		tell_start(&c);
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
