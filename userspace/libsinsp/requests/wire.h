/* SPDX-License-Identifier: Apache-2.0 */
/* Reads numbers and lines that protocols have. The caller knows that the bytes are there, or has a
 * reader. */
#ifndef SINSP_REQUESTS_WIRE_H
#define SINSP_REQUESTS_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t wire_be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t wire_be32(const uint8_t *p)
{
	return wire_be16(p) << 16 | wire_be16(p + 2);
}

static inline uint32_t wire_le16(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static inline uint32_t wire_le32(const uint8_t *p)
{
	return wire_le16(p) | wire_le16(p + 2) << 16;
}

/* Returns the length of the line without its end, and sets *len to that with it. -1: incomplete. */
static inline int wire_line(const uint8_t *p, size_t n, size_t *len)
{
	const uint8_t *nl = memchr(p, '\n', n);
	size_t text;

	if (!nl)
		return -1;
	*len = (size_t)(nl + 1 - p);
	text = *len - 1;
	return (int)(text && p[text - 1] == '\r' ? text - 1 : text);
}

/* Reads the decimal number that the @n bytes are. Returns 0 if they are none, or more than 18. */
static inline int wire_decimal(const uint8_t *p, size_t n, uint64_t *out)
{
	uint64_t sum = 0;

	if (!n || n > 18)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return 0;
		sum = sum * 10 + p[i] - '0';
	}
	*out = sum;
	return 1;
}

/* Returns the value of the hexadecimal digit; -1: it is none. */
static inline int wire_hex(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the length of the text that ends with 0, and may lack its end. */
static inline size_t wire_text(const uint8_t *p, size_t n)
{
	const uint8_t *nul = memchr(p, 0, n);

	return nul ? (size_t)(nul - p) : n;
}

/* What is here of a message. Beyond its end all is 0, and it is short. */
struct wire_reader {
	const uint8_t *p;
	size_t n;
	int is_short;
};

/* Returns the next @n bytes; NULL: they are not here. */
static inline const uint8_t *wire_take(struct wire_reader *f, size_t n)
{
	const uint8_t *p = f->p;

	if (f->is_short || n > f->n) {
		f->is_short = 1;
		return NULL;
	}
	f->p += n;
	f->n -= n;
	return p;
}

static inline uint32_t wire_take8(struct wire_reader *f)
{
	const uint8_t *p = wire_take(f, 1);

	return p ? *p : 0;
}

static inline uint32_t wire_take_be16(struct wire_reader *f)
{
	const uint8_t *p = wire_take(f, 2);

	return p ? wire_be16(p) : 0;
}

static inline uint32_t wire_take_be32(struct wire_reader *f)
{
	const uint8_t *p = wire_take(f, 4);

	return p ? wire_be32(p) : 0;
}

#endif /* SINSP_REQUESTS_WIRE_H */
