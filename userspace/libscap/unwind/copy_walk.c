/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/copy_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/walk_state.h"

/* A chunk with the process's mappings, besides those of the pool. */
#define OWN_CHUNK UNWIND_CHUNKS_MAX

struct copy_walk {
	struct user_walk w; /* first: the walker's functions find the other members by it */
	const struct unwind_pool *pool;
	const struct stack_copy *stack; /* while it is walked */
	struct unwind_chunk maps;
};

static const struct copy_walk *kept_of(const struct user_walk *w)
{
	return (const struct copy_walk *)w;
}

static int walk_fill(struct user_walk *w, u32 sz, u64 addr)
{
	const struct stack_copy *s = kept_of(w)->stack;
	const u64 off = addr - s->at;

	if (sz > WALK_WINDOW || off > s->sz || s->sz - off < sz)
		return -1;
	memcpy(w->window, s->stack + off, sz);
	return 0;
}

static const u64 *walk_chunk(const struct user_walk *w, u32 chunk)
{
	if (chunk == OWN_CHUNK)
		return (const u64 *)kept_of(w)->maps.words;
	return (const u64 *)unwind_pool_chunk(kept_of(w)->pool, chunk);
}

#include "shared/user_walk.h"

struct copy_walk *copy_walk_new(const struct unwind_pool *pool)
{
	struct copy_walk *c = calloc(1, sizeof(*c));

	if (c)
		c->pool = pool;
	return c;
}

void copy_walk_free(struct copy_walk *c)
{
	free(c);
}

int stack_copy_is_valid(const void *data, size_t sz)
{
	const struct stack_copy *s = data;

	return sz >= offsetof(struct stack_copy, stack) && s->sz <= STACK_COPY_MAX &&
	       s->sz <= sz - offsetof(struct stack_copy, stack);
}

static void begin(struct user_walk *w, const struct stack_copy *s, u32 n_maps)
{
	_Static_assert(sizeof(w->regs) == sizeof(s->regs), "registers as the walker has them");
	memset(w, 0, offsetof(struct user_walk, window));
	memcpy(w->regs, s->regs, sizeof(w->regs));
	w->known = 0xffff;
	w->ip = s->ip;
	w->sp = s->regs[UNWIND_RSP];
	w->bp = s->regs[UNWIND_RBP];
	w->pid = s->pid;
	w->max = s->max < STACK_USER_MAX ? s->max : STACK_USER_MAX;
	w->maps = OWN_CHUNK << UNWIND_CHUNK_WORDS_SHIFT;
	w->n_maps = n_maps;
}

int copy_walk(struct copy_walk *c, struct copy_frames *out, const struct stack_copy *s,
	      const struct unwind_procs *procs)
{
	struct user_walk *w = &c->w;
	const int n = unwind_procs_at((struct unwind_map *)c->maps.words, UNWIND_MAPS_MAX, procs,
				      s->pid, s->boot_ns);

	if (n <= 0)
		return n ? n : -ESRCH;
	c->stack = s;
	begin(w, s, (u32)n);
	/* These walks are few, and of many processes: a cache would rarely hit. */
	if (!walk_begin(w, NULL))
		for (u32 i = 0; i < STACK_USER_MAX && !walk_step(w, NULL); i++)
			;
	c->stack = NULL;
	*out = (struct copy_frames){w->frames, w->n, w->end};
	return 0;
}
