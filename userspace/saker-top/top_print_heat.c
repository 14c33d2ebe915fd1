/* SPDX-License-Identifier: Apache-2.0 */
#include "top_print_heat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "say.h"
#include "signals.h"
#include "standard_streams.h"
#include "state/inspector.h"
#include "top_capture.h"
#include "top_cell.h"
#include "top_job.h"

enum { IDLE_MS = 100, WIDTH = 80 };
#define DEFAULT_INTERVAL_NS 2000000000ull

struct heat {
	const struct top_options *o;
	struct sinsp *s;
	struct top_job *job;
	struct sinsp_text out;
	unsigned int per;
	uint64_t printed, n; /* lines up to this one are printed; how many */
};

static const struct top_spectrum *spectrum_of(const struct heat *h)
{
	return &h->job->graph.spectrum;
}

/* ---- lines ---- */

static int put_scale(struct heat *h)
{
	return top_spectrum_scale(&h->out, spectrum_of(h), h->per) ?: top_put(&h->out, "\n");
}

/* The width of a terminal; without one, that of a page. */
static int width(void)
{
	struct winsize size;

	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : WIDTH;
}

static int begin(struct heat *h)
{
	int err;

	h->per = top_spectrum_cells(spectrum_of(h), width()) ?: 1;
	err = top_spectrum_legend(&h->out);
	return err ?: top_put(&h->out, "\n") ?: put_scale(h);
}

static int has_enough(const struct heat *h)
{
	return h->o->n_tables && h->n >= h->o->n_tables;
}

/* Prints the lines before @to. */
static int print(struct heat *h, uint64_t to)
{
	const struct top_spectrum *sp = spectrum_of(h);
	int err = 0;

	if (h->printed < sp->from)
		h->printed = sp->from;
	for (; h->printed < to && !err && !has_enough(h); h->printed++, h->n++) {
		if (!h->n)
			err = begin(h);
		err = err ?: top_spectrum_time(&h->out, sp, h->printed);
		err = err ?: top_put(&h->out, " ");
		err = err ?: top_spectrum_line(&h->out, sp, h->printed, h->per);
		while (!err && h->out.p[h->out.len - 1] == ' ')
			h->out.len--;
		err = err ?: top_put(&h->out, "\n");
	}
	return err ?: stdout_put_text(&h->out);
}

/* ---- the loop ---- */

static int take_event(struct heat *h, const struct sinsp_evt *evt)
{
	const struct top_spectrum *sp = spectrum_of(h);
	int r;

	if (!top_capture_sees(h->s, evt, !h->o->read))
		return 0;
	r = top_job_format(h->job, evt);
	r = r > 0 ? top_job_add(h->job, evt) : r;
	if (r || sp->grows || sp->to < 2)
		return r;
	return h->printed < sp->to - 1 ? print(h, sp->to - 1) : 0;
}

static int tick(struct heat *h)
{
	top_graph_tick(&h->job->graph, scap_now_ns(sinsp_source(h->s)));
	return print(h, spectrum_of(h)->to - 1);
}

static int loop(struct heat *h)
{
	struct sinsp_evt evt;
	int n = 0, err = 0;

	while (!signals_stop_requested() && !has_enough(h) && !err) {
		n = sinsp_next(h->s, &evt, h->o->read ? 0 : IDLE_MS);
		if (n < 0 && n != -EINTR)
			break;
		if (n > 0)
			err = take_event(h, &evt);
		else if (!h->o->read)
			err = tick(h);
	}
	/* Of a damaged file, what comes before the damage. */
	if (!err && h->o->read)
		err = print(h, spectrum_of(h)->to);
	if (!err && h->n)
		err = put_scale(h) ?: stdout_put_text(&h->out);
	return err ?: n < 0 && n != -EINTR && n != -ENODATA ? n : 0;
}

int top_print_heat(const struct top_options *o, const struct sinsp_view *view)
{
	const struct top_query query = {
		.kind = TOP_FEED_SPECTRUM,
		.view = view,
		.filter = o->filter ?: "",
		.length_ns = o->interval_ns
				     ?: o->read ? 0
						: DEFAULT_INTERVAL_NS,
	};
	const unsigned int before = say_n_errors();
	struct view_error why = {""};
	struct heat h = {.o = o};
	int err = top_job_new(&h.job, &query, o->containers, &why);

	if (err)
		say("%s", err == -EINVAL ? why.message : strerror(-err));
	err = err ?: top_capture_open_only(&h.s, o, top_job_filter(h.job), top_job_needs(h.job));
	if (!err) {
		err = loop(&h);
		if (err && err != -EPIPE)
			say_cause(before, o->read ?: "the capture stopped", err);
		else if (!err && scap_is_damaged(sinsp_source(h.s)))
			err = -EBADMSG;
	}
	sinsp_close(h.s);
	top_job_free(h.job);
	free(h.out.p);
	return err == -EPIPE ? 0 : err;
}
