/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of the shell: * any text, ? a byte, [a-z] one of these, [!a-z] none, \ the next as it
 * is. */
#ifndef SINSP_FILTER_GLOB_H
#define SINSP_FILTER_GLOB_H

#include <stddef.h>

/* As fnmatch without flags, or with FNM_CASEFOLD; never takes longer than the product of both
 * lengths. */
int sinsp_glob_match(const char *pattern, size_t pattern_len, const char *p, size_t len, int fold);

#endif /* SINSP_FILTER_GLOB_H */
