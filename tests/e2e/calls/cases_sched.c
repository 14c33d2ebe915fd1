/* SPDX-License-Identifier: Apache-2.0 */
/* How the scheduler treats a task. */
#include "case.h"

#include <stddef.h>

static void do_sched_yield(void)
{
	say("sched_yield res=%ld", CALL(sched_yield));
}

/* clang-format off */
const struct call_case cases_sched[] = {
	{"sched_yield", do_sched_yield},
	{NULL, NULL},
};
