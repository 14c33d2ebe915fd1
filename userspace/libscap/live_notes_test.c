/* SPDX-License-Identifier: Apache-2.0 */
#include "live_notes.h"

#include <string.h>

#include "event_table.h"
#include "test_main.h"

static uint64_t lost(const struct ppm_evt_hdr *note)
{
	struct scap_params p;
	uint64_t n;

	assert_non_null(note);
	assert_int_equal(note->type, EVT_LOST_E);
	assert_int_equal(scap_evt_params(note, &p), 0);
	assert_int_equal(p.n, scap_event_info(EVT_LOST_E)->n_params);
	memcpy(&n, p.v[1].p, sizeof(n));
	return n;
}

static void test_only_what_is_new(void **state)
{
	struct live_notes *n = live_notes_new(2);
	struct drv_counters c = {.dropped = {[DRV_DROP_RING_FULL] = 5}};
	const struct ppm_evt_hdr *note;
	uint16_t cpu;

	(void)state;
	assert_null(live_notes_first(n, &cpu));
	live_notes_drops(n, 100, 1, 7, &c);
	live_notes_drops(n, 200, 1, 7, &c); /* nothing since */
	c.dropped[DRV_DROP_RING_FULL] = 9;
	live_notes_drops(n, 300, 1, 7, &c);
	note = live_notes_first(n, &cpu);
	assert_int_equal(lost(note), 5);
	assert_int_equal(note->ts, 100);
	assert_int_equal(cpu, 7);
	live_notes_pop(n);
	note = live_notes_first(n, &cpu);
	assert_int_equal(lost(note), 4);
	assert_int_equal(note->ts, 300);
	live_notes_pop(n);
	assert_null(live_notes_first(n, &cpu));
	live_notes_free(n);
}

/* What finds no room is not forgotten: the sum is right in the end. */
static void test_no_room(void **state)
{
	struct live_notes *n = live_notes_new(1);
	struct drv_counters c = {0};
	uint64_t sum = 0;
	uint16_t cpu;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		c.dropped[DRV_DROP_TOO_BIG]++;
		live_notes_drops(n, i, 0, 0, &c);
	}
	for (; live_notes_first(n, &cpu); live_notes_pop(n))
		sum += lost(live_notes_first(n, &cpu));
	live_notes_drops(n, 1000, 0, 0, &c);
	for (; live_notes_first(n, &cpu); live_notes_pop(n))
		sum += lost(live_notes_first(n, &cpu));
	assert_int_equal(sum, 1000);
	live_notes_pop(n); /* of nothing */
	assert_null(live_notes_first(n, &cpu));
	live_notes_free(n);
}

static void test_clock_step(void **state)
{
	struct live_notes *n = live_notes_new(1);
	const struct ppm_evt_hdr *note;
	struct scap_params p;
	int64_t step;
	uint16_t cpu;

	(void)state;
	live_notes_clock_step(n, 10, -3000, 77);
	note = live_notes_first(n, &cpu);
	assert_int_equal(note->type, EVT_CLOCK_STEP_E);
	assert_int_equal(note->tid, UINT64_MAX);
	assert_int_equal(scap_evt_params(note, &p), 0);
	memcpy(&step, p.v[0].p, sizeof(step));
	assert_int_equal(step, -3000);
	live_notes_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_is_new),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_clock_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
