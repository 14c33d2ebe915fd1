/* SPDX-License-Identifier: Apache-2.0 */
/* Deltas of counters: the first reading, wraps, restarts, multiplexing. */
#include "account.h"
#include "shared/counter_delta.h"

#include "testing/test_main.h"

static void test_delta(void **state)
{
	static const struct {
		const char *what;
		struct counter_reading seen, now;
		uint64_t delta;
	} rows[] = {
		{"the first reading", {0}, {500, 10, 10}, 0},
		{"counts", {500, 10, 10}, {800, 20, 20}, 300},
		{"nothing", {500, 10, 10}, {500, 20, 20}, 0},
		{"wraps", {UINT64_MAX - 9, 10, 10}, {20, 20, 20}, 30},
		{"goes backwards", {500, 10, 10}, {400, 20, 20}, 0},
		{"is opened again", {500, 30, 30}, {800, 20, 20}, 0},
		{"never ran", {0, 10, 0}, {0, 20, 0}, 0},
		{"runs half the time", {500, 10, 5}, {800, 20, 10}, 600},
		{"did not run in the interval", {500, 10, 5}, {500, 20, 5}, 0},
		{"runs a third of hours",
		 {0, 1, 1},
		 {3000000000, 30000000000000, 10000000000000},
		 9000000000},
		{"counts much", {0, 1, 1}, {1ull << 62, 1ull << 40, 1ull << 39}, 1ull << 63},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct counter_reading seen = rows[i].seen;
		const uint64_t n = counter_delta(&seen, &rows[i].now);
		const uint64_t error = n > rows[i].delta ? n - rows[i].delta : rows[i].delta - n;

		if (error > rows[i].delta / 1000000)
			fail_msg("%s: %lu instead of %lu", rows[i].what, n, rows[i].delta);
		assert_memory_equal(&seen, &rows[i].now, sizeof(seen));
	}
}

/* It runs in every fourth interval: the sum is that of all of them. */
static void test_turns(void **state)
{
	struct counter_reading seen = {0}, now = {0, 1000, 1000};
	uint64_t sum = counter_delta(&seen, &now), expected = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		now.enabled += 1000;
		if (i % 4 == 3) {
			now.running += 1000;
			now.counter += 2000;
		}
		expected += 2000;
		sum += counter_delta(&seen, &now);
	}
	assert_in_range(sum, expected * 99 / 100, expected * 101 / 100);
}

/* The ratio of two counters, times the frequency of one. */
static void test_frequency(void **state)
{
	static const struct {
		const char *what;
		uint64_t was[2], now[2], hz, frequency; /* cycles, reference cycles */
	} rows[] = {
		{"as the reference", {0, 0}, {100, 100}, 2000000000, 2000000000},
		{"turbo", {50, 50}, {200, 150}, 2000000000, 3000000000},
		{"did not run", {50, 50}, {50, 50}, 2000000000, 0},
		{"no reference frequency", {0, 0}, {100, 100}, 0, 0},
		{"goes backwards", {50, 50}, {40, 60}, 2000000000, 0},
		{"years of cycles", {0, 0}, {1ull << 62, 1ull << 61}, 5000000000, 10000000000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t was[SCAP_ACCT_MAX] = {0}, now[SCAP_ACCT_MAX] = {0}, hz;

		was[SCAP_ACCT_CYCLES] = rows[i].was[0];
		was[SCAP_ACCT_REF_CYCLES] = rows[i].was[1];
		now[SCAP_ACCT_CYCLES] = rows[i].now[0];
		now[SCAP_ACCT_REF_CYCLES] = rows[i].now[1];
		hz = scap_account_frequency(was, now, rows[i].hz);
		if (hz != rows[i].frequency)
			fail_msg("%s: %lu instead of %lu", rows[i].what, hz, rows[i].frequency);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delta),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_frequency),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
