/* SPDX-License-Identifier: Apache-2.0 */
/* A program with Lua in it: runs the script that is its first argument, with the others in arg. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	lua_State *L = luaL_newstate();

	luaL_openlibs(L);
	lua_newtable(L);
	for (int i = 2; i < argc; i++) {
		lua_pushstring(L, argv[i]);
		lua_rawseti(L, -2, i - 1);
	}
	lua_setglobal(L, "arg");
	if (luaL_dofile(L, argv[1])) {
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
		return 1;
	}
	lua_close(L);
	return 0;
}
