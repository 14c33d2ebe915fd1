/* SPDX-License-Identifier: Apache-2.0 */
/* The options of saker selftest. */
#include <errno.h>

#include "option_shared.h"
#include "say.h"

/* clang-format off */
const struct option_row selftest_rows[] = {
	{0, "unwind", NULL, GROUP_SELFTEST,
	 "Sample stacks and compare each with the unwinding of libdw from a copy of the stack. "
	 "Print how many agree, and why the others differ.", set_value, AT(selftest.unwind), 1},
	{'d', "duration", "SECONDS", GROUP_SELFTEST,
	 "Sample for SECONDS, at most until CMD ends (default 10).", parse_seconds, AT(max_ns)},
	{'n', "number", "NUM", GROUP_SELFTEST,
	 "Stop after NUM compared stacks.",
	 parse_count, AT(selftest.enough)},
	ROW_FREQUENCY(GROUP_SELFTEST),
	{'p', "pid", "PID", GROUP_SELFTEST,
	 "Sample only this process.", parse_pids, AT(pids)},
	{'v', "verbose", NULL, GROUP_SELFTEST,
	 "Print each stack that differs.",
	 set_value, AT(verbose), 1},
	ROW_HELP(GROUP_SELFTEST),
	{0},
};
/* clang-format on */

int selftest_settle(const struct options *o)
{
	const struct {
		int bad;
		const char *text;
	} rules[] = {
		{!o->selftest.unwind, "select a test: saker selftest --unwind"},
		{o->words.n != 0, "a self-test takes no filter; to run a command: -- CMD"},
		{o->pids.n > 1, "a self-test takes one -p"},
		{o->pids.n && o->command, "a self-test takes -- CMD or -p, not both"},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && o->mode != MODE_HELP; i++) {
		if (rules[i].bad) {
			say("%s", rules[i].text);
			return -EINVAL;
		}
	}
	return 0;
}
