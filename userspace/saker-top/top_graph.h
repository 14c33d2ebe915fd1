/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a query for a graph collects: a heat map of durations, or a tree of sampled stacks.
 * Functions that say so are called with the feed's lock held: the screen reads what they change.
 */
#ifndef SAKER_TOP_GRAPH_H
#define SAKER_TOP_GRAPH_H

#include "fields/field.h"
#include "fields/format.h"
#include "top_flame.h"
#include "top_lines.h"
#include "top_spectrum.h"
#include "views/view_table.h"

enum { TOP_KEPT_PER_SLOT = 4 /* events of a line */ };

struct top_graph {
	struct top_spectrum spectrum;
	struct top_flame *flame; /* NULL: a heat map */
	struct sinsp_format *format; /* of stacks, or of events to keep */
	/* Of a heat map. */
	struct sinsp_eval eval;
	struct sinsp_field field; /* the duration */
	char *field_name; /* as filters have it; owned */
	uint8_t keeps; /* events are kept, for they do not come again */
	struct top_lines kept; /* their texts, each behind its time and slot */
	uint8_t n_kept[TOP_SPECTRUM_SLOTS]; /* of line kept_line */
	uint64_t kept_line;
	/* Of the current event. */
	uint64_t ns, duration_ns;
	struct sinsp_text text;
};

struct top_query; /* top_feed.h */

/* A heat map of the field that is the key of the view. Returns 0; -EINVAL with *err set; -ENOMEM.
 * Free @g with top_graph_fini, also then. */
int top_graph_init_spectrum(struct top_graph *g, const struct top_query *q, struct view_error *err);
/* A tree of stacks. Returns 0 or -ENOMEM. */
int top_graph_init_flame(struct top_graph *g);
void top_graph_fini(struct top_graph *g);

/* Evaluates an event that matched. Returns 1; 0: it has no value; a negative errno. */
int top_graph_event(struct top_graph *g, const struct sinsp_evt *evt);

/* With the lock: adds that event. Returns 0 or a negative errno. */
int top_graph_add(struct top_graph *g, const struct sinsp_evt *evt);
/* With the lock: the time is @ns. */
void top_graph_tick(struct top_graph *g, uint64_t ns);
void top_graph_clear(struct top_graph *g);

/* Part of a heat map: lines and cells, both ends included. */
struct top_rect {
	uint64_t first_line, last_line;
	unsigned int per, first_cell, last_cell;
};

/* With the lock: appends the kept events in the rectangle. Returns 0 or -ENOMEM. */
int top_graph_kept(struct sinsp_text *out, const struct top_graph *g, const struct top_rect *r);

#endif /* SAKER_TOP_GRAPH_H */
