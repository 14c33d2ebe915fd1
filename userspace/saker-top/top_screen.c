/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of the screen: waits for keys, signals and the feed, then draws what changed. */
#include "top_screen.h"

#include <errno.h>
#include <ncurses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confine.h"
#include "say.h"
#include "top_draw.h"
#include "top_path.h"
#include "top_screen_state.h"
#include "top_term.h"

/* What no key or feed announces: a message on standard error. */
enum { IDLE_MS = 1000 };

/* ---- views ---- */

static const struct sinsp_view *first_view(const struct top_screen *s)
{
	const struct sinsp_view *view = view_list_find(s->list, s->o->view);
	struct view_error why;

	if (!view)
		say("no view '%s': see saker top --list-views", s->o->view);
	else if (!top_can_show(s, view, &why))
		say("%s", why.message);
	else
		return view;
	return NULL;
}

/* ---- the loop ---- */

static void take_feed(struct top_screen *s)
{
	top_feed_seen(s->feed);
	top_feed_status(s->feed, &s->status);
	top_check_record(s);
	if ((!s->paused || !s->snap || s->steps) && !top_pane_replaces_table(&s->pane) && !s->past)
		top_take_newest(s);
	if (s->pane.kind == TOP_PANE_DETAILS && s->snap)
		top_refresh_details(s);
}

static void take_keys(struct top_screen *s)
{
	int code;

	while (!s->ends && (code = top_term_key()) != ERR) {
		if (code == KEY_RESIZE)
			continue;
		if (s->asks)
			top_act_prompt(s, code);
		else if (code == KEY_MOUSE)
			top_act_mouse(s);
		else
			top_act(s, code);
	}
}

static void take_message(struct top_screen *s)
{
	struct sinsp_text text = {0};

	if (top_term_message(&text) > 0)
		top_complain(s, "%.*s", (int)text.len, text.p);
	free(text.p);
}

static void loop(struct top_screen *s)
{
	struct pollfd fds[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = top_term_signal_fd(), .events = POLLIN},
		{.fd = top_feed_fd(s->feed), .events = POLLIN},
	};

	while (!s->ends) {
		top_page_draw(s);
		if (poll(fds, sizeof(fds) / sizeof(fds[0]), IDLE_MS) < 0 && errno != EINTR)
			return;
		if (top_term_signals())
			return;
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return; /* the terminal is gone */
		take_feed(s);
		take_keys(s);
		if (!s->asks) /* a question stays what it was */
			take_message(s);
	}
}

static void fini(struct top_screen *s)
{
	top_pane_close(&s->pane);
	top_feed_close(s->feed);
	top_path_fini(&s->path);
	top_draw_fini();
	top_command_fini(&s->command);
	top_stacks_fini(&s->stacks);
	free(s->stacks_name);
	free(s->usable);
	free(s->searched);
	free(s->file);
	free(s->record);
	free(s->message.p);
}

static int open_feed(struct top_screen *s)
{
	struct top_query query;
	char *filter = top_level_query(s, &query);
	const int err = filter ? top_feed_open(&s->feed, s->o, &query) : -ENOMEM;

	free(filter);
	return err;
}

/* Any view may name frames, and each drill-down reads the file again. */
static void confine(const struct top_options *o)
{
	const char *const paths[] = {o->read, NULL};

	if (o->read && !o->unconfined)
		confine_reader(paths, CONFINE_HELPERS | CONFINE_TERMINAL);
}

int top_screen_run(const struct top_options *o, const struct view_list *list)
{
	struct top_screen *s = calloc(1, sizeof(*s));
	const struct sinsp_view *view;
	int err;

	if (!s)
		return -ENOMEM;
	s->o = o;
	s->list = list;
	s->usable = calloc(list->n + 1, 1);
	err = s->usable ? 0 : -ENOMEM;
	view = err ? NULL : first_view(s);
	err = err ?: view ? 0 : -ENOENT;
	err = err ?: top_path_init(&s->path, view, o->filter);
	if (!err)
		confine(o);
	err = err ?: open_feed(s);
	err = err ?: top_term_open(o->no_colour);
	if (!err) {
		top_draw_init();
		s->path.v[0].place.sorting_col = (uint32_t)o->sorting_col;
		err = top_feed_start(s->feed);
		if (!err)
			loop(s);
		top_term_close();
	}
	fini(s);
	free(s);
	return err;
}
