/* SPDX-License-Identifier: Apache-2.0 */
/* Joining of paths by the rules of the kernel and of sysdig. */
#include "pathname.h"

#include <stdlib.h>
#include <string.h>

#include "testing/test_main.h"

struct row {
	const char *dir, *path;
	const char *strict, *sysdig; /* NULL: as strict */
};

/* Verified with sysdig 0.29.3. */
static const struct row rows[] = {
	{"/home/u/", "b", "/home/u/b", NULL},
	{"/home/u/", "/b", "/b", NULL},
	{"/home/u/", "/a/../b", "/b", NULL},
	{"/home/u/", "./y/", "/home/u/y", NULL},
	{"/home/u/", "..", "/home", NULL},
	{"/home/u/", ".", "/home/u", NULL},
	{"/home/u/", "", "/home/u", NULL},
	{"/home/u/", "../../../../z", "/z", NULL},
	{"/home/u/", "//x//y", "/x/y", NULL},
	{"/home/u/", "/", "/", NULL},
	{"/home/u/", ".hidden", "/home/u/.hidden", NULL},
	{"/home/u/", "..hidden", "/home/u/..hidden", NULL},
	{"/home/u/", "a/.", "/home/u/a", NULL},
	{"/home/u/", "dir/..", "/home/u", NULL},
	{"/home/u/", "/a\xc3\xa9\nb", "/a\xc3\xa9.b", "/a...b"},
	{"/home/u/",
	 "\xc2\x9b"
	 "1m\xc3",
	 "/home/u/..1m.", NULL}, /* a control character; half of a UTF-8 character */
	{"/home/u/", "a./b", "/home/u/a./b", "/home/u/ab"},
	{"/home/u/", "x...", "/home/u/x...", "/home/u/x.."},
	{"/home/u/", "foo../bar", "/home/u/foo../bar", "/home/u/bar"},
	{"<UNKNOWN>", "rel", "<UNKNOWN>rel", NULL},
	{"//", "rel", "//rel", NULL},
	{"", "rel", "rel", NULL},
	{"", "../rel", "rel", NULL},
};

static void test_rows(void **state)
{
	char out[SINSP_PATH_SZ];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *r = &rows[i];
		size_t n = strlen(r->dir), n_path = strlen(r->path) + 1;

		size_t len = sinsp_path_join(out, SINSP_PATH_STRICT, r->dir, n, r->path, n_path);

		assert_string_equal(out, r->strict);
		assert_int_equal(len, strlen(out));
		sinsp_path_join(out, SINSP_PATH_SYSDIG, r->dir, n, r->path, n_path);
		assert_string_equal(out, r->sysdig ? r->sysdig : r->strict);
	}
}

static void test_long(void **state)
{
	char out[SINSP_PATH_SZ], path[SINSP_PATH_SZ];

	(void)state;
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	sinsp_path_join(out, SINSP_PATH_SYSDIG, "/a/", 3, path, 1019);
	assert_int_equal(strlen(out), 1019);
	sinsp_path_join(out, SINSP_PATH_SYSDIG, "/a/", 3, path, 1020);
	assert_string_equal(out, "/PATH_TOO_LONG");
	assert_int_equal(sinsp_path_join(out, SINSP_PATH_STRICT, "/a/", 3, path, 4096), 4096);
	sinsp_path_join(out, SINSP_PATH_STRICT, "/a/", 3, path, sizeof(path));
	assert_string_equal(out, "/PATH_TOO_LONG");
}

/* Random bytes: no write past the end, and no output longer than the input. */
static void test_random(void **state)
{
	static const char alphabet[] = "/..a\xff";
	char out[SINSP_PATH_SZ], path[64];

	(void)state;
	srand(1);
	for (int i = 0; i < 100000; i++) {
		size_t len = rand() % sizeof(path);
		size_t n_dir = rand() % 4;

		for (size_t j = 0; j < len; j++)
			path[j] = alphabet[rand() % (sizeof(alphabet) - 1)];
		for (int rules = 0; rules < 2; rules++)
			assert_true(sinsp_path_join(out, rules, "/d/", n_dir, path, len) <=
				    len + n_dir);
	}
}

static void replace(char *p, size_t len, char from, char to)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] == from)
			p[i] = to;
}

/* Plain bytes are copied eight at a time; dashes are plain, too, but always copied singly. */
static void test_runs(void **state)
{
	static const char alphabet[] = "aaaaaaaaaaaaaaaa//..\xff\x01\x7f";
	char out[SINSP_PATH_SZ], slow[SINSP_PATH_SZ], path[64];

	(void)state;
	srand(1);
	for (int i = 0; i < 200000; i++) {
		size_t len = rand() % sizeof(path), n;

		for (size_t j = 0; j < len; j++)
			path[j] = alphabet[rand() % (sizeof(alphabet) - 1)];
		for (int rules = 0; rules < 2; rules++) {
			n = sinsp_path_join(out, rules, "/d/", 3, path, len);
			replace(path, len, 'a', '-');
			assert_int_equal(sinsp_path_join(slow, rules, "/d/", 3, path, len), n);
			replace(path, len, '-', 'a');
			replace(slow, n, '-', 'a');
			assert_string_equal(out, slow);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
