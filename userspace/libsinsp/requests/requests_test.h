/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of protocols: a conversation over one connection on the fake source, and the requests
 * that are derived from it, as text. Each byte position at which a stream can be cut gives the same
 * text: talk_check.
 */
#ifndef SINSP_REQUESTS_REQUESTS_TEST_H
#define SINSP_REQUESTS_REQUESTS_TEST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields/request_params.h"
#include "requests.h"
#include "sinsp.h"
#include "testing/engine_fake.h"
#include "testing/test_main.h"

#define I(x) ((int64_t)(x))

/* One message; the bytes need not be one call. */
struct say {
	char from; /* 'c': client, 's': server */
	const char *p;
	size_t n; /* 0: strlen */
	uint8_t peer; /* of a datagram socket: number of the other end */
};

struct talk_opts {
	uint16_t port; /* of the server */
	int client; /* the client is watched, not the server */
	size_t cut; /* each message is two calls, the first with so many bytes; 0: one call */
	size_t snaplen; /* bytes captured of each call; 0: all */
	int no_close;
	int udp;
	int old; /* the connection is older than the capture, and nothing shows its roles */
};

#define TALK_TID 100
#define TALK_FD 7

struct talk {
	struct scap_fake *f;
	struct talk_opts o;
	uint64_t now;
};

static inline uint64_t talk_tick(struct talk *t)
{
	return t->now += 1000;
}

static inline void talk_tuple(uint8_t *p, uint16_t port)
{
	static const uint8_t ips[] = {127, 0, 0, 1};
	const uint16_t client_port = 40000;

	p[0] = 2;
	memcpy(p + 1, ips, 4);
	memcpy(p + 5, &client_port, 2);
	memcpy(p + 7, ips, 4);
	memcpy(p + 11, &port, 2);
}

#define CALL(t, type, ...)                                                                         \
	do {                                                                                       \
		const uint64_t enter_ = talk_tick(t), exit_ = talk_tick(t);                        \
                                                                                                   \
		assert_int_equal(                                                                  \
			scap_fake_add_call((t)->f, enter_, exit_, 0, TALK_TID, type, __VA_ARGS__), \
			0);                                                                        \
	} while (0)

static inline void talk_open(struct talk *t)
{
	const struct scap_thread_info info = {.tid = TALK_TID,
					      .pid = TALK_TID,
					      .vtid = TALK_TID,
					      .vpid = TALK_TID,
					      .comm = "prog",
					      .exe = "prog",
					      .cwd = "/"};
	uint8_t tuple[13];

	talk_tuple(tuple, t->o.port);
	assert_int_equal(scap_state_build_thread(scap_fake_state(t->f), &info), 0);
	if (t->o.udp) {
		CALL(t, EVT_SOCKET_X, 4, I(TALK_FD), I(2), I(2), I(0));
	} else if (t->o.client) {
		CALL(t, EVT_SOCKET_X, 4, I(TALK_FD), I(2), I(1), I(0));
		CALL(t, EVT_CONNECT_X, 3, I(0), tuple, sizeof(tuple), I(TALK_FD));
	} else if (!t->o.old) {
		CALL(t, EVT_ACCEPT4_X, 2, I(TALK_FD), tuple, sizeof(tuple));
	}
}

/* Writes the ends of a datagram, from its sender to its receiver. The peer is another client of a
 * server, and another server of a client. */
static inline void talk_ends(uint8_t *p, const struct talk *t, char from, uint8_t peer)
{
	uint8_t ends[13];

	talk_tuple(ends, t->o.port);
	ends[t->o.client ? 10 : 5] += peer;
	*p = *ends;
	memcpy(p + 1, ends + (from == 'c' ? 1 : 7), 6);
	memcpy(p + 7, ends + (from == 'c' ? 7 : 1), 6);
}

static inline void talk_datagram(struct talk *t, const struct say *s)
{
	const size_t n = s->n ? s->n : strlen(s->p);
	const size_t kept = t->o.snaplen && n > t->o.snaplen ? t->o.snaplen : n;
	uint8_t ends[13];

	talk_ends(ends, t, s->from, s->peer);
	if ((s->from == 'c') == !!t->o.client)
		CALL(t, EVT_SENDTO_X, 5, I(n), s->p, kept, I(TALK_FD), I(n), ends, sizeof(ends));
	else
		CALL(t, EVT_RECVFROM_X, 5, I(n), s->p, kept, ends, sizeof(ends), I(TALK_FD), I(n));
}

static inline void talk_bytes(struct talk *t, char from, const char *p, size_t n)
{
	const int out = (from == 'c') == !!t->o.client;
	const size_t kept = t->o.snaplen && n > t->o.snaplen ? t->o.snaplen : n;

	if (!n)
		return;
	if (out)
		CALL(t, EVT_WRITE_X, 4, I(n), p, kept, I(TALK_FD), I(n));
	else
		CALL(t, EVT_READ_X, 4, I(n), p, kept, I(TALK_FD), I(65536));
}

static inline void talk_say(struct talk *t, const struct say *s)
{
	const size_t n = s->n ? s->n : strlen(s->p), cut = t->o.cut < n ? t->o.cut : 0;

	if (t->o.udp) {
		talk_datagram(t, s);
		return;
	}
	talk_bytes(t, s->from, s->p, cut);
	talk_bytes(t, s->from, s->p + cut, n - cut);
}

/* ---- the result ---- */

static inline const char *talk_text(const struct sinsp_evt *evt, unsigned int at)
{
	return evt->params.v[at].len ? (const char *)evt->params.v[at].p : "-";
}

static inline uint64_t talk_number(const struct sinsp_evt *evt, unsigned int at)
{
	const struct scap_param *v = &evt->params.v[at];

	return v->len == 8 ? get_u64(v->p) : v->len ? v->p[0] : 0;
}

static inline void talk_check_times(const struct sinsp_evt *evt)
{
	if (!evt->params.v[REQUEST_P_TTFB].len)
		return;
	assert_int_equal(talk_number(evt, REQUEST_P_LATENCY),
			 talk_number(evt, REQUEST_P_SEND) + talk_number(evt, REQUEST_P_TTFB) +
				 talk_number(evt, REQUEST_P_RECV));
}

/* Appends a line of the request: protocol, kind unless request, method, resource, status, bytes of
 * request and response, error, "cut". */
static inline void talk_put(char *to, size_t sz, const struct sinsp_evt *evt, int client)
{
	static const char *const kinds[] = {"", "oneway ", "connect "};
	const size_t n = strlen(to);
	char status[32] = "-";

	talk_check_times(evt);
	if (evt->params.v[REQUEST_P_STATUS].len)
		snprintf(status, sizeof(status), "%lld",
			 (long long)talk_number(evt, REQUEST_P_STATUS));
	snprintf(to + n, sz - n, "%s %s%s %s %s %llu/%llu%s%s%s\n", talk_text(evt, REQUEST_P_PROTO),
		 kinds[talk_number(evt, REQUEST_P_KIND)], talk_text(evt, REQUEST_P_METHOD),
		 talk_text(evt, REQUEST_P_RESOURCE), status,
		 (unsigned long long)talk_number(evt,
						 client ? REQUEST_P_BYTES_OUT : REQUEST_P_BYTES_IN),
		 (unsigned long long)talk_number(evt,
						 client ? REQUEST_P_BYTES_IN : REQUEST_P_BYTES_OUT),
		 evt->params.v[REQUEST_P_ERROR].len ? " " : "",
		 evt->params.v[REQUEST_P_ERROR].len ? talk_text(evt, REQUEST_P_ERROR) : "",
		 talk_number(evt, REQUEST_P_TRUNCATED) ? " cut" : "");
}

/* Writes the requests of the source to @out, a line each. @fn: called for each; may be NULL. */
static inline void talk_play(struct talk *t, char *out, size_t sz,
			     void (*fn)(const struct sinsp_evt *evt))
{
	const struct sinsp_opts opts = {.sz = sizeof(opts), .derive = SINSP_DERIVE_REQUESTS};
	struct sinsp_requests_stats st;
	struct sinsp_evt evt;
	struct scap *src;
	struct sinsp *s;
	int r;

	*out = 0;
	assert_int_equal(scap_fake_open(&src, t->f), 0);
	assert_int_equal(sinsp_open(&s, src, &opts), 0);
	while ((r = sinsp_next(s, &evt, 0)) == 1) {
		if (evt.raw.type != EVT_REQUEST_E)
			continue;
		assert_int_equal(evt.raw.num, 0);
		talk_put(out, sz, &evt, t->o.client);
		if (fn)
			fn(&evt);
	}
	assert_int_equal(r, -ENODATA);
	sinsp_requests_get_stats(s, &st);
	assert_int_equal(st.memory, 0); /* all has ended */
	sinsp_close(s);
}

/* Adds the conversation to the seeds of requests_fuzz.c, in the folder that SAKER_FUZZ_SEEDS names.
 */
static inline void talk_seed(const struct say *said, const struct talk_opts *o)
{
	const char *dir = getenv("SAKER_FUZZ_SEEDS");
	static unsigned int number;
	char path[4096];
	FILE *to;

	if (!dir || o->cut > 7)
		return;
	snprintf(path, sizeof(path), "%s/%u-%u", dir, o->port, number++);
	to = fopen(path, "w");
	if (!to)
		return;
	putc((o->client ? 1 : 0) | (o->udp ? 2 : 0) | (o->no_close ? 4 : 0) | (o->old ? 8 : 0) |
		     (o->snaplen ? 16 : 0) | (int)o->cut << 5,
	     to);
	putc(0xff, to);
	for (; said->from; said++) {
		const size_t n = said->n ? said->n : strlen(said->p);

		putc((said->from == 's') | said->peer << 1, to);
		fwrite(&(uint16_t){n < 0xffff ? (uint16_t)n : 0xffff}, 2, 1, to);
		fwrite(said->p, n < 0xffff ? n : 0xffff, 1, to);
	}
	fclose(to);
}

static inline void talk_requests(char *out, size_t sz, const struct say *said,
				 const struct talk_opts *o, void (*fn)(const struct sinsp_evt *evt))
{
	struct talk t = {.f = scap_fake_new(), .o = *o, .now = 1000000};

	talk_seed(said, o);
	talk_open(&t);
	for (; said->from; said++)
		talk_say(&t, said);
	if (!o->no_close)
		CALL(&t, EVT_CLOSE_X, 2, I(0), I(TALK_FD));
	talk_play(&t, out, sz, fn);
}

/* Checks the requests of a conversation, watched from both ends, with messages cut in two calls at
 * each position. */
static inline void talk_check(const struct say *said, uint16_t port, const char *want)
{
	static char got[1 << 16];
	size_t most = 0;

	for (const struct say *s = said; s->from; s++) {
		const size_t n = s->n ? s->n : strlen(s->p);

		most = n > most ? n : most;
	}
	for (int client = 0; client < 2; client++)
		for (size_t cut = 0; cut < most; cut++) {
			const struct talk_opts o = {.port = port, .client = client, .cut = cut};

			talk_requests(got, sizeof(got), said, &o, NULL);
			if (strcmp(got, want) != 0)
				fail_msg("client %d, cut at %zu:\n%swant:\n%s", client, cut, got,
					 want);
		}
}

#endif /* SINSP_REQUESTS_REQUESTS_TEST_H */
