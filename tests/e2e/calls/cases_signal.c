/* SPDX-License-Identifier: Apache-2.0 */
/* Signals. */
#include "case.h"

#include <signal.h>
#include <stddef.h>

static void do_kill(void)
{
	signal(SIGUSR1, SIG_IGN);
	say("kill res=%ld pid=%d sig=10", CALL(kill, getpid(), SIGUSR1), getpid());
	say("kill res=%ld pid=%d sig=99", CALL(kill, getpid(), 99), getpid());
}

static void do_tkill(void)
{
	signal(SIGUSR1, SIG_IGN);
	say("tkill res=%ld tid=%d sig=10", CALL(tkill, gettid(), SIGUSR1), gettid());
	say("tkill res=%ld tid=-1 sig=10", CALL(tkill, -1, SIGUSR1));
}

static void do_tgkill(void)
{
	say("tgkill res=%ld pid=%d tid=%d sig=0", CALL(tgkill, getpid(), gettid(), 0), getpid(),
	    gettid());
	say("tgkill res=%ld pid=-1 tid=%d sig=0", CALL(tgkill, -1, gettid(), 0), gettid());
}

/* clang-format off */
const struct call_case cases_signal[] = {
	{"kill", do_kill},
	{"tkill", do_tkill},
	{"tgkill", do_tgkill},
	{NULL, NULL},
};
