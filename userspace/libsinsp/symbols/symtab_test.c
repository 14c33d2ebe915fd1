/* SPDX-License-Identifier: Apache-2.0 */
#include "testing/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab.h"

struct row {
	uint64_t addr, size;
	const char *name;
	unsigned int rank;
};

static struct symtab *table(enum symtab_order order, const struct row *rows, size_t n)
{
	struct symtab *t = symtab_new(order);

	assert_non_null(t);
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];

		if (r->name)
			assert_int_equal(
				symtab_add(t, r->addr, r->size, r->name, strlen(r->name), r->rank),
				0);
		else
			assert_int_equal(symtab_add_bound(t, r->addr), 0);
	}
	assert_int_equal(symtab_seal(t), 0);
	return t;
}

#define TABLE(order, rows) table(order, rows, sizeof(rows) / sizeof((rows)[0]))

static const char *name_at(const struct symtab *t, uint64_t addr)
{
	struct symtab_sym s;

	return symtab_find(t, addr, &s) ? s.name : "-";
}

static void empty(void **state)
{
	struct symtab *t = table(SYMTAB_INNERMOST, NULL, 0);

	(void)state;
	assert_string_equal(name_at(t, 0), "-");
	assert_string_equal(name_at(t, UINT64_MAX), "-");
	symtab_free(t);
	symtab_free(NULL);
}

static void ends_are_exact(void **state)
{
	const struct row rows[] = {{0x200, 0x10, "b", 0}, {0x100, 0x10, "a", 0}};
	struct symtab *t = TABLE(SYMTAB_INNERMOST, rows);

	(void)state;
	assert_string_equal(name_at(t, 0xff), "-");
	assert_string_equal(name_at(t, 0x100), "a");
	assert_string_equal(name_at(t, 0x10f), "a");
	assert_string_equal(name_at(t, 0x110), "-");
	assert_string_equal(name_at(t, 0x20f), "b");
	assert_string_equal(name_at(t, 0x210), "-");
	symtab_free(t);
}

/* A function inside of another, as hand-written assembly has them, and what comes after it. */
static void inner_ones_win(void **state)
{
	const struct row rows[] = {
		{0x100, 0x100, "outer", 0}, {0x120, 0x20, "inner", 0}, {0x130, 0x40, "late", 0}};
	struct symtab *t = TABLE(SYMTAB_INNERMOST, rows);

	(void)state;
	assert_string_equal(name_at(t, 0x11f), "outer");
	assert_string_equal(name_at(t, 0x120), "inner");
	assert_string_equal(name_at(t, 0x130), "late");
	assert_string_equal(name_at(t, 0x16f), "late");
	assert_string_equal(name_at(t, 0x170), "outer");
	assert_string_equal(name_at(t, 0x1ff), "outer");
	assert_string_equal(name_at(t, 0x200), "-");
	symtab_free(t);
}

static void aliases(void **state)
{
	const struct row rows[] = {
		{0x100, 0, "label", 3},   {0x100, 8, "local", 0}, {0x100, 8, "__global", 2},
		{0x100, 8, "_global", 2}, {0x100, 8, "weak", 1},  {0x200, 4, "first", 1},
		{0x200, 4, "second", 1},
	};
	struct symtab *t = TABLE(SYMTAB_INNERMOST, rows);

	(void)state;
	assert_string_equal(name_at(t, 0x104), "_global");
	assert_string_equal(name_at(t, 0x200), "first");
	symtab_free(t);
}

static void without_sizes(void **state)
{
	const struct row rows[] = {
		{0x100, 0, "start", 0}, {0x140, 0x20, "sized", 0}, {0x150, 0, "label", 0},
		{0x160, 0, "tail", 0},  {0x180, 0, NULL, 0},       {0x190, 0, "last", 0},
	};
	struct symtab *t = TABLE(SYMTAB_INNERMOST, rows);

	(void)state;
	assert_string_equal(name_at(t, 0x13f), "start");
	assert_string_equal(name_at(t, 0x150), "sized");
	assert_string_equal(name_at(t, 0x15f), "sized");
	assert_string_equal(name_at(t, 0x17f), "tail");
	assert_string_equal(name_at(t, 0x180), "-");
	assert_string_equal(name_at(t, 0x190), "-"); /* its end is unknown */
	symtab_free(t);
}

static void later_code_replaces(void **state)
{
	const struct row rows[] = {
		{0x100, 0x100, "old", 0}, {0x180, 0x40, "mid", 0}, {0x140, 0x50, "new", 0}};
	struct symtab *t = TABLE(SYMTAB_LATEST, rows);

	(void)state;
	assert_string_equal(name_at(t, 0x13f), "old");
	assert_string_equal(name_at(t, 0x140), "new");
	assert_string_equal(name_at(t, 0x18f), "new");
	assert_string_equal(name_at(t, 0x190), "mid");
	assert_string_equal(name_at(t, 0x1c0), "old");
	symtab_free(t);
}

static void same_place_made_again(void **state)
{
	const struct row rows[] = {{0x100, 0x80, "old", 0}, {0x100, 0x40, "new", 0}};
	struct symtab *t = TABLE(SYMTAB_LATEST, rows);

	(void)state;
	assert_string_equal(name_at(t, 0x100), "new");
	assert_string_equal(name_at(t, 0x140), "old");
	symtab_free(t);
}

static void huge_sizes(void **state)
{
	const struct row rows[] = {
		{UINT64_MAX - 4, 100, "end", 0}, {0, UINT64_MAX, "all", 0}, {0x1000, 0x10, "f", 0}};
	struct symtab *t = TABLE(SYMTAB_INNERMOST, rows);

	(void)state;
	assert_string_equal(name_at(t, UINT64_MAX - 2), "end");
	assert_string_equal(name_at(t, 0x1008), "f");
	assert_string_equal(name_at(t, 0x800), "all");
	symtab_free(t);
}

static void long_names_are_cut(void **state)
{
	struct symtab *t = symtab_new(SYMTAB_INNERMOST);
	char *name = calloc(1, 100000);

	(void)state;
	memset(name, 'x', 99999);
	assert_int_equal(symtab_add(t, 1, 1, name, 99999, 0), 0);
	assert_int_equal(symtab_seal(t), 0);
	assert_int_equal(strlen(name_at(t, 1)), SYMTAB_MAX_NAME);
	free(name);
	symtab_free(t);
}

/* Against a search that looks at every symbol. */
static const char *slow_find(enum symtab_order order, const struct row *rows, size_t n,
			     uint64_t addr)
{
	const struct row *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];

		if (addr < r->addr || addr - r->addr >= r->size)
			continue;
		if (!best || order == SYMTAB_LATEST || r->addr > best->addr)
			best = r;
	}
	return best ? best->name : "-";
}

static void random_tables(void **state)
{
	enum { N = 60, SPACE = 400 };
	static char names[N][8];
	struct row rows[N];

	(void)state;
	for (unsigned int round = 0; round < 400; round++) {
		const enum symtab_order order = round & 1 ? SYMTAB_LATEST : SYMTAB_INNERMOST;
		struct symtab *t;

		srand(round);
		for (size_t i = 0; i < N; i++) {
			snprintf(names[i], sizeof(names[i]), "s%zu", i);
			rows[i] = (struct row){(uint64_t)rand() % SPACE, 1 + (uint64_t)rand() % 50,
					       names[i], 0};
		}
		/* At one address the first symbol counts, as in slow_find. */
		t = table(order, rows, N);
		for (uint64_t a = 0; a < SPACE + 60; a++)
			assert_string_equal(name_at(t, a), slow_find(order, rows, N, a));
		symtab_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),
		cmocka_unit_test(ends_are_exact),
		cmocka_unit_test(inner_ones_win),
		cmocka_unit_test(aliases),
		cmocka_unit_test(without_sizes),
		cmocka_unit_test(later_code_replaces),
		cmocka_unit_test(same_place_made_again),
		cmocka_unit_test(huge_sizes),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(random_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
