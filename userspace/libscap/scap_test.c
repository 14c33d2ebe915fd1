/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sources in general, over the fake engine. */
#include "scap.h"

#include <errno.h>
#include <string.h>

#include "redact/redact.h"
#include "testing/engine_fake.h"
#include "testing/test_main.h"

#define DATA "abc", (size_t)3

static void test_numbers_and_order(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct scap_evt evt;
	struct scap *s;

	(void)state;
	assert_int_equal(scap_fake_add(f, 300, 1, 42, EVT_CLOSE_E, 1, (int64_t)3), 0);
	assert_int_equal(scap_fake_add(f, 100, 0, 41, EVT_CLOSE_E, 1, (int64_t)5), 0);
	assert_int_equal(scap_fake_add(f, 300, 2, 43, EVT_CLOSE_E, 1, (int64_t)4), 0);
	assert_int_equal(scap_fake_open(&s, f), 0);
	for (uint64_t n = 1; n <= 3; n++) {
		assert_int_equal(scap_next(s, &evt, 0), 1);
		assert_int_equal(evt.num, n);
		assert_int_equal(evt.hdr->tid, 40 + n);
		assert_int_equal(evt.ts_ns, n == 1 ? 100 : 300);
	}
	assert_int_equal(scap_next(s, &evt, 0), -ENODATA);
	scap_close(s);
}

/* One record of a call: a hidden enter with its own time and the parameters of the exit. */
static void test_call(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct scap_params p;
	struct scap_evt evt;
	struct scap *s;
	int64_t fd;

	(void)state;
	assert_int_equal(scap_fake_add_call(f, 100, 900, 0, 42, EVT_READ_X, 4, (int64_t)3, DATA,
					    (int64_t)5, (uint64_t)80),
			 0);
	assert_int_equal(scap_fake_add(f, 500, 1, 43, EVT_SWITCH_E, 1, (int64_t)1), 0);
	assert_int_equal(scap_fake_open(&s, f), 0);

	assert_int_equal(scap_next(s, &evt, 0), 1);
	assert_int_equal(evt.type, EVT_READ_E);
	assert_int_equal(evt.ts_ns, 100);
	assert_int_equal(evt.flags, SCAP_EVT_F_HIDDEN);
	assert_int_equal(evt.nr, 0);
	assert_int_equal(scap_evt_params(evt.hdr, &p), 0);
	memcpy(&fd, p.v[0].p, sizeof(fd));
	assert_int_equal(fd, 5);

	assert_int_equal(scap_next(s, &evt, 0), 1);
	assert_int_equal(evt.type, EVT_SWITCH_E);
	assert_int_equal(evt.flags, 0);

	assert_int_equal(scap_next(s, &evt, 0), 1);
	assert_int_equal(evt.type, EVT_READ_X);
	assert_int_equal(evt.flags, SCAP_EVT_F_FULL);
	assert_int_equal(evt.num, 3);
	scap_close(s);
}

static void test_unknown_enter_is_not_invented(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct scap_evt evt;
	struct scap *s;

	(void)state;
	scap_fake_add_call(f, 0, 900, 0, 42, EVT_CLOSE_X, 2, (int64_t)0, (int64_t)5);
	assert_int_equal(scap_fake_open(&s, f), 0);
	assert_int_equal(scap_next(s, &evt, 0), 1);
	assert_int_equal(evt.type, EVT_CLOSE_X);
	assert_int_equal(scap_next(s, &evt, 0), -ENODATA);
	scap_close(s);
}

static void test_state_until_dropped(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct scap_thread_info t = {.tid = 1, .comm = "init"};
	struct scap *s;

	(void)state;
	scap_state_build_thread(scap_fake_state(f), &t);
	assert_int_equal(scap_fake_open(&s, f), 0);
	assert_int_equal(scap_state(s)->n_threads, 1);
	scap_state_drop(s);
	assert_int_equal(scap_state(s)->n_threads, 0);
	scap_close(s);
}

static void test_stop_and_stats(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct scap_stats st;
	struct scap_evt evt;
	struct scap *s;

	(void)state;
	for (int i = 0; i < 3; i++)
		scap_fake_add_call(f, 10 + i, 20 + i, 0, 1, EVT_CLOSE_X, 2, (int64_t)0, (int64_t)i);
	assert_int_equal(scap_fake_open(&s, f), 0);
	assert_int_equal(scap_next(s, &evt, 0), 1);
	assert_int_equal(scap_stop(s), 0);
	assert_int_equal(scap_next(s, &evt, 0), -ENODATA);
	assert_int_equal(scap_stats(s, &st), 0);
	assert_int_equal(st.n_events, 1);
	assert_int_equal(st.n_records, 3);
	scap_close(s);
}

/* An event to inject, identified by its TID. */
static struct ppm_evt_hdr *event_of_our_own(uint64_t tid)
{
	static uint64_t room[8];
	struct ppm_evt_hdr hdr = {
		.tid = tid, .len = sizeof(hdr), .type = EVT_CONTAINER_E, .nparams = 0};

	return memcpy(room, &hdr, sizeof(hdr));
}

static void expect_next(struct scap *s, uint64_t num, uint64_t tid, uint64_t ts_ns)
{
	struct scap_evt evt;

	assert_int_equal(scap_next(s, &evt, 0), 1);
	assert_int_equal(evt.num, num);
	assert_int_equal(evt.hdr->tid, tid);
	assert_int_equal(evt.ts_ns, ts_ns);
}

/* Injected events take numbers, and time never runs backwards. */
static void test_injected_events(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct scap_evt evt;
	struct scap *s;

	(void)state;
	assert_int_equal(scap_fake_add(f, 100, 1, 41, EVT_CLOSE_E, 1, (int64_t)3), 0);
	assert_int_equal(scap_fake_add(f, 200, 1, 42, EVT_CLOSE_E, 1, (int64_t)3), 0);
	assert_int_equal(scap_fake_open(&s, f), 0);
	assert_int_equal(scap_inject(s, event_of_our_own(1)), 0);
	assert_int_equal(scap_inject(s, event_of_our_own(2)), 0);
	expect_next(s, 1, 1, 100);
	assert_int_equal(scap_inject(s, event_of_our_own(3)), 0);
	expect_next(s, 2, 2, 100);
	expect_next(s, 3, 3, 100);
	expect_next(s, 4, 41, 100);
	expect_next(s, 5, 42, 200);
	assert_int_equal(scap_inject(s, event_of_our_own(4)), 0);
	expect_next(s, 6, 4, 200);
	assert_int_equal(scap_next(s, &evt, 0), -ENODATA);
	assert_int_equal(scap_next(s, &evt, 0), -ENODATA);
	assert_int_equal(scap_inject(s, event_of_our_own(5)), 0);
	scap_close(s);
}

/* A time that no event can have. */
static void test_injected_into_nothing(void **state)
{
	struct scap_evt evt;
	struct scap *s;

	(void)state;
	assert_int_equal(scap_fake_open(&s, scap_fake_new()), 0);
	assert_int_equal(scap_inject(s, event_of_our_own(1)), 0);
	assert_int_equal(scap_next(s, &evt, 0), -ENODATA);
	scap_close(s);
}

static void expect_data(struct scap *s, const char *data)
{
	struct scap_params p, split;
	struct scap_evt evt;

	assert_int_equal(scap_next_split(s, &evt, &p, 0), 1);
	assert_int_equal(evt.type, EVT_READ_X);
	assert_memory_equal(p.v[1].p, data, 3);
	assert_int_equal(scap_evt_params(evt.hdr, &split), 0);
	assert_ptr_equal(split.v[1].p, p.v[1].p);
}

/* Events, injected ones too, and the state are overwritten, however they are read. */
static void test_redacted(void **state)
{
	const struct scap_thread_info t = {.tid = 1, .args = {"abc", 4}};
	struct scap_state_build *beside = scap_state_build_new();
	struct scap_fake *f = scap_fake_new();
	struct scap_redact *r;
	char why[256];
	struct scap_params p;
	struct scap_evt evt;
	struct scap *s;
	size_t at;

	(void)state;
	assert_int_equal(scap_redact_new(&r), 0);
	assert_int_equal(scap_redact_add_pattern(r, "b", 1, why, &at), 0);
	scap_state_build_thread(scap_fake_state(f), &t);
	for (int i = 0; i < 3; i++)
		scap_fake_add(f, 10 + i, 0, 1, EVT_READ_X, 2, (int64_t)3, DATA);
	scap_fake_redact(f, r);
	assert_int_equal(scap_fake_open(&s, f), 0);
	assert_string_equal(scap_state(s)->threads[0].args.p, "a*c");
	scap_state_build_thread(beside, &t);
	scap_redact_beside(s, scap_state_build_done(beside));
	assert_string_equal(scap_state_build_done(beside)->threads[0].args.p, "a*c");
	assert_int_equal(scap_next(s, &evt, 0), 1);
	assert_int_equal(scap_evt_params(evt.hdr, &p), 0);
	assert_memory_equal(p.v[1].p, "a*c", 3);
	assert_int_equal(scap_inject(s, evt.hdr), 0);
	expect_data(s, "a*c");
	expect_data(s, "a*c");
	assert_int_equal(scap_redact_add(r, "buffers"), 0);
	expect_data(s, "***");
	assert_int_equal(scap_next(s, &evt, 0), -ENODATA);
	scap_close(s);
	scap_state_build_free(beside);
	scap_redact_free(r);
}

static void test_wrong_use_of_the_fake(void **state)
{
	struct scap_fake *f = scap_fake_new();
	static uint8_t big[70000];
	struct scap *s;

	(void)state;
	assert_int_equal(scap_fake_add(f, 1, 0, 1, EVT_PUBLIC_MAX, 0), -EINVAL);
	assert_int_equal(scap_fake_add(f, 1, 0, 1, EVT_CLOSE_E, 2, (int64_t)1, (int64_t)2),
			 -EINVAL);
	assert_int_equal(scap_fake_add(f, 1, 0, 1, EVT_READ_X, 2, (int64_t)1, big, sizeof(big)),
			 -ENOSPC);
	assert_int_equal(scap_fake_open(&s, f), 0);
	scap_close(s);
}

/* A newer caller may not request what this version does not have. */
static void test_options_of_a_newer_caller(void **state)
{
	struct {
		struct scap_open_opts opts;
		uint64_t of_tomorrow;
	} o = {.opts = {.sz = sizeof(o)}, .of_tomorrow = 1};
	struct scap *s = NULL;

	(void)state;
	assert_int_equal(scap_open(&s, &o.opts), -EINVAL);
	o.opts.sz = 1;
	assert_int_equal(scap_open(&s, &o.opts), -EINVAL);
	assert_null(s);
}

static void test_drop_reasons(void **state)
{
	(void)state;
	assert_string_equal(scap_drop_reason(0), "the ring was full");
	assert_null(scap_drop_reason(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_and_order),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_unknown_enter_is_not_invented),
		cmocka_unit_test(test_state_until_dropped),
		cmocka_unit_test(test_stop_and_stats),
		cmocka_unit_test(test_injected_events),
		cmocka_unit_test(test_injected_into_nothing),
		cmocka_unit_test(test_redacted),
		cmocka_unit_test(test_wrong_use_of_the_fake),
		cmocka_unit_test(test_options_of_a_newer_caller),
		cmocka_unit_test(test_drop_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
