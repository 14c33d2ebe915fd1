/* SPDX-License-Identifier: Apache-2.0 */
/* An arena: blocks of memory that are freed at once. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SZ 4096

struct sinsp_arena_block {
	struct sinsp_arena_block *next;
	size_t sz;
	_Alignas(16) char bytes[];
};

static int add_block(struct sinsp_arena *a, size_t n)
{
	const size_t sz = n > BLOCK_SZ ? n : BLOCK_SZ;
	struct sinsp_arena_block *b = calloc(1, sizeof(*b) + sz);

	if (!b)
		return 0;
	b->sz = sz;
	b->next = a->blocks;
	a->blocks = b;
	a->used = 0;
	return 1;
}

void *sinsp_arena_alloc(struct sinsp_arena *a, size_t n)
{
	void *p;

	if (n > SIZE_MAX / 2)
		return NULL;
	n = (n + 15) & ~(size_t)15;
	if ((!a->blocks || a->blocks->sz - a->used < n) && !add_block(a, n))
		return NULL;
	p = a->blocks->bytes + a->used;
	a->used += n;
	return p;
}

char *sinsp_arena_copy(struct sinsp_arena *a, const char *p, size_t n)
{
	char *to = sinsp_arena_alloc(a, n + 1);

	if (to && n)
		memcpy(to, p, n);
	return to;
}

void sinsp_arena_fini(struct sinsp_arena *a)
{
	struct sinsp_arena_block *next;

	for (struct sinsp_arena_block *b = a->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	*a = (struct sinsp_arena){0};
}
