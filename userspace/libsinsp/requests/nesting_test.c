/* SPDX-License-Identifier: Apache-2.0 */
/* A proxy between clients and a server, all on this machine: what is part of what. */
#include "requests_test.h"

enum { CLIENT = 300, PROXY = 100, SERVER = 200, FRONT = 80, BACK = 81 };

#define GET "GET /x HTTP/1.1\r\nHost: h\r\n\r\n"
#define GET_TRACED                                                                                 \
	"GET /x HTTP/1.1\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"  \
	"\r\n\r\n"
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

struct play {
	struct scap_fake *f;
	uint64_t now;
	char out[4096];
};

#define DO(p, tid, type, ...)                                                                      \
	do {                                                                                       \
		(p)->now += 2000;                                                                  \
		assert_int_equal(scap_fake_add_call((p)->f, (p)->now - 1000, (p)->now, 0, tid,     \
						    type, __VA_ARGS__),                            \
				 0);                                                               \
	} while (0)

static void add_thread(struct play *p, int64_t tid, const char *name)
{
	const struct scap_thread_info info = {.tid = tid,
					      .pid = tid,
					      .vtid = tid,
					      .vpid = tid,
					      .comm = name,
					      .exe = name,
					      .cwd = "/"};

	assert_int_equal(scap_state_build_thread(scap_fake_state(p->f), &info), 0);
}

static void begin(struct play *p)
{
	*p = (struct play){.f = scap_fake_new(), .now = 1000000};
	add_thread(p, CLIENT, "client");
	add_thread(p, PROXY, "proxy");
	add_thread(p, SERVER, "server");
}

static void make_tuple(uint8_t *to, uint16_t client_port, uint16_t port)
{
	talk_tuple(to, port);
	memcpy(to + 5, &client_port, 2);
}

static void connect_to(struct play *p, int64_t tid, int64_t fd, uint16_t from, uint16_t port)
{
	uint8_t tuple[13];

	make_tuple(tuple, from, port);
	DO(p, tid, EVT_SOCKET_X, 4, I(fd), I(2), I(1), I(0));
	DO(p, tid, EVT_CONNECT_X, 3, I(0), tuple, sizeof(tuple), I(fd));
}

static void accept_from(struct play *p, int64_t tid, int64_t fd, uint16_t from, uint16_t port)
{
	uint8_t tuple[13];

	make_tuple(tuple, from, port);
	DO(p, tid, EVT_ACCEPT4_X, 2, I(fd), tuple, sizeof(tuple));
}

static void send_text(struct play *p, int64_t tid, int64_t fd, const char *text)
{
	DO(p, tid, EVT_WRITE_X, 4, I(strlen(text)), text, strlen(text), I(fd), I(strlen(text)));
}

static void receive(struct play *p, int64_t tid, int64_t fd, const char *text)
{
	DO(p, tid, EVT_READ_X, 4, I(strlen(text)), text, strlen(text), I(fd), I(65536));
}

/* Plays it: a line for each request, NAME SIDE ID<-PARENT ROOT TRACE. */
static void end(struct play *p, const char *want)
{
	const struct sinsp_opts opts = {.sz = sizeof(opts), .derive = SINSP_DERIVE_REQUESTS};
	struct sinsp_evt evt;
	struct scap *src;
	struct sinsp *s;
	size_t n = 0;

	assert_int_equal(scap_fake_open(&src, p->f), 0);
	assert_int_equal(sinsp_open(&s, src, &opts), 0);
	while (sinsp_next(s, &evt, 0) == 1)
		if (evt.raw.type == EVT_REQUEST_E)
			n += (size_t)snprintf(
				p->out + n, sizeof(p->out) - n, "%s %llu<-%llu %llu %.4s\n",
				talk_number(&evt, REQUEST_P_SIDE) ? "server" : "client",
				(unsigned long long)talk_number(&evt, REQUEST_P_ID),
				(unsigned long long)talk_number(&evt, REQUEST_P_PARENT),
				(unsigned long long)talk_number(&evt, REQUEST_P_ROOT),
				talk_text(&evt, REQUEST_P_PARENT_TRACE));
	sinsp_close(s);
	assert_string_equal(p->out, want);
}

/* The name of a server is known to its client, too, if it has ended before the client reads. */
static void test_ended_peer(void **state)
{
	const struct sinsp_opts opts = {.sz = sizeof(opts), .derive = SINSP_DERIVE_REQUESTS};
	static const char *const names[] = {"client", "server"}; /* by who answers first */
	struct sinsp_evt evt;
	struct scap *src;
	struct sinsp *s;
	struct play p;
	int n = 0;

	(void)state;
	begin(&p);
	connect_to(&p, CLIENT, 3, 40000, FRONT);
	accept_from(&p, SERVER, 4, 40000, FRONT);
	send_text(&p, CLIENT, 3, GET);
	receive(&p, SERVER, 4, GET);
	send_text(&p, SERVER, 4, OK);
	p.now += 1000;
	assert_int_equal(scap_fake_add(p.f, p.now, 0, SERVER, EVT_PROCEXIT_E, 6, I(0), I(0), I(0),
				       I(0), I(0), I(0)),
			 0);
	receive(&p, CLIENT, 3, OK);
	assert_int_equal(scap_fake_open(&src, p.f), 0);
	assert_int_equal(sinsp_open(&s, src, &opts), 0);
	while (sinsp_next(s, &evt, 0) == 1)
		if (evt.raw.type == EVT_REQUEST_E)
			assert_string_equal(talk_text(&evt, REQUEST_P_PEER_PROC), names[n++]);
	assert_int_equal(n, 2);
	sinsp_close(s);
}

static void test_three_tiers(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	connect_to(&p, CLIENT, 3, 40000, FRONT);
	accept_from(&p, PROXY, 7, 40000, FRONT);
	connect_to(&p, PROXY, 8, 41000, BACK);
	accept_from(&p, SERVER, 7, 41000, BACK);
	send_text(&p, CLIENT, 3, GET); /* 1 */
	receive(&p, PROXY, 7, GET); /* 2, of 1 */
	send_text(&p, PROXY, 8, GET); /* 3, of 2 */
	receive(&p, SERVER, 7, GET); /* 4, of 3 */
	send_text(&p, SERVER, 7, OK);
	receive(&p, PROXY, 8, OK);
	send_text(&p, PROXY, 7, OK);
	receive(&p, CLIENT, 3, OK);
	send_text(&p, PROXY, 8, GET); /* 5: it serves nothing any more */
	receive(&p, PROXY, 8, OK);
	end(&p, "server 4<-3 1 -\nclient 3<-2 1 -\nserver 2<-1 1 -\nclient 1<-0 1 -\n"
		"client 5<-0 5 -\n");
}

/* The trace of a header goes on to what has none. */
static void test_trace(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	accept_from(&p, PROXY, 7, 40000, FRONT);
	connect_to(&p, PROXY, 8, 41000, BACK);
	accept_from(&p, SERVER, 7, 41000, BACK);
	receive(&p, PROXY, 7, GET_TRACED); /* 1: its client is elsewhere */
	send_text(&p, PROXY, 8, GET); /* 2 */
	receive(&p, SERVER, 7, GET); /* 3 */
	send_text(&p, SERVER, 7, OK);
	receive(&p, PROXY, 8, OK);
	send_text(&p, PROXY, 7, OK);
	end(&p, "server 3<-2 1 0af7\nclient 2<-1 1 0af7\nserver 1<-0 1 -\n");
}

/* A thread that serves two clients works on what it last read or wrote. */
static void test_event_loop(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	accept_from(&p, PROXY, 7, 40000, FRONT);
	accept_from(&p, PROXY, 9, 40001, FRONT);
	connect_to(&p, PROXY, 8, 41000, BACK);
	connect_to(&p, PROXY, 10, 41001, BACK);
	receive(&p, PROXY, 7, GET); /* 1 */
	send_text(&p, PROXY, 8, GET); /* 2, of 1 */
	receive(&p, PROXY, 9, GET); /* 3 */
	receive(&p, PROXY, 8, OK); /* back to 1 */
	send_text(&p, PROXY, 10, GET); /* 4, of 1 */
	receive(&p, PROXY, 10, OK);
	send_text(&p, PROXY, 7, OK);
	send_text(&p, PROXY, 9, OK);
	end(&p, "client 2<-1 1 -\nclient 4<-1 1 -\nserver 1<-0 1 -\nserver 3<-0 3 -\n");
}

/* It connects for one client, and writes when it has read the request of another one. */
static void test_connect_of_an_event_loop(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	accept_from(&p, PROXY, 7, 40000, FRONT);
	accept_from(&p, PROXY, 9, 40001, FRONT);
	receive(&p, PROXY, 7, GET); /* 1 */
	connect_to(&p, PROXY, 8, 41000, BACK);
	receive(&p, PROXY, 9, GET); /* 2 */
	connect_to(&p, PROXY, 10, 41001, BACK);
	send_text(&p, PROXY, 8, GET); /* 3, of 1 */
	send_text(&p, PROXY, 10, GET); /* 4, of 2 */
	receive(&p, PROXY, 10, OK);
	send_text(&p, PROXY, 9, OK);
	receive(&p, PROXY, 8, OK);
	send_text(&p, PROXY, 7, OK);
	end(&p, "client 4<-2 2 -\nserver 2<-0 2 -\nclient 3<-1 1 -\nserver 1<-0 1 -\n");
}

/* The order of the events of both ends differs from that of the calls. */
static void test_server_is_seen_first(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	connect_to(&p, CLIENT, 3, 40000, FRONT);
	accept_from(&p, SERVER, 7, 40000, FRONT);
	receive(&p, SERVER, 7, GET); /* 1 */
	send_text(&p, CLIENT, 3, GET); /* 2 */
	send_text(&p, SERVER, 7, OK);
	receive(&p, CLIENT, 3, OK);
	end(&p, "server 1<-2 2 -\nclient 2<-0 2 -\n");
}

/* Answers never come: each request is still paired with that at the other end, although more are
 * open than are searched. */
static void test_many_are_open(void **state)
{
	enum { TEXTS = 1500, COMMANDS = 40 };
	const struct sinsp_opts opts = {.sz = sizeof(opts), .derive = SINSP_DERIVE_REQUESTS};
	static char text[COMMANDS * 7 + 1];
	struct sinsp_evt evt;
	struct scap *src;
	struct sinsp *s;
	struct play p;
	size_t n = 0, n_paired = 0;

	(void)state;
	begin(&p);
	for (size_t i = 0; i < COMMANDS; i++)
		memcpy(text + 7 * i, "get a\r\n", 7);
	connect_to(&p, CLIENT, 3, 40000, 11211);
	accept_from(&p, SERVER, 7, 40000, 11211);
	for (size_t i = 0; i < TEXTS; i++) {
		send_text(&p, CLIENT, 3, text);
		receive(&p, SERVER, 7, text);
	}
	assert_int_equal(scap_fake_open(&src, p.f), 0);
	assert_int_equal(sinsp_open(&s, src, &opts), 0);
	while (sinsp_next(s, &evt, 0) == 1) {
		if (evt.raw.type != EVT_REQUEST_E || !talk_number(&evt, REQUEST_P_SIDE))
			continue;
		n++;
		n_paired += talk_number(&evt, REQUEST_P_PARENT) != 0;
	}
	assert_int_equal(n, TEXTS * COMMANDS);
	assert_int_equal(n_paired, n);
	sinsp_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended_peer),
		cmocka_unit_test(test_three_tiers),
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_event_loop),
		cmocka_unit_test(test_connect_of_an_event_loop),
		cmocka_unit_test(test_server_is_seen_first),
		cmocka_unit_test(test_many_are_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
