/* SPDX-License-Identifier: Apache-2.0 */
#include "objfile/elf_dynamic_symbol.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/test_main.h"

enum { FLIPS = 3000 };

static const char *const names[] = {"sin", "cbrt", "sqrtf", "exp2"};

/* libm as the dynamic linker mapped it, and a copy of its file. */
static struct {
	uint64_t base;
	uint8_t *image;
	size_t sz;
} libm;

static int read_libm(void **state)
{
	Dl_info info;
	struct stat st;
	int fd;

	(void)state;
	assert_true(dladdr((void *)(uintptr_t)cbrt, &info));
	libm.base = (uint64_t)(uintptr_t)info.dli_fbase;
	fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	libm.sz = (size_t)st.st_size;
	libm.image = malloc(libm.sz);
	assert_non_null(libm.image);
	assert_int_equal(read(fd, libm.image, libm.sz), libm.sz);
	close(fd);
	return 0;
}

static int free_libm(void **state)
{
	(void)state;
	free(libm.image);
	return 0;
}

/* Compares addresses with those of the dynamic linker; a function that it selects at load time has
 * another one. */
static void check(const struct elf_file *f)
{
	struct elf_symbol s;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(elf_dynamic_symbol_find(f, &s, names[i]));
		assert_true(s.addr && s.addr < libm.sz && s.sz && s.sz < libm.sz);
		n += libm.base + s.addr == (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, names[i]);
	}
	assert_true(n);
	assert_false(elf_dynamic_symbol_find(f, &s, "malloc")); /* used, not defined */
	assert_false(elf_dynamic_symbol_find(f, &s, "si"));
	assert_false(elf_dynamic_symbol_find(f, &s, ""));
	assert_false(elf_dynamic_symbol_find(
		f, &s, "a_name_that_is_longer_than_any_name_that_is_searched_for_in_a_file"));
}

static void test_hash(void **state)
{
	struct elf_file *f;

	(void)state;
	assert_int_equal(elf_file_open_image(&f, libm.image, libm.sz), 0);
	assert_non_null(elf_file_section(f, ".gnu.hash"));
	check(f);
	elf_file_close(f);
}

static void test_scan(void **state)
{
	uint8_t *name = memmem(libm.image, libm.sz, ".gnu.hash", 9);
	struct elf_file *f;

	(void)state;
	assert_non_null(name);
	name[1] = 'G';
	assert_int_equal(elf_file_open_image(&f, libm.image, libm.sz), 0);
	assert_null(elf_file_section(f, ".gnu.hash"));
	check(f);
	elf_file_close(f);
	name[1] = 'g';
}

/* This program has a function that no other file can use. */
static void test_symtab(void **state)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_symbol s;
	struct elf_file *f;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&f, fd), 0);
	close(fd);
	assert_false(elf_dynamic_symbol_find(f, &s, "test_symtab"));
	assert_true(elf_any_symbol_find(f, &s, "test_symtab"));
	assert_true(s.addr && s.sz);
	assert_false(elf_any_symbol_find(f, &s, "test_no_such_function"));
	elf_file_close(f);
}

/* Bytes of the table change at random: nothing outside of the file is read, and each search ends.
 */
static void test_hostile(void **state)
{
	const struct elf_section *hash;
	struct elf_file *f;
	struct elf_symbol s;

	(void)state;
	srand(1);
	for (int i = 0; i < FLIPS; i++) {
		uint8_t *image = malloc(libm.sz);
		uint64_t at;

		assert_non_null(image);
		memcpy(image, libm.image, libm.sz);
		assert_int_equal(elf_file_open_image(&f, image, libm.sz), 0);
		hash = elf_file_section(f, i % 3 ? ".gnu.hash" : ".dynsym");
		/* The first words are sizes. */
		at = hash->offset + (uint64_t)rand() % (i % 2 ? 16 : hash->sz);
		image[at] ^= (uint8_t)(1 + rand() % 255);
		image[hash->offset + (uint64_t)rand() % hash->sz] ^= 0xff;
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			elf_dynamic_symbol_find(f, &s, names[j]);
		elf_file_close(f);
		free(image);
	}
}

/* The slot that the dynamic linker filled with the address of a variable of the C library. */
static void test_slot(void **state)
{
	struct elf_file *f;
	uint64_t addr, filled;
	Dl_info info;
	int fd;

	(void)state;
	assert_true(dladdr(stderr, &info));
	fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&f, fd), 0);
	close(fd);
	assert_true(elf_dynamic_slot_find(f, &addr, "stderr", R_X86_64_GLOB_DAT));
	memcpy(&filled, (const char *)info.dli_fbase + addr, sizeof(filled));
	assert_int_equal(filled, (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "stderr"));
	assert_true(elf_dynamic_slot_is(f, addr, R_X86_64_GLOB_DAT, &filled));
	assert_int_equal(filled, 0);
	assert_false(elf_dynamic_slot_is(f, addr, R_X86_64_RELATIVE, NULL));
	assert_false(elf_dynamic_slot_find(f, &addr, "stderr", R_X86_64_DTPMOD64));
	assert_false(elf_dynamic_slot_find(f, &addr, "no_such_variable", R_X86_64_GLOB_DAT));
	elf_file_close(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash),   cmocka_unit_test(test_scan),
		cmocka_unit_test(test_symtab), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_slot),
	};

	return cmocka_run_group_tests(tests, read_libm, free_libm);
}
