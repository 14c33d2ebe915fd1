/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A symbol table: names by address; filled once, sealed, then searched. Sealing resolves overlaps,
 * so a search is a bisection over pieces that do not overlap. Names of large files, most of a
 * table's memory, stay in the file and are read on a match. Addresses and names are hostile; the
 * size of a table is bounded.
 */
#ifndef SINSP_SYMBOLS_SYMTAB_H
#define SINSP_SYMBOLS_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

#define SYMTAB_MAX_SYMBOLS (8u << 20)
#define SYMTAB_MAX_NAME_BYTES (512u << 20)
#define SYMTAB_MAX_WORK (256ull << 20) /* maximum bytes read for one table */
#define SYMTAB_MAX_NAME 4096 /* maximum length: longer names are truncated */

struct symtab;
struct elf_file; /* elf_file.h */

/* Which of two overlapping symbols names an address. */
enum symtab_order {
	SYMTAB_INNERMOST, /* the one that begins last: functions of a file */
	SYMTAB_LATEST, /* the one that was added last: JIT code */
};

struct symtab_sym {
	const char *name; /* borrowed from the table, until the next search */
	uint64_t addr, size;
};

struct symtab *symtab_new(enum symtab_order order); /* NULL: no memory */
void symtab_free(struct symtab *t);

/*
 * Adds a symbol. Of several at one address the highest @rank wins, then the one with fewer leading
 * underscores. @size 0: it reaches to the next symbol, and counts only where no symbol with a size
 * does. Returns 0 or -ENOMEM; beyond the bounds -EFBIG, with earlier symbols kept.
 */
int symtab_add(struct symtab *t, uint64_t addr, uint64_t size, const char *name, size_t len,
	       unsigned int rank);
/*
 * Registers a part of an ELF file with names, which the table keeps open: returns its number, above
 * 0, or -ENOSPC. Then adds a symbol whose name begins @at bytes into it. Sealing finds the length
 * of the name by symtab_name_len; a symbol without a name is dropped.
 */
int symtab_add_source(struct symtab *t, const struct elf_file *f, uint64_t offset, uint32_t sz);
int symtab_add_at(struct symtab *t, uint64_t addr, uint64_t size, int source, uint32_t at,
		  unsigned int rank);
/* Returns the length of a name in .strtab: that of memcpy for "memcpy@@GLIBC_2.14". 0: a compiler's
 * label. */
size_t symtab_name_len(const char *name);
/* Counts work against the limit for a file: returns 0, or -EFBIG from then on. */
int symtab_pay(struct symtab *t, uint64_t bytes);
uint64_t symtab_paid(const struct symtab *t); /* of SYMTAB_MAX_WORK: the limit was exceeded */
int symtab_is_cut(const struct symtab *t); /* whether a bound left out symbols */
/* A symbol without a size ends here at the latest. */
int symtab_add_bound(struct symtab *t, uint64_t addr);

/* Seals the table. Returns 0 or -ENOMEM. A table of SYMTAB_LATEST can then be extended by more
 * symbols with a size, and sealed again. */
int symtab_seal(struct symtab *t);

/* Returns 1 with the symbol that covers @addr, or 0. */
int symtab_find(const struct symtab *t, uint64_t addr, struct symtab_sym *out);

size_t symtab_count(const struct symtab *t); /* number of symbols that can be found */
size_t symtab_bytes(const struct symtab *t); /* bytes of memory */

#endif /* SINSP_SYMBOLS_SYMTAB_H */
