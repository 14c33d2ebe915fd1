/* SPDX-License-Identifier: Apache-2.0 */
#include "python_lines.h"

#include <string.h>

#include "testing/test_main.h"

/* Of CPython 3.11: def f(x):  # line 7 */
static void test_locations(void **state)
{
	/* RESUME on line 7; a short form on it; two lines further, with columns; no location; a
	 * long form one line back. */
	static const uint8_t table[] = {
		0x80 | 13 << 3 | 0, 0, /* no columns, line + 0, one unit */
		0x80 | 2 << 3 | 1,  0x21, /* short form, two units */
		0x80 | 12 << 3 | 0, 4,    9, /* line + 2 */
		0x80 | 15 << 3 | 2, /* no location, three units */
		0x80 | 14 << 3 | 0, 3,    0, 1, 1 /* long, line - 1 */
	};
	static const uint32_t lines[] = {7, 7, 7, 9, 0, 0, 0, 8, 0};
	const struct python_line_table t = {table, sizeof(table), 7};

	(void)state;
	for (uint32_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(python_line_of_locations(&t, 2 * i), lines[i]);
		assert_int_equal(python_line_of_locations(&t, 2 * i + 1), lines[i]);
	}
}

static void test_ranges(void **state)
{
	static const uint8_t table[] = {4, 0, 6, 2, 2, 0x80, 2, 0xff};
	const struct python_line_table t = {table, sizeof(table), 10};

	(void)state;
	assert_int_equal(python_line_of_ranges(&t, 0), 10);
	assert_int_equal(python_line_of_ranges(&t, 3), 10);
	assert_int_equal(python_line_of_ranges(&t, 4), 12);
	assert_int_equal(python_line_of_ranges(&t, 9), 12);
	assert_int_equal(python_line_of_ranges(&t, 10), 0); /* no line */
	assert_int_equal(python_line_of_ranges(&t, 12), 11);
	assert_int_equal(python_line_of_ranges(&t, 14), 0); /* behind the end */
}

static void test_lnotab(void **state)
{
	static const uint8_t table[] = {0, 1, 6, 1, 8, 0xfe, 255, 0, 45, 3};
	const struct python_line_table t = {table, sizeof(table), 20};

	(void)state;
	assert_int_equal(python_line_of_lnotab(&t, 0), 21);
	assert_int_equal(python_line_of_lnotab(&t, 5), 21);
	assert_int_equal(python_line_of_lnotab(&t, 6), 22);
	assert_int_equal(python_line_of_lnotab(&t, 14), 20);
	assert_int_equal(python_line_of_lnotab(&t, 313), 20);
	assert_int_equal(python_line_of_lnotab(&t, 314), 23);
}

/* Any bytes give some line, or none, and no read outside of the table. */
static void test_garbage(void **state)
{
	uint8_t bytes[64];
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		const struct python_line_table t = {bytes, seed % (sizeof(bytes) + 1), seed};

		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(seed >> 24);
		}
		python_line_of_locations(&t, seed & 1023);
		python_line_of_ranges(&t, seed & 1023);
		python_line_of_lnotab(&t, seed & 1023);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_lnotab),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
