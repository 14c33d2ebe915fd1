/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the screen: a title, the path, the table or a pane, and the bar of keys or the prompt. */
#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "fields/text_columns.h"
#include "top_cell.h"
#include "top_draw.h"
#include "top_screen_state.h"
#include "top_term.h"

enum { SECOND_NS = 1000000000, MS_DIGITS = 3 };

static const char *source_name(const struct top_screen *s)
{
	const char *slash = s->o->read ? strrchr(s->o->read, '/') : NULL;

	return slash ? slash + 1 : s->o->read ?: "this machine";
}

/* @length_ns: of the interval; short ones differ in milliseconds. */
static int put_time(struct sinsp_text *out, uint64_t ns, uint64_t length_ns)
{
	const unsigned int digits = length_ns && length_ns < SECOND_NS ? MS_DIGITS : 0;

	return top_put(out, ", ") ?: top_put_time(out, ns, digits);
}

static int put_speed(struct sinsp_text *out, int speed)
{
	return top_put(out, speed < 0 ? " 1/%dx" : " %dx", 1 << (speed < 0 ? -speed : speed));
}

/* What went wrong comes last, and is never cut. */
static void draw_state(const struct top_screen *s)
{
	const struct top_feed_status *st = &s->status;
	const uint64_t n_full = s->snap ? view_table_n_lost(s->snap->table) : 0;
	struct sinsp_text text = {0};
	int err = 0, width;

	if (s->play.is_on)
		err = put_speed(&text, s->play.speed);
	if (s->play.is_on && st->at_end && !s->past)
		err = err ?: top_put(&text, " end");
	if (s->paused)
		err = err ?: top_put(&text, " paused");
	if (s->record)
		err = err ?: top_put(&text, " writing %" PRIu64, st->record.n_events);
	if (s->o->read && !st->at_end && !s->play.is_on)
		err = err ?: top_put(&text, " reading: %.0f%%", 100 * st->progress);
	if (st->n_lost)
		err = err ?: top_put(&text, " %" PRIu64 " events lost", st->n_lost);
	if (n_full)
		err = err ?: top_put(&text, " %" PRIu64 " events without room for a row", n_full);
	width = (int)text.len;
	if (!err && width)
		top_draw_text(0, COLS > width ? COLS - width : 0, width, text.p, text.len,
			      n_full || st->n_lost ? TOP_ERROR : TOP_TITLE);
	free(text.p);
}

#define SHORT_NS 100000000ull /* is shown in milliseconds */

static void draw_title(struct top_screen *s)
{
	const struct top_level *level = top_path_top(&s->path);
	struct sinsp_text text = {0};
	int err = top_put(&text, "%s", level->view->name);

	if (s->snap && s->play.is_on)
		err = err ?: put_time(&text, s->snap->end_ns, s->o->interval_ns);
	err = err ?: top_put(&text, ", %s", source_name(s));
	if (s->snap) {
		const size_t n = view_table_n_rows(s->snap->table);

		err = err ?: top_put(&text, ": %zu %s", n, n == 1 ? "row" : "rows");
		err = err ?: top_put(&text, ", %" PRIu64 " events", s->snap->n_events);
		err = err
			      ?: top_put(&text, " in %.*f s", s->snap->length_ns < SHORT_NS ? 3 : 1,
					 (double)s->snap->length_ns / 1e9);
		if (!s->o->read)
			err = err ?: put_time(&text, s->snap->end_ns, s->o->interval_ns);
	}
	if (top_shows_heat(s))
		err = err ?: top_heat_title(&text, s);
	if (!err)
		top_draw_line(0, &text, TOP_TITLE);
	draw_state(s);
	free(text.p);
}

static void draw_path(struct top_screen *s)
{
	struct sinsp_text text = {0};
	int err = top_put(&text, "whole %s", s->o->read ? "file" : "machine");

	for (size_t i = 1; i < s->path.n && !err; i++)
		err = top_put(&text, " > %s", s->path.v[i].row);
	if (s->o->filter)
		err = err ?: top_put(&text, "   filter: %s", s->o->filter);
	for (size_t i = 0; i < s->path.n && !err; i++)
		if (*s->path.v[i].user)
			err = top_put(&text, "   filter: %s", s->path.v[i].user);
	if (!err)
		top_draw_line(1, &text, TOP_PLAIN);
	free(text.p);
}

static const char *const pane_titles[] = {
	[TOP_PANE_HELP] = "Keys",
	[TOP_PANE_LEGEND] = "The view and its columns",
	[TOP_PANE_DETAILS] = "The selected row",
	[TOP_PANE_VIEWS] = "Views of this selection",
	[TOP_PANE_COLUMNS] = "Column that sorts the rows",
	[TOP_PANE_TIMES] = "Events in each span of time",
	[TOP_PANE_ACTIONS] = "Commands for the selected row",
	[TOP_PANE_LINES] = "",
	[TOP_PANE_KEPT] = "",
};

static void draw_pane(struct top_screen *s)
{
	struct sinsp_text text = {0};
	uint64_t from, to;

	if (s->pane.kind == TOP_PANE_LINES) {
		top_feed_lines(s->feed, &from, &to);
		top_put(&text, "%s: %" PRIu64 " lines",
			s->pane.is_echo ? "Data read and written" : "Events", to);
		if (from)
			top_put(&text, ", the first %" PRIu64 " are no longer kept", from);
	} else if (s->pane.kind == TOP_PANE_KEPT) {
		top_put(&text, "Events: %" PRIu64 " lines, kept of %" PRIu64, s->pane.text.to,
			s->n_in_rect);
	} else {
		top_put(&text, "%s", pane_titles[s->pane.kind]);
	}
	top_put(&text, s->pane.kind == TOP_PANE_TIMES ? "   (Space marks several, Esc closes)"
						      : "   (Esc closes)");
	top_draw_line(TOP_HEADER_LINE, &text, TOP_HEADER);
	top_pane_draw(&s->pane, TOP_FIRST_LINE, top_page_height());
	free(text.p);
}

static const char *const questions[] = {
	[TOP_ASKS_FILTER] = "Filter: ",
	[TOP_ASKS_SEARCH] = "Search: ",
	[TOP_ASKS_ROW] = "Go to row: ",
	[TOP_ASKS_TIME] = "Go to time: ",
	[TOP_ASKS_EXPORT] = "Export to file: ",
	[TOP_ASKS_RECORD] = "Write events to file: ",
	[TOP_ASKS_YES] = "y or n: ",
};

/* The line that is edited, scrolled so that the cursor is on the screen; with an error, a caret
 * below its place and the message. */
static void draw_prompt(struct top_screen *s)
{
	const char *question = questions[s->asks];
	const int begin = (int)strlen(question), room = COLS - begin - 1;
	const int has_error = s->message.len && s->asks != TOP_ASKS_YES && !s->is_plain;
	const int y = has_error ? LINES - 3 : LINES - 1;
	const struct top_prompt *p = &s->prompt;
	uint32_t at, caret = 0;
	size_t from = 0;

	text_fit(p->text, p->cursor, UINT32_MAX, &at);
	while (room > 0 && at > (uint32_t)room && from < p->cursor) {
		from += text_fit(p->text + from, p->cursor - from, 1, &caret) ?: 1;
		text_fit(p->text + from, p->cursor - from, UINT32_MAX, &at);
	}
	top_draw_text(y, 0, begin, question, (size_t)begin, TOP_TITLE);
	top_draw_text(y, begin, COLS - begin, p->text + from, p->len - from, TOP_PLAIN);
	if (s->asks == TOP_ASKS_YES || s->is_plain)
		top_message_draw(s, y);
	if (has_error) {
		const size_t place = s->error_at > from ? s->error_at - from : 0;

		text_fit(p->text + from, place < p->len - from ? place : p->len - from, UINT32_MAX,
			 &caret);
		top_draw_text(y + 1, 0, COLS, "", 0, TOP_PLAIN);
		if (s->asks == TOP_ASKS_FILTER)
			top_draw_text(y + 1, begin + (int)caret, 1, "^", 1, TOP_TITLE);
		top_draw_line(y + 2, &s->message, TOP_ERROR);
	}
	move(y, begin + (int)at < COLS ? begin + (int)at : COLS - 1);
}

void top_page_draw(struct top_screen *s)
{
	const struct top_area area = top_page_area();

	draw_title(s);
	draw_path(s);
	if (s->pane.kind == TOP_PANE_STACKS)
		top_draw_stacks_page(s);
	else if (s->pane.kind)
		draw_pane(s);
	else if (top_shows_heat(s))
		top_draw_heat_page(s);
	else
		top_grid_draw(&top_path_top(&s->path)->place, s->snap, &area);
	if (s->asks)
		draw_prompt(s);
	else if (s->message.len)
		top_message_draw(s, LINES);
	else
		top_draw_bar();
	curs_set(s->asks != TOP_ASKS_NOTHING);
	top_term_refresh();
	top_term_drag(top_shows_heat(s));
}
