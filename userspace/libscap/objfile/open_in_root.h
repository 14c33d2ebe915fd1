/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files by paths that others chose: as a process sees them, or as it named them. */
#ifndef SCAP_OBJFILE_OPEN_IN_ROOT_H
#define SCAP_OBJFILE_OPEN_IN_ROOT_H

#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens the regular file @path for reading with @root as root ("/proc/PID/root"; NULL: ours): no
 * link leads out of there. Returns a descriptor, or a negative errno: -EINVAL, not a regular file,
 * or one of the kernel's (/proc); -ETIMEDOUT, the file system does not answer; -EFBIG, served by
 * another machine or by a process, and too large to be copied.
 *
 * A served file is copied to memory, so that no use of the descriptor waits for the server; *@st
 * (may be NULL) is that of the file itself.
 */
int open_in_root(const char *root, const char *path, struct stat *st);
/* The same for the file with inode @ino (0: any); -ESTALE: @path is another one by now. */
int open_same_in_root(const char *root, const char *path, uint64_t ino, struct stat *st);
/* Opens the file that process @pid has mapped from @start to @end, whatever happened to its name:
 * through the mapping itself, else by @path in the root of the process, with inode @ino. */
int open_mapped(uint32_t pid, uint64_t start, uint64_t end, const char *path, uint64_t ino,
		struct stat *st);

/* Counters of the whole process. */
struct scap_open_stats {
	uint64_t n_late; /* files whose file system did not answer in time */
	uint64_t n_refused; /* files that were therefore skipped */
	uint64_t n_hung; /* helpers that hang in a look-up now */
};
void scap_open_stats(struct scap_open_stats *st);

#endif /* SCAP_OBJFILE_OPEN_IN_ROOT_H */
