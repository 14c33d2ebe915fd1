/* SPDX-License-Identifier: Apache-2.0 */
#include "top_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "option_values.h"
#include "redact/redact.h"
#include "say.h"

#define AT(member) offsetof(struct top_options, member)

/* Like parse_count, and also 0. */
static int parse_number(void *member, const struct option_row *row, const char *arg)
{
	char *end;
	const unsigned long n = strtoul(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || n > UINT32_MAX) {
		say("--%s needs a number, not '%s': %s", row->name, arg, row->help);
		return -EINVAL;
	}
	*(uint64_t *)member = n;
	return 0;
}

/* -pc, as in saker and csysdig: the other formats are of lines. */
static int parse_print(void *member, const struct option_row *row, const char *arg)
{
	(void)row;
	if (strcmp(arg, "c") != 0 && strcmp(arg, "container") != 0) {
		say("-p of saker top is -pc or -pcontainer, not '%s'", arg);
		return -EINVAL;
	}
	*(int *)member = 1;
	return 0;
}

/* clang-format off */
static const struct option_row top_rows[] = {
	{'b', "batch", NULL, GROUP_LIVE, "Print tables as text, one after another.", set_value, AT(batch), 1},
	{'v', "view", "VIEW", GROUP_LIVE, "Show this view (default procs); --list-views lists them.",
	 set_text, AT(view)},
	{'n', "tables", "NUM", GROUP_LIVE, "End after NUM tables.", parse_count, AT(n_tables)},
	{'d', "delay", "SECONDS", GROUP_LIVE,
	 "Time between tables (default 1 on the screen, else 2). With -r: the file's time; without -d there is one "
	 "table of the whole file, as always on the screen.", parse_seconds, AT(interval_ns)},
	{'r', "read", "FILE", GROUP_LIVE, "Read a capture file instead of the live system.",
	 set_only_capture, AT(read)},
	{0, "unconfined", NULL, GROUP_LIVE,
	 "With -r, on the screen: allow actions, and to write files (x, w). Only for files that you trust.",
	 set_value, AT(unconfined), 1},
	{'j', "json", NULL, GROUP_LIVE,
	 "Print JSON as csysdig does: slices with rows, their number, and the columns.",
	 set_value, AT(json), 1},
	{0, "list-views", NULL, GROUP_LIVE, "List the views; with -j as JSON.",
	 set_value, AT(mode), TOP_LIST_VIEWS},
	{0, "list-keys", NULL, GROUP_LIVE, "List the keys of the screen.",
	 set_value, AT(mode), TOP_LIST_KEYS},
	{0, "no-color", NULL, GROUP_LIVE, "Draw the screen without colours, as with NO_COLOR set.",
	 set_value, AT(no_colour), 1},
	{0, "from", "ROW", GROUP_LIVE, "First row of a table to print, from 0.", parse_number, AT(from)},
	{0, "to", "ROW", GROUP_LIVE, "Last row of a table to print, as in csysdig from 0; 0: the last (default).",
	 parse_number, AT(to)},
	{0, "sortingcol", "NUM", GROUP_LIVE, "Sort by this column, from 1 (default: that of the view).",
	 parse_count, AT(sorting_col)},
	{'p', "print", "c", GROUP_LIVE, "Also show the columns of containers.",
	 parse_print, AT(containers)},
	OPTION_ROW_REDACT(GROUP_LIVE, AT(redact)),
	OPTION_ROWS_OF_SOURCE(AT(ring_sz), AT(container_socket), AT(cri_socket)),
	{0, "verbose", NULL, GROUP_LIVE, "Also print what the kernel refused, and other details.",
	 set_value, AT(verbose), 1},
	{'h', "help", NULL, GROUP_LIVE, "Show this text.", set_value, AT(mode), TOP_HELP},
	{0, "version", NULL, GROUP_LIVE, "Show the version.", set_value, AT(mode), TOP_VERSION},
	{0},
};
/* clang-format on */

static const char *help_of(const struct option_row *rows)
{
	(void)rows;
	return "saker top --help";
}

static int add_word(struct top_options *o, const char *word)
{
	char *text;

	if (asprintf(&text, "%s%s%s", o->filter ?: "", o->filter ? " " : "", word) < 0)
		return -ENOMEM;
	free(o->filter);
	o->filter = text;
	return 0;
}

/* Of its own: joined with that of a view, its errors would be at other places. */
static int check_filter(const char *text)
{
	struct sinsp_filter_error why = {0};
	struct sinsp_filter *f = NULL;
	const int err = text ? sinsp_filter_new(&f, text, NULL, &why) : 0;

	sinsp_filter_free(f);
	if (err && why.text)
		say_filter_error("filter", &why);
	else if (err)
		say_cause(say_n_errors(), "filter", err);
	return err;
}

static int check(const struct top_options *o)
{
	if (o->read && (o->ring_sz || o->container_socket || o->cri_socket)) {
		say("--ring-size, --container-socket and --cri-socket apply to a live capture, not "
		    "to -r");
		return -EINVAL;
	}
	if (o->to && o->from > o->to) {
		say("--from %" PRIu64 " is behind --to %" PRIu64, o->from, o->to);
		return -EINVAL;
	}
	if (o->unconfined && !o->read) {
		say("--unconfined applies to -r FILE: a live screen has its actions");
		return -EINVAL;
	}
	return 0;
}

int top_options_parse(struct top_options *o, int argc, char **argv)
{
	struct option_args args = {argv, argc, 1, top_rows, help_of, NULL};
	int err = 0;

	while (!err && args.next < args.n) {
		const char *text = args.v[args.next++];

		err = option_is_one(text) ? option_parse(o, text, &args) : add_word(o, text);
	}
	if (!o->view)
		o->view = "procs";
	if (o->sorting_col > UINT32_MAX)
		o->sorting_col = UINT32_MAX; /* no view has it */
	if (getenv("NO_COLOR") && *getenv("NO_COLOR"))
		o->no_colour = 1;
	return err ?: check(o) ?: check_filter(o->filter);
}

void top_options_fini(struct top_options *o)
{
	free(o->filter);
	o->filter = NULL;
	scap_redact_free(o->redact);
	o->redact = NULL;
}

void top_help(FILE *f)
{
	fputs("Usage: saker top [OPTION...] [FILTER]          show this machine\n"
	      "       saker top [OPTION...] -r FILE [FILTER]  show a capture file\n"
	      "\n"
	      "Shows activity as tables: processes, threads, files, connections, errors and\n"
	      "other views; on the screen (? lists its keys), or printed with -b or -j. FILTER\n"
	      "selects events, as in saker. Showing this machine needs root.\n"
	      "\n",
	      f);
	for (const struct option_row *row = top_rows; row->name; row++)
		help_put_row(f, row);
}
