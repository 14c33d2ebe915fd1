/* SPDX-License-Identifier: Apache-2.0 */
/* Bisection in arrays sorted by address. */
#ifndef SINSP_SYMBOLS_BISECT_H
#define SINSP_SYMBOLS_BISECT_H

#include <stddef.h>
#include <stdint.h>

/* Returns how many of the @n elements of @v, of @sz bytes each and sorted by the uint64_t at their
 * beginning, have a key of at most @key. */
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
