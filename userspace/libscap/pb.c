/* SPDX-License-Identifier: Apache-2.0 */
#include "pb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5, VARINT_SZ = 10, FIRST_CAP = 1024 };

void pb_init(struct pb *b, size_t max)
{
	*b = (struct pb){.max = max};
}

void pb_fini(struct pb *b)
{
	free(b->p);
	b->p = NULL;
	b->len = b->cap = 0;
}

void pb_reset(struct pb *b)
{
	b->len = 0;
	b->failed = 0;
}

/* Returns the place of @n more bytes; NULL: it failed. */
static uint8_t *room(struct pb *b, size_t n)
{
	size_t cap = b->cap ? b->cap : FIRST_CAP;
	uint8_t *p;

	if (b->failed || n > b->max - b->len) {
		b->failed = 1;
		return NULL;
	}
	while (cap < b->len + n)
		cap *= 2;
	if (cap != b->cap) {
		p = realloc(b->p, cap);
		if (!p) {
			b->failed = 1;
			return NULL;
		}
		b->p = p;
		b->cap = cap;
	}
	p = b->p + b->len;
	b->len += n;
	return p;
}

static size_t encode_varint(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	return n;
}

void pb_put_raw(struct pb *b, const void *p, size_t n)
{
	uint8_t *to = room(b, n);

	if (to && n)
		memcpy(to, p, n);
}

static void put_varint(struct pb *b, uint64_t v)
{
	uint8_t bytes[VARINT_SZ];

	pb_put_raw(b, bytes, encode_varint(bytes, v));
}

static void put_tag(struct pb *b, uint32_t field, uint32_t wire)
{
	put_varint(b, (uint64_t)field << 3 | wire);
}

static void put_little_endian(struct pb *b, uint64_t v, size_t n)
{
	uint8_t *to = room(b, n);

	for (size_t i = 0; to && i < n; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

void pb_u64(struct pb *b, uint32_t field, uint64_t v)
{
	put_tag(b, field, VARINT);
	put_varint(b, v);
}

void pb_put_fixed64(struct pb *b, uint64_t v)
{
	put_little_endian(b, v, sizeof(v));
}

void pb_put_double(struct pb *b, double v)
{
	uint64_t u;

	memcpy(&u, &v, sizeof(u));
	pb_put_fixed64(b, u);
}

void pb_fixed64(struct pb *b, uint32_t field, uint64_t v)
{
	put_tag(b, field, FIXED64);
	pb_put_fixed64(b, v);
}

void pb_double(struct pb *b, uint32_t field, double v)
{
	put_tag(b, field, FIXED64);
	pb_put_double(b, v);
}

void pb_bytes(struct pb *b, uint32_t field, const void *p, size_t n)
{
	put_tag(b, field, BYTES);
	put_varint(b, n);
	pb_put_raw(b, p, n);
}

void pb_string(struct pb *b, uint32_t field, const char *text)
{
	pb_bytes(b, field, text, strlen(text));
}

size_t pb_begin(struct pb *b, uint32_t field)
{
	put_tag(b, field, BYTES);
	room(b, 1); /* for the length, if it is short */
	return b->len;
}

void pb_end(struct pb *b, size_t at)
{
	const size_t len = b->len - at;
	uint8_t bytes[VARINT_SZ];
	size_t n;

	if (b->failed)
		return;
	n = encode_varint(bytes, len);
	if (n > 1 && !room(b, n - 1))
		return;
	memmove(b->p + at - 1 + n, b->p + at, len);
	memcpy(b->p + at - 1, bytes, n);
}

/* ---- reading ---- */

static int read_varint(uint64_t *v, const uint8_t **p, const uint8_t *end)
{
	*v = 0;
	for (unsigned int shift = 0; shift < 64 && *p < end; shift += 7) {
		const uint8_t byte = *(*p)++;

		*v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 1;
	}
	return -EBADMSG;
}

static int read_fixed(struct pb_field *f, const uint8_t **p, const uint8_t *end, size_t n)
{
	if ((size_t)(end - *p) < n)
		return -EBADMSG;
	f->value = 0;
	for (size_t i = 0; i < n; i++)
		f->value |= (uint64_t)(*p)[i] << 8 * i;
	*p += n;
	return 1;
}

int pb_next(struct pb_field *f, const uint8_t **p, const uint8_t *end)
{
	uint64_t tag, len;

	if (*p >= end)
		return 0;
	if (read_varint(&tag, p, end) < 0 || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
		return -EBADMSG;
	*f = (struct pb_field){.number = (uint32_t)(tag >> 3), .wire = tag & 7};
	switch (f->wire) {
	case VARINT:
		return read_varint(&f->value, p, end);
	case FIXED64:
		return read_fixed(f, p, end, 8);
	case FIXED32:
		return read_fixed(f, p, end, 4);
	case BYTES:
		if (read_varint(&len, p, end) < 0 || len > (size_t)(end - *p))
			return -EBADMSG;
		f->p = *p;
		f->len = (size_t)len;
		*p += len;
		return 1;
	}
	return -EBADMSG;
}
