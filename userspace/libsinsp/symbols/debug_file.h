/* SPDX-License-Identifier: Apache-2.0 */
/* The separate file with a file's symbols and debugging information. */
#ifndef SINSP_SYMBOLS_DEBUG_FILE_H
#define SINSP_SYMBOLS_DEBUG_FILE_H

#include "elf_file.h"

/*
 * Finds it by build id and by debug link in the folders that gdb knows, under @root
 * ("/proc/PID/root"; NULL: ours); @path is where @f was found. The caller owns *out, and the
 * descriptor that is returned. -ENOENT: there is none that belongs to @f.
 */
int sinsp_debug_file_open(struct elf_file **out, const struct elf_file *f, const char *root,
			  const char *path);

#endif /* SINSP_SYMBOLS_DEBUG_FILE_H */
