/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files that saker writes, often as root. */
#ifndef SCAP_FILE_OPEN_OUTPUT_H
#define SCAP_FILE_OPEN_OUTPUT_H

#include <limits.h>
#include <sys/types.h>

struct stat;

/*
 * Opens @path to be written; creates it with @mode if there is none. @flags: O_TRUNC, or 0. Links
 * of root or of the effective user are followed. One of another user is not: in a directory that
 * others may write to it could lead anywhere, and a file or pipe of another user there could have
 * been put there to read what saker writes. Returns a descriptor, or a negative errno; -EACCES also
 * for such a link or file.
 */
int scap_open_output(const char *path, int flags, mode_t mode);
/* Returns the text of an error of scap_open_output; for -EACCES also what is another user's. */
const char *scap_open_output_error(const char *path, int err);
/*
 * Sets @end to the path to which @path leads by links of root and of the effective user, to be
 * opened with O_NOFOLLOW. Returns 0 with the state of the file in @st, st_nlink 0 if there is none;
 * 1: @end is a link in /proc, which only an open follows; or a negative errno, -EACCES for a link
 * of another user.
 */
int scap_follow_links(char end[PATH_MAX], struct stat *st, const char *path);
/* Returns whether the owner is neither root nor the effective user. */
int scap_is_of_other(const struct stat *st);

#endif /* SCAP_FILE_OPEN_OUTPUT_H */
