/* SPDX-License-Identifier: Apache-2.0 */
#include "dispatch_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "clock.h"
#include "dispatch_flight.h"
#include "dispatch_span.h"
#include "file_needs.h"
#include "procfs/state_build.h"
#include "say.h"

#define CHECKPOINT_STATE_MAX 50000 /* of sinsp_state_size */
#define CHECKPOINT_LOOK 256 /* events between looks whether one is due */

/* "key=value" lines about the origin of a file; owned, NULL without memory. */
static char *provenance(const struct dispatch *t, const struct scap *src)
{
	const struct options *o = t->o;
	struct scap_stats st = {0};
	struct utsname u;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fprintf(f, "saker=%s\nsource=%s\n", SAKER_VERSION, t->live ? "live" : "file");
	if (t->live && uname(&u) == 0)
		fprintf(f, "kernel=%s\nmachine=%s\n", u.release, u.machine);
	if (t->live && scap_stats(src, &st) == 0 && st.ring_kind)
		fprintf(f, "ring=%s\n", st.ring_kind);
	if (t->live)
		fprintf(f, "boot_ns=%llu\n", (unsigned long long)scap_state(src)->machine.boot_ns);
	if (o->snaplen)
		fprintf(f, "snaplen=%llu\n", (unsigned long long)o->snaplen);
	if (o->command && !o->all)
		fputs("tree=1\n", f);
	fclose(f);
	return text;
}

/* Whether state events are written when an event needs them: those before a checkpoint, or never.
 */
static int holds_events(const struct dispatch *t)
{
	return t->filter && !t->o->whole_state;
}

/* Begins the next piece, or the only file. */
static int open_piece(struct dispatch *t, const struct scap_state *state, uint64_t ts_ns)
{
	const struct scap_writer_opts opts = {
		.sz = sizeof(opts),
		.compress = t->o->compress,
		.provenance = t->provenance,
		.log = say_log,
		.checkpoint_every =
			holds_events(t) || t->o->read.n > 1 ? UINT64_MAX : t->o->checkpoint_every,
	};
	unsigned int before = say_n_errors();
	int err = pieces_next(&t->pieces, ts_ns);

	t->guard = (struct file_guard){0};

	if (!err)
		err = scap_writer_open(&t->writer, t->pieces.path, state, &opts);
	if (!err)
		t->head_bytes = scap_writer_bytes(t->writer);
	if (!err)
		err = file_needs_known(t, ts_ns);
	if (err) {
		t->file_failed = 1;
		say_cause(before, t->pieces.path ?: t->o->write, err);
	}
	return err;
}

/* Returns the part of @state with the threads of needed processes; free with free_part. 0 or
 * -ENOMEM. */
static int needed_part(const struct dispatch *t, const struct scap_state *state,
		       struct scap_state *part)
{
	struct scap_thread_info *threads;

	*part = *state;
	if (!t->first_pass)
		return 0;
	threads = calloc(state->n_threads + 1, sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	part->threads = threads;
	part->n_threads = 0;
	for (size_t i = 0; i < state->n_threads; i++)
		if (held_needs(t->first_pass, (int64_t)state->threads[i].pid))
			threads[part->n_threads++] = state->threads[i];
	return 0;
}

static void free_part(const struct scap_state *state, const struct scap_state *part)
{
	if (part->threads != state->threads)
		free((void *)part->threads);
}

/* Begins the only file. */
static int open_needed(struct dispatch *t, const struct scap_state *state)
{
	struct scap_state part;
	int err = needed_part(t, state, &part);

	if (err)
		return err;
	err = open_piece(t, &part, 0);
	free_part(state, &part);
	return err;
}

int dispatch_open_file(struct dispatch *t, const struct scap *src)
{
	pieces_init(&t->pieces, t->o);
	t->puts_needed = pieces_wanted(t->o) || t->o->with_symbols;
	t->provenance = provenance(t, src);
	if (!t->provenance)
		say_warning("no memory for the version, kernel and options in the file");
	if (t->o->flight.span_ns)
		return dispatch_open_flight(t);
	/* The first piece begins with the first event, whose time may be part of its name. */
	return pieces_begin_with_event(t->o) ? 0 : open_needed(t, scap_state(src));
}

/* Returns whether anything besides the file needs events. */
static int shows_events(const struct dispatch *t)
{
	return t->prints || t->chisels || t->summary;
}

/* Handles @err of the writer: reports the first one, unless the writer did, and ends the file; the
 * capture goes on if anything else needs events. */
static void file_result(struct dispatch *t, unsigned int n_errors_before, int err)
{
	uint64_t bytes = 0;

	if (!err)
		return;
	if (!t->file_failed)
		say_cause(n_errors_before, t->pieces.path ?: t->o->write, err);
	t->file_failed = t->file_ended = 1;
	t->done |= !shows_events(t);
	scap_writer_close(t->writer, NULL, &bytes);
	t->writer = NULL;
	t->piece_bytes += bytes;
}

/* The trailer of a piece before the last: its own events; the driver's counters are in the last
 * piece. */
static int close_piece(struct dispatch *t)
{
	static const struct scap_stats none;
	uint64_t bytes;
	int err = scap_writer_close(t->writer, &none, &bytes);

	t->writer = NULL;
	t->piece_bytes += bytes;
	return err;
}

/* Ends the file after a complete block if @sz more bytes would exceed a limit. Returns whether it
 * did. */
static __attribute__((noinline)) int check_limits(struct dispatch *t, uint64_t bytes, size_t sz)
{
	const unsigned int before = say_n_errors();
	const enum file_guard_end end =
		file_guard_look(&t->guard, t->o, t->pieces.path, scap_writer_fd(t->writer), bytes,
				t->piece_bytes + bytes, sz);

	if (end == FILE_GOES_ON)
		return 0;
	t->file_ended = 1;
	t->file_cut = end == FILE_LEAVES_NO_ROOM;
	if (shows_events(t))
		file_result(t, before, close_piece(t));
	else
		t->done = 1; /* dispatch_finish_file closes it, with all counters */
	return 1;
}

/* Returns whether the file has ended, or ends before @sz more bytes. */
static int end_at_limit(struct dispatch *t, size_t sz)
{
	uint64_t bytes;

	if (!t->writer || t->file_ended)
		return t->file_ended;
	bytes = scap_writer_bytes(t->writer);
	return file_guard_is_due(&t->guard, bytes, sz) && check_limits(t, bytes, sz);
}

static int put_known(void *ctx)
{
	struct dispatch *t = ctx;

	return file_needs_known(t, t->last_ns);
}

/* Returns how many bytes the file may still grow. */
static uint64_t room_in_file(const struct dispatch *t)
{
	const uint64_t bytes = t->piece_bytes + scap_writer_bytes(t->writer);

	if (!t->o->max_size)
		return UINT64_MAX;
	return bytes < t->o->max_size ? t->o->max_size - bytes : 0;
}

/* Whether the state can be repeated without the rings of a live capture becoming full meanwhile:
 * that takes some 20 ms at most. */
static int may_stop(const struct dispatch *t)
{
	return !t->live || t->o->checkpoint_every ||
	       sinsp_state_size(t->inspector) <= CHECKPOINT_STATE_MAX;
}

static void put_checkpoint(struct dispatch *t)
{
	const unsigned int before = say_n_errors();
	struct scap_state_build *state;

	t->checkpoint_due = 0;
	t->n_checkpoints++;
	if (!may_stop(t) || sinsp_export(t->inspector, &state)) { /* a later one may be possible */
		scap_writer_skip_checkpoint(t->writer);
		return;
	}
	file_result(t, before,
		    scap_writer_checkpoint(t->writer, scap_state_build_done(state), room_in_file(t),
					   put_known, t));
	scap_state_build_free(state);
}

static int before_event(void *ctx, const struct scap_evt *evt);

/* Before the next event of the source: what another one ended is still in the state. */
static void before_checkpoint(struct dispatch *t, const struct scap_evt *evt)
{
	if (!evt->num)
		return;
	if (!pieces_begin_with_event(t->o))
		sinsp_set_before(t->inspector, NULL, NULL);
	if (t->writer)
		put_checkpoint(t);
}

/* Now and then: whether the next event has a checkpoint before it. */
static __attribute__((noinline)) void look_for_checkpoint(struct dispatch *t)
{
	if (t->checkpoint_due || !scap_writer_wants_checkpoint(t->writer))
		return;
	t->checkpoint_due = 1;
	sinsp_set_before(t->inspector, before_event, t);
}

/* Returns whether the file begins with a later event: --from. */
static int is_too_early(struct dispatch *t, const struct scap_evt *evt)
{
	if (t->times_due && evt_begins_capture(evt->type))
		dispatch_set_times(t, t->o, evt->ts_ns);
	return t->o->from.kind &&
	       (t->times_due || evt->ts_ns < t->settled_ns || (evt->flags & SCAP_EVT_F_STATE_ONLY));
}

/* Begins a file with the state of this moment. */
static int begin_piece(struct dispatch *t, uint64_t ts_ns)
{
	struct scap_state_build *state;
	unsigned int before;
	const int err = sinsp_export(t->inspector, &state);

	if (err)
		return err;
	if (t->held)
		held_forget(t->held);
	before = say_n_errors();
	file_result(t, before, open_piece(t, scap_state_build_done(state), ts_ns));
	scap_state_build_free(state);
	return 0;
}

/* For each event, before it changes the state that the next piece begins with. */
static int before_event(void *ctx, const struct scap_evt *evt)
{
	struct dispatch *t = ctx;
	unsigned int before = say_n_errors();

	if (t->checkpoint_due)
		before_checkpoint(t, evt);
	if (!t->writer && is_too_early(t, evt))
		return 0;
	if (t->file_ended ||
	    (t->writer && !pieces_due(&t->pieces, evt->ts_ns, scap_writer_bytes(t->writer))))
		return 0;
	if (!evt->ts_ns) /* before the first one, container events come without a time */
		return 0;
	if (t->done || (t->writer && pieces_over(&t->pieces))) {
		t->done = 1;
		return 0;
	}
	if (t->writer && end_at_limit(t, t->head_bytes + t->head_bytes / 8))
		return 0;
	if (t->writer)
		file_result(t, before, close_piece(t));
	return t->file_failed ? 0 : begin_piece(t, evt->ts_ns);
}

/* A capture without events is a file, too. */
static int open_without_events(struct dispatch *t)
{
	if (!t->o->write || !pieces_begin_with_event(t->o) || t->pieces.n || t->file_failed)
		return 0;
	return begin_piece(t, clock_read_ns(CLOCK_REALTIME));
}

/* The file begins a new section with its source: PIDs may be reused from here on. */
static int begin_section(void *ctx, const struct scap_state *state)
{
	struct dispatch *t = ctx;
	const unsigned int before = say_n_errors();
	struct scap_state part;
	int err;

	if (t->flight)
		flight_section(t->flight);
	if (t->held)
		held_forget(t->held);
	if (!t->writer)
		return 0;
	err = needed_part(t, state, &part);
	if (err)
		return err;
	file_result(t, before, scap_writer_section(t->writer, &part));
	t->begins_section = 1;
	free_part(state, &part);
	return 0;
}

/* Another section usually follows. */
static __attribute__((noinline)) void check_order(struct dispatch *t, const struct scap_evt *evt)
{
	if (evt->ts_ns < t->last_ns)
		say_log(NULL, SCAP_LOG_WARN,
			"the captures overlap in time; their events are not in order of time in "
			"the file. To merge them: -r A -r B without -w");
	t->begins_section = 0;
}

static void note_time(struct dispatch *t, const struct scap_evt *evt)
{
	if (!evt->num || evt->flags & SCAP_EVT_F_STATE_ONLY)
		return;
	if (t->begins_section)
		check_order(t, evt);
	t->last_ns = evt->ts_ns;
}

void dispatch_put_file(struct dispatch *t, const struct sinsp_evt *evt)
{
	const unsigned int before = say_n_errors();
	int err = 0;

	note_time(t, &evt->raw);
	if (t->flight) {
		dispatch_put_flight(t, evt);
		return;
	}
	if (end_at_limit(t, evt->raw.hdr->len))
		return;
	if (t->puts_needed || pieces_repeat(evt->raw.type))
		err = file_needs_of(t, evt);
	if (!err && t->writer)
		err = scap_writer_put(t->writer, &evt->raw);
	if (!err && t->writer && ++t->n_put % CHECKPOINT_LOOK == 0)
		look_for_checkpoint(t);
	if (err)
		file_result(t, before, err);
}

static int put_held(void *ctx, const struct scap_evt *evt)
{
	struct dispatch *t = ctx;
	const unsigned int before = say_n_errors();
	struct scap_evt as_state = *evt;

	as_state.flags |= SCAP_EVT_F_STATE_ONLY;
	t->n_numbered += evt->num != 0;
	if (end_at_limit(t, evt->hdr->len) || !t->writer)
		return 0;
	t->pieces.n_events += evt->num != 0;
	file_result(t, before, scap_writer_put(t->writer, &as_state));
	return 0;
}

void dispatch_flush_file(struct dispatch *t)
{
	unsigned int before = say_n_errors();

	if (t->flight)
		flight_idle(t->flight, 0); /* events of the open file may still be in the rings */
	t->guard.next_bytes = 0; /* others fill the file system, too */
	if (t->writer && !end_at_limit(t, 0))
		file_result(t, before, scap_writer_flush(t->writer));
}

int dispatch_finish_file(struct dispatch *t, struct report *r)
{
	static const struct scap_stats none;
	const unsigned int before = say_n_errors();
	struct scap_writer *w;
	uint64_t bytes = 0;
	int err;

	if (t->flight)
		t->file_failed |= flight_finish(t->flight);
	err = t->file_ended ? 0 : open_without_events(t);
	w = t->writer;
	t->writer = NULL;
	if (w)
		/* A span has no counters of its own. */
		file_result(t, before,
			    scap_writer_close(w, r->is_span ? &none : &r->stats, &bytes));
	if (w || t->file_ended) {
		r->written = t->pieces.path;
		r->n_pieces = t->pieces.n;
		r->written_bytes = t->piece_bytes + bytes;
	}
	return err;
}

int dispatch_begin_file(struct dispatch *t)
{
	int err;

	if (t->flight)
		sinsp_set_before(t->inspector, dispatch_before_flight, t);
	else if (pieces_begin_with_event(t->o))
		sinsp_set_before(t->inspector, before_event, t);
	sinsp_set_section(t->inspector, begin_section, t);
	if (!holds_events(t))
		return 0;
	err = held_new(&t->held, t->inspector, t->first_pass, put_held, t);
	if (err)
		say_cause(say_n_errors(), "cannot write events", err);
	return err;
}
