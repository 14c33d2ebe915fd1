/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of a filter text, and syntax errors. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ast.h"
#include "testing/test_main.h"

static const struct sinsp_filter_name macros[] = {
	{"is_cat", "proc.name=cat"},        {"either", "is_cat or proc.name = dog"},
	{"loop", "is_cat and loop"},        {"broken", "proc.name = "},
	{"two", "proc.name=a proc.name=b"},
};

static const struct sinsp_filter_name lists[] = {
	{"pets", "cat, dog"},
	{"farm", "pets, \"black sheep\""},
	{"endless", "a, endless"},
	{"none", ""},
	{"odd", "a b"},
};

static const struct sinsp_filter_opts opts = {
	.sz = sizeof(opts),
	.macros = macros,
	.n_macros = sizeof(macros) / sizeof(macros[0]),
	.lists = lists,
	.n_lists = sizeof(lists) / sizeof(lists[0]),
};

struct tree {
	const char *filter, *text;
};

static void check_tree(const struct tree *want)
{
	struct sinsp_filter_error error = {0};
	struct filter_ast ast = {.err = &error};
	struct sinsp_text text = {0};
	const int err = sinsp_ast_parse(&ast, want->filter, &opts);

	if (err)
		print_error("%s: %s\n", want->filter, error.message);
	assert_int_equal(err, 0);
	assert_int_equal(sinsp_ast_text(&text, ast.root), 0);
	assert_int_equal(ast.depth, 0);
	text.p = realloc(text.p, text.len + 1);
	text.p[text.len] = 0;
	assert_string_equal(text.p, want->text);
	free(text.p);
	sinsp_ast_fini(&ast);
}

#define CHECK_TREES(rows)                                                                          \
	do {                                                                                       \
		for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)                      \
			check_tree(&(rows)[i]);                                                    \
	} while (0)

static void test_precedence(void **state)
{
	static const struct tree rows[] = {
		{"proc.name=a", "proc.name = a"},
		{"proc.name=a and proc.pid=1 or proc.pid=2",
		 "((proc.name = a and proc.pid = 1) or proc.pid = 2)"},
		{"proc.name=a or proc.pid=1 and proc.pid=2",
		 "(proc.name = a or (proc.pid = 1 and proc.pid = 2))"},
		{"(proc.name=a or proc.pid=1) and proc.pid=2",
		 "((proc.name = a or proc.pid = 1) and proc.pid = 2)"},
		{"proc.pid=1 or proc.pid=2 or proc.pid=3",
		 "(proc.pid = 1 or proc.pid = 2 or proc.pid = 3)"},
		{"not proc.name=a and proc.pid=1", "(not proc.name = a and proc.pid = 1)"},
		{"not (proc.name=a and proc.pid=1)", "not (proc.name = a and proc.pid = 1)"},
		{"not not proc.name=a", "not not proc.name = a"},
		{"not not not(proc.name=a)", "not not not proc.name = a"},
		{"((proc.name=a))", "proc.name = a"},
	};

	(void)state;
	CHECK_TREES(rows);
}

/* Blanks are optional where sysdig 0.29.3 reads the same. */
static void test_blanks(void **state)
{
	static const struct tree rows[] = {
		{"  proc.name  =  a  ", "proc.name = a"},
		{"\tproc.name\n=\r\na\n", "proc.name = a"},
		{"(proc.name=a)and(proc.pid=1)", "(proc.name = a and proc.pid = 1)"},
		{"not(proc.name=a)or(not(proc.pid=1))", "(not proc.name = a or not proc.pid = 1)"},
		{"( not proc.name=a )", "not proc.name = a"},
		{"proc.name in(a,b)", "proc.name in (a, b)"},
		{"proc.name in ( a , b )", "proc.name in (a, b)"},
		{"proc.name contains\"a\"", "proc.name contains a"},
		{"fd.num>=3", "fd.num >= 3"},
		{"fd.num >= 3", "fd.num >= 3"},
	};

	(void)state;
	CHECK_TREES(rows);
}

static void test_operators(void **state)
{
	static const struct tree rows[] = {
		{"proc.name == a", "proc.name = a"},
		{"proc.name==a", "proc.name = a"},
		{"proc.name != a", "proc.name != a"},
		{"fd.num < 1", "fd.num < 1"},
		{"fd.num <= 1", "fd.num <= 1"},
		{"fd.num > 1", "fd.num > 1"},
		{"evt.dir=>", "evt.dir = >"},
		{"evt.dir = <", "evt.dir = <"},
		{"evt.dir!=<", "evt.dir != <"},
		{"proc.name contains a", "proc.name contains a"},
		{"proc.name icontains a", "proc.name icontains a"},
		{"proc.name bcontains 61", "proc.name bcontains 61"},
		{"proc.name startswith a", "proc.name startswith a"},
		{"proc.name bstartswith 61", "proc.name bstartswith 61"},
		{"proc.name endswith a", "proc.name endswith a"},
		{"proc.name glob a*", "proc.name glob a*"},
		{"proc.name iglob A?", "proc.name iglob A?"},
		{"proc.name regex 'a+'", "proc.name regex \"a+\""},
		{"proc.name intersects (a)", "proc.name intersects (a)"},
		{"fd.name pmatch (/etc, /usr)", "fd.name pmatch (/etc, /usr)"},
		{"proc.name exists", "proc.name exists"},
		{"(proc.name exists)", "proc.name exists"},
		{"proc.name exists and fd.num exists", "(proc.name exists and fd.num exists)"},
		{"proc.name in ()", "proc.name in ()"},
		{"proc.name contains oneof (a, b)", "proc.name contains oneof (a, b)"},
		{"proc.name = anyof(a,b)", "proc.name = anyof (a, b)"},
		{"proc.name != allof (a)", "proc.name != allof (a)"},
		{"proc.name = anyof", "proc.name = anyof"},
		{"proc.name contains oneof and fd.num=1",
		 "(proc.name contains oneof and fd.num = 1)"},
		{"proc.name = in", "proc.name = in"},
		{"proc.name = and", "proc.name = and"},
	};

	(void)state;
	CHECK_TREES(rows);
}

static void test_values(void **state)
{
	static const struct tree rows[] = {
		{"proc.name=\"a b\"", "proc.name = \"a b\""},
		{"proc.name='a b'", "proc.name = \"a b\""},
		{"proc.name=''", "proc.name = \"\""},
		{"proc.name=\"it's\"", "proc.name = \"it's\""},
		{"proc.name='\\''", "proc.name = \"'\""},
		{"proc.name=\"\\\"\\\\\"", "proc.name = \"\\\"\\\\\""},
		{"proc.name=\"\\x41\\x0a\"", "proc.name = \"A\\x0a\""},
		{"proc.name=\"\\n\\t\\d\"", "proc.name = \"\\x0a\\x09\\\\d\""},
		{"proc.name=\\x41\\d", "proc.name = \"A\\\\d\""},
		{"proc.name=a,b", "proc.name = \"a,b\""},
		{"proc.name=a=b!<>", "proc.name = \"a=b!<>\""},
		{"proc.name=a\"b", "proc.name = \"a\\\"b\""},
		{"proc.name=\xc3\xa9", "proc.name = \"\\xc3\\xa9\""},
		{"fd.num = -1", "fd.num = -1"},
		{"fd.name=127.0.0.1:80->1.2.3.4:5", "fd.name = 127.0.0.1:80->1.2.3.4:5"},
	};

	(void)state;
	CHECK_TREES(rows);
}

static void test_transformers(void **state)
{
	static const struct tree rows[] = {
		{"tolower(proc.name)=a", "tolower(proc.name) = a"},
		{"toupper( tolower( proc.name ) ) = A", "toupper(tolower(proc.name)) = A"},
		{"proc.name = val(fd.name)", "proc.name = val(fd.name)"},
		{"fd.name = tolower(fd.name)", "fd.name = tolower(fd.name)"},
		{"len(fd.name) > 3", "len(fd.name) > 3"},
		{"basename(fd.name) in (a, b)", "basename(fd.name) in (a, b)"},
		{"join(\":\", (proc.name, \"x\")) = a", "join(\":\", (proc.name, \"x\")) = a"},
		{"concat(proc.name, '/', fd.name, 3) = a",
		 "concat(proc.name, \"/\", fd.name, \"3\") = a"},
		{"getopt((\"-a\"), \"ab:\")[b] = x", "getopt((\"-a\"), \"ab:\")[b] = x"},
		{"getopt((), 'a')[\"b\"] in (x)", "getopt((), \"a\")[b] in (x)"},
	};

	(void)state;
	CHECK_TREES(rows);
}

static void test_macros_and_lists(void **state)
{
	static const struct tree rows[] = {
		{"is_cat", "proc.name = cat"},
		{"not is_cat and fd.num=1", "(not proc.name = cat and fd.num = 1)"},
		{"either and fd.num=1", "((proc.name = cat or proc.name = dog) and fd.num = 1)"},
		{"proc.name in pets", "proc.name in (cat, dog)"},
		{"proc.name in (pets)", "proc.name in (cat, dog)"},
		{"proc.name in (\"pets\")", "proc.name in (pets)"},
		{"proc.name in (a, farm)", "proc.name in (a, cat, dog, \"black sheep\")"},
		{"proc.name in none", "proc.name in ()"},
		{"proc.name contains anyof pets", "proc.name contains anyof (cat, dog)"},
		{"proc.name in pets and is_cat", "(proc.name in (cat, dog) and proc.name = cat)"},
	};

	(void)state;
	CHECK_TREES(rows);
}

/* ---- errors and their places ---- */

struct broken {
	const char *filter, *message;
	size_t pos;
	const char *name; /* the macro or list with the error */
};

static void check_broken(const struct broken *want)
{
	struct sinsp_filter_error error = {0};
	struct filter_ast ast = {.err = &error};
	const int err = sinsp_ast_parse(&ast, want->filter, &opts);

	if (err != -EINVAL)
		print_error("%s\n", want->filter);
	assert_int_equal(err, -EINVAL);
	assert_string_equal(error.message, want->message);
	if (error.pos != want->pos)
		print_error("%s: %s\n", want->filter, error.message);
	assert_int_equal(error.pos, want->pos);
	assert_true(error.pos <= strlen(error.text));
	if (want->name)
		assert_string_equal(error.name, want->name);
	else
		assert_null(error.name);
	sinsp_ast_fini(&ast);
}

static void test_broken(void **state)
{
	static const struct broken rows[] = {
		{"", "the filter is empty", 0},
		{" \n", "the filter is empty", 2},
		{"=", "expected a field, a macro, not or (, found '='", 0},
		{"1=1", "expected a field, a macro, not or (, found '1'", 0},
		{"and", "expected a field, a macro, not or (, found 'and'", 0},
		{"proc.name=a and", "expected a field, a macro, not or (, found the end", 15},
		{"proc.name=a or or proc.pid=1", "expected a field, a macro, not or (, found 'or'",
		 15},
		{"proc.name",
		 "expected an operator, such as = or contains or exists, found the end", 9},
		{"evt.failed and proc.name=a", "expected =true or =false, found 'and'", 11},
		{"proc.name cat",
		 "expected an operator, such as = or contains or exists, found 'cat'", 10},
		{"proc.name contians a", "unknown operator contians; did you mean contains?", 10},
		{"proc.name containsa", "unknown operator containsa; did you mean contains?", 10},
		{"proc.name like a", "unknown operator like; did you mean glob?", 10},
		{"proc.name not a", "unknown operator not; did you mean not before the field?", 10},
		{"proc.name ! a",
		 "expected an operator, such as = or contains or exists, found '!'", 10},
		{"proc.name=", "expected a value, found the end", 10},
		{"proc.name=)", "expected a value, found ')'", 10},
		{"(proc.name=a", "unmatched (", 0},
		{"((proc.name=a)", "unmatched (", 0},
		{"proc.name=a)", "unmatched )", 11},
		{"()", "expected a field, a macro, not or (, found ')'", 1},
		{"proc.name=a proc.pid=1", "expected 'and' or 'or', found 'proc'", 12},
		{"proc.name=a && proc.pid=1", "expected 'and' or 'or'; did you mean and?", 12},
		{"proc.name=a || proc.pid=1", "expected 'and' or 'or'; did you mean or?", 12},
		{"proc.name=a AND proc.pid=1", "expected 'and' or 'or'; did you mean and?", 12},
		{"proc.name=\"a", "the closing \" is missing", 10},
		{"proc.name='a\\'", "the closing ' is missing", 10},
		{"proc.name=\\x4", "\\x needs two hexadecimal digits, as in \\x1b", 10},
		{"proc.name=\"a\\xzz\"", "\\x needs two hexadecimal digits, as in \\x1b", 12},
		{"proc.nmae=cat", "unknown field proc.nmae; did you mean proc.name?", 0},
		{"not proc.nmae=cat", "unknown field proc.nmae; did you mean proc.name?", 4},
		{"foo=1", "unknown macro or field foo", 0},
		{"is_dog", "unknown macro or field is_dog", 0},
		{"tolowr(proc.name)=a", "unknown transformer tolowr; did you mean tolower?", 0},
		{"tolower(proc.nmae)=a", "unknown field proc.nmae; did you mean proc.name?", 8},
		{"tolower(proc.name=a", "expected a comma or ), found '='", 17},
		{"tolower()=a", "expected a field, a transformer or a value in quotes, found ')'",
		 8},
		{"tolower(proc.name", "unmatched (", 0},
		{"tolower(proc.name)[a = x", "unmatched [", 18},
		{"concat(proc.name, cat)=a", "unknown field cat; see saker -l", 18},
		{"proc.name in a", "unknown list a", 13},
		{"proc.name in", "expected values in parentheses, as in (a, b), found the end", 12},
		{"proc.name in (", "unmatched (", 13},
		{"proc.name in (a", "unmatched (", 13},
		{"proc.name in (a b)", "expected a comma or ), found 'b'", 16},
		{"proc.name in (a,)", "expected a value, found ')'", 16},
		{"proc.name in (,)", "expected a value, found ','", 14},
		{"proc.name in (a))", "unmatched )", 16},
		{"broken", "expected a value, found the end", 12, "broken"},
		{"is_cat and two", "expected 'and' or 'or', found 'proc'", 12, "two"},
		{"loop", "loop refers to itself", 11, "loop"},
		{"proc.name in endless", "endless refers to itself", 3, "endless"},
		{"proc.name in odd", "expected a comma, found 'b'", 2, "odd"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_broken(&rows[i]);
}

/* Parses @n times @unit, then @end. */
static char *repeat(const char *unit, size_t n, const char *end)
{
	const size_t len = strlen(unit);
	char *text = malloc(n * len + strlen(end) + 1), *p = text;

	assert_non_null(text);
	for (size_t i = 0; i < n; i++, p += len)
		memcpy(p, unit, len + 1);
	strcpy(p, end);
	return text;
}

static void check_repeated(const char *unit, size_t n, const char *end, const char *message)
{
	char *text = repeat(unit, n, end);
	struct sinsp_filter_error error = {0};
	struct filter_ast ast = {.err = &error};

	assert_int_equal(sinsp_ast_parse(&ast, text, NULL), message ? -EINVAL : 0);
	assert_string_equal(error.message, message ? message : "");
	sinsp_ast_fini(&ast);
	free(text);
}

static void test_limits(void **state)
{
	static const char nested[] = "nested more than 100 levels deep";
	static const char parts[] = "the filter has more than 20000 parts";

	(void)state;
	check_repeated("(", 10000, "proc.name=a", nested);
	check_repeated("not ", 10000, "proc.name=a", nested);
	check_repeated("not(", 10000, "proc.name=a", nested);
	check_repeated("tolower(", 10000, "proc.name)", nested);
	check_repeated("join(\"a\",(", 10000, "proc.name)", nested);
	check_repeated("not ", 99, "proc.name=a", NULL);
	check_repeated("proc.name=a and ", 1000, "proc.name=a", NULL);
	check_repeated("fd.num=1 or ", 15000, "fd.num=1", parts);
	check_repeated(" ", FILTER_TEXT_MAX, "fd.num=1", "the filter is longer than 262144 bytes");
}

/* Each macro doubles the one before: 2^40 checks without a limit. */
static void test_macros_do_not_explode(void **state)
{
	struct sinsp_filter_name bomb[40];
	const struct sinsp_filter_opts o = {.sz = sizeof(o), .macros = bomb, .n_macros = 40};
	struct sinsp_filter_error error = {0};
	struct filter_ast ast = {.err = &error};
	char names[40][8], texts[40][32];

	(void)state;
	for (int i = 0; i < 40; i++) {
		snprintf(names[i], sizeof(names[i]), "m%d", i);
		if (i)
			snprintf(texts[i], sizeof(texts[i]), "m%d or m%d", i - 1, i - 1);
		else
			strcpy(texts[i], "fd.num=1");
		bomb[i] = (struct sinsp_filter_name){names[i], texts[i]};
	}
	assert_int_equal(sinsp_ast_parse(&ast, "m39", &o), -EINVAL);
	assert_string_equal(error.message, "the filter has more than 20000 parts");
	sinsp_ast_fini(&ast);
}

static void test_of_threads_only(void **state)
{
	const struct sinsp_filter_opts o = {.sz = sizeof(o), .threads_only = 1};
	struct sinsp_filter_error error = {0};
	struct filter_ast ast = {.err = &error};

	(void)state;
	assert_int_equal(sinsp_ast_parse(&ast,
					 "proc.pid=1 or fd.num=1 or thread.tid=1 or user.uid=1 or "
					 "group.gid=1 or container.id=host",
					 &o),
			 0);
	sinsp_ast_fini(&ast);
	ast = (struct filter_ast){.err = &error};
	assert_int_equal(sinsp_ast_parse(&ast, "fd.num=1 and evt.num=1", &o), -EINVAL);
	assert_string_equal(error.message,
			    "evt.num is a field of events; use one of processes, files, users or "
			    "containers here");
	assert_int_equal(error.pos, 13);
	sinsp_ast_fini(&ast);
}

static void check_lines(const char *text, size_t pos, const char *want)
{
	const struct sinsp_filter_error error = {.text = text, .pos = pos};
	struct sinsp_text out = {0};

	assert_int_equal(sinsp_filter_error_lines(&out, &error), 0);
	assert_int_equal(out.len, strlen(want));
	assert_memory_equal(out.p, want, out.len);
	free(out.p);
}

static void test_the_caret_is_below_the_place(void **state)
{
	char text[400];

	(void)state;
	check_lines("a=b", 0, "  a=b\n  ^\n");
	check_lines("a=b", 3, "  a=b\n     ^\n");
	check_lines("a=b\nc=d\ne", 6, "  c=d\n    ^\n");
	check_lines("\xc3\xa9=\x1b"
		    "d",
		    4, "  \xc3\xa9= d\n     ^\n");
	check_lines("\xe4\xb8\xad=d", 4, "  \xe4\xb8\xad=d\n     ^\n"); /* two columns */
	check_lines(
		"\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a"
		"\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a\x8a",
		0, "  \n  ^\n"); /* no character begins */
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	check_lines(
		text, 200,
		"  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
		"                                                  ^\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_blanks),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_transformers),
		cmocka_unit_test(test_macros_and_lists),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_macros_do_not_explode),
		cmocka_unit_test(test_of_threads_only),
		cmocka_unit_test(test_the_caret_is_below_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
