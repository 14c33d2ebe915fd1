/* SPDX-License-Identifier: Apache-2.0 */
/* Finds symbols of an ELF file by name: dynamic ones through .gnu.hash, with a few small reads, or
 * by a scan of .dynsym where a file has no such table. The file is hostile. */
#ifndef SCAP_OBJFILE_ELF_DYNAMIC_SYMBOL_H
#define SCAP_OBJFILE_ELF_DYNAMIC_SYMBOL_H

#include "objfile/elf_file.h"

struct elf_symbol {
	uint64_t addr, sz; /* as the file has them */
};

/* Returns whether the file defines @name, with *out. */
int elf_dynamic_symbol_find(const struct elf_file *f, struct elf_symbol *out, const char *name);

/* The same also for symbols in .symtab, which is read whole if no dynamic symbol has the name. */
int elf_any_symbol_find(const struct elf_file *f, struct elf_symbol *out, const char *name);

/* Returns whether the file has a dynamic relocation of @type for the symbol @name, with its address
 * in *addr: that of a slot that the dynamic linker fills. Reads all relocations. */
int elf_dynamic_slot_find(const struct elf_file *f, uint64_t *addr, const char *name,
			  uint32_t type);

/* Returns whether the file has a dynamic relocation of @type at @addr, with what it adds in *addend
 * if that is not NULL. Reads all relocations. */
int elf_dynamic_slot_is(const struct elf_file *f, uint64_t addr, uint32_t type, uint64_t *addend);

#endif /* SCAP_OBJFILE_ELF_DYNAMIC_SYMBOL_H */
