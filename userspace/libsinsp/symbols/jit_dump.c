/* SPDX-License-Identifier: Apache-2.0 */
#include "jit_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"

/* Records as in perf's documentation, in the machine's byte order. */
struct dump_load { /* followed by the name and the code */
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};
struct dump_move {
	uint32_t pid, tid;
	uint64_t vma, old_addr, new_addr, code_size, code_index;
};
struct dump_debug { /* followed by entries: struct dump_line and the name of a file */
	uint64_t code_addr, n_entries;
};
struct dump_line {
	uint64_t addr;
	int32_t line, discriminator;
};

#define MAX_CODES (1u << 20)
#define MAX_LINES (4u << 20)
#define MAX_TEXT (256u << 20)
#define MAX_MOVES 4096u
/* Maximum number of functions before an address that are examined: one longer than all of them is
 * missed. */
#define MAX_STEPS 512u
/*
 * Functions that are sorted by index for moves, which come one by one: beyond, moves are left out.
 */
#define MAX_SORTED (64u << 20)
/* A function may run shortly before its record. */
#define EARLY_NS 100000000ull

struct line {
	uint64_t addr; /* address of its function when it was created; first: n_up_to */
	uint32_t order; /* in the file */
	uint32_t line;
	uint32_t file; /* offset in text */
};

struct code {
	uint64_t addr, size, from_ns; /* addr is first: n_up_to */
	uint64_t made_at; /* the address that its lines refer to */
	uint32_t number; /* in the order of the file */
	uint32_t name; /* offset in text */
	uint32_t line_at, n_lines;
};

struct jit_dump {
	struct code *codes; /* by address, once sorted */
	uint64_t *ends; /* highest end of this and all before */
	struct line *lines;
	char *text;
	size_t n_codes, cap_codes, cap_ends, n_lines, cap_lines, len, cap;
	struct code next; /* lines for the next function */
	uint32_t last_file; /* offset of the last name + 1: it usually repeats */
	uint32_t n_moves;
	uint64_t n_sorted; /* for moves */
	uint64_t n_steps; /* of searches */
	uint8_t is_sorted;
	uint8_t is_cut;
};

struct jit_dump *jit_dump_new(void)
{
	return calloc(1, sizeof(struct jit_dump));
}

void jit_dump_free(struct jit_dump *d)
{
	if (!d)
		return;
	free(d->codes);
	free(d->ends);
	free(d->lines);
	free(d->text);
	free(d);
}

static int grow(void **v, size_t *cap, size_t need, size_t elem)
{
	size_t n = *cap ? *cap : 256;
	void *p;

	if (need <= *cap)
		return 0;
	while (n < need)
		n *= 2;
	p = realloc(*v, n * elem);
	if (!p)
		return -ENOMEM;
	*v = p;
	*cap = n;
	return 0;
}

static int keep_text(struct jit_dump *d, uint32_t *out, const char *s, size_t len)
{
	const int err = grow((void **)&d->text, &d->cap, d->len + len + 1, 1);

	if (err)
		return err;
	*out = (uint32_t)d->len;
	memcpy(d->text + d->len, s, len);
	d->text[d->len + len] = '\0';
	d->len += len + 1;
	return 0;
}

/* ---- records ---- */

/* Leaves out what a bound excludes: this is no error. */
static int cut(struct jit_dump *d)
{
	d->is_cut = 1;
	return 0;
}

static int add_code(struct jit_dump *d, struct code c)
{
	int err;

	if (!c.size || c.size > JIT_DUMP_MAX_CODE || !c.addr || c.addr >= JIT_ADDR_END)
		return 0;
	if (d->n_codes >= MAX_CODES)
		return cut(d);
	err = grow((void **)&d->codes, &d->cap_codes, d->n_codes + 1, sizeof(*d->codes));
	if (err)
		return err;
	c.number = (uint32_t)d->n_codes;
	d->codes[d->n_codes++] = c;
	d->is_sorted = 0;
	return 0;
}

static int add_load(struct jit_dump *d, uint64_t ts_ns, const char *body, size_t len)
{
	struct dump_load load;
	struct code c = {.from_ns = ts_ns};
	size_t name_len;
	int err;

	if (len < sizeof(load))
		return 0;
	memcpy(&load, body, sizeof(load));
	name_len = strnlen(body + sizeof(load), len - sizeof(load));
	if (name_len > SYMTAB_MAX_NAME)
		name_len = SYMTAB_MAX_NAME;
	if (!name_len)
		return 0;
	if (d->len + name_len >= MAX_TEXT)
		return cut(d);
	err = keep_text(d, &c.name, body + sizeof(load), name_len);
	if (err)
		return err;
	c.addr = c.made_at = load.code_addr;
	c.size = load.code_size;
	if (d->next.n_lines && d->next.addr == c.addr) {
		c.line_at = d->next.line_at;
		c.n_lines = d->next.n_lines;
	}
	d->next.n_lines = 0;
	return add_code(d, c);
}

static int by_addr(const void *a, const void *b)
{
	const struct code *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int sort(struct jit_dump *d)
{
	uint64_t end = 0;

	if (d->is_sorted || !d->n_codes)
		return 0;
	if (grow((void **)&d->ends, &d->cap_ends, d->n_codes, sizeof(*d->ends)))
		return -ENOMEM;
	qsort(d->codes, d->n_codes, sizeof(*d->codes), by_addr);
	for (size_t i = 0; i < d->n_codes; i++) {
		if (d->codes[i].addr + d->codes[i].size > end)
			end = d->codes[i].addr + d->codes[i].size;
		d->ends[i] = end;
	}
	d->is_sorted = 1;
	return 0;
}

/* Returns whether @c is a better name than @than for what both cover: of those already valid the
 * latest; of later ones the earliest. */
static int is_better(const struct code *c, const struct code *than, uint64_t ts_ns)
{
	const int was = c->from_ns <= ts_ns, other_was = than && than->from_ns <= ts_ns;

	if (!was && c->from_ns - ts_ns > EARLY_NS)
		return 0;
	if (!than || was != other_was)
		return !than || was;
	if (c->from_ns != than->from_ns)
		return was == (c->from_ns > than->from_ns);
	return was == (c->number > than->number);
}

static const struct code *code_at(struct jit_dump *d, uint64_t addr, uint64_t ts_ns)
{
	const struct code *best = NULL;
	const size_t n = n_up_to(d->codes, d->n_codes, sizeof(*d->codes), addr);

	for (size_t i = n; i-- && n - i <= MAX_STEPS && d->ends[i] > addr;) {
		const struct code *c = &d->codes[i];

		d->n_steps++;
		if (addr - c->addr < c->size && is_better(c, best, ts_ns))
			best = c;
	}
	return best;
}

static int add_move(struct jit_dump *d, uint64_t ts_ns, const char *body, size_t len)
{
	const struct code *old;
	struct dump_move move;
	struct code c;

	if (len < sizeof(move))
		return 0;
	if (d->n_moves++ >= MAX_MOVES || d->n_sorted > MAX_SORTED)
		return cut(d);
	d->n_sorted += d->is_sorted ? 0 : d->n_codes;
	if (sort(d))
		return -ENOMEM;
	memcpy(&move, body, sizeof(move));
	old = code_at(d, move.old_addr, ts_ns);
	if (!old)
		return 0;
	c = *old;
	c.addr = move.new_addr;
	c.size = move.code_size;
	c.from_ns = ts_ns;
	return add_code(d, c);
}

static int keep_file(struct jit_dump *d, uint32_t *out, const char *name, size_t len)
{
	int err;

	/* "\377" means: as before. */
	if (d->last_file && ((len == 1 && (unsigned char)*name == 0xff) ||
			     strcmp(d->text + d->last_file - 1, name) == 0)) {
		*out = d->last_file - 1;
		return 0;
	}
	err = keep_text(d, out, name, len);
	if (!err)
		d->last_file = *out + 1;
	return err;
}

static int add_line(struct jit_dump *d, const struct dump_line *l, const char *name, size_t len)
{
	struct line line = {.addr = l->addr,
			    .order = (uint32_t)d->n_lines,
			    .line = l->line > 0 ? (uint32_t)l->line : 0};
	int err;

	if (d->n_lines >= MAX_LINES || d->len + len >= MAX_TEXT)
		return cut(d);
	err = keep_file(d, &line.file, name, len);
	if (!err)
		err = grow((void **)&d->lines, &d->cap_lines, d->n_lines + 1, sizeof(line));
	if (!err)
		d->lines[d->n_lines++] = line;
	return err;
}

/* By address; equal addresses in file order. */
static int by_line_addr(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Once for each record: a moved function keeps its lines. */
static void sort_lines(struct line *v, size_t n)
{
	size_t i = 1;

	while (i < n && v[i - 1].addr <= v[i].addr)
		i++;
	if (i < n)
		qsort(v, n, sizeof(*v), by_line_addr);
}

/* It precedes the record of its function. */
static int add_debug(struct jit_dump *d, const char *body, size_t len)
{
	size_t at = sizeof(struct dump_debug);
	struct dump_debug debug;
	struct dump_line line;
	int err = 0;

	if (len < sizeof(debug))
		return 0;
	memcpy(&debug, body, sizeof(debug));
	d->next = (struct code){.addr = debug.code_addr, .line_at = (uint32_t)d->n_lines};
	while (!err && at < len && len - at > sizeof(line)) {
		const char *name = body + at + sizeof(line);
		const size_t name_len = strnlen(name, len - at - sizeof(line));

		memcpy(&line, body + at, sizeof(line));
		err = add_line(d, &line, name, name_len);
		at += sizeof(line) + name_len + 1;
	}
	d->next.n_lines = (uint32_t)d->n_lines - d->next.line_at;
	if (d->next.n_lines)
		sort_lines(d->lines + d->next.line_at, d->next.n_lines);
	return err;
}

int jit_dump_add(struct jit_dump *d, uint32_t id, uint64_t ts_ns, const char *body, size_t len)
{
	switch (id) {
	case JIT_DUMP_LOAD:
		return add_load(d, ts_ns, body, len);
	case JIT_DUMP_MOVE:
		return add_move(d, ts_ns, body, len);
	case JIT_DUMP_DEBUG_INFO:
		return add_debug(d, body, len);
	default:
		return 0;
	}
}

/* ---- search ---- */

/* Returns the last line that begins at or before the address. */
static const struct line *line_at(struct jit_dump *d, const struct code *c, uint64_t addr)
{
	const uint64_t made = addr - c->addr + c->made_at;
	const struct line *v;
	size_t n;

	d->n_steps++;
	if (!c->n_lines)
		return NULL;
	v = d->lines + c->line_at;
	n = n_up_to(v, c->n_lines, sizeof(*v), made);
	return n && v[n - 1].addr >= c->made_at ? &v[n - 1] : NULL;
}

int jit_dump_seal(struct jit_dump *d)
{
	return sort(d);
}

int jit_dump_find(struct jit_dump *d, uint64_t addr, uint64_t ts_ns, struct symtab_sym *out,
		  const char **file, uint32_t *line)
{
	const struct code *c = sort(d) ? NULL : code_at(d, addr, ts_ns);
	const struct line *l = c ? line_at(d, c, addr) : NULL;

	*file = NULL;
	*line = 0;
	if (!c)
		return 0;
	*out = (struct symtab_sym){.name = d->text + c->name, .addr = c->addr, .size = c->size};
	if (l) {
		*file = d->text + l->file;
		*line = l->line;
	}
	return 1;
}

uint64_t jit_dump_steps(const struct jit_dump *d)
{
	return d->n_steps;
}

int jit_dump_is_cut(const struct jit_dump *d)
{
	return d->is_cut;
}

size_t jit_dump_bytes(const struct jit_dump *d)
{
	return sizeof(*d) + d->cap_codes * sizeof(*d->codes) + d->cap_ends * sizeof(*d->ends) +
	       d->cap_lines * sizeof(*d->lines) + d->cap;
}
