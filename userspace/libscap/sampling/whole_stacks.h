/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User stacks that were walked later than they were sampled, as events EVT_SAMPLE_STACK_E, from the
 * thread that walks them to the reader, who asks by id when the sample comes. Most samples come
 * within milliseconds; that of a thread that sleeps comes when it is back, if it ever is: of what
 * nobody asks for the oldest go.
 */
#ifndef SCAP_SAMPLING_WHOLE_STACKS_H
#define SCAP_SAMPLING_WHOLE_STACKS_H

#include <stdint.h>

struct ppm_evt_hdr;

#define WHOLE_STACKS_MAX 8192 /* that wait to be asked for */
#define WHOLE_STACKS_SZ (4u << 20) /* bytes of them */

struct whole_stacks;

struct whole_stacks *whole_stacks_new(void); /* NULL: no memory */
void whole_stacks_free(struct whole_stacks *s);

/* The stack of @id, of process @pid. 0 or -ENOMEM. */
int whole_stacks_put(struct whole_stacks *s, uint64_t id, uint32_t pid, const uint64_t *frames,
		     uint32_t n, uint8_t end);

/* There is no more to come of the stack of @id. The same. */
int whole_stacks_put_none(struct whole_stacks *s, uint64_t id);

/* 1: takes out what is known of the stack of @id, which the caller owns (free); NULL: no more will
 * come. 0: nothing is known. */
int whole_stacks_take(struct whole_stacks *s, struct ppm_evt_hdr **out, uint64_t id);

#endif /* SCAP_SAMPLING_WHOLE_STACKS_H */
