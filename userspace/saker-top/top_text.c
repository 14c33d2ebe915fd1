/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as text: a title, the names of columns, rows. Columns have the width of the view; the last
 * one has the rest of the line. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fields/text.h"
#include "top_cell.h"
#include "top_print.h"
#include "top_times.h"

void top_slice_rows(const struct top_slice *slice, size_t *from, size_t *to)
{
	const size_t n = view_table_n_rows(slice->table);

	*from = (size_t)slice->options->from;
	*to = slice->options->to && slice->options->to < n ? (size_t)slice->options->to + 1 : n;
}

static int put_all(struct sinsp_text *out, const char *s, size_t n)
{
	char *p = text_begin(out, n + 1);

	return text_end(out, p ? put_mem(p, s, n) : NULL);
}

static size_t width_of(const struct view_column *c, int is_last)
{
	return is_last ? 0 : top_cell_width(c);
}

/* @width 0: the text as it is. */
static int put_cell(struct sinsp_text *out, const char *s, size_t n, size_t width, int left)
{
	int err;

	if (!width)
		return put_all(out, s, n);
	err = top_text_pad(out, s, n, width, left);
	return err ?: put_all(out, " ", 1);
}

static int put_value(struct sinsp_text *out, struct sinsp_text *text, const struct view_cell *c,
		     const struct view_column *col, double seconds, size_t width)
{
	int err;

	text->len = 0;
	err = top_cell_text(text, c, col, seconds);
	return err ?: put_cell(out, text->p, text->len, width, top_cell_is_left(col));
}

static int put_title(struct sinsp_text *out, const struct top_slice *slice)
{
	const uint64_t n_lost = view_table_n_lost(slice->table);
	const size_t n = view_table_n_rows(slice->table);
	int err = top_put(out, "%s%s, ", slice->number ? "\n" : "", slice->view->name);

	err = err ?: top_put_time(out, slice->ns, 0);
	err = err
		      ?: top_put(out, ", %.3f s, %zu %s", (double)slice->length_ns / 1e9, n,
				 n == 1 ? "row" : "rows");
	if (n_lost)
		err = err ?: top_put(out, ", %" PRIu64 " events without room for a row", n_lost);
	return err ?: top_put(out, "\n");
}

static int put_names(struct sinsp_text *out, const struct view_column *cols, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = put_cell(out, cols[i].info->name, strlen(cols[i].info->name),
			       width_of(&cols[i], i + 1 == n), top_cell_is_left(&cols[i]));
	return err ?: put_all(out, "\n", 1);
}

int top_print_text(struct sinsp_text *out, const struct top_slice *slice)
{
	const double seconds = (double)slice->length_ns / 1e9;
	size_t n, from, to;
	const struct view_column *cols = view_table_columns(slice->table, &n);
	struct sinsp_text text = {0};
	int err = put_title(out, slice);

	err = err ?: put_names(out, cols, n);
	top_slice_rows(slice, &from, &to);
	for (size_t r = from; r < to && !err; r++) {
		const struct view_cell *cells = view_table_cells(slice->table, r);

		for (size_t i = 0; i < n && !err; i++)
			err = put_value(out, &text, &cells[i], &cols[i], seconds,
					width_of(&cols[i], i + 1 == n));
		err = err ?: put_all(out, "\n", 1);
	}
	free(text.p);
	return err;
}
