/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the names of an ELF file's functions, by the file's own addresses. */
#ifndef SINSP_SYMBOLS_ELF_SYMBOLS_H
#define SINSP_SYMBOLS_ELF_SYMBOLS_H

#include "symtab.h"

struct elf_file; /* elf_file.h */

/*
 * Reads .symtab, .dynsym, .gnu_debugdata, Go's .gopclntab and the calls of the PLT ("memcpy@plt")
 * of @f, and .symtab of @debug, its separate file (NULL: none). Unreadable parts count as missing:
 * the table, owned by the caller, may be empty. Returns 0 or -ENOMEM.
 */
int sinsp_elf_symbols_load(struct symtab **out, const struct elf_file *f,
			   const struct elf_file *debug);

/* Returns whether @f has a table of all its functions, not only of exported ones. */
int sinsp_elf_has_symtab(const struct elf_file *f);

#endif /* SINSP_SYMBOLS_ELF_SYMBOLS_H */
