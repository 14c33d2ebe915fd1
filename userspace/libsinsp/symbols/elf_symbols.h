/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the functions of an ELF file, by the addresses that it has in the file's own terms. */
#ifndef SINSP_SYMBOLS_ELF_SYMBOLS_H
#define SINSP_SYMBOLS_ELF_SYMBOLS_H

#include "symtab.h"

struct elf_file; /* elf_file.h */

/*
 * From .symtab, .dynsym, .gnu_debugdata, Go's .gopclntab and the calls of the PLT ("memcpy@plt") of
 * @f, and from .symtab of @debug, its separate file (NULL: it has none). What cannot be read is as
 * if it were not there: the table, which the caller owns, may be empty. 0 or -ENOMEM.
 */
int sinsp_elf_symbols_load(struct symtab **out, const struct elf_file *f,
			   const struct elf_file *debug);

/* Whether @f has a table of all its functions, not only of those that it exports. */
int sinsp_elf_has_symtab(const struct elf_file *f);

#endif /* SINSP_SYMBOLS_ELF_SYMBOLS_H */
