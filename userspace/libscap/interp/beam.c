/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects the emulator of Erlang/OTP, of which the JIT compiles all functions. It exports its
 * functions to native ones that it loads. Two variables are private: functions that use them lead
 * there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "interp/detect.h"

#define CODE_SZ 64 /* bytes of a function that are searched */
#define MODRM_SZ 7 /* of an instruction with REX.W and an address relative to rip */

static const struct row {
	struct interp_beam beam;
	uint16_t segments; /* in the table of atoms */
} rows[] = {
#define BEAM(version_, current, stop_, heap_, lines, functions_, segments)                         \
	{{.version = (version_),                                                                   \
	  .current_process = (current),                                                            \
	  .stop = (stop_),                                                                         \
	  .heap = (heap_),                                                                         \
	  .line_table = (lines),                                                                   \
	  .functions = (functions_)},                                                              \
	 (segments)},
#include "interp/beam.def"
#undef BEAM
};

static const struct row *find_row(unsigned int version)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].beam.version == version)
			return &rows[i];
	return NULL;
}

/* Returns whether @path is that of an emulator, whose symbols may be in .symtab alone. */
static int is_emulator(const char *path)
{
	const char *name = strrchr(path, '/');

	return strncmp(name ? name + 1 : path, "beam.", 5) == 0;
}

static int read_at(const struct elf_file *f, void *to, const char *symbol, size_t sz,
		   uint64_t *addr)
{
	struct elf_symbol s;
	uint64_t offset;

	if (!elf_any_symbol_find(f, &s, symbol) || elf_file_offset_of(f, &offset, s.addr) ||
	    elf_file_read(f, to, offset, sz))
		return -1;
	*addr = s.addr;
	return 0;
}

/* Returns the address that an instruction of @sz bytes at @insn, which lies at @addr, has in its
 * last four. */
static uint64_t target(const uint8_t *insn, size_t sz, uint64_t addr)
{
	int32_t rel;

	memcpy(&rel, insn + sz - sizeof(rel), sizeof(rel));
	return addr + sz + (uint64_t)(int64_t)rel;
}

/* Finds the first address that @symbol computes: lea. */
static int find_table(const struct elf_file *f, const char *symbol, uint64_t *table)
{
	uint8_t code[CODE_SZ];
	uint64_t addr;

	if (read_at(f, code, symbol, sizeof(code), &addr))
		return -1;
	for (size_t i = 0; i + MODRM_SZ <= sizeof(code); i++) {
		if ((code[i] & 0xfb) != 0x48 || code[i + 1] != 0x8d || (code[i + 2] & 0xc7) != 0x05)
			continue;
		*table = target(code + i, MODRM_SZ, addr + i);
		return 0;
	}
	return -1;
}

/* Finds the variable that @symbol passes on: it begins with a mov to edi. */
static int find_argument(const struct elf_file *f, const char *symbol, uint64_t *variable)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, mov[] = {0x8b, 0x3d};
	uint8_t code[CODE_SZ];
	uint64_t addr;
	size_t i = 0;

	if (read_at(f, code, symbol, sizeof(code), &addr))
		return -1;
	if (memcmp(code, endbr, sizeof(endbr)) == 0)
		i += sizeof(endbr);
	if (memcmp(code + i, mov, sizeof(mov)) != 0)
		return -1;
	*variable = target(code + i, 6, addr + i);
	return 0;
}

/* Puts where variables lie, relative to the ranges of modules. */
static int put_places(struct interp_process *p, const struct elf_file *f, const struct row *row)
{
	struct elf_symbol active, atoms;
	uint64_t key;

	if (!elf_any_symbol_find(f, &active, "the_active_code_index") ||
	    !elf_any_symbol_find(f, &atoms, "erts_atom_table") ||
	    find_table(f, "erts_start_staging_ranges", &p->root) ||
	    find_argument(f, "erts_get_scheduler_data", &key))
		return -1;
	p->beam = row->beam;
	p->beam.active = (int32_t)(active.addr - p->root);
	p->beam.atoms = (int32_t)(atoms.addr + row->segments - p->root);
	p->beam.key = (int32_t)(key - p->root);
	return 0;
}

int interp_detect_beam(struct interp_file *out, const struct elf_file *f, const char *path)
{
	struct elf_symbol s, loop;
	unsigned int version;
	const struct row *row;
	char release[4] = "";
	uint32_t has_jit;
	uint64_t addr;

	if (!elf_dynamic_symbol_find(f, &s, "etp_otp_release") && !is_emulator(path))
		return 0;
	if (read_at(f, release, "etp_otp_release", sizeof(release) - 1, &addr) ||
	    sscanf(release, "%2u", &version) != 1)
		return 0;
	snprintf(out->version, sizeof(out->version), "Erlang/OTP %u", version);
	row = find_row(version);
	if (!row || read_at(f, &has_jit, "etp_beamasm", sizeof(has_jit), &addr) || !has_jit ||
	    !elf_any_symbol_find(f, &loop, "erts_dirty_process_main") ||
	    put_places(&out->process, f, row) || interp_add_loop(out, f, &loop))
		return -ENOTSUP;
	out->process.walker = STACK_WALKER_BEAM;
	out->process.has_jit = INTERP_JIT;
	return 1;
}
