/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, timers and sleep. */
#include "case.h"

#include <stddef.h>
#include <time.h>

static void do_nanosleep(void)
{
	struct timespec ts = {0, 1500000}, bad = {0, -1};

	say("nanosleep res=%ld interval=1500000", CALL(nanosleep, P(&ts), 0L));
	say("nanosleep res=%ld", CALL(nanosleep, P(&bad), 0L));
}

static void do_clock_nanosleep(void)
{
	const struct timespec ts = {0, 1500000};

	say("clock_nanosleep res=%ld clockid=1 flags=0 request=1500000",
	    CALL(clock_nanosleep, CLOCK_MONOTONIC, 0, P(&ts), 0L));
	say("clock_nanosleep res=%ld clockid=1 flags=1 request=<NA>",
	    CALL(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, 1L, 0L));
}

/* clang-format off */
const struct call_case cases_time[] = {
	{"nanosleep", do_nanosleep},
	{"clock_nanosleep", do_clock_nanosleep},
	{NULL, NULL},
};
