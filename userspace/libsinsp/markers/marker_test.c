/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of markers: good, malformed, cut, and random. */
#include "marker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "testing/test_main.h"

/* Parses a copy of exactly @n bytes, so that a sanitizer sees a read beyond its end. */
static int parse(struct marker *m, const char *text, size_t n, int is_cut)
{
	uint8_t *copy = malloc(n ? n : 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, text, n);
	r = sinsp_marker_parse(m, copy, n, is_cut);
	free(copy);
	return r;
}

/* Returns the texts of a list with '|' for each NUL. */
static const char *shown(const struct marker_list *l)
{
	static char out[2][sizeof(l->text) + 1];
	static int turn;
	char *to = out[turn ^= 1];
	uint16_t n = 0;

	for (uint16_t i = 0; i < l->sz; i++) {
		to[i] = l->text[i] ? l->text[i] : '|';
		n += !l->text[i];
	}
	to[l->sz] = 0;
	assert_int_equal(n, l->n);
	return to;
}

static void good_markers(void **state)
{
	static const struct {
		const char *text;
		int is_exit, id_kind;
		int64_t id;
		const char *tags, *args;
	} rows[] = {
		{">:1:a::", 0, MARKER_ID_NUMBER, 1, "a|", ""},
		{">:1:a::\n", 0, MARKER_ID_NUMBER, 1, "a|", ""},
		{"<:t:web.api:k=v:", 1, MARKER_ID_THREAD, 0, "web|api|", "k|v|"},
		{">:p:a:k=v,k2=v2:\n", 0, MARKER_ID_PROCESS, 0, "a|", "k|v|k2|v2|"},
		{">:pp:a:k=:", 0, MARKER_ID_PARENT, 0, "a|", "k||"},
		{">::a::", 0, MARKER_ID_NUMBER, 0, "a|", ""},
		{"[\">\", 12, [\"js\",\"on\"], [{\"k\":\"v\"},{\"l\":\"\"}]]", 0, MARKER_ID_NUMBER,
		 12, "js|on|", "k|v|l||"},
		{"[\"<\", \"pp\", [\"a\"]]\n", 1, MARKER_ID_PARENT, 0, "a|", ""},
		{"[\">\", 1, [\"a\\\\u0000\"]]", 0, MARKER_ID_NUMBER, 1, "a\\u0000|", ""},
		{">:1:::", 0, MARKER_ID_NUMBER, 1, "", ""},
		{">:1:a..b::", 0, MARKER_ID_NUMBER, 1, "a||b|", ""},
		{">:1:a\\.b:k\\=\\:=v\\,\\\\:", 0, MARKER_ID_NUMBER, 1, "a.b|", "k=:|v,\\|"},
		{">:9223372036854775799:a::", 0, MARKER_ID_NUMBER, 9223372036854775799, "a|", ""},
		{">:1:a:u=x=y:", 0, MARKER_ID_NUMBER, 1, "a|", "u|x=y|"},
		{">:1:\xc3\xa9::", 0, MARKER_ID_NUMBER, 1, "\xc3\xa9|", ""},
	};
	struct marker m;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(&m, rows[i].text, strlen(rows[i].text), 0), 1);
		assert_int_equal(m.is_exit, rows[i].is_exit);
		assert_int_equal(m.is_cut, 0);
		assert_int_equal(m.id_kind, rows[i].id_kind);
		assert_int_equal(m.id, rows[i].id);
		assert_string_equal(shown(&m.tags), rows[i].tags);
		assert_string_equal(shown(&m.args), rows[i].args);
	}
}

static void bad_markers(void **state)
{
	static const struct {
		const char *text;
		int r;
	} rows[] = {
		{"", 0},
		{">", 0},
		{">:", 0},
		{"x:1:a::", 0},
		{"> 1:a::", 0},
		{">:1", -EINVAL},
		{"[\">\", 12", -EINVAL},
		{"[\">\", 12, 3]", -EINVAL},
		{"[\">\", \"x\", [\"a\"]]", -EINVAL},
		{"[\">\", -1, [\"a\"]]", -EINVAL},
		{"[\">\", 1e300, [\"a\"]]", -EINVAL},
		{"[\">\", 1, [\"a\", 2]]", -EINVAL},
		{"[\">\", 1, [\"a\"], [{\"k\": 1}]]", -EINVAL},
		{"[\">\", 1, [\"a\"], {\"k\": \"v\"}]", -EINVAL},
		{"[\">\", 1, [\"a\\u0001\"]]", -EINVAL},
		{"[\">\", 1, [\"a\\u0000b\"]]", -EINVAL},
		{"[\">\", 1, [\"a\\\\\\u0000b\"]]", -EINVAL},
		{"[\">\", 1, [[[[[[[[", -EINVAL},
		{">:1:", -EINVAL},
		{">:1:a", -EINVAL},
		{">:1:a:", -EINVAL},
		{">:1:a:k=v", -EINVAL},
		{">:1:a:k=v\n", -EINVAL},
		{">:x:a::", -EINVAL},
		{">:-1:a::", -EINVAL},
		{">:1x:a::", -EINVAL},
		{">:tt:a::", -EINVAL},
		{">:99999999999999999999:a::", -EINVAL},
		{">:1:a\x01z::", -EINVAL},
		{">:1:a\\", -EINVAL},
		{">:1:a:k:", -EINVAL},
		{">:1:a:k=v,:", -EINVAL},
	};
	struct marker m;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(parse(&m, rows[i].text, strlen(rows[i].text), 0), rows[i].r);
	assert_int_equal(parse(&m, ">:1:a\0b::", 9, 0), -EINVAL);
}

/* Each beginning of a marker: its tags are complete or it is an error, and an argument counts when
 * what ends it was captured. */
static void cut_markers(void **state)
{
	static const char text[] = ">:1:a.b:k=v,l=w:";
	struct marker m;

	(void)state;
	for (size_t n = 3; n < sizeof(text) - 1; n++) {
		const int r = parse(&m, text, n, 1);

		if (n < strlen(">:1:a.b:")) {
			assert_int_equal(r, -EMSGSIZE);
			continue;
		}
		assert_int_equal(r, 1);
		assert_int_equal(m.is_cut, 1);
		assert_string_equal(shown(&m.tags), "a|b|");
		assert_string_equal(shown(&m.args), n < strlen(">:1:a.b:k=v,") ? "" : "k|v|");
	}
	assert_int_equal(parse(&m, text, sizeof(text) - 1, 1), 1);
	assert_int_equal(m.is_cut, 0);
}

/* A marker of @n bytes with one long tag or argument. */
static int parse_long(struct marker *m, const char *head, size_t n, const char *tail)
{
	char *text = malloc(n);
	int r;

	assert_non_null(text);
	memset(text, 'x', n);
	memcpy(text, head, strlen(head));
	memcpy(text + n - strlen(tail), tail, strlen(tail));
	r = parse(m, text, n, 0);
	free(text);
	return r;
}

static void long_markers(void **state)
{
	struct marker m;
	char many[3 * 1000];

	(void)state;
	assert_int_equal(parse_long(&m, ">:1:", MARKER_TEXT_MAX, "::"), 1);
	assert_int_equal(parse_long(&m, ">:1:a:k=", MARKER_TEXT_MAX, ":"), 1);
	assert_int_equal(parse_long(&m, ">:1:", MARKER_TEXT_MAX + 1, "::"), -EINVAL);
	assert_int_equal(parse_long(&m, ">:1:", 1 << 20, "::"), -EINVAL);
	memset(many, '.', sizeof(many));
	memcpy(many, ">:1:", 4);
	assert_int_equal(parse(&m, many, sizeof(many), 0), -EINVAL);
	memset(many, ',', sizeof(many));
	memcpy(many, ">:1:a:", 6);
	assert_int_equal(parse(&m, many, sizeof(many), 0), -EINVAL);
}

#define STACK "park.Lsun/misc/Unsafe;run.Ljava/lang/Thread;"

static void markers_of_kindling(void **state)
{
	static const struct {
		const char *text;
		int is_exit, is_whole;
		int64_t id; /* 0: of the thread */
		const char *tags, *args;
	} rows[] = {
		{"kd-txid@4c6e.11!1!", 0, 0, 0, "kd|tx|4c6e.11|", ""},
		{"kd-txid@4c6e.11!0!\n", 1, 0, 0, "kd|tx|4c6e.11|", ""},
		{"kd-txid@4c6e!1!http!/a?b=c!", 0, 0, 0, "kd|tx|4c6e|",
		 "protocol|http|url|/a?b=c|"},
		{"kd-txid@4c6e!1!!/a!", 0, 0, 0, "kd|tx|4c6e|", "url|/a|"},
		{"kd-txin@4!4c6e!17!/a!more!", 0, 0, 0, "kd|tx|4c6e|", "start|17|url|/a|"},
		{"kd-txout@4!4c6e!skywalking!1!0!ab12!", 1, 0, 0, "kd|tx|4c6e|",
		 "apm|skywalking|thread_type|1|error|0|span_id|ab12|"},
		{"kd-span@2500!GET /a!4c6e!", 0, 1, 0, "kd|span|GET /a|",
		 "duration|2500|trace_id|4c6e|"},
		{"kd-span@1!2500!GET /a!4c6e!", 0, 1, 0, "kd|span|GET /a|",
		 "begin|2500|trace_id|4c6e|"},
		{"kd-jf@100!250!13600!f501cc48!UnsafePark!XNIO-1 task-3!150!13529!" STACK "!\\n", 0,
		 1, 13600, "kd|jf|UnsafePark|",
		 "begin|100|end|250|lock|f501cc48|thread|XNIO-1 task-3|holder|13529|stack|" STACK
		 "|"},
		{"kd-tm@13600!http-nio-8080-exec-1!", 0, 1, 13600, "kd|tm|",
		 "name|http-nio-8080-exec-1|"},
	};
	struct marker m;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(&m, rows[i].text, strlen(rows[i].text), 0), 1);
		assert_int_equal(m.is_exit, rows[i].is_exit);
		assert_int_equal(m.is_whole, rows[i].is_whole);
		assert_int_equal(m.is_cut, 0);
		assert_int_equal(m.id_kind, rows[i].id ? MARKER_ID_OTHER_THREAD : MARKER_ID_THREAD);
		assert_int_equal(m.id, rows[i].id);
		assert_string_equal(shown(&m.tags), rows[i].tags);
		assert_string_equal(shown(&m.args), rows[i].args);
	}
}

static void bad_markers_of_kindling(void **state)
{
	static const struct {
		const char *text;
		int r;
	} rows[] = {
		{"kd-", 0},
		{"kd-txid", 0},
		{"kd-other@1!", 0},
		{"kd-txin@3!a!1!", 0},
		{"kd-txid@", -EINVAL},
		{"kd-txid@a!", -EINVAL},
		{"kd-txid@a!1", -EINVAL},
		{"kd-txid@a!2!", -EINVAL},
		{"kd-txid@a!11!", -EINVAL},
		{"kd-txid@a!!", -EINVAL},
		{"kd-txid@a\nb!1!", -EINVAL},
		{"kd-txid@a!1!\x01!", -EINVAL},
		{"kd-span@x!a!b!", -EINVAL},
		{"kd-span@-1!a!b!", -EINVAL},
		{"kd-span@99999999999999999999!a!b!", -EINVAL},
		{"kd-jf@1!2!3!f0!", -EINVAL},
		{"kd-jf@2!1!3!f0!Park!", -EINVAL},
		{"kd-jf@1!2!0!f0!Park!", -EINVAL},
		{"kd-jf@1!2!4294967296!f0!Park!", -EINVAL},
		{"kd-tm@!a!", -EINVAL},
		{"kd-tm@1!a", -EINVAL},
	};
	struct marker m;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(parse(&m, rows[i].text, strlen(rows[i].text), 0), rows[i].r);
	assert_int_equal(parse_long(&m, "kd-txid@", MARKER_TEXT_MAX, "!1!"), 1);
	assert_int_equal(parse_long(&m, "kd-txid@", MARKER_TEXT_MAX + 1, "!1!"), -EINVAL);
	assert_int_equal(parse_long(&m, "kd-txid@a!1!http!", MARKER_TEXT_MAX + 1, "!"), 1);
	assert_string_equal(shown(&m.args), "protocol|http|");
}

/* Each beginning of a marker: what tells its span from others is complete, or it is an error. */
static void cut_markers_of_kindling(void **state)
{
	static const char text[] = "kd-jf@1!2!3!f0!Park!name!1!4!stack!";
	struct marker m;

	(void)state;
	for (size_t n = strlen("kd-jf@"); n < sizeof(text) - 1; n++) {
		const int r = parse(&m, text, n, 1);

		if (n < strlen("kd-jf@1!2!3!f0!Park!")) {
			assert_int_equal(r, -EMSGSIZE);
			continue;
		}
		assert_int_equal(r, 1);
		assert_int_equal(m.is_cut, 1);
		assert_string_equal(shown(&m.tags), "kd|jf|Park|");
		assert_string_equal(shown(&m.args),
				    n < strlen("kd-jf@1!2!3!f0!Park!name!")
					    ? "begin|1|end|2|lock|f0|"
				    : n < strlen("kd-jf@1!2!3!f0!Park!name!1!4!")
					    ? "begin|1|end|2|lock|f0|thread|name|"
					    : "begin|1|end|2|lock|f0|thread|name|holder|4|");
	}
	assert_int_equal(parse(&m, text, sizeof(text) - 1, 1), 1);
	assert_int_equal(m.is_cut, 0);
}

/* Parses @head with random bytes behind it. */
static void parse_random(const char *head, const char *bytes, size_t n_bytes)
{
	struct marker m;
	uint64_t seed = 1;
	char text[80];

	strcpy(text, head);
	for (int i = 0; i < 200000; i++) {
		size_t n = strlen(head);

		for (; n < sizeof(text); n++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			if (seed >> 59 == 0)
				break;
			text[n] = bytes[(seed >> 33) % n_bytes];
		}
		if (parse(&m, text, n, i & 1) == 1) {
			shown(&m.tags);
			shown(&m.args);
			assert_int_equal(m.args.n % 2, 0);
		}
	}
}

static void random_markers(void **state)
{
	static const char simple[] = ">><:::tp019.,==kv\\\n\0\x80\xff",
			  kindling[] = "!!!!019a\n\0\xff";
	static const char *const heads[] = {"kd-txid@", "kd-txin@4!", "kd-txout@4!", "kd-span@1!",
					    "kd-span@", "kd-jf@1!2!", "kd-tm@"};

	(void)state;
	parse_random(">:", simple, sizeof(simple));
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		parse_random(heads[i], kindling, sizeof(kindling));
}

/* A text would end at its NUL; behind the list there may be one. */
static void json_with_nul(void **state)
{
	static const char inside[] = "[\">\", 1, [\"a\0b\"]]", behind[] = "[\">\", 1, [\"a\"]]\0";
	struct marker m;

	(void)state;
	assert_int_equal(parse(&m, inside, sizeof(inside) - 1, 0), -EINVAL);
	assert_int_equal(parse(&m, behind, sizeof(behind) - 1, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_with_nul),
		cmocka_unit_test(good_markers),
		cmocka_unit_test(bad_markers),
		cmocka_unit_test(cut_markers),
		cmocka_unit_test(long_markers),
		cmocka_unit_test(markers_of_kindling),
		cmocka_unit_test(bad_markers_of_kindling),
		cmocka_unit_test(cut_markers_of_kindling),
		cmocka_unit_test(random_markers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
