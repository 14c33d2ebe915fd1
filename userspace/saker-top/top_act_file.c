/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what is shown to files: the table, or the events of the path. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "file/scap_file.h"
#include "top_cell.h"
#include "top_export.h"
#include "top_screen_state.h"

/* ---- the table ---- */

static void export_now(struct top_screen *s)
{
	const struct top_level *level = top_path_top(&s->path);
	struct top_slice slice = {
		.view = level->view,
		.options = s->o,
	};
	struct sinsp_text text = {0};
	int err;

	if (!s->snap)
		return;
	slice.table = s->snap->table;
	slice.target = top_path_target(s->list, level->view, view_table_key_column(slice.table));
	slice.ns = s->snap->end_ns;
	slice.length_ns = s->snap->length_ns;
	err = top_export_text(&text, s->file, &slice);
	err = err ?: scap_write_bytes(s->file, text.p, text.len);
	if (err)
		top_complain(s, "cannot write %s: %s", s->file, strerror(-err));
	else
		top_say(s, "%s: %zu %s", s->file, view_table_n_rows(slice.table),
			view_table_n_rows(slice.table) == 1 ? "row" : "rows");
	free(text.p);
}

/* Does @act with the file, after a question if it exists. Returns 0 or a negative errno with a
 * message. */
static int use_file(struct top_screen *s, const char *path, top_agreed_fn act)
{
	int exists;
	const char *wrong = top_export_check(path, s->o->read, &exists);

	if (wrong)
		return top_complain(s, "cannot write %s: %s", path, wrong);
	free(s->file);
	s->file = strdup(path);
	if (!s->file)
		return top_complain(s, "%s", strerror(ENOMEM));
	if (exists)
		top_ask_yes(s, act, "%s exists. Replace it?", path);
	else
		act(s);
	return 0;
}

void top_ask_export(struct top_screen *s)
{
	struct sinsp_text name = {0};

	if (!s->snap || top_is_confined(s, "write a file"))
		return;
	top_put(&name, "%s.csv%c", top_path_top(&s->path)->view->id, 0);
	top_ask(s, TOP_ASKS_EXPORT, name.p ?: "");
	free(name.p);
}

int top_export(struct top_screen *s, const char *path)
{
	return *path ? use_file(s, path, export_now) : 0;
}

/* ---- events ---- */

static void report_record(struct top_screen *s, uint64_t n, int err)
{
	if (err)
		top_complain(s, "%s is not complete: %s", s->record, strerror(-err));
	else
		top_say(s, "%s: %" PRIu64 " events", s->record, n);
	free(s->record);
	s->record = NULL;
}

static void record_now(struct top_screen *s)
{
	char *filter = top_level_filter(top_path_top(&s->path));
	struct top_record *record = NULL;
	int err = filter ? top_record_new(&record, s->file, filter, top_shown_begin(s)) : -ENOMEM;

	free(filter);
	if (err) {
		top_complain(s, "cannot write %s: %s", s->file, strerror(-err));
		return;
	}
	top_feed_record(s->feed, record);
	top_feed_status(s->feed, &s->status);
	s->record = s->file;
	s->file = NULL;
	if (s->status.record.err) {
		top_complain(s, "cannot write %s: %s", s->record, strerror(-s->status.record.err));
		free(s->record);
		s->record = NULL;
	}
	top_check_record(s); /* a small file is read already */
}

void top_ask_record(struct top_screen *s)
{
	uint64_t n;

	if (s->record) {
		n = top_feed_end_record(s->feed);
		top_feed_status(s->feed, &s->status);
		report_record(s, n, s->status.record.err);
	} else if (!top_is_confined(s, "write a file")) {
		top_ask(s, TOP_ASKS_RECORD, "saker-top.scap");
	}
}

int top_record(struct top_screen *s, const char *path)
{
	return *path ? use_file(s, path, record_now) : 0;
}

void top_check_record(struct top_screen *s)
{
	if (s->record && !s->status.record.is_on && !s->asks)
		report_record(s, s->status.record.n_events, s->status.record.err);
}
