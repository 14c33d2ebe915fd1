/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that unwind tables lie in, shared with the driver (driver/shared/unwind_table.h):
 * chunks that are made as they are needed, and spans in them. A span that is given back is not
 * given out again before every walk that may still read it is over.
 */
#ifndef SCAP_UNWIND_UNWIND_POOL_H
#define SCAP_UNWIND_UNWIND_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "shared/unwind_table.h"

struct unwind_pool;

/* @map is the driver's map of chunks; -1: none, the memory is our own. @max_sz bounds all chunks.
 */
int unwind_pool_new(struct unwind_pool **out, int map, size_t max_sz);
void unwind_pool_free(struct unwind_pool *p);

/* The place of @words words, at most a chunk's; or -ENOSPC: the bound is reached, or another
 * negative errno. */
int64_t unwind_pool_take(struct unwind_pool *p, uint32_t words);
/* @now_ns is of any clock that ascends. */
void unwind_pool_give(struct unwind_pool *p, uint32_t place, uint32_t words, uint64_t now_ns);
/* What was given back long enough ago can be taken. */
void unwind_pool_settle(struct unwind_pool *p, uint64_t now_ns);

/* Where a place is in our memory. */
uint64_t *unwind_pool_at(const struct unwind_pool *p, uint32_t place);
/* A chunk; NULL: there is none. */
const uint64_t *unwind_pool_chunk(const struct unwind_pool *p, uint32_t chunk);

/* Bytes that it has at most. */
size_t unwind_pool_max(const struct unwind_pool *p);
size_t unwind_pool_sz(const struct unwind_pool *p); /* bytes of all chunks */
size_t unwind_pool_used(const struct unwind_pool *p); /* bytes taken */

#endif /* SCAP_UNWIND_UNWIND_POOL_H */
