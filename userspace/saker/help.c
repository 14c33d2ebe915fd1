/* SPDX-License-Identifier: Apache-2.0 */
/* --help, printed from the option rows: at most 80 columns, descriptions from column 26 on. */
#include "options.h"
#include "wrap.h"

enum { HELP_COLUMN = 26 };

static const char usage[] =
	"Usage: saker [OPTION...] [FILTER]          capture the syscalls of this machine\n"
	"       saker [OPTION...] [FILTER] -- CMD [ARG...]\n"
	"                                           capture CMD and its descendants\n"
	"       saker [OPTION...] -r FILE [FILTER]  read a capture file\n"
	"       saker profile [OPTION...] ...       profile: see saker profile --help\n"
	"       saker why [OPTION...] ...           slow requests: see saker -i why\n"
	"       saker top [OPTION...] ...           live views: see saker top --help\n"
	"       saker exporter [OPTION...]          serve Prometheus: see exporter --help\n"
	"       saker send [OPTION...] URL FILE     send a profile: see saker send --help\n"
	"       saker selftest --unwind ...         verify stacks: see selftest --help\n"
	"\n"
	"FILTER selects events, as in: proc.name=cat and evt.type=open. A capture needs\n"
	"root, reading a file does not. A line shows: event number, time, CPU, process\n"
	"(TID), > where a syscall begins or < where it ends, its name, its arguments.\n";

static const char ending[] =
	"\n"
	"Ctrl-C ends a capture. Events that are still in the rings are not lost: saker\n"
	"prints and writes them first.\n"
	"\n"
	"Exit status: 0, or 1 on an error. With -- CMD: the status of CMD, 128 + N if\n"
	"signal N killed it, 125 if saker failed, 126 if CMD cannot be executed, 127 if\n"
	"CMD does not exist. saker ends when CMD ends, even if descendants still run.\n"
	"\n"
	"Examples:\n"
	"  saker -n 20                        show the next 20 events of this machine\n"
	"  saker -w web.scap -M 10            capture 10 seconds to a file\n"
	"  saker -r web.scap                  print the file; sysdig and tshark can, too\n"
	"  saker -o ls.txt -- ls /tmp         write the syscalls of ls to ls.txt\n"
	"  saker -r web.scap -q -S            count syscalls by type\n"
	"  saker evt.type=openat and evt.failed=true\n"
	"                                     show opens that fail\n"
	"  ssh host saker -w - | saker -r -   capture on another machine\n";

void help_put_row(FILE *f, const struct option_row *row)
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
	"Usage: saker profile [OPTION...] [FILTER]          profile this machine\n"
	"       saker profile [OPTION...] [FILTER] -- CMD [ARG...]\n"
	"                                                   CMD and its descendants\n"
	"       saker profile [OPTION...] -r FILE [FILTER]  profile from a capture file\n"
	"       saker profile [OPTION...] --diff A B [FILTER]\n"
	"                                                   compare two profiles\n"
	"\n"
	"Samples stacks, and shows which functions take the time and what calls them.\n"
	"Stops after -d SECONDS, when CMD ends, or at Ctrl-C. FILTER selects samples, as\n"
	"in proc.name=nginx or stack.frames contains lock. One profile can run at a time\n"
	"on a machine.\n";

static const char profile_ending[] =
	"\n"
	"Examples:\n"
	"  saker profile -o cpu.svg -- make           flame graph of make\n"
	"  saker profile -d 10                        hot functions of this machine\n"
	"  saker profile -d 10 -p 1234 -o cpu.pb.gz   one process, for go tool pprof\n"
	"  saker profile --off-cpu -p 1234 -d 10      what a process waits for\n"
	"  saker profile -d 10 -w a.scap              record to a file\n"
	"  saker profile -r a.scap -o a.svg           draw from the file\n"
	"  saker profile --diff a.scap b.scap -o diff.svg\n";

void help_print_profile(FILE *f)
{
	const struct option_row *row;

	fputs(profile_usage, f);
	fputc('\n', f);
	for (row = profile_rows; row->name; row++)
		help_put_row(f, row);
	fputs(profile_ending, f);
}

static const char selftest_usage[] =
	"Usage: saker selftest --unwind [OPTION...] [-- CMD [ARG...]]\n"
	"\n"
	"Verifies stacks against libdw. Needs root, and saker built with libdw.\n";

void help_print_selftest(FILE *f)
{
	const struct option_row *row;

	fputs(selftest_usage, f);
	fputc('\n', f);
	for (row = selftest_rows; row->name; row++)
		help_put_row(f, row);
}

void help_print(FILE *f)
{
	const struct option_row *row;

	fputs(usage, f);
	for (row = option_rows; row->name; row++) {
		if (row == option_rows || row->group != row[-1].group)
			fprintf(f, "\n%s\n", option_group_title(row->group));
		help_put_row(f, row);
	}
	fputs(ending, f);
}
