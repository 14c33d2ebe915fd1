/* SPDX-License-Identifier: Apache-2.0 */
#include "top_heat.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"

/* ---- geometry ---- */

static uint64_t height_of(const struct top_area *area)
{
	return area->height > 1 ? (uint64_t)area->height - 1 : 0;
}

static uint64_t limit(uint64_t n, uint64_t from, uint64_t to)
{
	return n < from ? from : n >= to ? (to > from ? to - 1 : from) : n;
}

/* Keeps all within the lines that exist and the cells that there is room for. */
static void fit(struct top_heat *h, const struct top_spectrum *sp, const struct top_area *area)
{
	const unsigned int per = top_spectrum_cells(sp, area->width);
	const uint64_t height = height_of(area);
	const uint64_t last = sp->to - sp->from > height ? sp->to - height : sp->from;

	if (h->per && per && h->per != per) {
		h->cell = h->cell * per / h->per;
		h->mark_cell = h->mark_cell * per / h->per;
	}
	h->per = per ?: h->per;
	h->line = limit(h->line, sp->from, sp->to);
	h->mark_line = limit(h->mark_line, sp->from, sp->to);
	if (!h->stays)
		h->first = last;
	if (h->has_cursor && h->line < h->first)
		h->first = h->line;
	if (h->has_cursor && h->line >= h->first + height)
		h->first = h->line - height + 1;
	h->first = limit(h->first, sp->from, last + 1);
}

/* ---- the cursor ---- */

/* The first key shows the cursor, in the last line with a count. */
static void begin_cursor(struct top_heat *h, const struct top_spectrum *sp)
{
	const unsigned int n = top_spectrum_n_cells(h->per);

	h->has_cursor = h->stays = 1;
	h->line = sp->to ? sp->to - 1 : 0;
	h->cell = n / 2;
	for (uint64_t line = sp->to; line > sp->from; line--) {
		for (unsigned int i = 0; i < n; i++) {
			if (!top_spectrum_count(sp, line - 1, h->per, i))
				continue;
			h->line = line - 1;
			h->cell = i;
			return;
		}
	}
}

static void move_line(struct top_heat *h, const struct top_spectrum *sp, uint64_t page,
		      enum top_action action)
{
	const uint64_t by = action == TOP_KEY_PAGE_UP || action == TOP_KEY_PAGE_DOWN ? page : 1;

	if (action == TOP_KEY_FIRST)
		h->line = sp->from;
	else if (action == TOP_KEY_LAST)
		h->line = sp->to;
	else if (action == TOP_KEY_UP || action == TOP_KEY_PAGE_UP)
		h->line = h->line > by ? h->line - by : 0;
	else
		h->line += by;
	h->line = limit(h->line, sp->from, sp->to);
}

int top_heat_move(struct top_heat *h, const struct top_graph *g, const struct top_area *area,
		  enum top_action action)
{
	const struct top_spectrum *sp = &g->spectrum;
	const int moves = action >= TOP_KEY_UP && action <= TOP_KEY_RIGHT;
	const unsigned int n = top_spectrum_n_cells(h->per);

	if (!moves && action != TOP_KEY_HEAT)
		return 0;
	fit(h, sp, area);
	if (!h->per || sp->to == sp->from)
		return 1;
	if (!h->has_cursor) {
		begin_cursor(h, sp);
		if (moves)
			return 1;
	}
	if (action == TOP_KEY_HEAT) {
		h->has_mark = 1;
		h->mark_line = h->line;
		h->mark_cell = h->cell;
	} else if (action == TOP_KEY_LEFT) {
		h->cell -= h->cell > 0;
	} else if (action == TOP_KEY_RIGHT) {
		h->cell += h->cell + 1 < n;
	} else {
		move_line(h, sp, height_of(area) > 1 ? height_of(area) - 1 : 1, action);
	}
	return 1;
}

int top_heat_close(struct top_heat *h)
{
	const int had = h->has_mark || h->has_cursor;

	if (!h->has_mark)
		h->has_cursor = h->stays = 0;
	h->has_mark = 0;
	return had;
}

int top_heat_point(struct top_heat *h, const struct top_graph *g, const struct top_area *area,
		   int y, int x, int marks)
{
	const struct top_spectrum *sp = &g->spectrum;
	const int margin = top_spectrum_margin(sp);
	uint64_t line;

	fit(h, sp, area);
	line = h->first + (uint64_t)(y - area->y);
	if (!h->per || y < area->y || x < margin || line >= sp->to)
		return 0;
	if ((uint64_t)(y - area->y) >= height_of(area) ||
	    x - margin >= (int)top_spectrum_n_cells(h->per))
		return 0;
	h->has_cursor = h->stays = 1;
	h->line = line;
	h->cell = (unsigned int)(x - margin);
	if (marks) {
		h->has_mark = 1;
		h->mark_line = h->line;
		h->mark_cell = h->cell;
	}
	return 1;
}

/* ---- the rectangle ---- */

int top_heat_rect(const struct top_heat *h, struct top_rect *r)
{
	const uint64_t line = h->has_mark ? h->mark_line : h->line;
	const unsigned int cell = h->has_mark ? h->mark_cell : h->cell;

	*r = (struct top_rect){
		.first_line = line < h->line ? line : h->line,
		.last_line = line < h->line ? h->line : line,
		.per = h->per,
		.first_cell = cell < h->cell ? cell : h->cell,
		.last_cell = cell < h->cell ? h->cell : cell,
	};
	return h->has_cursor;
}

uint64_t top_heat_count(const struct top_graph *g, const struct top_rect *r)
{
	const struct top_spectrum *sp = &g->spectrum;
	uint64_t n = 0;

	for (uint64_t line = r->first_line; line <= r->last_line; line++)
		for (unsigned int i = r->first_cell; i <= r->last_cell; i++)
			n += top_spectrum_count(sp, line, r->per, i);
	return n;
}

static int put_bound(struct sinsp_text *out, const char *field, const char *op, uint64_t ns,
		     int exact)
{
	const int err = top_put(out, "%s%s", field, op);

	return err ?: exact ? top_put(out, "%" PRIu64, ns) : top_spectrum_duration(out, ns);
}

/* Appends "FIELD>=1ms and FIELD<3ms"; of open ends there is one at most. */
static int put_range(struct sinsp_text *out, const struct top_rect *r, const char *field, int exact)
{
	uint64_t from, to;
	int err = 0;

	top_spectrum_bounds(r->per, r->first_cell, r->last_cell, &from, &to);
	if (from || to == UINT64_MAX)
		err = put_bound(out, field, ">=", from, exact);
	if (from && to != UINT64_MAX)
		err = err ?: top_put(out, " and ");
	if (to != UINT64_MAX)
		err = err ?: put_bound(out, field, "<", to, exact);
	return err;
}

int top_heat_name(struct sinsp_text *out, const struct top_graph *g, const struct top_rect *r,
		  const char *what)
{
	int err = put_range(out, r, what, 0);

	err = err ?: top_put(out, ", ");
	err = err ?: top_spectrum_time(out, &g->spectrum, r->first_line);
	err = err ?: top_put(out, " to ");
	return err ?: top_spectrum_time(out, &g->spectrum, r->last_line + 1);
}

int top_heat_condition(struct sinsp_text *out, const struct top_graph *g, const struct top_rect *r)
{
	int err = put_range(out, r, g->field_name, 1);

	return err
		       ?: top_put(out,
				  " and evt.rawtime>=%" PRIu64 " and evt.rawtime<%" PRIu64 "%c",
				  top_spectrum_ns(&g->spectrum, r->first_line),
				  top_spectrum_ns(&g->spectrum, r->last_line + 1), 0);
}

/* ---- drawing ---- */

static void draw_selection(const struct top_heat *h, const struct top_graph *g, int y)
{
	struct sinsp_text text = {0};
	struct top_rect r;

	top_heat_rect(h, &r);
	if (!top_put(&text, "%" PRIu64 ": ", top_heat_count(g, &r)) &&
	    !top_heat_name(&text, g, &r, "latency"))
		top_draw_line(y, &text, TOP_HEADER);
	free(text.p);
}

static void draw_legend(int y, int width)
{
	static const char begin[] = "Number in a cell:";
	int x = sizeof(begin);

	top_draw_text(y, 0, width, begin, sizeof(begin) - 1, TOP_PLAIN);
	for (unsigned int i = 1; i <= TOP_SPECTRUM_LEVELS; i++) {
		const char *name = top_spectrum_level_name(i);

		top_draw_heat(y, x, i, 0);
		top_draw_heat(y, x + 1, i, 0);
		top_draw_text(y, x + 3, (int)strlen(name), name, strlen(name), TOP_PLAIN);
		x += 4 + (int)strlen(name);
	}
}

static int is_inside(const struct top_heat *h, const struct top_rect *r, uint64_t line,
		     unsigned int cell)
{
	return h->has_cursor && line >= r->first_line && line <= r->last_line &&
	       cell >= r->first_cell && cell <= r->last_cell;
}

static void draw_line(const struct top_heat *h, const struct top_spectrum *sp, uint64_t line, int y,
		      int width)
{
	const int margin = top_spectrum_margin(sp);
	struct sinsp_text text = {0};
	struct top_rect r;

	top_heat_rect(h, &r);
	if (!top_spectrum_time(&text, sp, line))
		top_draw_text(y, 0, width, text.p, text.len, TOP_PLAIN);
	for (unsigned int i = 0; i < top_spectrum_n_cells(h->per); i++) {
		const uint64_t n = top_spectrum_count(sp, line, h->per, i);
		const int selected = is_inside(h, &r, line, i);

		if (n || selected)
			top_draw_heat(y, margin + (int)i, top_spectrum_level(n), selected);
	}
	free(text.p);
}

static void draw_scale(const struct top_heat *h, const struct top_spectrum *sp, int y, int width)
{
	struct sinsp_text text = {0};

	if (!top_spectrum_scale(&text, sp, h->per))
		top_draw_text(y, 0, width, text.p, text.len, TOP_TITLE);
	free(text.p);
}

void top_heat_draw(struct top_heat *h, const struct top_graph *g, const struct top_area *area)
{
	static const char empty[] = "This selection has no latencies.";
	static const char narrow[] = "the terminal is too narrow for a heat map";
	const struct top_spectrum *sp = &g->spectrum;
	const int height = (int)height_of(area);

	fit(h, sp, area);
	if (!top_spectrum_cells(sp, area->width)) {
		top_draw_text(area->y - 1, 0, area->width, narrow, sizeof(narrow) - 1, TOP_ERROR);
		for (int i = 0; i < area->height; i++)
			top_draw_text(area->y + i, 0, area->width, "", 0, TOP_PLAIN);
		return;
	}
	if (h->has_cursor)
		draw_selection(h, g, area->y - 1);
	else
		draw_legend(area->y - 1, area->width);
	for (int i = 0; i < height; i++) {
		if (h->first + (uint64_t)i < sp->to)
			draw_line(h, sp, h->first + (uint64_t)i, area->y + i, area->width);
		else
			top_draw_text(area->y + i, 0, area->width, "", 0, TOP_PLAIN);
	}
	if (!sp->n && height > 0)
		top_draw_text(area->y, 0, area->width, empty, sizeof(empty) - 1, TOP_PLAIN);
	if (area->height > 0)
		draw_scale(h, sp, area->y + height, area->width);
}
