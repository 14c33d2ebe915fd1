// SPDX-License-Identifier: Apache-2.0
#include "file/page_sums.h"

#include <string.h>

#include "file/crc32c.h"

void page_sums_begin(struct page_sums *s, uint64_t at)
{
	s->at = at;
	s->begin = (at + SUM_PAGE_SZ - 1) / SUM_PAGE_SZ;
}

void page_sums_add(struct page_sums *s, const uint8_t *p, size_t n)
{
	while (n) {
		const size_t left = SUM_PAGE_SZ - s->at % SUM_PAGE_SZ, part = n < left ? n : left;

		s->crc = crc32c(s->crc, p, part);
		s->at += part;
		p += part;
		n -= part;
		if (part == left) {
			s->v[(s->at / SUM_PAGE_SZ - 1) % PAGE_SUMS_MAX] = s->crc;
			s->crc = 0;
		}
	}
}

size_t page_sums_put(struct page_sums *s, uint8_t *out, uint64_t at, bool last)
{
	const uint64_t end = s->at / SUM_PAGE_SZ;
	uint64_t first = s->next;
	uint8_t *p = out + 16;

	if (end - first > PAGE_SUMS_MAX)
		first = end - PAGE_SUMS_MAX;
	for (uint64_t page = first; page < end; page++)
		p = mempcpy(p, &s->v[page % PAGE_SUMS_MAX], sizeof(s->crc));
	if (last && at == s->at && at % SUM_PAGE_SZ)
		p = mempcpy(p, &s->crc, sizeof(s->crc));
	memcpy(out, &at, sizeof(at));
	memcpy(out + 8, &first, sizeof(first));
	s->next = end;
	return p == out + 16 ? 0 : p - out;
}
