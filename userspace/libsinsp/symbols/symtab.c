/* SPDX-License-Identifier: Apache-2.0 */
#include "symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"

enum { RANK_BOUND = 0xff };

struct sym {
	uint64_t addr;
	uint64_t size;
	uint32_t name; /* offset in names */
	uint32_t rank : 8, seq : 24;
};

/* [start, start + len) is named by syms[sym]; ranges ascend and do not overlap. */
struct range {
	uint64_t start; /* first: n_up_to */
	uint32_t len;
	uint32_t sym;
};

struct symtab {
	struct sym *syms;
	size_t n_syms, cap_syms;
	uint32_t n_added;
	char *names;
	size_t names_len, names_cap;
	struct range *ranges;
	size_t n_ranges, cap_ranges;
	enum symtab_order order;
};

_Static_assert(SYMTAB_MAX_SYMBOLS <= 1u << 24, "seq numbers them all");

struct symtab *symtab_new(enum symtab_order order)
{
	struct symtab *t = calloc(1, sizeof(*t));

	if (t)
		t->order = order;
	return t;
}

void symtab_free(struct symtab *t)
{
	if (!t)
		return;
	free(t->syms);
	free(t->names);
	free(t->ranges);
	free(t);
}

/* ---- filling ---- */

static int grow(void **v, size_t *cap, size_t need, size_t elem)
{
	size_t n = *cap;
	void *p;

	if (need <= *cap)
		return 0;
	while (n < need)
		n += n / 2 + 16;
	p = realloc(*v, n * elem);
	if (!p)
		return -ENOMEM;
	*v = p;
	*cap = n;
	return 0;
}

static int add(struct symtab *t, const struct sym *s)
{
	int err;

	if (t->n_added >= SYMTAB_MAX_SYMBOLS)
		return -EFBIG;
	err = grow((void **)&t->syms, &t->cap_syms, t->n_syms + 1, sizeof(*t->syms));
	if (err)
		return err;
	t->syms[t->n_syms] = *s;
	t->syms[t->n_syms++].seq = t->n_added++ & 0xffffff;
	return 0;
}

int symtab_add(struct symtab *t, uint64_t addr, uint64_t size, const char *name, size_t len,
	       unsigned int rank)
{
	struct sym s = {.addr = addr, .size = size, .name = (uint32_t)t->names_len};
	int err;

	if (len > SYMTAB_MAX_NAME)
		len = SYMTAB_MAX_NAME;
	if (t->names_len + len + 1 > SYMTAB_MAX_NAME_BYTES)
		return -EFBIG;
	if (size > UINT64_MAX - addr)
		s.size = UINT64_MAX - addr;
	s.rank = rank < RANK_BOUND ? rank : RANK_BOUND - 1;
	err = grow((void **)&t->names, &t->names_cap, t->names_len + len + 1, 1);
	if (!err)
		err = add(t, &s);
	if (err)
		return err;
	memcpy(t->names + t->names_len, name, len);
	t->names[t->names_len + len] = '\0';
	t->names_len += len + 1;
	return 0;
}

int symtab_add_bound(struct symtab *t, uint64_t addr)
{
	const struct sym s = {.addr = addr, .rank = RANK_BOUND};

	return add(t, &s);
}

/* ---- sealing ---- */

static size_t n_underscores(const struct symtab *t, const struct sym *s)
{
	return strspn(t->names + s->name, "_");
}

/* Of two at one address. */
static int is_better(const struct symtab *t, const struct sym *a, const struct sym *b)
{
	size_t x, y;

	if ((a->rank == RANK_BOUND) != (b->rank == RANK_BOUND))
		return b->rank == RANK_BOUND;
	if (t->order == SYMTAB_LATEST || a->rank == RANK_BOUND)
		return a->seq > b->seq;
	if (!a->size != !b->size)
		return a->size != 0;
	if (a->rank != b->rank)
		return a->rank > b->rank;
	x = n_underscores(t, a);
	y = n_underscores(t, b);
	return x != y ? x < y : a->seq < b->seq;
}

/* At one address the best is the last. */
static int by_addr(const void *a, const void *b, void *ctx)
{
	const struct sym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->seq == y->seq)
		return 0;
	return is_better(ctx, x, y) ? 1 : -1;
}

/* What a better one at its address covers as well is dropped: aliases are common. */
static void drop_covered(struct symtab *t)
{
	size_t n = t->n_syms, at = t->n_syms;
	uint64_t size = 0;

	for (size_t i = n; i--;) {
		const int is_best = i + 1 == n || t->syms[i + 1].addr != t->syms[i].addr;

		if (!is_best && t->syms[i].size <= size)
			continue;
		size = t->syms[i].size;
		t->syms[--at] = t->syms[i];
	}
	memmove(t->syms, t->syms + at, (n - at) * sizeof(*t->syms));
	t->n_syms = n - at;
}

/* What has no size gets one, or is dropped inside of what has. */
static void settle_sizes(struct symtab *t)
{
	uint64_t covered = 0; /* up to here something has a size */
	size_t n = 0;

	for (size_t i = 0; i < t->n_syms; i++) {
		struct sym s = t->syms[i];

		if (s.rank == RANK_BOUND)
			continue;
		if (!s.size && s.addr < covered)
			continue;
		if (s.size && s.addr + s.size > covered)
			covered = s.addr + s.size;
		if (!s.size && i + 1 < t->n_syms)
			s.size = t->syms[i + 1].addr - s.addr;
		if (s.size)
			t->syms[n++] = s;
	}
	t->n_syms = n;
}

/* The symbols that cover the place reached, best first. */
struct heap {
	uint32_t *v;
	size_t n;
};

static uint64_t priority(const struct symtab *t, uint32_t sym)
{
	return t->order == SYMTAB_LATEST ? t->syms[sym].seq : sym;
}

static void heap_push(const struct symtab *t, struct heap *h, uint32_t sym)
{
	size_t i = h->n++;

	while (i && priority(t, h->v[(i - 1) / 2]) < priority(t, sym)) {
		h->v[i] = h->v[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->v[i] = sym;
}

static void heap_pop(const struct symtab *t, struct heap *h)
{
	const uint32_t sym = h->v[--h->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && priority(t, h->v[child + 1]) > priority(t, h->v[child]))
			child++;
		if (priority(t, h->v[child]) <= priority(t, sym))
			break;
		h->v[i] = h->v[child];
		i = child;
	}
	h->v[i] = sym;
}

static uint64_t end_of(const struct symtab *t, uint32_t sym)
{
	return t->syms[sym].addr + t->syms[sym].size;
}

static int emit(struct symtab *t, uint64_t start, uint64_t end, uint32_t sym)
{
	struct range *last = t->n_ranges ? &t->ranges[t->n_ranges - 1] : NULL;
	int err;

	if (end - start > UINT32_MAX)
		end = start + UINT32_MAX;
	if (last && last->sym == sym && last->start + last->len == start &&
	    end - last->start <= UINT32_MAX) {
		last->len = (uint32_t)(end - last->start);
		return 0;
	}
	err = grow((void **)&t->ranges, &t->cap_ranges, t->n_ranges + 1, sizeof(*t->ranges));
	if (!err)
		t->ranges[t->n_ranges++] = (struct range){start, (uint32_t)(end - start), sym};
	return err;
}

/* From begin to end, from place to place where the best one changes. */
static int make_ranges(struct symtab *t)
{
	struct heap h = {.v = malloc((t->n_syms + 1) * sizeof(*h.v))};
	uint64_t pos = 0, next;
	uint32_t i = 0;
	int err = h.v ? 0 : -ENOMEM;

	while (!err && (i < t->n_syms || h.n)) {
		if (!h.n)
			pos = t->syms[i].addr;
		while (i < t->n_syms && t->syms[i].addr <= pos)
			heap_push(t, &h, i++);
		while (h.n && end_of(t, h.v[0]) <= pos)
			heap_pop(t, &h);
		if (!h.n)
			continue;
		next = end_of(t, h.v[0]);
		if (i < t->n_syms && t->syms[i].addr < next)
			next = t->syms[i].addr;
		err = emit(t, pos, next, h.v[0]);
		pos = next;
	}
	free(h.v);
	return err;
}

/* Gives back what filling took in advance. */
static void *trim(void *p, size_t sz)
{
	void *q = sz ? realloc(p, sz) : p;

	return q ? q : p;
}

int symtab_seal(struct symtab *t)
{
	int err;

	if (t->n_syms) {
		qsort_r(t->syms, t->n_syms, sizeof(*t->syms), by_addr, t);
		drop_covered(t);
	}
	settle_sizes(t);
	t->n_ranges = 0;
	err = make_ranges(t);
	if (err)
		return err;
	t->syms = trim(t->syms, t->n_syms * sizeof(*t->syms));
	t->names = trim(t->names, t->names_len);
	t->ranges = trim(t->ranges, t->n_ranges * sizeof(*t->ranges));
	t->cap_syms = t->n_syms;
	t->names_cap = t->names_len;
	t->cap_ranges = t->n_ranges;
	return 0;
}

/* ---- searching ---- */

int symtab_find(const struct symtab *t, uint64_t addr, struct symtab_sym *out)
{
	const size_t n = n_up_to(t->ranges, t->n_ranges, sizeof(*t->ranges), addr);
	const struct range *r;
	const struct sym *s;

	if (!n)
		return 0;
	r = &t->ranges[n - 1];
	if (addr - r->start >= r->len)
		return 0;
	s = &t->syms[r->sym];
	*out = (struct symtab_sym){t->names + s->name, s->addr, s->size};
	return 1;
}

size_t symtab_count(const struct symtab *t)
{
	return t->n_syms;
}

size_t symtab_bytes(const struct symtab *t)
{
	return sizeof(*t) + t->cap_syms * sizeof(*t->syms) + t->names_cap +
	       t->cap_ranges * sizeof(*t->ranges);
}
