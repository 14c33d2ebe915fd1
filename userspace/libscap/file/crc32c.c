// SPDX-License-Identifier: Apache-2.0
/*
 * The instruction has a latency of three cycles, and one can begin in each: three parts of the
 * bytes are summed at the same time. The sum of the first two parts is then that of the first one
 * followed by zeros, xor that of the second. What zeros make of a sum is linear, so that tables
 * have it for each of its bytes.
 */
#include "file/crc32c.h"

#include <pthread.h>

#include "event/event_table.h"

#define POLYNOMIAL 0x82f63b78u /* reflected */
#define PART 2728 /* a multiple of 8; 24 of them are nearly a page of page_sums.h */

struct tables {
	uint32_t bytes[8][256]; /* [n]: of a byte that n others follow */
	uint32_t zeros[4][256]; /* [n]: byte n of a sum that PART zeros follow */
	int has_instruction;
};

static struct tables tables;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t add_byte(uint32_t sum, uint8_t byte)
{
	return tables.bytes[0][(sum ^ byte) & 0xff] ^ sum >> 8;
}

static void fill_tables(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t sum = i;

		for (int bit = 0; bit < 8; bit++)
			sum = sum & 1 ? sum >> 1 ^ POLYNOMIAL : sum >> 1;
		tables.bytes[0][i] = sum;
	}
	for (int n = 1; n < 8; n++)
		for (int i = 0; i < 256; i++)
			tables.bytes[n][i] = add_byte(tables.bytes[n - 1][i], 0);
	for (int bit = 0; bit < 32; bit++) {
		uint32_t sum = 1u << bit;

		for (int at = 0; at < PART; at++)
			sum = add_byte(sum, 0);
		tables.zeros[bit / 8][1 << bit % 8] = sum;
	}
	for (int n = 0; n < 4; n++)
		for (int i = 1; i < 256; i++)
			tables.zeros[n][i] = tables.zeros[n][i & (i - 1)] ^ tables.zeros[n][i & -i];
#ifdef __x86_64__
	tables.has_instruction = __builtin_cpu_supports("sse4.2");
#endif
}

static uint32_t by_table(uint32_t sum, const uint8_t *p, size_t n)
{
	for (; n >= 8; n -= 8, p += 8) {
		const uint64_t v = get_u64(p) ^ sum;

		sum = 0;
		for (int i = 0; i < 8; i++)
			sum ^= tables.bytes[7 - i][v >> 8 * i & 0xff];
	}
	while (n--)
		sum = add_byte(sum, *p++);
	return sum;
}

#ifdef __x86_64__

static uint32_t behind_zeros(uint32_t sum)
{
	return tables.zeros[0][sum & 0xff] ^ tables.zeros[1][sum >> 8 & 0xff] ^
	       tables.zeros[2][sum >> 16 & 0xff] ^ tables.zeros[3][sum >> 24];
}

static __attribute__((target("sse4.2"))) uint32_t by_instruction(uint32_t sum, const uint8_t *p,
								 size_t n)
{
	for (; n >= (size_t)3 * PART; n -= (size_t)3 * PART, p += (size_t)3 * PART) {
		uint64_t a = sum, b = 0, c = 0;

		for (int i = 0; i < PART; i += 8) {
			a = __builtin_ia32_crc32di(a, get_u64(p + i));
			b = __builtin_ia32_crc32di(b, get_u64(p + PART + i));
			c = __builtin_ia32_crc32di(c, get_u64(p + 2 * PART + i));
		}
		sum = behind_zeros(behind_zeros((uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)c;
	}
	for (; n >= 8; n -= 8, p += 8)
		sum = (uint32_t)__builtin_ia32_crc32di(sum, get_u64(p));
	while (n--)
		sum = __builtin_ia32_crc32qi(sum, *p++);
	return sum;
}

#else

#define by_instruction by_table

#endif

uint32_t crc32c_by_table(uint32_t crc, const uint8_t *p, size_t n)
{
	pthread_once(&once, fill_tables);
	return ~by_table(~crc, p, n);
}

uint32_t crc32c(uint32_t crc, const uint8_t *p, size_t n)
{
	pthread_once(&once, fill_tables);
	return ~(tables.has_instruction ? by_instruction(~crc, p, n) : by_table(~crc, p, n));
}
