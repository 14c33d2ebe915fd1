/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the CIEs and FDEs of .eh_frame and .debug_frame. */
#include "unwind/cfi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cfi_read.h"
#include "unwind/cfi_run.h"

#define FILLING 15 /* maximum size of padding between functions */
#define NEST_MAX 8 /* maximum depth of nested functions */
#define NO_CIE UINT32_MAX

/* A function: its code in the file, and its instructions. */
struct fde {
	uint32_t start, end;
	uint32_t insns, insns_sz; /* offset in its section */
	uint32_t cie;
	uint32_t section;
};

struct cie_slot {
	uint32_t at; /* offset in its section */
	uint32_t section;
	uint32_t cie; /* NO_CIE: empty */
};

struct cfi {
	struct unwind_work *work;
	const struct cfi_code *code;
	size_t n_code;
	struct cfi_section sections[CFI_SECTIONS_MAX];
	uint32_t n_sections;
	struct fde *fdes;
	size_t n_fdes, cap_fdes;
	struct cfi_cie *cies;
	size_t n_cies, cap_cies;
	struct cie_slot *slots; /* by offset; a power of two */
	size_t n_slots;
	uint32_t last_at, last_section, last_cie;
};

int cfi_new(struct cfi **out, const struct cfi_code *code, size_t n_code, struct unwind_work *work)
{
	struct cfi *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->work = work;
	c->code = code;
	c->n_code = n_code;
	c->last_cie = NO_CIE;
	*out = c;
	return 0;
}

void cfi_free(struct cfi *c)
{
	if (!c)
		return;
	free(c->fdes);
	free(c->cies);
	free(c->slots);
	free(c);
}

size_t cfi_n(const struct cfi *c)
{
	return c->n_fdes;
}

/* An entry of a section: its offset, and what follows its length. */
struct entry {
	uint32_t at;
	uint64_t id; /* 0: a CIE, whatever the section has for that */
	uint64_t id_at; /* offset of the field */
	struct cfi_cursor body;
};

/*
 * Reads the entry at @c, which ends after it. Returns 0 if it is invalid. A terminator has no body.
 */
static int next_entry(const struct cfi_section *s, struct cfi_cursor *c, struct entry *e)
{
	uint64_t len, id_sz = 4, none = 0;

	e->at = (uint32_t)(c->p - s->data);
	len = cfi_fixed(c, 4);
	if (len == UINT32_MAX) {
		len = cfi_fixed(c, 8);
		id_sz = s->is_debug ? 8 : 4;
	}
	e->body = cfi_block(c, len);
	if (c->bad || e->body.bad)
		return 0;
	if (e->body.p == e->body.end)
		return 1;
	e->id_at = (uint64_t)(e->body.p - s->data);
	e->id = cfi_fixed(&e->body, id_sz);
	if (s->is_debug)
		none = id_sz == 8 ? UINT64_MAX : UINT32_MAX;
	/* In .debug_frame an offset in the section, in .eh_frame a distance back from the field;
	 * never 0 for an FDE. */
	if (s->is_debug)
		e->id = e->id == none ? 0 : e->id + 1;
	return !e->body.bad;
}

/* Reads an address with @encoding at @c. */
static uint64_t read_address(const struct cfi_section *s, struct cfi_cursor *c, uint8_t encoding)
{
	const uint64_t here = s->addr + (uint64_t)(c->p - s->data);
	const uint64_t v = cfi_encoded(c, encoding);

	switch (encoding & (CFI_PE_BASE | CFI_PE_INDIRECT)) {
	case 0:
		return v;
	case CFI_PE_PCREL:
		return here + v;
	}
	c->bad = 1; /* relative to something only the dynamic linker has: compilers do not use it
		       here */
	return 0;
}

/* Parses the letters of an augmentation string that begins with z. */
static void read_augmentation(struct cfi_cie *cie, const char *letters, struct cfi_cursor data)
{
	cie->has_data = 1;
	for (; *letters && !data.bad; letters++) {
		uint8_t encoding;

		switch (*letters) {
		case 'R':
			cie->encoding = cfi_u8(&data);
			break;
		case 'L':
			cfi_u8(&data);
			break;
		case 'P':
			encoding = cfi_u8(&data);
			if (encoding == 0x50) /* aligned to its size: not used in practice */
				return;
			if (encoding != CFI_PE_OMIT)
				cfi_encoded(&data, encoding);
			break;
		case 'S':
			cie->is_signal = 1;
			break;
		case 'B': /* of another architecture */
			break;
		default: /* the rest is unknown, but its length is known */
			return;
		}
	}
}

/* Entries may nest, each with a string that reaches to the end. Returns as unwind_work_spend. */
static int read_cie(const struct cfi_section *s, struct cfi_cie *cie, struct cfi_cursor c,
		    struct unwind_work *work)
{
	const uint8_t version = cfi_u8(&c);
	const char *letters = (const char *)c.p;
	const uint8_t *end = memchr(c.p, 0, (size_t)(c.end - c.p));
	int err;

	cie->bad = 1;
	err = unwind_work_spend(work, (size_t)((end ?: c.end) - c.p) / 8);
	if (err)
		return err;
	if (!end || (version != 1 && version != 3 && !(version == 4 && s->is_debug)))
		return 0;
	c.p = end + 1;
	if (!strcmp(letters, "eh"))
		cfi_fixed(&c, 8);
	else if (*letters && *letters != 'z')
		return 0;
	if (version == 4 && (cfi_u8(&c) != 8 || cfi_u8(&c) != 0))
		return 0;
	cie->code_align = cfi_uleb(&c);
	cie->data_align = cfi_sleb(&c);
	cie->ra = version == 1 ? cfi_u8(&c) : cfi_uleb(&c);
	if (*letters == 'z')
		read_augmentation(cie, letters + 1, cfi_block(&c, cfi_uleb(&c)));
	cie->bad = (uint8_t)c.bad;
	return cie->bad ? 0 : cfi_run_first(cie, c, work);
}

static size_t slot_of(const struct cfi *c, uint32_t section, uint32_t at)
{
	size_t i = (at * 0x9e3779b1u ^ section) & (c->n_slots - 1);

	while (c->slots[i].cie != NO_CIE &&
	       (c->slots[i].at != at || c->slots[i].section != section))
		i = (i + 1) & (c->n_slots - 1);
	return i;
}

static int grow_slots(struct cfi *c)
{
	const size_t n_old = c->n_slots;
	struct cie_slot *old = c->slots;
	struct cie_slot *v = malloc((n_old ? 2 * n_old : 64) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	c->slots = v;
	c->n_slots = n_old ? 2 * n_old : 64;
	for (size_t i = 0; i < c->n_slots; i++)
		v[i].cie = NO_CIE;
	for (size_t i = 0; i < n_old; i++)
		if (old[i].cie != NO_CIE)
			v[slot_of(c, old[i].section, old[i].at)] = old[i];
	free(old);
	return 0;
}

static int add_cie(struct cfi *c, uint32_t section, uint32_t at)
{
	const struct cfi_section *s = &c->sections[section];
	struct cfi_cursor in = {s->data + at, s->data + s->sz, 0};
	struct cfi_cie *cie;
	struct entry e = {0};

	if (c->n_cies == c->cap_cies) {
		size_t cap = c->cap_cies ? 2 * c->cap_cies : 16;
		struct cfi_cie *v = realloc(c->cies, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		c->cies = v;
		c->cap_cies = cap;
	}
	cie = &c->cies[c->n_cies++];
	*cie = (struct cfi_cie){.bad = 1};
	if (next_entry(s, &in, &e) && e.body.p != e.body.end && !e.id)
		return read_cie(s, cie, e.body, c->work);
	return 0;
}

/*
 * Reads the CIE at @at of a section, once. Returns its number, or -ENOMEM, or as unwind_work_spend.
 */
static int64_t find_cie(struct cfi *c, uint32_t section, uint32_t at)
{
	size_t i;
	int err;

	if (c->last_cie != NO_CIE && c->last_at == at && c->last_section == section)
		return c->last_cie;
	if (c->n_slots < 2 * (c->n_cies + 1) && grow_slots(c))
		return -ENOMEM;
	i = slot_of(c, section, at);
	if (c->slots[i].cie == NO_CIE) {
		err = add_cie(c, section, at);
		if (err)
			return err;
		c->slots[i] = (struct cie_slot){at, section, (uint32_t)c->n_cies - 1};
	}
	c->last_at = at;
	c->last_section = section;
	c->last_cie = c->slots[i].cie;
	return c->last_cie;
}

/* Finds the part of the file with the code at @vaddr, within one segment. */
static int place_code(const struct cfi *c, struct fde *f, uint64_t vaddr, uint64_t sz)
{
	for (size_t i = 0; i < c->n_code; i++) {
		const uint64_t at = vaddr - c->code[i].vaddr, room = c->code[i].sz - at;

		if (at < c->code[i].sz) {
			f->start = (uint32_t)(c->code[i].offset + at);
			f->end = f->start + (uint32_t)(sz < room ? sz : room);
			return 1;
		}
	}
	return 0;
}

static uint64_t vaddr_of(const struct cfi *c, uint32_t offset)
{
	for (size_t i = 0; i < c->n_code; i++)
		if (offset - c->code[i].offset < c->code[i].sz)
			return offset - c->code[i].offset + c->code[i].vaddr;
	return 0;
}

static int add_fde(struct cfi *c, uint32_t section, struct entry *e)
{
	const struct cfi_section *s = &c->sections[section];
	const uint64_t cie_at = s->is_debug ? e->id - 1 : e->id_at - e->id;
	const struct cfi_cie *cie;
	struct fde f = {.section = section};
	uint64_t vaddr, sz;
	int64_t n;

	if (cie_at >= s->sz)
		return 0;
	if (c->n_fdes >= UNWIND_FUNCTIONS_MAX)
		return -E2BIG;
	n = find_cie(c, section, (uint32_t)cie_at);
	if (n < 0)
		return (int)n;
	f.cie = (uint32_t)n;
	cie = &c->cies[n];
	if (cie->bad)
		return 0;
	vaddr = read_address(s, &e->body, cie->encoding);
	sz = cfi_encoded(&e->body, cie->encoding & CFI_PE_FORMAT);
	if (cie->has_data)
		cfi_block(&e->body, cfi_uleb(&e->body));
	/* No code: an empty function, or one that the linker removed (at 0). */
	if (e->body.bad || !sz || !place_code(c, &f, vaddr, sz))
		return 0;
	f.insns = (uint32_t)(e->body.p - s->data);
	f.insns_sz = (uint32_t)(e->body.end - e->body.p);
	if (c->n_fdes == c->cap_fdes) {
		size_t cap = c->cap_fdes ? 2 * c->cap_fdes : 1024;
		struct fde *v = realloc(c->fdes, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		c->fdes = v;
		c->cap_fdes = cap;
	}
	c->fdes[c->n_fdes++] = f;
	return 0;
}

static int begin_section(struct cfi *c, const struct cfi_section *s)
{
	if (c->n_sections == CFI_SECTIONS_MAX || s->sz > UINT32_MAX)
		return -E2BIG;
	c->sections[c->n_sections] = *s;
	return (int)c->n_sections++;
}

int cfi_add_section(struct cfi *c, const struct cfi_section *s)
{
	struct cfi_cursor in = {s->data, s->data + s->sz, 0};
	int n = begin_section(c, s), err = 0;
	struct entry e;

	if (n < 0)
		return n;
	/* A terminator may lie between the parts of two objects: only the one at the end of the
	 * section ends it. */
	while (!err && in.p != in.end && next_entry(s, &in, &e)) {
		err = unwind_work_spend(c->work, 1);
		if (!err && e.body.p != e.body.end && e.id)
			err = add_fde(c, (uint32_t)n, &e);
	}
	return err;
}

int cfi_add_listed(struct cfi *c, const struct cfi_section *s, const uint32_t *offsets, size_t n)
{
	int section = begin_section(c, s), err = 0;

	if (section < 0)
		return section;
	for (size_t i = 0; !err && i < n; i++) {
		struct cfi_cursor in = {s->data + offsets[i], s->data + s->sz, 0};
		struct entry e;

		err = unwind_work_spend(c->work, 1);
		if (!err && offsets[i] < s->sz && next_entry(s, &in, &e) &&
		    e.body.p != e.body.end && e.id)
			err = add_fde(c, (uint32_t)section, &e);
	}
	return err;
}

/* Of functions with the same start the longer one is first, so that the shorter one nests in it. */
static int by_start(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

/* A radix sort of 11 bits at a time, since there can be a hundred thousand. */
static int sort_fdes(struct cfi *c)
{
	struct fde *from = c->fdes, *to = malloc((c->n_fdes + 1) * sizeof(*to));
	const size_t n = c->n_fdes;

	if (!to)
		return -ENOMEM;
	for (unsigned int shift = 0; shift < 33; shift += 11) {
		uint32_t at[2048] = {0}, sum = 0;
		struct fde *other = from;

		for (size_t i = 0; i < n; i++)
			at[from[i].start >> shift & 2047]++;
		for (unsigned int i = 0; i < 2048; i++) {
			const uint32_t count = at[i];

			at[i] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			to[at[from[i].start >> shift & 2047]++] = from[i];
		from = to;
		to = other;
	}
	free(to);
	c->fdes = from;
	c->cap_fdes = n + 1;
	for (size_t i = 1; i < n; i++) {
		if (by_start(&from[i - 1], &from[i]) > 0) { /* same start: rare, so a slow sort */
			qsort(from, n, sizeof(*from), by_start);
			break;
		}
	}
	return 0;
}

/* Functions that are open at one place, innermost last: of overlapping ones that one counts. */
struct nest {
	struct open_fde {
		const struct fde *f;
		struct cfi_runner run; /* up to here its rows are built */
	} v[NEST_MAX];
	unsigned int n;
	uint32_t at; /* rows are complete up to here */
};

static void push(const struct cfi *c, struct nest *nest, const struct fde *f)
{
	const struct cfi_section *s = &c->sections[f->section];
	const uint8_t *insns = s->data + f->insns;
	struct open_fde *o;

	if (nest->n == NEST_MAX) /* compilers do not nest so: the outermost is cut */
		memmove(nest->v, nest->v + 1, --nest->n * sizeof(*nest->v));
	o = &nest->v[nest->n++];
	o->f = f;
	cfi_run_begin(&o->run, &c->cies[f->cie], (struct cfi_cursor){insns, insns + f->insns_sz, 0},
		      f->start, vaddr_of(c, f->start), s->addr + f->insns);
	nest->at = f->start;
}

static int leave_until(struct cfi *c, struct unwind_rows *rows, struct nest *nest, uint32_t pc)
{
	while (nest->n) {
		struct open_fde *o = &nest->v[nest->n - 1];
		const uint32_t to = o->f->end < pc ? o->f->end : pc;
		const int err =
			nest->at < to ? cfi_run_to(&o->run, rows, nest->at, to, c->work) : 0;

		if (err)
			return err;
		if (to > nest->at)
			nest->at = to;
		if (o->f->end > pc)
			return 0;
		nest->n--;
	}
	return 0;
}

static int add_gap(struct unwind_rows *rows, uint32_t from)
{
	return unwind_rows_add(rows, (struct unwind_row){.pc = from, .kind = UNWIND_NONE});
}

/* .debug_frame repeats .eh_frame: the program uses the latter. */
static int is_repeated(const struct nest *nest, const struct fde *f)
{
	const struct fde *in = nest->n ? nest->v[nest->n - 1].f : NULL;

	return in && f->section > in->section && f->end <= in->end;
}

static int add_rows(struct cfi *c, struct unwind_rows *rows, struct nest *nest)
{
	int err = 0;

	for (size_t i = 0; i < c->n_fdes && !err; i++) {
		const struct fde *f = &c->fdes[i];

		err = unwind_work_spend(c->work, 1) ?: leave_until(c, rows, nest, f->start);
		if (!err && !nest->n && nest->at && nest->at < f->start &&
		    f->start - nest->at > FILLING)
			err = add_gap(rows, nest->at);
		if (!err && !is_repeated(nest, f))
			push(c, nest, f);
	}
	err = err ?: leave_until(c, rows, nest, UINT32_MAX);
	return !err && nest->at ? add_gap(rows, nest->at) : err;
}

int cfi_rows(struct cfi *c, struct unwind_rows *rows)
{
	struct nest *nest = calloc(1, sizeof(*nest));
	int err = nest ? sort_fdes(c) : -ENOMEM;

	err = err ?: add_rows(c, rows, nest);
	free(nest);
	return err;
}
