/* SPDX-License-Identifier: Apache-2.0 */
/* Slab allocator: objects of one size from large chunks. */
#include "memory/slab.h"

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
	sl->fresh = sl->fresh_end = NULL;
	sl->n_used = 0;
}

static int add_chunk(struct sinsp_slab *sl)
{
	char *c = malloc(CHUNK_SZ);

	if (!c)
		return 0;
	*(void **)c = sl->chunks;
	sl->chunks = c;
	sl->fresh = c + CHUNK_HDR;
	sl->fresh_end = c + CHUNK_SZ;
	return 1;
}

/* Returns an object that was never used: its memory is not touched before. */
static void *get_fresh(struct sinsp_slab *sl)
{
	void *obj;

	if ((size_t)(sl->fresh_end - sl->fresh) < sl->obj_sz && !add_chunk(sl))
		return NULL;
	obj = sl->fresh;
	sl->fresh += sl->obj_sz;
	return obj;
}

void *sinsp_slab_get(struct sinsp_slab *sl)
{
	void *obj = sl->free;

	if (obj)
		sl->free = *(void **)obj;
	else
		obj = get_fresh(sl);
	if (!obj) {
		sl->n_refused++;
		return NULL;
	}
	sl->n_used++;
	return memset(obj, 0, sl->obj_sz);
}

void sinsp_slab_put(struct sinsp_slab *sl, void *obj)
{
	*(void **)obj = sl->free;
	sl->free = obj;
	sl->n_used--;
}
