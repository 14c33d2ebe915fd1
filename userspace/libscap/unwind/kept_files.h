/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of files with code that only the processes which have them mapped can reach, in
 * containers and other mount namespaces, or by no name any more: so that their frames have names
 * when these processes have ended. The first ones are kept, up to a number.
 */
#ifndef SCAP_UNWIND_KEPT_FILES_H
#define SCAP_UNWIND_KEPT_FILES_H

#include <stdint.h>
#include <sys/stat.h>

struct kept_files; /* of any thread */

/* NULL: no memory. */
struct kept_files *kept_files_new(void);
void kept_files_free(struct kept_files *k);

/* Keeps a descriptor of what @fd is open on, the file that is @st, of this device and inode as
 * mappings tell them, unless we find it by @path ourselves. NULL: it does not. */
void kept_files_add(struct kept_files *k, int fd, const struct stat *st, uint32_t dev, uint64_t ino,
		    const char *path);

/* A descriptor that the caller owns; -ENOENT. */
int kept_files_open(struct kept_files *k, uint32_t dev, uint64_t ino);

#endif /* SCAP_UNWIND_KEPT_FILES_H */
