/* SPDX-License-Identifier: Apache-2.0 */
/* What a query collects: three tables that change hands, lines, or a graph. Without threads:
 * top_feed.c locks what both sides use. */
#ifndef SAKER_TOP_JOB_H
#define SAKER_TOP_JOB_H

#include "fields/format.h"
#include "filter/filter.h"
#include "top_feed.h"
#include "top_history.h"
#include "top_lines.h"
#include "top_needs.h"

enum { TOP_JOB_TABLES = 3 };

struct top_job {
	enum top_feed_kind kind;
	struct top_needs needs; /* of a table */
	/* Of a table. A list goes on: its rows stay until they are cleared. */
	struct top_snapshot snaps[TOP_JOB_TABLES];
	unsigned int epochs[TOP_JOB_TABLES], epoch; /* of the rows: number of clearings */
	unsigned int filling, ready, shown; /* in snaps */
	unsigned int published; /* the last one that was ready */
	uint8_t is_list, has_new, has_shown;
	uint8_t keeps; /* a copy of each table in the history */
	struct top_play play; /* of a file, as all below */
	uint64_t from_ns, to_ns;
	struct top_history history;
	struct sinsp_filter *filter; /* of lines or a graph; NULL: all events */
	struct top_graph graph;
	/* Of lines. */
	struct sinsp_format *head, *data; /* data: NULL for events */
	struct sinsp_text text;
	struct top_lines lines;
};

static inline int top_job_is_graph(const struct top_job *job)
{
	return job->kind == TOP_FEED_SPECTRUM || job->kind == TOP_FEED_STACKS;
}

/* Returns 0; -EINVAL with *err set; -ENOMEM. */
int top_job_new(struct top_job **out, const struct top_query *query, int containers,
		struct view_error *err);
void top_job_free(struct top_job *job);

static inline struct top_snapshot *top_job_filling(struct top_job *job)
{
	return &job->snaps[job->filling];
}

/* The filled table is ready. */
void top_job_publish(struct top_job *job);
/* Prepares the next table for events. Returns 0 or a negative errno. */
int top_job_begin(struct top_job *job);
/* Returns the newest table that was ready; NULL: none yet. */
const struct top_snapshot *top_job_take(struct top_job *job, int *is_new);

/* Return what selects the events (NULL: all), and what its fields and the filter need: enum
 * sinsp_field_needs. */
const struct sinsp_filter *top_job_filter(const struct top_job *job);
unsigned int top_job_needs(const struct top_job *job);

/* Formats the lines of an event, or gets what the graph counts. Returns 1; 0: it has none; a
 * negative errno. */
int top_job_format(struct top_job *job, const struct sinsp_evt *evt);
/* With the lock: keeps them, or counts it. */
int top_job_add(struct top_job *job, const struct sinsp_evt *evt);
/* Appends a line. Returns 1; 0: it is not kept; -ENOMEM. */
int top_job_line(const struct top_job *job, uint64_t number, struct sinsp_text *out);

/* Removes the rows of a list, or the lines. */
void top_job_clear(struct top_job *job);

#endif /* SAKER_TOP_JOB_H */
