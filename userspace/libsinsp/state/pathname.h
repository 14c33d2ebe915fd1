/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text: joined and cleaned without looking at any file system. */
#ifndef SINSP_STATE_PATHNAME_H
#define SINSP_STATE_PATHNAME_H

#include <stddef.h>

#define SINSP_PATH_SZ 8448 /* a directory and a path of Linux, with what is between them */

enum sinsp_path_rules {
	SINSP_PATH_STRICT, /* "." and ".." are whole components */
	/* sysdig 0.29.3: together at most 1023 bytes, else "/PATH_TOO_LONG"; any dot before a
	 * slash or the end is taken for a component ("a./b" is "ab") */
	SINSP_PATH_SYSDIG,
};

struct sinsp;
/* Those by which the names of this source's files are made. */
enum sinsp_path_rules sinsp_path_rules_of(const struct sinsp *s);

/*
 * Joins @path to the directory @dir, which is not looked at when @path is absolute or has
 * no bytes at all. Writes at most SINSP_PATH_SZ bytes to @out, its NUL included, and returns the
 * length. What does not print becomes a dot.
 */
size_t sinsp_path_join(char *out, enum sinsp_path_rules rules, const char *dir, size_t dir_len,
		       const char *path, size_t path_len);

/*
 * The same as the kernel looks a path up under a root directory, by the strict rules: @root is
 * where absolute paths begin, and ".." ends there. @dir is a path from the real root; outside of
 * @root (after chroot without chdir) it is taken as it is.
 */
size_t sinsp_path_join_in(char *out, const char *root, const char *dir, size_t dir_len,
			  const char *path, size_t path_len);

#endif /* SINSP_STATE_PATHNAME_H */
