/* SPDX-License-Identifier: Apache-2.0 */
#include "lua_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WITH_DELTAS 4 /* since 5.4 a table has differences of lines */
#define BASE_HERE INT8_MIN /* the line of this instruction is in the bases */

struct base {
	int32_t insn, line;
};

char *lua_put_chunk_name(char *to, const uint8_t *source, size_t len)
{
	static const char begin[] = "[string \"", end[] = "\"]", cut[] = "...";
	const uint8_t *newline = len ? memchr(source, '\n', len) : NULL;
	const size_t shown = newline ? (size_t)(newline - source) : len;

	if (!len) {
		*to++ = '?'; /* stripped */
	} else if (*source == '@' || *source == '=') {
		memcpy(to, source + 1, len - 1);
		to += len - 1;
	} else {
		to = mempcpy(to, begin, sizeof(begin) - 1);
		to = mempcpy(to, source, shown);
		to = mempcpy(to, cut, newline ? sizeof(cut) - 1 : 0);
		to = mempcpy(to, end, sizeof(end) - 1);
	}
	*to++ = '\0';
	return to;
}

char *lua_put_function(char *to, const char *file, uint32_t first_line)
{
	const size_t room = strlen(file) + LUA_NAME_EXTRA;
	const int n = first_line ? snprintf(to, room, "function <%s:%" PRIu32 ">", file, first_line)
				 : snprintf(to, room, "main chunk");

	return to + n + 1;
}

/* Of Lua 5.3: a line for each instruction. */
static uint32_t absolute_line(const struct lua_line_table *t, uint32_t i)
{
	uint32_t line;

	if (i >= t->n_lines / sizeof(line))
		return 0;
	memcpy(&line, t->lines + (size_t)i * sizeof(line), sizeof(line));
	return line;
}

/* Returns the last base at or before instruction @i; that of the function: none. */
static struct base base_of(const struct lua_line_table *t, uint32_t i)
{
	struct base b = {-1, (int32_t)t->first_line}, next;

	for (size_t at = 0; at + sizeof(b) <= t->n_bases; at += sizeof(b)) {
		memcpy(&next, t->bases + at, sizeof(next));
		if (next.insn <= b.insn || (uint32_t)next.insn > i)
			break;
		b = next;
	}
	return b;
}

uint32_t lua_line(const struct lua_line_table *t, uint32_t i)
{
	struct base b;
	uint32_t line;

	if (t->minor < WITH_DELTAS)
		return absolute_line(t, i);
	if (i >= t->n_lines)
		return 0;
	b = base_of(t, i);
	line = (uint32_t)b.line;
	for (uint32_t at = (uint32_t)(b.insn + 1); at <= i; at++) {
		const int8_t delta = (int8_t)t->lines[at];

		if (delta == BASE_HERE)
			return 0; /* the bases are cut */
		line += (uint32_t)(int32_t)delta;
	}
	return line;
}
