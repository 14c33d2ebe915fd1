/* SPDX-License-Identifier: Apache-2.0 */
#include "script_names.h"

#include <malloc.h>
#include <string.h>

#include "shared/interp.h"
#include "shared/stack.h"
#include "testing/test_main.h"

enum { N = 200000, N_AT_ADDRESS = 1000 };

static struct script_row row_of(int64_t pid, uint64_t code, uint32_t check)
{
	static const uint8_t name[] = {'f'}, lines[] = {0, 1};

	return (struct script_row){
		.pid = pid,
		.code = code,
		.check = check,
		.first_line = 7,
		.version = 9,
		.kinds = INTERP_ASCII,
		.name = name,
		.name_len = sizeof(name),
		.lines = lines,
		.n_lines = sizeof(lines),
	};
}

static void add(struct script_names *s, int64_t pid, uint64_t code, uint32_t check)
{
	const struct script_row row = row_of(pid, code, check);

	assert_int_equal(script_names_add(s, &row), 0);
}

static void test_names(void **state)
{
	struct script_names s = {0};
	const struct script_code *c;

	(void)state;
	assert_null(script_names_find(&s, 1, 0x1000, 5));
	add(&s, 1, 0x1000, 5);
	add(&s, 2, 0x1000, 6);
	c = script_names_find(&s, 1, 0x1000, 5);
	assert_non_null(c);
	assert_string_equal(c->function, "f");
	assert_null(c->file);
	assert_int_equal(script_code_line(c, 0), 8);
	assert_null(script_names_find(&s, 1, 0x1000, 6)); /* another object was there */
	/* Objects that take turns at an address keep their names. */
	for (uint32_t i = 0; i < N_AT_ADDRESS; i++)
		add(&s, 1, 0x1000, 9 + i);
	assert_non_null(script_names_find(&s, 1, 0x1000, 5));
	for (uint32_t i = 0; i < N_AT_ADDRESS; i++)
		assert_non_null(script_names_find(&s, 1, 0x1000, 9 + i));
	script_names_drop(&s, 1);
	assert_null(script_names_find(&s, 1, 0x1000, 9));
	assert_non_null(script_names_find(&s, 2, 0x1000, 6));
	script_names_fini(&s);
	assert_int_equal(s.bytes, 0);
}

/* The characters of each width become UTF-8; what is no character becomes U+FFFD. */
static void test_texts(void **state)
{
	static const struct {
		uint8_t kind;
		const char *stored;
		uint32_t len;
		const char *text;
	} rows[] = {
		{INTERP_ASCII, "abc", 3, "abc"},
		{INTERP_UCS1, "\xe4", 1, "\xc3\xa4"},
		{INTERP_UCS2, "\xac\x20", 2, "\xe2\x82\xac"},
		{INTERP_UCS2, "\x00\xd8", 2, "\xef\xbf\xbd"},
		{INTERP_UCS4, "\x00\xf6\x01\x00", 4, "\xf0\x9f\x98\x80"},
		{INTERP_UCS4, "\x00\x00\x00\x7f\x01", 5, "\xef\xbf\xbd"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct script_names s = {0};
		struct script_row row = row_of(1, 1, 1);

		row.name = (const uint8_t *)rows[i].stored;
		row.name_len = rows[i].len;
		row.kinds = rows[i].kind;
		assert_int_equal(script_names_add(&s, &row), 0);
		assert_string_equal(script_names_find(&s, 1, 1, 1)->function, rows[i].text);
		script_names_fini(&s);
	}
}

/* A file chooses the keys: none of these orders may take time by the square of their number. */
static void test_hostile_keys(void **state)
{
	struct script_names s = {0};

	(void)state;
	for (uint64_t i = 0; i < N; i++)
		add(&s, 1, i, 0);
	for (uint64_t i = 0; i < N; i++) /* the oldest of a process */
		add(&s, 1, i, 0);
	for (uint64_t i = 0; i < N; i++) /* a process with other objects beside it */
		script_names_drop(&s, 1 + 1024 * (int64_t)(i + 1));
	script_names_drop(&s, 1);
	assert_int_equal(s.bytes, 0);
	for (uint32_t i = 0; i < N; i++) /* one address */
		add(&s, 1, 0x1000, i);
	for (uint64_t i = 0; i < N; i++) /* keys whose parts cancel out */
		add(&s, (int64_t)i, i ^ 0xabcdef, 0);
	script_names_fini(&s);
}

/* Beyond the bound those go that are not used, the oldest first; they are counted. */
static void test_bound(void **state)
{
	static uint8_t lines[INTERP_LINES_MAX];
	const uint64_t n = SCRIPT_NAMES_SZ_MAX / INTERP_LINES_MAX + 100;
	struct script_names s = {0};
	uint64_t n_found = 0;

	(void)state;
	assert_false(script_names_full(&s));
	for (uint64_t i = 0; i < n; i++) {
		struct script_row row = row_of(1, i, 0);

		row.lines = lines;
		row.n_lines = sizeof(lines);
		assert_int_equal(script_names_add(&s, &row), 0);
		assert_non_null(script_names_find(&s, 1, 0, 0)); /* always in use */
		assert_true(s.bytes <= SCRIPT_NAMES_SZ_MAX);
	}
	assert_true(s.n_dropped > 0);
	assert_true(script_names_full(&s));
	assert_false(script_names_full(&s));
	assert_null(script_names_find(&s, 1, 1, 0));
	for (uint64_t i = 0; i < n; i++)
		n_found += script_names_find(&s, 1, i, 0) != NULL;
	assert_int_equal(n_found, n - s.n_dropped);
	assert_non_null(script_names_find(&s, 1, n - 1, 0));
	script_names_drop(&s, 1);
	add(&s, 2, 1, 1);
	assert_non_null(script_names_find(&s, 2, 1, 1));
	script_names_fini(&s);
}

/* The driver sends the package of a Perl subroutine apart from its name; a file has both. */
static void test_perl_names(void **state)
{
	static const struct {
		uint8_t kinds;
		const char *package, *name, *function;
	} rows[] = {
		{INTERP_BYTES | INTERP_BYTES << 4, "Some", "method", "Some::method"},
		{INTERP_BYTES | INTERP_BYTES << 4, "", "method", "method"},
		{INTERP_BYTES | INTERP_BYTES << 4, "main", "", "main program"},
		{INTERP_ASCII, "", "Some::method", "Some::method"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct script_row row = {
			.pid = 1,
			.code = 0x1000,
			.language = STACK_WALKER_PERL,
			.kinds = rows[i].kinds,
			.name = (const uint8_t *)rows[i].name,
			.name_len = (uint32_t)strlen(rows[i].name),
			.file = (const uint8_t *)"x.pl",
			.file_len = 4,
			.lines = (const uint8_t *)rows[i].package,
			.n_lines = (uint32_t)strlen(rows[i].package),
		};
		struct script_names s = {0};
		const struct script_code *c;

		assert_int_equal(script_names_add(&s, &row), 0);
		c = script_names_find(&s, 1, 0x1000, 0);
		assert_string_equal(c->function, rows[i].function);
		assert_string_equal(c->file, "x.pl");
		assert_int_equal(script_code_line(c, 17), 17);
		script_names_fini(&s);
	}
}

/* The driver sends module and arity of an Erlang function apart from its name; a file has all. */
static void test_erlang_names(void **state)
{
	static const struct {
		uint8_t kinds;
		uint32_t arity;
		const char *module, *name, *function;
	} rows[] = {
		{INTERP_BYTES | INTERP_BYTES << 4, 2, "lists", "map", "lists:map/2"},
		{INTERP_BYTES | INTERP_BYTES << 4, 4294967295, "", "", ":/4294967295"},
		{INTERP_ASCII, 0, "", "lists:map/2", "lists:map/2"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct script_row row = {
			.pid = 1,
			.code = 0x1000,
			.language = STACK_WALKER_BEAM,
			.kinds = rows[i].kinds,
			.first_line = rows[i].arity,
			.name = (const uint8_t *)rows[i].name,
			.name_len = (uint32_t)strlen(rows[i].name),
			.lines = (const uint8_t *)rows[i].module,
			.n_lines = (uint32_t)strlen(rows[i].module),
		};
		struct script_names s = {0};
		const struct script_code *c;

		assert_int_equal(script_names_add(&s, &row), 0);
		c = script_names_find(&s, 1, 0x1000, 0);
		assert_string_equal(c->function, rows[i].function);
		assert_null(c->file);
		assert_int_equal(script_code_line(c, 17), 17);
		script_names_fini(&s);
	}
}

/* A function of JavaScript may have no name; the driver sends lines as positions. */
static void test_node_names(void **state)
{
	static const struct {
		uint8_t kinds;
		uint32_t len;
		const char *name, *function;
	} rows[] = {
		{INTERP_UCS1 | INTERP_UCS1 << 4, 0, "", "<anonymous>"},
		{INTERP_UCS1 | INTERP_UCS1 << 4, 5, "caf\xe9s", "caf\xc3\xa9s"},
		{INTERP_UCS2 | INTERP_UCS1 << 4, 4, "\x42\x04\x61\0",
		 "\xd1\x82"
		 "a"},
		{INTERP_ASCII, 3, "a.b", "a.b"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct script_row row = {
			.pid = 1,
			.code = 0x1001,
			.language = STACK_WALKER_NODE,
			.kinds = rows[i].kinds,
			.name = (const uint8_t *)rows[i].name,
			.name_len = rows[i].len,
			.file = (const uint8_t *)"node:fs",
			.file_len = 7,
		};
		struct script_names s = {0};
		const struct script_code *c;

		assert_int_equal(script_names_add(&s, &row), 0);
		c = script_names_find(&s, 1, 0x1001, 0);
		assert_string_equal(c->function, rows[i].function);
		assert_string_equal(c->file, "node:fs");
		assert_int_equal(script_code_line(c, 17), 17);
		assert_int_equal(script_code_line(c, 0), 0);
		script_names_fini(&s);
	}
}

/* The bound counts the memory that is taken. */
static void test_memory(void **state)
{
	static uint8_t file[INTERP_FILE_MAX], name[INTERP_NAME_MAX];
	struct script_names s = {0};
	struct script_row row = row_of(1, 0x1000, 0);
	const struct script_code *c;

	(void)state;
	memset(file, 'f', sizeof(file));
	memset(name, 'n', sizeof(name));
	row.name = name;
	row.name_len = sizeof(name);
	row.file = file;
	row.file_len = sizeof(file);
	assert_int_equal(script_names_add(&s, &row), 0);
	c = script_names_find(&s, 1, 0x1000, 0);
	assert_non_null(c);
	assert_int_equal(strlen(c->function), sizeof(name));
	assert_int_equal(strlen(c->file), sizeof(file));
	assert_int_equal(script_code_line(c, 0), 8);
	assert_in_range(malloc_usable_size((void *)c), 0, c->sz + 64);
	script_names_fini(&s);
}

/* A name with its class or package, as a file has it, may be longer than one of the driver. */
static void test_long_names(void **state)
{
	static uint8_t outer[INTERP_LINES_MAX], name[INTERP_NAME_MAX];
	static const uint8_t languages[] = {STACK_WALKER_JAVA, STACK_WALKER_PERL};

	(void)state;
	memset(outer, 'o', sizeof(outer));
	memset(name, 'n', sizeof(name));
	for (size_t i = 0; i < sizeof(languages); i++) {
		struct script_row row = row_of(1, 0x1000, 0);
		struct script_names s = {0}, read = {0};
		const struct script_code *c, *again;

		row.language = languages[i];
		row.kinds = INTERP_BYTES | INTERP_BYTES << 4;
		row.name = name;
		row.name_len = sizeof(name);
		row.lines = row.bases = outer;
		row.n_lines = i ? sizeof(outer) : 0;
		row.n_bases = i ? 0 : INTERP_LINE_BASES_MAX;
		assert_int_equal(script_names_add(&s, &row), 0);
		c = script_names_find(&s, 1, 0x1000, 0);
		assert_non_null(c);
		row.kinds = INTERP_ASCII;
		row.name = (const uint8_t *)c->function;
		row.name_len = (uint32_t)strlen(c->function);
		assert_int_equal(script_names_add(&read, &row), 0);
		again = script_names_find(&read, 1, 0x1000, 0);
		assert_non_null(again);
		assert_string_equal(again->function, c->function);
		script_names_fini(&s);
		script_names_fini(&read);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),        cmocka_unit_test(test_texts),
		cmocka_unit_test(test_perl_names),   cmocka_unit_test(test_erlang_names),
		cmocka_unit_test(test_hostile_keys), cmocka_unit_test(test_bound),
		cmocka_unit_test(test_node_names),   cmocka_unit_test(test_memory),
		cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
