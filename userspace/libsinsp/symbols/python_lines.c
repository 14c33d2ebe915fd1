/* SPDX-License-Identifier: Apache-2.0 */
#include "python_lines.h"

#define CODE_UNIT 2 /* bytes */
#define ENTRY_FIRST 0x80

/* Kinds of entries; lower ones are short forms, on the same line. */
enum {
	LOCATION_ONE_LINE = 10, /* to 12: the line, or one or two further */
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

/* Reads a signed number, six bits a byte, lowest first; the lowest bit is the sign. */
static int32_t signed_at(const struct python_line_table *t, size_t at)
{
	uint32_t v = 0;

	for (unsigned int shift = 0; at < t->len && shift < 32; shift += 6, at++) {
		v |= (uint32_t)(t->p[at] & 0x3f) << shift;
		if (!(t->p[at] & 0x40))
			break;
	}
	return v & 1 ? -(int32_t)(v >> 1) : (int32_t)(v >> 1);
}

static int32_t line_delta(const struct python_line_table *t, size_t at, unsigned int kind)
{
	if (kind == LOCATION_NO_COLUMNS || kind == LOCATION_LONG)
		return signed_at(t, at + 1);
	if (kind >= LOCATION_ONE_LINE && kind < LOCATION_NO_COLUMNS)
		return (int32_t)kind - LOCATION_ONE_LINE;
	return 0;
}

uint32_t python_line_of_locations(const struct python_line_table *t, uint32_t position)
{
	uint32_t line = t->first_line, end = 0;

	for (size_t at = 0; at < t->len;) {
		const uint8_t head = t->p[at];
		const unsigned int kind = head >> 3 & 15;

		if (!(head & ENTRY_FIRST))
			return 0;
		line += (uint32_t)line_delta(t, at, kind);
		end += ((head & 7u) + 1) * CODE_UNIT;
		if (position < end)
			return kind == LOCATION_NONE ? 0 : line;
		for (at++; at < t->len && !(t->p[at] & ENTRY_FIRST);)
			at++;
	}
	return 0;
}

uint32_t python_line_of_ranges(const struct python_line_table *t, uint32_t position)
{
	uint32_t line = t->first_line, end = 0;

	for (size_t at = 0; at + 2 <= t->len; at += 2) {
		const int8_t delta = (int8_t)t->p[at + 1];

		if (delta != INT8_MIN)
			line += (uint32_t)(int32_t)delta;
		end += t->p[at];
		if (position < end)
			return delta == INT8_MIN ? 0 : line;
	}
	return 0;
}

uint32_t python_line_of_lnotab(const struct python_line_table *t, uint32_t position)
{
	uint32_t line = t->first_line, begin = 0;

	for (size_t at = 0; at + 2 <= t->len; at += 2) {
		begin += t->p[at];
		if (begin > position)
			break;
		line += (uint32_t)(int32_t)(int8_t)t->p[at + 1];
	}
	return line;
}
