/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/2 and gRPC: streams, header blocks, and what a capture that lacks a part of them still
 * shows. libnghttp2 encodes the header blocks. */
#include <nghttp2/nghttp2.h>

#include "http2_frame.h"
#include "requests_test.h"

enum { N_FIELDS = 16, MESSAGE_MAX = 70000 };

#define END_STREAM HTTP2_F_END_STREAM
#define END_HEADERS HTTP2_F_END_HEADERS
#define WHOLE (HTTP2_F_END_STREAM | HTTP2_F_END_HEADERS)
#define GET_A ":method=GET\n:scheme=http\n:path=/a\n"
#define GRPC                                                                                       \
	":method=POST\n:scheme=http\n:path=/shop.Cart/Add\ncontent-type=application/grpc+proto\n"

/* A conversation with the encoders of both ends. */
struct made {
	nghttp2_hd_deflater *of[2]; /* client, server */
	struct say said[32];
	size_t n;
};

static void make(struct made *m)
{
	memset(m, 0, sizeof(*m));
	for (int i = 0; i < 2; i++)
		assert_int_equal(nghttp2_hd_deflate_new(&m->of[i], 4096), 0);
}

static void unmake(struct made *m)
{
	for (int i = 0; i < 2; i++)
		nghttp2_hd_deflate_del(m->of[i]);
	for (size_t i = 0; i < m->n; i++)
		free((char *)m->said[i].p);
}

/* Begins a message: frames of one call. */
static void say(struct made *m, char from)
{
	assert_true(m->n + 1 < sizeof(m->said) / sizeof(m->said[0]));
	m->said[m->n].from = from;
	m->said[m->n].p = calloc(1, MESSAGE_MAX);
	m->n++;
}

static void add(struct made *m, const void *p, size_t n)
{
	struct say *s = &m->said[m->n - 1];

	assert_true(s->n + n <= MESSAGE_MAX);
	memcpy((char *)s->p + s->n, p, n);
	s->n += n;
}

static void frame(struct made *m, int type, int flags, uint32_t stream, const void *p, size_t n)
{
	const uint8_t head[] = {
		(uint8_t)(n >> 16),      (uint8_t)(n >> 8),      (uint8_t)n,
		(uint8_t)type,           (uint8_t)flags,         (uint8_t)(stream >> 24),
		(uint8_t)(stream >> 16), (uint8_t)(stream >> 8), (uint8_t)stream};

	add(m, head, sizeof(head));
	add(m, p, n);
}

/* Encodes "NAME=VALUE\n" lines. Returns the length of the block. */
static size_t encode(struct made *m, const char *fields, uint8_t *to, size_t sz)
{
	nghttp2_nv nv[N_FIELDS];
	size_t n = 0;
	ssize_t len;

	for (const char *p = fields; *p; p = strchr(p, '\n') + 1, n++) {
		const char *eq = strchr(p, '='), *end = strchr(p, '\n');

		assert_true(n < N_FIELDS);
		nv[n] = (nghttp2_nv){(uint8_t *)p, (uint8_t *)eq + 1, (size_t)(eq - p),
				     (size_t)(end - eq - 1), 0};
	}
	len = nghttp2_hd_deflate_hd(m->of[m->said[m->n - 1].from == 's'], to, sz, nv, n);
	assert_true(len > 0);
	return (size_t)len;
}

static void headers(struct made *m, int flags, uint32_t stream, const char *fields)
{
	uint8_t block[4096];
	const size_t n = encode(m, fields, block, sizeof(block));

	frame(m, HTTP2_HEADERS, flags, stream, block, n);
}

static void data(struct made *m, int flags, uint32_t stream, size_t n)
{
	static const char zeros[MESSAGE_MAX];

	frame(m, HTTP2_DATA, flags, stream, zeros, n);
}

static void words(struct made *m, int type, uint32_t stream, uint32_t a, uint32_t b, int n)
{
	const uint8_t p[] = {(uint8_t)(a >> 24), (uint8_t)(a >> 16), (uint8_t)(a >> 8), (uint8_t)a,
			     (uint8_t)(b >> 24), (uint8_t)(b >> 16), (uint8_t)(b >> 8), (uint8_t)b};

	frame(m, type, 0, stream, p, (size_t)n * 4);
}

/* Begins a connection, and what the client says. */
static void preface(struct made *m)
{
	make(m);
	say(m, 'c');
	add(m, HTTP2_PREFACE, HTTP2_PREFACE_SZ);
	frame(m, HTTP2_SETTINGS, 0, 0, "\0\4\0\1\0\0", 6);
}

/* The requests if the calls are whole, or the text that differs at some cut. */
static void check(struct made *m, const char *want)
{
	talk_check(m->said, 1234, want);
	unmake(m);
}

static void check_with(struct made *m, const struct talk_opts *o, const char *want)
{
	char got[4096];

	talk_requests(got, sizeof(got), m->said, o, NULL);
	assert_string_equal(got, want);
}

/* ---- streams ---- */

static void check_has_no_secret(const struct sinsp_evt *evt)
{
	for (unsigned int i = 0; i < evt->params.n; i++)
		assert_null(memmem(evt->params.v[i].p, evt->params.v[i].len, "secret", 6));
}

static void streams_are_interleaved(void **state)
{
	const struct talk_opts o = {.port = 9};
	struct made m;
	char got[500];

	(void)state;
	preface(&m);
	headers(&m, WHOLE, 1, GET_A);
	headers(&m, END_HEADERS, 3,
		":method=PUT\n:scheme=http\n:path=/b\nauthorization=secret\ncookie=secret\n");
	say(&m, 's');
	frame(&m, HTTP2_SETTINGS, 0, 0, "", 0);
	frame(&m, HTTP2_SETTINGS, HTTP2_F_ACK, 0, "", 0);
	headers(&m, END_HEADERS, 1, ":status=200\nserver=me\n");
	data(&m, 0, 1, 10);
	say(&m, 'c');
	data(&m, END_STREAM, 3, 5);
	words(&m, HTTP2_WINDOW_UPDATE, 1, 10, 0, 1);
	say(&m, 's');
	headers(&m, WHOLE, 3, ":status=404\nserver=me\n");
	words(&m, HTTP2_PING, 0, 1, 2, 2);
	data(&m, END_STREAM, 1, 7);
	talk_requests(got, sizeof(got), m.said, &o, check_has_no_secret);
	check(&m, "http2 PUT /b 404 47/11 404\nhttp2 GET /a 200 15/49\n");
}

static void blocks_have_parts(void **state)
{
	const char *fields = ":method=GET\n:scheme=http\n:path=/long/path/of/it\nx-y=0123456789\n";
	uint8_t block[4096], padded[4096] = {3, 0x80, 0, 0, 0, 15};
	struct made m;
	size_t n;

	(void)state;
	preface(&m);
	n = encode(&m, fields, block, sizeof(block));
	memcpy(padded + 6, block, 5);
	memset(padded + 11, 0, 3);
	frame(&m, HTTP2_HEADERS, HTTP2_F_PADDED | HTTP2_F_PRIORITY | END_STREAM, 1, padded, 14);
	frame(&m, HTTP2_CONTINUATION, 0, 1, block + 5, 1);
	frame(&m, HTTP2_CONTINUATION, 0, 1, "", 0);
	frame(&m, HTTP2_CONTINUATION, END_HEADERS, 1, block + 6, n - 6);
	headers(&m, WHOLE, 3, fields);
	say(&m, 's');
	headers(&m, WHOLE, 3, ":status=204\n");
	headers(&m, END_HEADERS, 1, ":status=200\n");
	frame(&m, HTTP2_DATA, HTTP2_F_PADDED | END_STREAM, 1, "\2ab\0\0", 5);
	check(&m, "http2 GET /long/path/of/it 204 26/10\nhttp2 GET /long/path/of/it 200 75/24\n");
}

static void a_response_follows_100(void **state)
{
	struct made m;

	(void)state;
	preface(&m);
	headers(&m, END_HEADERS, 1, ":method=POST\n:path=/up\n:scheme=http\nexpect=100-continue\n");
	say(&m, 's');
	headers(&m, END_HEADERS, 1, ":status=100\n");
	say(&m, 'c');
	data(&m, END_STREAM, 1, 4);
	say(&m, 's');
	headers(&m, END_HEADERS, 1, ":status=201\n");
	headers(&m, WHOLE, 1, "digest=a\n");
	check(&m, "http2 POST /up 201 39/43\n");
}

static void resets_and_goaway_have_names(void **state)
{
	struct made m;

	(void)state;
	preface(&m);
	for (uint32_t i = 1; i < 10; i += 2)
		headers(&m, WHOLE, i, GET_A);
	say(&m, 's');
	words(&m, HTTP2_RST_STREAM, 1, 7, 0, 1);
	headers(&m, END_HEADERS, 3, ":status=200\n");
	say(&m, 'c');
	words(&m, HTTP2_RST_STREAM, 3, 8, 0, 1);
	say(&m, 's');
	words(&m, HTTP2_GOAWAY, 0, 7, 0, 2);
	headers(&m, WHOLE, 5, ":status=200\n");
	words(&m, HTTP2_GOAWAY, 0, 5, 11, 2);
	check(&m, "http2 GET /a - 15/0 REFUSED_STREAM\nhttp2 GET /a 200 15/10 CANCEL\n"
		  "http2 GET /a - 15/0 GOAWAY\nhttp2 GET /a 200 15/10\n"
		  "http2 GET /a - 15/0 ENHANCE_YOUR_CALM\n");
}

static void promised_responses_are_oneway(void **state)
{
	uint8_t promise[512] = {0, 0, 0, 2};
	struct made m;
	size_t n;

	(void)state;
	preface(&m);
	headers(&m, WHOLE, 1, GET_A);
	say(&m, 's');
	n = encode(&m, ":method=GET\n:scheme=http\n:path=/style.css\n", promise + 4, 500);
	frame(&m, HTTP2_PUSH_PROMISE, END_HEADERS, 1, promise, n + 4);
	headers(&m, WHOLE, 1, ":status=200\n");
	headers(&m, END_HEADERS, 2, ":status=200\n");
	data(&m, END_STREAM, 2, 100);
	check(&m, "http2 GET /a 200 15/10\nhttp2 oneway GET /style.css 200 0/143\n");
}

/* Another thread of the client has the response before the call that sent the request returns. */
static void a_response_may_be_seen_first(void **state)
{
	struct made m;

	(void)state;
	preface(&m);
	say(&m, 's');
	headers(&m, END_HEADERS, 1, ":status=503\n");
	say(&m, 'c');
	headers(&m, WHOLE, 1, GET_A);
	say(&m, 's');
	data(&m, END_STREAM, 1, 3);
	headers(&m, WHOLE, 3, ":status=200\n");
	say(&m, 'c');
	headers(&m, END_HEADERS, 3, ":method=PUT\n:scheme=http\n:path=/b\n");
	data(&m, END_STREAM, 3, 3);
	check(&m, "http2 GET /a 503 15/26 503\nhttp2 PUT /b 200 31/10\n");
}

static void check_is_short(const struct sinsp_evt *evt)
{
	assert_true(talk_number(evt, REQUEST_P_LATENCY) <= 1000);
}

/* The request of a response that was seen first may never be seen: what was is the response. */
static void an_early_response_may_stay_alone(void **state)
{
	struct made m;
	char got[500];

	(void)state;
	preface(&m);
	say(&m, 's');
	frame(&m, HTTP2_SETTINGS, 0, 0, "", 0);
	say(&m, 's');
	words(&m, HTTP2_PING, 0, 1, 2, 2);
	say(&m, 's');
	headers(&m, WHOLE, 1, ":status=200\n");
	talk_requests(got, sizeof(got), m.said, &(struct talk_opts){.port = 9}, check_is_short);
	assert_string_equal(got, "http2 - - 200 0/10 cut\n");
	unmake(&m);
}

static void http1_is_upgraded(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	say(&m, 'c');
	add(&m, "GET /a HTTP/1.1\r\nUpgrade: h2c\r\n\r\n", 33);
	say(&m, 's');
	add(&m, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", 50);
	frame(&m, HTTP2_SETTINGS, 0, 0, "", 0);
	headers(&m, WHOLE, 1, ":status=200\nserver=me\n");
	say(&m, 'c');
	add(&m, HTTP2_PREFACE, HTTP2_PREFACE_SZ);
	headers(&m, WHOLE, 3, GET_A);
	say(&m, 's');
	headers(&m, WHOLE, 3, ":status=200\nserver=me\n");
	check(&m, "http2 GET /a 200 33/64\nhttp2 GET /a 200 15/11\n");
}

/* ---- gRPC ---- */

static void check_call(const struct sinsp_evt *evt)
{
	assert_string_equal(talk_text(evt, REQUEST_P_ERROR_TEXT), "no caf\xc3\xa9 50%!");
	assert_string_equal(talk_text(evt, REQUEST_P_TRACE_ID), "0af7651916cd43dd8448eb211c80319c");
	assert_int_equal(talk_number(evt, REQUEST_P_STREAM), 1);
}

static void calls_end_with_trailers(void **state)
{
	const struct talk_opts o = {.port = 1};
	struct made m;
	char got[500];

	(void)state;
	preface(&m);
	headers(&m, END_HEADERS, 1,
		GRPC "traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n");
	data(&m, END_STREAM, 1, 10);
	say(&m, 's');
	headers(&m, END_HEADERS, 1, ":status=200\ncontent-type=application/grpc\n");
	data(&m, 0, 1, 5);
	data(&m, 0, 1, 5);
	headers(&m, WHOLE, 1, "grpc-status=5\ngrpc-message=no caf%C3%A9 50%!\n");
	talk_requests(got, sizeof(got), m.said, &o, check_call);
	check(&m, "grpc POST /shop.Cart/Add 200 111/97 NOT_FOUND\n");
	preface(&m);
	headers(&m, WHOLE, 1, GRPC);
	headers(&m, WHOLE, 3, GRPC);
	say(&m, 's');
	headers(&m, WHOLE, 1, ":status=200\ncontent-type=application/grpc\ngrpc-status=12\n");
	headers(&m, END_HEADERS, 3, ":status=200\ncontent-type=application/grpc\n");
	headers(&m, WHOLE, 3, "grpc-status=0\n");
	check(&m, "grpc POST /shop.Cart/Add 200 42/36 UNIMPLEMENTED\n"
		  "grpc POST /shop.Cart/Add 200 25/23\n");
}

/* ---- what was not seen ---- */

/* Fields that the table held before the capture are unknown, those that are added to it then are
 * not. */
static void the_middle_of_a_connection_is_recognised(void **state)
{
	const char *first = ":method=PATCH\n:path=/a\n:scheme=http\nx=1\n";
	const char *second = ":method=LINK\n:path=/b\n:scheme=http\nx=1\n";
	uint8_t unseen[4096];
	struct made m;

	(void)state;
	make(&m);
	say(&m, 's');
	encode(&m, ":status=418\nserver=me\n", unseen, sizeof(unseen));
	data(&m, END_STREAM, 5, 4);
	say(&m, 'c');
	encode(&m, first, unseen, sizeof(unseen));
	headers(&m, WHOLE, 7, first);
	say(&m, 's');
	headers(&m, WHOLE, 7, ":status=418\nserver=me\n");
	say(&m, 'c');
	headers(&m, WHOLE, 9, second);
	say(&m, 's');
	headers(&m, WHOLE, 9, ":status=500\nserver=me\n");
	say(&m, 'c');
	headers(&m, WHOLE, 11, first);
	headers(&m, WHOLE, 13, second);
	say(&m, 's');
	headers(&m, WHOLE, 11, ":status=500\nserver=me\n");
	headers(&m, WHOLE, 13, ":status=200\nserver=you\n");
	for (int client = 0; client < 2; client++)
		check_with(&m, &(struct talk_opts){.port = 9, .client = client},
			   "http2 - /a - 16/11 cut\nhttp2 LINK /b 500 21/11 500\n"
			   "http2 - /a 500 16/11 500 cut\nhttp2 LINK /b 200 16/15\n");
	unmake(&m);
}

/* The content of a known frame need not be captured. Behind it a frame with the end may be lost. */
static void bytes_that_were_not_captured_count(void **state)
{
	const struct talk_opts o = {.port = 9, .snaplen = 100};
	struct made m;

	(void)state;
	preface(&m);
	headers(&m, END_HEADERS, 1, ":method=PUT\n:scheme=http\n:path=/a\n");
	data(&m, END_STREAM, 1, 500);
	say(&m, 's');
	headers(&m, END_HEADERS, 1, ":status=200\nserver=me\n");
	data(&m, END_STREAM, 1, 5000);
	say(&m, 'c');
	headers(&m, WHOLE, 3, GET_A);
	say(&m, 's');
	headers(&m, END_HEADERS, 3, ":status=200\nserver=me\n");
	data(&m, 0, 3, 5000);
	data(&m, 0, 3, 5000);
	say(&m, 's');
	data(&m, END_STREAM, 3, 20);
	say(&m, 'c');
	headers(&m, WHOLE, 5, GET_A);
	say(&m, 's');
	headers(&m, END_HEADERS, 5, ":status=206\nserver=me\n");
	data(&m, 0, 5, 5000);
	headers(&m, WHOLE, 5, "t=1\n");
	say(&m, 'c');
	headers(&m, WHOLE, 7, GET_A);
	say(&m, 's');
	headers(&m, WHOLE, 7, ":status=200\nserver=me\n");
	check_with(&m, &o,
		   "http2 PUT /a 200 528/5023\nhttp2 GET /a 200 15/10058\n"
		   "http2 GET /a 206 15/5034 cut\nhttp2 GET /a 200 15/11\n");
	unmake(&m);
}

/* ---- hostile bytes ---- */

static void wrong_blocks_end_nothing(void **state)
{
	static const char *const blocks[] = {"\xff\xff\xff\xff\x7f", "\x3f\xff\xff\xff\x7f", "\x80",
					     "\x40\x81", "\xfe"};
	struct made m;

	(void)state;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		preface(&m);
		frame(&m, HTTP2_HEADERS, WHOLE, 1, blocks[i], strlen(blocks[i]));
		headers(&m, WHOLE, 3, ":method=GET\n:scheme=http\n:path=/\n");
		say(&m, 's');
		headers(&m, WHOLE, 1, ":status=400\n");
		headers(&m, WHOLE, 3, ":status=200\n");
		check_with(&m, &(struct talk_opts){.port = 9},
			   i == 0 || i == 1 ? "http2 - - 400 14/10 400 cut\nhttp2 GET / 200 12/10\n"
			   : i == 3         ? "http2 - - 400 11/10 400 cut\nhttp2 GET / 200 12/10\n"
				    : "http2 - - 400 10/10 400 cut\nhttp2 GET / 200 12/10\n");
		unmake(&m);
	}
}

/* No request is on stream 0, or on one of the server. */
static void wrong_streams_have_no_request(void **state)
{
	static const uint32_t streams[] = {0, 2, 0x80000003};
	struct made m;

	(void)state;
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		preface(&m);
		headers(&m, WHOLE, streams[i], GET_A);
		say(&m, 's');
		headers(&m, WHOLE, streams[i], ":status=200\n");
		check_with(&m, &(struct talk_opts){.port = 9}, "");
		unmake(&m);
	}
}

static void a_block_may_not_end(void **state)
{
	static const char part[16000];
	struct made m;

	(void)state;
	preface(&m);
	frame(&m, HTTP2_HEADERS, 0, 1, "\x82\x04\2/a\0\x7f\xff\xff\xff\x0f", 11);
	for (int i = 0; i < 20; i++) {
		say(&m, 'c');
		frame(&m, HTTP2_CONTINUATION, 0, 1, part, sizeof(part));
	}
	check_with(&m, &(struct talk_opts){.port = 9}, "http2 GET /a - 320200/0 unanswered cut\n");
	unmake(&m);
}

/* An entry of 4000 bytes that each byte refers to. */
static void a_block_may_be_a_bomb(void **state)
{
	static uint8_t block[16000];
	static const uint8_t entry[] = {0x82, 0x44, 0x7f, 0xa1, 0x1e};
	struct made m;

	(void)state;
	memset(block, 0xbe, sizeof(block));
	memcpy(block, entry, sizeof(entry));
	memset(block + sizeof(entry), 'x', 4000);
	preface(&m);
	for (uint32_t i = 1; i < 20; i += 2) {
		say(&m, 'c');
		frame(&m, HTTP2_HEADERS, WHOLE, i, block, sizeof(block));
		say(&m, 's');
		headers(&m, WHOLE, i, ":status=200\n");
	}
	for (int client = 0; client < 2; client++) {
		static char got[100000];

		talk_requests(got, sizeof(got), m.said,
			      &(struct talk_opts){.port = 9, .client = client}, NULL);
		assert_non_null(strstr(got, "http2 GET xxxx"));
	}
	unmake(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_are_interleaved),
		cmocka_unit_test(blocks_have_parts),
		cmocka_unit_test(a_response_follows_100),
		cmocka_unit_test(resets_and_goaway_have_names),
		cmocka_unit_test(promised_responses_are_oneway),
		cmocka_unit_test(a_response_may_be_seen_first),
		cmocka_unit_test(an_early_response_may_stay_alone),
		cmocka_unit_test(http1_is_upgraded),
		cmocka_unit_test(calls_end_with_trailers),
		cmocka_unit_test(the_middle_of_a_connection_is_recognised),
		cmocka_unit_test(bytes_that_were_not_captured_count),
		cmocka_unit_test(wrong_blocks_end_nothing),
		cmocka_unit_test(wrong_streams_have_no_request),
		cmocka_unit_test(a_block_may_not_end),
		cmocka_unit_test(a_block_may_be_a_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
