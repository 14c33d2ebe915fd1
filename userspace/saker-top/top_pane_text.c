/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of panes. */
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_draw.h"
#include "top_screen_state.h"

enum { KEYS_WIDTH = 14, NAME_WIDTH = 12, VIEW_WIDTH = 24, TIMES_WIDTH = 26 };

const struct sinsp_view_action *top_menu_action(const struct top_screen *s, uint64_t number)
{
	const struct sinsp_view *view = s->path.v[s->path.n - 1].view;

	for (size_t i = 0; i < view->n_actions; i++)
		if (top_command_is_plain(view->actions[i].command) && !number--)
			return &view->actions[i];
	return NULL;
}

const struct sinsp_view_action *top_hotkey_action(const struct top_screen *s, int code)
{
	const struct sinsp_view_action *action;

	for (uint64_t i = 0; (action = top_menu_action(s, i)); i++)
		if (code > ' ' && code < 127 && action->hotkey[0] == code && !action->hotkey[1])
			return action;
	return NULL;
}

/* Each key's help has as many lines as it needs. */
static int put_keys(struct sinsp_text *out, size_t width)
{
	struct sinsp_text keys = {0};
	int err = top_keys_list(&keys, " ", KEYS_WIDTH, NAME_WIDTH);
	size_t n;

	for (const char *line = keys.p; !err && line < keys.p + keys.len; line += n + 1) {
		n = (size_t)(strchr(line, '\n') - line);
		err = top_put_wrapped(out, line, n, width, KEYS_WIDTH + NAME_WIDTH + 2);
	}
	free(keys.p);
	return err;
}

int top_help_text(struct sinsp_text *out, size_t width)
{
	static const char intro[] =
		"Each view is a table of what runs on the machine or is in the file. Drill down "
		"into a row "
		"to see what belongs to it; the views menu then shows only that row's activity.";
	static const char differs[] =
		"Differences from csysdig: 1 to 9 sort, without Shift. Differences from htop, for "
		"the keys that csysdig has: F5 is Echo (tree: t), F7 and F8 are Legend and Actions "
		"(nice value: ] and [), F9 is Sort (kill: k). Space plays a file and tags no row.";
	int err = top_put_wrapped(out, intro, sizeof(intro) - 1, width, 0);

	err = err ?: top_put(out, "\n");
	err = err ?: put_keys(out, width);
	err = err ?: top_put(out, "\n");
	return err ?: top_put_wrapped(out, differs, sizeof(differs) - 1, width, 0);
}

int top_legend_text(struct sinsp_text *out, const struct top_screen *s, size_t width)
{
	const struct sinsp_view *view = s->path.v[s->path.n - 1].view;
	int err = top_put(out, "%s\n", view->name);

	err = err ?: top_put_wrapped(out, view->description, strlen(view->description), width, 0);
	for (const char *const *tip = view->tips; *tip && !err; tip++)
		err = top_put_wrapped(out, *tip, strlen(*tip), width, 0);
	err = err ?: top_put(out, "\n");
	for (size_t i = 0; i < view->n_columns && !err; i++) {
		const struct sinsp_view_column *c = &view->columns[i];
		struct sinsp_text line = {0};

		if (c->is_key || c->is_groupby_key)
			continue;
		err = top_put(&line, "%-12s %s (%s)", c->name, c->description, c->field);
		err = err ?: top_put_wrapped(out, line.p, line.len, width, 13);
		free(line.p);
	}
	return err;
}

/* ---- menus ---- */

static int is_offered(const struct top_screen *s, size_t i)
{
	const struct top_level *level = &s->path.v[s->path.n - 1];

	return top_view_is_usable(s, i) && top_view_applies(s->list->v[i].view, level->key_field);
}

const struct sinsp_view *top_menu_view(const struct top_screen *s, uint64_t number)
{
	for (size_t i = 0; i < s->list->n; i++)
		if (is_offered(s, i) && !number--)
			return s->list->v[i].view;
	return NULL;
}

uint64_t top_menu_place(const struct top_screen *s)
{
	const struct sinsp_view *current = s->path.v[s->path.n - 1].view, *view;

	for (uint64_t i = 0; (view = top_menu_view(s, i)); i++)
		if (view == current)
			return i;
	return 0;
}

int top_views_text(struct sinsp_text *out, const struct top_screen *s)
{
	int err = 0;

	for (size_t i = 0; i < s->list->n && !err; i++)
		if (is_offered(s, i))
			err = top_put(out, "%-*s %s\n", VIEW_WIDTH, s->list->v[i].view->name,
				      s->list->v[i].view->description);
	return err;
}

int top_times_menu_text(struct sinsp_text *out, const struct top_screen *s, size_t width)
{
	struct top_times times;

	top_feed_times(s->feed, &times);
	return top_times_text(out, &times, width > TIMES_WIDTH ? width - TIMES_WIDTH : 0);
}

int top_actions_text(struct sinsp_text *out, const struct top_screen *s)
{
	const struct sinsp_view_action *action;
	int err = 0;

	for (uint64_t i = 0; (action = top_menu_action(s, i)) && !err; i++)
		err = top_put(out, "%-2s %-28s %s\n", action->hotkey, action->description,
			      action->command);
	return err;
}

int top_columns_text(struct sinsp_text *out, const struct top_screen *s)
{
	size_t n;
	const struct view_column *cols = view_table_columns(s->snap->table, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = top_put(out, "%-12s %s\n", cols[i].info->name, cols[i].info->description);
	return err;
}
