/* SPDX-License-Identifier: Apache-2.0 */
#include "file/gzip_crc.h"

#include <zlib.h>

#include "testing/test_main.h"

#define N 5000

static uint8_t bytes[N];

/* The check value of CRC-32/ISO-HDLC, which is that of gzip. */
static void test_known(void **state)
{
	(void)state;
	assert_int_equal(gzip_crc(0, (const uint8_t *)"123456789", 9), 0xcbf43926);
	assert_int_equal(gzip_crc(0, bytes, 0), 0);
}

static void test_lengths(void **state)
{
	(void)state;
	for (size_t n = 0; n <= N; n += n < 300 ? 1 : 41)
		for (size_t at = 0; at < 17 && at + n <= N; at += 3)
			assert_int_equal(gzip_crc(0, bytes + at, n), crc32(0, bytes + at, n));
}

static void test_pieces(void **state)
{
	const uint32_t whole = crc32(0, bytes, N);

	(void)state;
	for (size_t n = 0; n <= N; n += 37)
		assert_int_equal(gzip_crc(gzip_crc(0, bytes, n), bytes + n, N - n), whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_pieces),
	};
	uint64_t seed = 1;

	for (size_t i = 0; i < N; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		bytes[i] = (uint8_t)(seed >> 56);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
