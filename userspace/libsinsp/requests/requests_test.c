/* SPDX-License-Identifier: Apache-2.0 */
/* Conversations whose bytes, cuts and lengths are changed at random: any protocol may see anything.
 * The sanitizers find what is wrong with memory; here the stream must end, and times must add up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "requests_test.h"

enum { N_TALKS = 3000, N_SAID_MAX = 8, BYTES_MAX = 600 };

static const struct say seeds[] = {
	{'c', "GET /a/1 HTTP/1.1\r\nHost: a\r\n\r\n"},
	{'s', "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
	{'c', "POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"},
	{'s', "HTTP/1.1 100 Continue\r\n\r\n"},
	{'c', "5\r\nhello\r\n0\r\n\r\n"},
	{'s', "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n"},
	{'c', "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2\r\nbb\r\n"},
	{'s', "+OK\r\n"},
	{'c', "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n*1\r\n$4\r\nPING\r\n"},
	{'s', "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n>2\r\n$7\r\nmessage\r\n$1\r\nx\r\n"},
	{'s', "-WRONGTYPE no\r\n%1\r\n+a\r\n*2\r\n:1\r\n_\r\n"},
	{'c', "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"},
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

/* Copies one or two seeds to @to, with a few bytes changed. Returns the number of bytes to use. */
static size_t mutate(char *to, uint32_t *x, const struct say *a)
{
	const struct say *b = &seeds[next_random(x) % (sizeof(seeds) / sizeof(seeds[0]))];
	int n = snprintf(to, BYTES_MAX, "%s%s", a->p, next_random(x) % 3 ? "" : b->p);

	for (uint32_t i = next_random(x) % 4; i && n; i--)
		to[next_random(x) % (uint32_t)n] = "\r\n\0 019-$*:ff"[next_random(x) % 13];
	return next_random(x) % 8 ? (size_t)n : 1 + next_random(x) % (uint32_t)n;
}

static void play(uint32_t seed)
{
	static const uint16_t ports[] = {80, 6379, 443, 9999};
	static char bytes[N_SAID_MAX][BYTES_MAX], out[1 << 16];
	struct say said[N_SAID_MAX + 1] = {0};
	uint32_t x = seed * 2654435761u | 1, n;

	n = 1 + next_random(&x) % N_SAID_MAX;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t at = next_random(&x) % (sizeof(seeds) / sizeof(seeds[0]));

		said[i].from = next_random(&x) % 8 ? seeds[at].from : "cs"[next_random(&x) % 2];
		said[i].n = mutate(bytes[i], &x, &seeds[at]);
		said[i].p = bytes[i];
	}
	talk_requests(
		out, sizeof(out), said,
		&(struct talk_opts){.port = ports[next_random(&x) % 4],
				    .client = next_random(&x) % 2,
				    .cut = next_random(&x) % 40,
				    .snaplen = next_random(&x) % 3 ? 0 : 1 + next_random(&x) % 60,
				    .no_close = next_random(&x) % 2,
				    .old = next_random(&x) % 2},
		NULL);
}

static void test_mutated(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N_TALKS; i++)
		play(i);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutated)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
