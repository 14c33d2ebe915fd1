/* SPDX-License-Identifier: Apache-2.0 */
#include "objfile/elf_dynamic_symbol.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_SZ 64 /* bytes of a name that is searched, with its NUL */
#define CHAIN_MAX 4096 /* symbols of a bucket */
#define SCAN_MAX (64u << 20) /* bytes of a symbol table, and of its names */

/* The sections of symbols. */
struct tables {
	const struct elf_file *f;
	const struct elf_section *symbols, *names, *hash;
};

static int read_at(const struct tables *t, void *to, const struct elf_section *s, uint64_t at,
		   size_t sz)
{
	if (at > s->sz || sz > s->sz - at)
		return -1;
	return elf_file_read(t->f, to, s->offset + at, sz);
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

/* Returns whether symbol @i is defined and has the name. */
static int is_symbol(const struct tables *t, Elf64_Sym *s, uint32_t i, const char *name)
{
	char found[NAME_MAX_SZ];
	const size_t sz = strlen(name) + 1;

	return !read_at(t, s, t->symbols, (uint64_t)i * sizeof(*s), sizeof(*s)) &&
	       s->st_shndx != SHN_UNDEF && !read_at(t, found, t->names, s->st_name, sz) &&
	       memcmp(found, name, sz) == 0;
}

/* ---- .gnu.hash ---- */

/* The table: this, words of the filter, buckets, and a chain with one word for each symbol. */
struct gnu_hash {
	uint32_t n_buckets, first_symbol, filter_words, filter_shift;
};

/* Returns whether the filter has @hash: most names that a file lacks end here. */
static int filter_has(const struct tables *t, const struct gnu_hash *h, uint32_t hash)
{
	const uint64_t at = sizeof(*h) + (uint64_t)(hash / 64 % h->filter_words) * 8;
	uint64_t word;

	return !read_at(t, &word, t->hash, at, sizeof(word)) && word >> (hash & 63) & 1 &&
	       word >> (hash >> (h->filter_shift & 31) & 63) & 1;
}

static int find_by_hash(const struct tables *t, Elf64_Sym *s, const char *name)
{
	const uint32_t hash = hash_of(name);
	uint64_t buckets, chain;
	struct gnu_hash h;
	uint32_t i, word = 0;

	if (read_at(t, &h, t->hash, 0, sizeof(h)) || !h.n_buckets || !h.filter_words ||
	    !filter_has(t, &h, hash))
		return 0;
	buckets = sizeof(h) + (uint64_t)h.filter_words * 8;
	chain = buckets + (uint64_t)h.n_buckets * 4;
	if (read_at(t, &i, t->hash, buckets + hash % h.n_buckets * 4ull, sizeof(i)) ||
	    i < h.first_symbol)
		return 0;
	for (uint32_t n = 0; n < CHAIN_MAX && !(word & 1); n++, i++) {
		if (read_at(t, &word, t->hash, chain + (uint64_t)(i - h.first_symbol) * 4,
			    sizeof(word)))
			return 0;
		if ((word | 1) == (hash | 1) && is_symbol(t, s, i, name))
			return 1;
	}
	return 0;
}

/* ---- a scan ---- */

static int find_in(const struct elf_data *symbols, const struct elf_data *names, Elf64_Sym *s,
		   const char *name)
{
	for (size_t at = 0; at + sizeof(*s) <= symbols->sz; at += sizeof(*s)) {
		memcpy(s, symbols->data + at, sizeof(*s));
		if (s->st_shndx != SHN_UNDEF && s->st_name < names->sz &&
		    strcmp(name, (const char *)names->data + s->st_name) == 0)
			return 1;
	}
	return 0;
}

static int find_by_scan(const struct tables *t, Elf64_Sym *s, const char *name)
{
	struct elf_data symbols, names;
	int found = 0;

	if (t->symbols->sz > SCAN_MAX || t->names->sz > SCAN_MAX ||
	    elf_file_section_copy(t->f, &symbols, t->symbols))
		return 0;
	if (!elf_file_section_copy(t->f, &names, t->names)) {
		found = find_in(&symbols, &names, s, name);
		free(names.data);
	}
	free(symbols.data);
	return found;
}

/* Finds the sections. Returns 0, or -1 if there are none or @name is too long. */
static int find_tables(struct tables *t, const struct elf_file *f, const char *name)
{
	*t = (struct tables){
		.f = f,
		.symbols = elf_file_section(f, ".dynsym"),
		.names = elf_file_section(f, ".dynstr"),
		.hash = elf_file_section(f, ".gnu.hash"),
	};
	return t->symbols && t->names && strlen(name) < NAME_MAX_SZ ? 0 : -1;
}

int elf_dynamic_symbol_find(const struct elf_file *f, struct elf_symbol *out, const char *name)
{
	struct tables t;
	Elf64_Sym s;

	if (find_tables(&t, f, name) ||
	    !(t.hash ? find_by_hash(&t, &s, name) : find_by_scan(&t, &s, name)))
		return 0;
	out->addr = s.st_value;
	out->sz = s.st_size;
	return 1;
}

int elf_any_symbol_find(const struct elf_file *f, struct elf_symbol *out, const char *name)
{
	const struct tables t = {
		.f = f,
		.symbols = elf_file_section(f, ".symtab"),
		.names = elf_file_section(f, ".strtab"),
	};
	Elf64_Sym s;

	if (elf_dynamic_symbol_find(f, out, name))
		return 1;
	if (!t.symbols || !t.names || !find_by_scan(&t, &s, name))
		return 0;
	out->addr = s.st_value;
	out->sz = s.st_size;
	return 1;
}

int elf_dynamic_slot_find(const struct elf_file *f, uint64_t *addr, const char *name, uint32_t type)
{
	const struct elf_section *section = elf_file_section(f, ".rela.dyn");
	struct elf_data relocations;
	struct tables t;
	Elf64_Sym s;
	Elf64_Rela r;
	int found = 0;

	if (!section || section->sz > SCAN_MAX || find_tables(&t, f, name) ||
	    elf_file_section_copy(f, &relocations, section))
		return 0;
	for (size_t at = 0; !found && at + sizeof(r) <= relocations.sz; at += sizeof(r)) {
		memcpy(&r, relocations.data + at, sizeof(r));
		found = ELF64_R_TYPE(r.r_info) == type &&
			is_symbol(&t, &s, ELF64_R_SYM(r.r_info), name);
	}
	free(relocations.data);
	if (found)
		*addr = r.r_offset;
	return found;
}

int elf_dynamic_slot_is(const struct elf_file *f, uint64_t addr, uint32_t type, uint64_t *addend)
{
	const struct elf_section *section = elf_file_section(f, ".rela.dyn");
	struct elf_data relocations;
	Elf64_Rela r;
	int found = 0;

	if (!section || section->sz > SCAN_MAX || elf_file_section_copy(f, &relocations, section))
		return 0;
	for (size_t at = 0; !found && at + sizeof(r) <= relocations.sz; at += sizeof(r)) {
		memcpy(&r, relocations.data + at, sizeof(r));
		found = r.r_offset == addr && ELF64_R_TYPE(r.r_info) == type;
	}
	free(relocations.data);
	if (found && addend)
		*addend = (uint64_t)r.r_addend;
	return found;
}
