/* SPDX-License-Identifier: Apache-2.0 */
/* Requests from plaintext of TLS, beside the encrypted bytes of the same connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "requests_test.h"

#define SSL 0x5500u
#define GET "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
#define HELLO "\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"
#define SERVER_HELLO "\x16\x03\x03\x00\x05\x02\x00\x00\x01\x00"
#define DATA "\x17\x03\x03\x00\x05zzzzz"

static int64_t fds[3]; /* those of all events with requests */
static unsigned int n_fds;

static void note_fd(const struct sinsp_evt *evt)
{
	if (n_fds < 3)
		fds[n_fds++] = (int64_t)talk_number(evt, REQUEST_P_FD);
}

static void plain(struct talk *t, int out, int64_t fd, const char *p, int64_t res)
{
	assert_int_equal(scap_fake_add(t->f, talk_tick(t), 0, TALK_TID,
				       out ? EVT_TLS_WRITE_X : EVT_TLS_READ_X, 4, res, fd, I(SSL),
				       p, res > 0 ? (size_t)res : 0),
			 0);
}

/* The handshake is a pair of its own, as without --tls. */
static void begin(struct talk *t, int client)
{
	*t = (struct talk){.f = scap_fake_new(), .o = {.port = 9999, .client = client}};
	t->now = 1000000;
	n_fds = 0;
	talk_open(t);
	talk_bytes(t, 'c', HELLO, 10);
	talk_bytes(t, 's', SERVER_HELLO, 10);
}

static void check(struct talk *t, const char *want)
{
	static char got[1 << 16];

	CALL(t, EVT_CLOSE_X, 2, I(0), I(TALK_FD));
	talk_play(t, got, sizeof(got), note_fd);
	assert_string_equal(got, want);
}

#define LEN(text) I(sizeof(text) - 1)

static void test_client(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, 1);
	for (int i = 0; i < 2; i++) {
		talk_bytes(&t, 'c', DATA, 10);
		plain(&t, 1, TALK_FD, GET, LEN(GET));
		plain(&t, 0, TALK_FD, "", -11);
		talk_bytes(&t, 's', DATA, 10);
		plain(&t, 0, TALK_FD, OK, LEN(OK));
	}
	check(&t, "tls - - - 10/10\nhttp GET /a 200 28/40\nhttp GET /a 200 28/40\n");
}

static void test_server(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, 0);
	talk_bytes(&t, 'c', DATA, 10);
	plain(&t, 0, TALK_FD, GET, LEN(GET));
	talk_bytes(&t, 's', DATA, 10);
	plain(&t, 1, TALK_FD, OK, LEN(OK));
	talk_bytes(&t, 'c', DATA, 10);
	check(&t, "tls - - - 10/10\nhttp GET /a 200 28/40\n");
}

/* A memory BIO: the socket is known from the first matched call on. */
static void test_late_socket(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, 1);
	plain(&t, 1, -1, GET, LEN(GET));
	talk_bytes(&t, 'c', DATA, 10);
	talk_bytes(&t, 's', DATA, 10);
	plain(&t, 0, TALK_FD, OK, LEN(OK));
	check(&t, "tls - - - 10/10\nhttp GET /a 200 28/40\n");
	assert_int_equal(n_fds, 2);
	assert_int_equal(fds[1], TALK_FD);
}

static void test_no_socket(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, 1);
	plain(&t, 1, -1, GET, LEN(GET));
	plain(&t, 0, -1, OK, LEN(OK));
	plain(&t, 1, -1, GET, LEN(GET));
	check(&t, "http GET /a 200 28/40\ntls - - - 10/10\nhttp GET /a - 28/0 unfinished\n");
}

static uint32_t next_random(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	return *x ^= *x << 5;
}

/* Plaintext of several connections on one socket and on none, encrypted bytes, and sockets that
 * close, in any order: the stream ends, and the sanitizers find what is wrong with memory. */
static void act_at_random(struct talk *t, uint32_t *x)
{
	static const char *const texts[] = {GET, OK, DATA, HELLO, "x"};
	const char *p = texts[next_random(x) % 5];
	const int64_t n = (int64_t)strlen(p), ssl = SSL + next_random(x) % 3;
	const int64_t fd = next_random(x) & 1 ? TALK_FD : -1;
	uint8_t tuple[13];

	switch (next_random(x) % 8) {
	case 0:
		CALL(t, EVT_CLOSE_X, 2, I(0), I(TALK_FD));
		break;
	case 1:
		talk_tuple(tuple, 9999);
		CALL(t, EVT_ACCEPT4_X, 2, I(TALK_FD), tuple, sizeof(tuple));
		break;
	case 2:
	case 3:
		talk_bytes(t, next_random(x) & 1 ? 'c' : 's', p, (size_t)n);
		break;
	default:
		assert_int_equal(
			scap_fake_add(t->f, talk_tick(t), 0, TALK_TID,
				      next_random(x) & 1 ? EVT_TLS_WRITE_X : EVT_TLS_READ_X, 4, n,
				      fd, ssl, p, (size_t)n),
			0);
	}
}

static void test_random(void **state)
{
	static char got[1 << 16];
	uint32_t x = 1;
	struct talk t;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		begin(&t, i & 1);
		for (int j = 0; j < 30; j++)
			act_at_random(&t, &x);
		talk_play(&t, got, sizeof(got), NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client),      cmocka_unit_test(test_server),
		cmocka_unit_test(test_late_socket), cmocka_unit_test(test_no_socket),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
