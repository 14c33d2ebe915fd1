/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line tables of CPython's code objects. Formats: Objects/locations.md (3.11 and later),
 * Objects/lnotab_notes.txt (earlier) in CPython's sources. Tables are hostile; one that is cut or
 * wrong gives no line.
 */
#ifndef SINSP_SYMBOLS_PYTHON_LINES_H
#define SINSP_SYMBOLS_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

struct python_line_table {
	const uint8_t *p;
	size_t len;
	uint32_t first_line;
};

/* Each returns the line of the instruction at @position, in bytes; 0: unknown, or none. */
uint32_t python_line_of_locations(const struct python_line_table *t, uint32_t position); /* 3.11 */
uint32_t python_line_of_ranges(const struct python_line_table *t, uint32_t position); /* 3.10 */
uint32_t python_line_of_lnotab(const struct python_line_table *t, uint32_t position); /* earlier */

#endif /* SINSP_SYMBOLS_PYTHON_LINES_H */
