/* SPDX-License-Identifier: Apache-2.0 */
/* The thread table: growth, stand-ins, TIDs of hostile captures. */
#include "thread_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing/test_main.h"

/* 100,000 threads of 25,000 processes start and end. */
static void test_many(void **state)
{
	enum { N = 100000 };
	struct sinsp_threads tt;

	(void)state;
	assert_int_equal(sinsp_threads_init(&tt), 0);
	for (int64_t tid = 0; tid < N; tid++)
		assert_non_null(sinsp_threads_add(&tt, tid, tid & ~3, 1));
	assert_int_equal(tt.n, N);
	assert_int_equal(tt.procs.n_used, N / 4);
	for (int64_t tid = 0; tid < N; tid++) {
		struct sinsp_thread *t = sinsp_threads_find(&tt, tid);

		assert_non_null(t);
		assert_int_equal(t->proc->pid, tid & ~3);
		if (tid % 8 < 4)
			sinsp_threads_end(&tt, t, -1);
	}
	assert_int_equal(tt.n, N / 2);
	for (int64_t tid = 0; tid < N; tid++)
		assert_int_equal(!!sinsp_threads_find(&tt, tid), tid % 8 >= 4);
	sinsp_threads_fini(&tt);
}

static void test_full(void **state)
{
	struct sinsp_threads tt;
	int64_t tid = 0;

	(void)state;
	assert_int_equal(sinsp_threads_init(&tt), 0);
	while (sinsp_threads_add(&tt, tid, tid, 0))
		tid++;
	assert_true(tid >= SINSP_THREADS_MAX);
	assert_int_equal(tt.n_refused, 1);
	assert_null(sinsp_threads_add_stand_in(&tt, tid));
	sinsp_threads_end(&tt, sinsp_threads_find(&tt, 0), -1);
	assert_non_null(sinsp_threads_add(&tt, tid, tid, 0));
	sinsp_threads_fini(&tt);
}

/* A thread of an unknown main thread adds it as a stand-in. */
static void test_unknown_main_thread(void **state)
{
	struct sinsp_thread *t, *main;
	struct sinsp_threads tt;

	(void)state;
	assert_int_equal(sinsp_threads_init(&tt), 0);
	t = sinsp_threads_add(&tt, 11, 10, 1);
	main = sinsp_threads_find(&tt, 10);
	assert_non_null(main);
	assert_false(main->known);
	assert_ptr_equal(main->files, t->files);
	assert_ptr_equal(main->proc, t->proc);
	sinsp_threads_replace(&tt, main);
	assert_int_equal(tt.n, 0);
	assert_int_equal(tt.threads.n_used, 0);
	sinsp_threads_fini(&tt);
}

static void test_saved_enters(void **state)
{
	static union {
		struct ppm_evt_hdr hdr;
		char room[4096];
	} small = {.hdr = {.len = 60, .type = 6}}, big = {.hdr = {.len = 4000, .type = 2}};
	struct sinsp_thread *t;
	struct sinsp_threads tt;

	(void)state;
	assert_int_equal(sinsp_threads_init(&tt), 0);
	t = sinsp_threads_add(&tt, 10, 10, 0);
	assert_null(sinsp_thread_saved_enter(t));
	sinsp_thread_save_enter(&tt, t, &big.hdr);
	assert_int_equal(sinsp_thread_saved_enter(t)->type, 2);
	sinsp_thread_save_enter(&tt, t, &small.hdr);
	assert_int_equal(sinsp_thread_saved_enter(t)->type, 6);
	sinsp_thread_drop_enter(&tt, t);
	assert_null(sinsp_thread_saved_enter(t));
	sinsp_thread_save_enter(&tt, t, &big.hdr);
	sinsp_threads_fini(&tt);
}

/* TIDs of a hostile capture: hashes are seeded, so they cannot be made to collide. */
static void test_planned_numbers(void **state)
{
	enum { N = 4000, LONGEST = 200 };
	struct sinsp_threads tt;
	uint32_t run = 0, longest = 0;

	(void)state;
	assert_int_equal(sinsp_threads_init(&tt), 0);
	for (int64_t i = 1; i <= N; i++)
		assert_non_null(sinsp_threads_add(&tt, i << 50, i << 50, 0));
	for (uint32_t i = 0; i < tt.n_slots; i++) {
		run = tt.slots[i].t ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	assert_in_range(longest, 1, LONGEST);
	sinsp_threads_fini(&tt);
}

/* The oldest first, of a process with very many threads: a search for each one would take a minute.
 */
static void test_ends_of_many_siblings(void **state)
{
	enum { N = 200000, ME = 10 };
	struct sinsp_threads tt;
	struct sinsp_thread *main;

	(void)state;
	assert_int_equal(sinsp_threads_init(&tt), 0);
	main = sinsp_threads_add(&tt, ME, ME, 0);
	for (int64_t i = 1; i <= N; i++)
		assert_non_null(sinsp_threads_add(&tt, ME + i, ME, 1));
	alarm(20);
	for (int64_t i = 1; i <= N; i++)
		sinsp_threads_end(&tt, sinsp_threads_find(&tt, ME + i), -1);
	alarm(0);
	assert_ptr_equal(main->proc->threads, main);
	assert_null(main->sibling);
	assert_int_equal(main->proc->n_threads, 1);
	sinsp_threads_fini(&tt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_unknown_main_thread),
		cmocka_unit_test(test_saved_enters),
		cmocka_unit_test(test_planned_numbers),
		cmocka_unit_test(test_ends_of_many_siblings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
