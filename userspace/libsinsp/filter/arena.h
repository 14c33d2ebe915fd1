/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is taken piece by piece and given back at once. Zero-initialize. */
#ifndef SINSP_FILTER_ARENA_H
#define SINSP_FILTER_ARENA_H

#include <stddef.h>

struct sinsp_arena {
	struct sinsp_arena_block *blocks; /* the newest first */
	size_t used; /* bytes of the newest */
};

/* Zeroed, aligned for anything; NULL: no memory. */
void *sinsp_arena_alloc(struct sinsp_arena *a, size_t n);
/* A copy with a NUL behind it. */
char *sinsp_arena_copy(struct sinsp_arena *a, const char *p, size_t n);
void sinsp_arena_fini(struct sinsp_arena *a);

#endif /* SINSP_FILTER_ARENA_H */
