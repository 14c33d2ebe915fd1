/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of keys that a watched process may choose: seeded, so that it cannot plan collisions. */
#ifndef SCAP_HASH_H
#define SCAP_HASH_H

#include <stdint.h>
#include <string.h>
#include <sys/random.h>

static inline uint64_t scap_hash_mix(uint64_t a, uint64_t b)
{
	const __uint128_t m = (__uint128_t)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t scap_hash_number(uint64_t seed, uint64_t n)
{
	return scap_hash_mix(seed ^ n, 0x9e3779b97f4a7c15);
}

static inline uint64_t scap_hash_bytes(uint64_t seed, const char *p, size_t len)
{
	uint64_t h = seed ^ len, w;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&w, p, 8);
		h = scap_hash_number(h, w);
	}
	w = 0;
	memcpy(&w, p, len);
	h = scap_hash_mix(h ^ w, 0xd6e8feb86659fd93);
	return h ^ h >> 32;
}

/* @owner is hashed if the kernel has no randomness yet. */
static inline uint64_t scap_hash_seed(const void *owner)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = (uint64_t)(uintptr_t)owner;
	return seed;
}

#endif /* SCAP_HASH_H */
