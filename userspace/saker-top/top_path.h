/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of a drill-down: views, each of which shows the events of a row of the one before. No
 * screen. Invariant: the events of a level are a subset of those of the level above.
 */
#ifndef SAKER_TOP_PATH_H
#define SAKER_TOP_PATH_H

#include "top_tree.h"
#include "views/view_find.h"
#include "views/view_table.h"

enum { TOP_PATH_MAX = 16 };

/* Where the user is in a table. */
enum { TOP_COLUMNS_MAX = 100 }; /* of a view; others keep their width */

struct top_place {
	char *key; /* of the selected row, as top_key_text has it; owned; NULL: none */
	size_t selected, first; /* rows: selected, and first on the screen */
	size_t column, skipped; /* first column on the screen; columns of its text left out */
	uint32_t sorting_col; /* from 1 */
	uint8_t reversed;
	uint8_t narrow; /* columns are as wide as what was shown in them, up to their width */
	uint8_t shown[TOP_COLUMNS_MAX]; /* width of that, by column */
	struct top_tree tree;
};

struct top_path {
	struct top_level {
		const struct sinsp_view *view;
		char *base; /* filter of the rows above; owned, as all texts; "": none */
		char *once; /* filter that rows below do not inherit */
		char *user; /* what the user typed */
		char *condition; /* of the row above alone; NULL: there is none */
		char *row; /* the row above, for people; "" at the root */
		uint64_t from_ns, to_ns; /* the span of time that it selects; 0: all */
		const char *key_field; /* of that row; "" at the root */
		unsigned int depth;
		struct top_place place;
	} v[TOP_PATH_MAX];
	size_t n;
};

/* Returns the filter that matches what both match; either may be "": none. Owned by the caller;
 * NULL: no memory. */
char *top_filter_join(const char *a, const char *b);

/* Begins at @view with the filter of the command line (NULL: none). Returns 0 or -ENOMEM. */
int top_path_init(struct top_path *p, const struct sinsp_view *view, const char *filter);
void top_path_fini(struct top_path *p);

static inline struct top_level *top_path_top(struct top_path *p)
{
	return &p->v[p->n - 1];
}

/* Returns the filter of a level besides that of its view, owned by the caller; "": none. NULL: no
 * memory. */
char *top_level_filter(const struct top_level *level);

/* Returns the filter of one row of the level: also that of the view, and the condition of the key.
 * Owned by the caller; NULL: no memory. */
char *top_level_row_filter(const struct top_level *level, const struct sinsp_view_column *key,
			   const char *value, size_t len);

/* Returns the condition of one row alone, and sets *name to the row, for people. Both are owned by
 * the caller; NULL: no memory. */
char *top_level_key_filter(const struct top_level *level, const struct sinsp_view_column *key,
			   const char *value, size_t len, char **name);

/* Goes down into a row. Returns 0; -E2BIG: too deep; -ENOMEM. */
int top_path_push(struct top_path *p, const struct sinsp_view *view,
		  const struct sinsp_view_column *key, const char *value, size_t len);
/* Goes down into those events of the level that match @condition, the span of time from
 * @from_ns to @to_ns, which @name describes. Returns as above. */
int top_path_narrow(struct top_path *p, const char *condition, const char *name, uint64_t from_ns,
		    uint64_t to_ns);
void top_path_pop(struct top_path *p);
/* Shows another view of the same level. */
void top_path_switch(struct top_path *p, const struct sinsp_view *view);

/* Returns whether the view is a heat map of durations. */
int top_view_is_spectrum(const struct sinsp_view *view);

/* Returns whether the view shows a selection by the field; "": the whole machine. */
int top_view_applies(const struct sinsp_view *view, const char *field);

/* Returns the view of a drill-down, as csysdig: the target, or the first view that applies to the
 * key; NULL: none. */
const struct sinsp_view *top_path_target(const struct view_list *list,
					 const struct sinsp_view *view,
					 const struct sinsp_view_column *key);

#endif /* SAKER_TOP_PATH_H */
