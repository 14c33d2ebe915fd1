/* SPDX-License-Identifier: Apache-2.0 */
/* The separate file with a file's symbols and debugging information. */
#ifndef SCAP_DEBUG_FILE_H
#define SCAP_DEBUG_FILE_H

#include "elf_file.h"

/*
 * Finds it by build id and by debug link in the folders that gdb knows, under @root
 * ("/proc/PID/root"; NULL: ours); @path is where @f was found. The caller owns *out, and the
 * descriptor that is returned. -ENOENT: there is none that belongs to @f.
 */
int debug_file_open(struct elf_file **out, const struct elf_file *f, const char *root,
		    const char *path);

/*
 * The same in our folders, then in those of the process @pid, if it is above 0, as /proc shows
 * them.
 */
int debug_file_find(struct elf_file **out, const struct elf_file *f, int64_t pid, const char *path);

#endif /* SCAP_DEBUG_FILE_H */
