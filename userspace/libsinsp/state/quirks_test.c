/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sysdig's quirks: complete rows, and to which captures they apply. */
#include "quirks.h"

#include <string.h>

#include "testing/test_main.h"

static const struct row {
	const char *name;
	enum sinsp_quirk_captures captures;
	const char *texts[3];
} rows[] = {
#define QUIRK(name, captures, events, what, why)                                                   \
	{#name, SINSP_QUIRK_IN_##captures, {events, what, why}},
#include "sysdig_quirks.def"
#undef QUIRK
};

/* Each row has its events, what sysdig does, and why, as phrases without a full stop. */
static void test_rows_are_complete(void **state)
{
	(void)state;
	assert_int_equal(sizeof(rows) / sizeof(rows[0]), SINSP_QUIRK_MAX);
	for (int q = 0; q < SINSP_QUIRK_MAX; q++)
		for (int i = 0; i < 3; i++) {
			const size_t n = strlen(rows[q].texts[i]);

			if (n < 4 || rows[q].texts[i][n - 1] == '.')
				fail_msg("%s: '%s'", rows[q].name, rows[q].texts[i]);
		}
}

/* All apply to captures of sysdig, to those of saker only the rows with ALL. */
static void test_captures(void **state)
{
	static struct sinsp s;
	int n_in_all = 0;

	(void)state;
	for (int q = 0; q < SINSP_QUIRK_MAX; q++) {
		const int in_all = rows[q].captures == SINSP_QUIRK_IN_ALL;

		s.native = 0;
		assert_true(sinsp_quirk(&s, q));
		s.native = 1;
		assert_int_equal(sinsp_quirk(&s, q), in_all);
		n_in_all += in_all;
	}
	assert_in_range(n_in_all, 1, SINSP_QUIRK_MAX - 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_complete),
		cmocka_unit_test(test_captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
