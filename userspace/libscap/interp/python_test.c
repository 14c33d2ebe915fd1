/* SPDX-License-Identifier: Apache-2.0 */
/* Detection of CPython: a row is used only if the file has the same offsets. */
#include "testing/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interp/detect.h"

#define LIBRARY "libpython3.13.so.1.0"
#define MARK "xdebugpy" /* with which the offsets begin; then the version */

/* Returns a copy of a file. */
static uint8_t *read_file(const char *path, size_t *sz)
{
	uint8_t *image = NULL;
	struct stat st;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*sz = (size_t)st.st_size;
	image = malloc(*sz);
	assert_non_null(image);
	assert_int_equal(read(fd, image, *sz), *sz);
	close(fd);
	return image;
}

/* Returns a copy of a libpython 3.13; NULL: none is installed. */
static uint8_t *read_library(size_t *sz)
{
	uint8_t *image;
	glob_t g;

	if (glob("~/.pyenv/versions/3.13.*/lib/libpython3.13.so.1.0", GLOB_TILDE, NULL, &g) &&
	    glob("/usr/lib/*/libpython3.13.so.1.0", 0, NULL, &g))
		return NULL;
	image = read_file(g.gl_pathv[0], sz);
	globfree(&g);
	return image;
}

static uint8_t *find_offsets(uint8_t *image, size_t sz)
{
	uint8_t *at = image, *const end = image + sz;

	while ((at = memmem(at, (size_t)(end - at), MARK, strlen(MARK)))) {
		if (end - at > 16 && at[11] == 3 && at[10] == 13)
			return at;
		at++;
	}
	return NULL;
}

static int detect(const uint8_t *image, size_t sz, const char *path, struct interp_file *out)
{
	struct elf_file *f;
	int r;

	memset(out, 0, sizeof(*out));
	assert_int_equal(elf_file_open_image(&f, image, sz), 0);
	r = interp_detect_python(out, f, path);
	elf_file_close(f);
	return r;
}

static void check_refused(const uint8_t *image, size_t sz, const char *path)
{
	struct interp_file out;

	assert_int_equal(detect(image, sz, path, &out), -ENOTSUP);
	assert_non_null(strstr(out.version, ", other structures"));
}

/* A row is not used if the file has other offsets, of whichever member. */
static void test_other_offsets(void **state)
{
	static const unsigned int words[] = {5,  8,  9,  10, 23, 24, 27, 29,
					     31, 33, 35, 37, 38, 39, 43, 72};
	size_t sz = 0;
	uint8_t *image = read_library(&sz), *mark;
	struct interp_file out;

	(void)state;
	if (!image) {
		print_message("no libpython3.13 is installed\n");
		skip();
	}
	mark = find_offsets(image, sz);
	assert_non_null(mark);
	assert_int_equal(detect(image, sz, LIBRARY, &out), 1);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint8_t *word = mark + 8 * (size_t)words[i];

		*word ^= 8;
		check_refused(image, sz, LIBRARY);
		*word ^= 8;
	}
	free(image);
}

/* Returns the place of a symbol's bytes, @at from its beginning. */
static uint8_t *symbol_at(uint8_t *image, size_t sz, const char *name, size_t at)
{
	struct elf_symbol symbol;
	struct elf_file *f;
	uint64_t offset;

	assert_int_equal(elf_file_open_image(&f, image, sz), 0);
	assert_true(elf_dynamic_symbol_find(f, &symbol, name));
	assert_int_equal(elf_file_offset_of(f, &offset, symbol.addr + at), 0);
	elf_file_close(f);
	return image + offset;
}

/* Adds to the offset of all read-only members with this type and offset, those of code objects
 * among them: their names are pointers, which are not in the file. */
static void move_members(uint8_t *image, size_t sz, uint32_t type, uint64_t offset, int by)
{
	uint8_t word[24] = {0}, *at = image;
	size_t n = 0;

	memcpy(word, &type, sizeof(type));
	memcpy(word + 8, &offset, sizeof(offset));
	word[16] = 1; /* read only */
	while ((at = memmem(at, (size_t)(image + sz - at), word, sizeof(word)))) {
		at[8] = (uint8_t)(at[8] + by);
		n++;
	}
	assert_true(n);
}

static void check_types(const char *path)
{
	struct interp_file out;
	size_t sz = 0;
	uint8_t *image = read_file(path, &sz), *at;

	assert_int_equal(detect(image, sz, path, &out), 1);
	at = symbol_at(image, sz, "PyCode_Type", 32);
	*at += 16; /* as with Py_TRACE_REFS */
	check_refused(image, sz, path);
	*at -= 16;
	at = symbol_at(image, sz, "PyFrame_Type", 32);
	*at += 8;
	check_refused(image, sz, path);
	*at -= 8;
	move_members(image, sz, 1, out.process.python.code_first_line, 4); /* T_INT */
	check_refused(image, sz, path);
	free(image);
}

/* Versions before 3.13 tell no offsets, but have types with sizes and members. */
static void test_other_types(void **state)
{
	glob_t g = {0};

	(void)state;
	glob("~/.pyenv/versions/3.[6-9].*/lib/libpython3.*.so.1.0", GLOB_TILDE, NULL, &g);
	glob("~/.pyenv/versions/3.1[0-2].*/lib/libpython3.*.so.1.0", GLOB_TILDE | GLOB_APPEND, NULL,
	     &g);
	glob("/usr/bin/python3.11", GLOB_APPEND, NULL, &g);
	if (!g.gl_pathc) {
		print_message("no Python before 3.13 is installed\n");
		skip();
	}
	for (size_t i = 0; i < g.gl_pathc; i++) {
		print_message("%s\n", g.gl_pathv[i]);
		check_types(g.gl_pathv[i]);
	}
	globfree(&g);
}

/* This program has the symbols of a Python without the GIL, but not its structures. */
__attribute__((used, visibility("default"))) void
eval_frame(void) __asm__("_PyEval_EvalFrameDefault");
void eval_frame(void)
{
}

__attribute__((used, visibility("default"))) uint64_t runtime[8] __asm__("_PyRuntime") = {0, 0, 1};

/* The version is cut, whatever the file says. */
static void test_long_version(void **state)
{
	static const char *const paths[] = {"python3.13", "python3.4294967295"};
	struct {
		struct interp_file file;
		uint8_t behind[64];
	} out;
	size_t sz = 0;
	uint8_t *image = read_file("/proc/self/exe", &sz);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		memset(&out, 0, sizeof(out));
		assert_int_equal(detect(image, sz, paths[i], &out.file), -ENOTSUP);
		assert_non_null(strstr(out.file.version, " without the GIL"));
		assert_int_equal(out.behind[0], 0);
		assert_true(strlen(out.file.version) < sizeof(out.file.version));
	}
	free(image);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_other_offsets),
						  cmocka_unit_test(test_other_types),
						  cmocka_unit_test(test_long_version)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
