/* SPDX-License-Identifier: Apache-2.0 */
/* An executed file that is found again and read: finds symbols by file offset. */
#ifndef SINSP_SYMBOLS_SYMBOL_FILE_H
#define SINSP_SYMBOLS_SYMBOL_FILE_H

#include "objfile/elf_file.h"
#include "scap.h"
#include "state/code_maps.h"
#include "symtab.h"

/* Where files are searched. */
struct symbol_where {
	const struct scap *src; /* live: it keeps files open; NULL: none */
	int live; /* processes may still exist: their own view of the file comes first */
	int same_boot; /* the capture is of this machine since its last boot */
	int64_t mono_off; /* then: the epoch minus CLOCK_MONOTONIC */
	int same_host; /* the capture is of a machine with this name */
	const char *debug_dirs; /* as in debug_file_find */
};

struct symbol_file;

/* NULL: no memory. */
struct symbol_file *symbol_file_new(const struct sinsp_code_file *code);
void symbol_file_free(struct symbol_file *f);
const char *symbol_file_path(const struct symbol_file *f); /* as the process sees it; borrowed */

/*
 * While its process exists: makes sure that the file can be opened later. A file that only this
 * process can reach (in a container, deleted) is kept open: returns 1, and the caller counts them.
 */
int symbol_file_keep(struct symbol_file *f, const struct symbol_where *where);

/*
 * Finds the symbol at @offset of the file. Returns 1 with *out, and in *addr the file's own
 * address; SYMBOL_FILE_START: no symbol, but the start of the function is known, for
 * symbol_file_start_name; 0: nothing is known, *addr is set if known (else UINT64_MAX); -ENOMEM.
 * *@bytes: memory used in addition.
 */
enum { SYMBOL_FILE_START = 2 };
int symbol_file_find(struct symbol_file *f, const struct symbol_where *where, uint64_t offset,
		     uint64_t *addr, struct symtab_sym *out, size_t *bytes);

/* Returns whether the symbols in memory are cut at a limit. */
int symbol_file_is_cut(const struct symbol_file *f);

#define SYMBOL_FILE_START_NAME_MAX 288

/* Returns the name of a function without a symbol: "FILE+0xADDRESS", the same in each run of one
 * build. */
void symbol_file_start_name(char name[SYMBOL_FILE_START_NAME_MAX], const char *path,
			    uint64_t start);

/* Frees what was read; it is read again when needed. Returns the bytes. */
size_t symbol_file_drop(struct symbol_file *f);

/* Returns a descriptor of the file with debug information: the separate file if there is one, else
 * the file itself. -ENOENT: there is none, or it is not found. The caller owns it. */
int symbol_file_open_debug(struct symbol_file *f, const struct symbol_where *where);

#endif /* SINSP_SYMBOLS_SYMBOL_FILE_H */
