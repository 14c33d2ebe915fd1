/* SPDX-License-Identifier: Apache-2.0 */
#include "top_pane.h"

#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "fields/text_columns.h"
#include "top_cell.h"
#include "top_draw.h"
#include "top_term.h"

enum { SCROLL = 8 };

void top_pane_close(struct top_pane *p)
{
	top_lines_fini(&p->text);
	*p = (struct top_pane){0};
}

void top_pane_open(struct top_pane *p, enum top_pane_kind kind, const struct sinsp_text *text)
{
	top_pane_close(p);
	p->kind = kind;
	p->follows = kind == TOP_PANE_LINES;
	if (text && text->p)
		top_lines_add(&p->text, text->p, text->len);
}

static void range_of(const struct top_pane *p, uint64_t *from, uint64_t *to)
{
	*from = p->text.from;
	*to = p->text.to;
	if (p->feed)
		top_feed_lines(p->feed, from, to);
}

static int line_of(const struct top_pane *p, uint64_t number, struct sinsp_text *out)
{
	const struct top_line *line;

	out->len = 0;
	if (p->feed)
		return top_feed_line(p->feed, number, out);
	line = top_lines_at(&p->text, number);
	return line ? top_put(out, "%s", line->text) ?: 1 : 0;
}

/* ---- moving ---- */

static uint64_t moved(uint64_t at, uint64_t from, uint64_t to, uint64_t page,
		      enum top_action action)
{
	const uint64_t last = to > from ? to - 1 : from;

	if (at < from)
		at = from;
	switch (action) {
	case TOP_KEY_UP:
		return at > from ? at - 1 : from;
	case TOP_KEY_DOWN:
		return at < last ? at + 1 : last;
	case TOP_KEY_PAGE_UP:
		return at - from > page ? at - page : from;
	case TOP_KEY_PAGE_DOWN:
		return last - at > page ? at + page : last;
	case TOP_KEY_FIRST:
		return from;
	default:
		return last;
	}
}

void top_pane_move(struct top_pane *p, int height, enum top_action action)
{
	const uint64_t page = height > 1 ? (uint64_t)height - 1 : 1;
	uint64_t from, to;

	if (action == TOP_KEY_LEFT)
		p->skipped -= p->skipped ? SCROLL : 0;
	if (action == TOP_KEY_RIGHT)
		p->skipped += SCROLL;
	if (action == TOP_KEY_LEFT || action == TOP_KEY_RIGHT)
		return;
	range_of(p, &from, &to);
	if (top_pane_is_menu(p)) {
		p->selected = moved(p->selected, from, to, page, action);
		return;
	}
	p->first = moved(p->first, from, to, page, action);
	if (to < page + 1 || p->first > to - page - 1)
		p->first = to - from > page + 1 ? to - page - 1 : from;
	p->follows =
		p->kind == TOP_PANE_LINES && (action == TOP_KEY_LAST || p->first + page + 1 >= to);
	if (action == TOP_KEY_UP || action == TOP_KEY_PAGE_UP || action == TOP_KEY_FIRST)
		p->follows = 0;
}

void top_pane_go(struct top_pane *p, uint64_t line)
{
	uint64_t from, to;

	range_of(p, &from, &to);
	line = line < from ? from : line >= to ? (to > from ? to - 1 : from) : line;
	p->follows = 0;
	if (top_pane_is_menu(p))
		p->selected = line;
	else
		p->first = line;
}

/* Goes to the next line that has the text, or begins with it. Returns 0 if none does. */
static int find_line(struct top_pane *p, const char *text, int from_next, int at_begin)
{
	struct sinsp_text line = {0};
	uint64_t from, to, at = top_pane_is_menu(p) ? p->selected : p->first;
	int found = 0;

	range_of(p, &from, &to);
	at = at < from ? from : at;
	for (uint64_t i = from_next != 0; i <= to - from && to > from && !found; i++) {
		const uint64_t number = from + (at - from + i) % (to - from);
		const char *here;

		if (line_of(p, number, &line) <= 0 || top_put(&line, "%c", 0))
			continue;
		here = strcasestr(line.p, text);
		found = here && (!at_begin || here == line.p);
		if (found)
			top_pane_go(p, number);
	}
	free(line.p);
	return found;
}

int top_pane_search(struct top_pane *p, const char *text, int from_next)
{
	/* Names stand at the begin of the lines of a menu, before their description. */
	return (top_pane_is_menu(p) && find_line(p, text, from_next, 1)) ||
	       find_line(p, text, from_next, 0);
}

/* ---- drawing ---- */

static void keep_in_sight(struct top_pane *p, uint64_t from, uint64_t to, uint64_t height)
{
	if (top_pane_is_menu(p)) {
		if (p->selected < p->first)
			p->first = p->selected;
		if (p->selected >= p->first + height)
			p->first = p->selected - height + 1;
	}
	if (p->follows)
		p->first = to - from > height ? to - height : from;
	if (p->first < from)
		p->first = from;
}

static void draw_line(struct top_pane *p, int y, struct sinsp_text *line, struct sinsp_text *safe,
		      enum top_style style)
{
	uint32_t columns;
	size_t from;

	safe->len = 0;
	if (top_text_safe(safe, line->p ?: "", line->len, top_term_is_utf8()))
		return;
	from = text_fit(safe->p, safe->len, (uint32_t)p->skipped, &columns);
	top_draw_text(y, 0, COLS, safe->p + from, safe->len - from, style);
}

static int is_marked(const struct top_pane *p, uint64_t number)
{
	const uint64_t mark = p->mark - 1;

	return p->mark && ((number >= mark && number <= p->selected) ||
			   (number <= mark && number >= p->selected));
}

void top_pane_draw(struct top_pane *p, int y, int height)
{
	struct sinsp_text line = {0}, safe = {0};
	uint64_t from, to;

	range_of(p, &from, &to);
	if (height > 0)
		keep_in_sight(p, from, to, (uint64_t)height);
	for (int i = 0; i < height; i++) {
		const uint64_t number = p->first + (uint64_t)i;
		const int is_selected = top_pane_is_menu(p) && number == p->selected;

		line.len = 0;
		if (number < to)
			line_of(p, number, &line);
		draw_line(p, y + i, &line, &safe,
			  is_selected            ? TOP_SELECTED
			  : is_marked(p, number) ? TOP_SORTED
						 : TOP_PLAIN);
	}
	free(line.p);
	free(safe.p);
}
