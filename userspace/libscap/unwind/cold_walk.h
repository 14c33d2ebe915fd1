/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a stack that was kept until its tables were there (cold_stack.h), by the driver's walker:
 * over saved registers, a piece of the stack, and the mappings of when it was sampled. What lies
 * outside of the piece cannot be read, and ends the walk there.
 */
#ifndef SCAP_UNWIND_COLD_WALK_H
#define SCAP_UNWIND_COLD_WALK_H

#include "shared/cold_stack.h"
#include "unwind/unwind_procs.h"

struct cold_walk;

/* As in struct user_walk. */
struct cold_frames {
	const u64 *v;
	u32 n;
	u32 end; /* enum stack_end */
};

/* Rows are those of @pool, which is borrowed. NULL: no memory. */
struct cold_walk *cold_walk_new(const struct unwind_pool *pool);
void cold_walk_free(struct cold_walk *c);

/* Is @data, of @sz bytes, a stack as the driver sends it? */
int cold_stack_ok(const void *data, size_t sz);

/*
 * The stack that @s, which is such, is of, in @procs as they are now: what happened before it was
 * sampled was told to them, and little of what came after. Its frames are borrowed until the next
 * walk. -ENOENT: nothing is known of its process; -ESRCH: that was another program then.
 */
int cold_walk(struct cold_walk *c, struct cold_frames *out, const struct cold_stack *s,
	      const struct unwind_procs *procs);

#endif /* SCAP_UNWIND_COLD_WALK_H */
