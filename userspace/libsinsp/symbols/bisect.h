/* SPDX-License-Identifier: Apache-2.0 */
/* Search in what is sorted by address. */
#ifndef SINSP_SYMBOLS_BISECT_H
#define SINSP_SYMBOLS_BISECT_H

#include <stddef.h>
#include <stdint.h>

/* How many of the @n elements of @v, each of @sz bytes and sorted by the uint64_t that it begins
 * with, begin with no more than @key. */
static inline size_t n_up_to(const void *v, size_t n, size_t sz, uint64_t key)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (*(const uint64_t *)((const char *)v + mid * sz) <= key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

#endif /* SINSP_SYMBOLS_BISECT_H */
