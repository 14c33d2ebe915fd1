/* SPDX-License-Identifier: Apache-2.0 */
#include "top_flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

struct top_flame {
	struct top_frame *v; /* owned */
	uint32_t n, cap; /* at least 1: the root; a power of two */
	unsigned int generation;
	uint64_t seed;
	uint32_t *index; /* frames by caller and name; 0: empty; owned, for 2 * cap of them */
	uint32_t *order; /* of callees, while they are laid out; owned, for cap of them */
};

struct top_flame *top_flame_new(void)
{
	struct top_flame *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->cap = 64;
	f->n = 1;
	f->v = calloc(f->cap, sizeof(*f->v));
	f->order = calloc(f->cap, sizeof(*f->order));
	f->index = calloc(2 * f->cap, sizeof(*f->index));
	f->seed = scap_hash_seed(f);
	if (f->v && f->order && f->index)
		return f;
	top_flame_free(f);
	return NULL;
}

void top_flame_clear(struct top_flame *f)
{
	while (f->n > 1)
		free(f->v[--f->n].name);
	f->v[0] = (struct top_frame){0};
	memset(f->index, 0, 2 * f->cap * sizeof(*f->index));
	f->generation++;
}

void top_flame_free(struct top_flame *f)
{
	if (!f)
		return;
	if (f->v && f->index)
		top_flame_clear(f);
	free(f->v);
	free(f->order);
	free(f->index);
	free(f);
}

unsigned int top_flame_generation(const struct top_flame *f)
{
	return f->generation;
}

const struct top_frame *top_flame_frame(const struct top_flame *f, uint32_t i)
{
	return i < f->n ? &f->v[i] : NULL;
}

/* ---- stacks ---- */

/* Returns the place in the index of a callee, or the empty one where it belongs. A caller may have
 * thousands of callees: addresses without a name, for example. */
static uint32_t *place_of(const struct top_flame *f, uint32_t above, const char *name, size_t len)
{
	const uint32_t mask = 2 * f->cap - 1;
	uint32_t at = (uint32_t)scap_hash_bytes(scap_hash_number(f->seed, above), name, len);

	for (;; at++) {
		uint32_t *const place = &f->index[at & mask];
		const struct top_frame *frame = &f->v[*place];

		if (!*place || (frame->above == above && strncmp(frame->name, name, len) == 0 &&
				!frame->name[len]))
			return place;
	}
}

static int grow(struct top_flame *f)
{
	const uint32_t cap = 2 * f->cap;
	uint32_t *index = calloc(2 * cap, sizeof(*index)), *order;
	struct top_frame *v = index ? realloc(f->v, cap * sizeof(*v)) : NULL;

	f->v = v ? v : f->v;
	order = v ? realloc(f->order, cap * sizeof(*order)) : NULL;
	if (!order) {
		free(index);
		return -ENOMEM;
	}
	f->order = order;
	f->cap = cap;
	free(f->index);
	f->index = index;
	for (uint32_t i = 1; i < f->n; i++)
		*place_of(f, v[i].above, v[i].name, strlen(v[i].name)) = i;
	return 0;
}

/* Returns the callee, which is new if need be; 0: no room; -ENOMEM. */
static int64_t callee(struct top_flame *f, uint32_t above, const char *name, size_t len)
{
	uint32_t *place = place_of(f, above, name, len);
	char *copy;

	if (*place)
		return *place;
	if (f->n >= TOP_FLAME_FRAMES || f->v[above].depth >= TOP_FLAME_DEPTH)
		return 0;
	if (f->n == f->cap && grow(f))
		return -ENOMEM;
	copy = strndup(name, len);
	if (!copy)
		return -ENOMEM;
	place = place_of(f, above, copy, strlen(copy)); /* the index may have grown */
	if (*place) { /* the name has a NUL */
		free(copy);
		return *place;
	}
	*place = f->n;
	f->v[f->n] = (struct top_frame){
		.name = copy,
		.above = above,
		.next = f->v[above].first,
		.depth = f->v[above].depth + 1,
	};
	f->v[above].first = f->n;
	return f->n++;
}

int top_flame_add(struct top_flame *f, const char *text, size_t len)
{
	const char *p = text, *const end = memchr(text, '\n', len) ?: text + len;
	uint32_t at = 0;

	f->v[0].n++;
	while (p < end) {
		const char *stop = memchr(p, ';', (size_t)(end - p)) ?: end;
		const size_t n = (size_t)(stop - p);
		const size_t most = n < TOP_FLAME_NAME ? n : TOP_FLAME_NAME;
		const int64_t next = callee(f, at, p, strnlen(p, most));

		if (next < 0)
			return (int)next;
		if (!next)
			break;
		at = (uint32_t)next;
		f->v[at].n++;
		p = stop + 1;
	}
	f->v[at].self++;
	return 0;
}

/* ---- layout ---- */

struct layout {
	struct top_flame *f;
	struct top_bar *bars;
	size_t n, max;
	double scale; /* columns of a sample */
};

static int compare(const void *a, const void *b, void *ctx)
{
	const struct top_flame *f = ctx;
	const struct top_frame *x = &f->v[*(const uint32_t *)a], *y = &f->v[*(const uint32_t *)b];

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Appends the bars of the callees of a bar. */
static void add_callees(struct layout *l, const struct top_bar *caller)
{
	struct top_flame *f = l->f;
	const double begin = caller->x;
	uint64_t before = 0;
	size_t n = 0;

	for (uint32_t i = f->v[caller->frame].first; i; i = f->v[i].next)
		f->order[n++] = i;
	qsort_r(f->order, n, sizeof(*f->order), compare, f);
	for (size_t i = 0; i < n && l->n < l->max; i++) {
		const uint64_t behind = before + f->v[f->order[i]].n;
		const uint32_t x = (uint32_t)(begin + (double)before * l->scale + 0.5);
		uint32_t end = (uint32_t)(begin + (double)behind * l->scale + 0.5);

		before = behind;
		if (end > caller->x + caller->width)
			end = caller->x + caller->width;
		if (end > x)
			l->bars[l->n++] =
				(struct top_bar){f->order[i], caller->row + 1, x, end - x};
	}
}

size_t top_flame_layout(struct top_flame *f, uint32_t top, uint32_t width, struct top_bar *bars,
			size_t max)
{
	struct layout l = {.f = f, .bars = bars, .max = max};

	if (top >= f->n || !f->v[top].n || !width || !max)
		return 0;
	l.scale = (double)width / (double)f->v[top].n;
	l.bars[l.n++] = (struct top_bar){.frame = top, .width = width};
	for (size_t i = 0; i < l.n; i++)
		add_callees(&l, &bars[i]);
	return l.n;
}
