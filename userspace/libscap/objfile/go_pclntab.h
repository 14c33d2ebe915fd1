/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table that every Go program carries, stripped or not, for its own tracebacks: its functions,
 * their names, and how far the stack is down at each of their instructions. Versions 1.2, 1.16,
 * 1.18 and 1.20 of the format, which no later one has replaced.
 */
#ifndef SCAP_OBJFILE_GO_PCLNTAB_H
#define SCAP_OBJFILE_GO_PCLNTAB_H

#include "objfile/elf_file.h"

struct go_pclntab;

/* -ENOENT: the file has none. */
int go_pclntab_open(struct go_pclntab **out, const struct elf_file *f);
void go_pclntab_close(struct go_pclntab *t);

size_t go_pclntab_n(const struct go_pclntab *t);

/* Addresses of the file; the name is borrowed, "" if it is nowhere. */
struct go_func {
	uint64_t start, end;
	const char *name;
	size_t pcsp; /* for go_pcsp_first */
};

/* The @i-th function by address. -EBADMSG: the table is damaged there. */
int go_pclntab_func(const struct go_pclntab *t, struct go_func *out, size_t i);

/* Walks over a function: how many bytes of stack it has taken, from one address to another. */
struct go_pcsp {
	uint64_t from, to; /* of the function, clipped to it */
	int64_t taken;
	const struct go_pclntab *table;
	size_t at;
	uint64_t end;
};

void go_pcsp_first(struct go_pcsp *p, const struct go_pclntab *t, const struct go_func *f);
/* 1, or 0 at the end. */
int go_pcsp_next(struct go_pcsp *p);

#endif /* SCAP_OBJFILE_GO_PCLNTAB_H */
