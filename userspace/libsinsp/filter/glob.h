/* SPDX-License-Identifier: Apache-2.0 */
/* Shell patterns: * any text, ? any byte, [a-z] one of these, [!a-z] none of these, \ quotes the
 * next byte. */
#ifndef SINSP_FILTER_GLOB_H
#define SINSP_FILTER_GLOB_H

#include <stddef.h>

/* Matches as fnmatch without flags, or with FNM_CASEFOLD; needs at most the product of both
 * lengths. */
int sinsp_glob_match(const char *pattern, size_t pattern_len, const char *p, size_t len, int fold);

#endif /* SINSP_FILTER_GLOB_H */
