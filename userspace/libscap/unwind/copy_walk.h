/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a kept stack once its tables are there (stack_copy.h), with the driver's walker: over saved
 * registers, a part of the stack, and the mappings at the time of the sample. A read outside of
 * that part ends the walk.
 */
#ifndef SCAP_UNWIND_COPY_WALK_H
#define SCAP_UNWIND_COPY_WALK_H

#include "shared/stack_copy.h"
#include "unwind/unwind_procs.h"

struct copy_walk;

/* As in struct user_walk. */
struct copy_frames {
	const u64 *v;
	u32 n;
	u32 end; /* enum stack_end */
};

/* Walks by the rows of @pool, which is borrowed. NULL: no memory. */
struct copy_walk *copy_walk_new(const struct unwind_pool *pool);
void copy_walk_free(struct copy_walk *c);

/* Returns whether @data, of @sz bytes, is a stack in the driver's layout. */
int stack_copy_is_valid(const void *data, size_t sz);

/*
 * Walks @s, which must be valid, by the mappings in @procs: these have all changes before the
 * sample, and few after it. The frames are borrowed until the next walk. Returns -ENOENT: the
 * process is unknown; -ESRCH: it was another program then.
 */
int copy_walk(struct copy_walk *c, struct copy_frames *out, const struct stack_copy *s,
	      const struct unwind_procs *procs);

#endif /* SCAP_UNWIND_COPY_WALK_H */
