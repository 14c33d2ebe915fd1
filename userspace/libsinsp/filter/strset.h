/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of texts and of numbers that are built once and searched often. They lie in an arena. */
#ifndef SINSP_FILTER_STRSET_H
#define SINSP_FILTER_STRSET_H

#include <stdint.h>
#include <string.h>

#include "arena.h"

struct sinsp_strset {
	uint32_t mask; /* number of slots minus one: a power of two minus one */
	uint64_t lens; /* bit n: there is one of n bytes; bit 63: of 63 or more */
	struct sinsp_strset_slot {
		const char *p; /* NULL: free */
		uint32_t len, hash;
	} * slots;
};

/* Makes room for @n texts. Returns 0 or -ENOMEM. */
int sinsp_strset_init(struct sinsp_strset *set, struct sinsp_arena *a, size_t n);
/* Adds a text, which is borrowed. */
void sinsp_strset_add(struct sinsp_strset *set, const char *p, size_t len);

/* Hashes the length and the bytes at both ends. */
static inline uint32_t sinsp_strset_hash(const char *p, size_t len)
{
	uint64_t a = 0, b = 0;

	if (len >= 8) {
		memcpy(&a, p, 8);
		memcpy(&b, p + len - 8, 8);
	} else if (len >= 4) {
		memcpy(&a, p, 4);
		memcpy(&b, p + len - 4, 4);
	} else if (len) {
		a = (uint64_t)(unsigned char)p[0] << 16 | (uint64_t)(unsigned char)p[len / 2] << 8 |
		    (unsigned char)p[len - 1];
	}
	a = (a ^ len) * 0x9e3779b97f4a7c15u + b;
	a = (a ^ a >> 32) * 0xd6e8feb86659fd93u;
	return (uint32_t)(a >> 32);
}

static inline int sinsp_strset_has(const struct sinsp_strset *set, const char *p, size_t len)
{
	const uint32_t hash = sinsp_strset_hash(p, len);

	if (!(set->lens >> (len < 63 ? len : 63) & 1))
		return 0;
	for (uint32_t i = hash & set->mask; set->slots[i].p; i = (i + 1) & set->mask) {
		const struct sinsp_strset_slot *s = &set->slots[i];

		if (s->hash == hash && s->len == len && !memcmp(s->p, p, len))
			return 1;
	}
	return 0;
}

struct sinsp_numset {
	uint32_t mask;
	uint8_t has_zero;
	uint64_t *slots; /* 0: free */
};

int sinsp_numset_init(struct sinsp_numset *set, struct sinsp_arena *a, size_t n);
void sinsp_numset_add(struct sinsp_numset *set, uint64_t v);

static inline uint32_t sinsp_numset_hash(uint64_t v)
{
	return (uint32_t)((v ^ v >> 32) * 0x9e3779b97f4a7c15u >> 32);
}

static inline int sinsp_numset_has(const struct sinsp_numset *set, uint64_t v)
{
	if (!v)
		return set->has_zero;
	for (uint32_t i = sinsp_numset_hash(v) & set->mask; set->slots[i]; i = (i + 1) & set->mask)
		if (set->slots[i] == v)
			return 1;
	return 0;
}

#endif /* SINSP_FILTER_STRSET_H */
