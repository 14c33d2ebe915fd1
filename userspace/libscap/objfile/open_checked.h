/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a file by a path that somebody else chose, without doing anything to what is no file: for a
 * process of its own (open_helper.h), since the look-up, and a copy, may never return.
 */
#ifndef SCAP_OBJFILE_OPEN_CHECKED_H
#define SCAP_OBJFILE_OPEN_CHECKED_H

#include <sys/stat.h>

#define OPEN_COPY_MAX (64ll << 20) /* bytes of a file that is copied */

/*
 * A descriptor of the regular file @path in @root ("": ours), or a negative errno: -EINVAL, it is
 * none; -EFBIG, it would have to be copied, and is too large. A file whose server may let a read or
 * a close wait comes as a copy in memory; @begin_copy is called before one is made. *@st is that
 * of the file in any case.
 */
int open_checked(const char *root, const char *path, struct stat *st, void (*begin_copy)(void));

#endif /* SCAP_OBJFILE_OPEN_CHECKED_H */
