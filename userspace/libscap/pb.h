/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes messages of Protocol Buffers into one growing buffer. A message that would exceed the
 * limit, or for which there is no memory, is marked as failed: the caller checks once, at its end.
 */
#ifndef SCAP_PB_H
#define SCAP_PB_H

#include <stddef.h>
#include <stdint.h>

struct pb {
	uint8_t *p; /* owned */
	size_t len, cap, max;
	int failed;
};

/* @max: limit of the length. */
void pb_init(struct pb *b, size_t max);
void pb_fini(struct pb *b);
/* Forgets what was written, and keeps the memory. */
void pb_reset(struct pb *b);

/* A field each. */
void pb_u64(struct pb *b, uint32_t field, uint64_t v); /* any integer, enum or bool */
void pb_fixed64(struct pb *b, uint32_t field, uint64_t v);
void pb_double(struct pb *b, uint32_t field, double v);
void pb_bytes(struct pb *b, uint32_t field, const void *p, size_t n);
void pb_string(struct pb *b, uint32_t field, const char *text);

/* A message, or packed values, as a field. Returns its place, for pb_end. */
size_t pb_begin(struct pb *b, uint32_t field);
void pb_end(struct pb *b, size_t at);
/* Values of a packed field, between pb_begin and pb_end. */
void pb_put_fixed64(struct pb *b, uint64_t v);
void pb_put_double(struct pb *b, double v);
/* Bytes that are fields already. */
void pb_put_raw(struct pb *b, const void *p, size_t n);

/* ---- reading ---- */

/* A field of a message. */
struct pb_field {
	uint32_t number, wire; /* wire: 0 varint, 1 fixed64, 2 bytes, 5 fixed32 */
	uint64_t value; /* of a number */
	const uint8_t *p; /* of bytes. Borrowed from the message */
	size_t len;
};

/* Reads the field at *p and advances. Returns 1; 0 at the end, -EBADMSG if it is none. */
int pb_next(struct pb_field *f, const uint8_t **p, const uint8_t *end);

#endif /* SCAP_PB_H */
