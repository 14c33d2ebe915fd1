/* SPDX-License-Identifier: Apache-2.0 */
/* What the mouse does. */
#include <ncurses.h>

#include "clock.h"
#include "top_draw.h"
#include "top_screen_state.h"

enum { WHEEL_LINES = 3 };

static void turn_wheel(struct top_screen *s, enum top_action action)
{
	struct top_place *place = &top_path_top(&s->path)->place;

	for (int i = 0; i < WHEEL_LINES; i++) {
		if (s->pane.kind)
			top_pane_move(&s->pane, top_page_height(), action);
		else if (s->snap)
			top_grid_move(place, s->snap, top_page_height(), action);
	}
}

static void click_menu(struct top_screen *s, uint64_t line, int twice)
{
	if (line >= s->pane.text.to)
		return;
	top_pane_go(&s->pane, line);
	if (twice)
		top_choose(s);
}

static void click_table(struct top_screen *s, int y, int x, int twice)
{
	struct top_place *place = &top_path_top(&s->path)->place;
	const size_t row = place->first + (size_t)(y - TOP_FIRST_LINE);

	if (y == TOP_HEADER_LINE)
		top_sort_by(s, top_grid_column_at(place, s->snap, x));
	else if (row < view_table_n_rows(s->snap->table)) {
		top_grid_select(place, s->snap, row);
		if (twice)
			top_drill(s);
	}
}

static void click(struct top_screen *s, int y, int x)
{
	const int64_t now = clock_now_ns();
	const int twice = y == s->clicked_y && now - s->clicked_ns < TOP_TWICE_NS;
	const int code = y == LINES - 1 ? top_draw_bar_code(x) : 0;

	s->clicked_y = y;
	s->clicked_ns = twice ? 0 : now;
	if (code)
		top_act(s, code);
	else if (y < TOP_HEADER_LINE || y >= LINES - 1)
		return;
	else if (s->pane.kind == TOP_PANE_STACKS)
		top_mouse_stacks(s, y, x, twice);
	else if (top_pane_is_menu(&s->pane) && y >= TOP_FIRST_LINE)
		click_menu(s, s->pane.first + (uint64_t)(y - TOP_FIRST_LINE), twice);
	else if (!s->pane.kind && s->snap)
		click_table(s, y, x, twice);
}

void top_act_mouse(struct top_screen *s)
{
	MEVENT e;

	s->message.len = 0;
	while (getmouse(&e) == OK) {
		const int pressed = (e.bstate & BUTTON1_PRESSED) != 0;
		const int released = (e.bstate & BUTTON1_RELEASED) != 0;

		if (top_shows_heat(s) && (released || s->drags || (pressed && e.y != LINES - 1)))
			top_mouse_heat(s, e.y, e.x, pressed, released);
		else if (e.bstate & BUTTON4_PRESSED)
			turn_wheel(s, TOP_KEY_UP);
		else if (e.bstate & BUTTON5_PRESSED)
			turn_wheel(s, TOP_KEY_DOWN);
		else if (pressed)
			click(s, e.y, e.x);
	}
}
