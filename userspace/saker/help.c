/* SPDX-License-Identifier: Apache-2.0 */
/* --help, made of the option rows: at most 80 columns, what an option does from column 26 on. */
#include "options.h"
#include "wrap.h"

enum { HELP_COLUMN = 26 };

static const char usage[] =
	"Usage: saker [OPTION...] [FILTER]        watch the system calls of this machine\n"
	"       saker [OPTION...] [FILTER] -- CMD [ARG...]\n"
	"                                         run CMD, watch it and its descendants\n"
	"       saker [OPTION...] -r FILE [FILTER] read a capture file\n"
	"       saker profile [OPTION...] ...      where time goes: saker profile --help\n"
	"       saker selftest --unwind ...        are stacks right: selftest --help\n"
	"\n"
	"FILTER says which events are meant, as in: proc.name=cat and evt.type=open.\n"
	"Watching needs root, reading a file does not. A line is: number, time, CPU,\n"
	"process (thread), > call begins or < call ends, name, arguments.\n";

static const char ending[] =
	"\n"
	"Ctrl-C ends a capture cleanly: what the rings hold is still printed and written.\n"
	"With -- CMD, saker ends when CMD itself has ended, with CMD's exit status (128 +\n"
	"the signal that ended it). Status 125: saker failed, 126: CMD could not be\n"
	"executed, 127: CMD was not found. Otherwise 0, or 1 after one sentence on\n"
	"standard error.\n"
	"\n"
	"Examples:\n"
	"  saker -n 20                        the next 20 events of this machine\n"
	"  saker -w web.scap -M 10            capture 10 seconds to a file\n"
	"  saker -r web.scap                  print it; sysdig and tshark read it too\n"
	"  saker -o ls.txt -- ls /tmp         what ls does, apart from what it prints\n"
	"  saker -r web.scap -q -S            which calls were made most\n"
	"  saker evt.type=openat and evt.failed=true\n"
	"                                     opens that fail\n"
	"  ssh host saker -w - | saker -r -   watch another machine\n";

static void put_row(FILE *f, const struct option_row *row)
{
	int at;

	if (row->letter)
		at = fprintf(f, "  -%c, --%s", row->letter, row->name);
	else
		at = fprintf(f, "      --%s", row->name);
	if (row->arg)
		at += fprintf(f, " %s", row->arg);
	if (at > HELP_COLUMN - 2) {
		fputc('\n', f);
		at = 0;
	}
	fprintf(f, "%*s", HELP_COLUMN - at, "");
	put_wrapped(f, row->help, HELP_COLUMN);
}

static const char profile_usage[] =
	"Usage: saker profile [OPTION...] [FILTER]           sample this machine's stacks\n"
	"       saker profile [OPTION...] [FILTER] -- CMD [ARG...]\n"
	"                                                    those of CMD, descendants too\n"
	"       saker profile [OPTION...] -r FILE [FILTER]   those of a capture file\n"
	"       saker profile [OPTION...] --diff A B [FILTER]\n"
	"                                                    what B has more than A\n"
	"\n"
	"Shows which functions take the time, and who calls them. It ends after -d SECONDS,\n"
	"with CMD, or by Ctrl-C. FILTER says which samples are meant, as in\n"
	"proc.name=nginx or stack.frames contains lock. Only one program at a time can\n"
	"sample a machine.\n";

static const char profile_ending[] =
	"\n"
	"Examples:\n"
	"  saker profile -o cpu.svg -- make           a flame graph of what make did\n"
	"  saker profile -d 10                        the machine's hot functions, as text\n"
	"  saker profile -d 10 -p 1234 -o cpu.pb.gz   a process, for go tool pprof\n"
	"  saker profile --off-cpu -p 1234 -d 10      what it waits for\n"
	"  saker profile -d 10 -w a.scap              record now\n"
	"  saker profile -r a.scap -o a.svg           and draw later\n"
	"  saker profile --diff a.scap b.scap -o diff.svg\n";

void help_print_profile(FILE *f)
{
	const struct option_row *row;

	fputs(profile_usage, f);
	fputc('\n', f);
	for (row = profile_rows; row->name; row++)
		put_row(f, row);
	fputs(profile_ending, f);
}

static const char selftest_usage[] =
	"Usage: saker selftest --unwind [OPTION...] [-- CMD [ARG...]]\n"
	"\n"
	"Are stacks right? Needs root, and a saker that was built with libdw.\n";

void help_print_selftest(FILE *f)
{
	const struct option_row *row;

	fputs(selftest_usage, f);
	fputc('\n', f);
	for (row = selftest_rows; row->name; row++)
		put_row(f, row);
}

void help_print(FILE *f)
{
	const struct option_row *row;

	fputs(usage, f);
	for (row = option_rows; row->name; row++) {
		if (row == option_rows || row->group != row[-1].group)
			fprintf(f, "\n%s\n", option_group_title(row->group));
		put_row(f, row);
	}
	fputs(ending, f);
}
