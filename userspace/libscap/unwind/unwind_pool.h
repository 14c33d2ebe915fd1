/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of unwind tables, shared with the driver (driver/shared/unwind_table.h): chunks, allocated
 * as needed, and spans in them. A returned span is not reused before all walks that may still read
 * it have ended.
 */
#ifndef SCAP_UNWIND_UNWIND_POOL_H
#define SCAP_UNWIND_UNWIND_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "shared/unwind_table.h"

struct unwind_pool;

/* @map is the driver's map of chunks; -1: none, plain memory. @max_sz limits the size of all
 * chunks. */
int unwind_pool_new(struct unwind_pool **out, int map, size_t max_sz);
void unwind_pool_free(struct unwind_pool *p);

/* Returns the place of @words words, at most a chunk's; or -ENOSPC: the limit is reached, or
 * another negative errno. */
int64_t unwind_pool_alloc(struct unwind_pool *p, uint32_t words);
/* @now_ns: of any monotonic clock. */
void unwind_pool_release(struct unwind_pool *p, uint32_t place, uint32_t words, uint64_t now_ns);
/* Makes spans that were returned long enough ago available. */
void unwind_pool_settle(struct unwind_pool *p, uint64_t now_ns);

/* Returns the memory at a place. */
uint64_t *unwind_pool_at(const struct unwind_pool *p, uint32_t place);
/* Returns a chunk; NULL: none. */
const uint64_t *unwind_pool_chunk(const struct unwind_pool *p, uint32_t chunk);

/* Returns its maximum size in bytes. */
size_t unwind_pool_max(const struct unwind_pool *p);
size_t unwind_pool_sz(const struct unwind_pool *p); /* size of all chunks */
size_t unwind_pool_used(const struct unwind_pool *p); /* bytes in use */

#endif /* SCAP_UNWIND_UNWIND_POOL_H */
