/* SPDX-License-Identifier: Apache-2.0 */
#include <zlib.h>

#include "file/crc32c.h"
#include "file/gzip_crc.h"
#include "testing/test_main.h"

#define N 40000 /* several times what is summed in three parts */

static uint8_t bytes[N];

/* As the definition says, bit by bit. */
static uint32_t by_bits(uint32_t crc, const uint8_t *p, size_t n)
{
	crc = ~crc;
	while (n--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return ~crc;
}

/* The check value of CRC-32C, and those of RFC 3720, B.4. */
static void test_known(void **state)
{
	static const uint8_t zeros[32];
	uint8_t ones[32], up[32];

	(void)state;
	for (int i = 0; i < 32; i++) {
		ones[i] = 0xff;
		up[i] = (uint8_t)i;
	}
	assert_int_equal(crc32c(0, (const uint8_t *)"123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(0, zeros, 32), 0x8a9136aa);
	assert_int_equal(crc32c(0, ones, 32), 0x62a8ab43);
	assert_int_equal(crc32c(0, up, 32), 0x46dd794e);
	assert_int_equal(crc32c(0, up, 0), 0);
}

static void test_lengths(void **state)
{
	(void)state;
	for (size_t n = 0; n <= N; n += n < 50 ? 1 : 997) {
		const size_t at = n % 9 < N - n ? n % 9 : 0;
		const uint32_t crc = by_bits(0, bytes + at, n);

		assert_int_equal(crc32c(0, bytes + at, n), crc);
		assert_int_equal(crc32c_by_table(0, bytes + at, n), crc);
	}
}

static void test_pieces(void **state)
{
	const uint32_t whole = by_bits(0, bytes, N);

	(void)state;
	for (size_t n = 0; n <= N; n += 1231) {
		assert_int_equal(crc32c(crc32c(0, bytes, n), bytes + n, N - n), whole);
		assert_int_equal(crc32c_by_table(crc32c(0, bytes, n), bytes + n, N - n), whole);
	}
}

/* The check value of CRC-32/ISO-HDLC, which is that of gzip; and what zlib finds. */
static void test_gzip(void **state)
{
	const uint32_t whole = crc32(0, bytes, N);

	(void)state;
	assert_int_equal(gzip_crc(0, (const uint8_t *)"123456789", 9), 0xcbf43926);
	for (size_t n = 0; n <= N; n += n < 300 ? 1 : 997)
		for (size_t at = 0; at < 17 && at + n <= N; at += 3)
			assert_int_equal(gzip_crc(0, bytes + at, n), crc32(0, bytes + at, n));
	for (size_t n = 0; n <= N; n += 37)
		assert_int_equal(gzip_crc(gzip_crc(0, bytes, n), bytes + n, N - n), whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_gzip),
	};
	uint64_t seed = 1;

	for (size_t i = 0; i < N; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		bytes[i] = (uint8_t)(seed >> 56);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
