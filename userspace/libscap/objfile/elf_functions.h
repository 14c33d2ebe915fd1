/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the functions of an ELF file begin and end, also of a stripped one: by .eh_frame_hdr, the
 * table by which exceptions find them. The table is hostile: what it says of an address is used
 * only if the entry that it leads to covers that address.
 */
#ifndef SCAP_OBJFILE_ELF_FUNCTIONS_H
#define SCAP_OBJFILE_ELF_FUNCTIONS_H

#include "objfile/elf_file.h"

struct elf_functions;

/* Borrows @f until elf_functions_close. 0, -ENOENT: the file has no such table, or -ENOMEM. */
int elf_functions_open(struct elf_functions **out, const struct elf_file *f);
void elf_functions_close(struct elf_functions *t);

/* The function at @addr, an address of the file: 1 with where it begins and its size, or 0. */
int elf_functions_find(const struct elf_functions *t, uint64_t addr, uint64_t *start,
		       uint64_t *size);

size_t elf_functions_bytes(const struct elf_functions *t); /* of memory */

#endif /* SCAP_OBJFILE_ELF_FUNCTIONS_H */
