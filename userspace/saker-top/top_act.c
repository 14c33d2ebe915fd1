/* SPDX-License-Identifier: Apache-2.0 */
/* What keys do. */
#include <errno.h>
#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_draw.h"
#include "top_screen_state.h"

static struct top_place *place_of(struct top_screen *s)
{
	return &top_path_top(&s->path)->place;
}

static void close_pane(struct top_screen *s)
{
	const int has_query = s->pane.kind == TOP_PANE_LINES || s->pane.kind == TOP_PANE_STACKS;

	if (s->pane.kind == TOP_PANE_DETAILS)
		top_end_watch(s);
	if (s->pane.is_level)
		top_path_pop(&s->path);
	top_pane_close(&s->pane);
	if (has_query)
		top_show_table(s);
}

/* ---- the path ---- */

void top_drill(struct top_screen *s)
{
	const struct sinsp_view_column *key =
		s->snap ? view_table_key_column(s->snap->table) : NULL;
	const struct sinsp_view *target =
		key ? top_path_target(s->list, top_path_top(&s->path)->view, key) : NULL;

	if (!target)
		top_complain(s, "this view has nothing to drill down into");
	else if (top_has_rows(s))
		top_go_down(s, target);
}

static void back(struct top_screen *s)
{
	if (top_end_play(s) || s->path.n == 1)
		return;
	top_path_pop(&s->path);
	top_show_table(s);
}

static void choose_view(struct top_screen *s, const struct sinsp_view *view)
{
	const struct sinsp_view *before = top_path_top(&s->path)->view;

	if (!view)
		return;
	top_path_switch(&s->path, view);
	if (top_show_table(s))
		top_path_switch(&s->path, before);
}

void top_sort_by(struct top_screen *s, uint32_t col)
{
	if (s->snap && top_grid_sort(place_of(s), s->snap, col) == -ERANGE)
		top_complain(s, "the view has no column %u", col);
}

static void reverse(struct top_screen *s)
{
	struct top_place *place = place_of(s);

	if (s->snap)
		top_grid_sort(place, s->snap, place->sorting_col);
}

static void change_tree(struct top_screen *s)
{
	struct top_place *place = place_of(s);

	if (s->snap && !top_tree_applies(s->snap->table)) {
		top_complain(s, "only a view of processes with their parents can be a tree");
		return;
	}
	place->tree.is_on = !place->tree.is_on;
	if (s->snap)
		top_grid_arrive(place, s->snap);
}

/* Goes down into the spans from @i up to @last. */
static void choose_time(struct top_screen *s, size_t i, size_t last)
{
	struct sinsp_text name = {0};
	struct top_times times;
	char *condition = NULL;
	uint64_t from, to;
	int err;

	top_feed_times(s->feed, &times);
	if (i > last) {
		const size_t was = i;

		i = last;
		last = was;
	}
	if (last >= times.n)
		return;
	from = times.begin_ns + i * top_times_length_ns(&times);
	to = from + (last - i + 1) * top_times_length_ns(&times);
	err = top_times_label(&name, &times, i);
	err = err ?: top_put(&name, " + %g s%c", (double)(to - from) / 1e9, 0);
	if (asprintf(&condition, "evt.rawtime>=%" PRIu64 " and evt.rawtime<%" PRIu64, from, to) < 0)
		err = -ENOMEM;
	err = err ?: top_path_narrow(&s->path, condition, name.p, from, to);
	if (err)
		top_complain_path(s, err);
	else if (top_show_table(s))
		top_path_pop(&s->path);
	free(condition);
	free(name.p);
}

/* The rows behind the menu change: never another row than the one it was opened for. */
static void choose_action(struct top_screen *s, const struct sinsp_view_action *action)
{
	if (s->snap && !top_grid_has_selected(place_of(s), s->snap))
		top_complain(s, "the selected row is gone");
	else
		top_run_action(s, action);
}

void top_choose(struct top_screen *s)
{
	const enum top_pane_kind kind = s->pane.kind;
	const uint64_t line = s->pane.selected;
	const uint64_t mark = s->pane.mark ? s->pane.mark - 1 : line;
	const struct sinsp_view *view = kind == TOP_PANE_VIEWS ? top_menu_view(s, line) : NULL;

	close_pane(s);
	if (kind == TOP_PANE_VIEWS)
		choose_view(s, view);
	else if (kind == TOP_PANE_ACTIONS)
		choose_action(s, top_menu_action(s, line));
	else if (kind == TOP_PANE_TIMES)
		choose_time(s, mark, line);
	else
		top_sort_by(s, (uint32_t)line + 1);
}

/* ---- panes ---- */

static void open_pane(struct top_screen *s, enum top_pane_kind kind)
{
	const size_t width = COLS > 1 ? (size_t)COLS - 1 : 1;
	const int was_open = s->pane.kind == kind;
	struct sinsp_text text = {0};
	int err = 0;

	if (!top_has_rows(s) && (kind == TOP_PANE_DETAILS || kind == TOP_PANE_ACTIONS))
		return;
	if (!s->snap && kind == TOP_PANE_COLUMNS)
		return;
	if (!s->o->read && kind == TOP_PANE_TIMES) {
		top_complain(s, "only a file has times to choose from: saker top -r FILE");
		return;
	}
	if (kind == TOP_PANE_DETAILS || kind == TOP_PANE_ACTIONS)
		top_grid_select(place_of(s), s->snap, place_of(s)->selected);
	if (kind == TOP_PANE_HELP)
		err = top_help_text(&text, width);
	else if (kind == TOP_PANE_LEGEND)
		err = top_legend_text(&text, s, width);
	else if (kind == TOP_PANE_DETAILS)
		err = top_details_text(&text, s, width);
	else if (kind == TOP_PANE_VIEWS)
		err = top_views_text(&text, s);
	else if (kind == TOP_PANE_ACTIONS)
		err = top_actions_text(&text, s);
	else if (kind == TOP_PANE_TIMES)
		err = top_times_menu_text(&text, s, width);
	else
		err = top_columns_text(&text, s);
	if (err)
		top_complain(s, "%s", strerror(-err));
	else
		top_pane_open(&s->pane, kind, &text);
	free(text.p);
	if (!err && kind == TOP_PANE_DETAILS && !was_open)
		top_watch_row(s);
	if (!err && kind == TOP_PANE_COLUMNS)
		top_pane_go(&s->pane, place_of(s)->sorting_col - 1);
	if (!err && kind == TOP_PANE_VIEWS)
		top_pane_go(&s->pane, top_menu_place(s));
}

void top_refresh_details(struct top_screen *s)
{
	const uint64_t first = s->pane.first;
	const size_t skipped = s->pane.skipped;

	if (!top_grid_has_selected(place_of(s), s->snap))
		return;
	open_pane(s, TOP_PANE_DETAILS);
	s->pane.first = first;
	s->pane.skipped = skipped;
}

/* ---- prompts ---- */

static void search(struct top_screen *s, int from_next)
{
	int found;

	if (!s->searched || !*s->searched) {
		top_complain(s, "no text was searched yet: press /");
		return;
	}
	if (s->pane.kind == TOP_PANE_STACKS)
		found = top_search_stacks(s, from_next);
	else if (s->pane.kind)
		found = top_pane_search(&s->pane, s->searched, from_next);
	else
		found = s->snap && top_grid_search(place_of(s), s->snap, s->searched, from_next);
	if (!found)
		top_complain(s, "'%s' is in no row", s->searched);
}

static void go_to(struct top_screen *s, const char *text)
{
	char *end;
	const unsigned long row = strtoul(text, &end, 10);

	if (end == text || *end || !row)
		top_complain(s, "'%s' is not the number of a row: 1 or more", text);
	else if (s->pane.kind)
		top_pane_go(&s->pane, row - 1);
	else if (s->snap)
		top_grid_select(place_of(s), s->snap, row - 1);
}

/* Returns 0 if the filter is used; else the prompt stays open. */
static int use_filter(struct top_screen *s)
{
	struct top_level *level = top_path_top(&s->path);
	struct sinsp_filter_error why = {0};
	struct sinsp_filter *f = NULL;
	char *text = strdup(s->prompt.text), *before = level->user;
	int err = text ? 0 : -ENOMEM;

	if (!err && text[strspn(text, " ")])
		err = sinsp_filter_new(&f, text, NULL, &why);
	else if (!err)
		*text = 0;
	sinsp_filter_free(f);
	if (err) {
		top_complain(s, "%s", err == -EINVAL ? why.message : strerror(-err));
		s->error_at = err == -EINVAL && !why.name ? why.pos : 0;
		free(text);
		return err;
	}
	level->user = text;
	if (top_show_table(s)) {
		level->user = before;
		free(text);
	} else {
		free(before);
	}
	return 0;
}

static int use_search(struct top_screen *s)
{
	if (!s->prompt.len)
		return 0;
	free(s->searched);
	s->searched = strdup(s->prompt.text);
	search(s, 0);
	return 0;
}

/* Returns 0, or a negative errno with a message. */
static int use_prompt(struct top_screen *s, enum top_asks what)
{
	switch (what) {
	case TOP_ASKS_FILTER:
		return use_filter(s);
	case TOP_ASKS_SEARCH:
		return use_search(s);
	case TOP_ASKS_ROW:
		go_to(s, s->prompt.text);
		return 0;
	case TOP_ASKS_TIME:
		return top_jump(s, s->prompt.text);
	case TOP_ASKS_EXPORT:
		return top_export(s, s->prompt.text);
	case TOP_ASKS_RECORD:
		return top_record(s, s->prompt.text);
	default:
		return 0;
	}
}

void top_act_prompt(struct top_screen *s, int code)
{
	const enum top_asks what = s->asks;
	enum top_prompt_result result;

	s->message.len = 0;
	if (what == TOP_ASKS_YES) {
		top_answer(s, code);
		return;
	}
	s->is_plain = 0;
	if (what == TOP_ASKS_FILTER && code == '\t') {
		top_complete(s);
		return;
	}
	result = top_prompt_key(&s->prompt, code);
	if (result == TOP_PROMPT_GOES_ON)
		return;
	s->asks = TOP_ASKS_NOTHING;
	if (result == TOP_PROMPT_DONE && use_prompt(s, what))
		s->asks = what; /* the text can be corrected */
}

/* ---- the table of actions ---- */

/* Lines are still collected, but the pane no longer scrolls. */
static void pause_or_go(struct top_screen *s)
{
	top_pause(s, !s->paused);
	if (s->pane.kind == TOP_PANE_LINES)
		s->pane.follows = !s->paused;
}

/* Keys that move, or search, in what is shown. */
static int act_inside(struct top_screen *s, enum top_action action)
{
	if (action >= TOP_KEY_UP && action <= TOP_KEY_RIGHT) {
		if (s->pane.kind)
			top_pane_move(&s->pane, top_page_height(), action);
		else if (s->snap)
			top_grid_move(place_of(s), s->snap, top_page_height(), action);
		return 1;
	}
	if (action == TOP_KEY_SEARCH)
		top_ask(s, TOP_ASKS_SEARCH, "");
	else if (action == TOP_KEY_NEXT)
		search(s, 1);
	else if (action == TOP_KEY_GOTO)
		top_ask(s, TOP_ASKS_ROW, "");
	else if (action == TOP_KEY_QUIT)
		s->ends = 1;
	else if (action == TOP_KEY_REDRAW)
		clearok(curscr, TRUE);
	else if (action == TOP_KEY_PAUSE)
		pause_or_go(s);
	else if (action == TOP_KEY_CLEAR)
		top_feed_clear(s->feed);
	else
		return 0;
	return 1;
}

/* Keys of an open pane. Those that open another one do so. */
static int act_in_pane(struct top_screen *s, enum top_action action)
{
	if (action == TOP_KEY_BACK || action == TOP_KEY_CLOSE)
		close_pane(s);
	else if (action == TOP_KEY_DRILL && top_pane_is_menu(&s->pane))
		top_choose(s);
	else if (action == TOP_KEY_PLAY && s->pane.kind == TOP_PANE_TIMES)
		s->pane.mark = s->pane.mark ? 0 : s->pane.selected + 1;
	else
		return action == TOP_KEY_DRILL ||
		       (action != TOP_KEY_HELP && top_pane_replaces_table(&s->pane));
	return 1;
}

static void act_on_table(struct top_screen *s, enum top_action action, int code)
{
	static const enum top_pane_kind panes[] = {
		[TOP_KEY_HELP] = TOP_PANE_HELP,       [TOP_KEY_VIEWS] = TOP_PANE_VIEWS,
		[TOP_KEY_LEGEND] = TOP_PANE_LEGEND,   [TOP_KEY_SORT] = TOP_PANE_COLUMNS,
		[TOP_KEY_DETAILS] = TOP_PANE_DETAILS, [TOP_KEY_ACTIONS] = TOP_PANE_ACTIONS,
		[TOP_KEY_TIMES] = TOP_PANE_TIMES,
	};
	const size_t n_panes = sizeof(panes) / sizeof(panes[0]);

	if (action < n_panes && panes[action])
		open_pane(s, panes[action]);
	else if (action == TOP_KEY_DRILL)
		top_drill(s);
	else if (action == TOP_KEY_BACK)
		back(s);
	else if (action == TOP_KEY_FILTER)
		top_ask(s, TOP_ASKS_FILTER, top_path_top(&s->path)->user);
	else if (action == TOP_KEY_ECHO)
		top_show_lines(s, TOP_FEED_ECHO);
	else if (action == TOP_KEY_DIG)
		top_show_lines(s, TOP_FEED_DIG);
	else if (action == TOP_KEY_HEAT || action == TOP_KEY_FILE_HEAT)
		top_open_heat(s, action == TOP_KEY_FILE_HEAT);
	else if (action == TOP_KEY_STACKS)
		top_open_stacks(s);
	else if (action == TOP_KEY_COLUMN)
		top_sort_by(s, (uint32_t)(code - '0'));
	else if (action == TOP_KEY_REVERSE)
		reverse(s);
	else if (action == TOP_KEY_TREE)
		change_tree(s);
	else if (action == TOP_KEY_EXPORT)
		top_ask_export(s);
	else if (action == TOP_KEY_RECORD)
		top_ask_record(s);
	else if (top_act_time(s, action, code))
		return;
	else if (action == TOP_KEY_NICE)
		top_renice(s, code == ']' ? -1 : 1);
}

/* A letter that no key has may be that of an action; in their menu each letter is. Returns whether
 * it was one. */
static int act_hotkey(struct top_screen *s, int code, enum top_action action)
{
	const int is_menu = s->pane.kind == TOP_PANE_ACTIONS;
	const struct sinsp_view_action *found = top_hotkey_action(s, code);

	if (!found || (!is_menu && (action || s->pane.kind)))
		return 0;
	close_pane(s);
	if (is_menu)
		choose_action(s, found);
	else
		top_run_action(s, found);
	return 1;
}

void top_act(struct top_screen *s, int code)
{
	/* Space marks there, too, as it does elsewhere. */
	const enum top_action action =
		code == ' ' && top_shows_heat(s) ? TOP_KEY_HEAT : top_key_action(code);

	s->message.len = 0;
	if (act_hotkey(s, code, action) || !action)
		return;
	if (top_shows_heat(s) && top_act_heat(s, action))
		return;
	if (s->pane.kind == TOP_PANE_STACKS && top_act_stacks(s, action))
		return;
	if (act_inside(s, action))
		return;
	if (s->pane.kind && act_in_pane(s, action))
		return;
	if (s->pane.kind)
		close_pane(s);
	act_on_table(s, action, code);
}
