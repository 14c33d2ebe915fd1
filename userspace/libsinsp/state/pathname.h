/* SPDX-License-Identifier: Apache-2.0 */
/* Joins and normalizes paths as text, without access to a file system. */
#ifndef SINSP_STATE_PATHNAME_H
#define SINSP_STATE_PATHNAME_H

#include <stddef.h>

#define SINSP_PATH_SZ 8448 /* PATH_MAX for the directory and the path, with room between */

enum sinsp_path_rules {
	SINSP_PATH_STRICT, /* "." and ".." are whole components */
	/* sysdig 0.29.3: together at most 1023 bytes, else "/PATH_TOO_LONG"; any dot before a
	 * slash or the end counts as a component ("a./b" is "ab") */
	SINSP_PATH_SYSDIG,
};

struct sinsp;
/* Returns the rules for names of this source. */
enum sinsp_path_rules sinsp_path_rules_of(const struct sinsp *s);

/*
 * Joins @path to the directory @dir, which is not used if @path is absolute or empty. Writes at
 * most SINSP_PATH_SZ bytes, with the NUL, and returns the length. Bytes that do not print become
 * dots.
 */
size_t sinsp_path_join(char *out, enum sinsp_path_rules rules, const char *dir, size_t dir_len,
		       const char *path, size_t path_len);

/*
 * Joins as the kernel resolves a path under a root directory, with the strict rules: absolute paths
 * begin at @root, and ".." ends there. @dir begins at the real root; if it is outside of @root
 * (chroot without chdir) it is used unchanged.
 */
size_t sinsp_path_join_in(char *out, const char *root, const char *dir, size_t dir_len,
			  const char *path, size_t path_len);

#endif /* SINSP_STATE_PATHNAME_H */
