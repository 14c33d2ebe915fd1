/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, timers and sleep. */
#include "case.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>

static void on_alarm(int sig)
{
	(void)sig;
}

static void do_nanosleep(void)
{
	const struct itimerval soon = {{0, 2000}, {0, 2000}};
	struct timespec ts = {0, 1500000}, bad = {0, -1};

	say("nanosleep res=%ld interval=1500000", CALL(nanosleep, P(&ts), 0L));
	say("nanosleep res=%ld", CALL(nanosleep, P(&bad), 0L));
	say("nanosleep res=%ld interval=<NA>", CALL(nanosleep, 0L, 0L));
	/* The remaining time is stored in the same place. */
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	ts.tv_sec = 20;
	say("nanosleep interval=20001500000(20.0015s)");
	CALL(nanosleep, P(&ts), P(&ts));
}

static void do_clock_nanosleep(void)
{
	const struct timespec ts = {0, 1500000};

	say("clock_nanosleep res=%ld clockid=1 flags=0 request=1500000",
	    CALL(clock_nanosleep, CLOCK_MONOTONIC, 0, P(&ts), 0L));
	say("clock_nanosleep res=%ld clockid=1 flags=1 request=<NA>",
	    CALL(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, 1L, 0L));
}

static long ns(const struct timespec *ts)
{
	return ts->tv_sec * 1000000000 + ts->tv_nsec;
}

static void do_alarm(void)
{
	CALL(alarm, 900);
	say("alarm res=%ld seconds=0", CALL(alarm, 0));
}

static void do_setitimer(void)
{
	const struct itimerval t = {{7, 5}, {800, 0}}, never = {{0, 0}, {0, 0}};
	struct itimerval old, both = {{8, 6}, {900, 0}};

	say("setitimer res=%ld old_interval=<NA> old_value=<NA> which=1(ITIMER_VIRTUAL) "
	    "interval=7000005000 value=800000000000",
	    CALL(setitimer, ITIMER_VIRTUAL, P(&t), 0L));
	say("setitimer res=%ld old_interval=7000005000 which=1 interval=8000006000 "
	    "value=900000000000",
	    CALL(setitimer, ITIMER_VIRTUAL, P(&both), P(&both)));
	say("setitimer res=%ld old_interval=8000006000 which=1 interval=0 value=0",
	    CALL(setitimer, ITIMER_VIRTUAL, P(&never), P(&old)));
	say("setitimer res=%ld old_interval=<NA> which=9 interval=<NA> value=<NA>",
	    CALL(setitimer, 9, 1L, 0L));
}

static void do_getitimer(void)
{
	const struct itimerval t = {{7, 5}, {800, 0}};
	struct itimerval now = {{0, 0}, {0, 0}};
	long res;

	setitimer(ITIMER_PROF, &t, NULL);
	res = CALL(getitimer, ITIMER_PROF, P(&now));
	say("getitimer res=%ld interval=7000005000 value=%ld which=2(ITIMER_PROF)", res,
	    now.it_value.tv_sec * 1000000000 + now.it_value.tv_usec * 1000);
	say("getitimer res=%ld interval=<NA> value=<NA> which=9", CALL(getitimer, 9, P(&now)));
}

static void do_time(void)
{
	long t;

	say("time res=%ld tloc=0", CALL(time, 0L));
	say("time res=%ld tloc=%lX", CALL(time, P(&t)), P(&t));
	say("time res=%ld tloc=1", CALL(time, 1L));
}

/* Returns the printed text without the offset of the zone. */
static const char *date(long sec, long nsec)
{
	static char text[64];
	const time_t t = sec;
	struct tm tm;
	size_t n = strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", localtime_r(&t, &tm));

	n += (size_t)snprintf(text + n, sizeof(text) - n, ".%09ld ", nsec);
	strftime(text + n, sizeof(text) - n, "%z", &tm);
	return text;
}

static void do_gettimeofday(void)
{
	struct timeval tv;
	struct timezone tz;
	const long res = CALL(gettimeofday, P(&tv), P(&tz));

	say("gettimeofday res=%ld time=%s minuteswest=%d dsttime=%d", res,
	    date(tv.tv_sec, tv.tv_usec * 1000), tz.tz_minuteswest, tz.tz_dsttime);
	say("gettimeofday res=%ld time=<NA> minuteswest=<NA> dsttime=<NA>",
	    CALL(gettimeofday, 1L, 0L));
}

/* The clock is not for us to set: refused, whoever we are. */
static void do_settimeofday(void)
{
	const struct timeval bad = {1600000000, 2000000};
	const struct timezone zone = {99999, 3};

	say("settimeofday res=%ld time=%s minuteswest=99999 dsttime=3",
	    CALL(settimeofday, P(&bad), P(&zone)), date(1600000002, 0));
	say("settimeofday res=%ld time=<NA> minuteswest=<NA> dsttime=<NA>",
	    CALL(settimeofday, 1L, 0L));
}

static void do_clock_settime(void)
{
	const struct timespec ts = {1600000000, 5};

	say("clock_settime res=%ld clockid=1(CLOCK_MONOTONIC) time=%s",
	    CALL(clock_settime, CLOCK_MONOTONIC, P(&ts)), date(1600000000, 5));
	say("clock_settime res=%ld clockid=0 time=<NA>", CALL(clock_settime, CLOCK_REALTIME, 1L));
}

static void do_clock_gettime(void)
{
	struct timespec ts;
	const long res = CALL(clock_gettime, CLOCK_THREAD_CPUTIME_ID, P(&ts));

	say("clock_gettime res=%ld time=%ld clockid=3(CLOCK_THREAD_CPUTIME_ID)", res, ns(&ts));
	say("clock_gettime res=%ld time=<NA> clockid=99", CALL(clock_gettime, 99, P(&ts)));
}

static void do_clock_getres(void)
{
	struct timespec ts;
	const long res = CALL(clock_getres, CLOCK_MONOTONIC_COARSE, P(&ts));

	say("clock_getres res=%ld resolution=%ld clockid=6(CLOCK_MONOTONIC_COARSE)", res, ns(&ts));
	say("clock_getres res=%ld resolution=<NA> clockid=0",
	    CALL(clock_getres, CLOCK_REALTIME, 0L));
	say("clock_getres res=%ld resolution=<NA> clockid=99", CALL(clock_getres, 99, P(&ts)));
}

/* Only reads, or requests a change that is refused. */
static void do_adjtimex(void)
{
	struct timex t;
	long res;

	memset(&t, 0, sizeof(t));
	res = CALL(adjtimex, P(&t));
	say("adjtimex res=%ld state=%ld status=%d tick=%ld modes=0", res, res, t.status, t.tick);
	t.modes = ADJ_TICK | ADJ_FREQUENCY;
	t.tick = 1;
	t.freq = -77;
	say("adjtimex res=%ld state=<NA> freq=-77 tick=1 modes=16386(ADJ_FREQUENCY|ADJ_TICK)",
	    CALL(adjtimex, P(&t)));
	say("adjtimex res=%ld state=<NA> offset=<NA> modes=<NA>", CALL(adjtimex, 1L));
}

static void do_clock_adjtime(void)
{
	struct timex t;
	long res;

	memset(&t, 0, sizeof(t));
	res = CALL(clock_adjtime, CLOCK_REALTIME, P(&t));
	say("clock_adjtime res=%ld state=%ld freq=%ld maxerror=%ld esterror=%ld clockid=0 modes=0",
	    res, res, t.freq, t.maxerror, t.esterror);
	t.modes = ADJ_OFFSET;
	say("clock_adjtime res=%ld state=<NA> clockid=1 modes=1(ADJ_OFFSET)",
	    CALL(clock_adjtime, CLOCK_MONOTONIC, P(&t)));
}

/* The kernel's id of a new timer that never fires. */
static int new_timer(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_NONE};
	int id = -1;

	if (CALL(timer_create, CLOCK_MONOTONIC, P(&ev), P(&id)))
		broken("timer_create");
	return id;
}

static const struct itimerspec spec = {{3, 4}, {500, 6}};

static void do_timer_create(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL,
			      .sigev_signo = SIGUSR2,
			      .sigev_value.sival_ptr = (void *)0xfeed};
	int id = 77;
	long res;

	res = CALL(timer_create, CLOCK_BOOTTIME, P(&ev), P(&id));
	say("timer_create res=%ld timerid=%d clockid=7(CLOCK_BOOTTIME) notify=0(SIGEV_SIGNAL) "
	    "signo=12 value=FEED",
	    res, id);
	say("timer_create res=%ld timerid=<NA> clockid=99 notify=<NA> signo=<NA> value=<NA>",
	    CALL(timer_create, 99, 0L, P(&id)));
}

static void do_timer_settime(void)
{
	const int id = new_timer();
	struct itimerspec old;

	CALL(timer_settime, id, 0, P(&spec), 0L);
	say("timer_settime res=%ld old_interval=3000000004 timerid=%d flags=1(TIMER_ABSTIME) "
	    "interval=3000000004 value=500000000006",
	    CALL(timer_settime, id, TIMER_ABSTIME, P(&spec), P(&old)), id);
	say("timer_settime res=%ld old_interval=<NA> old_value=<NA> timerid=9999 flags=0",
	    CALL(timer_settime, 9999, 0, P(&spec), P(&old)));
}

static void do_timer_gettime(void)
{
	const int id = new_timer();
	struct itimerspec now = {{0, 0}, {0, 0}};
	long res;

	CALL(timer_settime, id, 0, P(&spec), 0L);
	res = CALL(timer_gettime, id, P(&now));
	say("timer_gettime res=%ld interval=3000000004 value=%ld timerid=%d", res,
	    ns(&now.it_value), id);
	say("timer_gettime res=%ld interval=<NA> value=<NA> timerid=9999",
	    CALL(timer_gettime, 9999, P(&now)));
}

static void do_timer_getoverrun(void)
{
	const int id = new_timer();

	say("timer_getoverrun res=%ld timerid=%d", CALL(timer_getoverrun, id), id);
	say("timer_getoverrun res=%ld timerid=9999", CALL(timer_getoverrun, 9999));
}

static void do_timer_delete(void)
{
	const int id = new_timer();

	say("timer_delete res=%ld timerid=%d", CALL(timer_delete, id), id);
	say("timer_delete res=%ld timerid=%d", CALL(timer_delete, id), id);
}

static void do_timerfd_settime(void)
{
	const int fd = timerfd_create(CLOCK_REALTIME, 0);
	struct itimerspec old;

	CALL(timerfd_settime, fd, 0, P(&spec), 0L);
	say("timerfd_settime res=%ld old_interval=3000000004 fd=%d "
	    "flags=3(TFD_TIMER_ABSTIME|TFD_TIMER_CANCEL_ON_SET) interval=3000000004 "
	    "value=500000000006",
	    CALL(timerfd_settime, fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, P(&spec),
		 P(&old)),
	    fd);
	say("timerfd_settime res=%ld old_interval=<NA> fd=-1 flags=0 interval=<NA> value=<NA>",
	    CALL(timerfd_settime, -1, 0, 1L, P(&old)));
}

static void do_timerfd_gettime(void)
{
	const int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec now = {{0, 0}, {0, 0}};
	long res;

	timerfd_settime(fd, 0, &spec, NULL);
	res = CALL(timerfd_gettime, fd, P(&now));
	say("timerfd_gettime res=%ld interval=3000000004 value=%ld fd=%d", res, ns(&now.it_value),
	    fd);
	say("timerfd_gettime res=%ld interval=<NA> value=<NA> fd=-1",
	    CALL(timerfd_gettime, -1, P(&now)));
}

/* clang-format off */
const struct call_case cases_time[] = {
	{"nanosleep", do_nanosleep},
	{"clock_nanosleep", do_clock_nanosleep},
	{"getitimer", do_getitimer},
	{"alarm", do_alarm},
	{"setitimer", do_setitimer},
	{"gettimeofday", do_gettimeofday},
	{"adjtimex", do_adjtimex},
	{"settimeofday", do_settimeofday},
	{"time", do_time},
	{"timer_create", do_timer_create},
	{"timer_settime", do_timer_settime},
	{"timer_gettime", do_timer_gettime},
	{"timer_getoverrun", do_timer_getoverrun},
	{"timer_delete", do_timer_delete},
	{"clock_settime", do_clock_settime},
	{"clock_gettime", do_clock_gettime},
	{"clock_getres", do_clock_getres},
	{"timerfd_settime", do_timerfd_settime},
	{"timerfd_gettime", do_timerfd_gettime},
	{"clock_adjtime", do_clock_adjtime},
	{NULL, NULL},
};
