/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binds each event to its thread and its file, pairs exits with their enters, and calls the parser
 * of the event. saker's own exit events carry every parameter of the call. Those of sysdig need the
 * enter event that came before in the thread, and their names are made as sysdig makes them.
 */
#include "parse.h"

#include <string.h>

#include "event_rows.h"
#include "parsers.h"

void sinsp_parse_end(struct sinsp *s)
{
	struct sinsp_thread *t;

	if (s->ended_tid != -1) {
		t = sinsp_threads_find(&s->threads, s->ended_tid);
		if (t)
			sinsp_threads_end(&s->threads, t, s->reaper_tid);
		s->ended_tid = -1;
	}
	if (s->closed_fd != -1) {
		t = sinsp_threads_find(&s->threads, s->closed_tid);
		if (t)
			sinsp_files_remove(&s->threads.fds, t->files, s->closed_fd);
		s->closed_fd = -1;
	}
}

/* Returns the thread of an event that came after its procexit, or NULL. TID 0, the idle task, has
 * many switches and is never found. */
static struct sinsp_thread *dead_thread_of(struct sinsp *s, const struct sinsp_evt *e,
					   const struct sinsp_parse_row *row)
{
	const int64_t tid = e->raw.hdr->tid;

	if (!tid || row->of_thread ||
	    (!row->is_private && sinsp_quirk(s, SINSP_QUIRK_ENDED_THREAD_UNKNOWN)))
		return NULL;
	return sinsp_threads_find_dead(&s->threads, tid);
}

/* Returns the thread of the event. Only an enter or exit event adds a thread that is not known. */
static struct sinsp_thread *thread_of(struct sinsp *s, const struct sinsp_evt *e,
				      const struct sinsp_parse_row *row)
{
	int64_t tid = e->raw.hdr->tid;
	struct sinsp_thread *t = sinsp_threads_find(&s->threads, tid);

	if (s->resync.threads_lost_ns && s->resync.on && t && row->of_thread && !row->is_clone)
		t = sinsp_resync_thread(s, t);
	if (t)
		return t;
	if (!row->of_thread || row->is_clone)
		return dead_thread_of(s, e, row);
	return sinsp_thread_get(s, tid);
}

static int64_t fd_param(const struct sinsp_evt *e, const struct sinsp_parse_row *row)
{
	const struct scap_param *v = sinsp_param_at(&e->params, row->fd);

	return v && v->len == sizeof(int64_t) ? (int64_t)get_u64(v->p) : sinsp_s64(v, -1);
}

static inline void bind_fd(struct sinsp *s, struct sinsp_evt *e, int64_t num)
{
	e->fdnum = num;
	if (s->resync.on && (s->resync.fds_lost_ns || e->thread->files->partial))
		e->fd = sinsp_resync_fd(s, e->thread, num, e->raw.true_ns);
	else
		e->fd = sinsp_files_find(e->thread->files, num);
}

/* Returns whether the enter event lacks the value and the exit event has it: a path that was not in
 * memory, or the socket address of a call that blocks. */
static int is_unknown(const struct scap_param_info *info, const struct scap_param *v, int sleeps)
{
	if (info->type == PT_SOCKTUPLE || info->type == PT_SOCKADDR)
		return sleeps && !v->len;
	if (info->type != PT_FSPATH && info->type != PT_FSRELPATH && info->type != PT_CHARBUF)
		return 0;
	return !v->len || !strncmp((const char *)v->p, "<NA>", v->len) ||
	       !strncmp((const char *)v->p, "(NULL)", v->len);
}

/* Returns whether the enter was sent before the kernel had read all its texts. */
static int lacks_text(const struct sinsp_evt *e)
{
	for (unsigned int i = 0; i < e->params.n && i < e->info->n_params; i++)
		if (is_unknown(&e->info->params[i], &e->params.v[i],
			       e->raw.flags & SCAP_EVT_F_BLOCKED))
			return 1;
	return 0;
}

static void begin_call(struct sinsp *s, struct sinsp_evt *e, const struct sinsp_parse_row *row)
{
	struct sinsp_thread *t = e->thread;

	if (!row->is_call && !sinsp_quirk(s, SINSP_QUIRK_SIGNAL_HIDES_ENTER))
		return;
	t->enter_type = e->raw.type;
	t->enter_ns = e->raw.true_ns;
	t->latency_ns = 0;
	t->enter_fd = -1;
	t->enter_hidden = !!(e->raw.flags & SCAP_EVT_F_HIDDEN);
	t->enter_open = 1;
	t->enter_before = !!(e->raw.flags & SCAP_EVT_F_BEFORE);
	t->enter_incomplete = s->enter_events && s->native && lacks_text(e);
	sinsp_thread_drop_enter(&s->threads, t);
	if (row->save && !s->native)
		sinsp_thread_save_enter(&s->threads, t, e->raw.hdr);
	if (row->fd >= 0) {
		t->enter_fd = fd_param(e, row);
		bind_fd(s, e, t->enter_fd);
	}
}

/* Returns whether the exit belongs to the last enter of the thread. */
static int is_bound(const struct sinsp_evt *e)
{
	return e->thread->enter_type + 1 == e->raw.type;
}

static int is_exec(unsigned int type)
{
	return type == EVT_EXECVE_X || type == EVT_EXECVEAT_X;
}

/* Moves the open exec of another thread to the leader: a thread that is not the leader enters exec
 * under its own TID and exits under that of the leader. */
static void move_enter_from_sibling(struct sinsp *s, struct sinsp_thread *t,
				    const struct sinsp_evt *e)
{
	const unsigned int exit_type = e->raw.type;
	struct sinsp_thread *from;

	s->execed_tid = -1;
	/* One that fails has the TID of its caller. */
	if ((t->enter_open && t->enter_type + 1u == exit_type) ||
	    sinsp_s64(sinsp_param_at(&e->params, 0), 0) < 0)
		return;
	for (from = t->proc->threads; from; from = from->sibling)
		if (from->enter_open && from->enter_type + 1u == exit_type)
			break;
	if (!from)
		return;
	t->enter_type = from->enter_type;
	t->enter_ns = from->enter_ns;
	t->enter_open = 1;
	t->enter_before = from->enter_before;
	t->enter_incomplete = from->enter_incomplete;
	from->enter_open = 0;
	s->execed_tid = from->tid;
}

/* Pairs an exit event with its enter. Returns whether the enter was seen. */
static int end_call(struct sinsp *s, struct sinsp_evt *e, const struct sinsp_parse_row *row)
{
	struct sinsp_thread *t = e->thread;
	int bound, open;
	int64_t num = -1;

	if (is_exec(e->raw.type) && !sinsp_quirk(s, SINSP_QUIRK_EXEC_BY_TID))
		move_enter_from_sibling(s, t, e);
	bound = is_bound(e);
	open = bound && t->enter_open;
	if (open && !t->enter_before && t->enter_ns <= e->raw.true_ns) {
		e->latency_ns = e->raw.true_ns - t->enter_ns;
		e->latency_known = 1;
	}
	t->latency_ns = e->latency_ns;
	t->enter_open = 0;
	if (!row->uses_fd)
		return open;

	/* The row of copy_file_range has the file that is written, as in sysdig. */
	if (row->fd >= 0 && e->params.n > (unsigned int)row->fd)
		num = fd_param(e, row);
	else if (bound)
		num = t->enter_fd;
	if (num != -1)
		bind_fd(s, e, num);
	if (e->fd && e->fd->flags & SINSP_FD_F_CONNECT_PENDING)
		sinsp_connect_outcome(s, e, row);
	return open;
}

/* Returns whether the line shows all parameters of the call: if the enter has no line of its own,
 * or blocked in the call. */
static int shows_full(const struct sinsp *s, const struct sinsp_evt *e,
		      const struct sinsp_parse_row *row, int enter_seen)
{
	if (row->is_private)
		return 1;
	if (evt_is_enter(e->raw.type))
		return !!(e->raw.flags & SCAP_EVT_F_BLOCKED);
	if (e->raw.flags & SCAP_EVT_F_FULL)
		return !s->enter_events || !enter_seen || e->thread->enter_incomplete;
	return !enter_seen && e->params.n > e->info->n_2022;
}

/* Returns whether the snapshot of the thread, which is read while events already arrive, contains
 * the event. */
static int is_older_than_snapshot(const struct sinsp_evt *e)
{
	return e->thread && e->raw.true_ns < e->thread->snapshot_ns;
}

/* Returns whether the event is part of the capture: it has a number, or it is no sample or the
 * like. */
static int is_of_system(const struct sinsp_evt *e)
{
	return e->raw.num || (e->info && !(e->info->category & EC_INTERNAL));
}

static void note_preface(struct sinsp *s, const struct sinsp_evt *e)
{
	s->evt_in_preface = !s->begun && evt_is_of_container(e->raw.type);
	if (s->evt_in_preface || !is_of_system(e))
		return;
	s->begun = 1;
	if (!s->first_ns)
		s->first_ns = e->raw.ts_ns;
}

/* Keeps a sample that was taken for the exit event of the thread, which follows. */
static void keep_call_sample(struct sinsp *s, struct sinsp_evt *e)
{
	if (sinsp_evt_is_of_call(e))
		sinsp_thread_save_enter(&s->threads, e->thread, e->raw.hdr);
}

/* Joins the sample with its exit event @e. */
static void join_call_sample(struct sinsp *s, struct sinsp_evt *e)
{
	struct sinsp_call_sample *c = &s->call_sample;
	const struct ppm_evt_hdr *hdr = sinsp_thread_saved_enter(e->thread);

	if (!hdr || hdr->type != EVT_SAMPLE_E)
		return;
	sinsp_saved_free(&s->threads, c->saved);
	c->saved = sinsp_thread_take_saved(e->thread);
	c->is_written = sinsp_saved_is_written(c->saved);
	c->raw = (struct scap_evt){.hdr = hdr,
				   .ts_ns = hdr->ts,
				   .true_ns = hdr->ts,
				   .type = EVT_SAMPLE_E,
				   .nr = REC_NR_NONE};
	if (!scap_evt_params(hdr, &c->params))
		e->call_sample = c;
}

/* Not inlined: most events do not need the room for the parameters of the enter. */
static __attribute__((noinline)) void change_state(struct sinsp *s, struct sinsp_evt *e,
						   const struct sinsp_parse_row *row)
{
	const struct ppm_evt_hdr *saved = NULL;
	const char *name = e->fd ? e->fd->name : NULL;
	struct sinsp_parse p; /* large; enter is set only with enter_row */

	p.s = s;
	p.e = e;
	p.row = row;
	p.enter_row = NULL;
	if (row->of_thread && e->thread && is_bound(e))
		saved = sinsp_thread_saved_enter(e->thread);
	if (saved && !scap_evt_params(saved, &p.enter))
		p.enter_row = sinsp_event_row(saved->type);
	row->fn(&p);
	/* Names are interned: pointers compare. */
	e->fd_renamed = e->fd && (name ? e->fd->name != name : *e->fd->name);
}

void sinsp_parse_event(struct sinsp *s, struct sinsp_evt *e)
{
	const struct sinsp_parse_row *row = sinsp_event_row(e->raw.type);
	int enter_seen = 0, is_exit = !evt_is_enter(e->raw.type);

	e->info = row->info ? row->info : scap_event_info(e->raw.type);
	e->thread = NULL;
	e->fd = NULL;
	e->fdnum = -1;
	e->other_fd = NULL;
	e->other_fdnum = -1;
	e->call_sample = NULL;
	e->io_end = 0;
	e->io_whole = 0;
	e->selected = 0;
	e->latency_ns = 0;
	e->latency_known = 0;
	e->ran_ns = 0;
	e->ran_known = 0;
	e->fd_renamed = 0;
	e->connect_done = 0;
	e->in_snapshot = 0;
	if (e->raw.flags & (SCAP_EVT_F_FULL | SCAP_EVT_F_HIDDEN | SCAP_EVT_F_BLOCKED))
		s->native = 1;
	if (!s->begun || !s->first_ns)
		note_preface(s, e);
	if (!e->info) {
		e->show_full = 0;
		return;
	}

	if (s->resync.on)
		sinsp_resync_step(s, e->raw.true_ns);
	e->thread = thread_of(s, e, row);
	if (e->thread && row->of_thread) {
		if (is_exit) {
			join_call_sample(s, e);
			enter_seen = end_call(s, e, row);
		} else {
			begin_call(s, e, row);
		}
	} else if (e->thread && e->raw.type == EVT_SAMPLE_E) {
		keep_call_sample(s, e);
	} else if (e->thread && e->raw.type == EVT_SWITCH_E) {
		e->latency_ns = e->thread->latency_ns;
	}
	e->show_full = shows_full(s, e, row, enter_seen);
	e->in_snapshot = row->fn && !row->any_age && is_older_than_snapshot(e);
	if (row->fn && !e->in_snapshot)
		change_state(s, e, row);
	if (is_exit && e->thread && !row->is_private)
		sinsp_thread_drop_enter(&s->threads, e->thread);
}
