/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the separate file with a file's symbols and debug information. */
#ifndef SCAP_OBJFILE_DEBUG_FILE_H
#define SCAP_OBJFILE_DEBUG_FILE_H

#include "objfile/elf_file.h"

/*
 * Finds it by build ID and by debug link in the folders that gdb searches, under @root
 * ("/proc/PID/root"; NULL: ours); @path is where @f was found. Returns a descriptor; the caller
 * owns it and *out. -ENOENT: none belongs to @f.
 */
int debug_file_open(struct elf_file **out, const struct elf_file *f, const char *root,
		    const char *path);

/*
 * The same in @dirs, laid out as /usr/lib/debug, separated by colons (NULL: none), in our folders,
 * in those of process @pid, if above 0, as /proc shows them, and in the cache of the debuginfod
 * client.
 */
int debug_file_find(struct elf_file **out, const struct elf_file *f, int64_t pid, const char *path,
		    const char *dirs);

/* The files with a build ID; one of them may be missing. */
enum debug_kind {
	DEBUG_EXECUTABLE, /* the executable */
	DEBUG_INFO, /* the file with symbols: its segments have no valid places */
};

/* Finds the file with build ID @id, of @len bytes, in @dirs, /usr/lib/debug and that cache. Works
 * as debug_file_open. */
int debug_file_by_id(struct elf_file **out, enum debug_kind kind, const uint8_t *id, int len,
		     const char *dirs);

#endif /* SCAP_OBJFILE_DEBUG_FILE_H */
