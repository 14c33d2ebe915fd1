/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for descriptors. */
#include "case.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

struct pair {
	int s[2];
};

static struct pair socket_pair(void)
{
	struct pair p;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, p.s))
		broken("socketpair");
	return p;
}

static void do_poll(void)
{
	const struct pair s = socket_pair();
	struct pollfd p[3] = {{.fd = -1}, {s.s[0], POLLIN | POLLRDHUP, 0}, {s.s[1], POLLOUT, 0}};

	say("poll res=%ld fds=%d:u4 timeout=-1", CALL(poll, P(p), 3L, -1), s.s[1]);
	p[2].events = 0;
	say("poll res=%ld fds= timeout=0", CALL(poll, P(p), 3L, 0));
}

static void do_ppoll(void)
{
	const struct pair s = socket_pair();
	struct timespec ts = {0, 2000000};
	struct pollfd p[1] = {{s.s[1], POLLOUT, 0}};

	/* The kernel writes the time that is left there, also of a call that did not sleep. */
	say("ppoll res=%ld fds=%d:u4 timeout=2000000(0.002s)",
	    CALL(ppoll, P(p), 1L, P(&ts), 0L, 8L), s.s[1]);
	say("ppoll res=%ld fds=%d:u4 timeout=none", CALL(ppoll, P(p), 1L, 0L, 0L, 8L), s.s[1]);
	say("ppoll res=%ld timeout=<NA>", CALL(ppoll, P(p), 1L, 1L, P(&ts), 3L));
}

static void do_select(void)
{
	const struct pair s = socket_pair();
	struct timeval none = {0, 0}, two = {0, 2000}, long_time = {1000, 0};
	fd_set in, out;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(s.s[0], &in);
	FD_SET(s.s[0], &out);
	say("select res=%ld ready=%d:u4 nfds=64 timeout=0(0s)",
	    CALL(select, 64, P(&in), P(&out), 0L, P(&none)), s.s[0]);
	FD_SET(s.s[0], &in);
	say("select res=%ld ready= nfds=64 timeout=2000000(0.002s)",
	    CALL(select, 64, P(&in), 0L, 0L, P(&two)));
	FD_SET(s.s[0], &out);
	say("select res=%ld ready=%d:u4 nfds=64 timeout=1000000000000(1000s)",
	    CALL(select, 64, 0L, P(&out), 0L, P(&long_time)), s.s[0]);
	say("select res=%ld nfds=-1", CALL(select, -1, 0L, 0L, 0L, 0L));
}

static void do_epoll_create(void)
{
	say("epoll_create res=%ld size=3", CALL(epoll_create, 3));
	say("epoll_create res=%ld size=0", CALL(epoll_create, 0));
}

static void do_epoll_create1(void)
{
	say("epoll_create1 res=%ld flags=1", CALL(epoll_create1, O_CLOEXEC));
	say("epoll_create1 res=%ld", CALL(epoll_create1, 5));
}

static void do_epoll_wait(void)
{
	struct epoll_event events[4], e = {.events = EPOLLIN | EPOLLOUT, .data.u64 = 0xbeef};
	const struct pair s = socket_pair();
	const int fd = epoll_create1(0);

	say("epoll_wait res=%ld maxevents=4 epfd=%d timeout=0",
	    CALL(epoll_wait, fd, P(events), 4, 0), fd);
	epoll_ctl(fd, EPOLL_CTL_ADD, s.s[0], &e);
	e.events = EPOLLIN | EPOLLRDHUP;
	epoll_ctl(fd, EPOLL_CTL_ADD, s.s[1], &e);
	close(s.s[0]);
	say("epoll_wait res=%ld maxevents=4 events=8209(EPOLLIN|EPOLLHUP|EPOLLRDHUP):BEEF epfd=%d "
	    "timeout=-1",
	    CALL(epoll_wait, fd, P(events), 4, -1), fd);
	say("epoll_wait res=%ld maxevents=-1 epfd=%d timeout=0",
	    CALL(epoll_wait, fd, P(events), -1, 0), fd);
}

static void do_epoll_ctl(void)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = 0xfeedbeef};
	const int fd = epoll_create1(0), s = socket_pair().s[0];

	say("epoll_ctl res=%ld epfd=%d op=1 fd=%d events=2147483649 data=FEEDBEEF",
	    CALL(epoll_ctl, fd, EPOLL_CTL_ADD, s, P(&event)), fd, s);
	say("epoll_ctl res=%ld epfd=%d op=2 fd=%d events=<NA> data=<NA>",
	    CALL(epoll_ctl, fd, EPOLL_CTL_DEL, s, 0L), fd, s);
	say("epoll_ctl res=%ld epfd=%d op=9 fd=%d events=<NA> data=<NA>",
	    CALL(epoll_ctl, fd, 9, s, 1L), fd, s);
}

static void do_epoll_pwait(void)
{
	struct epoll_event events[4], e = {.events = EPOLLIN | EPOLLOUT, .data.u64 = 0xbeef};
	const struct pair s = socket_pair();
	const int fd = epoll_create1(0);
	unsigned long mask = 1ul << (SIGUSR1 - 1);

	epoll_ctl(fd, EPOLL_CTL_ADD, s.s[0], &e);
	say("epoll_pwait res=%ld events=4(EPOLLOUT):BEEF epfd=%d maxevents=4 timeout=-1 "
	    "sigmask=[SIGUSR1]",
	    CALL(epoll_pwait, fd, P(events), 4, -1, P(&mask), 8L), fd);
	say("epoll_pwait res=%ld events= epfd=%d maxevents=-1 timeout=0 sigmask=<NA>",
	    CALL(epoll_pwait, fd, P(events), -1, 0, 0L, 8L), fd);
}

static void do_epoll_pwait2(void)
{
	struct timespec ts = {0, 2000000};
	struct epoll_event events[4];
	const int fd = epoll_create1(0);

	say("epoll_pwait2 res=%ld events= epfd=%d maxevents=4 timeout=2000000(0.002s) sigmask=<NA>",
	    CALL(epoll_pwait2, fd, P(events), 4, P(&ts), 0L, 8L), fd);
	say("epoll_pwait2 res=%ld epfd=-1 maxevents=4 timeout=<NA>",
	    CALL(epoll_pwait2, -1, P(events), 4, 0L, 0L, 8L));
}

static void do_pselect6(void)
{
	const struct pair s = socket_pair();
	struct timespec ts = {0, 2000000};
	unsigned long mask = 1ul << (SIGUSR1 - 1);
	const struct {
		unsigned long *mask;
		size_t sz;
	} sig = {&mask, 8};
	fd_set in, out;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(s.s[0], &in);
	FD_SET(s.s[1], &out);
	say("pselect6 res=%ld ready=%d:u4 nfds=200 timeout=2000000(0.002s) sigmask=[SIGUSR1]",
	    CALL(pselect6, 200, P(&in), P(&out), 0L, P(&ts), P(&sig)), s.s[1]);
	FD_SET(s.s[0], &in);
	dup2(s.s[1], 190);
	ts = (struct timespec){0, 2000000};
	FD_ZERO(&out);
	FD_SET(190, &out);
	say("pselect6 res=%ld ready= nfds=190 timeout=2000000(0.002s) sigmask=<NA>",
	    CALL(pselect6, 190, P(&in), P(&out), 0L, P(&ts), 0L));
	FD_SET(s.s[0], &in);
	FD_SET(190, &out);
	say("pselect6 res=%ld ready=190:u4 nfds=191 timeout=<NA> sigmask=<NA>",
	    CALL(pselect6, 191, P(&in), P(&out), 0L, 0L, 0L));
	say("pselect6 res=%ld ready=<NA> nfds=-1 timeout=<NA> sigmask=<NA>",
	    CALL(pselect6, -1, P(&in), 0L, 0L, 0L, 0L));
}

/* clang-format off */
const struct call_case cases_wait[] = {
	{"poll", do_poll},
	{"select", do_select},
	{"epoll_create", do_epoll_create},
	{"epoll_wait", do_epoll_wait},
	{"epoll_ctl", do_epoll_ctl},
	{"ppoll", do_ppoll},
	{"epoll_create1", do_epoll_create1},
	{"epoll_pwait", do_epoll_pwait},
	{"epoll_pwait2", do_epoll_pwait2},
	{"pselect6", do_pselect6},
	{NULL, NULL},
};
