/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a row with what a file of CPython has about its own structures: the sizes of code and
 * frame objects, and the table of a code object's members. A build with other ones (a debugging
 * build, a patched one) has other numbers there.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "interp/python_types.h"
#include "objfile/elf_dynamic_symbol.h"

#define TYPE_BASIC_SIZE 32 /* in a type object */
#define TYPE_MEMBERS 240
#define MEMBER_SZ 40 /* a member: name, type, offset */
#define MEMBER_OFFSET 16
#define MEMBERS_MAX 32
#define NAME_SZ 24
#define RELOCATIONS_MAX (64u << 20) /* bytes */

struct member {
	const char *name;
	uint16_t offset; /* that of the row */
};

/* Reads a number; 0: it is not there. */
static uint64_t number_at(const struct elf_file *f, uint64_t addr)
{
	uint64_t offset, v;

	return elf_file_offset_of(f, &offset, addr) || elf_file_read(f, &v, offset, sizeof(v)) ? 0
											       : v;
}

/* Reads @n pointers that lie @step bytes apart from @addr on, as they are once the file is loaded;
 * 0: none. */
static void read_pointers(const struct elf_file *f, const struct elf_data *relocations,
			  uint64_t *to, size_t n, uint64_t addr, uint64_t step)
{
	Elf64_Rela r;

	for (size_t i = 0; i < n; i++)
		to[i] = number_at(f, addr + i * step);
	for (size_t at = 0; at + sizeof(r) <= relocations->sz; at += sizeof(r)) {
		memcpy(&r, relocations->data + at, sizeof(r));
		if (ELF64_R_TYPE(r.r_info) == R_X86_64_RELATIVE && r.r_offset >= addr &&
		    !((r.r_offset - addr) % step) && (r.r_offset - addr) / step < n)
			to[(r.r_offset - addr) / step] = (uint64_t)r.r_addend;
	}
}

/* Returns whether the name at @addr is @name. */
static int is_name(const struct elf_file *f, uint64_t addr, const char *name)
{
	char text[NAME_SZ];
	uint64_t offset;
	const size_t sz = strlen(name) + 1;

	return addr && !elf_file_offset_of(f, &offset, addr) &&
	       !elf_file_read(f, text, offset, sz) && !memcmp(text, name, sz);
}

/* Returns whether the table of members has this one at the row's offset. */
static int has_member(const struct elf_file *f, const uint64_t *names, uint64_t members,
		      const struct member *m)
{
	for (size_t i = 0; i < MEMBERS_MAX && names[i]; i++)
		if (is_name(f, names[i], m->name))
			return number_at(f, members + i * MEMBER_SZ + MEMBER_OFFSET) == m->offset;
	return 0;
}

static int has_members(const struct elf_file *f, const struct elf_data *relocations,
		       const struct elf_symbol *type, const struct interp_python *p)
{
	const struct member wanted[] = {
		{"co_argcount", p->code_argcount},
		{"co_flags", p->code_flags},
		{"co_firstlineno", p->code_first_line},
		{"co_filename", p->code_file},
		{p->minor >= 11 ? "co_qualname" : "co_name", p->code_name},
		{p->minor >= 10 ? "co_linetable" : "co_lnotab", p->code_lines},
	};
	uint64_t names[MEMBERS_MAX], members;

	read_pointers(f, relocations, &members, 1, type->addr + TYPE_MEMBERS, sizeof(members));
	read_pointers(f, relocations, names, MEMBERS_MAX, members, MEMBER_SZ);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!has_member(f, names, members, &wanted[i]))
			return 0;
	return 1;
}

int python_types_agree(const struct elf_file *f, const struct interp_python *p, uint64_t code_sz,
		       uint64_t frame_sz)
{
	const struct elf_section *section = elf_file_section(f, ".rela.dyn");
	struct elf_data relocations = {0};
	struct elf_symbol code, frame;
	int agree;

	if (!elf_dynamic_symbol_find(f, &code, "PyCode_Type") ||
	    !elf_dynamic_symbol_find(f, &frame, "PyFrame_Type") ||
	    number_at(f, code.addr + TYPE_BASIC_SIZE) != code_sz ||
	    number_at(f, frame.addr + TYPE_BASIC_SIZE) != frame_sz)
		return 0;
	if (section &&
	    (section->sz > RELOCATIONS_MAX || elf_file_section_copy(f, &relocations, section)))
		return 0;
	agree = has_members(f, &relocations, &code, p);
	free(relocations.data);
	return agree;
}
