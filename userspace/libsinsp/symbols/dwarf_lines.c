/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "demangle.h"

enum { RANGES_MAX = 1 << 22 };

/* Code of a compilation unit. The file's own index, .debug_aranges, is often missing. */
struct unit_range {
	uint64_t start, end; /* start is first: n_up_to */
	Dwarf_Off unit; /* its first DIE */
};

struct dwarf_lines {
	Elf *elf;
	Dwarf *dw;
	struct unit_range *v;
	size_t n, cap;
};

static int add_range(struct dwarf_lines *d, uint64_t start, uint64_t end, Dwarf_Off unit)
{
	struct unit_range *v;

	if (start >= end)
		return 0;
	if (d->n == d->cap) {
		if (d->n >= RANGES_MAX)
			return -1;
		v = realloc(d->v, (d->cap * 2 + 256) * sizeof(*v));
		if (!v)
			return -1;
		d->v = v;
		d->cap = d->cap * 2 + 256;
	}
	d->v[d->n++] = (struct unit_range){start, end, unit};
	return 0;
}

static int add_unit(struct dwarf_lines *d, Dwarf_Die *die)
{
	const Dwarf_Off unit = dwarf_dieoffset(die);
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (add_range(d, start, end, unit))
			return -1;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void read_units(struct dwarf_lines *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (dwarf_get_units(d->dw, cu, &cu, NULL, &type, &die, NULL) == 0)
		if (type == DW_UT_compile && add_unit(d, &die))
			break;
	if (d->n)
		qsort(d->v, d->n, sizeof(*d->v), by_start);
}

struct dwarf_lines *dwarf_lines_open(int fd)
{
	struct dwarf_lines *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	elf_version(EV_CURRENT);
	d->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	d->dw = d->elf ? dwarf_begin_elf(d->elf, DWARF_C_READ, NULL) : NULL;
	if (d->dw)
		read_units(d);
	if (!d->n) {
		dwarf_lines_close(d);
		return NULL;
	}
	return d;
}

void dwarf_lines_close(struct dwarf_lines *d)
{
	if (!d)
		return;
	free(d->v);
	if (d->dw)
		dwarf_end(d->dw);
	if (d->elf)
		elf_end(d->elf);
	free(d);
}

static int find_unit(const struct dwarf_lines *d, uint64_t addr, Dwarf_Die *die)
{
	const size_t n = n_up_to(d->v, d->n, sizeof(*d->v), addr);

	return n && addr < d->v[n - 1].end && dwarf_offdie(d->dw, d->v[n - 1].unit, die);
}

static void put_text(char out[DWARF_NAME_MAX], const char *text)
{
	const size_t len = text ? strnlen(text, DWARF_NAME_MAX - 1) : 0;

	memcpy(out, text ? text : "", len);
	out[len] = '\0';
}

static const char *attr_text(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static void write_name(char out[DWARF_NAME_MAX], Dwarf_Die *die)
{
	const char *linkage = attr_text(die, DW_AT_linkage_name);

	if (linkage && sinsp_demangle(out, DWARF_NAME_MAX, linkage))
		return;
	put_text(out, attr_text(die, DW_AT_name) ?: linkage);
}

static uint64_t attr_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	return dwarf_attr(die, name, &attr) && dwarf_formudata(&attr, &v) == 0 ? v : 0;
}

/* Where the inlined function was called: the line in the function around it. */
static void put_call(struct dwarf_frame *f, Dwarf_Die *unit, Dwarf_Die *inlined)
{
	const uint64_t number = attr_number(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t n;

	f->line = (uint32_t)attr_number(inlined, DW_AT_call_line);
	if (dwarf_getsrcfiles(unit, &files, &n) == 0 && number < n)
		put_text(f->file, dwarf_filesrc(files, number, NULL, NULL));
}

static void put_line(struct dwarf_frame *f, Dwarf_Die *unit, uint64_t addr)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, addr);
	int number = 0;

	if (!line)
		return;
	put_text(f->file, dwarf_linesrc(line, NULL, NULL));
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		f->line = (uint32_t)number;
}

/* The innermost scope, then those around it. */
static int scopes_of(Dwarf_Die *unit, uint64_t addr, Dwarf_Die **out)
{
	Dwarf_Die *scopes = NULL, inner;
	int n = dwarf_getscopes(unit, addr, &scopes);

	if (n > 0)
		inner = scopes[0];
	free(scopes);
	return n > 0 ? dwarf_getscopes_die(&inner, out) : 0;
}

size_t dwarf_lines_find(struct dwarf_lines *d, uint64_t addr,
			struct dwarf_frame out[DWARF_FRAMES_MAX])
{
	Dwarf_Die unit, *scopes = NULL;
	size_t n = 0;
	int n_scopes;

	if (!find_unit(d, addr, &unit))
		return 0;
	memset(&out[0], 0, sizeof(out[0]));
	put_line(&out[0], &unit, addr);
	n_scopes = scopes_of(&unit, addr, &scopes);
	for (int i = 0; i < n_scopes && n + 1 < DWARF_FRAMES_MAX; i++) {
		const int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		write_name(out[n++].function, &scopes[i]);
		if (tag == DW_TAG_subprogram)
			break;
		memset(&out[n], 0, sizeof(out[n]));
		put_call(&out[n], &unit, &scopes[i]);
	}
	free(scopes);
	return n ? n : out[0].line != 0;
}
