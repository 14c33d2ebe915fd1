/* SPDX-License-Identifier: Apache-2.0 */
/* Times of --from and --to. */
#include "time_arg.h"

#include <stdlib.h>
#include <time.h>

#include "testing/test_main.h"

#define S 1000000000ull
/* 2026-03-28 22:00:00 in Berlin, the night in which its clocks go forward. */
#define FIRST (1774731600ull * S)

static uint64_t ns_of(const char *text, uint64_t first_ns)
{
	struct time_arg t;

	assert_int_equal(time_arg_parse(&t, text), 0);
	return time_arg_ns(&t, first_ns);
}

static int zone(void **state)
{
	(void)state;
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	return 0;
}

static void test_times_of_day(void **state)
{
	(void)state;
	assert_int_equal(ns_of("22:00:00", FIRST), FIRST);
	assert_int_equal(ns_of("22:00", FIRST), FIRST);
	assert_int_equal(ns_of("22:00:01.000000002", FIRST), FIRST + S + 2);
	assert_int_equal(ns_of("22:00:01.5", FIRST), FIRST + S + S / 2);
	assert_int_equal(ns_of("22:00:01.1234567899", FIRST), FIRST + S + 123456789);
	/* A little before the capture begins, and the day after. */
	assert_int_equal(ns_of("21:59:00", FIRST), FIRST - 60 * S);
	assert_int_equal(ns_of("01:00:00", FIRST), FIRST + 3 * 3600 * S);
	assert_int_equal(ns_of("23:59", FIRST + 3 * 3600 * S), FIRST + (2 * 3600 - 60) * S);
	/* The hour from 2 to 3 is missing. */
	assert_int_equal(ns_of("04:00:00", FIRST), FIRST + 5 * 3600 * S);
}

static void test_dates(void **state)
{
	(void)state;
	assert_int_equal(ns_of("2026-03-28 22:00:00", 1), FIRST);
	assert_int_equal(ns_of("2026-03-28T22:00:00.25", 1), FIRST + S / 4);
	assert_int_equal(ns_of("2026-03-28T21:00Z", 1), FIRST);
	assert_int_equal(ns_of("2026-03-29 04:00", 1), FIRST + 5 * 3600 * S);
	assert_int_equal(ns_of("2026-03-28T21:00:00.000000000+0000", 1), FIRST);
	assert_int_equal(ns_of("2026-03-29T02:30:00+05:30", 1), FIRST);
	assert_int_equal(ns_of("2026-03-28T13:00:00-08:00", 1), FIRST);
}

static void test_seconds(void **state)
{
	(void)state;
	assert_int_equal(ns_of("1774731600", 1), FIRST);
	assert_int_equal(ns_of("1774731600.000000001", 1), FIRST + 1);
	assert_int_equal(ns_of("1774731600000000001", 1), FIRST + 1);
	assert_int_equal(ns_of("+0", FIRST), FIRST);
	assert_int_equal(ns_of("+90.25", FIRST), FIRST + 90 * S + S / 4);
	assert_int_equal(ns_of("+17446744073.7", FIRST), UINT64_MAX);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"+",
		"x",
		"-5",
		"12:",
		"24:00",
		"12:60",
		"12:5:99",
		"12:00:00x",
		"12:00:00Z",
		"2026-02-30 00:00",
		"2026-13-01 00:00",
		"2026-01-01",
		"2026-01-01 ",
		"1.5s",
		"+1m",
		"99999999999999999999",
		"2026-01-01 00:00+1",
		"2026-01-01 00:00+15:00",
		"123:00",
	};
	struct time_arg t;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!time_arg_parse(&t, bad[i]))
			fail_msg("'%s' was taken as a time", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_of_day),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, zone, NULL);
}
