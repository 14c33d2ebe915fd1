/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live_notes.h"

#include <string.h>

#include "event/event_table.h"
#include "testing/test_main.h"

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

static const struct clock_offset epoch = {.leg = {0, 1000000, 1000000},
					  .next = {.from = UINT64_MAX}};

static uint64_t param(const struct ppm_evt_hdr *note, unsigned int i)
{
	struct scap_params p;
	uint64_t v;

	assert_int_equal(scap_evt_params(note, &p), 0);
	assert_true(i < p.n && p.v[i].len == sizeof(v));
	memcpy(&v, p.v[i].p, sizeof(v));
	return v;
}

static void test_only_what_is_new(void **state)
{
	struct live_notes *n = live_notes_new();
	struct ring_lost l = {
		.n = {[LOST_CLOSE] = 2, [LOST_OTHER] = 3}, .from_ns = 100, .to_ns = 150};
	const struct ppm_evt_hdr *note;
	uint16_t cpu;

	(void)state;
	assert_null(live_notes_first(n, &cpu));
	assert_true(live_notes_lost(n, 7, DRV_DROP_RING_FULL, &l, &epoch));
	assert_true(live_notes_lost(n, 7, DRV_DROP_RING_FULL, &l, &epoch)); /* nothing since */
	l = (struct ring_lost){
		.n = {[LOST_CLOSE] = 3, [LOST_OTHER] = 6}, .from_ns = 300, .to_ns = 400};
	assert_true(live_notes_lost(n, 7, DRV_DROP_RING_FULL, &l, &epoch));
	note = live_notes_first(n, &cpu);
	assert_int_equal(lost(note), 5);
	assert_int_equal(note->ts, 100);
	assert_int_equal(param(note, 3), 1000100);
	assert_int_equal(param(note, 4), 1000150);
	assert_int_equal(param(note, 5 + LOST_CLOSE), 2);
	assert_int_equal(param(note, 5 + LOST_STATE), 0);
	assert_int_equal(cpu, 7);
	live_notes_pop(n);
	note = live_notes_first(n, &cpu);
	assert_int_equal(lost(note), 4);
	assert_int_equal(note->ts, 300);
	assert_int_equal(param(note, 5 + LOST_CLOSE), 1);
	live_notes_pop(n);
	assert_null(live_notes_first(n, &cpu));
	live_notes_free(n);
}

/* Notes come in the order of the times that they report, not of their detection. */
static void test_order(void **state)
{
	static const uint64_t times[] = {500, 200, 900, 100, 600};
	struct live_notes *n = live_notes_new();
	uint64_t last = 0;
	uint16_t cpu;

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		struct ring_lost l = {.n = {[LOST_OTHER] = 1}, .from_ns = times[i]};

		assert_true(live_notes_lost(n, i, DRV_DROP_NESTED, &l, &epoch));
	}
	for (const struct ppm_evt_hdr *note; (note = live_notes_first(n, &cpu));
	     live_notes_pop(n)) {
		assert_true(note->ts > last);
		assert_int_equal(note->ts, times[cpu]);
		last = note->ts;
	}
	assert_int_equal(last, 900);
	live_notes_free(n);
}

/* Losses without room for a note are kept: the sum is right in the end. */
static void test_no_room(void **state)
{
	struct live_notes *n = live_notes_new();
	struct ring_lost l = {0};
	uint64_t sum = 0;
	uint16_t cpu;
	int noted = 1;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		l.n[LOST_OTHER]++;
		l.from_ns = l.to_ns = i;
		noted = live_notes_lost(n, 0, DRV_DROP_TOO_BIG, &l, &epoch);
	}
	assert_false(noted);
	for (; live_notes_first(n, &cpu); live_notes_pop(n))
		sum += lost(live_notes_first(n, &cpu));
	assert_true(live_notes_lost(n, 0, DRV_DROP_TOO_BIG, &l, &epoch));
	for (; live_notes_first(n, &cpu); live_notes_pop(n))
		sum += lost(live_notes_first(n, &cpu));
	assert_int_equal(sum, 1000);
	live_notes_pop(n); /* of nothing */
	assert_null(live_notes_first(n, &cpu));
	live_notes_free(n);
}

static void test_clock_step(void **state)
{
	struct live_notes *n = live_notes_new();
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

/* A clock step and the end of the sampler are reported however many losses there are. */
static void test_losses_leave_room(void **state)
{
	struct live_notes *n = live_notes_new();
	const struct scap_sampler_stats st = {.n_runs = 7};
	struct ring_lost l = {0};
	int64_t steps = 0, step;
	struct scap_params p;
	int n_stops = 0;
	uint16_t cpu;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		l.n[LOST_OTHER]++;
		l.from_ns = l.to_ns = (uint64_t)i;
		live_notes_lost(n, 0, DRV_DROP_TOO_BIG, &l, &epoch);
		live_notes_clock_step(n, (uint64_t)i, -3, 77);
	}
	live_notes_sampler(n, 1000, SAMPLER_STOP, &st);
	for (int i = 0; i < 1000; i++)
		live_notes_clock_step(n, 1001 + (uint64_t)i, -3, 77);
	live_notes_sampler(n, 3000, SAMPLER_STOP, &st);
	for (const struct ppm_evt_hdr *note; (note = live_notes_first(n, &cpu));
	     live_notes_pop(n)) {
		if (note->type == EVT_CLOCK_STEP_E) {
			assert_int_equal(scap_evt_params(note, &p), 0);
			memcpy(&step, p.v[0].p, sizeof(step));
			steps += step;
		}
		n_stops += note->type == EVT_SAMPLER_E && note->ts == 3000;
	}
	assert_int_equal(steps, -6000);
	assert_int_equal(n_stops, 1);
	live_notes_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_is_new),  cmocka_unit_test(test_order),
		cmocka_unit_test(test_no_room),           cmocka_unit_test(test_clock_step),
		cmocka_unit_test(test_losses_leave_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
