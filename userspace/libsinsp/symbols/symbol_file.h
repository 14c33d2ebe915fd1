/* SPDX-License-Identifier: Apache-2.0 */
/* A file that was executed, found again and read: which symbol has which place in it. */
#ifndef SINSP_SYMBOLS_SYMBOL_FILE_H
#define SINSP_SYMBOLS_SYMBOL_FILE_H

#include "objfile/elf_file.h"
#include "scap.h"
#include "state/code_maps.h"
#include "symtab.h"

/* Where it is looked for. */
struct symbol_where {
	const struct scap *src; /* live: it keeps files open; NULL: nobody does */
	int live; /* the processes may still be there: their own view of the file counts first */
	int same_boot; /* the capture is of this machine as it runs now */
	int64_t mono_off; /* then: what CLOCK_MONOTONIC is less than times since the epoch */
	int same_host; /* it is of a machine of this name */
	const char *debug_dirs; /* as of debug_file_find */
};

struct symbol_file;

/* NULL: no memory. */
struct symbol_file *symbol_file_new(const struct sinsp_code_file *code);
void symbol_file_free(struct symbol_file *f);
const char *symbol_file_path(const struct symbol_file *f); /* as the process saw it; borrowed */

/*
 * While the process lives that has it: makes sure that the file can be opened later. A file that
 * only this process can reach (in a container, deleted) is kept open: 1, who calls counts them.
 */
int symbol_file_keep(struct symbol_file *f, const struct symbol_where *where);

/*
 * The symbol at @offset of the file: 1 with *out, *addr being the place in the file's own
 * addresses; SYMBOL_FILE_START: there is no symbol, but it is known where the function begins, and
 * its name is made of that, as symbol_file_start_name; 0: nothing is known of it, *addr is set if
 * that is known (else UINT64_MAX); -ENOMEM. *@bytes of memory more than before are used.
 */
enum { SYMBOL_FILE_START = 2 };
int symbol_file_find(struct symbol_file *f, const struct symbol_where *where, uint64_t offset,
		     uint64_t *addr, struct symtab_sym *out, size_t *bytes);

#define SYMBOL_FILE_START_NAME_MAX 288

/* The name of a function that has none: "FILE+0xADDRESS", which is the same in each run of one
 * build. */
void symbol_file_start_name(char name[SYMBOL_FILE_START_NAME_MAX], const char *path,
			    uint64_t start);

/* Gives back what reading took; it is read again when it is needed. The bytes. */
size_t symbol_file_drop(struct symbol_file *f);

/*
 * A descriptor of what has debugging information: the separate file if there is one, else the file
 * itself. -ENOENT: neither has any, or it cannot be found. The caller owns it.
 */
int symbol_file_open_debug(struct symbol_file *f, const struct symbol_where *where);

#endif /* SINSP_SYMBOLS_SYMBOL_FILE_H */
