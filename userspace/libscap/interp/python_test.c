/* SPDX-License-Identifier: Apache-2.0 */
/* Detection of CPython in a file that tells its offsets. */
#include "testing/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interp/detect.h"

#define MARK "xdebugpy" /* with which the offsets begin; then the version */

/* Returns a copy of a libpython 3.13; NULL: none is installed. */
static uint8_t *read_library(size_t *sz)
{
	uint8_t *image = NULL;
	struct stat st;
	glob_t g;
	int fd;

	if (glob("~/.pyenv/versions/3.13.*/lib/libpython3.13.so.1.0", GLOB_TILDE, NULL, &g) &&
	    glob("/usr/lib/*/libpython3.13.so.1.0", 0, NULL, &g))
		return NULL;
	fd = open(g.gl_pathv[0], O_RDONLY | O_CLOEXEC);
	globfree(&g);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*sz = (size_t)st.st_size;
	image = malloc(*sz);
	assert_non_null(image);
	assert_int_equal(read(fd, image, *sz), *sz);
	close(fd);
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

static int detect(const uint8_t *image, size_t sz)
{
	struct interp_file out = {0};
	struct elf_file *f;
	int r;

	assert_int_equal(elf_file_open_image(&f, image, sz), 0);
	r = interp_detect_python(&out, f, "libpython3.13.so.1.0");
	elf_file_close(f);
	return r;
}

/* A row is not used if the file has other offsets, of whichever member. */
static void test_other_offsets(void **state)
{
	static const unsigned int words[] = {23, 29, 31, 33, 35, 37, 38, 39, 43};
	size_t sz = 0;
	uint8_t *image = read_library(&sz), *mark;

	(void)state;
	if (!image) {
		print_message("no libpython3.13 is installed\n");
		skip();
	}
	mark = find_offsets(image, sz);
	assert_non_null(mark);
	assert_int_equal(detect(image, sz), 1);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint8_t *word = mark + 8 * (size_t)words[i];

		*word ^= 8;
		assert_int_equal(detect(image, sz), -ENOTSUP);
		*word ^= 8;
	}
	free(image);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_other_offsets)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
