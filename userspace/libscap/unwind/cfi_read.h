/* SPDX-License-Identifier: Apache-2.0 */
/* Reads DWARF numbers from bytes that may end anywhere: past the end reads return 0 and set bad. */
#ifndef SCAP_UNWIND_CFI_READ_H
#define SCAP_UNWIND_CFI_READ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cfi_cursor {
	const uint8_t *p, *end;
	int bad;
};

static inline uint64_t cfi_fixed(struct cfi_cursor *c, size_t sz)
{
	uint64_t v = 0;

	if ((size_t)(c->end - c->p) < sz) {
		c->bad = 1;
		c->p = c->end;
		return 0;
	}
	memcpy(&v, c->p, sz);
	c->p += sz;
	return v;
}

static inline uint8_t cfi_u8(struct cfi_cursor *c)
{
	if (c->p == c->end) {
		c->bad = 1;
		return 0;
	}
	return *c->p++;
}

/* A number may have redundant bytes, up to a limit. */
#define CFI_LEB_BITS 140

static inline uint64_t cfi_uleb(struct cfi_cursor *c)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t b;

	do {
		b = cfi_u8(c);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80 && shift < CFI_LEB_BITS);
	c->bad |= b >> 7;
	return v;
}

static inline int64_t cfi_sleb(struct cfi_cursor *c)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t b;

	do {
		b = cfi_u8(c);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80 && shift < CFI_LEB_BITS);
	c->bad |= b >> 7;
	if (shift < 64 && b & 0x40)
		v |= -((uint64_t)1 << shift);
	return (int64_t)v;
}

/* Returns the next @sz bytes as a cursor of their own. */
static inline struct cfi_cursor cfi_block(struct cfi_cursor *c, uint64_t sz)
{
	struct cfi_cursor b = {c->p, c->p, 0};

	if ((uint64_t)(c->end - c->p) < sz) {
		c->bad = b.bad = 1;
		c->p = c->end;
		return b;
	}
	c->p += sz;
	b.end = c->p;
	return b;
}

/* Encodings of addresses (DW_EH_PE_*): the low four bits are the size, the next three the base. */
#define CFI_PE_OMIT 0xff
#define CFI_PE_FORMAT 0x0f
#define CFI_PE_PCREL 0x10
#define CFI_PE_DATAREL 0x30
#define CFI_PE_BASE 0x70
#define CFI_PE_INDIRECT 0x80

/* Reads the number alone, without its base. */
static inline uint64_t cfi_encoded(struct cfi_cursor *c, uint8_t encoding)
{
	switch (encoding & CFI_PE_FORMAT) {
	case 0x00:
	case 0x04:
	case 0x0c:
		return cfi_fixed(c, 8);
	case 0x01:
		return cfi_uleb(c);
	case 0x02:
		return cfi_fixed(c, 2);
	case 0x03:
		return cfi_fixed(c, 4);
	case 0x09:
		return (uint64_t)cfi_sleb(c);
	case 0x0a:
		return (uint64_t)(int64_t)(int16_t)cfi_fixed(c, 2);
	case 0x0b:
		return (uint64_t)(int64_t)(int32_t)cfi_fixed(c, 4);
	}
	c->bad = 1;
	return 0;
}

#endif /* SCAP_UNWIND_CFI_READ_H */
