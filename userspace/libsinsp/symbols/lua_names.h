/* SPDX-License-Identifier: Apache-2.0 */
/* Names and line tables of Lua's functions, written as Lua itself writes them in a traceback.
 * Formats: lobject.c (luaO_chunkid), ldebug.c (luaG_getfuncline) of PUC Lua. Tables are hostile. */
#ifndef SINSP_SYMBOLS_LUA_NAMES_H
#define SINSP_SYMBOLS_LUA_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define LUA_NAME_EXTRA 48 /* bytes that a name is longer than its source at most */

/* Writes the name of a chunk: the path of "@path", the text of "=text", [string "first line..."] of
 * others, ? for none. Returns the end, after a NUL. @to has @len + LUA_NAME_EXTRA bytes. */
char *lua_put_chunk_name(char *to, const uint8_t *source, size_t len);

/* Writes the name of a function that its caller has no name for. Returns the end, after a NUL. @to
 * has LUA_NAME_EXTRA bytes more than @file. */
char *lua_put_function(char *to, const char *file, uint32_t first_line);

struct lua_line_table {
	const uint8_t *lines, *bases;
	size_t n_lines, n_bases; /* bytes */
	uint32_t first_line;
	uint8_t minor; /* 5.minor */
};

/* Returns the line of instruction @i; 0: unknown. */
uint32_t lua_line(const struct lua_line_table *t, uint32_t i);

#endif /* SINSP_SYMBOLS_LUA_NAMES_H */
