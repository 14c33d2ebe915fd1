/* SPDX-License-Identifier: Apache-2.0 */
/* Heat maps and flame graphs on the screen: how they are opened, and what keys and the mouse do in
 * them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "top_cell.h"
#include "top_screen_state.h"

/* ---- heat maps: open ---- */

/* As csysdig has it: of files by their calls, of requests by their time, of all else by all calls.
 */
static const char *spectrum_of(const struct sinsp_view *view)
{
	if (strstr(view->filter, "evt.type=request"))
		return "spectro_requests";
	return strstr(view->filter, "fd.type=file") ? "spectro_file" : "spectro_all";
}

void top_open_heat(struct top_screen *s, int of_files)
{
	const char *id = of_files ? "spectro_file" : spectrum_of(top_path_top(&s->path)->view);
	const struct sinsp_view *view = view_list_find(s->list, id);

	if (top_view_is_spectrum(top_path_top(&s->path)->view))
		top_complain(s,
			     "this is a heat map: the arrow keys select cells, Enter shows their "
			     "events");
	else if (!view)
		top_complain(s, "there is no view '%s'", id);
	else
		top_go_down(s, view);
}

/* ---- heat maps: the events of a rectangle ---- */

/* Goes down to the events: those of a file are read again, live the kept ones are shown. */
static int narrow(struct top_screen *s, const char *name, const char *range)
{
	const struct top_level *level = top_path_top(&s->path);
	char *own = view_text_at_depth(level->view->filter, level->depth);
	char *condition = own ? top_filter_join(own, range) : NULL;
	int err = -ENOMEM;

	if (condition)
		err = top_path_narrow(&s->path, condition, name, level->from_ns, level->to_ns);
	free(own);
	free(condition);
	return err ? top_complain_path(s, err) : 0;
}

static void show_rect(struct top_screen *s, const struct top_rect *r)
{
	struct sinsp_text name = {0}, range = {0}, kept = {0};
	const struct top_graph *g = top_feed_lock_spectrum(s->feed);
	int err = top_heat_name(&name, g, r, g->field_name);

	err = err ?: top_put(&name, "%c", 0);
	err = err ?: top_heat_condition(&range, g, r);
	s->n_in_rect = top_heat_count(g, r);
	if (!s->o->read)
		err = err ?: top_graph_kept(&kept, g, r);
	top_feed_unlock(s->feed);
	if (err)
		top_complain(s, "%s", strerror(-err));
	err = err ?: narrow(s, name.p, range.p);
	if (!err && s->o->read)
		err = top_show_lines(s, TOP_FEED_DIG);
	else if (!err)
		top_pane_open(&s->pane, TOP_PANE_KEPT, &kept);
	if (!err)
		s->pane.is_level = 1;
	free(name.p);
	free(range.p);
	free(kept.p);
}

static void drill_rect(struct top_screen *s)
{
	struct top_rect r;

	if (top_heat_rect(&s->heat, &r))
		show_rect(s, &r);
	else
		top_complain(s, "no cells are selected: the arrow keys or the mouse select them");
}

/* ---- heat maps: keys ---- */

int top_act_heat(struct top_screen *s, enum top_action action)
{
	const struct top_area area = top_page_area();
	int handled;

	if (action == TOP_KEY_DRILL) {
		drill_rect(s);
		return 1;
	}
	if (action == TOP_KEY_CLOSE)
		return top_heat_close(&s->heat);
	handled = top_heat_move(&s->heat, top_feed_lock_spectrum(s->feed), &area, action);
	top_feed_unlock(s->feed);
	return handled;
}

/* A press marks a corner, the release of the button selects; at the same cell, it is a click. */
void top_mouse_heat(struct top_screen *s, int y, int x, int pressed, int released)
{
	const struct top_area area = top_page_area();
	const int64_t now = clock_now_ns();
	int is_cell;

	is_cell = top_heat_point(&s->heat, top_feed_lock_spectrum(s->feed), &area, y, x, pressed);
	top_feed_unlock(s->feed);
	if (pressed)
		s->drags = (uint8_t)is_cell;
	if (!released || !s->drags)
		return;
	s->drags = 0;
	if (s->heat.mark_line != s->heat.line || s->heat.mark_cell != s->heat.cell ||
	    now - s->clicked_ns < TOP_TWICE_NS)
		drill_rect(s);
	s->heat.has_mark = 0;
	s->clicked_ns = now;
}

/* ---- stacks ---- */

static int is_of_threads(const char *field)
{
	static const char *const begins[] = {"proc.", "thread.", "container.", "user.", NULL};

	for (const char *const *b = begins; *b; b++)
		if (strncmp(field, *b, strlen(*b)) == 0)
			return 1;
	return 0;
}

/* Returns the condition of the threads that are selected, by the row or by the path, and sets *name
 * to them, for people. Both are owned by the caller; NULL: no threads are selected, or no memory.
 */
static char *selected_threads(struct top_screen *s, char **name)
{
	const struct sinsp_view_column *key;
	struct sinsp_text text = {0};
	const int r = top_selected_key(s, &key, &text);
	char *condition = NULL;

	if (r > 0 && is_of_threads(key->field)) {
		condition = top_level_key_filter(top_path_top(&s->path), key, text.p ?: "",
						 text.len, name);
		free(text.p);
		return condition;
	}
	free(text.p);
	for (size_t i = s->path.n; i-- > 1;) {
		if (!is_of_threads(s->path.v[i].key_field) || !s->path.v[i].condition)
			continue;
		*name = strdup(s->path.v[i].row);
		return strdup(s->path.v[i].condition);
	}
	return NULL;
}

void top_open_stacks(struct top_screen *s)
{
	char *name = NULL, *condition = selected_threads(s, &name);
	const struct top_level *level = top_path_top(&s->path);
	const struct top_query query = {
		.kind = TOP_FEED_STACKS,
		.filter = condition,
		.from_ns = level->from_ns,
		.to_ns = level->to_ns,
	};

	if (!condition || !name) {
		top_complain(
			s, "stacks are those of a process, thread, container or user: select one");
	} else if (!top_show(s, &query)) {
		top_pane_open(&s->pane, TOP_PANE_STACKS, NULL);
		top_stacks_fini(&s->stacks);
		free(s->stacks_name);
		s->stacks_name = name;
		name = NULL;
	}
	free(name);
	free(condition);
}

int top_act_stacks(struct top_screen *s, enum top_action action)
{
	const struct top_area area = top_page_area();
	const int handled =
		top_stacks_move(&s->stacks, top_feed_lock_flame(s->feed), &area, action);

	top_feed_unlock(s->feed);
	return handled;
}

int top_search_stacks(struct top_screen *s, int from_next)
{
	const struct top_area area = top_page_area();
	const int found = top_stacks_search(&s->stacks, top_feed_lock_flame(s->feed), &area,
					    s->searched, from_next);

	top_feed_unlock(s->feed);
	return found;
}

void top_mouse_stacks(struct top_screen *s, int y, int x, int twice)
{
	const struct top_area area = top_page_area();
	const int found = top_stacks_point(&s->stacks, top_feed_lock_flame(s->feed), &area, y, x);

	top_feed_unlock(s->feed);
	if (found && twice)
		top_act_stacks(s, TOP_KEY_DRILL);
}
