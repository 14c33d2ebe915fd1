/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lzma.h>

#include "objfile/elf_file.h"
#include "objfile/go_pclntab.h"

#define MAX_TABLE_SZ (1ull << 29) /* maximum size of a section of symbols, names or relocations */
#define MAX_COPIED_NAMES (64u << 10) /* size of a table in memory; larger ones stay in the file */
#define MAX_UNPACKED_SZ (256u << 20) /* of .gnu_debugdata */
#define LZMA_MEMORY (128u << 20)

enum { PLT_ENTRY_SZ = 16, JMP_SZ = 6 };

/* Sources and destination of symbols. */
struct source {
	const struct elf_file *f;
	const struct elf_section *sections;
	size_t n_sections;
	struct symtab *t;
};

static struct source source_of(const struct elf_file *f, struct symtab *t)
{
	struct source s = {.f = f, .t = t};

	s.n_sections = elf_file_sections(f, &s.sections);
	return s;
}

static const struct elf_section *section_at(const struct source *s, size_t i)
{
	return i && i < s->n_sections ? &s->sections[i] : NULL;
}

/* Sections may overlap: the total that is read is bounded. */
static int copy_table(const struct source *s, struct elf_data *d, const struct elf_section *sec)
{
	if (!sec || sec->sz > MAX_TABLE_SZ || sec->flags & SHF_COMPRESSED)
		return -ENODATA;
	if (symtab_pay(s->t, sec->sz))
		return -EFBIG;
	return elf_file_section_copy(s->f, d, sec);
}

/* Lack of memory ends it; errors in the file do not. */
static int unless_bad(int err)
{
	return err == -ENOMEM ? err : 0;
}

static const char *name_at(const struct elf_data *names, uint32_t at)
{
	return at < names->sz ? (const char *)names->data + at : "";
}

/* ---- symbols ---- */

static int is_code(const struct source *s, const Elf64_Sym *sym)
{
	const unsigned int type = ELF64_ST_TYPE(sym->st_info);
	const struct elf_section *sec = section_at(s, sym->st_shndx);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return 0;
	/* Files with too many sections for the field store the index elsewhere: the symbol's type
	 * decides. */
	if (sym->st_shndx == SHN_XINDEX)
		return type != STT_NOTYPE;
	return sec && sec->flags & SHF_EXECINSTR;
}

/* Can be read in parts: stored uncompressed in the file. */
static int is_readable(const struct elf_section *sec)
{
	return sec && sec->sz <= MAX_TABLE_SZ && !(sec->flags & SHF_COMPRESSED) &&
	       sec->type != SHT_NOBITS;
}

/* The names of a symbol table: a copy or, if there are many, a part of the file. */
struct names {
	struct elf_data copy;
	int in_file; /* 0: copied */
};

/* An image is not kept for its names: it was unpacked, and is larger than they are. */
static int open_names(const struct source *s, struct names *n, const struct elf_section *sec)
{
	*n = (struct names){0};
	if (is_readable(sec) && sec->sz > MAX_COPIED_NAMES && !elf_file_is_image(s->f))
		n->in_file = symtab_add_source(s->t, s->f, sec->offset, (uint32_t)sec->sz);
	return n->in_file > 0 ? 0 : copy_table(s, &n->copy, sec);
}

static int add_symbol(const struct source *s, const Elf64_Sym *sym, const struct names *names)
{
	const unsigned int is_local = ELF64_ST_BIND(sym->st_info) == STB_LOCAL;
	const unsigned int is_label = ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE;
	const unsigned int rank = 2 * !is_local + !is_label;
	const char *name;
	size_t len;

	if (!is_code(s, sym))
		return 0;
	if (names->in_file > 0)
		return symtab_add_at(s->t, sym->st_value, sym->st_size, names->in_file,
				     sym->st_name, rank);
	name = name_at(&names->copy, sym->st_name);
	len = symtab_name_len(name);
	return len ? symtab_add(s->t, sym->st_value, sym->st_size, name, len, rank) : 0;
}

/* A part at a time: the table is read once. */
static int add_symbols_named(const struct source *s, const struct elf_section *sec,
			     const struct names *names)
{
	const uint64_t n = sec->sz / sizeof(Elf64_Sym);
	Elf64_Sym v[512];
	int err = 0;

	for (uint64_t at = 0; at < n && !err; at += sizeof(v) / sizeof(v[0])) {
		const uint64_t left = n - at, room = sizeof(v) / sizeof(v[0]);
		const size_t m = left < room ? left : room;

		err = symtab_pay(s->t, m * sizeof(v[0]));
		err = err
			      ?: elf_file_read(s->f, v, sec->offset + at * sizeof(v[0]),
					       m * sizeof(v[0]));
		for (size_t i = 0; i < m && !err; i++)
			err = add_symbol(s, &v[i], names);
	}
	return err;
}

static int add_symbols_of(const struct source *s, const struct elf_section *sec)
{
	struct names names;
	int err;

	if (!is_readable(sec))
		return 0;
	err = open_names(s, &names, section_at(s, sec->link));
	if (!err)
		err = add_symbols_named(s, sec, &names);
	free(names.copy.data);
	return unless_bad(err);
}

static int add_symbols(const struct source *s)
{
	int err = 0;

	for (size_t i = 0; i < s->n_sections && !err; i++) {
		const struct elf_section *sec = &s->sections[i];

		if (sec->type == SHT_SYMTAB || sec->type == SHT_DYNSYM)
			err = add_symbols_of(s, sec);
		if (!err && sec->flags & SHF_EXECINSTR && sec->sz <= UINT64_MAX - sec->addr)
			err = unless_bad(symtab_add_bound(s->t, sec->addr + sec->sz));
	}
	return err;
}

/* ---- the PLT ---- */

/* Function of each slot of the global offset table. */
struct slot {
	uint64_t addr;
	uint32_t sym;
};

struct slots {
	struct slot *v;
	size_t n;
	const struct elf_section *syms, *names; /* .dynsym, .dynstr */
};

static int by_slot(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int is_slot(const Elf64_Rela *r)
{
	return ELF64_R_TYPE(r->r_info) == R_X86_64_JUMP_SLOT ||
	       ELF64_R_TYPE(r->r_info) == R_X86_64_GLOB_DAT;
}

/* Most relocations are of other types. */
static int add_slots_of(const struct source *s, struct slots *slots, const struct elf_section *sec)
{
	const Elf64_Rela *r;
	struct elf_data d;
	struct slot *v;
	size_t n, n_slots = 0;
	int err = copy_table(s, &d, sec);

	if (err)
		return unless_bad(err);
	r = (const Elf64_Rela *)d.data;
	n = d.sz / sizeof(*r);
	for (size_t i = 0; i < n; i++)
		n_slots += is_slot(&r[i]);
	v = realloc(slots->v, (slots->n + n_slots + 1) * sizeof(*v));
	if (v)
		slots->v = v;
	for (size_t i = 0; v && i < n; i++)
		if (is_slot(&r[i]))
			v[slots->n++] =
				(struct slot){r[i].r_offset, (uint32_t)ELF64_R_SYM(r[i].r_info)};
	free(d.data);
	return v ? 0 : -ENOMEM;
}

static int read_slots(const struct source *s, struct slots *slots)
{
	int err = 0;

	slots->syms = elf_file_section(s->f, ".dynsym");
	slots->names = slots->syms ? section_at(s, slots->syms->link) : NULL;
	if (!is_readable(slots->syms) || !is_readable(slots->names))
		return -ENODATA;
	for (size_t i = 0; i < s->n_sections && !err; i++)
		if (s->sections[i].type == SHT_RELA && s->sections[i].flags & SHF_ALLOC)
			err = add_slots_of(s, slots, &s->sections[i]);
	if (!err && slots->n)
		qsort(slots->v, slots->n, sizeof(*slots->v), by_slot);
	return err;
}

/* Reads the name of the function of a slot; not 0: none. */
static int slot_name(const struct source *s, const struct slots *slots, uint64_t addr,
		     char name[SYMTAB_MAX_NAME])
{
	const struct slot key = {.addr = addr}, *found;
	uint64_t left;
	Elf64_Sym sym;

	found = slots->n ? bsearch(&key, slots->v, slots->n, sizeof(key), by_slot) : NULL;
	if (!found || found->sym >= slots->syms->sz / sizeof(sym) ||
	    elf_file_read(s->f, &sym, slots->syms->offset + found->sym * sizeof(sym), sizeof(sym)))
		return -ENOENT;
	if (sym.st_name >= slots->names->sz)
		return -ENOENT;
	left = slots->names->sz - sym.st_name;
	if (left > SYMTAB_MAX_NAME - 1)
		left = SYMTAB_MAX_NAME - 1;
	name[left] = '\0';
	return elf_file_read(s->f, name, slots->names->offset + sym.st_name, left);
}

/* jmp *DISPLACEMENT(%rip) within an entry, after whatever the compiler puts before it: returns 0
 * with the slot that has its address. */
static int entry_slot(const uint8_t *p, size_t sz, uint64_t addr, uint64_t *slot)
{
	for (size_t i = 0; i + JMP_SZ <= sz; i++) {
		int32_t to;

		if (p[i] != 0xff || p[i + 1] != 0x25)
			continue;
		memcpy(&to, p + i + 2, sizeof(to));
		*slot = addr + i + JMP_SZ + (uint64_t)(int64_t)to;
		return 0;
	}
	return -ENOENT;
}

static int add_entries(const struct source *s, const struct slots *slots,
		       const struct elf_section *sec)
{
	const size_t step = sec->entry_sz == 8 ? 8 : PLT_ENTRY_SZ;
	struct elf_data d;
	int err = copy_table(s, &d, sec);

	if (err)
		return unless_bad(err);
	/* The rest of the section: code that calls the dynamic linker. */
	err = symtab_add(s->t, sec->addr, sec->sz, sec->name, strlen(sec->name), 0);
	for (size_t at = 0; at + step <= d.sz && !err; at += step) {
		char name[SYMTAB_MAX_NAME + sizeof("@plt")];
		uint64_t slot;

		err = symtab_pay(s->t, sizeof(name) / 8); /* two reads */
		if (err || entry_slot(d.data + at, step, sec->addr + at, &slot) ||
		    slot_name(s, slots, slot, name) || !*name)
			continue;
		strcat(name, "@plt");
		err = symtab_add(s->t, sec->addr + at, step, name, strlen(name), 1);
	}
	free(d.data);
	return unless_bad(err);
}

static int is_plt(const struct elf_section *sec)
{
	return sec->flags & SHF_EXECINSTR &&
	       (strcmp(sec->name, ".plt") == 0 || strncmp(sec->name, ".plt.", 5) == 0);
}

static int add_plt(const struct source *s)
{
	struct slots slots = {0};
	int err = read_slots(s, &slots);

	for (size_t i = 0; i < s->n_sections && !err; i++)
		if (is_plt(&s->sections[i]))
			err = add_entries(s, &slots, &s->sections[i]);
	free(slots.v);
	return unless_bad(err);
}

/* ---- .gnu_debugdata: a small ELF file, packed, in the file ---- */

/* -ENOSPC: needs more room. */
static int unpack_into(struct elf_data *out, size_t room, const struct elf_data *d)
{
	uint64_t memory = LZMA_MEMORY;
	size_t from = 0;
	lzma_ret r;

	*out = (struct elf_data){.data = malloc(room)};
	if (!out->data)
		return -ENOMEM;
	r = lzma_stream_buffer_decode(&memory, 0, NULL, d->data, &from, d->sz, out->data, &out->sz,
				      room);
	if (r == LZMA_OK && out->sz)
		return 0;
	free(out->data);
	return r == LZMA_BUF_ERROR ? -ENOSPC : -EBADMSG;
}

static int unpack(struct elf_data *d)
{
	size_t room = d->sz * 8 + 4096;
	struct elf_data out;
	int err;

	while ((err = unpack_into(&out, room, d)) == -ENOSPC && room < MAX_UNPACKED_SZ)
		room = room > MAX_UNPACKED_SZ / 4 ? MAX_UNPACKED_SZ : room * 4;
	if (err)
		return err == -ENOMEM ? err : -EBADMSG;
	free(d->data);
	*d = out;
	return 0;
}

static int add_debugdata(const struct source *s)
{
	struct elf_file *inner;
	struct source in;
	struct elf_data d;
	int err = copy_table(s, &d, elf_file_section(s->f, ".gnu_debugdata"));

	if (err)
		return unless_bad(err);
	err = unpack(&d);
	err = err ?: symtab_pay(s->t, d.sz);
	if (!err)
		err = elf_file_open_image(&inner, d.data, d.sz);
	free(d.data);
	if (err)
		return unless_bad(err);
	in = source_of(inner, s->t);
	err = add_symbols(&in);
	elf_file_close(inner);
	return err;
}

/* ---- .gopclntab: what a Go program needs for its own tracebacks ---- */

static int add_go_func(const struct source *s, const struct go_func *fn)
{
	const size_t len = strnlen(fn->name, SYMTAB_MAX_NAME);

	if (symtab_pay(s->t, 16 + len))
		return -EFBIG;
	if (!len || fn->end <= fn->start)
		return 0;
	return symtab_add(s->t, fn->start, fn->end - fn->start, fn->name, len, 0);
}

/* The names of .symtab, which a stripped file lacks. */
static int add_go_funcs(const struct source *s)
{
	struct go_pclntab *go;
	int err = go_pclntab_open(&go, s->f);

	if (err)
		return unless_bad(err);
	for (size_t i = 0; i < go_pclntab_n(go) && !err; i++) {
		struct go_func fn;

		if (!go_pclntab_func(go, &fn, i))
			err = add_go_func(s, &fn);
	}
	go_pclntab_close(go);
	return unless_bad(err);
}

int sinsp_elf_has_symtab(const struct elf_file *f)
{
	return elf_file_section(f, ".symtab") != NULL;
}

int sinsp_elf_symbols_load(struct symtab **out, const struct elf_file *f,
			   const struct elf_file *debug)
{
	struct symtab *t = symtab_new(SYMTAB_INNERMOST);
	const struct source s = source_of(f, t);
	int err = t ? add_symbols(&s) : -ENOMEM;

	if (!err && debug) {
		const struct source d = source_of(debug, t);

		err = add_symbols(&d);
	}
	if (!err && !debug && !sinsp_elf_has_symtab(f))
		err = add_debugdata(&s);
	if (!err && !debug && !sinsp_elf_has_symtab(f))
		err = add_go_funcs(&s);
	if (!err)
		err = add_plt(&s);
	if (!err)
		err = symtab_seal(t);
	if (err)
		symtab_free(t);
	else
		*out = t;
	return err;
}
