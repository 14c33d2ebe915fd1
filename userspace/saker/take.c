/* SPDX-License-Identifier: Apache-2.0 */
#include "take.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "clock.h"
#include "fields/format.h"
#include "procfs/state_build.h"
#include "say.h"
#include "symbols/symbols.h"
#include "thread.h"

static int prints_lines(const struct options *o)
{
	return !o->quiet && !o->chisels.n && (!o->write || o->print);
}

int take_open_lines(struct take *t, const struct options *o)
{
	int err, to_file = o->write && strcmp(o->write, "-") == 0;

	t->o = o;
	t->live = !o->read.n;
	err = output_open(&t->lines, o->chisels.n ? NULL : o->output,
			  o->command || to_file ? STDERR_FILENO : STDOUT_FILENO, o->unbuffered);
	if (err || !prints_lines(o))
		return err;
	t->prints = 1;
	return lines_open(&t->form, o, isatty(t->lines.fd))
		       ?: lines_header(&t->form, &t->lines.text);
}

int take_lines_on_terminal(const struct take *t)
{
	return t->prints && isatty(t->lines.fd);
}

/* "key=value" lines about the origin of a file; owned, NULL without memory. */
static char *provenance(const struct take *t, const struct scap *src)
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

/* Writes names of frames, with the time of the event that needs them. */
struct symbols_to {
	struct take *t;
	uint64_t ts_ns;
};

static int put_symbol(void *ctx, const struct ppm_evt_hdr *hdr)
{
	const struct symbols_to *to = ctx;
	const struct scap_evt evt = {.hdr = hdr,
				     .ts_ns = to->ts_ns,
				     .true_ns = to->ts_ns,
				     .type = hdr->type,
				     .nr = REC_NR_NONE};

	return scap_writer_put(to->t->writer, &evt);
}

/* A piece can be read alone: it repeats the container events so far. */
static int put_told(struct take *t, uint64_t ts_ns)
{
	int err = 0;

	for (size_t i = 0; i < t->pieces.n_told && !err; i++) {
		struct ppm_evt_hdr *hdr = t->pieces.told[i];
		const struct scap_evt evt = {.hdr = hdr,
					     .num = 1,
					     .ts_ns = ts_ns,
					     .true_ns = ts_ns,
					     .type = hdr->type,
					     .nr = REC_NR_NONE};

		hdr->ts = ts_ns;
		err = scap_writer_put(t->writer, &evt);
	}
	return err;
}

/* Begins the next piece, or the only file. */
static int open_piece(struct take *t, const struct scap_state *state, uint64_t ts_ns)
{
	const struct scap_writer_opts opts = {
		.sz = sizeof(opts),
		.compress = t->o->compress,
		.provenance = t->provenance,
		.log = say_log,
	};
	struct symbols_to to = {t, ts_ns};
	unsigned int before = say_n_errors();
	int err = pieces_next(&t->pieces, ts_ns);

	t->guard = (struct file_guard){0};

	if (!err)
		err = scap_writer_open(&t->writer, t->pieces.path, state, &opts);
	if (!err)
		t->head_bytes = scap_writer_bytes(t->writer);
	if (!err)
		err = put_told(t, ts_ns);
	if (!err && t->inspector)
		err = sinsp_code_maps_export(t->inspector, put_symbol, &to);
	if (err)
		say_cause(before, t->pieces.path ?: t->o->write, err);
	return err;
}

/* Returns the part of @state with the threads of needed processes; free with free_part. 0 or
 * -ENOMEM. */
static int needed_part(const struct take *t, const struct scap_state *state,
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
static int open_needed(struct take *t, const struct scap_state *state)
{
	struct scap_state part;
	int err = needed_part(t, state, &part);

	if (err)
		return err;
	err = open_piece(t, &part, 0);
	free_part(state, &part);
	return err;
}

int take_open_file(struct take *t, const struct scap *src)
{
	pieces_init(&t->pieces, t->o);
	t->puts_needed = pieces_wanted(t->o) || t->o->with_symbols;
	t->provenance = provenance(t, src);
	/* The first piece begins with the first event, whose time may be part of its name. */
	return pieces_wanted(t->o) ? 0 : open_needed(t, scap_state(src));
}

/* The calls of the child before its execve are saker's own; if calls are not recorded, the end of
 * its mappings marks that moment. */
static int is_before_exec(struct take *t, const struct sinsp_evt *evt)
{
	if ((int64_t)evt->raw.hdr->tid != t->before_exec)
		return 0;
	if (strcmp(sinsp_evt_type(evt), "execve") != 0 && evt->raw.type != EVT_MAP_EXEC_E)
		return 1;
	t->before_exec = 0;
	return 0;
}

static int is_meant(struct take *t, const struct sinsp_evt *evt)
{
	/* The file has a suppressed process up to its renaming, and its end. */
	if (evt->raw.type == EVT_PROCEXIT_E && evt->raw.flags & SCAP_EVT_F_STATE_ONLY)
		return sinsp_evt_in_tree(evt->insp, evt);
	return sinsp_evt_in_tree(evt->insp, evt) && !(evt->thread && evt->thread->suppressed) &&
	       !(t->before_exec && is_before_exec(t, evt));
}

/* A gap: lost events, or a pause of sampling. It belongs to no thread. */
static int tells_of_gap(const struct sinsp_evt *evt)
{
	return evt->raw.type == EVT_LOST_E || evt->raw.type == EVT_DROP_E ||
	       evt->raw.type == EVT_DROP_X;
}

/*
 * Events without a number belong to the capture, or to a thread that must be known to be selected.
 */
static int is_of_others(struct take *t, const struct sinsp_evt *evt)
{
	if (tells_of_gap(evt))
		return 0;
	if (evt->raw.num)
		return !is_meant(t, evt);
	return evt->raw.hdr->tid != UINT64_MAX && (!evt->thread || !is_meant(t, evt));
}

/* Returns whether it is an event of the system, not of the capture; some of these take no number:
 * samples. */
static int is_of_system(const struct sinsp_evt *evt)
{
	return evt->raw.num || (evt->info && !(evt->info->category & EC_INTERNAL));
}

/* For files -M counts the time of the capture, which may go back. It begins with the first matching
 * event of the system: mappings, and changes during the set-up, come before it. */
static int is_past_limit(struct take *t, const struct sinsp_evt *evt)
{
	if (t->live)
		return 0;
	if (!t->begin_ns && sinsp_first_ns(evt->insp) && is_of_system(evt) &&
	    !(evt->raw.flags & SCAP_EVT_F_STATE_ONLY))
		t->begin_ns = evt->raw.ts_ns;
	return t->begin_ns && evt->raw.ts_ns > t->begin_ns &&
	       evt->raw.ts_ns - t->begin_ns >= t->o->max_ns;
}

/* Returns whether anything besides the file needs events. */
static int shows_events(const struct take *t)
{
	return t->prints || t->chisels || t->summary;
}

/* Handles @err of the writer: reports the first one, unless the writer did, and ends the file; the
 * capture goes on if anything else needs events. */
static void file_result(struct take *t, unsigned int n_errors_before, int err)
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
static int close_piece(struct take *t)
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
static __attribute__((noinline)) int check_limits(struct take *t, uint64_t bytes, size_t sz)
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
		t->done = 1; /* take_finish_file closes it, with all counters */
	return 1;
}

/* Returns whether the file has ended, or ends before @sz more bytes. */
static int end_at_limit(struct take *t, size_t sz)
{
	uint64_t bytes;

	if (!t->writer || t->file_ended)
		return t->file_ended;
	bytes = scap_writer_bytes(t->writer);
	return file_guard_is_due(&t->guard, bytes, sz) && check_limits(t, bytes, sz);
}

/* For each event, before it changes the state that the next piece begins with. */
static int before_event(void *ctx, const struct scap_evt *evt)
{
	struct take *t = ctx;
	struct scap_state_build *state;
	unsigned int before = say_n_errors();
	int err;

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
	if (t->file_failed)
		return 0;
	err = sinsp_export(t->inspector, &state);
	if (err)
		return err;
	if (t->held)
		held_forget(t->held);
	before = say_n_errors();
	file_result(t, before, open_piece(t, scap_state_build_done(state), evt->ts_ns));
	scap_state_build_free(state);
	return 0;
}

/* A capture without events is a file, too. */
static int open_without_events(struct take *t)
{
	const struct scap_evt none = {.ts_ns = clock_read_ns(CLOCK_REALTIME)};

	return t->o->write && pieces_wanted(t->o) && !t->pieces.n ? before_event(t, &none) : 0;
}

static int put_held(void *ctx, const struct scap_evt *evt);

/* The file begins a new section with its source: PIDs may be reused from here on. */
static int begin_section(void *ctx, const struct scap_state *state)
{
	struct take *t = ctx;
	const unsigned int before = say_n_errors();
	struct scap_state part;
	int err;

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

int take_open(struct take *t, struct sinsp *inspector, int64_t command)
{
	int err = 0;

	t->inspector = inspector;
	if (t->o->write && pieces_wanted(t->o))
		sinsp_set_before(inspector, before_event, t);
	if (t->o->write)
		sinsp_set_section(inspector, begin_section, t);
	t->before_exec = command;
	t->selective = command || t->o->suppress.n;
	t->leaves_out = t->selective || t->settled_ns || t->o->max_ns;
	if (t->o->summary) {
		t->summary = summary_new();
		if (!t->summary)
			err = -ENOMEM;
	}
	if (err)
		say_cause(say_n_errors(), "cannot print lines", err);
	if (!err && t->o->write && t->filter && !t->o->whole_state) {
		err = held_new(&t->held, inspector, t->first_pass, put_held, t);
		if (err)
			say_cause(say_n_errors(), "cannot write events", err);
	}
	return err;
}

/* A piece can be read alone: it has what its events need. */
static __attribute__((noinline)) int put_needed(struct take *t, const struct sinsp_evt *evt)
{
	struct symbols_to to = {t, evt->raw.ts_ns};
	int err = pieces_tell(&t->pieces, &evt->raw);

	if (err || !t->writer)
		return err;
	t->pieces.n_events += evt->raw.num != 0;
	if (!t->o->with_symbols)
		return 0;
	return sinsp_symbols_export(evt->insp, evt, (uint32_t)t->pieces.n, put_symbol, &to);
}

/* Another section usually follows. */
static __attribute__((noinline)) void check_order(struct take *t, const struct scap_evt *evt)
{
	if (evt->ts_ns < t->last_ns)
		say_log(NULL, SCAP_LOG_WARN,
			"the captures overlap in time; their events are not in order of time in "
			"the file. To merge them: -r A -r B without -w");
	t->begins_section = 0;
}

static void note_time(struct take *t, const struct scap_evt *evt)
{
	if (!evt->num || evt->flags & SCAP_EVT_F_STATE_ONLY)
		return;
	if (t->begins_section)
		check_order(t, evt);
	t->last_ns = evt->ts_ns;
}

static void put_file(struct take *t, const struct sinsp_evt *evt)
{
	const unsigned int before = say_n_errors();
	int err = 0;

	note_time(t, &evt->raw);
	if (end_at_limit(t, evt->raw.hdr->len))
		return;
	if (t->puts_needed)
		err = put_needed(t, evt);
	if (!err && t->writer)
		err = scap_writer_put(t->writer, &evt->raw);
	if (err)
		file_result(t, before, err);
}

static int put_held(void *ctx, const struct scap_evt *evt)
{
	struct take *t = ctx;
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

/* Returns 1 if it has a line; 0: none; a negative errno. */
static int put_line(struct take *t, const struct sinsp_evt *evt, int is_gap)
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
static __attribute__((noinline)) int run_chisels(struct take *t, const struct sinsp_evt *evt)
{
	const int err = chisels_event(t->chisels, evt);

	t->done |= t->chisels->run.end;
	return err ?: 1;
}

static __attribute__((noinline)) void note_first(struct take *t)
{
	t->first_line_ns = clock_now_ns();
}

/* For each event: rare cases are called, so that the common path saves no registers for them. */
static int show(struct take *t, const struct sinsp_evt *evt)
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

/* Events of the capture report losses, or mappings. */
static int matters_to_state(const struct sinsp_evt *evt)
{
	const uint32_t changes = EF_MODIFIES_STATE | EF_CREATES_FD | EF_DESTROYS_FD;

	return !is_of_system(evt) || (evt->info && evt->info->flags & changes);
}

/* Events that do not match are still written if names depend on them. Of events that report memory
 * only the last one before another event counts: they are held for that. */
static int keep_for_state(const struct take *t, struct sinsp_evt *evt)
{
	/*
	 * Files of other tools have the subject of an exit, such as its descriptor, in the enter.
	 */
	const int of_exit =
		evt_is_enter(evt->raw.type) && sinsp_filter_may_match(t->filter, evt->raw.type | 1);

	if (!of_exit && !matters_to_state(evt) && !(t->held && held_is_of_usage(evt->raw.type)))
		return 0;
	evt->raw.flags |= SCAP_EVT_F_STATE_ONLY;
	return 1;
}

/* Lines omit events of the capture itself: state of processes, and losses. */
static int is_for_chisels(const struct take *t, const struct sinsp_evt *evt)
{
	return t->chisels && (evt->raw.num || evt->raw.type == EVT_LOST_E) && evt->info &&
	       evt->info->category & EC_INTERNAL && !(evt->raw.flags & SCAP_EVT_F_STATE_ONLY);
}

/* Users and groups in captures of other tools: they change the state, and have lines only if a
 * filter names them. */
static int is_named(const struct take *t, const struct sinsp_evt *evt)
{
	return t->filter && evt_is_of_users(evt->raw.type) &&
	       !(evt->raw.flags & SCAP_EVT_F_STATE_ONLY) &&
	       sinsp_filter_names_type(t->filter, evt->raw.type);
}

/* Returns 1 if the filter matches, 0 if not; a negative errno after reporting it. */
static inline int run_filter(struct take *t, const struct sinsp_evt *evt)
{
	int meant;

	if (!is_of_system(evt) && !is_named(t, evt))
		return 1;
	t->n_judged++;
	meant = sinsp_filter_run(t->filter, evt);
	if (meant < 0)
		say_cause(say_n_errors(), "cannot filter", meant);
	return meant;
}

/* For a capture with a filter: returns 1 if the event is not written, or not yet; 0 if it is next;
 * or a negative errno. */
static int hold_back(struct take *t, struct sinsp_evt *evt, int meant)
{
	int ret = 0;

	if (!meant && !keep_for_state(t, evt))
		return 1;
	if (!t->held)
		return 0;
	if (evt->raw.flags & SCAP_EVT_F_STATE_ONLY || !is_of_system(evt))
		ret = held_take(t->held, evt);
	if (!ret && is_of_system(evt) && !(evt->raw.flags & SCAP_EVT_F_STATE_ONLY))
		ret = held_release(t->held, evt);
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

int take_first_pass(struct take *t, const struct options *o, struct sinsp *inspector)
{
	struct take pass = {.o = o, .filter = t->filter};
	struct sinsp_evt evt;
	int n = 0, meant;
	int err = held_new(&pass.held, inspector, NULL, put_nowhere, NULL);

	while (!err && (n = sinsp_next(inspector, &evt, -1)) >= 0) {
		if (n == 0)
			continue;
		meant = run_filter(&pass, &evt);
		n = meant < 0 ? meant : hold_back(&pass, &evt, meant);
		err = n < 0 ? n : 0;
	}
	if (err)
		held_free(pass.held);
	else
		t->first_pass = pass.held;
	return err;
}

/* Events before the time to show, after a limit, or from threads that are not selected. */
static int is_left_out(struct take *t, struct sinsp_evt *evt)
{
	if (evt->raw.ts_ns < t->settled_ns) {
		if (!t->o->write || !matters_to_state(evt))
			return 1;
		evt->raw.flags |= SCAP_EVT_F_STATE_ONLY;
	}
	if (t->o->max_ns && is_past_limit(t, evt)) {
		t->done = 1;
		return 1;
	}
	return t->selective && is_of_others(t, evt);
}

/* Events in a file are numbered in the file; lines use the same numbers. */
static void set_number(const struct take *t, struct sinsp_evt *evt)
{
	if (evt->raw.num)
		evt->raw.num = t->n_numbered + 1;
}

/* Passes events that do not match to chisels that requested them, to keep their state. */
static int follow_left_out(struct take *t, const struct sinsp_evt *evt, int meant)
{
	int err;

	if (!t->chisels || !t->chisels->run.follows || t->done ||
	    (meant && sinsp_evt_shown(evt->insp, evt)))
		return 0;
	err = chisels_follow(t->chisels, evt);
	t->done |= t->chisels->run.end;
	return err;
}

static __attribute__((noinline)) int tick_chisels(struct take *t, const struct sinsp_evt *evt,
						  int meant)
{
	int err;

	if ((!is_of_system(evt) && !is_for_chisels(t, evt)) || !sinsp_first_ns(evt->insp))
		return 0;
	err = chisels_tick(t->chisels, evt);
	t->done |= t->chisels->run.end;
	return err ?: follow_left_out(t, evt, meant);
}

/* An event of the capture itself has no line, except gaps. */
static __attribute__((noinline)) int show_internal(struct take *t, const struct sinsp_evt *evt,
						   int meant)
{
	int n = 0;

	if (meant && (is_for_chisels(t, evt) || is_named(t, evt))) {
		t->n_matched += evt->raw.num != 0;
		return show(t, evt);
	}
	if (t->prints && tells_of_gap(evt))
		n = put_line(t, evt, 1);
	return n < 0 ? n : 0;
}

/* @held: the file has it later, or never. */
static inline int give_out(struct take *t, struct sinsp_evt *evt, int meant, int held)
{
	int err;

	if (evt->raw.num && !held)
		t->n_numbered++;
	if (t->chisels) {
		err = tick_chisels(t, evt, meant);
		if (err)
			return err;
	}
	if (t->o->write && !held)
		put_file(t, evt);
	if (!evt->info)
		return 0;
	if (evt->info->category & EC_INTERNAL)
		return show_internal(t, evt, meant);
	if (!meant || !sinsp_evt_shown(evt->insp, evt))
		return 0;
	t->n_matched++;
	return show(t, evt);
}

/* Works as give_out, for a file with a filter. A function of its own, so that other captures save
 * no registers for it. */
static __attribute__((noinline)) int give_out_or_hold(struct take *t, struct sinsp_evt *evt,
						      int meant)
{
	const int held = hold_back(t, evt, meant);

	if (held < 0)
		return held;
	if (held && !meant)
		return follow_left_out(t, evt, meant);
	if (t->live)
		set_number(t, evt); /* held events come before it */
	return give_out(t, evt, meant, held);
}

int take_event(struct take *t, struct sinsp_evt *evt)
{
	int meant = 1;

	if (t->done)
		return 0;
	t->n_events++;
	if (t->leaves_out && is_left_out(t, evt))
		return 0;
	if (t->live)
		set_number(t, evt);
	if (t->filter) {
		meant = run_filter(t, evt);
		if (meant < 0)
			return meant;
		if (t->o->write)
			return give_out_or_hold(t, evt, meant);
	}
	return give_out(t, evt, meant, 0);
}

void take_flush_file(struct take *t)
{
	unsigned int before = say_n_errors();

	t->guard.next_bytes = 0; /* others fill the file system, too */
	if (t->writer && !end_at_limit(t, 0))
		file_result(t, before, scap_writer_flush(t->writer));
}

int take_idle(struct take *t)
{
	int err = output_flush(&t->lines);

	if (!err && t->chisels && t->live) {
		err = chisels_idle(t->chisels, clock_read_ns(CLOCK_REALTIME));
		t->done |= t->chisels->run.end;
	}
	if (!err && t->chisels)
		err = chisels_flush(t->chisels);
	/* Flushing reduces compression: take_flush_file is called often enough. */
	if (!err && t->o->compress == SCAP_COMPRESS_NONE)
		take_flush_file(t);
	return err;
}

int take_finish_file(struct take *t, struct report *r)
{
	const unsigned int before = say_n_errors();
	struct scap_writer *w;
	uint64_t bytes = 0;
	int err;

	err = t->file_ended ? 0 : open_without_events(t);
	w = t->writer;
	t->writer = NULL;
	if (w)
		file_result(t, before, scap_writer_close(w, &r->stats, &bytes));
	if (w || t->file_ended) {
		r->written = t->pieces.path;
		r->n_pieces = t->pieces.n;
		r->written_bytes = t->piece_bytes + bytes;
	}
	return err;
}

static int put_summary(struct take *t)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int err;

	if (!f)
		return -ENOMEM;
	(t->o->lines_kind == SINSP_FORMAT_JSON ? summary_print_json : summary_print)(t->summary, f);
	fclose(f);
	err = output_write(&t->lines, text, len);
	free(text);
	return err;
}

int take_finish_lines(struct take *t)
{
	int err = 0;

	if (t->summary)
		err = put_summary(t);
	return output_close(&t->lines) ?: err;
}

void take_fini(struct take *t)
{
	scap_writer_close(t->writer, NULL, NULL);
	held_free(t->held);
	held_free(t->first_pass);
	summary_free(t->summary);
	lines_close(&t->form);
	pieces_fini(&t->pieces);
	free(t->provenance);
	sinsp_filter_free(t->filter);
}
