/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown: which views can be, the table of the path's last level, the lines of the selected
 * row, and the level below it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_screen_state.h"

#define LIVE_LENGTH_NS 1000000000ull

/* ---- views ---- */

int top_can_show(const struct top_screen *s, const struct sinsp_view *view, struct view_error *why)
{
	const struct view_table_opts opts = {
		.sz = sizeof(opts),
		.view = view,
		.containers = (uint8_t)s->o->containers,
	};
	struct view_table *t = NULL;
	int err;

	snprintf(why->message, sizeof(why->message), "view %s has no screen: use -b", view->id);
	if (strcmp(view->type, "table") != 0 && !sinsp_view_is_list(view) &&
	    !top_view_is_spectrum(view))
		return 0;
	err = view_table_new(&t, &opts, why);
	view_table_free(t);
	return !err;
}

/* Takes a millisecond for each view: not before the menu is opened. */
int top_view_is_usable(const struct top_screen *s, size_t i)
{
	enum { UNKNOWN, NO, YES };
	struct view_error why;

	if (s->usable[i] == UNKNOWN)
		s->usable[i] = top_can_show(s, s->list->v[i].view, &why) ? YES : NO;
	return s->usable[i] == YES;
}

/* ---- tables and lines ---- */

int top_has_rows(const struct top_screen *s)
{
	return s->snap && view_table_n_rows(s->snap->table);
}

int top_selected_key(const struct top_screen *s, const struct sinsp_view_column **key,
		     struct sinsp_text *value)
{
	const struct top_place *place = &s->path.v[s->path.n - 1].place;
	const struct view_cell *cell;
	struct view_type type;

	*key = s->snap ? view_table_key_column(s->snap->table) : NULL;
	if (!*key || !top_has_rows(s))
		return 0;
	cell = view_table_key(s->snap->table, place->selected, &type);
	return top_key_text(value, cell, &type) ?: 1;
}

uint64_t top_shown_begin(const struct top_screen *s)
{
	return s->play.is_on && s->snap ? s->snap->end_ns - s->snap->length_ns : 0;
}

void top_take_newest(struct top_screen *s)
{
	int is_new = 0;
	const struct top_snapshot *snap = top_feed_take(s->feed, &is_new);

	if (!snap || (!is_new && s->snap))
		return;
	s->steps -= s->steps && s->snap;
	s->snap = snap;
	top_feed_past(s->feed, UINT64_MAX); /* none of them is shown any more */
	top_grid_arrive(&top_path_top(&s->path)->place, snap);
}

int top_show(struct top_screen *s, const struct top_query *query)
{
	struct view_error why = {""};
	const int err = top_feed_show(s->feed, query, &why);

	if (err) {
		top_complain(s, "%s", err == -EINVAL ? why.message : strerror(-err));
		return err;
	}
	s->snap = NULL;
	s->past = 0;
	if (!s->o->read) /* nothing of it is recorded yet that a pause could keep */
		s->paused = 0;
	return 0;
}

static void query_spectrum(const struct top_screen *s, struct top_query *q)
{
	q->kind = TOP_FEED_SPECTRUM;
	q->play = (struct top_play){0};
	q->length_ns = s->o->interval_ns ?: s->o->read ? 0 : LIVE_LENGTH_NS;
	q->keeps = !s->o->read;
}

char *top_level_query(const struct top_screen *s, struct top_query *query)
{
	const struct top_level *level = &s->path.v[s->path.n - 1];
	char *filter = top_level_filter(level);

	*query = (struct top_query){
		.kind = TOP_FEED_TABLE,
		.view = level->view,
		.filter = filter,
		.depth = level->depth,
		.from_ns = level->from_ns,
		.to_ns = level->to_ns,
		.play = s->play,
	};
	if (top_view_is_spectrum(level->view))
		query_spectrum(s, query);
	return filter;
}

int top_show_table(struct top_screen *s)
{
	struct top_query query;
	char *filter = top_level_query(s, &query);
	const int err = filter ? top_show(s, &query) : top_complain(s, "%s", strerror(ENOMEM));
	s->heat = (struct top_heat){0};
	free(filter);
	return err;
}

char *top_selected_filter(struct top_screen *s)
{
	const struct top_level *level = top_path_top(&s->path);
	const struct sinsp_view_column *key;
	struct sinsp_text text = {0};
	const int r = top_selected_key(s, &key, &text);
	char *filter = NULL;

	if (r > 0)
		filter = top_level_row_filter(level, key, text.p ?: "", text.len);
	else if (!r)
		filter = top_level_filter(level);
	free(text.p);
	return filter;
}

int top_show_lines(struct top_screen *s, enum top_feed_kind kind)
{
	char *filter = top_selected_filter(s);
	const struct top_query query = {.kind = kind, .filter = filter};
	const int err = filter ? top_show(s, &query) : top_complain(s, "%s", strerror(ENOMEM));

	if (!err) {
		top_pane_open(&s->pane, TOP_PANE_LINES, NULL);
		s->pane.feed = s->feed;
		s->pane.is_echo = kind == TOP_FEED_ECHO;
	}
	free(filter);
	return err;
}

/* ---- the level below ---- */

/* A file that is played goes on from the time that is shown. */
static int show_below(struct top_screen *s)
{
	const uint64_t from_ns = s->play.from_ns;
	int err;

	if (s->play.is_on)
		s->play.from_ns = top_shown_begin(s) ?: from_ns;
	err = top_show_table(s);
	if (err)
		s->play.from_ns = from_ns;
	return err;
}

/* Adds the level of the selected row, or of all that the level has, without showing it. */
static int push_level(struct top_screen *s, const struct sinsp_view *view)
{
	struct top_level *level = top_path_top(&s->path);
	const struct sinsp_view_column *key;
	struct sinsp_text text = {0};
	int r = top_selected_key(s, &key, &text);

	if (r > 0) {
		top_grid_select(&level->place, s->snap, level->place.selected);
		r = top_path_push(&s->path, view, key, text.p ?: "", text.len);
	} else if (!r) {
		r = top_path_narrow(&s->path, "", "all", level->from_ns, level->to_ns);
		if (!r)
			top_path_switch(&s->path, view);
	}
	free(text.p);
	return r;
}

int top_go_down(struct top_screen *s, const struct sinsp_view *view)
{
	int err = push_level(s, view);

	if (err)
		return top_complain_path(s, err);
	err = show_below(s);
	if (err)
		top_path_pop(&s->path);
	return err;
}
