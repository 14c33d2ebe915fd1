/* SPDX-License-Identifier: Apache-2.0 */
/* chisel.json and chisel.json_row: the same table always gives the same text. */
#include "chisel_test.h"

static void prints(void **state, const char *program, const char *expected)
{
	struct chisel_fixture f;

	chisel_start(&f, *state, program, "", 0);
	chisel_prints(&f, expected);
	chisel_stop(&f);
}

static void test_values(void **state)
{
	prints(state,
	       "print(chisel.json(nil), chisel.json(true), chisel.json(-7), chisel.json(0.1),\n"
	       "      chisel.json(2^53), chisel.json(0/0), chisel.json(math.huge),\n"
	       "      chisel.json(math.mininteger))",
	       "null\ttrue\t-7\t0.1\t9.007199254741e+15\tnull\tnull\t-9223372036854775808\n");
	prints(state,
	       "print(chisel.json({}), chisel.json({{}, {1, {2}}}), chisel.json({1, nil, 3}))",
	       "[]\t[[],[1,[2]]]\t{\"1\":1,\"3\":3}\n");
}

static void test_strings(void **state)
{
	prints(state, "print(chisel.json('a\"\\\\\\b\\f\\n\\r\\t\\0\\27\\127z'))",
	       "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001b\\u007fz\"\n");
	prints(state, "print(chisel.json('\u00e4\u20ac \U0001F600'))",
	       "\"\u00e4\u20ac \U0001F600\"\n");
	/* U+0085 is a control character; one bad byte makes its run of high bytes U+FFFD. */
	prints(state,
	       "print(chisel.json('\\xc2\\x85|\\xff\\xc3\\xa4|\\xed\\xa0\\x80|\\xc3|"
	       "\\xe2\\x80\\xae'))",
	       "\"\\u0085|\\ufffd|\\ufffd|\\ufffd|\\u202e\"\n");
}

/* Numbers, then strings by bytes, then booleans, whatever the order of insertion. */
static void test_keys_are_sorted(void **state)
{
	prints(state,
	       "local t, keys = {}, {'b', 'a', 'ab', 'B', '', 10, 9, 1.5, true, false, -1}\n"
	       "for i = #keys, 1, -1 do t[keys[i]] = i end\n"
	       "print(chisel.json(t))",
	       "{\"-1\":11,\"1.5\":8,\"9\":7,\"10\":6,\"\":5,\"B\":4,\"a\":2,\"ab\":3,\"b\":1,"
	       "\"false\":10,\"true\":9}\n");
	prints(state, "print(chisel.json({b = {d = 1, c = {}}, a = {1, 2}}, true))",
	       "{\n  \"a\":[\n    1,\n    2\n  ],\n  \"b\":{\n    \"c\":[],\n    \"d\":1\n  "
	       "}\n}\n");
}

static void test_rows_keep_their_order(void **state)
{
	prints(state,
	       "print(chisel.json_row({'z', 'a', 'm', 'b', 'q'}, {1, nil, '<NA>', {2}, false}))\n"
	       "print(chisel.json_row({'a'}, {}), chisel.json_row({}, {1}))",
	       "{\"z\":1,\"b\":[2],\"q\":false}\n{}\t{}\n");
}

static void test_errors(void **state)
{
	prints(state,
	       "local t = {} t[1] = t\n"
	       "print(pcall(chisel.json, t))\n"
	       "print(pcall(chisel.json, print))\n"
	       "print(pcall(chisel.json, {[{}] = 1}))\n"
	       "print(pcall(chisel.json_row, {1}, {1}))\n"
	       "print(pcall(chisel.json, {setmetatable({}, {__mode = 'v'})}))\n"
	       "print(chisel.json('still'))",
	       "false\tcannot encode JSON: tables nest deeper than 100\n"
	       "false\tcannot encode JSON: a function has no JSON form\n"
	       "false\tcannot encode JSON: a table is not a key\n"
	       "false\tcannot encode JSON: name 1 is not text\n"
	       "false\tcannot encode JSON: a weak table, whose values may vanish\n"
	       "\"still\"\n");
}

static void test_module(void **state)
{
	prints(state,
	       "local json = require 'dkjson'\n"
	       "print(json.encode({json.null, {x = json.null}}), json.encode({1}, {indent = "
	       "true}))\n"
	       "print(json.decode(json.encode({a = {1, 'b'}})).a[2])",
	       "[null,{\"x\":null}]\t[\n  1\n]\nb\n");
}

/* The text counts as memory of the chisel: shared tables can make it huge. */
static void test_memory_limit(void **state)
{
	struct chisel_fixture f;

	chisel_start(&f, *state,
		     "local t = {'0123456789'}\n"
		     "for i = 1, 40 do t = {t, t} end\n"
		     "print(pcall(chisel.json, t))",
		     "", 4000000);
	chisel_prints(&f, "false\tnot enough memory\n");
	chisel_stop(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_keys_are_sorted),
		cmocka_unit_test(test_rows_keep_their_order),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_module),
		cmocka_unit_test(test_memory_limit),
	};

	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
