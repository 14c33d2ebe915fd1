/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's pclntab, the table that every Go program has, stripped or not, for its own tracebacks:
 * functions, their names, and the depth of the stack at each instruction. Versions 1.2, 1.16, 1.18
 * and 1.20 of the format; no newer one exists.
 */
#ifndef SCAP_OBJFILE_GO_PCLNTAB_H
#define SCAP_OBJFILE_GO_PCLNTAB_H

#include "objfile/elf_file.h"

struct go_pclntab;

/* Returns -ENOENT if the file has none. */
int go_pclntab_open(struct go_pclntab **out, const struct elf_file *f);
void go_pclntab_close(struct go_pclntab *t);

size_t go_pclntab_n(const struct go_pclntab *t);

/* Addresses in the file; the name is borrowed, "" if missing. */
struct go_func {
	uint64_t start, end;
	const char *name;
	size_t pcsp; /* for go_pcsp_first */
};

/* Returns the @i-th function by address. -EBADMSG: the table is damaged there. */
int go_pclntab_func(const struct go_pclntab *t, struct go_func *out, size_t i);

/* Iterates over a function: the bytes of stack in use, from one address to another. */
struct go_pcsp {
	uint64_t from, to; /* of the function, clipped to it */
	int64_t taken;
	const struct go_pclntab *table;
	size_t at;
	uint64_t end;
};

void go_pcsp_first(struct go_pcsp *p, const struct go_pclntab *t, const struct go_func *f);
/* Returns 1, or 0 at the end. */
int go_pcsp_next(struct go_pcsp *p);

#endif /* SCAP_OBJFILE_GO_PCLNTAB_H */
