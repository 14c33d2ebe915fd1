/* SPDX-License-Identifier: Apache-2.0 */
/* Actions: commands of a view, run for the selected row. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_command.h"
#include "top_screen_state.h"
#include "top_term.h"
#include "top_words.h"

int top_row_value(void *ctx, const char *field, size_t len, struct sinsp_text *out)
{
	const struct top_screen *s = ctx;
	const struct view_table *t = s->snap->table;
	const size_t row = s->path.v[s->path.n - 1].place.selected;
	const struct sinsp_view_column *key = view_table_key_column(t);
	const struct view_cell *cells = view_table_cells(t, row);
	struct view_type type;
	size_t n;
	const struct view_column *cols = view_table_columns(t, &n);

	if (key && top_is_word(key->field, field, len))
		return top_key_text(out, view_table_key(t, row, &type), &type) ?: 1;
	for (size_t i = 0; i < n; i++)
		if (top_is_word(cols[i].info->field, field, len))
			return top_key_text(out, &cells[i], &cols[i].type) ?: 1;
	return 0;
}

/* Another process may have the PID when the user agrees. */
static void run_command(struct top_screen *s)
{
	char name[64];
	int err;

	if (s->command_pid && top_process_start(s->command_pid, name) != s->command_start) {
		top_complain(s, "process %d has ended", s->command_pid);
		return;
	}
	err = top_term_run(s->command.words, s->command_waits);
	if (err)
		top_complain(s, "cannot run %s: %s", s->command.words[0], strerror(-err));
}

static void ask(struct top_screen *s, const char *about)
{
	struct sinsp_text text = {0};

	for (size_t i = 0; i < s->command.n; i++)
		top_put(&text, "%s%s", i ? " " : "", s->command.words[i]);
	top_ask_yes(s, run_command, "%sRun this command? %.*s", about, (int)text.len, text.p ?: "");
	free(text.p);
}

/* Returns a sentence about what is shown if its PIDs may be those of other processes of this
 * machine now; else NULL. */
static const char *why_others(const struct top_screen *s)
{
	if (s->o->read)
		return "The file is of another time or machine: its PIDs may be those of other "
		       "processes here. ";
	return s->past ? "The table is an earlier one: its PIDs may be those of other processes "
			 "now. "
		       : NULL;
}

/* Returns whether a value of the command is the number of a process or thread. */
static int names_process(const char *command)
{
	static const char *const ids[] = {"%proc.pid",    "%proc.ppid", "%proc.vpid",
					  "%proc.sid",    "%proc.pgid", "%thread.tid",
					  "%thread.vtid", "%proc.apid", "%proc.vpgid"};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (strstr(command, ids[i]))
			return 1;
	return 0;
}

void top_run_action(struct top_screen *s, const struct sinsp_view_action *action)
{
	char name[64];
	int err;

	if (!action || !s->snap || !view_table_n_rows(s->snap->table) ||
	    top_is_confined(s, "run a command"))
		return;
	top_command_fini(&s->command);
	err = top_command_init(&s->command, action->command, top_row_value, s);
	s->command_waits = action->waits;
	s->command_pid = names_process(action->command) && !why_others(s) ? top_selected_pid(s) : 0;
	s->command_start = s->command_pid ? top_process_start(s->command_pid, name) : 0;
	if (err == -ENOENT)
		top_complain(s, "the row has no value for '%s'", action->command);
	else if (err == -EPERM)
		top_complain(s, "a value begins with '-', an option of '%s'", action->command);
	else if (err)
		top_complain(s, "cannot run '%s': %s", action->command, strerror(-err));
	else if (why_others(s) && names_process(action->command))
		ask(s, why_others(s));
	else if (action->asks)
		ask(s, "");
	else
		run_command(s);
}
