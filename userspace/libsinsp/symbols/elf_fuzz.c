/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: an ELF file, with all that is read of one: sections, build ID, symbols, functions,
 * Go's table, rows of unwind tables, interpreters, TLS libraries. */
#include "testing/fuzz.h"

#include <elf.h>
#include <errno.h>

#include "elf_symbols.h"
#include "interp/interp_file.h"
#include "objfile/elf_dynamic_symbol.h"
#include "objfile/elf_file.h"
#include "objfile/elf_functions.h"
#include "objfile/go_pclntab.h"
#include "tls/tls_go.h"
#include "tls/tls_library.h"
#include "unwind/unwind_rows.h"

enum { LOOKS = 64 };

static void read_sections(const struct elf_file *f)
{
	const struct elf_section *v;
	const size_t n = elf_file_sections(f, &v);
	uint8_t id[ELF_BUILD_ID_MAX];
	struct elf_data d;

	for (size_t i = 0; i < n && i < LOOKS; i++) {
		if (strlen(v[i].name) > elf_file_sz(f))
			abort();
		if (!elf_file_section_copy(f, &d, &v[i])) {
			if (d.data[d.sz])
				abort();
			free(d.data);
		}
	}
	if (elf_file_build_id(f, id) > ELF_BUILD_ID_MAX)
		abort();
	elf_file_id(f, id);
}

static void read_functions(const struct elf_file *f)
{
	struct elf_functions *t;
	uint64_t start, size;

	if (elf_functions_open(&t, f))
		return;
	for (size_t i = 0; i < elf_functions_count(t) && i < LOOKS; i++)
		if (elf_functions_at(t, i, &start, &size) &&
		    elf_functions_find(t, start, &start, &size) && !size)
			abort();
	elf_functions_close(t);
}

static void read_symbols(const struct elf_file *f)
{
	struct elf_symbol named;
	struct symtab_sym sym;
	struct symtab *t;
	uint64_t addr;

	elf_any_symbol_find(f, &named, "main");
	elf_dynamic_slot_find(f, &addr, "puts", R_X86_64_JUMP_SLOT);
	elf_dynamic_slot_is(f, elf_file_entry(f), R_X86_64_RELATIVE, &addr);
	sinsp_elf_has_symtab(f);
	if (sinsp_elf_symbols_load(&t, f, f))
		return;
	for (uint64_t at = 0; at < LOOKS; at++)
		if (symtab_find(t, elf_file_entry(f) + at * 16, &sym) && !*sym.name)
			abort();
	symtab_free(t);
}

static void read_go(const struct elf_file *f)
{
	struct go_pclntab *t;
	struct go_func func;

	if (go_pclntab_open(&t, f))
		return;
	for (size_t i = 0; i < go_pclntab_n(t) && i < LOOKS; i++)
		if (!go_pclntab_func(t, &func, i) && strlen(func.name) > elf_file_sz(f))
			abort();
	go_pclntab_close(t);
}

static void read_rows(const struct elf_file *f)
{
	struct unwind_work work = {.left = 1u << 16};
	struct unwind_rows rows = {0};

	if (unwind_rows_of_file(&rows, f, f, &work))
		return;
	for (size_t i = 1; i < rows.n; i++)
		if (rows.v[i - 1].pc >= rows.v[i].pc)
			abort();
	unwind_rows_fini(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct tls_probe go[TLS_GO_PROBES_MAX], library[TLS_PROBES_MAX];
	struct interp_file interp;
	struct elf_file *f;

	if (elf_file_open_image(&f, data, sz))
		return 0;
	read_sections(f);
	read_functions(f);
	read_symbols(f);
	read_go(f);
	read_rows(f);
	interp_file_detect(&interp, f, "/usr/bin/python3.11");
	interp_file_detect(&interp, f, "/usr/lib/libruby.so.3.1");
	tls_go_probes(f, go);
	tls_library_probes(f, library);
	elf_file_close(f);
	return 0;
}
