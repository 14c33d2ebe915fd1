/* SPDX-License-Identifier: Apache-2.0 */
#include "top_stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"

static const char root_name[] = "all samples";

void top_stacks_fini(struct top_stacks *st)
{
	free(st->bars);
	*st = (struct top_stacks){0};
}

static const char *name_of(const struct top_flame *f, uint32_t frame)
{
	return top_flame_frame(f, frame)->name ?: root_name;
}

/* ---- layout ---- */

/* Makes room for a bar in each column of each row. Returns 0, or -1: no memory. */
static int make_room(struct top_stacks *st, const struct top_area *area)
{
	const size_t cap = (size_t)(area->width > 0 ? area->width : 1) * (TOP_FLAME_DEPTH + 1);
	struct top_bar *bars;

	if (cap <= st->cap)
		return 0;
	bars = realloc(st->bars, cap * sizeof(*bars));
	if (!bars)
		return -1;
	st->bars = bars;
	st->cap = cap;
	return 0;
}

static size_t index_of(const struct top_stacks *st, uint32_t frame)
{
	size_t i = 0;

	while (i < st->n && st->bars[i].frame != frame)
		i++;
	return i;
}

static int height_of(const struct top_area *area)
{
	return area->height > 1 ? area->height - 1 : 0;
}

/* A frame that has become too narrow to be seen leaves the selection to its caller. */
static void lay_out(struct top_stacks *st, struct top_flame *f, const struct top_area *area)
{
	const uint32_t height = (uint32_t)height_of(area);
	size_t at;

	if (st->generation != top_flame_generation(f)) {
		st->top = st->selected = st->first = 0;
		st->n_zooms = 0;
		st->generation = top_flame_generation(f);
	}
	st->n = make_room(st, area) || area->width <= 0
			? 0
			: top_flame_layout(f, st->top, (uint32_t)area->width, st->bars, st->cap);
	while ((at = index_of(st, st->selected)) == st->n && st->selected &&
	       st->selected != st->top)
		st->selected = top_flame_frame(f, st->selected)->above;
	if (at == st->n) {
		st->selected = st->top;
		at = 0;
	}
	if (!st->n || !height)
		return;
	if (st->bars[at].row < st->first)
		st->first = st->bars[at].row;
	if (st->bars[at].row >= st->first + height)
		st->first = st->bars[at].row - height + 1;
}

/* ---- keys ---- */

/* Returns the first bar in the next row that begins below bar @at: its widest callee that is seen.
 * There is none: @at. */
static size_t bar_below(const struct top_stacks *st, size_t at)
{
	for (size_t i = at + 1; i < st->n && st->bars[i].row <= st->bars[at].row + 1; i++)
		if (st->bars[i].row == st->bars[at].row + 1 && st->bars[i].x >= st->bars[at].x &&
		    st->bars[i].x < st->bars[at].x + st->bars[at].width)
			return i;
	return at;
}

static size_t bar_above(const struct top_stacks *st, const struct top_flame *f, size_t at)
{
	if (!st->bars[at].row)
		return at;
	return index_of(st, top_flame_frame(f, st->bars[at].frame)->above);
}

static size_t bar_beside(const struct top_stacks *st, size_t at, int by)
{
	const size_t to = at + (size_t)by;

	return to < st->n && st->bars[to].row == st->bars[at].row ? to : at;
}

static size_t moved(const struct top_stacks *st, const struct top_flame *f, size_t at, int page,
		    enum top_action action)
{
	const int n = action == TOP_KEY_PAGE_UP || action == TOP_KEY_PAGE_DOWN ? page
		      : action == TOP_KEY_LAST                                 ? TOP_FLAME_DEPTH
									       : 1;

	if (action == TOP_KEY_FIRST)
		return 0;
	if (action == TOP_KEY_LEFT || action == TOP_KEY_RIGHT)
		return bar_beside(st, at, action == TOP_KEY_LEFT ? -1 : 1);
	for (int i = 0; i < n; i++)
		at = action == TOP_KEY_UP || action == TOP_KEY_PAGE_UP ? bar_above(st, f, at)
								       : bar_below(st, at);
	return at;
}

static void zoom(struct top_stacks *st)
{
	if (st->selected == st->top)
		return;
	if (st->n_zooms == TOP_STACKS_ZOOMS)
		memmove(st->zooms, st->zooms + 1, (--st->n_zooms) * sizeof(st->zooms[0]));
	st->zooms[st->n_zooms++] = st->top;
	st->top = st->selected;
	st->first = 0;
}

static int zoom_back(struct top_stacks *st)
{
	if (!st->n_zooms)
		return 0;
	st->top = st->zooms[--st->n_zooms];
	st->first = 0;
	return 1;
}

int top_stacks_move(struct top_stacks *st, struct top_flame *f, const struct top_area *area,
		    enum top_action action)
{
	const int page = height_of(area) > 1 ? height_of(area) - 1 : 1;

	lay_out(st, f, area);
	if (action == TOP_KEY_BACK)
		return zoom_back(st);
	if (action != TOP_KEY_DRILL && (action < TOP_KEY_UP || action > TOP_KEY_RIGHT))
		return 0;
	if (!st->n)
		return 1;
	if (action == TOP_KEY_DRILL)
		zoom(st);
	else
		st->selected =
			st->bars[moved(st, f, index_of(st, st->selected), page, action)].frame;
	return 1;
}

int top_stacks_point(struct top_stacks *st, struct top_flame *f, const struct top_area *area, int y,
		     int x)
{
	const uint32_t row = st->first + (uint32_t)(y - area->y);

	lay_out(st, f, area);
	if (y < area->y || y >= area->y + height_of(area))
		return 0;
	for (size_t i = 0; i < st->n; i++) {
		const struct top_bar *b = &st->bars[i];

		if (b->row == row && (uint32_t)x >= b->x && (uint32_t)x < b->x + b->width) {
			st->selected = b->frame;
			return 1;
		}
	}
	return 0;
}

int top_stacks_search(struct top_stacks *st, struct top_flame *f, const struct top_area *area,
		      const char *text, int from_next)
{
	size_t at;

	lay_out(st, f, area);
	at = index_of(st, st->selected);
	for (size_t i = 0; i < st->n; i++) {
		const uint32_t frame = st->bars[(at + i + (from_next != 0)) % st->n].frame;

		if (strcasestr(name_of(f, frame), text)) {
			st->selected = frame;
			return 1;
		}
	}
	return 0;
}

/* ---- drawing ---- */

static void draw_bar(const struct top_stacks *st, const struct top_flame *f,
		     const struct top_area *area, const struct top_bar *b, int is_odd)
{
	const char *name = name_of(f, b->frame);
	const int y = area->y + (int)(b->row - st->first);

	if (b->frame == st->selected)
		top_draw_text(y, (int)b->x, (int)b->width, name, strlen(name), TOP_SELECTED);
	else
		top_draw_bar_of_frame(y, (int)b->x, (int)b->width, name, is_odd);
}

static void draw_selected(const struct top_stacks *st, const struct top_flame *f, int y, int width)
{
	const struct top_frame *frame = top_flame_frame(f, st->selected);
	const double all = (double)top_flame_frame(f, 0)->n;
	struct sinsp_text text = {0};

	if (!top_put(&text, "%.1f%%, %" PRIu64 " samples, %" PRIu64 " of its own: %s",
		     all > 0 ? 100 * (double)frame->n / all : 0, frame->n, frame->self,
		     name_of(f, st->selected)))
		top_draw_text(y, 0, width, text.p, text.len, TOP_TITLE);
	free(text.p);
}

void top_stacks_draw(struct top_stacks *st, struct top_flame *f, const struct top_area *area)
{
	const int height = height_of(area);

	lay_out(st, f, area);
	for (int i = 0; i < area->height; i++)
		top_draw_text(area->y + i, 0, area->width, "", 0, TOP_PLAIN);
	for (size_t i = 0, odd = 0; i < st->n; i++) {
		const struct top_bar *b = &st->bars[i];

		odd = i && st->bars[i - 1].row == b->row ? !odd : 0;
		if (b->row >= st->first && b->row < st->first + (uint32_t)height)
			draw_bar(st, f, area, b, (int)odd);
	}
	if (st->n && area->height > 0)
		draw_selected(st, f, area->y + height, area->width);
}
