/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names by address: filled once, sealed, then only searched. What overlaps is settled when it is
 * sealed, so a search is one of halves over pieces that do not overlap. The names of large files,
 * most of what a table would be, stay in the file, and are read when they are found. Addresses and
 * names are hostile; how much a table holds is bounded.
 */
#ifndef SINSP_SYMBOLS_SYMTAB_H
#define SINSP_SYMBOLS_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

#define SYMTAB_MAX_SYMBOLS (8u << 20)
#define SYMTAB_MAX_NAME_BYTES (512u << 20)
#define SYMTAB_MAX_WORK (256ull << 20) /* bytes of tables that are read for one */
#define SYMTAB_MAX_NAME 4096 /* longer names are cut */

struct symtab;
struct elf_file; /* elf_file.h */

/* Which of two that cover an address names it. */
enum symtab_order {
	SYMTAB_INNERMOST, /* the one that begins last: functions of a file */
	SYMTAB_LATEST, /* the one that was added last: code that is made while the program runs */
};

struct symtab_sym {
	const char *name; /* borrowed from the table, until the next search */
	uint64_t addr, size;
};

struct symtab *symtab_new(enum symtab_order order); /* NULL: no memory */
void symtab_free(struct symtab *t);

/*
 * Of several at one address the highest @rank counts, then the one with fewer underscores in front.
 * @size 0: it reaches to the next symbol, and counts only where nothing with a size does. 0 or
 * -ENOMEM; beyond the bounds -EFBIG, and what was added stays.
 */
int symtab_add(struct symtab *t, uint64_t addr, uint64_t size, const char *name, size_t len,
	       unsigned int rank);
/*
 * The same of names in a part of an ELF file, which the table keeps open: the number of the part,
 * above 0, or -ENOSPC; then a symbol whose name begins @at bytes into it. How long the name is, by
 * symtab_name_len, is found when the table is sealed; without one the symbol is dropped.
 */
int symtab_add_source(struct symtab *t, const struct elf_file *f, uint64_t offset, uint32_t sz);
int symtab_add_at(struct symtab *t, uint64_t addr, uint64_t size, int source, uint32_t at,
		  unsigned int rank);
/* Of a name of .strtab: "memcpy@@GLIBC_2.14" is memcpy. 0: labels of the compiler are no names. */
size_t symtab_name_len(const char *name);
/* Of what a file makes somebody read there is a bound: 0, or -EFBIG for ever. */
int symtab_pay(struct symtab *t, uint64_t bytes);
uint64_t symtab_paid(const struct symtab *t); /* SYMTAB_MAX_WORK: it was too much */
/* What has no size ends here at the latest. */
int symtab_add_bound(struct symtab *t, uint64_t addr);

/*
 * 0 or -ENOMEM. To a table of SYMTAB_LATEST more can be added then, but for bounds and what has no
 * size, to be sealed anew.
 */
int symtab_seal(struct symtab *t);

/* 1 with the symbol that covers @addr, or 0. */
int symtab_find(const struct symtab *t, uint64_t addr, struct symtab_sym *out);

size_t symtab_count(const struct symtab *t); /* of symbols that can be found */
size_t symtab_bytes(const struct symtab *t); /* of memory */

#endif /* SINSP_SYMBOLS_SYMTAB_H */
