/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and bytes of any length, against printf and against one byte at a time. */
#include <inttypes.h>
#include <stdio.h>

#include "field_text.h"
#include "text.h"
#include "text_test.h"
#include "utf8.h"

#define LENGTH_MAX 40

static void check_number(uint64_t v)
{
	char expected[32], text[32];

	snprintf(expected, sizeof(expected), "%" PRIu64, v);
	*put_u64(text, v) = 0;
	assert_string_equal(text, expected);
	snprintf(expected, sizeof(expected), "%09" PRIu64, v % 1000000000);
	*put_9digits(text, (uint32_t)(v % 1000000000)) = 0;
	assert_string_equal(text, expected);
}

static void test_numbers(void **state)
{
	uint64_t power = 1, random = 88172645463325252;

	(void)state;
	for (int i = 0; i < 20; i++, power *= 10) {
		for (uint64_t d = 0; d < 3; d++) {
			check_number(power - d);
			check_number(power + d);
			check_number(power * 9 + d);
		}
	}
	for (uint32_t i = 0; i < 100000; i++)
		check_number(i);
	for (int i = 0; i < 200000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		check_number(random >> random % 64);
	}
	check_number(UINT64_MAX);
}

static int is_ascii(char c)
{
	return c >= 0x20 && c < 0x7f;
}

static size_t as_utf8(char *to, const char *s, size_t n)
{
	size_t at = 0, len;

	for (size_t i = 0; i < n; i += len) {
		len = is_ascii(s[i]) ? 1 : sinsp_utf8_len((const unsigned char *)s + i, n - i);
		if (len)
			memcpy(to + at, s + i, len);
		else
			to[at] = '.';
		at += len ? len : 1;
		len = len ? len : 1;
	}
	return at;
}

static size_t as_json(char *to, const char *s, size_t n)
{
	char *p = to;

	*p++ = '"';
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"' || s[i] == '\\')
			*p++ = '\\';
		if (s[i] == '\n')
			p = put_lit(p, "\\n");
		else if (s[i] == 1)
			p = put_lit(p, "\\u0001");
		else
			*p++ = s[i];
	}
	*p++ = '"';
	return (size_t)(p - to);
}

/* @s lies in memory of its length, and so does what is written: a byte behind is an error of
 * valgrind and of the sanitizers. */
static void check_bytes(struct sinsp_eval *e, const char *s, size_t n)
{
	const struct sinsp_value captured = {.p = s, .len = (uint32_t)n, .type = FIELD_STR};
	const struct sinsp_value made = {.p = s, .len = (uint32_t)n, .type = FIELD_STR, .made = 1};
	char expected[2 * LENGTH_MAX], json[6 * LENGTH_MAX + 2], *to = malloc(n ? n : 1);
	struct sinsp_text text = {0};
	size_t len, at = 0;

	assert_non_null(to);
	len = as_utf8(expected, s, n);
	assert_int_equal(put_utf8(to, s, n) - to, len);
	assert_memory_equal(to, expected, len);
	for (size_t i = 0; i < n; i++)
		if (is_ascii(s[i]))
			json[at++] = s[i];
	assert_int_equal(put_dropping(to, s, n) - to, at);
	assert_memory_equal(to, json, at);
	free(to);

	len = as_json(json, expected, len);
	assert_int_equal(text_end(&text, field_json_put(&text, text_begin(&text, 1), e, &captured)),
			 0);
	assert_int_equal(text.len, len);
	assert_memory_equal(text.p, json, len);
	text.len = 0;
	len = as_json(json, s, n);
	assert_int_equal(text_end(&text, field_json_put(&text, text_begin(&text, 1), e, &made)), 0);
	assert_int_equal(text.len, len);
	assert_memory_equal(text.p, json, len);
	free(text.p);
}

static void test_bytes_of_each_length(void **state)
{
	static const char *const odd[] = {"", "\n", "\x01", "\"", "\\", "\x7f", "\xff", "\xc3\xa9"};
	struct fixture *f = *state;
	struct sinsp_eval e;

	sinsp_eval_init(&e, f->s);
	for (size_t n = 0; n <= LENGTH_MAX; n++) {
		for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
			const size_t n_odd = strlen(odd[i]);

			for (size_t at = 0; at + n_odd <= n; at++) {
				char *s = malloc(n ? n : 1);

				assert_non_null(s);
				for (size_t k = 0; k < n; k++)
					s[k] = (char)('A' + (k + at) % 26);
				memcpy(s + at, odd[i], n_odd);
				check_bytes(&e, s, n);
				free(s);
			}
		}
	}
	sinsp_eval_fini(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_bytes_of_each_length),
	};

	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
