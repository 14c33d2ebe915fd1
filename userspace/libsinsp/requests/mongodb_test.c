/* SPDX-License-Identifier: Apache-2.0 */
/* MongoDB: commands, errors, one-way messages, responses in any order. */
#include "requests_test.h"

enum { N_BYTES = 4096 };

/* Bytes of messages that are being made. */
struct bytes {
	char p[N_BYTES];
	size_t n;
};

static void put(struct bytes *b, const void *p, size_t n)
{
	assert_true(b->n + n <= sizeof(b->p));
	memcpy(b->p + b->n, p, n);
	b->n += n;
}

static void put_number(struct bytes *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static void put_string(struct bytes *b, const char *name, const char *text)
{
	put(b, "\2", 1);
	put(b, name, strlen(name) + 1);
	put_number(b, (uint32_t)strlen(text) + 1);
	put(b, text, strlen(text) + 1);
}

static void put_int(struct bytes *b, const char *name, uint32_t v)
{
	put(b, "\x10", 1);
	put(b, name, strlen(name) + 1);
	put_number(b, v);
}

static void put_double(struct bytes *b, const char *name, double v)
{
	put(b, "\1", 1);
	put(b, name, strlen(name) + 1);
	put(b, &v, sizeof(v));
}

/* Begins an OP_MSG with one document. Returns where it begins. */
static size_t begin(struct bytes *b, uint32_t id, uint32_t answers, uint32_t flags)
{
	const size_t at = b->n;

	put_number(b, 0);
	put_number(b, id);
	put_number(b, answers);
	put_number(b, 2013);
	put_number(b, flags);
	put(b, "", 1);
	put_number(b, 0);
	return at;
}

static void end(struct bytes *b, size_t at)
{
	uint32_t sz;

	put(b, "", 1);
	sz = (uint32_t)(b->n - at);
	memcpy(b->p + at, &sz, 4);
	sz -= 21;
	memcpy(b->p + at + 21, &sz, 4);
}

static void command(struct bytes *b, uint32_t id, uint32_t flags, const char *name,
		    const char *collection)
{
	const size_t at = begin(b, id, 0, flags);

	put_string(b, name, collection);
	put_string(b, "$db", "test");
	end(b, at);
}

static void ok(struct bytes *b, uint32_t id, uint32_t answers, uint32_t flags)
{
	const size_t at = begin(b, id, answers, flags);

	put_int(b, "n", 1);
	put_double(b, "ok", 1);
	end(b, at);
}

static void error(struct bytes *b, uint32_t answers)
{
	const size_t at = begin(b, 90, answers, 0);

	put_double(b, "ok", 0);
	put_string(b, "errmsg", "no");
	put_int(b, "code", 11000);
	put_string(b, "codeName", "DuplicateKey");
	end(b, at);
}

static void more(struct bytes *b, uint32_t id)
{
	const size_t at = begin(b, id, 0, 1 << 16);

	put_int(b, "getMore", 7);
	put_string(b, "collection", "c");
	end(b, at);
}

static void requests_end(void **state)
{
	static struct bytes a, b, c, d;
	const size_t first = 21 + 4 + 14 + 14 + 1;
	struct say said[] = {{'c', a.p}, {'s', b.p}, {'c', c.p}, {'s', d.p}, {0}};

	(void)state;
	command(&a, 1, 0, "find", "abc");
	assert_int_equal(a.n, first);
	command(&a, 2, 0, "insert", "abc");
	command(&a, 3, 2, "update", "abc");
	error(&b, 2);
	ok(&b, 10, 1, 0);
	more(&c, 4);
	command(&c, 5, 0, "ping", "");
	ok(&d, 11, 4, 2);
	ok(&d, 12, 11, 0);
	said[0].n = a.n;
	said[1].n = b.n;
	said[2].n = c.n;
	said[3].n = d.n;
	talk_check(said, 27017,
		   "mongodb oneway update abc - 56/0\n"
		   "mongodb insert abc 11000 56/90 DuplicateKey\nmongodb find abc 0 54/45\n"
		   "mongodb getMore c 0 57/45\nmongodb ping - - 51/0 unanswered\n");
}

/* At another port; what is behind the kept bytes is unknown, not ok. */
static void cut_responses_are_marked(void **state)
{
	static struct bytes a, b;
	struct say said[] = {{'c', a.p}, {'s', b.p}, {0}};
	char got[300], text[200] = "";
	size_t at;

	(void)state;
	command(&a, 1, 0, "find", "abc");
	at = begin(&b, 10, 1, 0);
	memset(text, 'x', sizeof(text) - 1);
	put_string(&b, "cursor", text);
	put_double(&b, "ok", 1);
	end(&b, at);
	said[0].n = a.n;
	said[1].n = b.n;
	talk_requests(got, sizeof(got), said, &(struct talk_opts){.port = 999, .snaplen = 80},
		      NULL);
	assert_string_equal(got, "mongodb find abc - 54/250 cut\n");
	talk_requests(got, sizeof(got), said, &(struct talk_opts){.port = 999, .client = 1}, NULL);
	assert_string_equal(got, "mongodb find abc 0 54/250\n");
}

/* Begins a document or an array in the message. Returns where. */
static size_t begin_inner(struct bytes *b, uint8_t type, const char *name)
{
	put(b, &type, 1);
	put(b, name, strlen(name) + 1);
	put_number(b, 0);
	return b->n - 4;
}

static void end_inner(struct bytes *b, size_t at)
{
	uint32_t sz;

	put(b, "", 1);
	sz = (uint32_t)(b->n - at);
	memcpy(b->p + at, &sz, 4);
}

/* A response that is ok, with an error of a write: in an array, or not. */
static void write_error(struct bytes *b, uint32_t answers, const char *name, int is_array)
{
	const size_t at = begin(b, 91, answers, 0);
	const size_t outer = is_array ? begin_inner(b, 4, name) : 0;
	const size_t inner = begin_inner(b, 3, is_array ? "0" : name);

	put_int(b, "index", 0);
	put_int(b, "code", is_array ? 11000 : 64);
	if (!is_array)
		put_string(b, "codeName", "WriteConcernFailed");
	put_string(b, "errmsg", "no");
	end_inner(b, inner);
	if (is_array)
		end_inner(b, outer);
	put_double(b, "ok", 1);
	end(b, at);
}

/* At another port, where each end reads the header by a call of its own. */
static void writes_fail(void **state)
{
	static struct bytes a, b, c, d;
	enum { HEADER = 16 };
	const struct talk_opts o = {.port = 999, .cut = HEADER};
	struct say said[] = {{'c', a.p}, {'s', b.p}, {'c', c.p}, {'s', d.p}, {0}};
	char got[300];

	(void)state;
	command(&a, 1, 0, "insert", "abc");
	write_error(&b, 1, "writeErrors", 1);
	command(&c, 2, 0, "update", "abc");
	write_error(&d, 2, "writeConcernError", 0);
	said[0].n = a.n;
	said[1].n = b.n;
	said[2].n = c.n;
	said[3].n = d.n;
	talk_requests(got, sizeof(got), said, &o, NULL);
	assert_string_equal(got, "mongodb insert abc 11000 56/100 11000\n"
				 "mongodb update abc 64 56/131 WriteConcernFailed\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_end),
		cmocka_unit_test(cut_responses_are_marked),
		cmocka_unit_test(writes_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
