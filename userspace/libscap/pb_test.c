/* SPDX-License-Identifier: Apache-2.0 */
#include "pb.h"

#include <string.h>

#include "testing/test_main.h"

static void assert_bytes(const struct pb *b, const void *p, size_t n)
{
	assert_int_equal(b->failed, 0);
	assert_int_equal(b->len, n);
	assert_memory_equal(b->p, p, n);
}

/* The examples of protobuf.dev/programming-guides/encoding. */
static void test_published_examples(void **state)
{
	struct pb b;
	size_t at;

	(void)state;
	pb_init(&b, 100);
	pb_u64(&b, 1, 150);
	assert_bytes(&b, "\x08\x96\x01", 3);
	pb_reset(&b);
	pb_string(&b, 2, "testing");
	assert_bytes(&b, "\x12\x07testing", 9);
	pb_reset(&b);
	at = pb_begin(&b, 3);
	pb_u64(&b, 1, 150);
	pb_end(&b, at);
	assert_bytes(&b, "\x1a\x03\x08\x96\x01", 5);
	pb_fini(&b);
}

static void test_numbers(void **state)
{
	struct pb b;

	(void)state;
	pb_init(&b, 100);
	pb_fixed64(&b, 2, 0x0807060504030201);
	pb_double(&b, 3, 1.0);
	assert_bytes(&b, "\x11\x01\x02\x03\x04\x05\x06\x07\x08\x19\0\0\0\0\0\0\xf0\x3f", 18);
	pb_reset(&b);
	pb_u64(&b, 16, UINT64_MAX);
	assert_bytes(&b, "\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
	pb_fini(&b);
}

/* Lengths of one to three bytes, nested. */
static void test_lengths(void **state)
{
	static const size_t sizes[] = {0, 1, 125, 127, 128, 16381, 16383, 16384, 70000};
	static char text[70001];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct pb_field f, in;
		const uint8_t *p, *at;
		struct pb b;
		size_t outer, inner;

		pb_init(&b, 1 << 20);
		outer = pb_begin(&b, 1);
		inner = pb_begin(&b, 2);
		pb_bytes(&b, 3, text, sizes[i]);
		pb_end(&b, inner);
		pb_u64(&b, 4, 7);
		pb_end(&b, outer);
		p = b.p;
		assert_int_equal(pb_next(&f, &p, b.p + b.len), 1);
		assert_ptr_equal(p, b.p + b.len);
		at = f.p;
		assert_int_equal(pb_next(&in, &at, f.p + f.len), 1);
		assert_int_equal(in.number, 2);
		p = in.p;
		assert_int_equal(pb_next(&f, &p, in.p + in.len), 1);
		assert_int_equal(f.len, sizes[i]);
		assert_int_equal(pb_next(&in, &at, b.p + b.len), 1);
		assert_int_equal(in.value, 7);
		pb_fini(&b);
	}
}

static void test_limit(void **state)
{
	struct pb b;
	size_t at;

	(void)state;
	pb_init(&b, 10);
	at = pb_begin(&b, 1);
	pb_string(&b, 1, "1234567890");
	pb_end(&b, at);
	assert_int_equal(b.failed, 1);
	pb_reset(&b);
	pb_string(&b, 1, "12345678");
	assert_bytes(&b,
		     "\x0a\x08"
		     "12345678",
		     10);
	pb_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_examples),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
