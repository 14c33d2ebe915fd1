/* SPDX-License-Identifier: Apache-2.0 */
#include "top_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields/text.h"
#include "top_cell.h"
#include "top_path.h"

/* The same events as those of the chisel echo_fds. */
#define IS_ECHO "evt.is_io=true and evt.dir=< and evt.rawres>0"
#define IS_SAMPLE "evt.type=sample and sample.reason=cpu"
#define ECHO_HEAD "*------ %evt.time %proc.name (%proc.pid) %evt.io_dir %evt.rawres bytes %fd.name"

enum { MAX_ROWS = 1000000, MAX_LIST_ROWS = 100000 };

/* ---- new and free ---- */

static int open_tables(struct top_job *job, const struct top_query *q, int containers,
		       struct view_error *err)
{
	const int is_list = sinsp_view_is_list(q->view);
	const struct view_table_opts opts = {
		.sz = sizeof(opts),
		.view = q->view,
		.filter = q->filter,
		.containers = (uint8_t)containers,
		.max_rows = is_list ? MAX_LIST_ROWS : MAX_ROWS,
		.depth = q->depth,
	};
	int r = 0;

	job->is_list = (uint8_t)is_list;
	for (unsigned int i = 0; i < TOP_JOB_TABLES && !r; i++)
		r = view_table_new(&job->snaps[i].table, &opts, err);
	return r;
}

static int open_filter(struct top_job *job, const struct top_query *q, const char *own,
		       struct view_error *err)
{
	struct sinsp_filter_error why = {0};
	char *text = top_filter_join(q->filter, own);
	int r;

	if (!text)
		return -ENOMEM;
	r = *text ? sinsp_filter_new(&job->filter, text, NULL, &why) : 0;
	if (r == -EINVAL)
		snprintf(err->message, sizeof(err->message), "%s", why.message);
	free(text);
	return r;
}

static int open_lines(struct top_job *job, const struct top_query *q, struct view_error *err)
{
	const struct sinsp_format_opts opts = {
		.sz = sizeof(opts), .buf_fmt = SINSP_BUF_ASCII, .buf_max = UINT32_MAX};
	const int is_echo = q->kind == TOP_FEED_ECHO;
	int r = open_filter(job, q, is_echo ? IS_ECHO : "", err);

	r = r
		    ?: sinsp_format_new(&job->head,
					is_echo ? ECHO_HEAD
						: sinsp_format_preset(SINSP_LINE_DEFAULT),
					is_echo ? &opts : NULL, NULL);
	if (is_echo)
		r = r ?: sinsp_format_new(&job->data, "%evt.buffer", &opts, NULL);
	return r;
}

static int open_graph(struct top_job *job, const struct top_query *q, struct view_error *err)
{
	char *own;
	int r;

	if (q->kind == TOP_FEED_STACKS)
		return top_graph_init_flame(&job->graph) ?: open_filter(job, q, IS_SAMPLE, err);
	r = top_graph_init_spectrum(&job->graph, q, err);
	if (r)
		return r;
	own = view_text_at_depth(q->view->filter, q->depth);
	r = own ? open_filter(job, q, own, err) : -ENOMEM;
	free(own);
	return r;
}

int top_job_new(struct top_job **out, const struct top_query *query, int containers,
		struct view_error *err)
{
	struct top_job *job = calloc(1, sizeof(*job));
	int r;

	if (!job)
		return -ENOMEM;
	job->kind = query->kind;
	job->play = query->play;
	job->from_ns = query->play.is_on ? query->play.from_ns : query->from_ns;
	job->to_ns = query->to_ns;
	job->keeps = query->kind == TOP_FEED_TABLE && !sinsp_view_is_list(query->view);
	job->ready = 1;
	job->shown = 2;
	if (query->kind == TOP_FEED_TABLE)
		r = open_tables(job, query, containers, err)
			    ?: top_needs_init(&job->needs, query->view, query->filter);
	else if (top_job_is_graph(job))
		r = open_graph(job, query, err);
	else
		r = open_lines(job, query, err);
	if (r)
		top_job_free(job);
	else
		*out = job;
	return r;
}

void top_job_free(struct top_job *job)
{
	if (!job)
		return;
	top_history_clear(&job->history); /* shares the columns of the tables */
	for (unsigned int i = 0; i < TOP_JOB_TABLES; i++)
		view_table_free(job->snaps[i].table);
	sinsp_filter_free(job->filter);
	sinsp_format_free(job->head);
	sinsp_format_free(job->data);
	if (top_job_is_graph(job))
		top_graph_fini(&job->graph);
	top_lines_fini(&job->lines);
	free(job->text.p);
	free(job);
}

/* ---- tables ---- */

static void swap(unsigned int *a, unsigned int *b)
{
	const unsigned int was = *a;

	*a = *b;
	*b = was;
}

void top_job_publish(struct top_job *job)
{
	if (job->keeps) /* without memory, it has a gap */
		top_history_add(&job->history, top_job_filling(job));
	job->epochs[job->filling] = job->epoch;
	job->published = job->filling;
	swap(&job->filling, &job->ready);
	job->has_new = 1;
}

/* The table that was published last has all rows of a list; it is ready or shown, and neither
 * thread writes its rows then. */
int top_job_begin(struct top_job *job)
{
	struct view_table *t = top_job_filling(job)->table;

	if (!job->is_list || job->epochs[job->filling] != job->epoch)
		view_table_clear(t);
	return job->is_list ? view_table_catch_up(t, job->snaps[job->published].table) : 0;
}

const struct top_snapshot *top_job_take(struct top_job *job, int *is_new)
{
	*is_new = job->has_new;
	if (job->has_new) {
		swap(&job->shown, &job->ready);
		job->has_new = 0;
		job->has_shown = 1;
	}
	return job->has_shown ? &job->snaps[job->shown] : NULL;
}

void top_job_clear(struct top_job *job)
{
	struct top_snapshot *snap = top_job_filling(job);

	top_lines_clear(&job->lines);
	if (top_job_is_graph(job))
		top_graph_clear(&job->graph);
	if (!job->is_list)
		return;
	job->epoch++;
	view_table_clear(snap->table);
	view_table_end(snap->table, NULL, 0);
	top_job_publish(job);
	top_job_begin(job);
}

/* ---- what it needs ---- */

const struct sinsp_filter *top_job_filter(const struct top_job *job)
{
	return job->kind == TOP_FEED_TABLE ? view_table_filter(job->snaps[0].table) : job->filter;
}

unsigned int top_job_needs(const struct top_job *job)
{
	if (job->kind == TOP_FEED_TABLE)
		return view_table_needs(job->snaps[0].table);
	return (job->filter ? sinsp_filter_field_needs(job->filter) : 0) |
	       (job->kind == TOP_FEED_SPECTRUM ? job->graph.field.row->needs : 0);
}

/* ---- lines ---- */

/* Appends the data without the newlines around it. */
static int format_data(struct top_job *job, const struct sinsp_evt *evt)
{
	const size_t begin = job->text.len;
	int r = sinsp_format_line(job->data, &job->text, evt);
	char *data = job->text.p + begin;
	size_t n = job->text.len - begin, skipped = 0;

	if (r <= 0)
		return r;
	while (skipped < n && data[skipped] == '\n')
		skipped++;
	while (n > skipped && data[n - 1] == '\n')
		n--;
	memmove(data, data + skipped, n - skipped);
	job->text.len = begin + n - skipped;
	return n > skipped ? top_put(&job->text, "\n") : 0;
}

int top_job_format(struct top_job *job, const struct sinsp_evt *evt)
{
	int r = sinsp_filter_select(job->filter, evt);

	if (r <= 0)
		return r;
	if (top_job_is_graph(job))
		return top_graph_event(&job->graph, evt);
	job->text.len = 0;
	r = sinsp_format_line(job->head, &job->text, evt);
	if (r >= 0 && job->data)
		r = format_data(job, evt);
	return r < 0 ? r : job->text.len > 0;
}

int top_job_add(struct top_job *job, const struct sinsp_evt *evt)
{
	if (top_job_is_graph(job))
		return top_graph_add(&job->graph, evt);
	return top_lines_add(&job->lines, job->text.p, job->text.len);
}

int top_job_line(const struct top_job *job, uint64_t number, struct sinsp_text *out)
{
	const struct top_line *line = top_lines_at(&job->lines, number);
	char *p;

	if (!line)
		return 0;
	p = text_begin(out, line->len + 1);
	if (!p)
		return -ENOMEM;
	return text_end(out, put_mem(p, line->text, line->len)) ?: 1;
}
