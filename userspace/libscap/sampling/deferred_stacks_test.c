/* SPDX-License-Identifier: Apache-2.0 */
/* Samples and stacks that come later: in any order, too many, too late, not at all. */
#include <stdlib.h>
#include <string.h>

#include "event/event_build.h"
#include "sampling/deferred_stacks.h"
#include "sampling/sampler_draw.h"
#include "shared/stack.h"
#include "testing/test_main.h"

#define EVENT_SZ 16384

static _Alignas(8) uint8_t buf[EVENT_SZ];

static const struct scap_evt *event_at(uint64_t ns)
{
	static struct scap_evt evt;
	const struct ppm_evt_hdr *hdr = (const struct ppm_evt_hdr *)buf;

	evt = (struct scap_evt){.hdr = hdr, .ts_ns = ns, .true_ns = ns, .type = hdr->type};
	return &evt;
}

/* A sample with all parameters; @id 0: a whole one. */
static const struct scap_evt *sample(uint64_t ns, uint64_t id, uint64_t pid)
{
	static const uint64_t kernel[] = {1, 2, 3};
	const uint8_t reason = SAMPLE_CPU, end = id ? STACK_END_DEFERRED : STACK_END_ROOT;
	struct evt_value v[SAMPLE_P_MAX] = {
		[SAMPLE_P_REASON] = {&reason, 1},
		[SAMPLE_P_PID] = {&pid, 8},
		[SAMPLE_P_KERNEL] = {kernel, sizeof(kernel)},
		[SAMPLE_P_END] = {&end, 1},
		[SAMPLE_P_ID] = {&id, id ? 8 : 0},
		[SAMPLE_P_WAKER_COMM] = {"last", 5},
	};

	assert_true(scap_evt_build(buf, sizeof(buf), EVT_SAMPLE_E, ns, pid, v, SAMPLE_P_MAX) > 0);
	return event_at(ns);
}

static const struct scap_evt *stack(uint64_t ns, uint64_t id, uint64_t first, unsigned int n)
{
	const uint8_t end = STACK_END_ROOT;
	uint64_t frames[STACK_USER_MAX], pid = 7;
	const struct evt_value v[] = {{&id, 8}, {&pid, 8}, {frames, (uint16_t)(8 * n)}, {&end, 1}};

	for (unsigned int i = 0; i < n; i++)
		frames[i] = first + i;
	assert_true(scap_evt_build(buf, sizeof(buf), EVT_SAMPLE_STACK_E, ns, pid, v, 4) > 0);
	return event_at(ns);
}

/* The next whole sample is that of @ns, with @n frames that begin with @first. */
static void expect(struct deferred_stacks *j, uint64_t ns, uint64_t first, unsigned int n,
		   uint8_t end)
{
	struct scap_params ps;
	struct scap_evt evt;

	assert_int_equal(deferred_stacks_next(j, &evt), 1);
	assert_int_equal(evt.true_ns, ns);
	assert_int_equal(evt.type, EVT_SAMPLE_E);
	assert_int_equal(scap_evt_params(evt.hdr, &ps), 0);
	assert_int_equal(ps.n, SAMPLE_P_MAX);
	assert_int_equal(ps.v[SAMPLE_P_USER].len, 8 * n);
	if (n)
		assert_int_equal(get_u64(ps.v[SAMPLE_P_USER].p), first);
	assert_int_equal(ps.v[SAMPLE_P_END].p[0], end);
	assert_int_equal(ps.v[SAMPLE_P_KERNEL].len, 24);
	assert_string_equal((const char *)ps.v[SAMPLE_P_WAKER_COMM].p, "last");
}

static void expect_none(struct deferred_stacks *j)
{
	struct scap_evt evt;

	assert_int_equal(deferred_stacks_next(j, &evt), 0);
}

static void test_parameters_are_where_they_are_said_to_be(void **state)
{
	static const char *const names[SAMPLE_P_MAX] = {
		"reason", "weight", "pid",        "comm", "kernel", "user",       "end",  "ip",
		"sp",     "bp",     "id",         "vpid", "vtid",   "tracepoint", "addr", "call",
		"state",  "waker",  "waker_comm", "wait", "arg",    "older",
	};

	(void)state;
	assert_int_equal(scap_event_info(EVT_SAMPLE_E)->n_params, SAMPLE_P_MAX);
	for (int i = 0; i < SAMPLE_P_MAX; i++)
		assert_int_equal(scap_event_param(EVT_SAMPLE_E, names[i]), i);
}

static void test_others_pass(void **state)
{
	struct deferred_stacks *j = deferred_stacks_new();

	(void)state;
	assert_int_equal(deferred_stacks_put(j, sample(5, 0, 1)), 0);
	expect_none(j);
	deferred_stacks_free(j);
	deferred_stacks_free(NULL);
}

/* A sample that was whole enough keeps what it has, unless there is more of its id. */
static void test_what_has_an_id_and_an_end(void **state)
{
	struct deferred_stacks *j = deferred_stacks_new();
	struct scap_evt evt = *sample(5, 33, 1);
	struct scap_params ps;

	(void)state;
	assert_int_equal(scap_evt_params(evt.hdr, &ps), 0);
	*(uint8_t *)ps.v[SAMPLE_P_END].p = STACK_END_NEW;
	assert_int_equal(deferred_stacks_put(j, &evt), 0);
	assert_int_equal(deferred_stacks_put(j, stack(6, 33, 100, 5)), 1);
	evt = *sample(7, 33, 1);
	assert_int_equal(scap_evt_params(evt.hdr, &ps), 0);
	*(uint8_t *)ps.v[SAMPLE_P_END].p = STACK_END_NEW;
	assert_int_equal(deferred_stacks_put(j, &evt), 1);
	expect(j, 7, 100, 5, STACK_END_ROOT);
	expect_none(j);
	deferred_stacks_free(j);
}

#define SCRIPT(addr)                                                                               \
	((uint64_t)(STACK_HOW_SCRIPT | STACK_WALKER_PYTHON) << STACK_HOW_SHIFT | (addr))

/* Puts @n frames into a sample that waits for stack 33, and then that stack: 100 and the ones
 * behind it. Returns the frames that result, which must end with @expected. */
static unsigned int joined(uint64_t *to, const uint64_t *own, unsigned int n, unsigned int n_stack,
			   uint8_t expected)
{
	struct deferred_stacks *j = deferred_stacks_new();
	const uint64_t id = 33;
	const uint8_t end = STACK_END_DEFERRED;
	struct evt_value v[SAMPLE_P_MAX] = {
		[SAMPLE_P_USER] = {own, (uint16_t)(8 * n)},
		[SAMPLE_P_END] = {&end, 1},
		[SAMPLE_P_ID] = {&id, 8},
	};
	struct scap_params ps;
	struct scap_evt evt;

	assert_true(scap_evt_build(buf, sizeof(buf), EVT_SAMPLE_E, 5, 1, v, SAMPLE_P_MAX) > 0);
	assert_int_equal(deferred_stacks_put(j, event_at(5)), 1);
	assert_int_equal(deferred_stacks_put(j, stack(6, 33, 100, n_stack)), 1);
	assert_int_equal(deferred_stacks_next(j, &evt), 1);
	assert_int_equal(scap_evt_params(evt.hdr, &ps), 0);
	assert_int_equal(ps.v[SAMPLE_P_END].p[0], expected);
	memcpy(to, ps.v[SAMPLE_P_USER].p, ps.v[SAMPLE_P_USER].len);
	deferred_stacks_free(j);
	return ps.v[SAMPLE_P_USER].len / 8;
}

/* Functions of interpreters that only the sample has stay where they are in its native frames;
 * those of the rest are unknown. */
static void test_functions_of_the_sample_stay(void **state)
{
	const uint64_t own[] = {STACK_EXACT | 100, 101, SCRIPT(7), STACK_MORE(1, 2), 102};
	const uint64_t other[] = {100, SCRIPT(7), STACK_MORE(1, 2), 103};
	static uint64_t to[STACK_USER_MAX];

	(void)state;
	assert_int_equal(joined(to, own, 5, 6, STACK_END_NO_TABLE), 8);
	assert_memory_equal(to, own, sizeof(own));
	assert_int_equal(to[5], 103);
	assert_int_equal(to[7], 105);
	assert_int_equal(joined(to, own, 5, 3, STACK_END_ROOT), 5);
	assert_int_equal(joined(to, own, 5, STACK_USER_MAX, STACK_END_DEPTH), STACK_USER_MAX);
	assert_int_equal(to[STACK_USER_MAX - 1], 100 + STACK_USER_MAX - 3);
	assert_int_equal(joined(to, other, 4, 6, STACK_END_ROOT), 6); /* another stack */
	assert_int_equal(to[1], 101);
	assert_int_equal(joined(to, own, 5, 2, STACK_END_ROOT), 2); /* a shorter one */
	assert_int_equal(joined(to, own, 2, 6, STACK_END_ROOT), 6); /* no functions */
}

static void test_one_stack_for_all_samples_of_its_id(void **state)
{
	struct deferred_stacks *j = deferred_stacks_new();

	(void)state;
	assert_int_equal(deferred_stacks_put(j, sample(10, 77, 1)), 1);
	assert_int_equal(deferred_stacks_put(j, sample(11, 78, 1)), 1);
	assert_int_equal(deferred_stacks_put(j, sample(12, 77, 1)), 1);
	expect_none(j);
	assert_int_equal(deferred_stacks_put(j, stack(13, 77, 100, 5)), 1);
	expect(j, 10, 100, 5, STACK_END_ROOT);
	expect(j, 12, 100, 5, STACK_END_ROOT);
	expect_none(j);
	/* A sample that comes after its stack, from another CPU. */
	assert_int_equal(deferred_stacks_put(j, sample(14, 77, 1)), 1);
	expect(j, 14, 100, 5, STACK_END_ROOT);
	assert_int_equal(deferred_stacks_put(j, stack(15, 78, 200, STACK_USER_MAX)), 1);
	expect(j, 11, 200, STACK_USER_MAX, STACK_END_ROOT);
	expect_none(j);
	assert_int_equal(deferred_stacks_n_lone(j), 0);
	assert_int_equal(deferred_stacks_n_never(j), 0);
	deferred_stacks_free(j);
}

/* Every order of two samples and a stack of each of two ids gives four whole samples. */
static void test_any_order(void **state)
{
	(void)state;
	for (unsigned int order = 0; order < 720; order++) {
		struct deferred_stacks *j = deferred_stacks_new();
		unsigned int left[6] = {0, 1, 2, 3, 4, 5}, n = 6, o = order, got = 0;
		struct scap_evt evt;

		for (; n; n--) {
			const unsigned int at = o % n, what = left[at];
			const uint64_t id = 1 + what % 2;

			o /= n;
			left[at] = left[n - 1];
			assert_int_equal(
				deferred_stacks_put(j, what < 4 ? sample(100 + what, id, id)
								: stack(200, id, 10 * id, 2)),
				1);
		}
		while (deferred_stacks_next(j, &evt)) {
			struct scap_params ps;

			assert_int_equal(scap_evt_params(evt.hdr, &ps), 0);
			assert_int_equal(get_u64(ps.v[SAMPLE_P_USER].p),
					 10 * get_u64(ps.v[SAMPLE_P_PID].p));
			got++;
		}
		assert_int_equal(got, 4);
		deferred_stacks_free(j);
	}
}

static void test_a_stack_that_never_comes(void **state)
{
	struct deferred_stacks *j = deferred_stacks_new();

	(void)state;
	assert_int_equal(deferred_stacks_put(j, sample(1000, 5, 1)), 1);
	deferred_stacks_expire(j, 1000 + SAMPLE_JOIN_WAIT_NS - 1);
	expect_none(j);
	deferred_stacks_expire(j, 1000 + SAMPLE_JOIN_WAIT_NS);
	expect(j, 1000, 0, 0, STACK_END_NEVER);
	assert_int_equal(deferred_stacks_n_never(j), 1);
	assert_int_equal(deferred_stacks_put(j, sample(2000, 6, 1)), 1);
	deferred_stacks_expire(j, UINT64_MAX);
	expect(j, 2000, 0, 0, STACK_END_NEVER);
	/* Its sample was lost, or let go. */
	assert_int_equal(deferred_stacks_put(j, stack(3000, 6, 1, 1)), 1);
	expect_none(j);
	assert_int_equal(deferred_stacks_n_lone(j), 1);
	deferred_stacks_free(j);
}

static void test_memory_has_a_bound(void **state)
{
	struct deferred_stacks *j = deferred_stacks_new();
	unsigned int n = 0;
	struct scap_evt evt;

	(void)state;
	for (unsigned int i = 0; i < SAMPLE_JOIN_MAX + 10; i++)
		assert_int_equal(deferred_stacks_put(j, sample(i, 1000 + i, 1)), 1);
	while (deferred_stacks_next(j, &evt))
		assert_int_equal(evt.true_ns, n++);
	assert_int_equal(n, 10);
	assert_int_equal(deferred_stacks_n_never(j), 10);
	deferred_stacks_free(j);
}

/* Data of a file, or of a driver of another version, is not trusted. */
static void test_bad_events(void **state)
{
	struct ppm_evt_hdr *hdr = (struct ppm_evt_hdr *)buf;
	struct deferred_stacks *j = deferred_stacks_new();

	(void)state;
	sample(1, 5, 1);
	hdr->nparams = 3;
	assert_int_equal(deferred_stacks_put(j, event_at(1)), 0);
	sample(1, 5, 1);
	hdr->len -= 10;
	assert_int_equal(deferred_stacks_put(j, event_at(1)), 0);
	stack(1, 5, 1, 4);
	hdr->nparams = 1;
	assert_int_equal(deferred_stacks_put(j, event_at(1)), 1);
	expect_none(j);
	deferred_stacks_free(j);
}

static void test_a_part_of_the_time(void **state)
{
	(void)state;
	for (uint32_t threshold = 1; threshold < 100; threshold += 7) {
		struct sampler_draw d, again;
		unsigned int n = 0;

		sampler_draw_init(&d, threshold);
		again = d;
		d.threshold = again.threshold = threshold;
		for (int i = 0; i < 10000; i++) {
			const int on = sampler_draw(&d);

			assert_int_equal(on, sampler_draw(&again));
			n += (unsigned int)on;
		}
		/* Four times the standard deviation, of at most 50. */
		assert_in_range(n, 100 * threshold > 200 ? 100 * threshold - 200 : 0,
				100 * threshold + 200);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters_are_where_they_are_said_to_be),
		cmocka_unit_test(test_others_pass),
		cmocka_unit_test(test_what_has_an_id_and_an_end),
		cmocka_unit_test(test_functions_of_the_sample_stay),
		cmocka_unit_test(test_one_stack_for_all_samples_of_its_id),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_a_stack_that_never_comes),
		cmocka_unit_test(test_memory_has_a_bound),
		cmocka_unit_test(test_bad_events),
		cmocka_unit_test(test_a_part_of_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
