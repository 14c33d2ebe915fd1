/* SPDX-License-Identifier: Apache-2.0 */
/* Lua code that is part of the program: the files in lua/, made into text by CMake. */
#ifndef SINSP_CHISEL_CHISEL_LUA_H
#define SINSP_CHISEL_CHISEL_LUA_H

#include "chisel/chisel.h"

extern const struct sinsp_chisel_file chisel_lua_compat;
extern const struct sinsp_chisel_file chisel_lua_modules[]; /* ends with a NULL name */

#endif /* SINSP_CHISEL_CHISEL_LUA_H */
