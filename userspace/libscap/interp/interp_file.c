/* SPDX-License-Identifier: Apache-2.0 */
#include "interp/interp_file.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objfile/elf_functions.h"

#define SYMBOLS_MAX (16u << 20) /* bytes of a symbol table, and of its names */
#define LOOP_MAX (1u << 20) /* bytes of the function of the loop */

struct symbol {
	const char *name;
	uint64_t addr, sz; /* sz 0: not found */
};

/* ---- symbols ---- */

static int find_in_table(struct symbol *v, size_t n, const struct elf_data *symbols,
			 const struct elf_data *names)
{
	size_t found = 0;

	for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols->sz && found < n;
	     at += sizeof(Elf64_Sym)) {
		Elf64_Sym s;

		memcpy(&s, symbols->data + at, sizeof(s));
		if (!s.st_value || s.st_name >= names->sz)
			continue;
		for (size_t i = 0; i < n; i++) {
			if (v[i].sz || strcmp(v[i].name, (const char *)names->data + s.st_name))
				continue;
			v[i].addr = s.st_value;
			v[i].sz = s.st_size;
			found++;
		}
	}
	return found == n;
}

/* Finds the dynamic symbols of @v by name. Returns whether all are there. */
static int find_symbols(const struct elf_file *f, struct symbol *v, size_t n)
{
	const struct elf_section *table = elf_file_section(f, ".dynsym");
	const struct elf_section *text = elf_file_section(f, ".dynstr");
	struct elf_data symbols, names;
	int found = 0;

	if (!table || !text || table->sz > SYMBOLS_MAX || text->sz > SYMBOLS_MAX ||
	    elf_file_section_copy(f, &symbols, table))
		return 0;
	if (!elf_file_section_copy(f, &names, text)) {
		found = find_in_table(v, n, &symbols, &names);
		free(names.data);
	}
	free(symbols.data);
	return found;
}

/* ---- the loop ---- */

/* Finds the part of a function that the compiler moved away: conditional jumps lead into the middle
 * of it. Returns whether there is one. */
static int find_cold(const struct elf_file *f, const uint8_t *code, const struct symbol *loop,
		     uint64_t *start, uint64_t *sz)
{
	struct elf_functions *functions;
	int found = 0;

	if (elf_functions_open(&functions, f))
		return 0;
	for (uint64_t i = 0; i + 6 <= loop->sz && !found; i++) {
		int32_t rel;
		uint64_t to;

		if (code[i] != 0x0f || (code[i + 1] & 0xf0) != 0x80) /* jcc */
			continue;
		memcpy(&rel, code + i + 2, sizeof(rel));
		to = loop->addr + i + 6 + (uint64_t)(int64_t)rel;
		if (to - loop->addr >= loop->sz && elf_functions_find(functions, to, start, sz))
			found = *start != to;
	}
	elf_functions_close(functions);
	return found;
}

static int add_range(struct interp_file *out, const struct elf_file *f, uint64_t addr, uint64_t sz)
{
	uint64_t offset;

	if (!sz || sz > LOOP_MAX || elf_file_offset_of(f, &offset, addr) ||
	    offset > UINT32_MAX - sz)
		return -1;
	out->delta = addr - offset;
	out->loop[out->n_loop].from = (uint32_t)offset;
	out->loop[out->n_loop++].to = (uint32_t)(offset + sz);
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int add_loop(struct interp_file *out, const struct elf_file *f, const struct symbol *loop)
{
	struct elf_data code;
	uint64_t start, sz;

	if (add_range(out, f, loop->addr, loop->sz) ||
	    elf_file_copy(f, &code, out->loop[0].from, loop->sz))
		return -1;
	if (find_cold(f, code.data, loop, &start, &sz))
		add_range(out, f, start, sz);
	free(code.data);
	qsort(out->loop, out->n_loop, sizeof(out->loop[0]), compare_ranges);
	return 0;
}

/* ---- Python ---- */

static const struct interp_python python_rows[] = {
#define PYTHON(minor_, frames_, entry_, scale, tss_, tstate, f_code, f_previous, f_lasti, f_entry, \
	       argcount, flags, first, file, name, lines, bytes, text_, wide)                      \
	{.tss = (tss_),                                                                            \
	 .frames = PYTHON_##frames_,                                                               \
	 .minor = (minor_),                                                                        \
	 .entry = (entry_),                                                                        \
	 .lasti_scale = (scale),                                                                   \
	 .tstate_frame = (tstate),                                                                 \
	 .frame_code = (f_code),                                                                   \
	 .frame_previous = (f_previous),                                                           \
	 .frame_lasti = (f_lasti),                                                                 \
	 .frame_entry = (f_entry),                                                                 \
	 .code_argcount = (argcount),                                                              \
	 .code_flags = (flags),                                                                    \
	 .code_first_line = (first),                                                               \
	 .code_file = (file),                                                                      \
	 .code_name = (name),                                                                      \
	 .code_lines = (lines),                                                                    \
	 .code_bytes = (bytes),                                                                    \
	 .text = (text_),                                                                          \
	 .wide_text = (wide)},
#include "interp/python.def"
#undef PYTHON
};

/* Returns the version 3.N that the name says; 0: none. */
static unsigned int python_version_in(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	unsigned int minor;

	if (!strncmp(name, "lib", 3))
		name += 3;
	return sscanf(name, "python3.%u", &minor) == 1 ? minor : 0;
}

/* Returns the version 3.N: that of the symbol Py_Version (3.11 and later), or of the name. */
static unsigned int python_version(const struct elf_file *f, const char *path)
{
	struct symbol version = {.name = "Py_Version"};
	uint64_t offset;
	uint32_t v;

	if (!find_symbols(f, &version, 1))
		return python_version_in(path);
	if (elf_file_offset_of(f, &offset, version.addr) ||
	    elf_file_read(f, &v, offset, sizeof(v)) || v >> 24 != 3)
		return 0;
	return v >> 16 & 0xff;
}

/* Finds the key that a function reads before it calls PyThread_get_key_value: mov key(%rip), %edi.
 * Returns its address; 0: not found. */
static uint64_t find_key(const struct elf_file *f, const struct symbol *get)
{
	uint8_t code[64];
	const size_t sz = get->sz < sizeof(code) ? get->sz : sizeof(code);
	uint64_t offset;
	int32_t rel;

	if (elf_file_offset_of(f, &offset, get->addr) || elf_file_read(f, code, offset, sz))
		return 0;
	for (size_t i = 0; i + 6 <= sz; i++) {
		if (code[i] != 0x8b || code[i + 1] != 0x3d)
			continue;
		memcpy(&rel, code + i + 2, sizeof(rel));
		return get->addr + i + 6 + (uint64_t)(int64_t)rel;
	}
	return 0;
}

/* Finds the key of the thread's state. Returns -1 if it is not there. */
static int find_tss(struct interp_python *p, const struct elf_file *f)
{
	struct symbol runtime = {.name = "_PyRuntime"};
	struct symbol get = {.name = "PyGILState_GetThisThreadState"};

	if (!p->tss) {
		p->tss_is_key = 1;
		p->tss = find_symbols(f, &get, 1) ? find_key(f, &get) : 0;
		return p->tss ? 0 : -1;
	}
	if (!find_symbols(f, &runtime, 1) || p->tss + 8 > runtime.sz)
		return -1;
	p->tss += runtime.addr;
	return 0;
}

static int detect_python(struct interp_file *out, const struct elf_file *f, const char *path)
{
	struct symbol loop = {.name = "_PyEval_EvalFrameDefault"};
	struct symbol old_loop = {.name = "PyEval_EvalFrameEx"}; /* before 3.6 */
	struct interp_python *p = &out->process.python;
	const struct interp_python *row = NULL;
	unsigned int minor;

	if (!strstr(path, "python"))
		return 0;
	if (!find_symbols(f, &loop, 1))
		return find_symbols(f, &old_loop, 1) ? -ENOTSUP : 0;
	minor = python_version(f, path);
	p->minor = (uint8_t)minor;
	for (size_t i = 0; i < sizeof(python_rows) / sizeof(python_rows[0]); i++)
		if (python_rows[i].minor == minor)
			row = &python_rows[i];
	if (!row || add_loop(out, f, &loop))
		return -ENOTSUP;
	out->process.walker = STACK_WALKER_PYTHON;
	*p = *row;
	return find_tss(p, f) ? -ENOTSUP : 1;
}

int interp_file_detect(struct interp_file *out, const struct elf_file *f, const char *path)
{
	memset(out, 0, sizeof(*out));
	return detect_python(out, f, path);
}
