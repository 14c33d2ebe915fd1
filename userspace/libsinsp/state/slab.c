/* SPDX-License-Identifier: Apache-2.0 */
#include "slab.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_SZ (64 * 1024)
#define CHUNK_HDR 16 /* the pointer to the next chunk, padded for alignment */

void sinsp_slab_init(struct sinsp_slab *sl, size_t obj_sz)
{
	memset(sl, 0, sizeof(*sl));
	sl->obj_sz = (obj_sz + 7) & ~(size_t)7;
}

void sinsp_slab_fini(struct sinsp_slab *sl)
{
	void *c = sl->chunks;

	while (c) {
		void *next = *(void **)c;

		free(c);
		c = next;
	}
	sl->chunks = sl->free = NULL;
	sl->n_used = 0;
}

static int add_chunk(struct sinsp_slab *sl)
{
	char *c = malloc(CHUNK_SZ);

	if (!c)
		return 0;
	*(void **)c = sl->chunks;
	sl->chunks = c;
	for (size_t at = CHUNK_HDR; at + sl->obj_sz <= CHUNK_SZ; at += sl->obj_sz) {
		*(void **)(c + at) = sl->free;
		sl->free = c + at;
	}
	return 1;
}

void *sinsp_slab_get(struct sinsp_slab *sl)
{
	void *obj;

	if (!sl->free && !add_chunk(sl))
		return NULL;
	obj = sl->free;
	sl->free = *(void **)obj;
	sl->n_used++;
	return memset(obj, 0, sl->obj_sz);
}

void sinsp_slab_put(struct sinsp_slab *sl, void *obj)
{
	*(void **)obj = sl->free;
	sl->free = obj;
	sl->n_used--;
}
