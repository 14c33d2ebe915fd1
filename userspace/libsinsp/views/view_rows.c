/* SPDX-License-Identifier: Apache-2.0 */
#include "view_rows.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

enum { FIRST_ROWS = 64 };
enum { TEXT_ROUNDED = 8 }; /* mean of what the arena adds */

static int is_bytes(enum view_kind kind)
{
	return kind == VIEW_TEXT || kind == VIEW_IP;
}

void view_rows_init(struct view_rows *r, size_t n_cols, size_t max, size_t text_max)
{
	*r = (struct view_rows){.n_cols = n_cols, .max = max, .text_max = text_max};
}

void view_rows_clear(struct view_rows *r)
{
	sinsp_arena_fini(&r->texts);
	r->texts = (struct sinsp_arena){0};
	r->n = r->text_sz = 0;
	if (r->slots)
		memset(r->slots, 0, r->n_slots * sizeof(*r->slots));
}

void view_rows_fini(struct view_rows *r)
{
	sinsp_arena_fini(&r->texts);
	free(r->cells);
	free(r->hashes);
	free(r->slots);
	*r = (struct view_rows){0};
}

/* One for all tables: rows are looked up in a copy of their table, too. Others choose the names
 * that are hashed. */
static uint64_t seed;

static void set_seed(void)
{
	seed = scap_hash_seed(&seed);
}

uint64_t view_cell_hash(const struct view_cell *c, enum view_kind kind)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, set_seed);
	if (!is_bytes(kind))
		return scap_hash_number(seed, c->u);
	return scap_hash_bytes(seed, c->len ? c->p : "", c->len);
}

static int is_same(const struct view_cell *a, const struct view_cell *b, enum view_kind kind)
{
	if (!is_bytes(kind))
		return a->u == b->u;
	return a->len == b->len && (!a->len || memcmp(a->p, b->p, a->len) == 0);
}

int64_t view_rows_find(const struct view_rows *r, const struct view_cell *key, enum view_kind kind,
		       uint64_t hash)
{
	if (!r->n_slots)
		return VIEW_ROW_NONE;
	for (size_t s = hash & (r->n_slots - 1); r->slots[s]; s = (s + 1) & (r->n_slots - 1)) {
		const size_t i = r->slots[s] - 1;

		if (r->hashes[i] == hash && is_same(view_row(r, i), key, kind))
			return (int64_t)i;
	}
	return VIEW_ROW_NONE;
}

static void put_slot(struct view_rows *r, size_t i)
{
	size_t s = r->hashes[i] & (r->n_slots - 1);

	while (r->slots[s])
		s = (s + 1) & (r->n_slots - 1);
	r->slots[s] = (uint32_t)i + 1;
}

/* Makes room for @cap rows; slots are at most half full. */
static int set_room(struct view_rows *r, size_t cap)
{
	struct view_cell *cells = realloc(r->cells, cap * r->n_cols * sizeof(*cells));
	uint64_t *hashes;
	uint32_t *slots;
	size_t n_slots = FIRST_ROWS;

	if (!cells)
		return -ENOMEM;
	r->cells = cells;
	hashes = realloc(r->hashes, cap * sizeof(*hashes));
	if (!hashes)
		return -ENOMEM;
	r->hashes = hashes;
	while (n_slots < 2 * cap)
		n_slots *= 2;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(r->slots);
	r->slots = slots;
	r->cap = cap;
	r->n_slots = n_slots;
	for (size_t i = 0; i < r->n; i++)
		put_slot(r, i);
	return 0;
}

int view_rows_reserve(struct view_rows *r, size_t n)
{
	return n ? set_room(r, n) : 0;
}

int64_t view_rows_add(struct view_rows *r, uint64_t hash)
{
	int err;

	if (r->n >= r->max)
		return -ENOSPC;
	err = r->n == r->cap ? set_room(r, r->cap ? 2 * r->cap : FIRST_ROWS) : 0;
	if (err)
		return err;
	memset(view_row(r, r->n), 0, r->n_cols * sizeof(*r->cells));
	r->hashes[r->n] = hash;
	put_slot(r, r->n);
	return (int64_t)r->n++;
}

void view_rows_drop_last(struct view_rows *r)
{
	const uint32_t last = (uint32_t)r->n--;
	size_t s = r->hashes[last - 1] & (r->n_slots - 1);

	while (r->slots[s] != last)
		s = (s + 1) & (r->n_slots - 1);
	r->slots[s] = 0;
}

/* What a text cell that is not empty points to: memory that a longer text may need again. */
struct text {
	uint32_t cap;
	char p[];
};

static struct text *text_of(const struct view_cell *c)
{
	return (struct text *)(c->p - offsetof(struct text, p));
}

/* Returns room for @len bytes in place of the text of @dst. A text that grows gets twice the room,
 * so that all texts that a cell ever had take at most some times that of the longest. Returns 0,
 * -ENOSPC or -ENOMEM. */
static int text_room(struct view_rows *r, struct text **out, const struct view_cell *dst,
		     uint32_t len)
{
	const uint32_t had = dst->len ? text_of(dst)->cap : 0;
	const size_t cap = had && len < 2 * (size_t)had ? 2 * (size_t)had : len;
	const size_t sz = sizeof(struct text) + cap;

	*out = had ? text_of(dst) : NULL;
	if (len <= had)
		return 0;
	if (cap > UINT32_MAX || r->text_sz + sz > r->text_max)
		return -ENOSPC;
	*out = sinsp_arena_alloc(&r->texts, sz);
	if (!*out)
		return -ENOMEM;
	r->text_sz += sz + TEXT_ROUNDED;
	(*out)->cap = (uint32_t)cap;
	return 0;
}

int view_rows_store(struct view_rows *r, struct view_cell *dst, const struct view_cell *src,
		    enum view_kind kind)
{
	struct text *text = NULL;
	int err;

	if (!is_bytes(kind)) {
		*dst = *src;
		return 0;
	}
	if (dst->p && dst->len == src->len && memcmp(dst->p, src->p, src->len) == 0) {
		dst->n = src->n;
		return 0;
	}
	err = src->len ? text_room(r, &text, dst, src->len) : 0;
	*dst = (struct view_cell){.p = "", .n = src->n};
	if (err || !src->len)
		return err;
	memcpy(text->p, src->p, src->len);
	dst->p = text->p;
	dst->len = src->len;
	return 0;
}

int view_rows_new_hist(struct view_rows *r, struct view_cell *dst)
{
	*dst = (struct view_cell){0};
	if (r->text_sz + sizeof(*dst->hist) > r->text_max)
		return -ENOSPC;
	dst->hist = sinsp_arena_alloc(&r->texts, sizeof(*dst->hist));
	if (!dst->hist)
		return -ENOMEM;
	*dst->hist = (struct view_hist){0};
	r->text_sz += sizeof(*dst->hist);
	return 0;
}
