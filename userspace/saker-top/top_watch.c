/* SPDX-License-Identifier: Apache-2.0 */
#include "top_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fields/format.h"
#include "filter/filter.h"
#include "thread.h"
#include "top_capture.h"
#include "top_cell.h"

enum { STEP_EVENTS = 4096, LAST_EVENTS = 12, FILES_MAX = 1000 };

struct top_watch {
	struct sinsp_filter *filter; /* NULL: all events */
	struct sinsp_format *format;
	int64_t tid;
	uint64_t until_ns, n_events;
	struct sinsp_text last[LAST_EVENTS]; /* by number % LAST_EVENTS */
	struct sinsp_text files, connections; /* lines */
	struct sinsp *source; /* own; NULL: events come from others, or the end was reached */
	uint8_t is_known; /* the process */
	uint8_t has_ended;
	uint8_t is_live;
};

int top_watch_new(struct top_watch **out, const struct top_watch_opts *opts)
{
	const struct sinsp_format_opts lines = {.sz = sizeof(lines), .no_env = 1};
	struct top_watch *w = calloc(1, sizeof(*w));
	struct sinsp_filter_error why;
	int err = 0;

	if (!w)
		return -ENOMEM;
	w->tid = opts->tid;
	w->until_ns = opts->until_ns;
	w->is_live = 1;
	if (*opts->filter)
		err = sinsp_filter_new(&w->filter, opts->filter, NULL, &why);
	err = err
		      ?: sinsp_format_new(&w->format, sinsp_format_preset(SINSP_LINE_DEFAULT),
					  &lines, NULL);
	if (err)
		top_watch_free(w);
	else
		*out = w;
	return err;
}

void top_watch_free(struct top_watch *w)
{
	if (!w)
		return;
	sinsp_close(w->source);
	sinsp_filter_free(w->filter);
	sinsp_format_free(w->format);
	for (size_t i = 0; i < LAST_EVENTS; i++)
		free(w->last[i].p);
	free(w->files.p);
	free(w->connections.p);
	free(w);
}

/* ---- events ---- */

int top_watch_put(struct top_watch *w, const struct sinsp_evt *evt)
{
	struct sinsp_text *line = &w->last[w->n_events % LAST_EVENTS];
	int r = top_capture_sees(evt->insp, evt, w->is_live);

	if (r)
		r = sinsp_filter_select(w->filter, evt);
	if (r <= 0)
		return r;
	line->len = 0;
	r = sinsp_format_line(w->format, line, evt);
	w->n_events += r > 0;
	return r < 0 ? r : 0;
}

/* ---- open files ---- */

struct fds {
	const struct sinsp_fd **v; /* owned */
	size_t n, n_more; /* those beyond FILES_MAX */
};

static void add_fd(const struct sinsp_fd *fd, void *ctx)
{
	struct fds *fds = ctx;

	if (fds->n < FILES_MAX)
		fds->v[fds->n++] = fd;
	else
		fds->n_more++;
}

static int compare_fds(const void *a, const void *b)
{
	const struct sinsp_fd *x = *(const struct sinsp_fd *const *)a;
	const struct sinsp_fd *y = *(const struct sinsp_fd *const *)b;

	return (x->num > y->num) - (x->num < y->num);
}

static int is_connection(const struct sinsp_fd *fd)
{
	return fd->type >= SCAP_FD_IPV4_SOCK && fd->type <= SCAP_FD_IPV6_SERVSOCK;
}

static int put_fd(struct sinsp_text *out, const struct sinsp_fd *fd)
{
	return top_put(out, "  %5" PRId32 " %-10s %s\n", fd->num, sinsp_fd_typename(fd) ?: "",
		       fd->name);
}

int top_watch_files(struct top_watch *w, struct sinsp *s)
{
	const struct sinsp_thread *t = w->tid ? sinsp_thread_find(s, w->tid) : NULL;
	struct fds fds = {0};
	int err = 0;

	w->has_ended = w->is_known && !t;
	if (!t || !t->files) /* those before its end stay */
		return 0;
	fds.v = calloc(FILES_MAX, sizeof(*fds.v));
	if (!fds.v)
		return -ENOMEM;
	sinsp_files_each(t->files, add_fd, &fds);
	qsort(fds.v, fds.n, sizeof(*fds.v), compare_fds);
	w->files.len = w->connections.len = 0;
	w->is_known = 1;
	for (size_t i = 0; i < fds.n && !err; i++)
		err = put_fd(is_connection(fds.v[i]) ? &w->connections : &w->files, fds.v[i]);
	if (fds.n_more && !err)
		err = top_put(&w->files, "  and %zu more files and connections\n", fds.n_more);
	free(fds.v);
	return err;
}

/* ---- a file ---- */

int top_watch_open_source(struct top_watch *w, const struct top_options *o)
{
	w->is_live = 0;
	return top_capture_open(&w->source, o, w->filter,
				w->filter ? sinsp_filter_field_needs(w->filter) : 0);
}

/* The files of a process that ends are those before its end. */
static int note_end(struct top_watch *w, const struct sinsp_evt *evt)
{
	if (evt->raw.type != EVT_PROCEXIT_E && evt->raw.type != EVT_PROCEXIT_16_E)
		return 0;
	return evt->thread && evt->thread->tid == w->tid ? top_watch_files(w, evt->insp) : 0;
}

int top_watch_step(struct top_watch *w)
{
	struct sinsp_evt evt;
	int n = 1, err = 0, is_over = 0;

	for (int i = 0; i < STEP_EVENTS && n >= 0 && !err && !is_over; i++) {
		n = sinsp_next(w->source, &evt, 0);
		if (n <= 0)
			continue;
		is_over = w->until_ns && evt.raw.ts_ns >= w->until_ns;
		if (!is_over)
			err = note_end(w, &evt) ?: top_watch_put(w, &evt);
	}
	if (n >= 0 && !err && !is_over)
		return 1;
	err = err ?: top_watch_files(w, w->source);
	sinsp_close(w->source);
	w->source = NULL;
	return err ?: n < 0 && n != -ENODATA ? n : 0;
}

int top_watch_reads(const struct top_watch *w)
{
	return w && w->source;
}

/* ---- text ---- */

static int put_section(struct sinsp_text *out, const char *heading, const struct sinsp_text *lines)
{
	const int err = top_put(out, "\n%s\n", heading);

	if (err || !lines->len)
		return err ?: top_put(out, "  none\n");
	return top_put(out, "%.*s", (int)lines->len, lines->p);
}

static int put_last(const struct top_watch *w, struct sinsp_text *out)
{
	const uint64_t from = w->n_events > LAST_EVENTS ? w->n_events - LAST_EVENTS : 0;
	const char *since = w->is_live ? " since this pane was opened" : "";
	int err;

	if (!w->n_events)
		return top_put(out, "\nLast events%s\n  none\n", since);
	err = top_put(out, "\nLast events%s, %" PRIu64 " of %" PRIu64 "\n", since,
		      w->n_events - from, w->n_events);

	for (uint64_t i = from; i < w->n_events && !err; i++) {
		const struct sinsp_text *line = &w->last[i % LAST_EVENTS];

		err = top_put(out, "  %.*s", (int)line->len, line->p);
	}
	return err;
}

int top_watch_text(const struct top_watch *w, struct sinsp_text *out)
{
	int err = 0;

	if (w->has_ended)
		err = top_put(out, "\nIt has ended: this is the last that is known of it.\n");
	if (w->is_known && !err) {
		err = put_section(out, "Open files", &w->files);
		err = err ?: put_section(out, "Connections", &w->connections);
	}
	return err ?: put_last(w, out);
}
