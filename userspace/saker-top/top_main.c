/* SPDX-License-Identifier: Apache-2.0 */
/* saker top: opens what needs privileges, drops them, then shows a view. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspector_open.h"
#include "privileges.h"
#include "say.h"
#include "signals.h"
#include "standard_streams.h"
#include "top_capture.h"
#include "top_keys.h"
#include "top_list.h"
#include "top_options.h"
#include "top_path.h"
#include "top_print_heat.h"
#include "top_screen.h"
#include "top_views.h"

static int new_table(struct view_table **out, const struct top_options *o,
		     const struct sinsp_view *view)
{
	const struct view_table_opts opts = {
		.sz = sizeof(opts),
		.view = view,
		.filter = o->filter,
		.containers = (uint8_t)o->containers,
		.sorting_col = (uint32_t)o->sorting_col,
	};
	struct view_error why = {""};
	int err = view_table_new(out, &opts, &why);

	if (err)
		say("%s", err == -EINVAL ? why.message : strerror(-err));
	return err;
}

static int show(const struct top_options *o, const struct view_list *list)
{
	const struct sinsp_view *view = view_list_find(list, o->view);
	struct top_slice slice = {.view = view, .options = o};
	struct view_table *t = NULL;
	struct sinsp *s = NULL;
	int err;

	if (!view) {
		say("no view '%s': see saker top --list-views", o->view);
		return -ENOENT;
	}
	if (top_view_is_spectrum(view) && !o->json)
		return top_print_heat(o, view);
	err = new_table(&t, o, view);
	err = err ?: top_capture_open_only(&s, o, view_table_filter(t), view_table_needs(t));
	if (!err) {
		slice.table = t;
		slice.target = top_path_target(list, view, view_table_key_column(t));
		err = top_capture_run(s, t, &slice);
	}
	sinsp_close(s);
	view_table_free(t);
	return err;
}

/* The screen takes the sorting column as it is. Returns 0, or a negative errno after a message. */
static int check_sorting_col(const struct top_options *o, const struct view_list *list)
{
	const struct sinsp_view *view = o->sorting_col ? view_list_find(list, o->view) : NULL;
	struct view_table *t = NULL;
	const int err = view ? new_table(&t, o, view) : 0;

	view_table_free(t);
	return err;
}

static int run(const struct top_options *o)
{
	const int is_screen = o->mode == TOP_SHOW && !o->batch && !o->json;
	const int needs_all = o->mode == TOP_LIST_VIEWS || o->json || is_screen; /* targets */
	struct top_views views;
	int err = top_views_load(&views, needs_all ? NULL : o->view, o->json);

	if (err)
		say("cannot load views: %s", strerror(-err));
	else if (o->mode == TOP_LIST_VIEWS)
		err = (o->json ? top_list_json : top_list_text)(stdout, &views.list);
	else if (is_screen)
		err = check_sorting_col(o, &views.list) ?: top_screen_run(o, &views.list);
	else
		err = show(o, &views.list);
	top_views_fini(&views);
	if (o->mode == TOP_SHOW)
		inspector_report_redacted(o->redact);
	return err ? 1 : 0;
}

static int list_keys(void)
{
	struct sinsp_text text = {0};
	const int err = top_keys_list(&text, "\t", 0, 0);

	if (!err)
		fwrite(text.p, 1, text.len, stdout);
	free(text.p);
	return err ? 1 : 0;
}

static int run_mode(const struct top_options *o)
{
	if (o->verbose)
		say_info_too();
	if (o->mode == TOP_HELP) {
		top_help(stdout);
		return 0;
	}
	if (o->mode == TOP_LIST_KEYS)
		return list_keys();
	if (o->mode == TOP_VERSION) {
		printf("saker %s\n", SAKER_VERSION);
		return 0;
	}
	if (o->mode == TOP_SHOW && !o->read &&
	    !privileges_allow("showing this machine", "saker top"))
		return 1;
	return run(o);
}

int main(int argc, char **argv)
{
	struct top_options o = {0};
	int status = 1;

	standard_fds_fill();
	signals_begin();
	signal(SIGPIPE, SIG_IGN);
	if (!top_options_parse(&o, argc, argv))
		status = run_mode(&o);
	top_options_fini(&o);
	return stdout_end(status);
}
