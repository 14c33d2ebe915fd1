/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_ids.h"

#include <string.h>

#include "testing/test_main.h"

static void test_read(void **state)
{
	static const struct {
		const char *text;
		size_t sz;
		const char *id; /* NULL: none */
	} rows[] = {
		{"0af7651916cd43dd8448eb211c80319c", 16,
		 "\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c"},
		{"8448EB211C80319C", 16, "\0\0\0\0\0\0\0\0\x84\x48\xeb\x21\x1c\x80\x31\x9c"},
		{"abc", 8, "\0\0\0\0\0\0\x0a\xbc"},
		{"0af7651916cd43dd8", 8, NULL}, /* too long */
		{"00000000000000000000000000000000", 16, NULL},
		{"", 8, NULL},
		{"12x4", 8, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t id[TRACE_ID_BYTES];

		assert_int_equal(otlp_id_read(id, rows[i].sz, rows[i].text, strlen(rows[i].text)),
				 rows[i].id != NULL);
		if (rows[i].id)
			assert_memory_equal(id, rows[i].id, rows[i].sz);
	}
}

/* Numbers of a run have different identifiers, the same ones each time. */
static void test_make(void **state)
{
	enum { N = 2000 };
	static uint8_t ids[N][SPAN_ID_BYTES];
	uint8_t a[TRACE_ID_BYTES], b[TRACE_ID_BYTES];

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		otlp_id_make(ids[i], SPAN_ID_BYTES, 7, i);
		for (uint64_t k = 0; k < i; k++)
			assert_memory_not_equal(ids[i], ids[k], SPAN_ID_BYTES);
	}
	otlp_id_make(a, sizeof(a), 7, 5);
	otlp_id_make(b, sizeof(b), 7, 5);
	assert_memory_equal(a, b, sizeof(a));
	otlp_id_make(b, sizeof(b), 8, 5);
	assert_memory_not_equal(a, b, sizeof(a));
	assert_memory_not_equal(a, a + 8, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
