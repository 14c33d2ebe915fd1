// SPDX-License-Identifier: Apache-2.0
/*
 * Blocks of 16 bytes are folded into the next: a block is a polynomial over GF(2), and what it adds
 * to the checksum of bytes further on is its product with a constant, a power of x modulo that of
 * the checksum, which is no longer than it. Four blocks are folded into the four after them at the
 * same time. V. Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction", Intel 2009, has the derivation. The last block is left to zlib.
 */
#include "file/gzip_crc.h"

#include <zlib.h>

#ifdef __x86_64__

#include <immintrin.h>

#define BLOCK sizeof(__m128i)

/* x^n modulo the polynomial 0x104c11db7, reflected: for the low and the high half of a block. */
struct fold {
	uint64_t low, high;
};
static const struct fold by_4 = {0x154442bd4, 0x1c6e41596}; /* n = 4 * 128 + 32, 4 * 128 - 32 */
static const struct fold by_1 = {0x1751997d0, 0x0ccaa009e}; /* n = 128 + 32, 128 - 32 */

static __attribute__((target("pclmul"))) __m128i folded(__m128i block, const struct fold *by,
							__m128i into)
{
	const __m128i k = _mm_loadu_si128((const __m128i *)by);

	return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(block, k, 0x00), into),
			     _mm_clmulepi64_si128(block, k, 0x11));
}

static __m128i block_at(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

/* Of at least four blocks. */
static __attribute__((target("pclmul"))) uint32_t by_products(uint32_t crc, const uint8_t *p,
							      size_t n)
{
	__m128i a = _mm_xor_si128(block_at(p), _mm_cvtsi32_si128((int)~crc));
	__m128i b = block_at(p + BLOCK), c = block_at(p + 2 * BLOCK), d = block_at(p + 3 * BLOCK);
	uint8_t last[BLOCK];

	for (p += 4 * BLOCK, n -= 4 * BLOCK; n >= 4 * BLOCK; p += 4 * BLOCK, n -= 4 * BLOCK) {
		a = folded(a, &by_4, block_at(p));
		b = folded(b, &by_4, block_at(p + BLOCK));
		c = folded(c, &by_4, block_at(p + 2 * BLOCK));
		d = folded(d, &by_4, block_at(p + 3 * BLOCK));
	}
	a = folded(folded(folded(a, &by_1, b), &by_1, c), &by_1, d);
	for (; n >= BLOCK; p += BLOCK, n -= BLOCK)
		a = folded(a, &by_1, block_at(p));
	_mm_storeu_si128((__m128i *)last, a);
	/* The block has the inverted bits before it: zlib begins with zeros. */
	crc = (uint32_t)crc32_z(0xffffffff, last, BLOCK);
	return (uint32_t)crc32_z(crc, p, n);
}

uint32_t gzip_crc(uint32_t crc, const uint8_t *p, size_t n)
{
	if (n >= 4 * BLOCK && __builtin_cpu_supports("pclmul"))
		return by_products(crc, p, n);
	return (uint32_t)crc32_z(crc, p, n);
}

#else

uint32_t gzip_crc(uint32_t crc, const uint8_t *p, size_t n)
{
	return (uint32_t)crc32_z(crc, p, n);
}

#endif
