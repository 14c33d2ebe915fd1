/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets: on this machine only, and at ports that the kernel chooses. */
#include "case.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

static struct sockaddr_in loopback(int port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return in;
}

static int port_of(int fd)
{
	struct sockaddr_in in;
	socklen_t len = sizeof(in);

	if (getsockname(fd, (struct sockaddr *)&in, &len))
		broken("getsockname");
	return ntohs(in.sin_port);
}

/* A socket that listens, a client connected to it, and what was accepted (-1: nothing was). */
struct tcp {
	int listener, client, server;
	int port, client_port;
};

static struct tcp connect_tcp(int accepted)
{
	struct sockaddr_in in = loopback(0);
	struct tcp t = {.server = -1};

	t.listener = socket(AF_INET, SOCK_STREAM, 0);
	t.client = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(t.listener, (struct sockaddr *)&in, sizeof(in)) || listen(t.listener, 5))
		broken("listen");
	t.port = port_of(t.listener);
	in = loopback(t.port);
	if (connect(t.client, (struct sockaddr *)&in, sizeof(in)))
		broken("connect");
	t.client_port = port_of(t.client);
	if (accepted)
		t.server = accept(t.listener, NULL, NULL);
	return t;
}

static void do_socket(void)
{
	say("socket fd=%ld domain=1 type=524289 proto=0 flags=4096",
	    CALL(socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	say("socket fd=%ld domain=2 type=1 proto=6 flags=0",
	    CALL(socket, AF_INET, SOCK_STREAM, IPPROTO_TCP));
	say("socket fd=%ld domain=2 type=99 proto=0", CALL(socket, AF_INET, 99, 0));
}

static void do_socketpair(void)
{
	int s[2];
	const long res = CALL(socketpair, AF_UNIX, SOCK_DGRAM, 0, P(s));

	say("socketpair res=%ld fd1=%d fd2=%d domain=1 type=2 proto=0", res, s[0], s[1]);
	say("socketpair res=%ld domain=1 type=99 proto=0", CALL(socketpair, AF_UNIX, 99, 0, P(s)));
}

static void do_bind(void)
{
	struct sockaddr_un un = {AF_UNIX, "u.sock"};
	const struct sockaddr_in in = loopback(0);
	const int u = socket(AF_UNIX, SOCK_STREAM, 0), i = socket(AF_INET, SOCK_STREAM, 0);
	long res;

	say("bind res=%ld addr=u.sock fd=%d", CALL(bind, u, P(&un), sizeof(un)), u);
	res = CALL(bind, i, P(&in), sizeof(in));
	say("bind res=%ld addr=127.0.0.1:0 fd=%d local=127.0.0.1:%d", res, i, port_of(i));
	say("bind res=%ld fd=%d", CALL(bind, u, P(&un), sizeof(un)), u);
}

static void do_listen(void)
{
	const struct sockaddr_in in = loopback(0);
	const int s = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(s, (const struct sockaddr *)&in, sizeof(in)))
		broken("bind");
	say("listen res=%ld fd=%d backlog=3 local=127.0.0.1:%d", CALL(listen, s, 3), s, port_of(s));
	say("listen res=%ld fd=-1 backlog=-4", CALL(listen, -1, -4));
}

static void connect_unix(void)
{
	struct sockaddr_un un = {AF_UNIX, "u.sock"}, none = {AF_UNIX, "\0saker-calls"};
	const int a = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0);

	if (bind(a, (struct sockaddr *)&un, sizeof(un)) || listen(a, 3))
		broken("bind");
	say("connect res=%ld tuple=u.sock fd=%d addr=u.sock",
	    CALL(connect, c, P(&un), offsetof(struct sockaddr_un, sun_path) + 7), c);
	say("connect res=%ld tuple=@saker-calls",
	    CALL(connect, socket(AF_UNIX, SOCK_STREAM, 0), P(&none), 2 + 12));
}

static void do_connect(void)
{
	const struct tcp t = connect_tcp(0);
	struct sockaddr_in in = loopback(t.port);
	const int c = socket(AF_INET, SOCK_STREAM, 0);
	const long res = CALL(connect, c, P(&in), sizeof(in));

	say("connect res=%ld tuple=127.0.0.1:%d->127.0.0.1:%d fd=%d addr=127.0.0.1:%d", res,
	    port_of(c), t.port, c, t.port);
	in = loopback(1);
	say("connect res=%ld tuple=127.0.0.1",
	    CALL(connect, socket(AF_INET, SOCK_STREAM, 0), P(&in), sizeof(in)));
	connect_unix();
}

static void do_accept(void)
{
	const struct tcp t = connect_tcp(0);

	say("accept fd=%ld tuple=127.0.0.1:%d->127.0.0.1:%d queuepct=0 queuelen=0 queuemax=5",
	    CALL(accept, t.listener, 0L, 0L), t.client_port, t.port);
	say("accept fd=%ld", CALL(accept, -1, 0L, 0L));
}

static void do_accept4(void)
{
	struct sockaddr_un un = {AF_UNIX, "u.sock"};
	const int a = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0);

	if (bind(a, (struct sockaddr *)&un, sizeof(un)) || listen(a, 3) ||
	    connect(c, (struct sockaddr *)&un, sizeof(un)))
		broken("u.sock");
	say("accept4 fd=%ld tuple=u.sock queuepct=0 queuelen=0 queuemax=3 flags=80000",
	    CALL(accept4, a, 0L, 0L, SOCK_CLOEXEC));
	say("accept4 fd=%ld flags=0", CALL(accept4, -1, 0L, 0L, 0));
}

static void do_getsockname(void)
{
	const struct tcp t = connect_tcp(0);
	struct sockaddr_in in;
	socklen_t len = sizeof(in);

	say("getsockname res=%ld fd=%d addr=127.0.0.1:%d",
	    CALL(getsockname, t.client, P(&in), P(&len)), t.client, t.client_port);
	say("getsockname res=%ld fd=-1", CALL(getsockname, -1, P(&in), P(&len)));
}

static void do_getpeername(void)
{
	const struct tcp t = connect_tcp(0);
	struct sockaddr_in in;
	socklen_t len = sizeof(in);

	say("getpeername res=%ld fd=%d addr=127.0.0.1:%d",
	    CALL(getpeername, t.client, P(&in), P(&len)), t.client, t.port);
	say("getpeername res=%ld fd=%d", CALL(getpeername, t.listener, P(&in), P(&len)),
	    t.listener);
}

static void do_setsockopt(void)
{
	const int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	const struct timeval tv = {2, 500000};

	say("setsockopt res=%ld fd=%d level=1 optname=2 val=1 optlen=4",
	    CALL(setsockopt, s, SOL_SOCKET, SO_REUSEADDR, P(&one), 4L), s);
	say("setsockopt res=%ld fd=%d level=1 optname=20 val=2500000000 optlen=16",
	    CALL(setsockopt, s, SOL_SOCKET, SO_RCVTIMEO, P(&tv), sizeof(tv)), s);
	say("setsockopt res=%ld fd=%d level=0 optname=0 raw_level=0(SOL_IP) raw_optname=2(IP_TTL)",
	    CALL(setsockopt, s, IPPROTO_IP, 2, P(&one), 4L), s);
	say("setsockopt res=%ld fd=%d level=2 optname=0 raw_optname=1(TCP_NODELAY)",
	    CALL(setsockopt, s, IPPROTO_TCP, TCP_NODELAY, P(&one), 4L), s);
	say("setsockopt res=%ld fd=-1 level=1 optname=2 val=1 optlen=4",
	    CALL(setsockopt, -1, SOL_SOCKET, SO_REUSEADDR, P(&one), 4L));
}

static void do_getsockopt(void)
{
	const int s = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = 4;
	int type;

	say("getsockopt res=%ld fd=%d level=1 optname=3 val=1 optlen=4",
	    CALL(getsockopt, s, SOL_SOCKET, SO_TYPE, P(&type), P(&len)), s);
	say("getsockopt res=%ld fd=-1 level=1 optname=3",
	    CALL(getsockopt, -1, SOL_SOCKET, SO_TYPE, P(&type), P(&len)));
	say("getsockopt res=%ld fd=%d level=0 optname=0 raw_level=999 raw_optname=77",
	    CALL(getsockopt, s, 999, 77, P(&type), P(&len)), s);
}

/* Two datagram sockets of IPv6, the second with an address. */
static struct sockaddr_in6 datagram_sockets(int *from, int *to)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	socklen_t len = sizeof(in6);

	*from = socket(AF_INET6, SOCK_DGRAM, 0);
	*to = socket(AF_INET6, SOCK_DGRAM, 0);
	if (bind(*to, (struct sockaddr *)&in6, len))
		skip("no IPv6 on this machine");
	getsockname(*to, (struct sockaddr *)&in6, &len);
	return in6;
}

static void do_sendto(void)
{
	const struct tcp t = connect_tcp(1);
	struct sockaddr_in6 in6;
	int from, to;

	say("sendto res=%ld data=ping fd=%d size=4 tuple=NULL",
	    CALL(sendto, t.client, P("ping"), 4L, 0, 0L, 0L), t.client);
	say("sendto res=%ld fd=-1 size=4", CALL(sendto, -1, P("ping"), 4L, 0, 0L, 0L));
	say("sendto res=%ld fd=-1 size=4 msg_flags=16448(MSG_DONTWAIT|MSG_NOSIGNAL)",
	    CALL(sendto, -1, P("ping"), 4L, MSG_NOSIGNAL | MSG_DONTWAIT, 0L, 0L));
	in6 = datagram_sockets(&from, &to);
	say("sendto res=%ld data=six fd=%d size=3 tuple=->::1:%d",
	    CALL(sendto, from, P("six"), 3L, 0, P(&in6), sizeof(in6)), from, ntohs(in6.sin6_port));
}

static void do_recvfrom(void)
{
	const struct tcp t = connect_tcp(1);
	struct sockaddr_in6 in6, peer;
	socklen_t len = sizeof(peer);
	char b[32];
	int from, to;
	long res;

	send(t.client, "ping", 4, 0);
	say("recvfrom res=%ld data=ping tuple=NULL fd=%d size=32",
	    CALL(recvfrom, t.server, P(b), 32L, 0, 0L, 0L), t.server);
	say("recvfrom res=%ld fd=-1 size=32", CALL(recvfrom, -1, P(b), 32L, 0, 0L, 0L));
	in6 = datagram_sockets(&from, &to);
	sendto(from, "six", 3, 0, (struct sockaddr *)&in6, sizeof(in6));
	memset(b, 'X', sizeof(b)); /* no byte of it was received, though the result is longer */
	res = CALL(recvfrom, to, P(b), 2L, MSG_TRUNC, 0L, 0L);
	say("recvfrom res=%ld data=si fd=%d size=2 msg_flags=32(MSG_TRUNC)", res, to);
	sendto(from, "six", 3, 0, (struct sockaddr *)&in6, sizeof(in6));
	res = CALL(recvfrom, to, P(b), 16L, 0, P(&peer), P(&len));
	say("recvfrom res=%ld data=six tuple=::1:%d->::1:%d fd=%d size=16", res,
	    ntohs(peer.sin6_port), ntohs(in6.sin6_port), to);
}

static void do_sendmsg(void)
{
	const struct tcp t = connect_tcp(1);
	struct iovec v[2] = {{"abc", 3}, {"def", 3}};
	const struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
	char room[CMSG_SPACE(2 * sizeof(int))] = {0};
	const struct msghdr control = {
		.msg_iov = v, .msg_iovlen = 2, .msg_control = room, .msg_controllen = sizeof(room)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&control);
	int u[2], fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, u) || pipe(fds))
		broken("socketpair");
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(fds));
	say("sendmsg res=%ld data=abcdef fd=%d size=6 tuple=NULL",
	    CALL(sendmsg, t.client, P(&m), 0), t.client);
	memcpy(CMSG_DATA(h), fds, sizeof(fds));
	say("sendmsg res=%ld data=abcdef fd=%d size=6 msgcontrol=SCM_RIGHTS:%d(<p>),%d(<p>)",
	    CALL(sendmsg, u[0], P(&control), 0), u[0], fds[0], fds[1]);
	say("sendmsg res=%ld fd=-1 size=6 msg_flags=32768(MSG_MORE)",
	    CALL(sendmsg, -1, P(&m), MSG_MORE));
}

static void do_recvmsg(void)
{
	const struct tcp t = connect_tcp(1);
	char b[32], control[64];
	struct iovec v = {b, sizeof(b)};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};

	send(t.client, "abcdef", 6, 0);
	say("recvmsg res=%ld size=6 data=abcdef tuple=NULL fd=%d",
	    CALL(recvmsg, t.server, P(&m), 0), t.server);
	say("recvmsg res=%ld fd=-1 msg_flags=2(MSG_PEEK)", CALL(recvmsg, -1, P(&m), MSG_PEEK));
}

static void do_sendmmsg(void)
{
	struct iovec v[2] = {{"abc", 3}, {"defgh", 5}};
	struct mmsghdr m[2] = {{{.msg_iov = &v[0], .msg_iovlen = 1}, 0},
			       {{.msg_iov = &v[1], .msg_iovlen = 1}, 0}};
	int s[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, s))
		broken("socketpair");
	say("sendmmsg res=%ld fd=%d size=8 data=abc tuple=NULL messages=3 5:defgh",
	    CALL(sendmmsg, s[0], P(m), 2L, 0), s[0]);
	say("sendmmsg res=%ld fd=-1 size=0 data= msg_flags=1(MSG_OOB)",
	    CALL(sendmmsg, -1, P(m), 2L, MSG_OOB));
}

static void do_recvmmsg(void)
{
	char a[32], b[32];
	struct iovec v[2] = {{a, sizeof(a)}, {b, sizeof(b)}};
	struct mmsghdr m[2] = {{{.msg_iov = &v[0], .msg_iovlen = 1}, 0},
			       {{.msg_iov = &v[1], .msg_iovlen = 1}, 0}};
	int s[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, s) || send(s[0], "first", 5, 0) != 5 ||
	    send(s[0], "2nd", 3, 0) != 3)
		broken("socketpair");
	say("recvmmsg res=%ld fd=%d size=8 data=first tuple=NULL msg_flags=64(MSG_DONTWAIT) "
	    "messages=5 3:2nd",
	    CALL(recvmmsg, s[1], P(m), 2L, MSG_DONTWAIT, 0L), s[1]);
	say("recvmmsg res=%ld fd=-1 size=0 data=", CALL(recvmmsg, -1, P(m), 2L, 0, 0L));
}

static void do_shutdown(void)
{
	const struct tcp t = connect_tcp(1);

	say("shutdown res=%ld fd=%d how=2", CALL(shutdown, t.client, SHUT_RDWR), t.client);
	say("shutdown res=%ld fd=%d how=0", CALL(shutdown, -1, SHUT_RD), -1);
	say("shutdown res=%ld fd=-1 raw_how=9", CALL(shutdown, -1, 9));
}

/* clang-format off */
const struct call_case cases_net[] = {
	{"socket", do_socket},
	{"connect", do_connect},
	{"accept", do_accept},
	{"sendto", do_sendto},
	{"recvfrom", do_recvfrom},
	{"sendmsg", do_sendmsg},
	{"recvmsg", do_recvmsg},
	{"sendmmsg", do_sendmmsg},
	{"recvmmsg", do_recvmmsg},
	{"shutdown", do_shutdown},
	{"bind", do_bind},
	{"listen", do_listen},
	{"getsockname", do_getsockname},
	{"getpeername", do_getpeername},
	{"socketpair", do_socketpair},
	{"setsockopt", do_setsockopt},
	{"getsockopt", do_getsockopt},
	{"accept4", do_accept4},
	{NULL, NULL},
};
