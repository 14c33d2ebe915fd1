/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples whose user stack comes later, and these stacks: whoever asks for events sees samples that
 * are whole. A stack stands for every sample of its id, of which there can be several, and on other
 * CPUs; they may come in any order. A sample whose stack does not come in time is let go without.
 */
#ifndef SCAP_SAMPLING_DEFERRED_STACKS_H
#define SCAP_SAMPLING_DEFERRED_STACKS_H

#include "scap.h"

#define SAMPLE_JOIN_WAIT_NS 500000000ull
#define SAMPLE_JOIN_MAX 4096 /* samples that wait; beyond, the oldest is let go */

struct sample_join;

struct sample_join *sample_join_new(void); /* NULL: no memory */
void sample_join_free(struct sample_join *j);

/* 1: @evt is kept, or was a stack: it is not to be delivered. 0: it is none of these; -ENOMEM. */
int sample_join_put(struct sample_join *j, const struct scap_evt *evt);

/* Time is @now_ns, of the events' clock (true_ns); UINT64_MAX: nothing comes any more. */
void sample_join_expire(struct sample_join *j, uint64_t now_ns);

/* 1 with a sample that is whole now, or as whole as it gets; 0: none. evt->hdr is borrowed until
 * the next call, and evt->true_ns is when it was taken. */
int sample_join_next(struct sample_join *j, struct scap_evt *evt);

/* Stacks that came for no sample, samples that got none. */
uint64_t sample_join_n_lone(const struct sample_join *j);
uint64_t sample_join_n_never(const struct sample_join *j);

#endif /* SCAP_SAMPLING_DEFERRED_STACKS_H */
