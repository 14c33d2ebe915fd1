/* SPDX-License-Identifier: Apache-2.0 */
#include "symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "objfile/elf_file.h"

enum {
	RANK_BOUND = 15,
	UNDERSCORES_MAX = 15,
	SOURCES_MAX = 3, /* 0 is the table's own memory */
	WINDOW_SZ = 64 << 10, /* bytes of names read at once */
	LOOK_SZ = 32, /* bytes needed to check a name and count its underscores */
};

/* Where a name begins. */
struct name_at {
	uint32_t at : 30, source : 2;
};

struct sym {
	uint64_t addr;
	uint64_t size;
	struct name_at name;
	uint32_t seq : 24, rank : 4, underscores : 4;
};

/* [start, start + len) belongs to one symbol; pieces ascend and do not overlap. */
struct piece {
	uint64_t start; /* first: n_up_to */
	uint32_t len;
	uint32_t size; /* of the symbol */
	uint32_t back; /* distance of the symbol's start before the piece */
	struct name_at name;
};

struct source {
	struct elf_file *f;
	uint64_t offset;
	uint32_t sz;
};

struct symtab {
	struct sym *syms; /* NULL: sealed permanently */
	size_t n_syms, cap_syms;
	uint32_t n_added;
	char *names;
	size_t names_len, names_cap;
	struct source sources[SOURCES_MAX];
	int n_sources;
	char *found; /* the last name read from a source */
	struct piece *pieces;
	size_t n_pieces, cap_pieces;
	uint64_t paid;
	int is_cut;
	enum symtab_order order;
};

_Static_assert(SYMTAB_MAX_SYMBOLS <= 1u << 24, "seq numbers them all");
_Static_assert(SYMTAB_MAX_NAME_BYTES <= 1u << 30, "name_at reaches them all");

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
	for (int i = 0; i < t->n_sources; i++)
		elf_file_close(t->sources[i].f);
	free(t->syms);
	free(t->names);
	free(t->found);
	free(t->pieces);
	free(t);
}

/* ---- filling ---- */

static int cut(struct symtab *t)
{
	t->is_cut = 1;
	return -EFBIG;
}

int symtab_pay(struct symtab *t, uint64_t bytes)
{
	if (bytes > SYMTAB_MAX_WORK - t->paid) {
		t->paid = SYMTAB_MAX_WORK;
		return cut(t);
	}
	t->paid += bytes;
	return 0;
}

uint64_t symtab_paid(const struct symtab *t)
{
	return t->paid;
}

int symtab_is_cut(const struct symtab *t)
{
	return t->is_cut;
}

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
		return cut(t);
	err = grow((void **)&t->syms, &t->cap_syms, t->n_syms + 1, sizeof(*t->syms));
	if (err)
		return err;
	t->syms[t->n_syms] = *s;
	t->syms[t->n_syms++].seq = t->n_added++ & 0xffffff;
	return 0;
}

static struct sym new_sym(uint64_t addr, uint64_t size, unsigned int rank)
{
	return (struct sym){
		.addr = addr,
		.size = size > UINT64_MAX - addr ? UINT64_MAX - addr : size,
		.rank = rank < RANK_BOUND ? rank : RANK_BOUND - 1,
	};
}

static unsigned int n_underscores(const char *name)
{
	const size_t n = strspn(name, "_");

	return n < UNDERSCORES_MAX ? (unsigned int)n : UNDERSCORES_MAX;
}

int symtab_add(struct symtab *t, uint64_t addr, uint64_t size, const char *name, size_t len,
	       unsigned int rank)
{
	struct sym s = new_sym(addr, size, rank);
	int err;

	if (len > SYMTAB_MAX_NAME)
		len = SYMTAB_MAX_NAME;
	if (t->names_len + len + 1 > SYMTAB_MAX_NAME_BYTES)
		return cut(t);
	err = grow((void **)&t->names, &t->names_cap, t->names_len + len + 1, 1);
	if (err)
		return err;
	memcpy(t->names + t->names_len, name, len);
	t->names[t->names_len + len] = '\0';
	s.name.at = (uint32_t)t->names_len;
	s.underscores = n_underscores(t->names + t->names_len);
	err = add(t, &s);
	if (!err)
		t->names_len += len + 1;
	return err;
}

int symtab_add_source(struct symtab *t, const struct elf_file *f, uint64_t offset, uint32_t sz)
{
	if (t->n_sources == SOURCES_MAX || sz >= 1u << 30)
		return -ENOSPC;
	t->sources[t->n_sources++] = (struct source){elf_file_get(f), offset, sz};
	return t->n_sources;
}

int symtab_add_at(struct symtab *t, uint64_t addr, uint64_t size, int source, uint32_t at,
		  unsigned int rank)
{
	struct sym s = new_sym(addr, size, rank);

	if (source < 1 || source > t->n_sources || at >= t->sources[source - 1].sz)
		return 0;
	s.name.source = (unsigned int)source;
	s.name.at = at & 0x3fffffff;
	return add(t, &s);
}

int symtab_add_bound(struct symtab *t, uint64_t addr)
{
	const struct sym s = {.addr = addr, .rank = RANK_BOUND};

	return add(t, &s);
}

/* ---- names in files ---- */

size_t symtab_name_len(const char *name)
{
	if (*name == '$' || strncmp(name, ".L", 2) == 0)
		return 0;
	return strcspn(name, "@");
}

/* Reads up to @sz bytes at @at, and adds a NUL. */
static int read_source(const struct source *s, char *to, uint32_t at, uint32_t sz)
{
	const uint32_t left = s->sz - at;

	if (sz > left)
		sz = left;
	to[sz] = '\0';
	return elf_file_read(s->f, to, s->offset + at, sz);
}

static int by_name(const void *a, const void *b)
{
	const struct sym *x = a, *y = b;

	if (x->name.source != y->name.source)
		return x->name.source < y->name.source ? -1 : 1;
	return x->name.at < y->name.at ? -1 : x->name.at > y->name.at;
}

struct window {
	uint32_t source, begin, end;
	char text[WINDOW_SZ + 1];
};

/* Reads the beginning of a name, at most LOOK_SZ bytes; names are requested in ascending order. */
static const char *look(const struct symtab *t, struct window *w, struct name_at name)
{
	const struct source *s = &t->sources[name.source - 1];
	const uint32_t at = name.at, left = s->sz - at;
	const uint32_t end = at + (left < LOOK_SZ ? left : LOOK_SZ);

	if (w->source != name.source || at < w->begin || end > w->end) {
		w->source = 0;
		if (read_source(s, w->text, at, WINDOW_SZ))
			return "";
		w->source = name.source;
		w->begin = at;
		w->end = at + (left < WINDOW_SZ ? left : WINDOW_SZ);
	}
	return w->text + (at - w->begin);
}

/* Examines names that were not read yet. Drops symbols without one. */
static int look_at_names(struct symtab *t)
{
	struct window *w = malloc(sizeof(*w));
	size_t n = 0;

	if (!w)
		return -ENOMEM;
	w->source = 0;
	qsort(t->syms, t->n_syms, sizeof(*t->syms), by_name);
	for (size_t i = 0; i < t->n_syms; i++) {
		struct sym s = t->syms[i];

		if (s.name.source) {
			const char *name = look(t, w, s.name);

			if (!symtab_name_len(name))
				continue;
			s.underscores = n_underscores(name);
		}
		t->syms[n++] = s;
	}
	t->n_syms = n;
	free(w);
	return 0;
}

/* ---- sealing ---- */

/* Compares two symbols at one address. */
static int is_better(const struct symtab *t, const struct sym *a, const struct sym *b)
{
	if ((a->rank == RANK_BOUND) != (b->rank == RANK_BOUND))
		return b->rank == RANK_BOUND;
	if (t->order == SYMTAB_LATEST || a->rank == RANK_BOUND)
		return a->seq > b->seq;
	if (!a->size != !b->size)
		return a->size != 0;
	if (a->rank != b->rank)
		return a->rank > b->rank;
	return a->underscores != b->underscores ? a->underscores < b->underscores : a->seq < b->seq;
}

/* Sorted so that the best of one address is the last. */
static int by_addr(const void *a, const void *b, void *ctx)
{
	const struct sym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->seq == y->seq)
		return 0;
	return is_better(ctx, x, y) ? 1 : -1;
}

/* Drops symbols covered by a better one at the same address: aliases are common. */
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

/* Gives symbols without a size one, or drops those inside of others. */
static void settle_sizes(struct symtab *t)
{
	uint64_t covered = 0; /* end of the symbols with a size so far */
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

/* Symbols that cover the current place, best first. */
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

static uint32_t to_u32(uint64_t v)
{
	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static int emit(struct symtab *t, uint64_t start, uint64_t end, const struct sym *s)
{
	struct piece *last = t->n_pieces ? &t->pieces[t->n_pieces - 1] : NULL;
	int err;

	/* Symbols that began in between did not win. */
	if (last && last->start + last->len == start && last->start - last->back == s->addr &&
	    last->name.source == s->name.source && last->name.at == s->name.at &&
	    end - last->start <= UINT32_MAX) {
		last->len = (uint32_t)(end - last->start);
		return 0;
	}
	err = grow((void **)&t->pieces, &t->cap_pieces, t->n_pieces + 1, sizeof(*t->pieces));
	if (!err)
		t->pieces[t->n_pieces++] = (struct piece){
			.start = start,
			.len = to_u32(end - start),
			.size = to_u32(s->size),
			.back = to_u32(start - s->addr),
			.name = s->name,
		};
	return err;
}

/* From begin to end, at each place where the best symbol changes. */
static int make_pieces(struct symtab *t)
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
		err = emit(t, pos, next, &t->syms[h.v[0]]);
		pos = next;
	}
	free(h.v);
	return err;
}

/* Frees memory that was reserved for filling. */
static void *trim(void *p, size_t sz)
{
	void *q = sz ? realloc(p, sz) : p;

	return q ? q : p;
}

int symtab_seal(struct symtab *t)
{
	int err = 0;

	if (t->n_sources) {
		t->found = malloc(SYMTAB_MAX_NAME + 1);
		err = t->found ? look_at_names(t) : -ENOMEM;
	}
	if (err)
		return err;
	if (t->n_syms) {
		qsort_r(t->syms, t->n_syms, sizeof(*t->syms), by_addr, t);
		drop_covered(t);
	}
	settle_sizes(t);
	t->n_pieces = 0;
	err = make_pieces(t);
	if (err)
		return err;
	if (t->order == SYMTAB_INNERMOST) {
		free(t->syms);
		t->syms = NULL;
		t->cap_syms = 0;
	} else {
		t->syms = trim(t->syms, t->n_syms * sizeof(*t->syms));
		t->cap_syms = t->n_syms;
	}
	t->names = trim(t->names, t->names_len);
	t->pieces = trim(t->pieces, t->n_pieces * sizeof(*t->pieces));
	t->names_cap = t->names_len;
	t->cap_pieces = t->n_pieces;
	return 0;
}

/* ---- searching ---- */

static const char *name_of(const struct symtab *t, struct name_at name)
{
	if (!name.source)
		return t->names + name.at;
	if (read_source(&t->sources[name.source - 1], t->found, name.at, SYMTAB_MAX_NAME))
		return NULL;
	t->found[symtab_name_len(t->found)] = '\0';
	return *t->found ? t->found : NULL;
}

int symtab_find(const struct symtab *t, uint64_t addr, struct symtab_sym *out)
{
	const size_t n = n_up_to(t->pieces, t->n_pieces, sizeof(*t->pieces), addr);
	const struct piece *p;
	const char *name;

	if (!n)
		return 0;
	p = &t->pieces[n - 1];
	if (addr - p->start >= p->len)
		return 0;
	name = name_of(t, p->name);
	if (!name)
		return 0;
	*out = (struct symtab_sym){name, p->start - p->back, p->size};
	return 1;
}

size_t symtab_count(const struct symtab *t)
{
	return t->n_syms;
}

size_t symtab_bytes(const struct symtab *t)
{
	return sizeof(*t) + t->cap_syms * sizeof(*t->syms) + t->names_cap +
	       t->cap_pieces * sizeof(*t->pieces) + (t->found ? SYMTAB_MAX_NAME + 1 : 0);
}
