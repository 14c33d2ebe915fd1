/* SPDX-License-Identifier: Apache-2.0 */
/* The pane of the selected row: its cells, its main value over the last tables, its open files,
 * connections and last events. */
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_screen_state.h"
#include "top_spark.h"
#include "top_term.h"

enum { NAME_WIDTH = 12, POINTS_MAX = 300, SPARK_TEXT = 32 /* columns behind the blocks */ };

/* Returns the column whose values are drawn: that which sorts if it is a quantity, else the first
 * one; -1: none. */
static int main_column(const struct top_screen *s)
{
	const struct top_place *place = &s->path.v[s->path.n - 1].place;
	size_t n;
	const struct view_column *cols = view_table_columns(s->snap->table, &n);

	if (place->sorting_col && place->sorting_col <= n &&
	    top_spark_is_quantity(&cols[place->sorting_col - 1]))
		return (int)place->sorting_col - 1;
	for (size_t i = 0; i < n; i++)
		if (top_spark_is_quantity(&cols[i]))
			return (int)i;
	return -1;
}

static int put_spark(struct sinsp_text *out, const struct top_screen *s, size_t width)
{
	const struct top_place *place = &s->path.v[s->path.n - 1].place;
	const struct view_table *t = s->snap->table;
	const int col = main_column(s);
	double points[POINTS_MAX];
	const size_t max =
		width > NAME_WIDTH + SPARK_TEXT + 8 ? width - NAME_WIDTH - SPARK_TEXT : 8;
	size_t n;
	struct view_type type;
	double seconds = 0;

	if (col < 0 || !view_table_key_column(t))
		return 0;
	n = top_feed_series(s->feed, points, POINTS_MAX, view_table_key(t, place->selected, &type),
			    (size_t)col, &seconds);
	if (n < 2)
		return 0;
	n = top_spark_fit(points, n, max);
	return top_spark_put(out, &view_table_columns(t, &(size_t){0})[col], points, n, seconds,
			     top_term_is_utf8());
}

static int put_cells(struct sinsp_text *out, const struct top_screen *s, size_t width)
{
	const struct top_place *place = &s->path.v[s->path.n - 1].place;
	const double seconds = (double)s->snap->length_ns / 1e9;
	struct sinsp_text line = {0};
	size_t n;
	const struct view_column *cols = view_table_columns(s->snap->table, &n);
	const struct view_cell *cells = view_table_cells(s->snap->table, place->selected);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		line.len = 0;
		err = top_put(&line, "%-*s ", NAME_WIDTH, cols[i].info->name);
		err = err ?: top_cell_text(&line, &cells[i], &cols[i], seconds);
		err = err ?: top_put_wrapped(out, line.p, line.len, width, NAME_WIDTH + 1);
	}
	free(line.p);
	return err;
}

int top_details_text(struct sinsp_text *out, const struct top_screen *s, size_t width)
{
	int err = put_cells(out, s, width);

	err = err ?: put_spark(out, s, width);
	return err ?: top_feed_watch_text(s->feed, out);
}

/* ---- what is watched ---- */

static int64_t process_of(const struct top_screen *s)
{
	const struct top_place *place = &s->path.v[s->path.n - 1].place;
	const struct sinsp_view_column *key = view_table_key_column(s->snap->table);
	struct view_type type;
	const struct view_cell *cell = view_table_key(s->snap->table, place->selected, &type);

	if (key && type.kind == VIEW_INT &&
	    (strcmp(key->field, "proc.pid") == 0 || strcmp(key->field, "thread.tid") == 0))
		return cell->i;
	return 0;
}

void top_watch_row(struct top_screen *s)
{
	char *filter = top_selected_filter(s);
	struct top_watch *watch = NULL;
	struct top_watch_opts opts = {.filter = filter, .tid = process_of(s)};

	if (s->play.is_on)
		opts.until_ns = s->snap->end_ns;
	if (filter && !top_watch_new(&watch, &opts))
		top_feed_watch(s->feed, watch);
	free(filter);
}

void top_end_watch(struct top_screen *s)
{
	top_feed_watch(s->feed, NULL);
}
