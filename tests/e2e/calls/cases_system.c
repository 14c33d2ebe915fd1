/* SPDX-License-Identifier: Apache-2.0 */
/* The machine as a whole, and calls that are only there to be refused. */
#include "case.h"

#include <stddef.h>

static void do_sync(void)
{
	say("sync res=%ld", CALL(sync));
}

static void do_delete_module(void)
{
	char name[] = "saker-none"; /* a kernel without modules does not look at it */

	say("delete_module res=%ld name=saker-none flags=1", CALL(delete_module, P(name), 0x200));
}

/* clang-format off */
const struct call_case cases_system[] = {
	{"sync", do_sync},
	{"delete_module", do_delete_module},
	{NULL, NULL},
};
