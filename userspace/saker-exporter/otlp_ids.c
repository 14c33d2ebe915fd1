/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_ids.h"

#include <string.h>

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int otlp_id_read(uint8_t *out, size_t sz, const char *p, size_t len)
{
	uint8_t id[TRACE_ID_BYTES] = {0}, any = 0;

	if (len > 2 * sz || sz > sizeof(id))
		return 0;
	for (size_t i = 0; i < len; i++) {
		const size_t place = 2 * sz - len + i;
		const int d = digit(p[i]);

		if (d < 0)
			return 0;
		id[place / 2] = (uint8_t)(id[place / 2] | d << (place % 2 ? 0 : 4));
		any |= (uint8_t)d;
	}
	if (!any)
		return 0;
	memcpy(out, id, sz);
	return 1;
}

/* The finalizer of splitmix64: a permutation, so numbers of a run have different identifiers. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

void otlp_id_make(uint8_t *out, size_t sz, uint64_t seed, uint64_t number)
{
	for (size_t i = 0; i < sz; i += sizeof(uint64_t)) {
		uint64_t v = mix(number ^ seed ^ (uint64_t)sz << 56) ^ (i ? seed : 0);

		if (i)
			v = mix(v);
		memcpy(out + i, &v, sizeof(v));
	}
	out[sz - 1] = (uint8_t)(out[sz - 1] | !out[sz - 1]); /* never only zeros */
}
