/* SPDX-License-Identifier: Apache-2.0 */
/* An arena: memory that is allocated piece by piece and freed at once. Zero-initialize. */
#ifndef SINSP_FILTER_ARENA_H
#define SINSP_FILTER_ARENA_H

#include <stddef.h>

struct sinsp_arena {
	struct sinsp_arena_block *blocks; /* newest first */
	size_t used; /* bytes used of the newest */
};

/* Returns zeroed memory, aligned for any type; NULL: no memory. */
void *sinsp_arena_alloc(struct sinsp_arena *a, size_t n);
/* Returns a copy with a NUL added. */
char *sinsp_arena_copy(struct sinsp_arena *a, const char *p, size_t n);
void sinsp_arena_fini(struct sinsp_arena *a);

#endif /* SINSP_FILTER_ARENA_H */
