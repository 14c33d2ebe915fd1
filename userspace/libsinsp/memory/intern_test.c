/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings: sharing, retirement, limits. */
#include "memory/intern.h"

#include <stdio.h>
#include <string.h>

#include "testing/test_main.h"

static void test_one_copy(void **state)
{
	struct sinsp_strings st;
	const char *a, *b, *c;

	(void)state;
	assert_int_equal(sinsp_strings_init(&st), 0);
	a = sinsp_str_get(&st, "a\0b", 3);
	b = sinsp_str_get(&st, "a\0b", 3);
	c = sinsp_str_get(&st, "a", 1);
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_memory_equal(a, "a\0b\0", 4);
	assert_int_equal(sinsp_str_len(a), 3);
	assert_int_equal(sinsp_str_len(sinsp_str_get(&st, "", 0)), 0);
	assert_string_equal(sinsp_str_get(&st, "", 0), "");
	sinsp_str_put(&st, sinsp_str_get(&st, "", 0));
	sinsp_strings_fini(&st);
}

/* Only texts in use stay, and a fixed number of retired ones. */
static void test_bounded(void **state)
{
	struct sinsp_strings st;
	const char *kept;
	char text[32];

	(void)state;
	assert_int_equal(sinsp_strings_init(&st), 0);
	kept = sinsp_str_get(&st, "kept", 4);
	for (int i = 0; i < 100000; i++) {
		int n = snprintf(text, sizeof(text), "path%d", i);

		sinsp_str_put(&st, sinsp_str_get(&st, text, n));
	}
	assert_int_equal(st.n, SINSP_STR_RETIRED + 1);
	assert_ptr_equal(kept, sinsp_str_get(&st, "kept", 4));
	sinsp_strings_fini(&st);
}

/* A retired text that is used again is not freed by the ring. */
static void test_revival(void **state)
{
	struct sinsp_strings st;
	const char *a;
	char text[32];

	(void)state;
	assert_int_equal(sinsp_strings_init(&st), 0);
	a = sinsp_str_get(&st, "again", 5);
	sinsp_str_put(&st, a);
	assert_ptr_equal(sinsp_str_get(&st, "again", 5), a);
	for (int i = 0; i < 3 * SINSP_STR_RETIRED; i++) {
		int n = snprintf(text, sizeof(text), "%d", i);

		sinsp_str_put(&st, sinsp_str_get(&st, text, n));
	}
	assert_string_equal(a, "again");
	assert_ptr_equal(sinsp_str_get(&st, "again", 5), a);
	sinsp_strings_fini(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_copy),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_revival),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
