/* SPDX-License-Identifier: Apache-2.0 */
/* Files by paths that others chose: as a process sees them, or as it named them. */
#ifndef SCAP_OBJFILE_OPEN_IN_ROOT_H
#define SCAP_OBJFILE_OPEN_IN_ROOT_H

#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens the regular file @path for reading as one whose root is @root ("/proc/PID/root"; NULL:
 * ours) would: no link leads out of there. A descriptor, or a negative errno: -EINVAL, it is no
 * file, or one of the kernel's (/proc); -ETIMEDOUT, the file system does not answer; -EFBIG, it is
 * served by another machine, or by a process, and too large to be copied.
 *
 * A file that is served comes as a copy in memory, so that nothing done with the descriptor waits
 * for the server; *@st (NULL: not wanted) is that of the file itself.
 */
int open_in_root(const char *root, const char *path, struct stat *st);

/* Of the whole process. */
struct scap_open_stats {
	uint64_t n_late; /* files whose file system did not answer in time */
	uint64_t n_refused; /* files that were not looked for any more, for that reason */
	uint64_t n_hung; /* processes that hang in a look-up now */
};
void scap_open_stats(struct scap_open_stats *st);

#endif /* SCAP_OBJFILE_OPEN_IN_ROOT_H */
