/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever comes and goes: parts and the rest are what was split, exactly. */
#include "shares.h"

#include <stdlib.h>

#include "testing/test_main.h"

enum { OWNERS = 50, ROUNDS = 300 };

static void test_sums(void **state)
{
	uint64_t totals[OWNERS] = {0}, starts[OWNERS] = {0}, parts[OWNERS] = {0}, split, rest, sum;
	struct shares *s;

	(void)state;
	srand(1);
	assert_int_equal(shares_new(&s, 2), 0);
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		uint64_t whole = (uint64_t)(rand() % 3) * 1000000007;

		shares_begin(s);
		for (size_t i = 0; i < OWNERS; i++) {
			const uint64_t n = (uint64_t)rand() * (uint64_t)(rand() % 3);

			if (rand() % 20 == 0) { /* another one with its id */
				starts[i]++;
				totals[i] = parts[i] = 0;
			}
			totals[i] += n;
			whole += n;
			shares_weigh(s, i, starts[i], totals[i]);
		}
		split = (uint64_t)rand();
		rest = shares_split(s, 1, split, whole);
		shares_end(s);
		sum = rest;
		for (size_t i = 0; i < OWNERS; i++) {
			const uint64_t *p = shares_of(s, i, starts[i]);

			assert_int_equal(p[0], 0);
			assert_true(p[1] >= parts[i]);
			sum += p[1] - parts[i];
			parts[i] = p[1];
		}
		assert_int_equal(sum, split);
	}
	shares_free(s);
}

static void test_weights(void **state)
{
	struct shares *s;

	(void)state;
	assert_int_equal(shares_new(&s, 1), 0);
	shares_begin(s);
	shares_weigh(s, 1, 0, 300);
	shares_weigh(s, 2, 0, 100);
	assert_int_equal(shares_split(s, 0, 1000, 500), 200); /* 100 of 500: of those that ended */
	assert_int_equal(shares_of(s, 1, 0)[0], 600);
	assert_int_equal(shares_of(s, 2, 0)[0], 200);
	shares_end(s);
	shares_begin(s);
	shares_weigh(s, 2, 0, 100);
	assert_int_equal(shares_split(s, 0, 7, 0), 7); /* no owner used a CPU */
	shares_end(s);
	assert_null(shares_of(s, 1, 0));
	assert_int_equal(shares_of(s, 2, 0)[0], 200);
	shares_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums),
					   cmocka_unit_test(test_weights)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
