/* SPDX-License-Identifier: Apache-2.0 */
/* The options of saker selftest. */
#include <errno.h>

#include "option_shared.h"
#include "say.h"

/* clang-format off */
const struct option_row selftest_rows[] = {
	{0, "unwind", NULL, GROUP_SELFTEST,
	 "Sample stacks, and have libdw unwind the same samples from a copy of the stack: how many are the "
	 "same, and of the others why.", take_value, AT(selftest.unwind), 1},
	{'d', "duration", "SECONDS", GROUP_SELFTEST,
	 "Sample for so long, with CMD at most; 10 without it.", take_seconds, AT(max_ns)},
	{'n', "number", "NUM", GROUP_SELFTEST, "End when NUM stacks are judged.",
	 take_count, AT(selftest.enough)},
	ROW_FREQUENCY(GROUP_SELFTEST),
	{'p', "pid", "PID", GROUP_SELFTEST, "Of this process only.", take_pids, AT(pids)},
	{'v', "verbose", NULL, GROUP_SELFTEST, "Tell each stack that differs.",
	 take_value, AT(verbose), 1},
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
		{!o->selftest.unwind, "--unwind says what is tested: saker selftest --unwind"},
		{o->words.n != 0, "a self-test has no filter: run a command with -- CMD"},
		{o->pids.n > 1, "-p of a self-test names one process"},
		{o->pids.n && o->command, "a self-test is of -- CMD or of the process of -p"},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && o->mode != MODE_HELP; i++) {
		if (rules[i].bad) {
			say("%s", rules[i].text);
			return -EINVAL;
		}
	}
	return 0;
}
