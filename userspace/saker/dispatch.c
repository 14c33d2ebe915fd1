/* SPDX-License-Identifier: Apache-2.0 */
#include "dispatch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "dispatch_file.h"
#include "dispatch_flight.h"
#include "dispatch_span.h"
#include "fields/format.h"
#include "file_filter.h"
#include "say.h"
#include "thread.h"

static int prints_lines(const struct options *o)
{
	return !o->quiet && !o->chisels.n && (!o->write || o->print);
}

static void write_lines(void *ctx)
{
	output_flush_lines(ctx);
}

int dispatch_open_lines(struct dispatch *t, const struct options *o)
{
	int err, to_file = o->write && strcmp(o->write, "-") == 0;

	t->o = o;
	t->live = !o->read.n;
	err = output_open(&t->lines, o->chisels.n ? NULL : o->output,
			  o->command || to_file ? STDERR_FILENO : STDOUT_FILENO, o->unbuffered);
	if (err || !prints_lines(o))
		return err;
	say_after(write_lines, &t->lines);
	t->prints = 1;
	return lines_open(&t->form, o, isatty(t->lines.fd))
		       ?: lines_header(&t->form, &t->lines.text);
}

struct sinsp_filter *dispatch_filter(const struct dispatch *t)
{
	return t->filter ?: t->trigger;
}

int dispatch_lines_on_terminal(const struct dispatch *t)
{
	return t->prints && isatty(t->lines.fd);
}

/* The calls of the child before its execve are saker's own; if calls are not recorded, the end of
 * its mappings marks that moment. */
static int is_before_exec(struct dispatch *t, const struct sinsp_evt *evt)
{
	if ((int64_t)evt->raw.hdr->tid != t->before_exec)
		return 0;
	if (strcmp(sinsp_evt_type(evt), "execve") != 0 && evt->raw.type != EVT_MAP_EXEC_E)
		return 1;
	t->before_exec = 0;
	return 0;
}

static int is_selected(struct dispatch *t, const struct sinsp_evt *evt)
{
	/* The file has a suppressed process up to its renaming, and its end. */
	if (evt->raw.type == EVT_PROCEXIT_E && evt->raw.flags & SCAP_EVT_F_STATE_ONLY)
		return sinsp_evt_in_tree(evt->insp, evt);
	return sinsp_evt_in_tree(evt->insp, evt) && !(evt->thread && evt->thread->suppressed) &&
	       !(t->before_exec && is_before_exec(t, evt));
}

/* A gap: lost events, or a pause of sampling. It belongs to no thread. */
static int is_gap_event(const struct sinsp_evt *evt)
{
	return evt->raw.type == EVT_LOST_E || evt->raw.type == EVT_DROP_E ||
	       evt->raw.type == EVT_DROP_X;
}

/*
 * Events without a number belong to the capture, or to a thread that must be known to be selected.
 */
static int is_unselected(struct dispatch *t, const struct sinsp_evt *evt)
{
	if (is_gap_event(evt))
		return 0;
	if (evt->raw.num)
		return !is_selected(t, evt);
	return evt->raw.hdr->tid != UINT64_MAX && (!evt->thread || !is_selected(t, evt));
}

/* For files -M counts the time of the capture, which may go back. It begins with the first matching
 * event of the system: mappings, and changes during the set-up, come before it. */
static int is_past_limit(struct dispatch *t, const struct sinsp_evt *evt)
{
	if (t->live)
		return 0;
	if (!t->begin_ns && sinsp_first_ns(evt->insp) && evt_is_of_system(evt) &&
	    !(evt->raw.flags & SCAP_EVT_F_STATE_ONLY))
		t->begin_ns = evt->raw.ts_ns;
	return t->begin_ns && evt->raw.ts_ns > t->begin_ns &&
	       evt->raw.ts_ns - t->begin_ns >= t->o->max_ns;
}

int dispatch_open(struct dispatch *t, struct sinsp *inspector, int64_t command)
{
	int err = 0;

	t->inspector = inspector;
	t->before_exec = command;
	t->selective = command || t->o->suppress.n;
	t->leaves_out =
		t->selective || t->settled_ns || t->o->max_ns || t->o->to.kind || t->times_due;
	if (t->o->summary) {
		t->summary = summary_new();
		if (!t->summary)
			err = -ENOMEM;
	}
	if (err)
		say_cause(say_n_errors(), "cannot print lines", err);
	return err ?: t->o->write ? dispatch_begin_file(t) : 0;
}

/* Returns 1 if it has a line; 0: none; a negative errno. */
static int put_line(struct dispatch *t, const struct sinsp_evt *evt, int is_gap)
{
	int err = is_gap ? lines_put_gap(&t->form, &t->lines.text, evt)
			 : lines_put(&t->form, &t->lines.text, evt);

	if (err < 0)
		say_cause(say_n_errors(), "cannot print a line", err);
	if (err <= 0)
		return err;
	if (t->first_line_ns)
		return output_line(&t->lines) ?: 1;
	/* The first line is written at once: it shows that the capture works. */
	err = output_flush(&t->lines);
	t->first_line_ns = clock_now_ns();
	return err ?: 1;
}

/* Works as put_line. */
static __attribute__((noinline)) int run_chisels(struct dispatch *t, const struct sinsp_evt *evt)
{
	const int err = chisels_event(t->chisels, evt);

	t->done |= t->chisels->run.end;
	return err ?: 1;
}

static __attribute__((noinline)) void note_first(struct dispatch *t)
{
	t->first_line_ns = clock_now_ns();
}

/* For each event: rare cases are called, so that the common path saves no registers for them. */
static int output_event(struct dispatch *t, const struct sinsp_evt *evt)
{
	int n = 1;

	if (t->chisels)
		n = run_chisels(t, evt);
	else if (t->prints)
		n = put_line(t, evt, 0);
	else if (!t->first_line_ns)
		note_first(t);
	if (n <= 0)
		return n;
	if (t->summary)
		summary_add(t->summary, evt);
	if (++t->n_shown == t->o->max_events)
		t->done = 1;
	return 0;
}

/* Lines omit events of the capture itself: state of processes, and losses. */
static int is_for_chisels(const struct dispatch *t, const struct sinsp_evt *evt)
{
	return t->chisels && (evt->raw.num || evt->raw.type == EVT_LOST_E) && evt->info &&
	       evt->info->category & EC_INTERNAL && !(evt->raw.flags & SCAP_EVT_F_STATE_ONLY);
}

/* Users and groups in captures of other tools: they change the state, and have lines only if a
 * filter names them. */
static int is_named(const struct dispatch *t, const struct sinsp_evt *evt)
{
	return t->filter && evt_is_of_users(evt->raw.type) &&
	       !(evt->raw.flags & SCAP_EVT_F_STATE_ONLY) &&
	       sinsp_filter_names_type(t->filter, evt->raw.type);
}

/* Returns what the filter selects, as sinsp_filter_select if chisels see each end of calls, 0:
 * nothing; a negative errno after reporting it. */
static inline int run_filter(struct dispatch *t, struct sinsp_evt *evt)
{
	int matches;

	if (!evt_is_of_system(evt) && !is_named(t, evt))
		return 1;
	if (!t->n_matched && !(evt->raw.flags & SCAP_EVT_F_HIDDEN))
		t->n_filtered += sinsp_evt_shown(evt->insp, evt) != 0;
	if (t->chisels && t->chisels->run.each_end) {
		matches = sinsp_filter_select(t->filter, evt);
		evt->selected = (uint8_t)(matches < 0 ? 0 : matches);
	} else {
		matches = sinsp_filter_run(t->filter, evt);
	}
	if (matches < 0)
		say_cause(say_n_errors(), "cannot filter", matches);
	return matches;
}

/* For a capture with a filter: returns 1 if the event is not written, or not yet; 0 if it is next;
 * or a negative errno. */
static int hold_event(struct dispatch *t, struct sinsp_evt *evt, int matches)
{
	const int ret = file_filter_event(t->held, t->filter, evt, matches);
	if (ret < 0)
		say_cause(say_n_errors(), "cannot hold the state of processes", ret);
	return ret;
}

static int put_nowhere(void *ctx, const struct scap_evt *evt)
{
	(void)ctx;
	(void)evt;
	return 0;
}

int dispatch_first_pass(struct dispatch *t, const struct options *o, struct sinsp *inspector)
{
	struct dispatch pass = {.o = o, .filter = t->filter};
	struct sinsp_evt evt;
	int n = 0, matches;
	int err = held_new(&pass.held, inspector, NULL, put_nowhere, NULL);

	while (!err && (n = sinsp_next(inspector, &evt, -1)) >= 0) {
		if (n == 0)
			continue;
		matches = run_filter(&pass, &evt);
		n = matches < 0 ? matches : hold_event(&pass, &evt, matches);
		err = n < 0 ? n : 0;
	}
	if (err)
		held_free(pass.held);
	else
		t->first_pass = pass.held;
	return err;
}

/* Returns whether the event is later than --to. Nothing follows it if the file is in order. */
static int is_too_late(struct dispatch *t, const struct sinsp_evt *evt)
{
	if (evt->raw.ts_ns <= t->to_ns)
		return 0;
	t->done |= t->in_order && evt->raw.num && !(evt->raw.flags & SCAP_EVT_F_STATE_ONLY);
	return 1;
}

/* An event before --from: the file begins later, with the state that it changes; a chisel may want
 * it for what it keeps itself. */
static int follow_early(struct dispatch *t, const struct sinsp_evt *evt)
{
	if (t->o->write && pieces_note(&t->pieces, &evt->raw))
		say_cause(say_n_errors(), "cannot write the file", -ENOMEM);
	if (t->chisels && t->chisels->run.follows && sinsp_first_ns(evt->insp))
		chisels_follow(t->chisels, evt);
	return 1;
}

/* A later switch of the thread does not tell how long a call took that is not in the capture: its
 * file does not know. Returns 1. */
static int forget_call(const struct sinsp_evt *evt)
{
	if (evt->thread)
		evt->thread->latency_ns = 0;
	return 1;
}

/* Events before the time to output_event, after a limit, or from threads that are not selected. */
static int is_left_out(struct dispatch *t, struct sinsp_evt *evt)
{
	if (t->times_due && evt_begins_capture(evt->raw.type))
		dispatch_set_times(t, t->o, evt->raw.ts_ns);
	if (evt->raw.num && evt->raw.ts_ns > t->most_ns)
		t->most_ns = evt->raw.ts_ns;
	if (is_too_late(t, evt))
		return 1;
	if (evt->raw.ts_ns < t->settled_ns) {
		if (!t->live)
			return follow_early(t, evt);
		if (!t->o->write || !file_filter_changes_state(evt))
			return forget_call(evt);
		evt->raw.flags |= SCAP_EVT_F_STATE_ONLY;
	}
	if (t->o->max_ns && is_past_limit(t, evt)) {
		t->done = 1;
		return 1;
	}
	return t->selective && is_unselected(t, evt);
}

/* Events in a file are numbered in the file; lines use the same numbers. */
static void assign_number(const struct dispatch *t, struct sinsp_evt *evt)
{
	if (evt->raw.num)
		evt->raw.num = t->n_numbered + 1;
}

/* Passes events that do not match to chisels that requested them, to keep their state. */
static int follow_unmatched(struct dispatch *t, const struct sinsp_evt *evt, int matches)
{
	int err;

	if (!t->chisels || !t->chisels->run.follows || t->done ||
	    (matches &&
	     (sinsp_evt_shown(evt->insp, evt) || is_for_chisels(t, evt) || is_named(t, evt))))
		return 0;
	err = chisels_follow(t->chisels, evt);
	t->done |= t->chisels->run.end;
	return err;
}

static __attribute__((noinline)) int tick_chisels(struct dispatch *t, const struct sinsp_evt *evt,
						  int matches)
{
	int err;

	if ((!evt_is_of_system(evt) && !is_for_chisels(t, evt)) || !sinsp_first_ns(evt->insp))
		return 0;
	err = chisels_tick(t->chisels, evt);
	t->done |= t->chisels->run.end;
	return err ?: follow_unmatched(t, evt, matches);
}

/* An event of the capture itself has no line, except gaps. */
static __attribute__((noinline)) int show_internal(struct dispatch *t, const struct sinsp_evt *evt,
						   int matches)
{
	int n = 0;

	if (matches && (is_for_chisels(t, evt) || is_named(t, evt))) {
		t->n_matched += evt->raw.num != 0;
		return output_event(t, evt);
	}
	if (t->prints && is_gap_event(evt))
		n = put_line(t, evt, 1);
	return n < 0 ? n : 0;
}

/* A sample of a call has no line, unless the filter names its type: it gives its stack to the event
 * of the call. */
static int is_of_call(const struct dispatch *t, const struct sinsp_evt *evt)
{
	return evt->raw.type == EVT_SAMPLE_E && !t->chisels && sinsp_evt_is_of_call(evt) &&
	       !(t->filter && sinsp_filter_names_type(t->filter, EVT_SAMPLE_E));
}

/* A container that begins meanwhile: where threads are selected it has no line, as it may be that
 * of others. The file has it, for the names. */
static int is_of_others(const struct dispatch *t, const struct sinsp_evt *evt)
{
	return evt->raw.type == EVT_CONTAINER_E && selects_threads(t->o) &&
	       !(t->filter && sinsp_filter_names_type(t->filter, EVT_CONTAINER_E));
}

/* @held: the file has it later, or never. */
static inline int deliver(struct dispatch *t, struct sinsp_evt *evt, int matches, int held)
{
	int err;

	if (evt->raw.num && !held)
		t->n_numbered++;
	if (t->chisels) {
		err = tick_chisels(t, evt, matches);
		if (err)
			return err;
	}
	if (t->o->write && !held)
		dispatch_put_file(t, evt);
	if (!evt->info)
		return 0;
	if (evt->info->category & EC_INTERNAL)
		return show_internal(t, evt, matches);
	if (!matches || !sinsp_evt_shown(evt->insp, evt) || is_of_call(t, evt) ||
	    is_of_others(t, evt))
		return 0;
	t->n_matched++;
	return output_event(t, evt);
}

/* Works as deliver, for a file with a filter. A function of its own, so that other captures save
 * no registers for it. */
static __attribute__((noinline)) int deliver_or_hold(struct dispatch *t, struct sinsp_evt *evt,
						     int matches)
{
	const int held = hold_event(t, evt, matches & SINSP_SELECTED);
	struct sinsp_evt sample;

	if (held < 0)
		return held;
	if (held && !matches)
		return follow_unmatched(t, evt, matches);
	if (!held && sinsp_evt_lacks_sample(evt) && sinsp_evt_as_sample(evt, &sample))
		dispatch_put_file(t, &sample);
	if (t->live)
		assign_number(t, evt); /* held events come before it */
	if (!held)
		sinsp_evt_written(evt);
	return deliver(t, evt, matches, held);
}

int dispatch_begin_chisels(struct dispatch *t, struct sinsp *inspector)
{
	t->chisels_due = !t->live && t->o->from.kind && !t->chisels->run.follows;
	return t->chisels_due ? 0 : chisels_begin(t->chisels, inspector);
}

int dispatch_begin_late(struct dispatch *t, struct sinsp *inspector)
{
	if (!t->chisels_due)
		return 0;
	t->chisels_due = 0;
	return chisels_begin(t->chisels, inspector);
}

int dispatch_event(struct dispatch *t, struct sinsp_evt *evt)
{
	int matches = 1, err;

	if (t->done)
		return 0;
	t->n_events++;
	if (t->leaves_out) {
		if (is_left_out(t, evt))
			return 0;
		t->n_in_span++;
		err = dispatch_begin_late(t, evt->insp);
		if (err)
			return err;
	}
	if (t->live)
		assign_number(t, evt);
	if (t->filter) {
		matches = run_filter(t, evt);
		if (matches < 0)
			return matches;
		if (t->o->write)
			return deliver_or_hold(t, evt, matches);
	}
	return deliver(t, evt, matches, 0);
}

int dispatch_idle(struct dispatch *t, uint64_t now_ns)
{
	int err = output_flush(&t->lines);

	if (!err && t->chisels && t->live) {
		err = chisels_idle(t->chisels, now_ns);
		t->done |= t->chisels->run.end;
	}
	if (!err && t->chisels)
		err = chisels_flush(t->chisels);
	if (!err && t->flight)
		flight_idle(t->flight, now_ns);
	/* Flushing reduces compression: dispatch_flush_file is called often enough. */
	if (!err && t->o->compress == SCAP_COMPRESS_NONE)
		dispatch_flush_file(t);
	return err;
}

static int put_summary(struct dispatch *t)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int err;

	if (!f) {
		say("no memory for the summary");
		return -ENOMEM;
	}
	(t->o->lines_kind == SINSP_FORMAT_JSON ? summary_print_json : summary_print)(t->summary, f);
	fclose(f);
	err = output_write(&t->lines, text, len);
	free(text);
	return err;
}

int dispatch_finish_lines(struct dispatch *t)
{
	int err = 0;

	if (t->summary)
		err = put_summary(t);
	say_after(NULL, NULL);
	return output_close(&t->lines) ?: err;
}

void dispatch_fini(struct dispatch *t)
{
	scap_writer_close(t->writer, NULL, NULL);
	held_free(t->held);
	held_free(t->first_pass);
	summary_free(t->summary);
	lines_close(&t->form);
	pieces_fini(&t->pieces);
	free(t->provenance);
	dispatch_close_flight(t);
	sinsp_filter_free(t->filter);
	sinsp_filter_free(t->trigger);
}
