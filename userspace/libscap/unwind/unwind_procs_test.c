/* SPDX-License-Identifier: Apache-2.0 */
/* Processes' mappings and their tables: forks, execs, what takes the place of what, room that ends.
 */
#include "testing/test_main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "shared/interp.h"
#include "unwind/unwind_procs.h"
#include "unwind/unwind_work.h"

#define PID 0x7ffffff0u /* no process has it: files are found by their names */
#define SECOND 1000000000ull

static struct unwind_pool *pool;
static struct unwind_files *files;
static struct unwind_procs *procs;

static void begin(size_t max_sz)
{
	assert_int_equal(unwind_pool_new(&pool, -1, max_sz), 0);
	assert_int_equal(unwind_files_new(&files, pool), 0);
	assert_int_equal(unwind_procs_new(&procs, pool, files, -1), 0);
}

static int end(void **state)
{
	(void)state;
	unwind_procs_free(procs);
	unwind_files_free(files);
	unwind_pool_free(pool);
	procs = NULL;
	files = NULL;
	pool = NULL;
	return 0;
}

/* Code of @path, NULL: of no file, from @addr on. */
static void map(uint32_t pid, const char *path, uint64_t addr, uint64_t len, uint64_t ns)
{
	struct code_map m = {
		.pid = pid, .addr = addr, .length = len, .prot = PROT_EXEC, .path = ""};
	struct stat st;

	if (path) {
		assert_int_equal(stat(path, &st), 0);
		m.ino = st.st_ino;
		m.path = path;
		m.path_len = strlen(path);
	}
	assert_int_equal(unwind_procs_map(procs, &m, ns), 0);
}

static const struct unwind_map *maps_of(uint32_t pid, uint32_t *n)
{
	struct unwind_process p;

	*n = 0;
	if (unwind_procs_find(procs, &p, pid))
		return NULL;
	assert_int_equal(p.gen, p.gen_end);
	*n = p.n_maps;
	return (const struct unwind_map *)unwind_pool_at(pool, p.maps);
}

static void test_what_takes_the_place_of_what(void **state)
{
	const struct unwind_map *m;
	uint32_t n;

	(void)state;
	begin(8u << 20);
	assert_int_equal(unwind_procs_exec(procs, PID, 10), 0);
	map(PID, "/bin/sh", 0x10000, 0x100000, 11);
	map(PID, NULL, 0x20000, 0x1000, 12); /* in its middle */
	map(PID, NULL, 0x21000, 0x1000, 13); /* grows that */
	map(PID, "/bin/sh", 0x500000, 0x1000, 9); /* older than the exec */
	unwind_procs_publish(procs, 14);
	m = maps_of(PID, &n);
	assert_int_equal(n, 3);
	assert_int_equal(m[0].start, 0x10000);
	assert_int_equal(m[0].end, 0x20000);
	assert_true(m[0].n_rows > 100);
	assert_int_equal(m[0].bias, 0x10000);
	assert_int_equal(m[1].start, 0x20000);
	assert_int_equal(m[1].end, 0x22000);
	assert_int_equal(m[1].n_rows, 0);
	assert_int_equal(m[1].flags, 0);
	assert_int_equal(m[2].start, 0x22000);
	assert_int_equal(m[2].end, 0x110000);
	assert_int_equal(m[2].bias, 0x10000); /* it is the same file, at the same distance */
	assert_int_equal(m[2].rows, m[0].rows);
}

/* A function returns to the first byte of the kernel's code for probes, and is looked up before. */
static void test_probes(void **state)
{
	struct code_map m = {.pid = PID,
			     .addr = 0x30000,
			     .length = 0x1000,
			     .prot = PROT_EXEC,
			     .path = "[uprobes]",
			     .path_len = 9};
	const struct unwind_map *v;
	uint32_t n;

	(void)state;
	begin(8u << 20);
	assert_int_equal(unwind_procs_exec(procs, PID, 10), 0);
	map(PID, NULL, 0x2f000, 0x1000, 11);
	assert_int_equal(unwind_procs_map(procs, &m, 12), 0);
	unwind_procs_publish(procs, 13);
	v = maps_of(PID, &n);
	assert_int_equal(n, 2); /* not one with the code of no file before it */
	assert_int_equal(v[0].flags, 0);
	assert_int_equal(v[1].start, 0x2ffff);
	assert_int_equal(v[1].end, 0x31000);
	assert_int_equal(v[1].flags, UNWIND_MAP_F_PROBE);
}

static void test_forks_and_execs(void **state)
{
	struct unwind_process parent, child;
	struct unwind_procs_stats st;
	uint32_t n;

	(void)state;
	begin(8u << 20);
	unwind_procs_exec(procs, PID, 10);
	map(PID, "/bin/sh", 0x10000, 0x10000, 11);
	unwind_procs_publish(procs, 12);
	assert_int_equal(unwind_procs_fork(procs, PID + 1, PID, 20), 0);
	unwind_procs_publish(procs, 21);
	assert_int_equal(unwind_procs_find(procs, &parent, PID), 0);
	assert_int_equal(unwind_procs_find(procs, &child, PID + 1), 0);
	assert_int_equal(parent.maps, child.maps); /* written once */
	assert_int_not_equal(parent.gen, child.gen);
	map(PID, NULL, 0x90000, 0x1000, 30); /* the parent's alone */
	unwind_procs_publish(procs, 31);
	maps_of(PID, &n);
	assert_int_equal(n, 2);
	maps_of(PID + 1, &n);
	assert_int_equal(n, 1);
	unwind_procs_exec(procs, PID + 1, 40);
	unwind_procs_publish(procs, 41);
	assert_int_equal(unwind_procs_find(procs, &child, PID + 1), -ENOENT);
	/* A fork that is reported late, after the exec. */
	unwind_procs_fork(procs, PID + 1, PID, 35);
	unwind_procs_publish(procs, 42);
	assert_int_equal(unwind_procs_find(procs, &child, PID + 1), -ENOENT);
	unwind_procs_exit(procs, PID, 50);
	unwind_procs_exit(procs, PID + 1, 50);
	unwind_procs_sweep(procs, SECOND / 2); /* samples of them may come */
	unwind_procs_stats(procs, &st);
	assert_int_equal(st.n, 2);
	unwind_procs_sweep(procs, 2 * SECOND);
	unwind_procs_stats(procs, &st);
	assert_int_equal(st.n, 0);
}

/* A program that forks before all of its first mappings were written. */
static void test_fork_of_what_is_not_written(void **state)
{
	uint32_t n;

	(void)state;
	begin(8u << 20);
	unwind_procs_exec(procs, PID, 10);
	map(PID, "/bin/sh", 0x10000, 0x1000, 11);
	unwind_procs_publish(procs, 12);
	map(PID, "/bin/sh", 0x90000, 0x1000, 13);
	unwind_procs_fork(procs, PID + 1, PID, 14);
	unwind_procs_publish(procs, 15);
	maps_of(PID, &n);
	assert_int_equal(n, 2);
	maps_of(PID + 1, &n);
	assert_int_equal(n, 2);
}

/* A child's copy of one mapping becomes three at once: both ends, and what lies between them. */
static void test_split_of_a_copy(void **state)
{
	const struct unwind_map *m;
	uint32_t n;

	(void)state;
	begin(8u << 20);
	unwind_procs_exec(procs, PID, 10);
	for (uint32_t i = 1; i <= 32; i++) { /* however many there are to copy */
		map(PID, "/bin/sh", 0x1000000ull * i, 0x100000, 10 + i);
		assert_int_equal(unwind_procs_fork(procs, PID + i, PID, 50), 0);
		map(PID + i, NULL, 0x1000000ull * i + 0x20000, 0x1000, 60);
		unwind_procs_publish(procs, 61);
		m = maps_of(PID + i, &n);
		assert_int_equal(n, i + 2);
		assert_int_equal(m[i - 1].end, 0x1000000ull * i + 0x20000);
		assert_int_equal(m[i].end, 0x1000000ull * i + 0x21000);
		assert_int_equal(m[i + 1].end, 0x1000000ull * i + 0x100000);
	}
}

/* An exec that another CPU reports later than its first mappings. */
static void test_late_exec(void **state)
{
	const struct unwind_map *m;
	uint32_t n;

	(void)state;
	begin(8u << 20);
	unwind_procs_exec(procs, PID, 10);
	map(PID, NULL, 0x10000, 0x1000, 11);
	map(PID, NULL, 0x20000, 0x1000, 21);
	map(PID, "/bin/sh", 0x30000, 0x1000, 22);
	unwind_procs_exec(procs, PID, 20);
	unwind_procs_publish(procs, 23);
	m = maps_of(PID, &n);
	assert_int_equal(n, 2);
	assert_int_equal(m[0].start, 0x20000);
	assert_int_equal(m[1].start, 0x30000);
	assert_true(m[1].n_rows > 0);
}

/* A file has one table, whoever maps it; the table remains when no process maps it. */
static void test_tables_are_shared(void **state)
{
	struct unwind_files_stats st;
	const struct unwind_map *a, *b;
	uint64_t n_rows;
	uint32_t n;

	(void)state;
	begin(8u << 20);
	for (uint32_t i = 0; i < 3; i++) {
		unwind_procs_exec(procs, PID + i, 10);
		map(PID + i, "/bin/sh", 0x10000 * (i + 1), 0x10000, 11);
	}
	unwind_procs_publish(procs, 12);
	a = maps_of(PID, &n);
	b = maps_of(PID + 2, &n);
	assert_int_equal(a->rows, b->rows);
	unwind_files_stats(files, &st);
	assert_int_equal(st.n_files, 1);
	n_rows = st.n_rows;
	for (uint32_t i = 0; i < 3; i++)
		unwind_procs_exit(procs, PID + i, 20);
	unwind_procs_sweep(procs, 2 * SECOND);
	unwind_files_stats(files, &st);
	assert_int_equal(st.n_rows, n_rows);
}

/* Room for one chunk, and more tables than fit: the newest gets its own, the least recently used is
 * evicted. */
static void test_room_ends(void **state)
{
	static const char *const paths[] = {"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
					    "/usr/lib/x86_64-linux-gnu/libc.so.6",
					    "/usr/bin/perl",
					    "/bin/bash",
					    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
					    "/usr/bin/git"};
	struct unwind_files_stats st;
	const struct unwind_map *m;
	uint64_t now = SECOND;
	uint32_t last = 0, n;
	struct stat s;

	(void)state;
	begin(UNWIND_CHUNK_SZ);
	for (uint32_t i = 0; i < 6; i++) {
		if (stat(paths[i], &s))
			continue;
		last = PID - i;
		unwind_procs_exec(procs, last, now);
		map(last, paths[i], 0x10000, 0x1000000, now + 1);
		unwind_procs_publish(procs, now + 2);
		for (int k = 0; k < 20 && unwind_procs_make_room(procs, now + 3); k++)
			now += SECOND;
		now += SECOND;
		/* The mapping is reported again: the process cannot be read, as it does not exist.
		 */
		map(last, paths[i], 0x10000, 0x1000000, now);
		unwind_procs_publish(procs, now);
	}
	unwind_files_stats(files, &st);
	if (!st.n_no_room)
		skip(); /* too few of these files are here */
	assert_true(st.n_evicted > 0);
	assert_true(unwind_pool_used(pool) <= UNWIND_CHUNK_SZ);
	m = maps_of(last, &n);
	assert_int_equal(n, 1);
	assert_true(m->n_rows > 0);
	assert_int_equal(m->flags, 0);
	/* An evicted table is marked as such, and does not lead to the rows that lie there now. */
	for (uint32_t i = 0, none = 0; i <= 6; i++) {
		if (i == 6) {
			assert_true(none > 0);
			break;
		}
		m = maps_of(PID - i, &n);
		none += m && m->flags == UNWIND_MAP_F_NO_TABLE && !m->n_rows;
	}
}

/* Places are given out again, but not at once; neighbours become one. */
static void test_pool(void **state)
{
	int64_t a, b, c;

	(void)state;
	assert_int_equal(unwind_pool_new(&pool, -1, UNWIND_CHUNK_SZ), 0);
	a = unwind_pool_alloc(pool, UNWIND_CHUNK_WORDS / 2);
	b = unwind_pool_alloc(pool, UNWIND_CHUNK_WORDS / 2);
	assert_true(a >= 0 && b >= 0 && a != b);
	assert_int_equal(unwind_pool_alloc(pool, 1), -ENOSPC);
	assert_int_equal(unwind_pool_alloc(pool, UNWIND_CHUNK_WORDS + 1), -EINVAL);
	unwind_pool_release(pool, (uint32_t)b, UNWIND_CHUNK_WORDS / 2, SECOND);
	unwind_pool_release(pool, (uint32_t)a, UNWIND_CHUNK_WORDS / 2, SECOND);
	assert_int_equal(unwind_pool_used(pool), 0);
	unwind_pool_settle(pool, SECOND + 1000);
	assert_int_equal(unwind_pool_alloc(pool, 1), -ENOSPC);
	unwind_pool_settle(pool, 2 * SECOND);
	c = unwind_pool_alloc(pool, UNWIND_CHUNK_WORDS);
	assert_true(c >= 0);
}

/* The mappings at that time, though the process has others by now; none of those before belongs to
 * this program. */
static void test_mappings_of_then(void **state)
{
	static struct unwind_map m[8];

	(void)state;
	begin(8u << 20);
	assert_int_equal(unwind_procs_at(m, 8, procs, PID, 5), -ENOENT);
	assert_int_equal(unwind_procs_exec(procs, PID, 10), 0);
	assert_int_equal(unwind_procs_at(m, 8, procs, PID, 9), -ESRCH);
	assert_int_equal(unwind_procs_at(m, 8, procs, PID, 10), 0);
	map(PID, "/bin/sh", 0x10000, 0x100000, 20);
	map(PID, "/bin/ls", 0x200000, 0x100000, 30);
	assert_int_equal(unwind_procs_at(m, 8, procs, PID, 19), 0);
	assert_int_equal(unwind_procs_at(m, 8, procs, PID, 20), 1);
	assert_true(m[0].start == 0x10000 && m[0].n_rows > 100);
	assert_int_equal(unwind_procs_at(m, 8, procs, PID, 29), 1);
	assert_int_equal(unwind_procs_at(m, 8, procs, PID, 1000), 2);
	assert_int_equal(unwind_procs_at(m, 1, procs, PID, 1000), -E2BIG);
	map(PID, "/bin/ls", 0x20000, 0x1000, 40); /* where there was something else */
	assert_int_equal(unwind_procs_at(m, 8, procs, PID, 39), 3);
	assert_int_equal(m[0].end, 0x20000);
	assert_int_equal(m[1].start, 0x21000);
	assert_int_equal(unwind_procs_at(m, 8, procs, PID, 40), 4);
	assert_int_equal(unwind_procs_fork(procs, PID - 1, PID, 50), 0);
	assert_int_equal(unwind_procs_at(m, 8, procs, PID - 1, 49), -ESRCH);
	assert_int_equal(unwind_procs_at(m, 8, procs, PID - 1, 50), 4);
	unwind_procs_exit(procs, PID, 60);
	assert_int_equal(unwind_procs_at(m, 8, procs, PID, 60), 4);
}

/* The budget that one process has used up remains for others, except its children. */
static void test_work_is_bounded(void **state)
{
	struct unwind_files_stats f;
	struct unwind_procs_stats p;
	uint32_t n;

	(void)state;
	begin(8u << 20);
	unwind_procs_bound_work(procs, 1000);
	assert_int_equal(unwind_procs_exec(procs, PID, 10), 0);
	map(PID, "/bin/sh", 0x10000, 0x100000, 11);
	map(PID, "/bin/sh", 0x200000, 0x100000, 12);
	unwind_procs_bound_work(procs, UNWIND_PROCESS_WORK_MAX);
	assert_int_equal(unwind_procs_fork(procs, PID - 1, PID, 13), 0);
	map(PID - 1, "/bin/sh", 0x400000, 0x100000, 14);
	unwind_procs_stats(procs, &p);
	unwind_files_stats(files, &f);
	assert_int_equal(p.n_too_much, 2); /* each is told once */
	assert_true(f.n_steps <= 1000);
	assert_int_equal(f.n_files + f.n_unreadable + f.n_too_much, 0);
	unwind_procs_publish(procs, 15);
	assert_int_equal(maps_of(PID, &n)[0].flags, UNWIND_MAP_F_NO_TABLE);
	assert_int_equal(unwind_procs_exec(procs, PID - 2, 16), 0);
	map(PID - 2, "/bin/sh", 0x10000, 0x100000, 17);
	unwind_procs_publish(procs, 18);
	assert_true(maps_of(PID - 2, &n)[0].n_rows > 100);
}

/* Returns whether the driver's map @fd has the Python of a process. */
static int has_python(int fd, uint32_t pid)
{
	const struct interp_key key = {.pid = pid, .walker = STACK_WALKER_PYTHON};
	struct interp_process process;

	return !bpf_map_lookup_elem(fd, &key, &process);
}

static void start_python(uint32_t pid, uint64_t ns)
{
	assert_int_equal(unwind_procs_exec(procs, pid, ns), 0);
	map(pid, "/usr/bin/python3", 0x400000, 0x4000000, ns + 1);
	unwind_procs_publish(procs, ns + 2);
}

/* Descriptions of interpreters go with their processes: the map has room for those that come later,
 * and for one that was refused meanwhile. */
static void test_interpreters(void **state)
{
	const uint32_t room = 4;
	struct unwind_procs_stats st;
	uint64_t now = SECOND;
	int fd;

	(void)state;
	fd = bpf_map_create(BPF_MAP_TYPE_HASH, NULL, sizeof(struct interp_key),
			    sizeof(struct interp_process), room, NULL);
	if (fd < 0 || access("/usr/bin/python3", R_OK)) {
		print_message("no map of BPF, or no Python\n");
		skip();
	}
	begin(64u << 20);
	unwind_procs_write_interps(procs, fd);
	for (uint32_t i = 0; i < 10 * room; i++, now += SECOND) {
		start_python(PID + i % 8, now);
		assert_true(has_python(fd, PID + i % 8));
		unwind_procs_exit(procs, PID + i % 8, now + 3);
		unwind_procs_sweep(procs, now + 3600 * SECOND);
		assert_false(has_python(fd, PID + i % 8));
	}
	for (uint32_t i = 0; i <= room; i++)
		start_python(PID + i, now);
	assert_false(has_python(fd, PID + room));
	for (int i = 0; i < 10; i++) {
		unwind_procs_sweep(procs, now + 3);
		unwind_procs_publish(procs, now + 3);
	}
	unwind_procs_stats(procs, &st);
	assert_int_equal(st.n_refused, 1);
	unwind_procs_exit(procs, PID, now + 3);
	unwind_procs_sweep(procs, now + 3600 * SECOND);
	unwind_procs_publish(procs, now + 3600 * SECOND);
	assert_true(has_python(fd, PID + room));
	close(fd);
}

/* An interpreter is looked up once, whatever a process has mapped: it has the file thousands of
 * times here, never with the loop. Looked up for each mapping, this takes a minute. */
static void test_interpreter_in_many_pieces(void **state)
{
	enum { PIECES = 8000, PIECE_SZ = 4096, STACKS = 100, DEADLINE_S = 20 };
	static struct unwind_map maps[PIECES];

	(void)state;
	if (access("/usr/bin/python3", R_OK)) {
		print_message("no Python\n");
		skip();
	}
	begin(64u << 20);
	alarm(DEADLINE_S);
	assert_int_equal(unwind_procs_exec(procs, PID, 10), 0);
	for (uint64_t i = 0; i < PIECES; i++)
		map(PID, "/usr/bin/python3", PIECE_SZ * (100 + 2 * i), PIECE_SZ, 20);
	unwind_procs_publish(procs, 30);
	for (int i = 0; i < STACKS; i++)
		assert_int_equal(unwind_procs_at(maps, PIECES, procs, PID, 40), PIECES);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_what_takes_the_place_of_what, end),
		cmocka_unit_test_teardown(test_probes, end),
		cmocka_unit_test_teardown(test_forks_and_execs, end),
		cmocka_unit_test_teardown(test_fork_of_what_is_not_written, end),
		cmocka_unit_test_teardown(test_split_of_a_copy, end),
		cmocka_unit_test_teardown(test_late_exec, end),
		cmocka_unit_test_teardown(test_mappings_of_then, end),
		cmocka_unit_test_teardown(test_tables_are_shared, end),
		cmocka_unit_test_teardown(test_room_ends, end),
		cmocka_unit_test_teardown(test_work_is_bounded, end),
		cmocka_unit_test_teardown(test_pool, end),
		cmocka_unit_test_teardown(test_interpreters, end),
		cmocka_unit_test_teardown(test_interpreter_in_many_pieces, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
