/* SPDX-License-Identifier: Apache-2.0 */
/* Tests many processes with JIT names: none takes names from another, and all are bounded. The PIDs
 * are larger than those of the kernel. */
#include "testing/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit_process.h"

#define FIRST 5000000
#define SPENT_MS 3600000 /* an hour */

static const char *path_of(int64_t pid)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%lld.map", (long long)pid);
	return path;
}

static void write_map(int64_t pid, unsigned int n)
{
	FILE *f = fopen(path_of(pid), "w");

	assert_non_null(f);
	for (unsigned int i = 0; i < n; i++)
		fprintf(f, "%x 10 f%u_of_%lld\n", 0x1000 + 16 * i, i, (long long)pid);
	assert_int_equal(fclose(f), 0);
}

static int finds(struct jit_processes *jp, int64_t pid, int live)
{
	const struct jit_process_key key = {
		.pid = pid, .vpid = pid, .owner = getuid(), .mono_ns = JIT_LATEST, .live = live};
	struct symtab_sym sym;
	const char *file;
	uint32_t line;
	char name[64];

	if (!jit_process_find(jp, &key, 0x1008, &sym, &file, &line))
		return 0;
	snprintf(name, sizeof(name), "f0_of_%lld", (long long)pid);
	assert_string_equal(sym.name, name);
	return 1;
}

/* The names of one process are not read again for each frame of another. */
static void test_kept_beside_others(void **state)
{
	struct jit_processes jp = {0};

	(void)state;
	for (int i = 0; i < 4; i++) {
		write_map(FIRST + i * JIT_PROCESSES, 1);
		assert_true(finds(&jp, FIRST + i * JIT_PROCESSES, 0));
		unlink(path_of(FIRST + i * JIT_PROCESSES));
	}
	for (int i = 0; i < 4; i++)
		assert_true(finds(&jp, FIRST + i * JIT_PROCESSES, 0));
	jit_processes_fini(&jp);
}

static void test_number(void **state)
{
	struct jit_processes jp = {0};

	(void)state;
	for (int i = 0; i < 2 * JIT_PROCESSES; i++)
		assert_false(finds(&jp, FIRST + i, 0));
	assert_int_equal(jp.n, JIT_PROCESSES);
	jit_processes_fini(&jp);
	assert_int_equal(jp.n, 0);
	assert_int_equal(jp.n_bytes, 0);
}

static void test_bytes(void **state)
{
	struct jit_processes jp = {.max_bytes = 200000};
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 8; i++) {
		write_map(FIRST + i, 1000);
		assert_true(finds(&jp, FIRST + i, 0));
		unlink(path_of(FIRST + i));
		assert_true(jp.n_bytes > 1000 * 16 && jp.n_bytes < 400000);
	}
	for (int i = 0; i < 8; i++)
		n += (size_t)finds(&jp, FIRST + i, 0);
	assert_true(n >= 1 && n < 8);
	jit_processes_fini(&jp);
}

/* All checks together take a bounded part of the time. */
static void test_time(void **state)
{
	struct jit_processes jp = {0};

	(void)state;
	write_map(FIRST, 1);
	write_map(FIRST + 1, 1);
	assert_true(finds(&jp, FIRST, 1));
	jp.spent_ms = SPENT_MS;
	assert_false(finds(&jp, FIRST + 1, 1));
	assert_int_equal(jp.n_late, 1);
	assert_true(finds(&jp, FIRST, 1));
	jp.spent_ms = 0;
	assert_true(finds(&jp, FIRST + 1, 1));
	unlink(path_of(FIRST));
	unlink(path_of(FIRST + 1));
	jit_processes_fini(&jp);
}

/* A file with more functions than are read is counted once, however often it is read. */
static void test_cut(void **state)
{
	struct jit_processes jp = {0};

	(void)state;
	write_map(FIRST, 10);
	write_map(FIRST + 1, JIT_MAP_MAX_CODES + 1);
	for (int i = 0; i < 3; i++) {
		assert_true(finds(&jp, FIRST, 0));
		assert_true(finds(&jp, FIRST + 1, 0));
	}
	assert_int_equal(jp.n_cut, 1);
	unlink(path_of(FIRST));
	unlink(path_of(FIRST + 1));
	jit_processes_fini(&jp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_beside_others),
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
