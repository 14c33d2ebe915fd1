/* SPDX-License-Identifier: Apache-2.0 */
#include "java_names.h"

#include <stdlib.h>
#include <string.h>

#include "testing/test_main.h"

enum { N_ENTRIES = 300, ROUNDS = 2000, ENTRY_MAX = 11, TABLE_MAX = N_ENTRIES * ENTRY_MAX + 1 };

static char *name_of(const char *class_name, const char *name)
{
	static char text[128];
	const struct java_method m = {(const uint8_t *)class_name, (const uint8_t *)name,
				      strlen(class_name), strlen(name)};
	const char *end = java_put_method(text, &m);

	assert_ptr_equal(end, text + strlen(text) + 1);
	return text;
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(name_of("java/lang/Thread", "run"), "java.lang.Thread.run");
	assert_string_equal(name_of("Main", "<init>"), "Main.<init>");
	assert_string_equal(name_of("a/B$$Lambda$14+0x0000000800c03000", "accept"),
			    "a.B$$Lambda$14.accept");
	assert_string_equal(name_of("a/B", ""), "a.B");
	assert_string_equal(name_of("", "run"), "run");
	assert_string_equal(name_of("", ""), "");
}

/* A table that is written as the format says. */
static struct {
	uint8_t bytes[TABLE_MAX];
	size_t n;
	uint32_t bci[N_ENTRIES], line[N_ENTRIES];
} made;

static void put_number(int32_t v, uint8_t bias)
{
	uint32_t sum = (uint32_t)v << 1 ^ (uint32_t)(v >> 31);
	unsigned int k;

	for (k = 0; k < 4 && sum >= 192u - bias; k++) {
		sum -= 192u - bias;
		made.bytes[made.n++] = (uint8_t)(192 + sum % 64);
		sum /= 64;
	}
	made.bytes[made.n++] = (uint8_t)(sum + bias);
}

static void make(uint8_t bias)
{
	uint32_t bci = 0, line = 0;

	made.n = 0;
	for (size_t i = 0; i < N_ENTRIES; i++) {
		const int32_t bytes = i ? 1 + rand() % 100 : 0,
			      lines = rand() % 400 - (i ? 200 : -9);

		bci += (uint32_t)bytes;
		line += (uint32_t)lines;
		made.bci[i] = bci;
		made.line[i] = line;
		if (bytes < 32 && lines >= 0 && lines < 8 && bytes << 3 | lines &&
		    (bytes << 3 | lines) != 255) {
			made.bytes[made.n++] = (uint8_t)(bytes << 3 | lines);
			continue;
		}
		made.bytes[made.n++] = 255;
		put_number(bytes, bias);
		put_number(lines, bias);
	}
	made.bytes[made.n++] = 0;
}

static void test_lines(void **state)
{
	(void)state;
	for (uint8_t feature = 17; feature <= 21; feature += 4) {
		const struct java_line_table t = {made.bytes, TABLE_MAX, feature};

		make(feature >= 20);
		for (uint32_t bci = 0, i = 0; bci < made.bci[N_ENTRIES - 1] + 50; bci++) {
			while (i + 1 < N_ENTRIES && made.bci[i + 1] <= bci)
				i++;
			assert_int_equal(java_line(&t, bci), made.line[i]);
		}
		assert_int_equal(java_line(&t, 0x10000), 0);
	}
}

/* A table that is cut has lines of what is there, and none behind. One with other bytes is read to
 * its end at most. */
static void test_hostile(void **state)
{
	(void)state;
	make(1);
	for (size_t i = 0; i < ROUNDS; i++) {
		const size_t n = (size_t)rand() % (made.n - 1 - ENTRY_MAX);
		uint8_t *copy = malloc(n + 1);
		const struct java_line_table t = {copy, n, 21};

		assert_non_null(copy);
		memcpy(copy, made.bytes, n);
		assert_int_equal(java_line(&t, made.bci[N_ENTRIES - 1]), 0);
		for (int k = 0; n && k < 4; k++)
			copy[(size_t)rand() % n] = (uint8_t)rand();
		java_line(&t, (uint32_t)rand() % 0x10000);
		free(copy);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
