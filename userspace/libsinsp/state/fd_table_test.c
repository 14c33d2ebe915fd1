/* SPDX-License-Identifier: Apache-2.0 */
/* The fd table against a plain array, copies after fork, and its limits. */
#include "fd_table.h"

#include <stdlib.h>
#include <string.h>

#include "testing/test_main.h"

struct fixture {
	struct sinsp_strings strings;
	struct sinsp_fd_mem mem;
	struct sinsp_files *files;
};

static void begin(struct fixture *x)
{
	assert_int_equal(sinsp_strings_init(&x->strings), 0);
	sinsp_fd_mem_init(&x->mem, &x->strings);
	x->files = sinsp_files_new();
}

static void end(struct fixture *x)
{
	sinsp_files_put(&x->mem, x->files);
	assert_int_equal(x->mem.fds.n_used + x->mem.fds_with_ends.n_used, 0);
	assert_int_equal(x->mem.chunks.n_used, 0);
	assert_int_equal(x->mem.tables.n_used, 0);
	assert_int_equal(x->mem.n_places, 0);
	sinsp_fd_mem_fini(&x->mem);
	sinsp_strings_fini(&x->strings);
}

/* Random numbers, some with one hash: compares the table with an array. */
static void test_table(void **state)
{
	enum { N = 3000, STEPS = 100000 };
	static const int64_t steps[] = {1, 64, 4096, 1 << 19, 700001};
	uint8_t *have = calloc(N, 1);
	struct fixture x;

	(void)state;
	begin(&x);
	srand(1);
	for (int i = 0; i < STEPS; i++) {
		int k = rand() % N;
		int64_t num = k * steps[k % 5];
		const struct sinsp_fd *fd = sinsp_files_find(x.files, num);

		assert_int_equal(!!fd, have[k]);
		assert_true(!fd || fd->num == num);
		if (rand() % 2) {
			assert_non_null(sinsp_files_add(&x.mem, x.files, num, SCAP_FD_FILE_V2));
			have[k] = 1;
		} else {
			sinsp_files_remove(&x.mem, x.files, num);
			have[k] = 0;
		}
	}
	for (int k = 0; k < N; k++)
		assert_int_equal(!!sinsp_files_find(x.files, k * steps[k % 5]), have[k]);
	free(have);
	end(&x);
}

static int is_odd(const struct sinsp_fd *fd, void *ctx)
{
	(void)ctx;
	return fd->num & 1;
}

static void assert_even(const struct sinsp_fd *fd, void *ctx)
{
	assert_false(is_odd(fd, NULL));
	++*(uint32_t *)ctx;
}

static void test_sweep(void **state)
{
	struct fixture x;
	uint32_t n = 0;

	(void)state;
	begin(&x);
	for (int64_t i = 0; i < 1000; i++)
		sinsp_files_add(&x.mem, x.files, i % 3 ? i : i * 5003, SCAP_FD_FILE_V2);
	sinsp_files_sweep(&x.mem, x.files, is_odd, NULL);
	sinsp_files_each(x.files, assert_even, &n);
	assert_int_equal(n, 500);
	assert_int_equal(sinsp_files_count(x.files), 500);
	end(&x);
}

static void test_copy(void **state)
{
	struct sinsp_files *copy;
	struct sinsp_fd *fd;
	struct fixture x;

	(void)state;
	begin(&x);
	fd = sinsp_files_add(&x.mem, x.files, 3, SCAP_FD_FILE_V2);
	sinsp_fd_set_name(&x.mem, fd, "/a", 2);
	copy = sinsp_files_copy(x.files);
	assert_int_equal(x.mem.fds.n_used, 1);
	sinsp_fd_set_name(&x.mem, sinsp_files_edit(&x.mem, copy, 3), "/b", 2);
	assert_string_equal(sinsp_files_find(x.files, 3)->name, "/a");
	sinsp_files_remove(&x.mem, x.files, 3);
	assert_string_equal(sinsp_files_find(copy, 3)->name, "/b");
	assert_null(sinsp_files_find(x.files, 3));
	sinsp_files_put(&x.mem, copy);
	end(&x);
}

/* The expected table: dev by number; 0: none. */
enum { FAMILY = 6, NUMBERS = 700 };

struct plain {
	struct sinsp_files *files;
	uint32_t dev[NUMBERS];
};

static int64_t spread(int k)
{
	return k < NUMBERS / 2 ? k : k * 3000017ll;
}

static int is_multiple(const struct sinsp_fd *fd, void *ctx)
{
	return fd->dev % *(uint32_t *)ctx == 0;
}

static void change(struct fixture *x, struct plain *p, uint32_t value)
{
	const int what = rand() % 64, k = rand() % NUMBERS;
	struct sinsp_fd *fd;

	if (!what) {
		uint32_t by = 2 + rand() % 20;

		sinsp_files_sweep(&x->mem, p->files, is_multiple, &by);
		for (int i = 0; i < NUMBERS; i++)
			p->dev[i] = p->dev[i] % by ? p->dev[i] : 0;
	} else if (what < 30) {
		sinsp_files_remove(&x->mem, p->files, spread(k));
		p->dev[k] = 0;
	} else {
		fd = what < 40 && p->dev[k]
			     ? sinsp_files_edit(&x->mem, p->files, spread(k))
			     : sinsp_files_add(&x->mem, p->files, spread(k), SCAP_FD_FILE_V2);
		assert_non_null(fd);
		fd->dev = p->dev[k] = value;
	}
}

static void assert_like(const struct plain *p)
{
	uint32_t n = 0;

	for (int k = 0; k < NUMBERS; k++) {
		const struct sinsp_fd *fd = sinsp_files_find(p->files, spread(k));

		assert_int_equal(fd ? fd->dev : 0, p->dev[k]);
		n += !!fd;
	}
	assert_int_equal(sinsp_files_count(p->files), n);
}

/* Processes fork and end at random, and change what they share. */
static void test_family(void **state)
{
	struct plain p[FAMILY] = {0};
	struct fixture x;

	(void)state;
	begin(&x);
	srand(2);
	for (int i = 0; i < FAMILY; i++)
		p[i].files = sinsp_files_new();
	for (uint32_t step = 1; step <= 100000; step++) {
		int i = rand() % FAMILY, j = rand() % FAMILY;

		if (rand() % 100 || i == j) {
			change(&x, &p[i], step);
			continue;
		}
		sinsp_files_put(&x.mem, p[j].files);
		p[j] = p[i];
		p[j].files = sinsp_files_copy(p[i].files);
		for (int k = 0; k < FAMILY && step % 7 == 0; k++)
			assert_like(&p[k]);
	}
	for (int i = 0; i < FAMILY; i++) {
		assert_like(&p[i]);
		sinsp_files_put(&x.mem, p[i].files);
	}
	end(&x);
}

/* A fork allocates nothing; a change copies one chunk. */
static void test_copy_is_lazy(void **state)
{
	enum { N = 50000 };
	struct sinsp_files *copy;
	struct fixture x;
	int all = 1;

	(void)state;
	begin(&x);
	for (int64_t i = 0; i < N; i++)
		sinsp_files_add(&x.mem, x.files, i, SCAP_FD_FILE_V2)->dev = 4;
	copy = sinsp_files_copy(x.files);
	assert_int_equal(x.mem.tables.n_used, 1);
	assert_non_null(sinsp_files_add(&x.mem, copy, 7, SCAP_FD_FILE_V2));
	assert_int_equal(x.mem.fds.n_used, N + SINSP_CHUNK_FILES);
	/* Chunks that lose all descriptors are not copied. */
	sinsp_files_sweep(&x.mem, copy, is_multiple, &all);
	assert_int_equal(sinsp_files_count(copy), 0);
	assert_int_equal(x.mem.fds.n_used, N);
	assert_int_equal(sinsp_files_count(x.files), N);
	sinsp_files_put(&x.mem, copy);
	end(&x);
}

static int touch_all(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t n)
{
	for (int64_t i = 0; i < n; i += SINSP_CHUNK_FILES)
		if (!sinsp_files_edit(mem, f, i))
			return 0;
	return 1;
}

/* A capture of 2 MB can make thousands of copies of a large table. */
static void test_total_is_bounded(void **state)
{
	enum { N = 50000, COPIES = 100 };
	struct sinsp_files *copies[COPIES];
	struct fixture x;
	int n = 0;

	(void)state;
	begin(&x);
	for (int64_t i = 0; i < N; i++)
		assert_non_null(sinsp_files_add(&x.mem, x.files, i, SCAP_FD_FILE_V2));
	do
		copies[n] = sinsp_files_copy(x.files);
	while (touch_all(&x.mem, copies[n++], N));
	assert_int_equal(n, SINSP_FILES_TOTAL_MAX / N);
	assert_int_equal(x.mem.n_refused, 1);
	/* A descriptor that could not be changed stays; there is room once a process ends. */
	assert_non_null(sinsp_files_find(copies[n - 1], N - 1));
	sinsp_files_put(&x.mem, copies[0]);
	assert_true(touch_all(&x.mem, copies[n - 1], N));
	while (--n)
		sinsp_files_put(&x.mem, copies[n]);
	end(&x);
}

static void test_copy_of_emptied_table_is_small(void **state)
{
	struct sinsp_files *copy;
	struct fixture x;

	(void)state;
	begin(&x);
	for (int64_t i = 0; i < 50000; i++)
		sinsp_files_add(&x.mem, x.files, i, SCAP_FD_FILE_V2);
	for (int64_t i = 0; i < 50000; i++)
		if (i != 40000)
			sinsp_files_remove(&x.mem, x.files, i);
	copy = sinsp_files_copy(x.files);
	assert_non_null(sinsp_files_add(&x.mem, copy, 1, SCAP_FD_FILE_V2));
	assert_non_null(sinsp_files_find(copy, 40000));
	assert_int_equal(copy->table->n_places, 4);
	sinsp_files_put(&x.mem, copy);
	end(&x);
}

static void test_refuses(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	assert_null(sinsp_files_add(&x.mem, x.files, -1, SCAP_FD_FILE_V2));
	assert_null(sinsp_files_find(x.files, -1));
	sinsp_files_remove(&x.mem, x.files, 5);
	assert_null(sinsp_files_add(&x.mem, x.files, INT32_MAX + 1ll, SCAP_FD_FILE_V2));
	assert_non_null(sinsp_files_add(&x.mem, x.files, INT32_MAX, SCAP_FD_FILE_V2));
	assert_int_equal(sinsp_files_find(x.files, INT32_MAX)->num, INT32_MAX);
	assert_null(sinsp_files_find(x.files, INT64_MAX));
	end(&x);
}

/* Only sockets have room for ends; a descriptor that becomes a socket gets it. */
static void test_ends(void **state)
{
	struct sinsp_files *copy;
	struct sinsp_fd *fd;
	struct fixture x;

	(void)state;
	begin(&x);
	fd = sinsp_files_add(&x.mem, x.files, 3, SCAP_FD_UNIX_SOCK);
	sinsp_fd_edit_ends(fd)->unix_dst = 7;
	fd = sinsp_files_add(&x.mem, x.files, 4, SCAP_FD_FILE_V2);
	sinsp_fd_set_name(&x.mem, fd, "/a", 2);
	assert_null(sinsp_fd_edit_ends(fd));
	assert_int_equal(sinsp_fd_ends(fd)->unix_dst, 0);

	copy = sinsp_files_copy(x.files);
	fd = sinsp_files_edit_socket(&x.mem, copy, 4);
	sinsp_fd_edit_ends(fd)->tuple.dport = 80;
	assert_string_equal(fd->name, "/a");
	assert_int_equal(sinsp_fd_tuple(sinsp_files_find(copy, 4))->dport, 80);
	assert_int_equal(sinsp_fd_ends(sinsp_files_find(copy, 3))->unix_dst, 7);
	assert_int_equal(sinsp_fd_tuple(sinsp_files_find(x.files, 4))->dport, 0);

	/* A descriptor without ends does not copy them. */
	sinsp_fd_copy(&x.mem, sinsp_files_edit(&x.mem, x.files, 4), fd);
	assert_int_equal(sinsp_fd_tuple(sinsp_files_find(x.files, 4))->dport, 0);
	sinsp_fd_copy(&x.mem, sinsp_files_edit(&x.mem, x.files, 3), fd);
	assert_int_equal(sinsp_fd_tuple(sinsp_files_find(x.files, 3))->dport, 80);

	/* A pipe in the place of a socket has no ends. */
	fd = sinsp_files_add(&x.mem, copy, 3, SCAP_FD_FIFO);
	assert_int_equal(sinsp_fd_ends(fd)->unix_dst, 0);
	assert_int_equal(x.mem.fds.n_used, 2);
	assert_int_equal(x.mem.fds_with_ends.n_used, 2);
	sinsp_files_put(&x.mem, copy);
	end(&x);
}

static void test_typechar(void **state)
{
	struct sinsp_fd fd = {.type = SCAP_FD_IPV4_SOCK, .l4proto = SCAP_L4_TCP};

	(void)state;
	/* The protocol is printed once the local end is known. */
	assert_string_equal(sinsp_fd_typechar(&fd), "4");
	fd.flags = SINSP_FD_F_CLIENT;
	assert_string_equal(sinsp_fd_typechar(&fd), "4t");
	fd.type = SCAP_FD_IPV6_SERVSOCK;
	fd.l4proto = SCAP_L4_UDP;
	fd.flags = 0;
	assert_string_equal(sinsp_fd_typechar(&fd), "6u");
	fd.type = 200;
	assert_string_equal(sinsp_fd_typechar(&fd), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_family),
		cmocka_unit_test(test_copy_is_lazy),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_typechar),
		cmocka_unit_test(test_total_is_bounded),
		cmocka_unit_test(test_copy_of_emptied_table_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
