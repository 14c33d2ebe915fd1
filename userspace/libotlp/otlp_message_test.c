/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_message.h"

#include "testing/test_main.h"

static void test_text_becomes_utf8(void **state)
{
	static const char bad[] = "a\xff\xc3\xa9\xc0\x80\xed\xa0\x80\xe2\x82";
	static const char good[] =
		"a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf"
		"\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd";
	struct pb b;

	(void)state;
	pb_init(&b, 100);
	otlp_text(&b, 1, bad, sizeof(bad) - 1);
	assert_int_equal(b.p[1], b.len - 2);
	assert_int_equal(b.len - 2, sizeof(good) - 1);
	assert_memory_equal(b.p + 2, good, sizeof(good) - 1);
	pb_fini(&b);
}

static void test_hostile_responses(void **state)
{
	static const struct {
		const char *p;
		size_t n;
		uint64_t rejected;
	} rows[] = {
		{"", 0, 0},
		{"\x0a\x02\x08\x05", 4, 5},
		{"\x0a\x09\x08\x05\x12\x05"
		 "quota",
		 11, 5},
		{"\x0a\x7f\x08\x05", 4, 0}, /* longer than what there is */
		{"\x0a\x02\x08\x85", 4, 0},
		{"<html>", 6, 0},
		{"\x0a\x02\x08\x05\xff", 5, 0},
		{"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, 0},
		{"\0\0\0\0", 4, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(otlp_response_rejected((const uint8_t *)rows[i].p, rows[i].n),
				 rows[i].rejected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_becomes_utf8),
		cmocka_unit_test(test_hostile_responses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
