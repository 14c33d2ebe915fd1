/* SPDX-License-Identifier: Apache-2.0 */
/* The separate file with a file's symbols and debugging information. */
#ifndef SCAP_OBJFILE_DEBUG_FILE_H
#define SCAP_OBJFILE_DEBUG_FILE_H

#include "objfile/elf_file.h"

/*
 * Finds it by build id and by debug link in the folders that gdb knows, under @root
 * ("/proc/PID/root"; NULL: ours); @path is where @f was found. The caller owns *out, and the
 * descriptor that is returned. -ENOENT: there is none that belongs to @f.
 */
int debug_file_open(struct elf_file **out, const struct elf_file *f, const char *root,
		    const char *path);

/*
 * The same in @dirs, which are as /usr/lib/debug with colons between (NULL: none), in our folders,
 * in those of the process @pid, if it is above 0, as /proc shows them, and in the cache that
 * debuginfod's client fills.
 */
int debug_file_find(struct elf_file **out, const struct elf_file *f, int64_t pid, const char *path,
		    const char *dirs);

/* The files of a build id, of which there need not be both. */
enum debug_kind {
	DEBUG_EXECUTABLE, /* what runs */
	DEBUG_INFO, /* the file with its symbols: the places of its segments are not told */
};

/* The file of build id @id, of @len bytes, in @dirs, /usr/lib/debug and that cache. As
 * debug_file_open. */
int debug_file_by_id(struct elf_file **out, enum debug_kind kind, const uint8_t *id, int len,
		     const char *dirs);

#endif /* SCAP_OBJFILE_DEBUG_FILE_H */
