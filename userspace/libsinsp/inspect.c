/* SPDX-License-Identifier: Apache-2.0 */
/* The inspector: opens a source, loads its state, and returns its events. */
#include "sinsp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "container/container_lookup.h"
#include "markers/spans.h"
#include "parse/event_rows.h"
#include "parse/parse.h"
#include "requests/requests.h"
#include "state/export.h"
#include "state/import.h"
#include "state/inspector.h"
#include "state/pathname.h"
#include "symbols/symbols.h"
#include "timeline/timeline.h"

static void drop_state(struct sinsp *s)
{
	sinsp_warn_refused(s);
	sinsp_requests_free(s->requests);
	s->requests = NULL;
	sinsp_timeline_free(s, s->timeline);
	s->timeline = NULL;
	sinsp_spans_free(s->spans);
	s->spans = NULL;
	scap_state_build_free(s->machine);
	s->machine = NULL;
	sinsp_users_fini(&s->users, &s->threads.strings);
	sinsp_switches_fini(&s->switches);
	sinsp_symbols_free(s->symbols);
	s->symbols = NULL;
	sinsp_code_maps_fini(&s->code_maps);
	sinsp_ifaces_fini(&s->ifaces);
	sinsp_saved_free(&s->threads, s->call_sample.saved);
	s->call_sample.saved = NULL;
	sinsp_threads_fini(&s->threads);
}

static int mark_all(struct sinsp *s);

static void import_turns(struct sinsp_switches *w, const struct scap_state *st)
{
	for (size_t i = 0; i < st->n_turns; i++) {
		struct sinsp_turn *turn = sinsp_switches_of(w, st->turns[i].cpu);

		if (!turn)
			continue;
		*turn = (struct sinsp_turn){st->turns[i].since_ns, st->turns[i].tid};
		w->has_gaps |= st->turns[i].has_gaps;
	}
}

static int import_state(struct sinsp *s)
{
	const struct scap_state *st = scap_state(s->src);
	const struct scap_skipped *skipped = scap_skipped(s->src);
	int err = sinsp_threads_init(&s->threads);

	if (skipped)
		s->first_ns = skipped->first_ns;
	s->threads.containers.collects_new = s->container_events;
	s->ended_tid = s->closed_fd = -1;
	s->native = s->evt_in_preface = 0;
	s->begun = skipped != NULL; /* containers before the first event of all lie behind */
	s->resync.fds_lost_ns = s->resync.threads_lost_ns = 0;
	s->hostname[0] = 0;
	if (err || !st)
		return err;
	/* What a loss before it made uncertain is older than anything else. */
	if (sinsp_state_is_uncertain(st))
		s->resync.fds_lost_ns = s->resync.threads_lost_ns = SINSP_LOST_BEFORE_NS;
	memcpy(s->hostname, st->machine.hostname, sizeof(s->hostname) - 1);
	s->machine = scap_state_build_new();
	err = s->machine ? sinsp_export_machine(s->machine, st) : -ENOMEM;
	if (!err)
		err = sinsp_users_load(&s->users, &s->threads.strings, st);
	if (!err)
		err = sinsp_ifaces_load(&s->ifaces, st);
	if (!err)
		import_turns(&s->switches, st);
	if (!err)
		err = sinsp_import_state(&s->threads, st);
	if (!err)
		err = mark_all(s);
	return err;
}

/* Begins to derive events. */
static int begin_derived(struct sinsp *s)
{
	int err = 0;

	sinsp_derived_reset(&s->derived, s->derive);
	if (s->derive & SINSP_DERIVE_REQUESTS)
		err = sinsp_requests_new(&s->requests, s);
	if (!err && s->derive & SINSP_DERIVE_SLICES) {
		s->timeline = sinsp_timeline_new();
		err = s->timeline ? 0 : -ENOMEM;
	}
	return err;
}

/* Replaces the state by that of the source, or of its new section. The source drops its copy. */
static int load_state(struct sinsp *s)
{
	int err = import_state(s) ?: begin_derived(s);

	scap_state_drop(s->src);
	return err;
}

/* Processes whose children still have to be marked. */
struct todo {
	struct sinsp_process **v;
	size_t n, cap;
};

static int todo_add(struct todo *todo, struct sinsp_process *p)
{
	struct sinsp_process **v = todo->v;

	if (todo->n == todo->cap) {
		v = realloc(v, (todo->cap * 2 + 64) * sizeof(*v));
		if (!v)
			return -ENOMEM;
		todo->v = v;
		todo->cap = todo->cap * 2 + 64;
	}
	todo->v[todo->n++] = p;
	return 0;
}

/* Copies the marks of the main thread to the process. Returns whether one is new. */
static int mark_process(struct sinsp *s, struct sinsp_process *p)
{
	struct sinsp_thread *main = sinsp_threads_find(&s->threads, p->pid);
	unsigned int before = 0, after = 0;

	for (struct sinsp_thread *t = p->threads; t; t = t->sibling)
		before += t->suppressed + t->in_tree;
	if (main)
		sinsp_thread_mark(s, main, sinsp_threads_find(&s->threads, main->ptid));
	for (struct sinsp_thread *t = p->threads; t; t = t->sibling) {
		sinsp_thread_mark(s, t, sinsp_threads_find(&s->threads, t->ptid));
		after += t->suppressed + t->in_tree;
	}
	return before != after;
}

/* Marks descendants. A process is visited again only if its marks changed, so this ends even if the
 * file has processes that are each other's parents. */
static int mark_all(struct sinsp *s)
{
	struct todo todo = {0};
	int err = 0;

	if (!s->suppress_comms && !s->tree_root)
		return 0;
	for (uint32_t i = 0; i < s->threads.n_slots && !err; i++) {
		struct sinsp_thread *t = s->threads.slots[i].t;

		if (t && t->tid == t->pid && mark_process(s, t->proc))
			err = todo_add(&todo, t->proc);
	}
	while (todo.n && !err) {
		struct sinsp_process *p = todo.v[--todo.n];

		for (struct sinsp_process *c = p->children; c && !err; c = c->next_child)
			if (mark_process(s, c))
				err = todo_add(&todo, c);
	}
	free(todo.v);
	return err;
}

static int copy_comms(struct sinsp *s, const char *const *comms)
{
	size_t n = 0;

	while (comms && comms[n])
		n++;
	if (!n)
		return 0;
	s->suppress_comms = calloc(n + 1, sizeof(*s->suppress_comms));
	if (!s->suppress_comms)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		s->suppress_comms[i] = strdup(comms[i]);
		if (!s->suppress_comms[i])
			return -ENOMEM;
	}
	return 0;
}

#define OPT(opts, field)                                                                           \
	((opts) && (opts)->sz >= offsetof(struct sinsp_opts, field) + sizeof((opts)->field)        \
		 ? (opts)->field                                                                   \
		 : 0)

int sinsp_open(struct sinsp **out, struct scap *src, const struct sinsp_opts *opts)
{
	struct sinsp *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s) {
		sinsp_lookup_free(OPT(opts, lookup));
		scap_close(src);
		return err;
	}
	sinsp_event_rows_init();
	s->src = src;
	s->source_name = OPT(opts, source_name);
	s->enter_events = OPT(opts, enter_events);
	s->hidden_flags = SCAP_EVT_F_STATE_ONLY | (s->enter_events ? 0 : SCAP_EVT_F_HIDDEN);
	s->tree_root = OPT(opts, tree_root);
	s->debug_dirs = OPT(opts, debug_dirs);
	s->interpreter_frames = OPT(opts, interpreter_frames);
	s->derive = OPT(opts, derive);
	sinsp_resync_init(&s->resync, OPT(opts, resync));
	s->log = OPT(opts, log);
	s->log_ctx = OPT(opts, log_ctx);
	s->container_events = OPT(opts, containers);
	s->lookup = OPT(opts, lookup);
	err = copy_comms(s, OPT(opts, suppress_comms));
	if (!err)
		err = load_state(s);
	if (err) {
		sinsp_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void sinsp_close(struct sinsp *s)
{
	if (!s)
		return;
	sinsp_lookup_free(s->lookup);
	drop_state(s);
	sinsp_derived_fini(&s->derived);
	for (const char **p = s->suppress_comms; p && *p; p++)
		free((char *)*p);
	free(s->suppress_comms);
	scap_close(s->src);
	free(s);
}

static int begin_section(struct sinsp *s)
{
	int err;

	s->section_due = 0;
	drop_state(s);
	err = s->section ? s->section(s->section_ctx, scap_state(s->src)) : 0;
	return err ?: load_state(s);
}

/* Returns as scap_next. */
static int next_raw(struct sinsp *s, struct sinsp_evt *evt, int timeout_ms)
{
	for (;;) {
		int r = scap_next_split(s->src, &evt->raw, &evt->params, timeout_ms);

		if (r != SCAP_NEW_SECTION || s->derive)
			return r;
		r = begin_section(s);
		if (r)
			return r;
	}
}

/* Updates the state, and what is kept of the event besides. */
static int apply(struct sinsp *s, struct sinsp_evt *evt)
{
	int r = s->before ? s->before(s->before_ctx, &evt->raw) : 0;

	if (r)
		return r;
	evt->insp = s;
	s->n_events++;
	sinsp_parse_event(s, evt);
	if (evt->raw.type == EVT_MAP_E)
		sinsp_symbols_add_map(s, evt);
	else if (evt->raw.type == EVT_SYMBOL_E)
		sinsp_symbols_import(s, evt);
	else if (evt->raw.type == EVT_SCRIPT_E)
		sinsp_scripts_import(s, evt);
	else if (evt->raw.type == EVT_MAP_EXEC_E || evt->raw.type == EVT_MAP_EXIT_E)
		sinsp_scripts_drop(s, evt);
	return 1;
}

/* Returns the next event that was derived, as sinsp_next; 0: there is none. */
static int next_derived(struct sinsp *s, struct sinsp_evt *evt)
{
	return sinsp_derived_take(&s->derived, evt) ? apply(s, evt) : 0;
}

/* Derives from an event of the source, which changed the state. */
static void derive(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct sinsp_derived *d = &s->derived;
	const uint64_t n_dropped = d->n_dropped;

	sinsp_derived_note(d, evt);
	if (s->requests && !(d->kinds & SINSP_DERIVE_REQUESTS)) {
		sinsp_requests_free(s->requests);
		s->requests = NULL;
	}
	if (s->timeline && !(d->kinds & SINSP_DERIVE_SLICES)) {
		sinsp_timeline_free(s, s->timeline);
		s->timeline = NULL;
	}
	if (s->requests)
		sinsp_requests_event(s->requests, evt);
	if (s->timeline)
		sinsp_timeline_event(s, evt);
	if (d->kinds & SINSP_DERIVE_TRACERS)
		sinsp_marker_event(s, evt);
	if (d->n_dropped && !n_dropped && s->log)
		s->log(s->log_ctx, SCAP_LOG_WARN,
		       "out of memory for derived events: some are missing");
}

/* The source, or a section of it, ended: derives the last events, some at a time. */
static void derive_last(struct sinsp *s)
{
	int more = 1;

	while (more && !sinsp_derived_waits(&s->derived))
		more = (s->requests && sinsp_requests_end(s->requests)) ||
		       (s->timeline && sinsp_timeline_end(s));
}

/* Returns the next of the last derived events; behind them @r, or SCAP_NEW_SECTION with the state
 * of the new section; or a negative errno. */
static int next_of_end(struct sinsp *s, struct sinsp_evt *evt, int r)
{
	int n;

	s->section_due = r == SCAP_NEW_SECTION;
	derive_last(s);
	n = next_derived(s, evt);
	if (n || !s->section_due)
		return n ?: r;
	return begin_section(s) ?: SCAP_NEW_SECTION;
}

/* Works as sinsp_next, and returns the events that are derived from an event behind it: with the
 * state after it, and then with that in which what it ended is gone. Returns SCAP_NEW_SECTION after
 * a section without more events. */
static __attribute__((noinline)) int next_or_derived(struct sinsp *s, struct sinsp_evt *evt,
						     int timeout_ms)
{
	int r = next_derived(s, evt);

	if (r)
		return r;
	sinsp_parse_finish(s);
	r = next_derived(s, evt);
	if (r)
		return r;
	if (s->section_due)
		return next_of_end(s, evt, SCAP_NEW_SECTION);
	if (s->container_events)
		sinsp_step_containers(s);
	r = next_raw(s, evt, timeout_ms);
	if (r == -ENODATA || r == SCAP_NEW_SECTION)
		return next_of_end(s, evt, r);
	if (r == 1) {
		sinsp_derived_at(&s->derived, &evt->raw);
		r = apply(s, evt);
	}
	if (r == 1)
		derive(s, evt);
	return r;
}

int sinsp_next(struct sinsp *s, struct sinsp_evt *evt, int timeout_ms)
{
	int r;

	if (s->derive) {
		do
			r = next_or_derived(s, evt, timeout_ms);
		while (r == SCAP_NEW_SECTION);
	} else {
		sinsp_parse_finish(s);
		if (s->container_events)
			sinsp_step_containers(s);
		r = next_raw(s, evt, timeout_ms);
		r = r == 1 ? apply(s, evt) : r;
	}
	if (r <= 0)
		sinsp_warn_refused(s);
	return r;
}

void sinsp_set_before(struct sinsp *s, sinsp_before_fn before, void *ctx)
{
	s->before = before;
	s->before_ctx = ctx;
}

void sinsp_set_section(struct sinsp *s, sinsp_section_fn section, void *ctx)
{
	s->section = section;
	s->section_ctx = ctx;
}

uint64_t sinsp_state_size(const struct sinsp *s)
{
	uint64_t n = 8ull * s->threads.n;

	for (uint32_t i = 0; i < s->threads.n_slots; i++) {
		const struct sinsp_thread *t = s->threads.slots[i].t;

		if (t && sinsp_thread_owns_files(t))
			n += sinsp_files_count(t->files);
	}
	return n;
}

int sinsp_export(struct sinsp *s, struct scap_state_build **out)
{
	struct scap_state_build *b = scap_state_build_new();
	int err = b ? 0 : -ENOMEM;

	if (!err && s->machine)
		err = sinsp_export_machine(b, scap_state_build_done(s->machine));
	if (!err)
		err = sinsp_export_threads(b, s);
	if (err)
		scap_state_build_free(b);
	else
		*out = b;
	return err;
}

int sinsp_each_open_slice(struct sinsp *s, uint64_t now_ns, sinsp_slice_fn fn, void *ctx)
{
	struct sinsp_derived stream = s->derived;
	struct sinsp_evt evt = {.insp = s, .fdnum = -1, .other_fdnum = -1};
	int r = 0;

	if (!s->timeline)
		return 0;
	s->derived = (struct sinsp_derived){.kinds = SINSP_DERIVE_SLICES, .ts_ns = now_ns};
	sinsp_timeline_open(s, now_ns);
	evt.info = scap_event_info(EVT_SLICE_E);
	while (!r && sinsp_derived_take(&s->derived, &evt)) {
		evt.thread = sinsp_threads_find(&s->threads, (int64_t)evt.raw.hdr->tid);
		r = fn(ctx, &evt);
	}
	sinsp_derived_fini(&s->derived);
	s->derived = stream;
	return r;
}

static int is_of_tree(const struct sinsp *s, const struct sinsp_evt *evt)
{
	/* A container event has a thread only for its line. */
	const int of_nobody = !evt->thread || (int64_t)evt->raw.hdr->tid == -1;

	return !s->tree_root || of_nobody || evt->thread->in_tree;
}

int sinsp_evt_in_tree(const struct sinsp *s, const struct sinsp_evt *evt)
{
	return is_of_tree(s, evt);
}

int sinsp_evt_shown(const struct sinsp *s, const struct sinsp_evt *evt)
{
	if (evt->raw.flags & s->hidden_flags || s->evt_in_preface)
		return 0;
	if (!evt->info || (evt->info->flags & EF_UNUSED) || (evt->info->category & EC_INTERNAL))
		return 0;
	if (evt->thread && evt->thread->suppressed)
		return 0;
	return s->tree_root ? evt->thread && evt->thread->in_tree : 1;
}

struct scap *sinsp_source(struct sinsp *s)
{
	return s->src;
}

const char *sinsp_hostname(const struct sinsp *s)
{
	return s->hostname;
}

const char *sinsp_source_name(const struct sinsp *s)
{
	return s->source_name;
}

uint64_t sinsp_first_ns(const struct sinsp *s)
{
	return s->first_ns;
}
