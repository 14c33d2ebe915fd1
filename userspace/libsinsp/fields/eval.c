/* SPDX-License-Identifier: Apache-2.0 */
/* The evaluation of fields: its scratch memory, in blocks that are reused for each event. */
#include <errno.h>
#include <stdlib.h>

#include "field_rows.h"
#include "state/inspector.h"

#define BLOCK_SZ 8192

struct sinsp_scratch_block {
	struct sinsp_scratch_block *next;
	size_t sz;
	_Alignas(16) char bytes[];
};

void sinsp_eval_init(struct sinsp_eval *e, struct sinsp *s)
{
	*e = (struct sinsp_eval){.insp = s};
	time_text_init(&e->time, SINSP_TIME_ABSOLUTE);
}

void sinsp_eval_fini(struct sinsp_eval *e)
{
	struct sinsp_scratch_block *next;

	for (struct sinsp_scratch_block *b = e->scratch.blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	free(e->text.p);
	*e = (struct sinsp_eval){0};
}

/* Returns a block with room for @n bytes after the current one: blocks are kept and reused. Sizes
 * double, so values that grow with each event need no block each. */
static struct sinsp_scratch_block *next_block(struct sinsp_scratch *s, size_t n)
{
	struct sinsp_scratch_block *b = s->cur ? s->cur->next : s->blocks;
	size_t sz = BLOCK_SZ;

	while (sz < n)
		sz *= 2;
	while (b && b->sz < n)
		b = b->next;
	if (!b) {
		b = malloc(sizeof(*b) + sz);
		if (!b)
			return NULL;
		b->sz = sz;
		b->next = s->cur ? s->cur->next : s->blocks;
		*(s->cur ? &s->cur->next : &s->blocks) = b;
	}
	s->cur = b;
	s->used = 0;
	return b;
}

void *sinsp_eval_alloc(struct sinsp_eval *e, size_t n)
{
	struct sinsp_scratch *s = &e->scratch;
	struct sinsp_scratch_block *b = s->cur;
	void *p;

	if (n > SIZE_MAX / 4)
		return NULL;
	n = (n + 15) & ~(size_t)15;
	if (!b || b->sz - s->used < n)
		b = next_block(s, n);
	if (!b)
		return NULL;
	p = b->bytes + s->used;
	s->used += n;
	return p;
}

int field_has_default(const struct sinsp_eval *e)
{
	return !e->insp->native;
}

int sinsp_eval_keep(struct sinsp_eval *e, struct sinsp_value *v)
{
	const size_t n = e->text.len;
	char *p = sinsp_eval_alloc(e, n);

	e->text.len = 0;
	if (!p)
		return -ENOMEM;
	if (n)
		memcpy(p, e->text.p, n);
	return field_mem(v, p, n);
}
