/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of all four formats, made by hand: one function, which takes 24 bytes after its first. */
#include "testing/test_main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "objfile/go_pclntab.h"
#include "testing/go_image.h"
#include "unwind/go_rows.h"

#define TABLE_AT 0x200u /* in the file */
#define NAME "main.leaf"

struct image {
	uint8_t v[0x800];
};

static void make_headers(struct image *i)
{
	const struct go_segment code = {0x100, 0x100}, table = {TABLE_AT, 0x600};

	memset(i, 0, sizeof(*i));
	go_put_headers(i->v, &code, &table);
}

/* pcsp: +1 (from -1) for 1 byte, +24 for 30, -24 for 1. */
static const uint8_t pcsp[] = {2, 1, 48, 30, 47, 1, 0};

static void make_table(struct image *i, uint32_t magic)
{
	const size_t t = TABLE_AT;
	const int old = magic == 0xfffffffb, rel = magic >= 0xfffffff0 && magic <= 0xfffffff1;
	const size_t names = 0x100, pcs = 0x180, funcs = 0x200, func = 0x40;
	const size_t e = rel ? 4 : 8, at = old ? 16 : funcs;

	go_put(i->v, t, magic, 4);
	go_put(i->v, t + 6, 1, 1);
	go_put(i->v, t + 7, 8, 1);
	go_put(i->v, t + 8, 1, 8);
	if (!old) {
		if (rel)
			go_put(i->v, t + 24, GO_TEXT, 8);
		go_put(i->v, t + (rel ? 32 : 24), names, 8);
		go_put(i->v, t + (rel ? 56 : 48), pcs, 8);
		go_put(i->v, t + (rel ? 64 : 56), funcs, 8);
	}
	go_put(i->v, t + at, rel ? 0x10 : GO_TEXT + 0x10, e);
	go_put(i->v, t + at + e, old ? funcs + func : func, e);
	go_put(i->v, t + at + 2 * e, rel ? 0x30 : GO_TEXT + 0x30, e);
	/* The function: entry, name, arguments, frame, pcsp. */
	go_put(i->v, t + funcs + func, rel ? 0x10 : GO_TEXT + 0x10, e);
	go_put(i->v, t + funcs + func + e, old ? names + 4 : 4, 4);
	go_put(i->v, t + funcs + func + e + 12, old ? pcs + 1 : 1, 4);
	memcpy(i->v + t + names + 4, NAME, sizeof(NAME));
	memcpy(i->v + t + pcs + 1, pcsp, sizeof(pcsp));
}

static void test_formats(void **state)
{
	static const uint32_t magics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};
	static const struct unwind_row want[] = {
		{.pc = 0x110, .kind = UNWIND_RSP, .cfa = 1, .saved = 0x10},
		{.pc = 0x111, .kind = UNWIND_RSP, .cfa = 4, .saved = 0x12},
		{.pc = 0x12f, .kind = UNWIND_RSP, .cfa = 1, .saved = 0x10},
		{.pc = 0x130, .kind = UNWIND_NONE},
	};

	(void)state;
	for (size_t k = 0; k < 4; k++) {
		struct unwind_rows rows = {0};
		struct go_pclntab *t;
		struct go_func func;
		struct elf_file *f;
		struct image i;

		make_headers(&i);
		make_table(&i, magics[k]);
		assert_int_equal(elf_file_open_image(&f, i.v, sizeof(i.v)), 0);
		assert_int_equal(go_pclntab_open(&t, f), 0);
		assert_int_equal(go_pclntab_n(t), 1);
		assert_int_equal(go_pclntab_func(t, &func, 0), 0);
		assert_int_equal(func.start, GO_TEXT + 0x10);
		assert_int_equal(func.end, GO_TEXT + 0x30);
		assert_string_equal(func.name, NAME);
		assert_int_equal(go_pclntab_func(t, &func, 1), -EBADMSG);
		assert_int_equal(go_rows(&rows, f, t, NULL), 0);
		assert_int_equal(rows.n, 4);
		assert_memory_equal(rows.v, want, sizeof(want));
		unwind_rows_fini(&rows);
		go_pclntab_close(t);
		elf_file_close(f);
	}
}

static void test_no_table(void **state)
{
	struct go_pclntab *t;
	struct elf_file *f;
	struct image i;

	(void)state;
	make_headers(&i);
	assert_int_equal(elf_file_open_image(&f, i.v, sizeof(i.v)), 0);
	assert_int_equal(go_pclntab_open(&t, f), -ENOENT);
	elf_file_close(f);
}

/* Damaged anywhere: an error or some rows, in order. */
static void test_damaged(void **state)
{
	uint64_t seed = 88172645463325252ull;

	(void)state;
	for (int n = 0; n < 4000; n++) {
		struct unwind_rows rows = {0};
		struct go_pclntab *t;
		struct elf_file *f;
		struct image i;

		make_headers(&i);
		make_table(&i, n % 2 ? 0xfffffff1 : 0xfffffffb);
		for (int k = 0; k < 3; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			i.v[TABLE_AT + 8 + (seed >> 8) % 0x280] = (uint8_t)seed;
		}
		assert_int_equal(elf_file_open_image(&f, i.v, sizeof(i.v)), 0);
		if (!go_pclntab_open(&t, f)) {
			assert_int_equal(go_rows(&rows, f, t, NULL), 0);
			for (size_t k = 1; k < rows.n; k++)
				assert_true(rows.v[k - 1].pc < rows.v[k].pc);
			unwind_rows_fini(&rows);
			go_pclntab_close(t);
		}
		elf_file_close(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_no_table),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
