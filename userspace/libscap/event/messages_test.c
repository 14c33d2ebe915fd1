/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of sendmmsg and recvmmsg: with entries, without, and malformed. */
#include "messages.h"

#include "testing/test_main.h"

#define TWO                                                                                        \
	"\x9\0\0\0\0\0\0\0"                                                                        \
	"\6\0\0\0\3\0\4\0"                                                                         \
	"abcdefg"

static struct scap_messages it;

static struct scap_param bytes(const char *p, size_t n)
{
	return (struct scap_param){(const uint8_t *)p, (uint32_t)n};
}

/* Begins with an event of sendmmsg of @n messages and 15 bytes, "data" of the first, to "peer". */
static void begin(const char *n, const char *entries, size_t sz)
{
	const struct scap_params params = {
		.n = 7,
		.v = {bytes(n, 8), bytes("\3\0\0\0\0\0\0\0", 8), bytes("\xf\0\0\0", 4),
		      bytes("data", 4), bytes("peer", 4), bytes("", 0), bytes(entries, sz)},
	};

	scap_messages_begin(&it, scap_event_info(EVT_SENDMMSG_X), &params);
}

static void expect(uint64_t size, const char *tuple, const char *data)
{
	struct scap_message m;

	assert_int_equal(scap_messages_next(&it, &m), 1);
	assert_int_equal(m.size, size);
	assert_int_equal(m.tuple.len, strlen(tuple));
	assert_memory_equal(m.tuple.p, tuple, m.tuple.len);
	assert_int_equal(m.data.len, strlen(data));
	assert_memory_equal(m.data.p, data, m.data.len);
}

static void expect_end(unsigned int n)
{
	struct scap_message m;

	assert_int_equal(scap_messages_next(&it, &m), 0);
	assert_int_equal(it.n, n);
}

static void test_entries(void **state)
{
	(void)state;
	begin("\2\0\0\0\0\0\0\0", TWO, sizeof(TWO) - 1);
	expect(9, "peer", "data");
	expect(6, "abc", "defg");
	expect_end(2);
}

/* The size of the first of several messages is unknown. */
static void test_without_entries(void **state)
{
	(void)state;
	begin("\2\0\0\0\0\0\0\0", "", 0);
	expect(0, "peer", "data");
	expect_end(1);
	begin("\1\0\0\0\0\0\0\0", "", 0);
	expect(15, "peer", "data");
	expect_end(1);
}

static void test_cut_anywhere(void **state)
{
	struct scap_message m;

	(void)state;
	for (size_t n = 0; n < sizeof(TWO) - 1; n++) {
		begin("\2\0\0\0\0\0\0\0", TWO, n);
		while (scap_messages_next(&it, &m))
			assert_true(m.tuple.len + m.data.len <= 8 + n);
		assert_int_equal(it.n, n < 16 ? 1 : 2);
	}
}

static void test_events(void **state)
{
	(void)state;
	assert_true(scap_is_messages(EVT_SENDMMSG_X));
	assert_true(scap_is_messages(EVT_RECVMMSG_X));
	assert_false(scap_is_messages(EVT_SENDMSG_X));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_without_entries),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
