/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deferred stacks, walked later than they were sampled, as events EVT_SAMPLE_STACK_E: passed from
 * the thread that walks them to the reader, which fetches them by id when the sample comes. Most
 * samples come within milliseconds; that of a sleeping thread comes when it is back, if ever: the
 * oldest stacks that are not fetched are dropped.
 */
#ifndef SCAP_SAMPLING_WALKED_STACKS_H
#define SCAP_SAMPLING_WALKED_STACKS_H

#include <stdint.h>

struct ppm_evt_hdr;

#define WALKED_STACKS_MAX 8192 /* maximum number of waiting stacks */
#define WALKED_STACKS_SZ (4u << 20) /* and their size in bytes */

struct walked_stacks;

struct walked_stacks *walked_stacks_new(void); /* NULL: no memory */
void walked_stacks_free(struct walked_stacks *s);

/* Adds the stack of @id, of process @pid. Returns 0 or -ENOMEM. */
int walked_stacks_put(struct walked_stacks *s, uint64_t id, uint32_t pid, const uint64_t *frames,
		      uint32_t n, uint8_t end);

/* Marks that the stack of @id will not come. Returns the same. */
int walked_stacks_put_none(struct walked_stacks *s, uint64_t id);

/* Returns 1 and removes the stack of @id, owned by the caller (free); NULL: it will not come.
 * Returns 0 if nothing is known yet. */
int walked_stacks_pop(struct walked_stacks *s, struct ppm_evt_hdr **out, uint64_t id);

#endif /* SCAP_SAMPLING_WALKED_STACKS_H */
