/* SPDX-License-Identifier: Apache-2.0 */
/* Merged sources on the fake source: one order, separate processes. */
#include "streams.h"

#include <errno.h>
#include <string.h>

#include "testing/engine_fake.h"
#include "testing/test_main.h"
#include "thread.h"

#define T0 1700000000000000000ull
#define TID 42

/* A machine whose thread TID is named @comm, with an exit of getuid at each of these times. */
static struct sinsp *machine(const char *comm, const uint64_t *ns, size_t n)
{
	const struct scap_thread_info t = {.tid = TID, .pid = TID, .comm = comm, .cwd = "/"};
	struct scap_fake *fake = scap_fake_new();
	struct sinsp *s;
	struct scap *src;

	assert_non_null(fake);
	assert_int_equal(scap_state_build_thread(scap_fake_state(fake), &t), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(
			scap_fake_add(fake, T0 + ns[i], 0, TID, EVT_GETUID_X, 1, (uint64_t)0), 0);
	assert_int_equal(scap_fake_open(&src, fake), 0);
	assert_int_equal(sinsp_open(&s, src, NULL), 0);
	return s;
}

static void test_order(void **state)
{
	static const uint64_t a[] = {10, 40, 70}, b[] = {5, 40, 41}, c[] = {80};
	static const struct {
		uint64_t ns;
		const char *comm;
	} want[] = {{5, "b"}, {10, "a"}, {40, "a"}, {40, "b"}, {41, "b"}, {70, "a"}, {80, "c"}};
	struct sinsp *v[] = {machine("a", a, 3), machine("b", b, 3), machine("c", c, 1),
			     machine("d", NULL, 0)};
	struct sinsp_streams *ss;
	struct sinsp_evt evt;

	(void)state;
	assert_int_equal(sinsp_streams_new(&ss, v, 4), 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(sinsp_streams_next(ss, &evt), 1);
		assert_int_equal(evt.raw.ts_ns, T0 + want[i].ns);
		assert_string_equal(evt.thread->comm, want[i].comm);
		/* Also for the source whose first event is later. */
		assert_int_equal(sinsp_first_ns(evt.insp), T0 + 5);
	}
	assert_int_equal(sinsp_streams_next(ss, &evt), -ENODATA);
	assert_int_equal(sinsp_streams_next(ss, &evt), -ENODATA);
	sinsp_streams_free(ss);
	for (size_t i = 0; i < 4; i++)
		sinsp_close(v[i]);
}

/* Many sources with random times: times ascend and no event is lost. */
static void test_many(void **state)
{
	enum { SOURCES = 37, EACH = 20 };
	struct sinsp *v[SOURCES];
	uint64_t ns[EACH], seed = 1, last = 0;
	struct sinsp_streams *ss;
	struct sinsp_evt evt;
	unsigned int n = 0;

	(void)state;
	for (size_t i = 0; i < SOURCES; i++) {
		uint64_t at = 0;

		for (size_t k = 0; k < EACH; k++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			ns[k] = at += seed >> 60;
		}
		v[i] = machine("x", ns, EACH);
	}
	assert_int_equal(sinsp_streams_new(&ss, v, SOURCES), 0);
	for (; sinsp_streams_next(ss, &evt) == 1; n++) {
		assert_true(evt.raw.ts_ns >= last);
		last = evt.raw.ts_ns;
	}
	assert_int_equal(n, SOURCES * EACH);
	sinsp_streams_free(ss);
	for (size_t i = 0; i < SOURCES; i++)
		sinsp_close(v[i]);
}

static int fail_at_20(void *ctx, const struct scap_evt *evt)
{
	(void)ctx;
	return evt->ts_ns == T0 + 20 ? -EIO : 0;
}

static void test_one_fails(void **state)
{
	static const uint64_t a[] = {10, 20, 30}, b[] = {15, 25, 35};
	struct sinsp *v[] = {machine("a", a, 3), machine("b", b, 3)};
	struct sinsp_streams *ss;
	struct sinsp_evt evt;
	unsigned int n = 0;
	int r;

	(void)state;
	sinsp_set_before(v[0], fail_at_20, NULL);
	assert_int_equal(sinsp_streams_new(&ss, v, 2), 0);
	while ((r = sinsp_streams_next(ss, &evt)) == 1)
		n++;
	assert_int_equal(n, 4);
	assert_int_equal(r, -EIO);
	sinsp_streams_free(ss);
	sinsp_close(v[0]);
	sinsp_close(v[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_one_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
