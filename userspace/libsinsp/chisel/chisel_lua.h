/* SPDX-License-Identifier: Apache-2.0 */
/* Lua code that is part of the program: the files in lua/, made into text by CMake. */
#ifndef SINSP_CHISEL_CHISEL_LUA_H
#define SINSP_CHISEL_CHISEL_LUA_H

#include <stddef.h>

struct chisel_lua {
	const char *name;
	const char *text;
	size_t len;
};

extern const struct chisel_lua chisel_lua_compat;
extern const struct chisel_lua chisel_lua_modules[]; /* ends with a NULL name */

#endif /* SINSP_CHISEL_CHISEL_LUA_H */
