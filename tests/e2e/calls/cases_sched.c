/* SPDX-License-Identifier: Apache-2.0 */
/* How the scheduler treats a task. */
#include "case.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static void do_sched_yield(void)
{
	say("sched_yield res=%ld", CALL(sched_yield));
}

static void do_getpriority(void)
{
	setpriority(PRIO_PROCESS, 0, 3);
	say("getpriority res=%ld which=0(PRIO_PROCESS) who=0", CALL(getpriority, PRIO_PROCESS, 0));
	say("getpriority res=%ld which=7 who=-5", CALL(getpriority, 7, -5));
}

static void do_setpriority(void)
{
	say("setpriority res=%ld which=0 who=%d prio=5",
	    CALL(setpriority, PRIO_PROCESS, getpid(), 5), getpid());
	say("setpriority res=%ld which=2(PRIO_USER) who=-3 prio=-4",
	    CALL(setpriority, PRIO_USER, -3, -4));
}

static void do_sched_setparam(void)
{
	const struct sched_param none = {0}, much = {50};

	say("sched_setparam res=%ld pid=0 priority=0", CALL(sched_setparam, 0, P(&none)));
	say("sched_setparam res=%ld pid=0 priority=50", CALL(sched_setparam, 0, P(&much)));
	say("sched_setparam res=%ld pid=%d priority=<NA>", CALL(sched_setparam, getpid(), 0L),
	    getpid());
}

static void do_sched_getparam(void)
{
	struct sched_param param;

	say("sched_getparam res=%ld priority=0 pid=0", CALL(sched_getparam, 0, P(&param)));
	say("sched_getparam res=%ld priority=<NA> pid=-1", CALL(sched_getparam, -1, P(&param)));
}

static void do_sched_setscheduler(void)
{
	const struct sched_param none = {0};

	say("sched_setscheduler res=%ld pid=0 policy=1073741827(SCHED_RESET_ON_FORK|SCHED_BATCH) "
	    "priority=0",
	    CALL(sched_setscheduler, 0, SCHED_BATCH | SCHED_RESET_ON_FORK, P(&none)));
	say("sched_setscheduler res=%ld pid=-9 policy=1(SCHED_FIFO) priority=0",
	    CALL(sched_setscheduler, -9, SCHED_FIFO, P(&none)));
}

static void do_sched_getscheduler(void)
{
	const struct sched_param none = {0};

	sched_setscheduler(0, SCHED_IDLE, &none);
	say("sched_getscheduler res=%ld policy=5(SCHED_IDLE) pid=0", CALL(sched_getscheduler, 0));
	say("sched_getscheduler res=%ld policy=<NA> pid=-2", CALL(sched_getscheduler, -2));
}

static void do_sched_get_priority_max(void)
{
	say("sched_get_priority_max res=%ld policy=2(SCHED_RR)",
	    CALL(sched_get_priority_max, SCHED_RR));
	say("sched_get_priority_max res=%ld policy=77", CALL(sched_get_priority_max, 77));
}

static void do_sched_get_priority_min(void)
{
	say("sched_get_priority_min res=%ld policy=6(SCHED_DEADLINE)",
	    CALL(sched_get_priority_min, 6));
	say("sched_get_priority_min res=%ld policy=4294967295(SCHED_RESET_ON_FORK|SCHED_EXT)",
	    CALL(sched_get_priority_min, -1));
}

static void do_sched_rr_get_interval(void)
{
	struct timespec ts;
	const long res = CALL(sched_rr_get_interval, 0, P(&ts));

	say("sched_rr_get_interval res=%ld interval=%ld pid=0", res,
	    ts.tv_sec * 1000000000 + ts.tv_nsec);
	say("sched_rr_get_interval res=%ld interval=<NA> pid=-1",
	    CALL(sched_rr_get_interval, -1, P(&ts)));
}

/* "0-3,8": what the CPUs of @set are as text. */
static const char *cpus_text(const cpu_set_t *set)
{
	static char text[CPU_SETSIZE * 5];
	char *p = text;

	for (int i = 0; i < CPU_SETSIZE; i++) {
		int last = i;

		if (!CPU_ISSET(i, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		p += sprintf(p, p == text ? "%d" : ",%d", i);
		if (last > i)
			p += sprintf(p, "-%d", last);
		i = last;
	}
	return text;
}

static void do_sched_getaffinity(void)
{
	cpu_set_t set = {0};
	const long res = CALL(sched_getaffinity, 0, (long)sizeof(set), P(&set));

	say("sched_getaffinity res=%ld mask=%s pid=0 len=128", res, cpus_text(&set));
	say("sched_getaffinity res=%ld mask=<NA> pid=0 len=1",
	    CALL(sched_getaffinity, 0, 1L, P(&set)));
}

static void do_sched_setaffinity(void)
{
	cpu_set_t set, odd;

	if (sched_getaffinity(0, sizeof(set), &set))
		broken("sched_getaffinity");
	say("sched_setaffinity res=%ld mask=%s pid=0 len=128",
	    CALL(sched_setaffinity, 0, (long)sizeof(set), P(&set)), cpus_text(&set));
	CPU_ZERO(&odd);
	CPU_SET(1, &odd);
	CPU_SET(2, &odd);
	CPU_SET(9, &odd);
	say("sched_setaffinity res=%ld mask=1-2,9 pid=-1 len=2",
	    CALL(sched_setaffinity, -1, 2L, P(&odd)));
	CPU_ZERO(&odd);
	say("sched_setaffinity res=%ld mask=none pid=0 len=8",
	    CALL(sched_setaffinity, 0, 8L, P(&odd)));
	say("sched_setaffinity res=%ld mask=<NA> pid=0 len=8", CALL(sched_setaffinity, 0, 8L, 0L));
}

/* Its first version; part of the ABI. */
struct attr {
	unsigned int size, policy;
	unsigned long flags;
	int nice;
	unsigned int priority;
	unsigned long runtime, deadline, period;
};

static void do_sched_setattr(void)
{
	struct attr a = {sizeof(a), SCHED_BATCH, 1, 7, 0, 0, 0, 0};

	say("sched_setattr res=%ld pid=0 policy=3(SCHED_BATCH) "
	    "sched_flags=1(SCHED_FLAG_RESET_ON_FORK) nice=7 priority=0 flags=0",
	    CALL(sched_setattr, 0, P(&a), 0));
	a = (struct attr){sizeof(a), 6, 0, 0, 0, 3000000, 2000000, 5000000};
	say("sched_setattr res=%ld pid=0 policy=6(SCHED_DEADLINE) sched_flags=0 nice=0 "
	    "runtime=3000000 deadline=2000000 period=5000000 flags=0",
	    CALL(sched_setattr, 0, P(&a), 0));
	say("sched_setattr res=%ld pid=0 policy=<NA> period=<NA> flags=7",
	    CALL(sched_setattr, 0, 0L, 7));
}

static void do_sched_getattr(void)
{
	struct attr a;
	long res;

	setpriority(PRIO_PROCESS, 0, 4);
	res = CALL(sched_getattr, 0, P(&a), (long)sizeof(a), 0);
	say("sched_getattr res=%ld policy=0(SCHED_OTHER) sched_flags=0 nice=4 priority=0 "
	    "runtime=%lu pid=0 size=48 flags=0",
	    res, a.runtime);
	say("sched_getattr res=%ld policy=<NA> nice=<NA> pid=0 size=1 flags=2",
	    CALL(sched_getattr, 0, P(&a), 1L, 2));
}

static void do_ioprio_set(void)
{
	say("ioprio_set res=%ld which=1(IOPRIO_WHO_PROCESS) who=0 ioprio=16390(IOPRIO_CLASS_BE|6)",
	    CALL(ioprio_set, 1, 0, 2 << 13 | 6));
	say("ioprio_set res=%ld which=9 who=-1 ioprio=24576(IOPRIO_CLASS_IDLE)",
	    CALL(ioprio_set, 9, -1, 3 << 13));
}

static void do_ioprio_get(void)
{
	CALL(ioprio_set, 1, 0, 2 << 13 | 5);
	say("ioprio_get res=%ld ioprio=16389(IOPRIO_CLASS_BE|5) which=1 who=0",
	    CALL(ioprio_get, 1, 0));
	say("ioprio_get res=%ld ioprio=<NA> which=9 who=0", CALL(ioprio_get, 9, 0));
}

static void do_getcpu(void)
{
	unsigned int cpu = 0, node = 0;
	const long res = CALL(getcpu, P(&cpu), P(&node), 0L);

	say("getcpu res=%ld cpu=%u node=%u", res, cpu, node);
	say("getcpu res=%ld cpu=<NA> node=<NA>", CALL(getcpu, 1L, 1L, 0L));
}

/* clang-format off */
const struct call_case cases_sched[] = {
	{"sched_yield", do_sched_yield},
	{"getpriority", do_getpriority},
	{"setpriority", do_setpriority},
	{"sched_setparam", do_sched_setparam},
	{"sched_getparam", do_sched_getparam},
	{"sched_setscheduler", do_sched_setscheduler},
	{"sched_getscheduler", do_sched_getscheduler},
	{"sched_get_priority_max", do_sched_get_priority_max},
	{"sched_get_priority_min", do_sched_get_priority_min},
	{"sched_rr_get_interval", do_sched_rr_get_interval},
	{"sched_setaffinity", do_sched_setaffinity},
	{"sched_getaffinity", do_sched_getaffinity},
	{"ioprio_set", do_ioprio_set},
	{"ioprio_get", do_ioprio_get},
	{"getcpu", do_getcpu},
	{"sched_setattr", do_sched_setattr},
	{"sched_getattr", do_sched_getattr},
	{NULL, NULL},
};
