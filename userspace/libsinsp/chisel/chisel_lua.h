/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in Lua modules: the files in lua/, converted to strings by CMake. */
#ifndef SINSP_CHISEL_CHISEL_LUA_H
#define SINSP_CHISEL_CHISEL_LUA_H

#include "chisel/chisel.h"

extern const struct sinsp_chisel_file chisel_lua_compat;
extern const struct sinsp_chisel_file chisel_lua_modules[]; /* ends with a NULL name */

#endif /* SINSP_CHISEL_CHISEL_LUA_H */
