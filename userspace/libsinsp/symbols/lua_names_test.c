/* SPDX-License-Identifier: Apache-2.0 */
#include "lua_names.h"

#include <string.h>

#include "testing/test_main.h"

static void test_chunk_names(void **state)
{
	static const struct {
		const char *source, *name;
	} rows[] = {
		{"@/srv/x.lua", "/srv/x.lua"},
		{"=stdin", "stdin"},
		{"=", ""},
		{"", "?"},
		{"return 1", "[string \"return 1\"]"},
		{"local a\nreturn a", "[string \"local a...\"]"},
		{"\n", "[string \"...\"]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const size_t len = strlen(rows[i].source);
		char name[64];
		const char *end = lua_put_chunk_name(name, (const uint8_t *)rows[i].source, len);

		assert_string_equal(name, rows[i].name);
		assert_ptr_equal(end, name + strlen(name) + 1);
		assert_true((size_t)(end - name) <= len + LUA_NAME_EXTRA);
	}
}

static void test_functions(void **state)
{
	char name[64];

	(void)state;
	lua_put_function(name, "x.lua", 4294967295u);
	assert_string_equal(name, "function <x.lua:4294967295>");
	assert_ptr_equal(lua_put_function(name, "x.lua", 0), name + sizeof("main chunk"));
	assert_string_equal(name, "main chunk");
}

static void test_absolute_lines(void **state)
{
	static const uint8_t lines[] = {7, 0, 0, 0, 9, 1, 0, 0, 1};
	const struct lua_line_table t = {.lines = lines, .n_lines = sizeof(lines), .minor = 3};

	(void)state;
	assert_int_equal(lua_line(&t, 0), 7);
	assert_int_equal(lua_line(&t, 1), 265);
	assert_int_equal(lua_line(&t, 2), 0);
	assert_int_equal(lua_line(&t, UINT32_MAX), 0);
}

static void test_deltas(void **state)
{
	static const uint8_t lines[] = {1, 0, 2, 0x80, 1, 0xff, 0x80, 1};
	static const int32_t bases[] = {3, 500, 6, 20};
	static const int32_t hostile[] = {-1, 5, 0x7fffffff, 6};
	static const uint32_t expected[] = {11, 11, 13, 500, 501, 500, 20, 21, 0};
	struct lua_line_table t = {
		.lines = lines,
		.n_lines = sizeof(lines),
		.bases = (const uint8_t *)bases,
		.n_bases = sizeof(bases),
		.first_line = 10,
		.minor = 4,
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(lua_line(&t, i), expected[i]);
	t.n_bases = sizeof(bases) / 2; /* cut */
	assert_int_equal(lua_line(&t, 5), 500);
	assert_int_equal(lua_line(&t, 7), 0);
	t.bases = (const uint8_t *)hostile;
	t.n_bases = sizeof(hostile);
	assert_int_equal(lua_line(&t, 2), 13);
	assert_int_equal(lua_line(&t, UINT32_MAX), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chunk_names),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_absolute_lines),
		cmocka_unit_test(test_deltas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
