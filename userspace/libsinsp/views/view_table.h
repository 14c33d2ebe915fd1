/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of a view: events become rows, without a screen. Each event that matches is added to
 * the row of its key; at the end of an interval, every thread becomes an event of its own, rows
 * with the same groupby key are merged, and rows are sorted. docs/top.md describes the rules.
 */
#ifndef SINSP_VIEWS_VIEW_TABLE_H
#define SINSP_VIEWS_VIEW_TABLE_H

#include "chisel/chisel.h"
#include "view_rows.h"

struct view_table; /* used by one thread */

struct view_table_opts {
	size_t sz; /* sizeof(struct view_table_opts); new fields go last */
	const struct sinsp_view *view; /* borrowed until view_table_free */
	const char *filter; /* of all events, besides that of the view; NULL: none */
	uint8_t containers; /* show columns with the tag containers */
	uint32_t sorting_col; /* shown column, from 1; 0: that of the view */
	uint32_t max_rows; /* 0: one million */
	size_t max_text; /* bytes of texts; 0: 256 MiB */
	uint32_t depth; /* stands for %depth in the view */
};

/* A column that is shown. */
struct view_column {
	const struct sinsp_view_column *info;
	struct view_type type;
	uint8_t is_rate; /* a sum per second: divide by the length of the interval */
	uint8_t is_new; /* of events that csysdig does not have: requests, slices, TCP */
};

struct view_error {
	char message[512]; /* a sentence without a newline */
};

/* Returns a text of a view with %depth replaced by @depth, from 0 to 8, owned by the caller; NULL:
 * no memory. */
char *view_text_at_depth(const char *text, unsigned int depth);

/* Returns 0; -EINVAL with *err set: wrong view or filter; -ENOMEM. */
int view_table_new(struct view_table **out, const struct view_table_opts *opts,
		   struct view_error *err);
void view_table_free(struct view_table *t);

/* Adds an event if it matches. Returns 0 or a negative errno. */
int view_table_event(struct view_table *t, const struct sinsp_evt *evt);

/* Ends the interval at time @ns: rows are valid until view_table_clear. Returns 0 or a negative
 * errno. */
int view_table_end(struct view_table *t, struct sinsp *s, uint64_t ns);

/* Begins the next interval. */
void view_table_clear(struct view_table *t);

/* Sorts the rows by the shown column @col, from 1; @reverse: in the other order. Returns 0,
 * -EINVAL: there is no such column, or -ENOMEM. */
int view_table_sort(struct view_table *t, uint32_t col, int reverse);

/* Puts the sorted rows in another order until they are sorted again: row @i becomes the one that is
 * number @rows[@i] now. Each number occurs exactly once. Returns 0 or -ENOMEM. */
int view_table_reorder(struct view_table *t, const uint32_t *rows);

/* Makes a copy of the sorted rows, which takes no events. It shares the columns of @src, and must
 * be freed before that. Returns 0 or -ENOMEM. */
int view_table_copy(struct view_table **out, const struct view_table *src);
/* Returns the bytes that the rows take. */
size_t view_table_bytes(const struct view_table *t);
/* Returns the cells of the row with the key; NULL: there is none. */
const struct view_cell *view_table_find(const struct view_table *t, const struct view_cell *key);

/* Of lists: adds those rows of @src that @t lacks, as the same list at an earlier time. Returns 0
 * or -ENOMEM. */
int view_table_catch_up(struct view_table *t, const struct view_table *src);

size_t view_table_n_rows(const struct view_table *t);
/* Returns the key of row @i of the sorted ones, and its cells in the order of the columns. */
const struct view_cell *view_table_key(const struct view_table *t, size_t i,
				       struct view_type *type);
const struct view_cell *view_table_cells(const struct view_table *t, size_t i);

/* Returns the columns, *n of them. */
const struct view_column *view_table_columns(const struct view_table *t, size_t *n);
/* Returns the column by which the view sorts, from 1. */
uint32_t view_table_sorting_col(const struct view_table *t);
/* Returns the column whose values identify a row: of the groupby key, else the key; NULL: a list.
 */
const struct sinsp_view_column *view_table_key_column(const struct view_table *t);
/* Returns the number of events that found no room for a row in the interval. */
uint64_t view_table_n_lost(const struct view_table *t);
/* Returns the filter that the table runs; NULL: none. Borrowed. */
const struct sinsp_filter *view_table_filter(const struct view_table *t);
/* Returns what fields and filter need: enum sinsp_field_needs. */
unsigned int view_table_needs(const struct view_table *t);

#endif /* SINSP_VIEWS_VIEW_TABLE_H */
