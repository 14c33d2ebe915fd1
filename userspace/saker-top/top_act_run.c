/* SPDX-License-Identifier: Apache-2.0 */
/* Actions: commands of a view, run for the selected row. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_command.h"
#include "top_screen_state.h"
#include "top_term.h"

/* Another process may have the PID when the user agrees. */
static void run_command(struct top_screen *s)
{
	int err;

	if (s->command_process.pid && top_has_ended(s, &s->command_process))
		return;
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
	int err;

	if (!action || !s->snap || !view_table_n_rows(s->snap->table) ||
	    top_is_confined(s, "run a command"))
		return;
	top_command_fini(&s->command);
	err = top_command_init(&s->command, action->command, top_row_value, s);
	s->command_waits = action->waits;
	s->command_process = names_process(action->command) && !why_others(s)
				     ? top_row_process(s)
				     : (struct top_process){0};
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
