/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes into a growing struct sinsp_text. A writer keeps the place in a local pointer, requests
 * room before it writes, and stores the length once, at the end. The put_* functions do not check
 * for room and return the end; the comment of each has the maximum that it writes. A request for
 * room may move the text, so it returns the pointer anew.
 */
#ifndef SINSP_FIELDS_TEXT_H
#define SINSP_FIELDS_TEXT_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "sinsp.h"

#define TEXT_NUM_MAX 24 /* maximum for a number in any base, with sign */

/* Makes room for @n bytes at @p, a place in @t (NULL before there is any text). NULL: no memory;
 * what was written so far is kept. */
char *sinsp_text_grow(struct sinsp_text *t, char *p, size_t n);

static inline char *text_room(struct sinsp_text *t, char *p, size_t n)
{
	if (p && t->cap - (size_t)(p - t->p) >= n)
		return p;
	return sinsp_text_grow(t, p, n);
}

static inline char *text_begin(struct sinsp_text *t, size_t n)
{
	return text_room(t, t->p ? t->p + t->len : NULL, n);
}

/* Sets the new length after the last write; @p NULL: a writer ran out of memory. */
static inline int text_end(struct sinsp_text *t, char *p)
{
	if (!p)
		return -ENOMEM;
	t->len = (size_t)(p - t->p);
	return 0;
}

static inline char *put_mem(char *p, const void *s, size_t n)
{
	return (char *)memcpy(p, s, n) + n;
}

/* Copies a string literal. */
#define put_lit(p, s) put_mem(p, s, sizeof(s) - 1)

extern const char sinsp_two_digits[200]; /* "00" .. "99" */
/* Returns the digits of @v below 10^8, the first one lowest, each in a byte: halves, then halves of
 * these, in one word. */
static inline uint64_t digits_of(uint32_t v)
{
	const uint64_t fours = v / 10000 | (uint64_t)(v % 10000) << 32;
	/* 10486 / 2^20 is 1/100, 103 / 2^10 is 1/10, closely enough. */
	const uint64_t hundreds = fours * 10486 >> 20 & 0x7f0000007f;
	const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
	const uint64_t tens = twos * 103 >> 10 & 0xf000f000f000f;

	return tens | (twos - 10 * tens) << 8;
}

#define DIGITS_ASCII 0x3030303030303030u

/* Writes @v below 10^8 as eight digits. */
static inline char *put_8digits(char *p, uint32_t v)
{
	const uint64_t digits = digits_of(v) + DIGITS_ASCII;

	memcpy(p, &digits, sizeof(digits));
	return p + sizeof(digits);
}

/* Writes @v of 10^8 and more. */
char *sinsp_put_long(char *p, uint64_t v);

static inline char *put_2digits(char *p, uint32_t v)
{
	return put_mem(p, &sinsp_two_digits[v * 2], 2);
}

/* Writes @v of 10^4 to 10^8 - 1. */
static inline char *put_5to8digits(char *p, uint32_t v)
{
	const uint64_t digits = digits_of(v), text = digits + DIGITS_ASCII;
	const unsigned int n_zeros = (unsigned int)__builtin_ctzll(digits) / 8;
	const uint32_t first = (uint32_t)(text >> 8 * n_zeros), last = (uint32_t)(text >> 32);

	put_mem(p, &first, sizeof(first));
	return put_mem(p + 4 - n_zeros, &last, sizeof(last));
}

static inline char *put_u64(char *p, uint64_t v)
{
	const uint32_t low = (uint32_t)v;

	if (v >= 100000000)
		return sinsp_put_long(p, v);
	if (low >= 10000)
		return put_5to8digits(p, low);
	if (low >= 1000)
		return put_2digits(put_2digits(p, low / 100), low % 100);
	if (low >= 100)
		*p++ = (char)('0' + low / 100);
	if (low >= 10)
		return put_2digits(p, low % 100);
	*p = (char)('0' + low);
	return p + 1;
}

static inline char *put_i64(char *p, int64_t v)
{
	if (v >= 0)
		return put_u64(p, (uint64_t)v);
	*p++ = '-';
	return put_u64(p, -(uint64_t)v);
}

/* Writes @v below 10^9 as nine digits. */
static inline char *put_9digits(char *p, uint32_t v)
{
	*p = (char)('0' + v / 100000000);
	return put_8digits(p + 1, v % 100000000);
}

static inline char *put_base2(char *p, uint64_t v, unsigned int bits, const char *digits)
{
	unsigned int n = v ? (63u - (unsigned int)__builtin_clzll(v)) / bits + 1 : 1;

	for (unsigned int i = n; i--; v >>= bits)
		p[i] = digits[v & ((1u << bits) - 1)];
	return p + n;
}

static inline char *put_hex(char *p, uint64_t v)
{
	return put_base2(p, v, 4, "0123456789abcdef");
}

static inline char *put_hex_upper(char *p, uint64_t v)
{
	return put_base2(p, v, 4, "0123456789ABCDEF");
}

static inline char *put_oct(char *p, uint64_t v)
{
	return put_base2(p, v, 3, "01234567");
}

/* Copies bytes while @all is true for the words that they make. Returns their number: @n, or less,
 * and then one of the next eight bytes is not to be copied. */
static inline size_t copy_words(char *restrict p, const char *restrict s, size_t n,
				bool (*all)(uint64_t w))
{
	uint32_t halves[2];
	size_t i = 0;
	uint64_t w;

	for (; n - i >= sizeof(w); i += sizeof(w)) {
		memcpy(&w, s + i, sizeof(w));
		if (!all(w))
			return i;
		memcpy(p + i, &w, sizeof(w));
	}
	if (i == n)
		return n;
	/* The rest, together with bytes that are copied already or twice. */
	if (n >= sizeof(w)) {
		memcpy(&w, s + n - sizeof(w), sizeof(w));
		if (!all(w))
			return i;
		memcpy(p + n - sizeof(w), &w, sizeof(w));
	} else if (n >= sizeof(halves[0])) {
		memcpy(&halves[0], s, sizeof(halves[0]));
		memcpy(&halves[1], s + n - sizeof(halves[1]), sizeof(halves[1]));
		memcpy(&w, halves, sizeof(w));
		if (!all(w))
			return i;
		memcpy(p, &halves[0], sizeof(halves[0]));
		memcpy(p + n - sizeof(halves[1]), &halves[1], sizeof(halves[1]));
	} else {
		const char bytes[8] = {s[0], s[n / 2], s[n - 1], ' ', ' ', ' ', ' ', ' '};

		memcpy(&w, bytes, sizeof(w));
		if (!all(w))
			return i;
		p[0] = bytes[0];
		p[n / 2] = bytes[1];
		p[n - 1] = bytes[2];
	}
	return n;
}

/* Returns whether all eight bytes are printable ASCII, 0x20 to 0x7e. A borrow or carry into a
 * neighbour comes only from a byte that is not, so the result is right. */
static inline bool all_printable(uint64_t w)
{
	const uint64_t ones = 0x0101010101010101;

	return !((w | (w + ones) | (w - 0x20 * ones)) & 0x80 * ones);
}

/* Copies text of other programs; the three functions differ in what they do with a byte that is not
 * printable ASCII. Each writes at most @n bytes. */
char *put_dropping(char *restrict p, const char *restrict s, size_t n); /* drops it */
char *put_dotting(char *restrict p, const char *restrict s, size_t n); /* a dot for each */
char *put_utf8(char *restrict p, const char *restrict s,
	       size_t n); /* keeps UTF-8 characters, a dot for each other byte */

#endif /* SINSP_FIELDS_TEXT_H */
