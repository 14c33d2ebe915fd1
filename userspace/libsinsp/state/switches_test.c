/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of threads: by the kernel's counts, and by the clock in files without them. */
#include "switches.h"

#include <stdlib.h>

#include "testing/engine_fake.h"
#include "testing/test_main.h"
#include "thread.h"

#define MS 1000000ull
#define T0 (1000 * MS) /* time of the snapshot */
#define I(x) ((int64_t)(x))
#define NOTHING "", I(0)
#define UNKNOWN UINT64_MAX

enum { THREAD = SINSP_CL_FILES | SINSP_CL_FS | SINSP_CL_THREAD };

/* Adds a thread that had run for @ran_ms; UNKNOWN: no count. */
static void has_thread(struct scap_fake *f, uint64_t tid, uint64_t pid, uint64_t ran_ms)
{
	const struct scap_thread_info t = {
		.tid = tid,
		.pid = pid,
		.ptid = 1,
		.comm = "x",
		.flags = tid == pid ? 0 : THREAD,
		.snapshot_ns = T0,
		.ran_ns = ran_ms == UNKNOWN ? 0 : ran_ms * MS,
		.ran_at_ns = ran_ms == UNKNOWN ? 0 : T0,
	};

	assert_int_equal(scap_state_build_thread(scap_fake_state(f), &t), 0);
}

/* @tid leaves CPU 0 to @next at @ms, with @ran_ms in all. */
static void leaves(struct scap_fake *f, uint64_t ms, int64_t tid, int64_t next, uint64_t ran_ms)
{
	const int with = ran_ms != UNKNOWN;

	assert_int_equal(scap_fake_add(f, T0 + ms * MS, 0, tid, EVT_SWITCH_E, 6 + with, next, I(0),
				       I(0), I(0), I(0), I(0), I(ran_ms * MS)),
			 0);
}

static void ends(struct scap_fake *f, uint64_t ms, int64_t tid, uint64_t ran_ms)
{
	assert_int_equal(scap_fake_add(f, T0 + ms * MS, 0, tid, EVT_PROCEXIT_E, 6, I(0), I(0), I(0),
				       I(0), I(0), I(ran_ms * MS)),
			 0);
}

static void clones(struct scap_fake *f, uint64_t ms, int64_t tid, int64_t child)
{
	assert_int_equal(scap_fake_add_call(f, T0 + ms * MS, T0 + ms * MS + 1, 1, tid, EVT_CLONE_X,
					    20, child, "x", NOTHING, tid, tid, I(1), "/", I(1024),
					    I(0), I(0), I(0), I(0), I(0), "x", NOTHING, I(0), I(7),
					    I(8), tid, tid),
			 0);
}

static void execs(struct scap_fake *f, uint64_t ms, int64_t tid)
{
	assert_int_equal(scap_fake_add_call(f, 0, T0 + ms * MS, 0, tid, EVT_EXECVE_X, 20, I(0),
					    "new", "x\0y", I(4), tid, tid, I(1), "", I(1024), I(0),
					    I(0), I(0), I(0), I(0), "new", NOTHING, NOTHING, I(0),
					    I(0), I(0), I(0)),
			 0);
}

/* Checks the time of each switch and procexit, in milliseconds. */
static struct sinsp *check_times(struct scap_fake *f, const uint64_t *want_ms, size_t n)
{
	struct sinsp_evt evt;
	struct scap *src;
	struct sinsp *s;
	size_t i = 0;

	assert_int_equal(scap_fake_open(&src, f), 0);
	assert_int_equal(sinsp_open(&s, src, NULL), 0);
	while (sinsp_next(s, &evt, 0) == 1) {
		if (evt.raw.type != EVT_SWITCH_E && evt.raw.type != EVT_PROCEXIT_E)
			continue;
		assert_true(i < n);
		assert_int_equal(evt.ran_known, want_ms[i] != UNKNOWN);
		assert_int_equal(evt.ran_ns, evt.ran_known ? want_ms[i] * MS : 0);
		i++;
	}
	assert_int_equal(i, n);
	return s;
}

#define TELLS(f, ...)                                                                              \
	check_times(f, (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8)

/* Switches from hidden threads: time before the capture does not count. */
static void test_turns_that_began_unseen(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct sinsp *s;

	(void)state;
	has_thread(f, 10, 10, 5000);
	has_thread(f, 11, 11, 0);
	leaves(f, 20, 10, 1, 5015); /* the first on its CPU */
	leaves(f, 100, 11, 1, 60); /* after 1, whose switch is missing */
	leaves(f, 200, 10, 1, 5035);
	s = TELLS(f, 15, 60, 20);
	assert_int_equal(sinsp_thread_find(s, 10)->exec_ns, 35 * MS);
	assert_int_equal(sinsp_thread_find(s, 11)->exec_ns, 60 * MS);
	sinsp_close(s);
}

static void test_the_clock_where_nothing_is_counted(void **state)
{
	struct scap_fake *f = scap_fake_new();

	(void)state;
	has_thread(f, 10, 10, UNKNOWN);
	leaves(f, 20, 10, 11, UNKNOWN);
	leaves(f, 30, 11, 10, UNKNOWN);
	leaves(f, 70, 10, 1, UNKNOWN);
	leaves(f, 90, 10, 11, UNKNOWN); /* after 1 */
	sinsp_close(TELLS(f, UNKNOWN, 10, 40, UNKNOWN));
}

/* A thread without a count in the snapshot: the first time is by the clock. */
static void test_first_count(void **state)
{
	struct scap_fake *f = scap_fake_new();

	(void)state;
	has_thread(f, 10, 10, UNKNOWN);
	has_thread(f, 12, 12, UNKNOWN);
	leaves(f, 20, 10, 12, 7000);
	leaves(f, 30, 12, 10, 3); /* 10 by the clock, of which an interrupt took 7 */
	leaves(f, 70, 10, 1, 7030);
	leaves(f, 80, 12, 1, 9);
	sinsp_close(TELLS(f, UNKNOWN, 3, 30, 6));
}

static void test_children_begin_at_0(void **state)
{
	struct scap_fake *f = scap_fake_new();

	(void)state;
	has_thread(f, 10, 10, 50);
	clones(f, 10, 10, 20);
	leaves(f, 30, 20, 1, 8); /* after an unknown thread */
	sinsp_close(TELLS(f, 8));
}

/* Impossible counts: more than the time that passed, or less than before. TIDs are reused, and
 * files may be hostile. */
static void test_counts_of_another_thread(void **state)
{
	struct scap_fake *f = scap_fake_new();

	(void)state;
	has_thread(f, 10, 10, 50);
	leaves(f, 10, 10, 1, 1ull << 40);
	leaves(f, 20, 10, 10, 5);
	leaves(f, 23, 10, 1, 2);
	leaves(f, 40, 10, 1, 6);
	sinsp_close(TELLS(f, 20, UNKNOWN, 2, 4));
}

/* The count in procexit is of the last tick, at most 10 ms before. */
static void test_ends(void **state)
{
	struct scap_fake *f = scap_fake_new();

	(void)state;
	has_thread(f, 10, 10, 50);
	has_thread(f, 11, 11, 50);
	has_thread(f, 12, 12, 50);
	leaves(f, 10, 10, 11, 60);
	ends(f, 16, 11, 54); /* 6 by the clock */
	leaves(f, 20, 1, 12, UNKNOWN);
	ends(f, 120, 12, 70); /* interrupts took the rest of 100 */
	ends(f, 130, 10, 65); /* its switch to the CPU is missing */
	sinsp_close(TELLS(f, 10, 6, UNKNOWN, 30, 5));
}

/* A thread that calls exec continues under the leader's TID, with its own count. */
static void test_exec_from_a_thread(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct sinsp *s;

	(void)state;
	has_thread(f, 10, 10, 1000);
	has_thread(f, 11, 10, 20);
	leaves(f, 10, 11, 10, 25);
	assert_int_equal(scap_fake_add(f, T0 + 11 * MS, 0, 11, EVT_EXECVE_E, 1, "/bin/new"), 0);
	ends(f, 12, 10, 1001);
	leaves(f, 13, 10, 11, 1003);
	execs(f, 15, 10);
	leaves(f, 20, 10, 1, 31);
	leaves(f, 30, 10, 1, 36);
	s = TELLS(f, 5, 2, 1, 6, 5);
	assert_null(sinsp_thread_find(s, 11));
	sinsp_close(s);
}

/* The reverse: the leader ran less than the thread that replaces it. */
static void test_exec_from_a_thread_that_ran(void **state)
{
	struct scap_fake *f = scap_fake_new();

	(void)state;
	has_thread(f, 10, 10, 1);
	has_thread(f, 11, 10, 2000);
	leaves(f, 10, 11, 10, 2005);
	assert_int_equal(scap_fake_add(f, T0 + 11 * MS, 0, 11, EVT_EXECVE_E, 1, "/bin/new"), 0);
	ends(f, 12, 10, 2);
	execs(f, 15, 10);
	leaves(f, 20, 10, 1, 2011);
	sinsp_close(TELLS(f, 5, 2, 6));
}

/* The counts at the beginning of the next file. */
static void test_export(void **state)
{
	struct scap_fake *f = scap_fake_new();
	const struct scap_state *st;
	struct scap_state_build *b;
	struct sinsp *s;

	(void)state;
	has_thread(f, 10, 10, 50);
	leaves(f, 10, 10, 1, 57);
	s = TELLS(f, 7);
	assert_int_equal(sinsp_export(s, &b), 0);
	st = scap_state_build_done(b);
	assert_int_equal(st->n_threads, 1);
	assert_int_equal(st->threads[0].ran_ns, 57 * MS);
	assert_int_equal(st->threads[0].ran_at_ns, T0 + 10 * MS);
	scap_state_build_free(b);
	sinsp_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns_that_began_unseen),
		cmocka_unit_test(test_the_clock_where_nothing_is_counted),
		cmocka_unit_test(test_first_count),
		cmocka_unit_test(test_children_begin_at_0),
		cmocka_unit_test(test_counts_of_another_thread),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_exec_from_a_thread),
		cmocka_unit_test(test_exec_from_a_thread_that_ran),
		cmocka_unit_test(test_export),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
