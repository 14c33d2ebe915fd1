/* SPDX-License-Identifier: Apache-2.0 */
#include "top_capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "confine.h"
#include "event/event_table.h"
#include "fields/field.h"
#include "inspector_open.h"
#include "privileges.h"
#include "say.h"
#include "signals.h"
#include "standard_streams.h"
#include "state/inspector.h"
#include "top_select.h"

enum {
	IDLE_MS = 100,
	PROGRESS_EVENTS = 300000,
	NAP_MS = 50, /* events are shown at the next refresh, not at once */
	MOST_EMPTY = 10000, /* tables of a file in a row without events */
};
#define DEFAULT_INTERVAL_NS 2000000000ull

/* Live, only what the view uses is recorded, and what changes the state of threads and files.
 * @types NULL: what @filter and @needs select. */
static int open_source(struct sinsp **out, const struct top_options *o,
		       const struct sinsp_filter *filter, unsigned int needs, const uint64_t *types,
		       const struct sinsp_filter_needs *tasks)
{
	const char *const paths[] = {o->read, NULL};
	struct top_select select;
	struct scap_open_opts opts = {
		.sz = sizeof(opts),
		.paths = o->read ? paths : NULL,
		.log = say_log,
		.ring_sz = o->ring_sz,
		.nap_ms = NAP_MS,
		.redact = o->redact,
	};
	const struct sinsp_opts inspector = {
		.sz = sizeof(inspector),
		.enter_events = o->read != NULL,
		.log = say_log,
		.resync = !o->read,
		.containers = !o->read,
		.derive = top_derives(needs),
		.lookup =
			o->read ? NULL : inspector_lookup(o->container_socket, o->cri_socket, NULL),
	};

	if (types)
		top_select_types(&select, &opts, types, tasks);
	else if (!o->read)
		top_select(&select, &opts, filter, needs);
	return inspector_open(out, &opts, &inspector);
}

int top_capture_open(struct sinsp **out, const struct top_options *o,
		     const struct sinsp_filter *filter, unsigned int needs)
{
	return open_source(out, o, filter, needs, NULL, NULL);
}

int top_capture_open_types(struct sinsp **out, const struct top_options *o, const uint64_t *types,
			   const struct sinsp_filter_needs *tasks)
{
	return open_source(out, o, NULL, 0, types, tasks);
}

int top_capture_open_only(struct sinsp **out, const struct top_options *o,
			  const struct sinsp_filter *filter, unsigned int needs)
{
	static const char *const none[] = {NULL};
	const char *const paths[] = {o->read, NULL};
	const unsigned int helpers = needs & FIELD_NEEDS_NAMES ? CONFINE_HELPERS : 0;
	int err;

	if (o->read)
		confine_reader(paths, helpers);
	err = top_capture_open(out, o, filter, needs);
	if (err)
		return err;
	signals_install(0);
	if (o->read)
		confine_reader(none, helpers);
	else
		privileges_drop(0, 0);
	return 0;
}

/* ---- the loop ---- */

struct run {
	struct sinsp *s;
	struct view_table *table;
	struct top_slice *slice;
	struct sinsp_text out;
	uint64_t interval_ns; /* 0: one table for the whole file */
	uint64_t begin_ns, last_ns; /* of the interval: its begin, or its first event; last event */
	uint64_t progress_at; /* number of an event */
	uint8_t measures_cpu; /* live, and the view has a column of it */
	uint8_t told_gap;
};

static int is_live(const struct run *run)
{
	return !run->slice->options->read;
}

/* As csysdig: events of the capture itself have rows, too. */
int top_capture_sees(struct sinsp *s, const struct sinsp_evt *evt, int live)
{
	if (sinsp_evt_shown(s, evt))
		return 1;
	return !live && evt->info && (evt->info->category & EC_INTERNAL) &&
	       !(evt->raw.flags & SCAP_EVT_F_STATE_ONLY);
}

struct waits {
	struct sinsp *s;
	struct view_table *table;
	int live;
};

static int add_wait(void *ctx, const struct sinsp_evt *evt)
{
	struct waits *w = ctx;

	return top_capture_sees(w->s, evt, w->live) ? view_table_event(w->table, evt) : 0;
}

int top_capture_add_waits(struct sinsp *s, struct view_table *t, uint64_t ns, int live)
{
	struct waits w = {s, t, live};

	if (!(view_table_needs(t) & FIELD_NEEDS_OPEN_SLICES))
		return 0;
	return sinsp_each_open_slice(s, ns, add_wait, &w);
}

/* Prints the table of an interval that ends at @ns, and begins the next one. */
static int end_interval(struct run *run, uint64_t ns)
{
	struct top_slice *slice = run->slice;
	/* A thread is no event of a list. */
	struct sinsp *threads_of = sinsp_view_is_list(slice->view) ? NULL : run->s;
	int err;

	if (run->measures_cpu)
		sinsp_cpu_use_read(run->s, run->interval_ns);
	err = top_capture_add_waits(run->s, run->table, ns, is_live(run));
	err = err ?: view_table_end(run->table, threads_of, ns);
	slice->ns = ns;
	slice->length_ns = ns > run->begin_ns && run->begin_ns ? ns - run->begin_ns : 0;
	err = err ?: (slice->options->json ? top_print_json : top_print_text)(&run->out, slice);
	view_table_clear(run->table);
	slice->number++;
	run->begin_ns = ns;
	return err ?: stdout_put_text(&run->out);
}

static int has_enough(const struct run *run)
{
	const uint64_t n = run->slice->options->n_tables;

	return n && run->slice->number >= n;
}

static int is_over(const struct run *run, uint64_t ns)
{
	return run->interval_ns && ns >= run->begin_ns && ns - run->begin_ns >= run->interval_ns;
}

/* Ends the interval if it is over at @ns; one without events is empty. */
static int tick(struct run *run, uint64_t ns)
{
	if (!run->begin_ns)
		run->begin_ns = ns;
	if (!is_over(run, ns))
		return 0;
	return end_interval(run, is_live(run) ? ns : run->begin_ns + run->interval_ns);
}

/* Leaves out the tables of a long time without events: a file can have any times. */
static void skip_gap(struct run *run, uint64_t ns)
{
	const uint64_t n = is_over(run, ns) ? (ns - run->begin_ns) / run->interval_ns : 0;

	if (is_live(run) || n <= MOST_EMPTY)
		return;
	run->begin_ns += n * run->interval_ns;
	if (!run->told_gap)
		say("%s: %" PRIu64 " intervals without events are left out, and so are later gaps",
		    run->slice->options->read, n);
	run->told_gap = 1;
}

static void put_progress(struct run *run, const struct sinsp_evt *evt)
{
	const struct top_options *o = run->slice->options;

	if (!o->json || is_live(run) || evt->raw.num < run->progress_at + PROGRESS_EVENTS)
		return;
	run->progress_at = evt->raw.num;
	printf("{\"progress\": %.2f},\n", 100 * scap_progress(sinsp_source(run->s)));
	fflush(stdout);
}

static int take_event(struct run *run, const struct sinsp_evt *evt)
{
	int err;

	if (!top_capture_sees(run->s, evt, is_live(run)))
		return 0;
	err = tick(run, evt->raw.ts_ns);
	skip_gap(run, evt->raw.ts_ns);
	while (!err && !is_live(run) && !has_enough(run) && !signals_stop_requested() &&
	       is_over(run, evt->raw.ts_ns))
		err = tick(run, evt->raw.ts_ns);
	if (run->last_ns < evt->raw.ts_ns)
		run->last_ns = evt->raw.ts_ns;
	put_progress(run, evt);
	return err || has_enough(run) ? err : view_table_event(run->table, evt);
}

/* Returns 0 at the end of the file, by a signal or after enough tables. Of a damaged file, what
 * comes before the damage has a table, too. */
static int loop(struct run *run)
{
	struct sinsp_evt evt;
	int n = 0, err = 0;

	while (!signals_stop_requested() && !has_enough(run) && !err) {
		n = sinsp_next(run->s, &evt, is_live(run) ? IDLE_MS : 0);
		if (n < 0 && n != -EINTR)
			break;
		if (n > 0)
			err = take_event(run, &evt);
		else if (is_live(run))
			err = tick(run, scap_now_ns(sinsp_source(run->s)));
	}
	if (!err && run->slice->options->read && !has_enough(run))
		err = end_interval(run, run->last_ns);
	return err ?: n < 0 && n != -EINTR && n != -ENODATA ? n : 0;
}

int top_capture_run(struct sinsp *s, struct view_table *t, struct top_slice *slice)
{
	const struct top_options *o = slice->options;
	const unsigned int before = say_n_errors();
	struct run run = {.s = s, .table = t, .slice = slice, .interval_ns = o->interval_ns};
	int err;

	if (!o->read && !run.interval_ns)
		run.interval_ns = DEFAULT_INTERVAL_NS;
	if (!o->read)
		run.begin_ns = scap_now_ns(sinsp_source(s));
	run.measures_cpu = !o->read && view_table_needs(t) & FIELD_NEEDS_CPU_TIME;
	if (run.measures_cpu)
		sinsp_cpu_use_read(s, run.interval_ns);
	if (o->json)
		printf(o->read ? "{\"slices\": [\n{\"progress\": 0},\n" : "{\"slices\": [\n");
	err = loop(&run);
	if (o->json)
		printf("]}\n");
	if (err && err != -EPIPE)
		say_cause(before, o->read ?: "the capture stopped", err);
	free(run.out.p);
	if (!err && scap_is_damaged(sinsp_source(s)))
		return -EBADMSG;
	return err == -EPIPE ? 0 : err;
}
