/* SPDX-License-Identifier: Apache-2.0 */
#include "fd.h"

#include <stdlib.h>
#include <string.h>

#include "test_main.h"

struct fixture {
	struct sinsp_strings strings;
	struct sinsp_fd_mem mem;
	struct sinsp_files *files;
};

static void begin(struct fixture *x)
{
	assert_int_equal(sinsp_strings_init(&x->strings), 0);
	sinsp_slab_init(&x->mem.fds, sizeof(struct sinsp_fd));
	x->mem.strings = &x->strings;
	x->mem.n_refused = 0;
	x->files = sinsp_files_new();
}

static void end(struct fixture *x)
{
	sinsp_files_put(&x->mem, x->files);
	assert_int_equal(x->mem.fds.n_used, 0);
	sinsp_slab_fini(&x->mem.fds);
	sinsp_strings_fini(&x->strings);
}

/* Numbers from all over, some of which share a home; the table against a plain array. */
static void test_table(void **state)
{
	enum { N = 3000, STEPS = 100000 };
	static const int64_t steps[] = {1, 64, 4096, 1 << 20, 1000003};
	uint8_t *have = calloc(N, 1);
	struct fixture x;

	(void)state;
	begin(&x);
	srand(1);
	for (int i = 0; i < STEPS; i++) {
		int k = rand() % N;
		int64_t num = k * steps[k % 5];
		struct sinsp_fd *fd = sinsp_files_find(x.files, num);

		assert_int_equal(!!fd, have[k]);
		assert_true(!fd || fd->num == num);
		if (rand() % 2) {
			assert_non_null(sinsp_files_add(&x.mem, x.files, num));
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

static void test_sweep(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	for (int64_t i = 0; i < 1000; i++)
		sinsp_files_add(&x.mem, x.files, i % 3 ? i : i * 5003);
	sinsp_files_sweep(&x.mem, x.files, is_odd, NULL);
	for (uint32_t i = 0; i < x.files->n_slots; i++)
		assert_true(!x.files->slots[i] || !is_odd(x.files->slots[i], NULL));
	assert_int_equal(x.files->n, 500);
	end(&x);
}

static void test_copy(void **state)
{
	struct sinsp_files *copy;
	struct sinsp_fd *fd;
	struct fixture x;

	(void)state;
	begin(&x);
	fd = sinsp_files_add(&x.mem, x.files, 3);
	sinsp_fd_set_name(&x.mem, fd, "/a", 2);
	copy = sinsp_files_copy(&x.mem, x.files);
	sinsp_files_remove(&x.mem, x.files, 3);
	assert_string_equal(sinsp_files_find(copy, 3)->name, "/a");
	assert_null(sinsp_files_find(x.files, 3));
	sinsp_files_put(&x.mem, copy);
	end(&x);
}

/* A capture of 2 MB can ask for thousands of copies of a large table. */
static void test_total_is_bounded(void **state)
{
	enum { N = 50000, COPIES = 100 };
	struct sinsp_files *copies[COPIES];
	struct fixture x;
	int n = 0;

	(void)state;
	begin(&x);
	for (int64_t i = 0; i < N; i++)
		assert_non_null(sinsp_files_add(&x.mem, x.files, i));
	while (n < COPIES && (copies[n] = sinsp_files_copy(&x.mem, x.files)))
		n++;
	assert_int_equal(n, SINSP_FILES_TOTAL_MAX / N - 1);
	assert_int_equal(x.mem.n_refused, 1);
	/* There is room again as soon as one ends. */
	sinsp_files_put(&x.mem, copies[--n]);
	copies[n] = sinsp_files_copy(&x.mem, x.files);
	assert_non_null(copies[n]);
	for (; n >= 0; n--)
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
		sinsp_files_add(&x.mem, x.files, i);
	for (int64_t i = 0; i < 50000; i++)
		if (i != 40000)
			sinsp_files_remove(&x.mem, x.files, i);
	copy = sinsp_files_copy(&x.mem, x.files);
	assert_non_null(sinsp_files_find(copy, 40000));
	assert_int_equal(copy->n_slots, 8);
	sinsp_files_put(&x.mem, copy);
	end(&x);
}

static void test_refuses(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x);
	assert_null(sinsp_files_add(&x.mem, x.files, -1));
	assert_null(sinsp_files_find(x.files, -1));
	sinsp_files_remove(&x.mem, x.files, 5);
	assert_non_null(sinsp_files_add(&x.mem, x.files, INT64_MAX));
	assert_non_null(sinsp_files_find(x.files, INT64_MAX));
	end(&x);
}

static void test_typechar(void **state)
{
	struct sinsp_fd fd = {.type = SCAP_FD_IPV4_SOCK, .l4proto = SCAP_L4_TCP};

	(void)state;
	/* The protocol shows once it is known which end is ours. */
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
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_typechar),
		cmocka_unit_test(test_total_is_bounded),
		cmocka_unit_test(test_copy_of_emptied_table_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
