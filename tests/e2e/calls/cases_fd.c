/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: copies of them, and files that have no name. */
#include "case.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static void do_dup(void)
{
	const int fd = make_file("a", "");

	say("dup res=%ld oldfd=%d", CALL(dup, fd), fd);
	say("dup res=%ld oldfd=-1", CALL(dup, -1));
}

static void do_dup2(void)
{
	const int fd = make_file("a", "");

	say("dup2 res=%ld oldfd=%d newfd=30", CALL(dup2, fd, 30), fd);
	say("dup2 res=%ld oldfd=-1 newfd=30", CALL(dup2, -1, 30));
}

static void do_dup3(void)
{
	const int fd = make_file("a", "");

	say("dup3 res=%ld oldfd=%d newfd=31 flags=4096", CALL(dup3, fd, 31, O_CLOEXEC), fd);
	say("dup3 res=%ld oldfd=%d newfd=%d flags=0", CALL(dup3, fd, fd, 0), fd, fd);
}

static void do_fcntl(void)
{
	const int fd = make_file("a", "");

	say("fcntl res=%ld fd=%d cmd=4 arg=0", CALL(fcntl, fd, F_GETFL, 0), fd);
	say("fcntl res=%ld fd=%d cmd=26 arg=28", CALL(fcntl, fd, F_DUPFD_CLOEXEC, 40), fd);
	say("fcntl res=%ld fd=%d cmd=2 arg=0", CALL(fcntl, fd, F_GETFD, 0), fd);
	say("fcntl res=%ld fd=-1 cmd=2 arg=0", CALL(fcntl, -1, F_GETFD, 0));
	say("fcntl res=%ld fd=%d cmd=0 arg=0 raw_cmd=1034(F_GET_SEALS)", CALL(fcntl, fd, 1034, 0),
	    fd);
	say("fcntl res=%ld fd=%d cmd=0 arg=0 raw_cmd=48", CALL(fcntl, fd, 48, 0), fd);
}

static void do_ioctl(void)
{
	const int fd = make_file("a", "");
	int n;

	say("ioctl res=%ld fd=%d request=541B argument=%lX", CALL(ioctl, fd, 0x541b, P(&n)), fd,
	    P(&n));
	say("ioctl res=%ld fd=%d request=5401 argument=0", CALL(ioctl, fd, 0x5401, 0), fd);
}

static void do_close_range(void)
{
	dup2(make_file("a", ""), 35);
	say("close_range res=%ld first=30 last=40 flags=0", CALL(close_range, 30, 40, 0));
	say("close_range res=%ld first=40 last=30 flags=0", CALL(close_range, 40, 30, 0));
}

static void do_pipe(void)
{
	int p[2];
	const long res = CALL(pipe, P(p));

	say("pipe res=%ld fd1=%d fd2=%d", res, p[0], p[1]);
	say("pipe res=%ld fd1=-1 fd2=-1", CALL(pipe, 1L));
}

static void do_pipe2(void)
{
	int p[2];
	const long res = CALL(pipe2, P(p), O_CLOEXEC | O_NONBLOCK);

	say("pipe2 res=%ld fd1=%d fd2=%d flags=4160", res, p[0], p[1]);
	say("pipe2 res=%ld fd1=-1 fd2=-1 flags=64", CALL(pipe2, 1L, O_NONBLOCK));
	say("pipe2 res=%ld flags=4096 raw_flags=540672(O_DIRECT|O_CLOEXEC)",
	    CALL(pipe2, 1L, O_DIRECT | O_CLOEXEC));
}

static void do_eventfd(void)
{
	say("eventfd res=%ld initval=5", CALL(eventfd, 5));
}

static void do_eventfd2(void)
{
	say("eventfd2 res=%ld flags=4160 initval=6", CALL(eventfd2, 6, O_CLOEXEC | O_NONBLOCK));
	say("eventfd2 res=%ld initval=6 raw_flags=256", CALL(eventfd2, 6, 0x100));
	say("eventfd2 res=%ld initval=7 raw_flags=2049(EFD_SEMAPHORE|EFD_NONBLOCK)",
	    CALL(eventfd2, 7, 1 | O_NONBLOCK));
}

static void do_timerfd_create(void)
{
	say("timerfd_create res=%ld clockid=1", CALL(timerfd_create, CLOCK_MONOTONIC, 0));
	say("timerfd_create res=%ld clockid=99", CALL(timerfd_create, 99, 0));
	say("timerfd_create res=%ld clockid=1 raw_flags=526336(O_NONBLOCK|O_CLOEXEC)",
	    CALL(timerfd_create, CLOCK_MONOTONIC, O_NONBLOCK | O_CLOEXEC));
}

static void do_signalfd(void)
{
	unsigned long mask = 1ul << (SIGUSR1 - 1);

	say("signalfd res=%ld fd=-1 mask=200", CALL(signalfd, -1, P(&mask), 8L));
	say("signalfd res=%ld fd=-1 mask=200", CALL(signalfd, -1, P(&mask), 3L));
}

static void do_signalfd4(void)
{
	unsigned long mask = 1ul << (SIGUSR1 - 1);

	say("signalfd4 res=%ld flags=4096 fd=-1 mask=200",
	    CALL(signalfd4, -1, P(&mask), 8L, O_CLOEXEC));
	say("signalfd4 res=%ld flags=0 fd=77 mask=200", CALL(signalfd4, 77, P(&mask), 8L, 0));
}

static void do_inotify_init(void)
{
	say("inotify_init res=%ld", CALL(inotify_init));
}

static void do_inotify_init1(void)
{
	say("inotify_init1 res=%ld flags=64", CALL(inotify_init1, O_NONBLOCK));
	say("inotify_init1 res=%ld flags=0", CALL(inotify_init1, 1));
}

static void do_memfd_create(void)
{
	say("memfd_create fd=%ld name=mem flags=1", CALL(memfd_create, P("mem"), 1));
	say("memfd_create fd=%ld name=<NA> flags=1", CALL(memfd_create, 1L, 1));
}

static void do_pidfd_open(void)
{
	say("pidfd_open fd=%ld pid=%d", CALL(pidfd_open, getpid(), 0), getpid());
	say("pidfd_open fd=%ld pid=-5", CALL(pidfd_open, -5, 0));
	say("pidfd_open fd=%ld pid=-5 flags=1 raw_flags=2176(PIDFD_NONBLOCK|PIDFD_THREAD)",
	    CALL(pidfd_open, -5, O_NONBLOCK | O_EXCL));
}

static void do_pidfd_getfd(void)
{
	const long pidfd = CALL(pidfd_open, getpid(), 0);
	const int fd = make_file("a", "");

	say("pidfd_getfd fd=%ld pid_fd=%ld target_fd=%d flags=0", CALL(pidfd_getfd, pidfd, fd, 0),
	    pidfd, fd);
	say("pidfd_getfd fd=%ld pid_fd=%ld target_fd=-1 flags=0", CALL(pidfd_getfd, pidfd, -1, 0),
	    pidfd);
}

static void do_userfaultfd(void)
{
	say("userfaultfd res=%ld flags=4096", CALL(userfaultfd, O_CLOEXEC));
	say("userfaultfd res=%ld raw_flags=1073741825(UFFD_USER_MODE_ONLY)",
	    CALL(userfaultfd, 0x40000001));
}

/* clang-format off */
const struct call_case cases_fd[] = {
	{"ioctl", do_ioctl},
	{"pipe", do_pipe},
	{"dup", do_dup},
	{"dup2", do_dup2},
	{"fcntl", do_fcntl},
	{"inotify_init", do_inotify_init},
	{"signalfd", do_signalfd},
	{"timerfd_create", do_timerfd_create},
	{"eventfd", do_eventfd},
	{"signalfd4", do_signalfd4},
	{"eventfd2", do_eventfd2},
	{"dup3", do_dup3},
	{"pipe2", do_pipe2},
	{"inotify_init1", do_inotify_init1},
	{"memfd_create", do_memfd_create},
	{"userfaultfd", do_userfaultfd},
	{"pidfd_open", do_pidfd_open},
	{"close_range", do_close_range},
	{"pidfd_getfd", do_pidfd_getfd},
	{NULL, NULL},
};
