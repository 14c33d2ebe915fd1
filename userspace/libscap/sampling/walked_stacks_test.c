/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks from one thread to another: by id, once, and not without bound. */
#include <stdlib.h>
#include <string.h>

#include "event/event_table.h"
#include "sampling/walked_stacks.h"
#include "shared/stack.h"
#include "testing/test_main.h"

static uint64_t frames[STACK_USER_MAX];

static void put(struct walked_stacks *s, uint64_t id, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		frames[i] = id + i;
	assert_int_equal(walked_stacks_put(s, id, 77, frames, n, STACK_END_ROOT), 0);
}

/* Checks that there is a stack of @id that begins with these frames. */
static void expect(struct walked_stacks *s, uint64_t id, uint32_t n)
{
	struct ppm_evt_hdr *hdr;
	struct scap_params ps;

	assert_int_equal(walked_stacks_pop(s, &hdr, id), 1);
	assert_non_null(hdr);
	assert_int_equal(hdr->type, EVT_SAMPLE_STACK_E);
	assert_int_equal(scap_evt_params(hdr, &ps), 0);
	assert_int_equal(get_u64(ps.v[0].p), id);
	assert_int_equal(get_u64(ps.v[1].p), 77);
	assert_int_equal(ps.v[2].len, 8 * n);
	if (n)
		assert_int_equal(get_u64(ps.v[2].p), id);
	assert_int_equal(ps.v[3].p[0], STACK_END_ROOT);
	free(hdr);
	assert_int_equal(walked_stacks_pop(s, &hdr, id), 0);
}

static void test_by_id(void **state)
{
	struct walked_stacks *s = walked_stacks_new();
	struct ppm_evt_hdr *hdr;

	(void)state;
	assert_int_equal(walked_stacks_pop(s, &hdr, 1), 0);
	for (uint64_t id = 1; id <= 3000; id++)
		put(s, id, id % 10);
	put(s, 5ull << 48 | 1, STACK_USER_MAX);
	for (uint64_t id = 2; id <= 3000; id += 2)
		expect(s, id, id % 10);
	expect(s, 5ull << 48 | 1, STACK_USER_MAX);
	for (uint64_t id = 2999; id < 3000; id -= 2)
		expect(s, id, id % 10);
	put(s, 7, 1); /* stacks that are not fetched are freed with the object */
	walked_stacks_free(s);
	walked_stacks_free(NULL);
}

static void test_none_is_to_come(void **state)
{
	struct walked_stacks *s = walked_stacks_new();
	struct ppm_evt_hdr *hdr = (void *)s;

	(void)state;
	assert_int_equal(walked_stacks_put_none(s, 3), 0);
	assert_int_equal(walked_stacks_pop(s, &hdr, 3), 1);
	assert_null(hdr);
	assert_int_equal(walked_stacks_pop(s, &hdr, 3), 0);
	walked_stacks_free(s);
}

static void test_bounds(void **state)
{
	struct walked_stacks *s = walked_stacks_new();
	struct ppm_evt_hdr *hdr;

	(void)state;
	for (uint64_t id = 1; id <= WALKED_STACKS_MAX + 10; id++)
		put(s, id, 1);
	for (uint64_t id = 1; id <= 10; id++)
		assert_int_equal(walked_stacks_pop(s, &hdr, id), 0);
	expect(s, 11, 1);
	expect(s, WALKED_STACKS_MAX + 10, 1);
	for (uint64_t id = 100001; id <= 101000; id++) /* by their size */
		put(s, id, STACK_USER_MAX);
	assert_int_equal(walked_stacks_pop(s, &hdr, 100001), 0);
	expect(s, 101000, STACK_USER_MAX);
	walked_stacks_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_id),
		cmocka_unit_test(test_none_is_to_come),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
