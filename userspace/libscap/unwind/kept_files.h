/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps descriptors of code files that only the processes that mapped them can reach, in containers
 * and other mount namespaces, or deleted ones: so that their frames have names after these
 * processes have ended. Keeps the first ones, up to a maximum.
 */
#ifndef SCAP_UNWIND_KEPT_FILES_H
#define SCAP_UNWIND_KEPT_FILES_H

#include <stdint.h>
#include <sys/stat.h>

struct kept_files; /* from any thread */

/* NULL: no memory. */
struct kept_files *kept_files_new(void);
void kept_files_free(struct kept_files *k);

/* Keeps a descriptor of the file open on @fd, with status @st and the device and inode of its
 * mappings, unless we can open it by @path ourselves. NULL @k: does nothing. */
void kept_files_add(struct kept_files *k, int fd, const struct stat *st, uint32_t dev, uint64_t ino,
		    const char *path);

/* Returns a descriptor owned by the caller; -ENOENT. */
int kept_files_open(struct kept_files *k, uint32_t dev, uint64_t ino);

#endif /* SCAP_UNWIND_KEPT_FILES_H */
