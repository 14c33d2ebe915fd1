/* SPDX-License-Identifier: Apache-2.0 */
#include "ring/clock_offset.h"

#include <time.h>

#include "testing/test_main.h"

#define S 1000000000ll
#define MS 1000000ll

static void test_no_step(void **state)
{
	struct clock_offset e;

	(void)state;
	clock_offset_init(&e, 1000 * S);
	assert_int_equal(clock_offset_ns(&e, 5 * S), 1005 * S);
	assert_int_equal(clock_offset_update(&e, 6 * S, 1000 * S + 500), 0); /* noise */
	assert_int_equal(clock_offset_ns(&e, 7 * S), 1007 * S);
}

/* Events from before the step keep the time they had. */
static void test_step_forward(void **state)
{
	struct clock_offset e;

	(void)state;
	clock_offset_init(&e, 1000 * S);
	assert_int_equal(clock_offset_update(&e, 10 * S, 1060 * S), 60 * S);
	assert_int_equal(clock_offset_ns(&e, 10 * S - 1), 1010 * S - 1);
	assert_int_equal(clock_offset_ns(&e, 10 * S), 1070 * S);
	assert_int_equal(clock_offset_ns(&e, 20 * S), 1080 * S);
	assert_int_equal(clock_offset_update(&e, 21 * S, 1060 * S), 0);
}

static void test_step_back_never_goes_back(void **state)
{
	struct clock_offset e;
	uint64_t last = 0;

	(void)state;
	clock_offset_init(&e, 1000 * S);
	assert_int_equal(clock_offset_update(&e, 10 * S, 1000 * S - 20 * MS), -20 * MS);
	for (int64_t t = 9 * S; t < 60 * S; t += 7 * MS) {
		uint64_t ns = clock_offset_ns(&e, t);

		assert_true(ns > last);
		last = ns;
	}
	assert_int_equal(clock_offset_ns(&e, 60 * S), 1060 * S - 20 * MS); /* made up for by then */
}

/* A second step while the first is being made up for, seen before events passed the first. */
static void test_steps_in_a_row(void **state)
{
	struct clock_offset e;
	uint64_t last = 0;

	(void)state;
	clock_offset_init(&e, 1000 * S);
	clock_offset_update(&e, 10 * S, 999 * S);
	clock_offset_update(&e, 11 * S, 998 * S);
	for (int64_t t = 9 * S; t < 30 * S; t += 3 * MS) {
		uint64_t ns = clock_offset_ns(&e, t);

		assert_true(ns > last);
		last = ns;
		if (t == 21 * S)
			clock_offset_update(&e, 21 * S + 1, 1000 * S);
	}
	assert_int_equal(last, 1030 * S - 3 * MS);
}

static void test_offset_is_that_of_the_clocks(void **state)
{
	struct timespec boot, real;
	int64_t offset = clock_offset_read();

	(void)state;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &real);
	offset -= (real.tv_sec - boot.tv_sec) * S + real.tv_nsec - boot.tv_nsec;
	assert_true(offset > -100 * MS && offset < 100 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_step),
		cmocka_unit_test(test_step_forward),
		cmocka_unit_test(test_step_back_never_goes_back),
		cmocka_unit_test(test_steps_in_a_row),
		cmocka_unit_test(test_offset_is_that_of_the_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
