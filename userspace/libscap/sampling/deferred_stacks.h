/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins samples with their deferred stacks: readers of events get complete samples. A stack belongs
 * to every sample with its id, of which there can be several, on different CPUs; they may come in
 * any order. A sample whose stack does not come in time is delivered without.
 */
#ifndef SCAP_SAMPLING_DEFERRED_STACKS_H
#define SCAP_SAMPLING_DEFERRED_STACKS_H

#include "scap.h"

#define SAMPLE_JOIN_WAIT_NS 500000000ull
#define SAMPLE_JOIN_MAX                                                                            \
	4096 /* maximum number of waiting samples; beyond, the oldest is delivered */

struct deferred_stacks;

struct deferred_stacks *deferred_stacks_new(void); /* NULL: no memory */
void deferred_stacks_free(struct deferred_stacks *j);

/* Returns 1 if @evt is kept, or was a stack: do not deliver it; 0 if it is neither; -ENOMEM. */
int deferred_stacks_put(struct deferred_stacks *j, const struct scap_evt *evt);

/* Sets the time to @now_ns, of the events' clock (true_ns); UINT64_MAX: nothing more comes. */
void deferred_stacks_expire(struct deferred_stacks *j, uint64_t now_ns);

/* Returns 1 with a sample that is complete now, or will not be; 0: none. evt->hdr is borrowed until
 * the next call, and evt->true_ns is when it was taken. */
int deferred_stacks_next(struct deferred_stacks *j, struct scap_evt *evt);

/* Returns the number of stacks without a sample, and of samples without a stack. */
uint64_t deferred_stacks_n_lone(const struct deferred_stacks *j);
uint64_t deferred_stacks_n_never(const struct deferred_stacks *j);

#endif /* SCAP_SAMPLING_DEFERRED_STACKS_H */
