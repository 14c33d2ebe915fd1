/* SPDX-License-Identifier: Apache-2.0 */
#include "objfile/go_pclntab.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TABLE_SZ (512u << 20)
#define SCAN_SZ (1u << 20)
#define SCAN_MAX (256ull << 20) /* maximum bytes searched in a file without sections */
#define HEADER_SZ 72

#define MAGIC_2 0xfffffffbu
#define MAGIC_16 0xfffffffau
#define MAGIC_18 0xfffffff0u
#define MAGIC_20 0xfffffff1u

struct go_pclntab {
	struct elf_data d;
	size_t n;
	uint64_t text; /* base of the entries; 0 before 1.18 */
	size_t entry_sz; /* size of a number in the list of functions: 8, or 4 from 1.18 on */
	size_t funcs; /* place of the list; its offsets are relative to this */
	size_t funcs_base;
	size_t names, pcs; /* places of these tables */
};

static uint64_t get(const struct go_pclntab *t, size_t at, size_t sz)
{
	uint64_t v = 0;

	if (at <= t->d.sz && sz <= t->d.sz - at)
		memcpy(&v, t->d.data + at, sz);
	return v;
}

static int is_header(const uint8_t *p)
{
	uint32_t magic;

	memcpy(&magic, p, sizeof(magic));
	return (magic == MAGIC_2 || magic == MAGIC_16 || magic == MAGIC_18 || magic == MAGIC_20) &&
	       !p[4] && !p[5] && p[6] == 1 && p[7] == 8;
}

/* Without sections: the header lies at a multiple of 8 in a segment without code. */
static int scan_segment(const struct elf_file *f, const struct elf_segment *s, uint64_t *found,
			uint64_t *room)
{
	uint8_t *buf = malloc(s->file_sz < SCAN_SZ ? s->file_sz + 1 : SCAN_SZ);
	int err = -ENOENT;

	for (uint64_t at = 0; buf && at < s->file_sz && err; at += SCAN_SZ) {
		const uint64_t left = s->file_sz - at;
		const size_t sz = left < SCAN_SZ ? (size_t)left : SCAN_SZ;

		if (sz > *room)
			break;
		*room -= sz;
		if (elf_file_read(f, buf, s->offset + at, sz))
			break;
		for (size_t i = 0; i + 8 <= sz && err; i += 8) {
			if (is_header(buf + i)) {
				*found = s->offset + at + i;
				err = 0;
			}
		}
	}
	free(buf);
	return err;
}

static int find_without_sections(const struct elf_file *f, uint64_t *offset, uint64_t *sz)
{
	const struct elf_segment *v;
	const size_t n = elf_file_segments(f, &v);
	uint64_t room = SCAN_MAX;

	for (size_t i = 0; i < n; i++) {
		if (v[i].type != PT_LOAD || v[i].flags & PF_X ||
		    scan_segment(f, &v[i], offset, &room))
			continue;
		*sz = v[i].offset + v[i].file_sz - *offset;
		return 0;
	}
	return -ENOENT;
}

static int find_table(const struct elf_file *f, uint64_t *offset, uint64_t *sz)
{
	const struct elf_section *s = elf_file_section(f, ".gopclntab"), *v;

	if (!s)
		s = elf_file_section(f, ".data.rel.ro.gopclntab");
	if (!s)
		return elf_file_sections(f, &v) ? -ENOENT : find_without_sections(f, offset, sz);
	*offset = s->offset;
	*sz = s->sz;
	return 0;
}

/* In a position-independent file the number is 0, and an entry of .rela.dyn has it. */
static uint64_t relocated(const struct elf_file *f, uint64_t vaddr)
{
	const struct elf_section *s = elf_file_section(f, ".rela.dyn");
	struct elf_data d;
	uint64_t found = 0;

	if (!s || elf_file_section_copy(f, &d, s))
		return 0;
	for (size_t at = 0; at + sizeof(Elf64_Rela) <= d.sz; at += sizeof(Elf64_Rela)) {
		Elf64_Rela r;

		memcpy(&r, d.data + at, sizeof(r));
		if (r.r_offset == vaddr && ELF64_R_TYPE(r.r_info) == R_X86_64_RELATIVE)
			found = (uint64_t)r.r_addend;
	}
	free(d.data);
	return found;
}

static uint64_t find_text(const struct elf_file *f, uint64_t said, uint64_t table_offset)
{
	const struct elf_section *text = elf_file_section(f, ".text");
	uint64_t vaddr;

	if (!said && !elf_file_vaddr_of(f, &vaddr, table_offset))
		said = relocated(f, vaddr + 24);
	return said || !text ? said : text->addr;
}

static int read_header(struct go_pclntab *t, const struct elf_file *f, uint64_t offset)
{
	const uint32_t magic = (uint32_t)get(t, 0, 4);
	const int has_text = magic == MAGIC_18 || magic == MAGIC_20;
	const size_t tables = has_text ? 32 : 24;

	if (t->d.sz < HEADER_SZ || !is_header(t->d.data))
		return -EBADMSG;
	t->n = get(t, 8, 8);
	t->entry_sz = has_text ? 4 : 8;
	if (magic == MAGIC_2) {
		t->funcs = 16;
	} else {
		t->names = get(t, tables, 8);
		t->pcs = get(t, tables + 24, 8);
		t->funcs = t->funcs_base = get(t, tables + 32, 8);
	}
	if (has_text)
		t->text = find_text(f, get(t, 24, 8), offset);
	if (t->funcs > t->d.sz || t->names > t->d.sz || t->pcs > t->d.sz ||
	    t->n >= (t->d.sz - t->funcs) / (2 * t->entry_sz))
		return -EBADMSG;
	return 0;
}

int go_pclntab_open(struct go_pclntab **out, const struct elf_file *f)
{
	struct go_pclntab *t;
	uint64_t offset, sz;
	int err = find_table(f, &offset, &sz);

	if (err)
		return err;
	if (sz > MAX_TABLE_SZ)
		return -E2BIG;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	err = elf_file_copy(f, &t->d, offset, sz);
	err = err ?: read_header(t, f, offset);
	if (err) {
		go_pclntab_close(t);
		return err;
	}
	*out = t;
	return 0;
}

void go_pclntab_close(struct go_pclntab *t)
{
	if (!t)
		return;
	free(t->d.data);
	free(t);
}

size_t go_pclntab_n(const struct go_pclntab *t)
{
	return t->n;
}

/* Returns the address in the @i-th entry of the list; after the last function comes its end. */
static uint64_t entry_of(const struct go_pclntab *t, size_t i)
{
	return t->text + get(t, t->funcs + 2 * i * t->entry_sz, t->entry_sz);
}

int go_pclntab_func(const struct go_pclntab *t, struct go_func *out, size_t i)
{
	const uint64_t at =
		t->funcs_base + get(t, t->funcs + (2 * i + 1) * t->entry_sz, t->entry_sz);
	uint64_t name;

	if (i >= t->n || at > t->d.sz || t->d.sz - at < t->entry_sz + 16)
		return -EBADMSG;
	*out = (struct go_func){.start = entry_of(t, i), .end = entry_of(t, i + 1), .name = ""};
	if (out->start >= out->end)
		return -EBADMSG;
	name = t->names + (uint32_t)get(t, at + t->entry_sz, 4);
	if (name < t->d.sz) /* a 0 follows the table's last byte */
		out->name = (const char *)t->d.data + name;
	out->pcsp = t->pcs + (uint32_t)get(t, at + t->entry_sz + 12, 4);
	return 0;
}

static uint64_t next_number(struct go_pcsp *p)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 70 && p->at < p->table->d.sz; shift += 7) {
		const uint8_t b = p->table->d.data[p->at++];

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			break;
	}
	return v;
}

void go_pcsp_first(struct go_pcsp *p, const struct go_pclntab *t, const struct go_func *f)
{
	*p = (struct go_pcsp){.from = f->start,
			      .to = f->start,
			      .taken = -1,
			      .table = t,
			      .at = f->pcsp,
			      .end = f->end};
	if (f->pcsp == t->pcs) /* offset 0 of the table means none */
		p->end = f->start;
}

int go_pcsp_next(struct go_pcsp *p)
{
	const int first = p->to == p->from && p->taken == -1;
	uint64_t by;

	if (p->to >= p->end)
		return 0;
	by = next_number(p);
	if (!by && !first)
		return 0;
	/* Signed numbers have the sign in the lowest bit. */
	p->taken = (int64_t)((uint64_t)p->taken + (by >> 1 ^ -(by & 1)));
	p->from = p->to;
	by = next_number(p);
	p->to = by < p->end - p->from ? p->from + by : p->end;
	return p->to > p->from;
}
