/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where the functions of an ELF file begin and end, also of a stripped one: by .eh_frame_hdr,
 * the table that exceptions use. The table is hostile: an address in it is used only if its FDE
 * covers that address.
 */
#ifndef SCAP_OBJFILE_ELF_FUNCTIONS_H
#define SCAP_OBJFILE_ELF_FUNCTIONS_H

#include "objfile/elf_file.h"

struct elf_functions;

/*
 * Borrows @f until elf_functions_close. Returns 0, -ENOENT: the file has no such table, or -ENOMEM.
 */
int elf_functions_open(struct elf_functions **out, const struct elf_file *f);
void elf_functions_close(struct elf_functions *t);

/* Finds the function at @addr, an address of the file. Returns 1 with its start and size, or 0. */
int elf_functions_find(const struct elf_functions *t, uint64_t addr, uint64_t *start,
		       uint64_t *size);

/* Rows of the table, by address. elf_functions_at: @i below the count; returns 0 if its FDE does
 * not match. */
size_t elf_functions_count(const struct elf_functions *t);
int elf_functions_at(const struct elf_functions *t, size_t i, uint64_t *start, uint64_t *size);

size_t elf_functions_bytes(const struct elf_functions *t); /* bytes of memory */

#endif /* SCAP_OBJFILE_ELF_FUNCTIONS_H */
