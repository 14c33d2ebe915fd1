/* SPDX-License-Identifier: Apache-2.0 */
/* Conversations whose bytes, cuts and lengths are changed at random: any protocol may see anything.
 * The sanitizers find what is wrong with memory; here the stream must end, and times must add up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "requests.h"
#include "requests_test.h"
#include "state/inspector.h"

#ifdef __SANITIZE_ADDRESS__
#define N_TALKS 1000 /* slower */
#define N_STREAMS 2000
#else
#define N_TALKS 3000
#define N_STREAMS 10000
#endif

enum { N_SAID_MAX = 12, BYTES_MAX = 600 };

#define BYTES(from, text)                                                                          \
	{                                                                                          \
		from, text, sizeof(text) - 1                                                       \
	}

static const struct say seeds[] = {
	{'c', "GET /a/1 HTTP/1.1\r\nHost: a\r\n\r\n"},
	{'s', "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
	{'c', "POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"},
	{'s', "HTTP/1.1 100 Continue\r\n\r\n"},
	{'c', "5\r\nhello\r\n0\r\n\r\n"},
	{'s', "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n"},
	BYTES('c', "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\6\4\0\0\0\0\0\0\1\0\0\0\0"
		   "\0\0\6\1\5\0\0\0\1\x82\x86\x44\2/a"),
	BYTES('s', "\0\0\0\4\0\0\0\0\0\0\0\5\1\4\0\0\0\1\x88\x40\1x\1"
		   "\0\0\2\0\1\0\0\0\1hi"),
	BYTES('c', "\0\0\x0e\1\x28\0\0\0\3\1\0\0\0\0\xff\x3f\xe1\x1f\x83\x86\x04\1/\0"
		   "\0\0\2\x09\4\0\0\0\3\xbe\xc0\0\0\4\3\0\0\0\0\1\0\0\0\x08"),
	BYTES('s', "\0\0\6\5\4\0\0\0\1\0\0\0\2\x82\x84\0\0\1\1\4\0\0\0\2\x88"
		   "\0\0\x0a\7\0\0\0\0\0\0\0\0\1\0\0\0\x0bhi"),
	BYTES('s', "\0\0\x10\1\5\0\0\0\3\x88\0\x0bgrpc-status\1"
		   "5\0\0\4\x08\0\0\0\0\0\0\0\1\0"),
	{'c', "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2\r\nbb\r\n"},
	{'s', "+OK\r\n"},
	{'c', "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n*1\r\n$4\r\nPING\r\n"},
	{'s', "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n>2\r\n$7\r\nmessage\r\n$1\r\nx\r\n"},
	{'s', "-WRONGTYPE no\r\n%1\r\n+a\r\n*2\r\n:1\r\n_\r\n"},
	BYTES('c', "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
	{'c', "get a b\r\nset k 0 0 2\r\nhi\r\nmg a v q\r\nmn\r\n"},
	{'s', "VALUE a 0 2\r\nhi\r\nEND\r\nSTORED\r\nVA 2\r\nhi\r\nMN\r\n"},
	BYTES('c', "\x80\x09\0\1\0\0\0\0\0\0\0\1\0\0\0\7\0\0\0\0\0\0\0\0k"),
	BYTES('s', "\x81\x09\0\0\4\0\0\0\0\0\0\6\0\0\0\7\0\0\0\0\0\0\0\0\0\0\0\0hi"),
	BYTES('c', "\0\0\0\x11\0\3\0\0user\0ann\0"),
	BYTES('c', "Q\0\0\0\x1bselect 'a' from t where x"),
	BYTES('c', "P\0\0\0\x10s\0select "
		   "1\0\0\0B\0\0\0\x0d\0s\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\4"),
	BYTES('s', "1\0\0\0\4"
		   "2\0\0\0\4C\0\0\0\x0dSELECT 1\0Z\0\0\0\5I"),
	BYTES('s', "E\0\0\0\x12"
		   "C42P01\0Mno\0\0Z\0\0\0\5E"),
	BYTES('s', "\x20\0\0\0\x0a"
		   "10.11.6\0"
		   "123412345678\0\xfe\xf7\x08\2\0\xff\x81\x15\0\0"),
	BYTES('c', "\x10\0\0\0\3select 1 from t\x06\0\0\0\x16"
		   "do ? "),
	BYTES('c', "\x0a\0\0\0\x17\7\0\0\0\0\1\0\0\0\5\0\0\0\x19\7\0\0\0"),
	BYTES('s', "\x0c\0\0\1\0\7\0\0\0\1\0\1\0\0\0\0\1\0\0\1\1\3\0\0\2"
		   "def\5\0\0\3\xfe\0\0\2\0\2\0\0\4\1x"),
	BYTES('s', "\7\0\0\1\0\0\0\x0a\0\0\0\x0c\0\0\2\xff\x7a\4#42S02bad"),
	BYTES('c', "\0\x22\0\7\1\0\0\1\0\0\0\0\0\1\1a\1B\0\0\1\0\1\0\0\x29\4\xd0\0\0\0\0\0\0"),
	BYTES('s', "\0\x25\0\7\x81\x83\0\1\0\1\0\0\0\0\1a\1b\0\0\1\0\1\xc0\x0c\0\1\0\1\0\0\0\1\0\4"
		   "\x7f\0\0\1"),
	BYTES('c', "\0\7\1\0\0\1\0\0\0\0\0\0\1a\1B\0\0\1\0\1"),
	BYTES('s', "\0\7\x81\x80\0\1\0\1\0\0\0\0\1a\1b\0\0\1\0\1\xc0\x0c\0\6\0\1\0\0\0\1\0\0"),
	BYTES('c', "\1\1\0\1\0\x08\0\0\0\1\1\0\0\0\0\0\1\4\0\1\0\x13\1\0\x0e\3REQUEST_"
		   "METHODGET\0\1\4\0\1\0\0\0\0"),
	BYTES('s', "\1\6\0\1\0\x0d\0\0Status: "
		   "404\n\n\1\7\0\1\0\1\1\0ab\1\3\0\1\0\x08\0\0\0\0\0\0\1\0\0\0"),
	{'c', "CONNECT {\"verbose\": true}\r\nSUB a 1\r\nPUB a b 2\r\nhi\r\nHPUB a 1 "
	      "2\r\nab\r\nPING\r\n"},
	{'s', "INFO {}\r\nMSG a 1 2\r\nhi\r\nHMSG b 1 12 13\r\nNATS/1.0 "
	      "503x\r\n+OK\r\nPONG\r\n-ERR 'x'\r\n"},
	BYTES('c', "\x29\0\0\0\1\0\0\0\0\0\0\0\xdd\7\0\0\0\0\0\0\0\x14\0\0\0\2find\0\2\0\0\0a\0\0\0"
		   "\0\0"),
	BYTES('s', "\x3a\0\0\0\2\0\0\0\1\0\0\0\xdd\7\0\0\0\0\0\0\0\x25\0\0\0\x10ok\0\0\0\0\0\2errms"
		   "g\0\3\0\0\0no\0\x10"
		   "code\0\x0d\0\0\0\0"),
	BYTES('c', "\0\0\0\x1d\0\0\0\7\0\0\0\1\0\2cl\xff\xff\0\1\0\0\0\5\0\0\0\1\0\3top"),
	BYTES('c', "\0\0\0\x1a\0\0\0\x09\0\0\0\1\0\2cl\0\0\0\1\0\0\0\5\2\4two\0"),
	BYTES('s', "\0\0\0\x17\0\0\0\1\0\0\0\1\0\3top\0\0\0\1\0\0\0\0\0\3"),
	BYTES('c', "AMQP\0\0\x09\1\1\0\1\0\0\0\5\0\x55\0\x0a\0\xce"
		   "\1\0\1\0\0\0\x0b\0\x3c\0\x28\0\0\1e\1k\0\xce"
		   "\2\0\1\0\0\0\x1b\0\x3c\0\0\0\0\0\0\0\0\0\2\x20\0\0\0\0\x09\1aS\0\0\0\2xx\xce"
		   "\3\0\1\0\0\0\2hi\xce"),
	BYTES('s', "\1\0\1\0\0\0\4\0\x55\0\x0b\xce\1\0\1\0\0\0\x0d\0\x3c\0\x50\0\0\0\0\0\0\0\1\1"
		   "\xce"
		   "\1\0\2\0\0\0\x13\0\x3c\0\x3c\1t\0\0\0\0\0\0\0\1\0\1e\1k\xce"
		   "\2\0\2\0\0\0\x0e\0\x3c\0\0\0\0\0\0\0\0\0\0\0\0\xce"),
	BYTES('s', "\1\0\1\0\0\0\x0d\0\x14\0\x28\1\x94\2no\0\x3c\0\x28\xce"),
	{'c', "hello"},
	{'s', "world"},
};

static uint32_t next_random(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

/* Appends a seed. Returns the number of bytes. */
static size_t put_seed(char *to, size_t n, const struct say *s)
{
	const size_t len = s->n ? s->n : strlen(s->p);

	assert_true(n + len <= BYTES_MAX);
	memcpy(to + n, s->p, len);
	return n + len;
}

/* Copies one or two seeds to @to, with a few bytes changed. Returns the number of bytes to use. */
static size_t mutate(char *to, uint32_t *x, const struct say *a)
{
	const struct say *b = &seeds[next_random(x) % (sizeof(seeds) / sizeof(seeds[0]))];
	size_t n = put_seed(to, 0, a);

	if (!(next_random(x) % 3))
		n = put_seed(to, n, b);

	for (uint32_t i = next_random(x) % 4; i; i--)
		to[next_random(x) % (uint32_t)n] = "\r\n\0 019-$*:f\xff"[next_random(x) % 13];
	return next_random(x) % 8 ? n : 1 + next_random(x) % (uint32_t)n;
}

static void play(uint32_t seed)
{
	static const uint16_t ports[] = {80, 6379, 50051, 443,   11211, 5432, 3306,
					 53, 9000, 4222,  27017, 9092,  5672, 9999};
	enum { N_PORTS = sizeof(ports) / sizeof(ports[0]) };
	static char bytes[N_SAID_MAX][BYTES_MAX], out[1 << 16];
	struct say said[N_SAID_MAX + 1] = {0};
	uint32_t x = seed * 2654435761u | 1, n;

	n = 1 + next_random(&x) % N_SAID_MAX;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t at = next_random(&x) % (sizeof(seeds) / sizeof(seeds[0]));

		said[i].from = next_random(&x) % 8 ? seeds[at].from : "cs"[next_random(&x) % 2];
		said[i].n = mutate(bytes[i], &x, &seeds[at]);
		said[i].p = bytes[i];
		said[i].peer = (uint8_t)(next_random(&x) % 3);
	}
	talk_requests(
		out, sizeof(out), said,
		&(struct talk_opts){.port = ports[next_random(&x) % N_PORTS],
				    .client = next_random(&x) % 2,
				    .cut = next_random(&x) % 40,
				    .snaplen = next_random(&x) % 3 ? 0 : 1 + next_random(&x) % 60,
				    .no_close = next_random(&x) % 2,
				    .udp = !(next_random(&x) % 5),
				    .old = next_random(&x) % 2},
		NULL);
}

/* The seeds of each protocol, in their order. */
static const struct {
	const char *name;
	uint16_t port;
	uint8_t n_seeds;
	uint8_t udp;
} talks[] = {{"http", 80, 6},      {"http2", 50051, 5},     {"redis", 6379, 5},
	     {"tls", 443, 1},      {"memcached", 11211, 4}, {"pgsql", 5432, 5},
	     {"mysql", 3306, 5},   {"dns", 53, 2},          {"dns", 53, 2, 1},
	     {"fastcgi", 9000, 2}, {"nats", 4222, 2},       {"mongodb", 27017, 2},
	     {"kafka", 9092, 3},   {"amqp", 5672, 3},       {"generic", 9999, 2}};

enum { N_PROTOCOLS = sizeof(talks) / sizeof(talks[0]) };

/* Changes some of the bytes: any values, lengths that are extreme, parts missing or repeated. */
static size_t damage(char *p, size_t n, uint32_t *x)
{
	static const char extremes[][5] = {"\xff\xff\xff\xff", "\x7f\xff\xff\xff", "\0\0\0\0",
					   "\xff\xff\xff\x7f", "9999"};
	const size_t at = next_random(x) % n, len = 1 + next_random(x) % (n - at);

	switch (next_random(x) % 5) {
	case 0:
		p[at] = (char)next_random(x);
		return n;
	case 1:
		memcpy(p + at, extremes[next_random(x) % 5], n - at < 4 ? n - at : 4);
		return n;
	case 2:
		memmove(p + at, p + at + len, n - at - len);
		return n - len ? n - len : n;
	case 3:
		if (n + len > BYTES_MAX)
			return n;
		memmove(p + at + len, p + at, n - at);
		return n + len;
	default:
		return n;
	}
}

/* A conversation of one protocol, again and again, at its port, or at another one. Returns whether
 * the protocol was recognised. */
static int play_protocol(uint32_t seed, size_t number, const struct say *from)
{
	static char bytes[N_SAID_MAX][BYTES_MAX], out[1 << 16];
	struct say said[N_SAID_MAX + 1] = {0};
	uint32_t x = seed * 2654435761u | 1;
	const uint32_t n = talks[number].n_seeds + next_random(&x) % (N_SAID_MAX - 6);
	const char *name = talks[number].name;
	const struct talk_opts o = {.port = next_random(&x) % 4 ? talks[number].port : 7777,
				    .udp = talks[number].udp,
				    .client = next_random(&x) % 2,
				    .cut = next_random(&x) % 2 ? 0 : next_random(&x) % 40,
				    .snaplen = next_random(&x) % 4 ? 0 : 1 + next_random(&x) % 60,
				    .no_close = next_random(&x) % 2,
				    .old = !(next_random(&x) % 4)};

	for (uint32_t i = 0; i < n; i++) {
		const struct say *s = &from[i % talks[number].n_seeds];

		said[i] = (struct say){s->from, bytes[i], put_seed(bytes[i], 0, s), 0};
		for (uint32_t k = next_random(&x) % 3; k; k--)
			said[i].n = damage(bytes[i], said[i].n, &x);
	}
	talk_requests(out, sizeof(out), said, &o, NULL);
	return !strncmp(out, name, strlen(name)) || strstr(out, name);
}

/* Adds a connection with queries of 4 KB, which are not answered. */
static void talk_queries(struct talk *t, int64_t fd, int n_calls)
{
	enum { QUERY_SZ = 4101, N_QUERIES = 15 };
	static char queries[N_QUERIES * QUERY_SZ];
	uint8_t tuple[13];

	for (int i = 0; i < N_QUERIES; i++) {
		char *q = queries + i * QUERY_SZ;

		memset(q, 'a', QUERY_SZ - 1);
		memcpy(q, "Q\0\0\x10\x04select ", 12);
	}
	talk_tuple(tuple, 5432);
	tuple[5] = (uint8_t)fd;
	CALL(t, EVT_ACCEPT4_X, 2, fd, tuple, sizeof(tuple));
	for (int i = 0; i < n_calls; i++)
		CALL(t, EVT_READ_X, 4, I(sizeof(queries)), queries, sizeof(queries), fd, I(65536));
}

/* Open requests with long texts are evicted with their connections. */
static void texts_count_for_the_limit(void **state)
{
	const struct sinsp_opts opts = {.sz = sizeof(opts), .derive = SINSP_DERIVE_REQUESTS};
	struct talk t = {.f = scap_fake_new(), .o = {.port = 5432, .old = 1}, .now = 1000000};
	struct sinsp_requests_stats st = {0};
	struct sinsp_evt evt;
	uint64_t most = 0;
	struct scap *src;
	struct sinsp *s;

	(void)state;
	talk_open(&t);
	for (int fd = 10; fd < 17; fd++)
		talk_queries(&t, fd, 200);
	assert_int_equal(scap_fake_open(&src, t.f), 0);
	assert_int_equal(sinsp_open(&s, src, &opts), 0);
	while (sinsp_next(s, &evt, 0) == 1) {
		sinsp_requests_get_stats(s, &st);
		most = st.memory > most ? st.memory : most;
	}
	assert_true(most > 32 << 20 && most <= 64 << 20);
	assert_true(st.n_evicted_conns > 0 && st.n_evicted_requests > 0);
	assert_int_equal(st.n_conns, 0);
	assert_int_equal(st.memory, 0);
	sinsp_close(s);
}

/* A request that a call ends as it is parsed, which replaces the descriptor, has the time of that.
 */
static void time_does_not_go_back(void **state)
{
	static const char question[] = "GET /a HTTP/1.1\r\n\r\n";
	const struct sinsp_opts opts = {.sz = sizeof(opts), .derive = SINSP_DERIVE_REQUESTS};
	struct talk t = {.f = scap_fake_new(), .o = {.port = 80, .old = 1}, .now = 1000000};
	uint64_t last_ns = 0;
	struct sinsp_evt evt;
	uint8_t tuple[13];
	struct scap *src;
	struct sinsp *s;
	int n = 0;

	(void)state;
	talk_open(&t);
	for (int64_t fd = 10; fd < 12; fd++) {
		talk_tuple(tuple, 80);
		tuple[5] = (uint8_t)fd;
		CALL(&t, EVT_ACCEPT4_X, 2, fd, tuple, sizeof(tuple));
	}
	CALL(&t, EVT_READ_X, 4, I(sizeof(question) - 1), question, sizeof(question) - 1, I(10),
	     I(65536));
	CALL(&t, EVT_DUP2_X, 3, I(10), I(11), I(10));
	assert_int_equal(scap_fake_open(&src, t.f), 0);
	assert_int_equal(sinsp_open(&s, src, &opts), 0);
	while (sinsp_next(s, &evt, 0) == 1) {
		assert_true(evt.raw.ts_ns >= last_ns);
		last_ns = evt.raw.ts_ns;
		n += evt.raw.type == EVT_REQUEST_E;
	}
	assert_int_equal(n, 1);
	sinsp_close(s);
}

static void test_mutated(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N_TALKS; i++)
		play(i);
}

/* Each parser sees as many damaged streams of its own, and drops none of its memory. */
static void test_damaged(void **state)
{
	size_t first = 0, n_found[N_PROTOCOLS] = {0};

	(void)state;
	for (size_t number = 0; number < N_PROTOCOLS; first += talks[number++].n_seeds)
		for (uint32_t i = 0; i < N_STREAMS / N_PROTOCOLS; i++)
			n_found[number] += (size_t)play_protocol(i, number, seeds + first);
	assert_int_equal(first, sizeof(seeds) / sizeof(seeds[0]));
	for (size_t number = 0; number < N_PROTOCOLS; number++) /* most are still recognised */
		assert_true(n_found[number] > N_STREAMS / N_PROTOCOLS / 3);
}

/* An answer, and a second request whose peer resets the connection, by requests of io_uring. */
static void io_uring_moves_bytes(void **state)
{
	enum { SEND = 26, RECV = 27 };
	static const char ask[] = "GET / HTTP/1.1\r\n\r\n";
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	struct talk t = {.f = scap_fake_new(), .o = {.port = 80, .client = 1}};
	char out[1024];
#define DONE(op, res, data, n)                                                                     \
	assert_int_equal(scap_fake_add(t.f, talk_tick(&t), 0, TALK_TID, EVT_IO_URING_COMPLETE_X,   \
				       17, I(res), I(op), I(TALK_FD), I(1), I(0), I(0), "", I(0),  \
				       I(0), I(0), "", (size_t)0, I(0), I(0), I(0), I(300), I(0),  \
				       data, (size_t)(n)),                                         \
			 0)

	(void)state;
	talk_open(&t);
	DONE(SEND, sizeof(ask) - 1, ask, sizeof(ask) - 1);
	DONE(RECV, sizeof(answer) - 1, answer, sizeof(answer) - 1);
	DONE(SEND, sizeof(ask) - 1, ask, sizeof(ask) - 1);
	DONE(RECV, -ECONNRESET, "", 0);
	talk_play(&t, out, sizeof(out), NULL);
	assert_string_equal(out, "http GET / 200 18/38\nhttp GET / - 18/0 reset\n");
#undef DONE
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutated), cmocka_unit_test(test_damaged),
		cmocka_unit_test(io_uring_moves_bytes), cmocka_unit_test(time_does_not_go_back),
		cmocka_unit_test(texts_count_for_the_limit)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
