/* SPDX-License-Identifier: Apache-2.0 */
/* Slab allocator: objects of one size from large chunks, with a free list. */
#ifndef SINSP_MEMORY_SLAB_H
#define SINSP_MEMORY_SLAB_H

#include <stddef.h>

struct sinsp_slab {
	size_t obj_sz;
	void *free; /* free list; each object begins with a pointer to the next */
	void *chunks;
	char *fresh, *fresh_end; /* unused end of the last chunk */
	size_t n_used;
	size_t n_refused; /* without memory */
};

void sinsp_slab_init(struct sinsp_slab *sl, size_t obj_sz);
void sinsp_slab_fini(struct sinsp_slab *sl);
/* Returns zeroed memory, or NULL. */
void *sinsp_slab_get(struct sinsp_slab *sl);
void sinsp_slab_put(struct sinsp_slab *sl, void *obj);

#endif /* SINSP_MEMORY_SLAB_H */
