/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for descriptors. */
#include "case.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
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

	say("ppoll res=%ld fds=%d:u4", CALL(ppoll, P(p), 1L, P(&ts), 0L, 8L), s.s[1]);
	say("ppoll res=%ld", CALL(ppoll, P(p), 1L, P(&ts), P(&ts), 3L));
}

static void do_select(void)
{
	struct timeval none = {0, 0};

	say("select res=%ld", CALL(select, 0, 0L, 0L, 0L, P(&none)));
	say("select res=%ld", CALL(select, -1, 0L, 0L, 0L, P(&none)));
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
	struct epoll_event events[4];
	const int fd = epoll_create1(0);

	say("epoll_wait res=%ld maxevents=4", CALL(epoll_wait, fd, P(events), 4, 0));
	say("epoll_wait res=%ld maxevents=-1", CALL(epoll_wait, fd, P(events), -1, 0));
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

/* clang-format off */
const struct call_case cases_wait[] = {
	{"poll", do_poll},
	{"select", do_select},
	{"epoll_create", do_epoll_create},
	{"epoll_wait", do_epoll_wait},
	{"epoll_ctl", do_epoll_ctl},
	{"ppoll", do_ppoll},
	{"epoll_create1", do_epoll_create1},
	{NULL, NULL},
};
