/* SPDX-License-Identifier: Apache-2.0 */
#include "ruby_lines.h"

#include <stdlib.h>
#include <string.h>

#include "testing/test_main.h"

enum { N_INSNS = 2000, N_WORDS = 6 + 4 * 10, ROUNDS = 2000 };

/* A method whose entries begin at random instructions, indexed as the format says. */
static struct {
	uint8_t begins[N_INSNS];
	uint32_t entries[N_INSNS][3];
	uint64_t index[N_WORDS];
	size_t n;
} made;

static void make(void)
{
	uint32_t n = 0;

	memset(&made, 0, sizeof(made));
	for (uint32_t i = 0; i < N_INSNS; i++) {
		const uint32_t bit = (i - 54) % 512;
		uint64_t *block = &made.index[i < 54 ? 0 : 6 + (i - 54) / 512 * 10];

		made.begins[i] = !i || rand() % 3 == 0;
		if (i >= 54 && bit == 0)
			block[0] = n;
		if (i >= 54 && bit && bit % 64 == 0)
			block[1] |= (n - block[0]) << (bit / 64 - 1) * 9;
		if (made.begins[i])
			made.entries[n++][0] = 100 + i;
		if (i < 54)
			made.index[i / 9] |= (uint64_t)n << i % 9 * 7;
		else
			block[2 + bit / 64] |= (uint64_t)made.begins[i] << bit % 64;
	}
	made.n = n;
}

static void test_lines(void **state)
{
	struct ruby_line_table t = {.entries = (uint8_t *)made.entries,
				    .index = (uint8_t *)made.index};
	uint32_t line = 0;

	(void)state;
	make();
	t.n_entries = made.n * sizeof(made.entries[0]);
	t.n_index = sizeof(made.index);
	for (uint32_t i = 0; i < N_INSNS; i++) {
		if (made.begins[i])
			line = 100 + i;
		assert_int_equal(ruby_line(&t, i), line);
	}
	assert_int_equal(ruby_line(&t, UINT32_MAX), 0);
	/* Of an index that is cut, what is left is right. */
	for (t.n_index = 0; t.n_index < sizeof(made.index); t.n_index += 8) {
		line = 0;
		for (uint32_t i = 0; i < N_INSNS; i++) {
			const uint32_t found = ruby_line(&t, i);

			if (made.begins[i])
				line = 100 + i;
			assert_true(!found || found == line);
		}
	}
	t.n_entries = sizeof(made.entries[0]); /* such a table has no index */
	assert_int_equal(ruby_line(&t, 7), 100);
	t.n_entries = 0;
	assert_int_equal(ruby_line(&t, 7), 0);
}

/* Tables that are cut anywhere, of any bytes: each answer is a line of an entry, or none. */
static void test_hostile(void **state)
{
	(void)state;
	make();
	for (int round = 0; round < ROUNDS; round++) {
		const size_t n_entries = (size_t)rand() % 300, n_index = (size_t)rand() % 600;
		uint8_t *entries = malloc(n_entries + 1), *index = malloc(n_index + 1);
		const struct ruby_line_table t = {entries, index, n_entries, n_index};

		assert_non_null(entries);
		assert_non_null(index);
		for (size_t i = 0; i < n_index; i++)
			index[i] = (uint8_t)rand();
		memset(entries, 1, n_entries);
		for (uint32_t i = 0; i < 3000; i += 1 + (uint32_t)rand() % 50) {
			const uint32_t line = ruby_line(&t, i);

			assert_true(!line || line == 0x01010101);
		}
		free(entries);
		free(index);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
