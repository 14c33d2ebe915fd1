/* SPDX-License-Identifier: Apache-2.0 */
/* Columns that text takes on a terminal: wcwidth of its characters. */
#ifndef SINSP_FIELDS_TEXT_COLUMNS_H
#define SINSP_FIELDS_TEXT_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

/* Returns the length of the longest prefix of the @n bytes at @s that fits in @width columns, and
 * its columns in *columns. A byte that is not UTF-8 has one column. */
size_t text_fit(const char *s, size_t n, uint32_t width, uint32_t *columns);

#endif /* SINSP_FIELDS_TEXT_COLUMNS_H */
