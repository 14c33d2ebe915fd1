/* SPDX-License-Identifier: Apache-2.0 */
/* Executable mappings: replaced, split, shared after fork. */
#include "testing/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_maps.h"

static struct sinsp_code_file *file(struct sinsp_code_maps *m, uint64_t ino, const char *path)
{
	const struct sinsp_code_id id = {.ino = ino, .dev = 1};

	return sinsp_code_file_get(m, &id, path, strlen(path));
}

static void map(struct sinsp_code_maps *m, int64_t pid, uint64_t start, uint64_t end,
		uint64_t offset, const char *path)
{
	const struct sinsp_code_map map = {start, end, offset, file(m, (uint64_t)path[0], path)};

	assert_int_equal(sinsp_code_map_add(m, pid, &map), 0);
}

/* Compares with "path+offset", both one character. */
static int at(const struct sinsp_code_maps *m, int64_t pid, uint64_t addr, char name,
	      uint64_t offset)
{
	const struct sinsp_code_map *f = sinsp_code_map_find(m, pid, addr);

	if (!f)
		return name == '-';
	return f->file->path[0] == name && addr - f->start + f->offset == offset;
}

static void files_are_kept_once(void **state)
{
	struct sinsp_code_maps m = {0};
	struct sinsp_code_id id = {.ino = 5, .build_id_len = 2, .build_id = {1, 2}};
	struct sinsp_code_file *a = sinsp_code_file_get(&m, &id, "/a", 2);

	(void)state;
	assert_ptr_equal(sinsp_code_file_get(&m, &id, "/b", 2), a);
	assert_string_equal(a->path, "/a");
	id.build_id[1] = 3;
	assert_ptr_not_equal(sinsp_code_file_get(&m, &id, "/a", 2), a);
	/* Without an inode the name identifies a file. */
	id = (struct sinsp_code_id){0};
	a = sinsp_code_file_get(&m, &id, "[vdso]", 6);
	assert_ptr_not_equal(sinsp_code_file_get(&m, &id, "[other]", 7), a);
	assert_ptr_equal(sinsp_code_file_get(&m, &id, "[vdso]", 6), a);
	for (uint64_t i = 0; i < 3000; i++)
		assert_non_null(file(&m, i + 100, "x"));
	assert_ptr_equal(sinsp_code_file_get(&m, &id, "[vdso]", 6), a);
	sinsp_code_maps_fini(&m);
}

/* A process with more mappings than a kernel allows: those beyond the limit are dropped, and none
 * keeps the name of an earlier mapping. */
static void process_is_full(void **state)
{
	enum { N = SINSP_CODE_MAPS_PROCESS_MAX };
	struct sinsp_code_maps m = {0};

	(void)state;
	for (uint64_t i = 1; i <= N; i++)
		map(&m, 1, i << 12, (i + 1) << 12, 0, "a");
	map(&m, 1, (N + 1ull) << 12, (N + 2ull) << 12, 0, "b");
	assert_true(at(&m, 1, (N + 1ull) << 12, '-', 0));
	map(&m, 1, 0x5100, 0x5200, 0, "b");
	assert_int_equal(m.n_maps, N);
	assert_int_equal(m.n_refused, 2);
	assert_true(at(&m, 1, 0x50ff, 'a', 0xff));
	assert_true(at(&m, 1, 0x5100, '-', 0));
	assert_true(at(&m, 1, 0x5200, '-', 0));
	assert_true(at(&m, 1, 0x6000, 'a', 0));
	map(&m, 1, 0x8000, 0xa000, 0, "c");
	assert_true(at(&m, 1, 0x9000, 'c', 0x1000));
	map(&m, 2, 0x1000, 0x2000, 0, "b");
	assert_true(at(&m, 2, 0x1000, 'b', 0));
	sinsp_code_maps_fini(&m);
}

static size_t longest_chain(const struct sinsp_code_maps *m)
{
	size_t longest = 0;

	for (uint32_t i = 0; i < m->n_buckets; i++) {
		size_t n = 0;

		for (uint32_t at = m->buckets[i]; at; at = m->files[at - 1]->next)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

/* Files that differ by their names only, or by the end of the build ID only, are found as fast as
 * others. */
static void files_are_spread(void **state)
{
	struct sinsp_code_id id = {.ino = 5, .build_id_len = SINSP_BUILD_ID_MAX};
	const struct sinsp_code_id none = {0};
	struct sinsp_code_maps m = {0};
	char name[16];

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		const int len = snprintf(name, sizeof(name), "anon %u", i);

		assert_non_null(sinsp_code_file_get(&m, &none, name, (size_t)len));
		memcpy(id.build_id + sizeof(id.build_id) - sizeof(i), &i, sizeof(i));
		assert_non_null(sinsp_code_file_get(&m, &id, "/prog", 5));
		id.ino = 0;
		assert_non_null(sinsp_code_file_get(&m, &id, "/prog", 5));
		id.ino = 5;
	}
	assert_int_equal(m.n_files, 6000);
	assert_true(longest_chain(&m) < 64);
	sinsp_code_maps_fini(&m);
}

/* dlclose of one library, dlopen of another at its address. */
static void new_mapping_replaces_old(void **state)
{
	struct sinsp_code_maps m = {0};

	(void)state;
	assert_null(sinsp_code_map_find(&m, 1, 0x1000));
	map(&m, 1, 0x1000, 0x3000, 0, "a");
	assert_true(at(&m, 1, 0x1fff, 'a', 0xfff));
	map(&m, 1, 0x1000, 0x3000, 0x500, "b");
	assert_true(at(&m, 1, 0x1fff, 'b', 0x14ff));
	assert_true(at(&m, 1, 0x0fff, '-', 0));
	assert_true(at(&m, 1, 0x3000, '-', 0));
	assert_true(at(&m, 2, 0x1000, '-', 0));
	sinsp_code_maps_fini(&m);
}

static void parts_stay(void **state)
{
	struct sinsp_code_maps m = {0};

	(void)state;
	map(&m, 1, 0x1000, 0x9000, 0, "a");
	map(&m, 1, 0x3000, 0x4000, 0x70, "b"); /* in the middle */
	assert_true(at(&m, 1, 0x2fff, 'a', 0x1fff));
	assert_true(at(&m, 1, 0x3000, 'b', 0x70));
	assert_true(at(&m, 1, 0x4000, 'a', 0x3000));
	map(&m, 1, 0x2000, 0x5000, 0, "c"); /* over b, and parts of both sides */
	assert_true(at(&m, 1, 0x1fff, 'a', 0xfff));
	assert_true(at(&m, 1, 0x4fff, 'c', 0x2fff));
	assert_true(at(&m, 1, 0x5000, 'a', 0x4000));
	assert_int_equal(m.n_maps, 3);
	sinsp_code_maps_fini(&m);
}

static void processes(void **state)
{
	struct sinsp_code_maps m = {0};

	(void)state;
	map(&m, 1, 0x1000, 0x2000, 0, "a");
	assert_int_equal(sinsp_code_maps_fork(&m, 2, 1), 0);
	map(&m, 2, 0x5000, 0x6000, 0, "b");
	assert_true(at(&m, 2, 0x1000, 'a', 0));
	assert_true(at(&m, 2, 0x5000, 'b', 0));
	assert_true(at(&m, 1, 0x5000, '-', 0));
	sinsp_code_maps_drop(&m, 1);
	assert_true(at(&m, 1, 0x1000, '-', 0));
	assert_true(at(&m, 2, 0x1000, 'a', 0));
	assert_int_equal(sinsp_code_maps_fork(&m, 2, 2), 0);
	assert_true(at(&m, 2, 0x1000, 'a', 0));
	assert_int_equal(sinsp_code_maps_fork(&m, 2, 77),
			 0); /* the fork of an unknown process has no mappings */
	assert_true(at(&m, 2, 0x1000, '-', 0));
	assert_int_equal(m.n, 0);
	assert_int_equal(m.n_maps, 0);
	sinsp_code_maps_fini(&m);
}

/* Compares with an array of pages. */
static void random_changes(void **state)
{
	enum { PIDS = 40, PAGES = 64 };
	static char pages[PIDS][PAGES];
	struct sinsp_code_maps m = {0};
	char name[2] = "";

	(void)state;
	srand(3);
	memset(pages, '-', sizeof(pages));
	for (int i = 0; i < 20000; i++) {
		const int64_t pid = rand() % PIDS, other = rand() % PIDS;
		const uint64_t start = (uint64_t)rand() % PAGES,
			       n = 1 + (uint64_t)rand() % (PAGES - start);

		switch (rand() % 8) {
		case 0:
			sinsp_code_maps_drop(&m, pid);
			memset(pages[pid], '-', PAGES);
			break;
		case 1:
			assert_int_equal(sinsp_code_maps_fork(&m, pid, other), 0);
			memmove(pages[pid], pages[other], PAGES);
			break;
		default:
			name[0] = (char)('a' + rand() % 26);
			/* The offset identifies the start, also of a part. */
			map(&m, pid, start << 12, (start + n) << 12, start << 12, name);
			memset(&pages[pid][start], name[0], n);
		}
		for (uint64_t p = 0; p < PAGES; p++)
			assert_true(at(&m, pid, p << 12, pages[pid][p], p << 12));
	}
	sinsp_code_maps_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_kept_once), cmocka_unit_test(new_mapping_replaces_old),
		cmocka_unit_test(parts_stay),          cmocka_unit_test(processes),
		cmocka_unit_test(random_changes),      cmocka_unit_test(files_are_spread),
		cmocka_unit_test(process_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
