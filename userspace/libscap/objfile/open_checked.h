/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a file by a path that another process chose, without side effects on anything that is not a
 * regular file: in a helper process (open_in_root.c), since the look-up or a copy may never return.
 */
#ifndef SCAP_OBJFILE_OPEN_CHECKED_H
#define SCAP_OBJFILE_OPEN_CHECKED_H

#include <sys/stat.h>

#define OPEN_COPY_MAX (64ll << 20) /* maximum size of a file that is copied */

/*
 * Opens the regular file @path in @root ("": ours). Returns a descriptor, or a negative errno:
 * -EINVAL, not a regular file; -EFBIG, too large to be copied. A file whose server may block a read
 * or a close is copied to memory; @begin_copy is called before. *@st is always that of the file.
 */
int open_checked(const char *root, const char *path, struct stat *st, void (*begin_copy)(void));

#endif /* SCAP_OBJFILE_OPEN_CHECKED_H */
