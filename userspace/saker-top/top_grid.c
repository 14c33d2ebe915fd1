/* SPDX-License-Identifier: Apache-2.0 */
#include "top_grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fields/text_columns.h"
#include "top_cell.h"
#include "top_find.h"
#include "top_term.h"

enum { SCROLL = 8, LAST_LEAST = 24 /* columns of the last one that are to be seen */ };

/* ---- selection ---- */

static int key_of(const struct top_snapshot *snap, size_t row, struct sinsp_text *out)
{
	struct view_type type;
	const struct view_cell *key = view_table_key(snap->table, row, &type);

	out->len = 0;
	return top_key_text(out, key, &type);
}

static int has_key(const struct top_snapshot *snap, size_t row, const char *key,
		   struct sinsp_text *text)
{
	return !key_of(snap, row, text) && text->len == strlen(key) &&
	       memcmp(text->p ?: "", key, text->len) == 0;
}

/* Finds the row of the selected key: often it did not move. */
static void follow(struct top_place *place, const struct top_snapshot *snap)
{
	const size_t n = view_table_n_rows(snap->table);
	struct sinsp_text text = {0};
	size_t at = place->selected;

	if (place->key && (at >= n || !has_key(snap, at, place->key, &text))) {
		for (at = 0; at < n && !has_key(snap, at, place->key, &text); at++)
			;
		if (at < n)
			place->selected = at;
	}
	if (place->selected >= n)
		place->selected = n ? n - 1 : 0;
	free(text.p);
}

void top_grid_select(struct top_place *place, const struct top_snapshot *snap, size_t row)
{
	const size_t n = view_table_n_rows(snap->table);
	struct sinsp_text text = {0};

	free(place->key);
	place->key = NULL;
	place->selected = row < n ? row : n ? n - 1 : 0;
	if (n && !key_of(snap, place->selected, &text))
		place->key = strndup(text.p ?: "", text.len);
	free(text.p);
}

int top_grid_has_selected(const struct top_place *place, const struct top_snapshot *snap)
{
	struct sinsp_text text = {0};
	const int has = place->key && place->selected < view_table_n_rows(snap->table) &&
			has_key(snap, place->selected, place->key, &text);

	free(text.p);
	return has;
}

static int sort(struct top_place *place, const struct top_snapshot *snap)
{
	if (!place->sorting_col)
		place->sorting_col = view_table_sorting_col(snap->table);
	return view_table_sort(snap->table, place->sorting_col, place->reversed)
		       ?: top_tree_sort(&place->tree, snap->table);
}

int top_grid_arrive(struct top_place *place, const struct top_snapshot *snap)
{
	const int err = sort(place, snap);

	if (!err)
		follow(place, snap);
	return err;
}

int top_grid_sort(struct top_place *place, const struct top_snapshot *snap, uint32_t col)
{
	size_t n;

	view_table_columns(snap->table, &n);
	if (!col || col > n)
		return -ERANGE;
	place->reversed = col == place->sorting_col && !place->reversed;
	place->sorting_col = col;
	return top_grid_arrive(place, snap);
}

static void scroll_columns(struct top_place *place, size_t n_cols, enum top_action action)
{
	if (action == TOP_KEY_RIGHT) {
		if (place->column + 1 < n_cols)
			place->column++;
		else
			place->skipped += SCROLL;
	} else if (place->skipped) {
		place->skipped -= SCROLL;
	} else if (place->column) {
		place->column--;
	}
}

void top_grid_move(struct top_place *place, const struct top_snapshot *snap, int height,
		   enum top_action action)
{
	const size_t page = height > 1 ? (size_t)height - 1 : 1;
	size_t row = place->selected, n_cols;

	view_table_columns(snap->table, &n_cols);
	if (action == TOP_KEY_LEFT || action == TOP_KEY_RIGHT) {
		scroll_columns(place, n_cols, action);
		return;
	}
	if (action == TOP_KEY_UP)
		row -= row > 0;
	else if (action == TOP_KEY_DOWN)
		row++;
	else if (action == TOP_KEY_PAGE_UP)
		row = row > page ? row - page : 0;
	else if (action == TOP_KEY_PAGE_DOWN)
		row += page;
	else
		row = action == TOP_KEY_FIRST ? 0 : view_table_n_rows(snap->table);
	top_grid_select(place, snap, row);
	if (action == TOP_KEY_FIRST) { /* the first row, whichever it is */
		free(place->key);
		place->key = NULL;
	}
}

/* ---- search ---- */

int top_grid_search(struct top_place *place, const struct top_snapshot *snap, const char *text,
		    int from_next)
{
	const size_t n = view_table_n_rows(snap->table);
	const double seconds = (double)snap->length_ns / 1e9;
	struct top_find find;
	int found = 0;

	if (top_find_init(&find, text))
		return 0;
	for (size_t i = 0; i < n && !found; i++) {
		const size_t row = (place->selected + i + (from_next != 0)) % n;

		found = top_find_in_row(&find, snap->table, row, seconds);
		if (found)
			top_grid_select(place, snap, row);
	}
	top_find_fini(&find);
	return found;
}

/* ---- drawing ---- */

static size_t width_at(const struct top_place *place, const struct view_column *cols, size_t i,
		       size_t n)
{
	const size_t width = i + 1 == n ? 0 : top_cell_width(&cols[i]);

	if (!place->narrow || i >= TOP_COLUMNS_MAX || place->shown[i] >= width)
		return width;
	return place->shown[i];
}

/* Appends text in the width of the column and a blank; width 0: the rest of the line, from the
 * skipped columns on. */
static int put_cell(struct sinsp_text *line, const struct sinsp_text *text, size_t width, int left,
		    size_t skipped)
{
	uint32_t columns;
	size_t from;

	if (width)
		return top_text_pad(line, text->p ?: "", text->len, width, left)
			       ?: top_put(line, " ");
	from = text_fit(text->p ?: "", text->len, (uint32_t)skipped, &columns);
	return top_put(line, "%.*s", (int)(text->len - from), (text->p ?: "") + from);
}

static int put_safe_cell(struct sinsp_text *text, struct sinsp_text *scratch,
			 const struct view_cell *c, const struct view_column *col, double seconds)
{
	scratch->len = text->len = 0;
	return top_cell_text(scratch, c, col, seconds)
		       ?: top_text_safe(text, scratch->p ?: "", scratch->len, 1);
}

static void note_width(struct top_place *place, size_t i, const char *s, size_t len)
{
	uint32_t columns;

	text_fit(s, len, UINT8_MAX, &columns);
	if (columns > place->shown[i])
		place->shown[i] = (uint8_t)columns;
}

/* Where the columns and some of the last one do not fit, they become as narrow as their names and
 * what was shown in them: they never shrink again, so that columns do not jump. */
static void fit_columns(struct top_place *place, const struct top_snapshot *snap,
			const struct top_area *area, struct sinsp_text scratch[2])
{
	const double seconds = (double)snap->length_ns / 1e9;
	const size_t n_rows = view_table_n_rows(snap->table);
	size_t n, sum = LAST_LEAST;
	const struct view_column *cols = view_table_columns(snap->table, &n);

	for (size_t i = 0; i + 1 < n; i++)
		sum += top_cell_width(&cols[i]) + 1;
	place->narrow = sum > (size_t)area->width;
	for (size_t i = 0; place->narrow && i + 1 < n && i < TOP_COLUMNS_MAX; i++) {
		note_width(place, i, cols[i].info->name, strlen(cols[i].info->name));
		for (size_t r = place->first; r < n_rows && r < place->first + (size_t)area->height;
		     r++)
			if (!put_safe_cell(&scratch[0], &scratch[1],
					   &view_table_cells(snap->table, r)[i], &cols[i], seconds))
				note_width(place, i, scratch[0].p ?: "", scratch[0].len);
	}
}

/* Puts the branch of the row before its text. */
static int put_branch(struct sinsp_text *text, const struct top_tree *tree, size_t row,
		      struct sinsp_text *scratch)
{
	const struct sinsp_text was = *text;
	int err;

	scratch->len = 0;
	err = top_tree_put(scratch, tree, row, top_term_is_utf8());
	err = err ?: top_put(scratch, "%.*s", (int)was.len, was.p ?: "");
	*text = *scratch;
	*scratch = was;
	return err;
}

static void draw_row(const struct top_place *place, const struct top_snapshot *snap, size_t row,
		     int y, struct sinsp_text scratch[3])
{
	const double seconds = (double)snap->length_ns / 1e9;
	struct sinsp_text *line = &scratch[0], *text = &scratch[1];
	size_t n;
	const struct view_column *cols = view_table_columns(snap->table, &n);
	const struct view_cell *cells = view_table_cells(snap->table, row);
	int err = 0;

	line->len = 0;
	for (size_t i = place->column; i < n && !err; i++) {
		err = put_safe_cell(text, &scratch[2], &cells[i], &cols[i], seconds);
		if (i + 1 == n && place->tree.n)
			err = err ?: put_branch(text, &place->tree, row, &scratch[2]);
		err = err
			      ?: put_cell(line, text, width_at(place, cols, i, n),
					  top_cell_is_left(&cols[i]), place->skipped);
	}
	top_draw_line(y, line, row == place->selected ? TOP_SELECTED : TOP_PLAIN);
}

static void draw_header(const struct top_place *place, const struct top_snapshot *snap,
			const struct top_area *area, struct sinsp_text *line)
{
	size_t n, x = 0;
	const struct view_column *cols = view_table_columns(snap->table, &n);

	top_draw_text(area->y - 1, 0, area->width, "", 0, TOP_HEADER);
	for (size_t i = place->column; i < n && x < (size_t)area->width; i++) {
		const char *name = cols[i].info->name;
		const size_t rest = (size_t)area->width - x,
			     width = width_at(place, cols, i, n) ?: rest;
		const int is_sorting = i + 1 == place->sorting_col;

		line->len = 0;
		if (top_text_pad(line, name, strlen(name), width,
				 i + 1 == n || top_cell_is_left(&cols[i])))
			return;
		top_draw_text(area->y - 1, (int)x, (int)(width < rest ? width : rest), line->p,
			      line->len, is_sorting ? TOP_SORTED : TOP_HEADER);
		x += width + 1;
	}
}

uint32_t top_grid_column_at(const struct top_place *place, const struct top_snapshot *snap, int x)
{
	size_t n;
	const struct view_column *cols = view_table_columns(snap->table, &n);

	for (size_t i = place->column; i < n; i++) {
		const int width = (int)width_at(place, cols, i, n);

		if (!width || x <= width)
			return (uint32_t)i + 1;
		x -= width + 1;
	}
	return 0;
}

/* Keeps the selected row on the screen. */
static void keep_in_sight(struct top_place *place, size_t n, size_t height)
{
	if (place->selected < place->first)
		place->first = place->selected;
	if (place->selected >= place->first + height)
		place->first = place->selected - height + 1;
	if (place->first + height > n)
		place->first = n > height ? n - height : 0;
}

void top_grid_draw(struct top_place *place, const struct top_snapshot *snap,
		   const struct top_area *area)
{
	const size_t n = snap ? view_table_n_rows(snap->table) : 0;
	struct sinsp_text scratch[3] = {{0}};

	if (area->height > 0)
		keep_in_sight(place, n, (size_t)area->height);
	if (snap) {
		fit_columns(place, snap, area, scratch);
		draw_header(place, snap, area, &scratch[0]);
	} else {
		top_draw_text(area->y - 1, 0, area->width, "", 0, TOP_HEADER);
	}
	for (int i = 0; i < area->height; i++) {
		if (place->first + (size_t)i < n)
			draw_row(place, snap, place->first + (size_t)i, area->y + i, scratch);
		else
			top_draw_text(area->y + i, 0, area->width, "", 0, TOP_PLAIN);
	}
	for (int i = 0; i < 3; i++)
		free(scratch[i].p);
}
