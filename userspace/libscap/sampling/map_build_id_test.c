/* SPDX-License-Identifier: Apache-2.0 */
/* The build id of a mapped file, and that files which take long are left out. */
#include "testing/test_main.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sampling/map_build_id.h"

#define SPENT_US 3600000000u /* an hour */

static char self[PATH_MAX];
static struct stat st;

/* Returns a mapping of this program, with another file for each @gen. */
static struct code_map map_of(uint64_t gen)
{
	return (struct code_map){
		.pid = (uint32_t)getpid(),
		.ino = st.st_ino,
		.ino_gen = gen,
		.path = self,
		.path_len = strlen(self),
	};
}

static int begin(void **state)
{
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	return n < 0 || stat(self, &st);
}

static void test_found_once(void **state)
{
	struct map_build_ids ids = {0};
	struct code_map a = map_of(1), b = map_of(1);

	(void)state;
	map_build_id_find(&ids, &a);
	assert_int_equal(a.build_id_len, 20);
	b.path = "/there/is/none"; /* what was found holds for a while */
	b.path_len = strlen(b.path);
	map_build_id_find(&ids, &b);
	assert_int_equal(b.build_id_len, 20);
	assert_memory_equal(a.build_id, b.build_id, 20);
}

static void test_time(void **state)
{
	struct map_build_ids ids = {0};
	struct code_map a = map_of(1), b = map_of(2), c = map_of(2);

	(void)state;
	map_build_id_find(&ids, &a);
	assert_int_equal(a.build_id_len, 20);
	ids.spent_us = SPENT_US;
	map_build_id_find(&ids, &b);
	assert_int_equal(b.build_id_len, 0);
	assert_int_equal(ids.n_left_out, 1);
	ids.spent_us = 0;
	map_build_id_find(&ids, &c); /* it was not remembered as one without */
	assert_int_equal(c.build_id_len, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_once),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
