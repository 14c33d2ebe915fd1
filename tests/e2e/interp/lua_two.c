/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with a Lua in it that loads a second one, of another version: a function of the first
 * calls one of the second through C. Arguments: the library, and two scripts.
 */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

static struct {
	void *state;
	int (*load)(void *state, const char *path, const char *mode);
	int (*call)(void *state, int args, int results, int handler, long context, void *next);
} second;

static int call_second(lua_State *L)
{
	(void)L;
	if (second.load(second.state, lua_tostring(L, 1), NULL) ||
	    second.call(second.state, 0, 0, 0, 0, NULL))
		return luaL_error(L, "the second Lua failed");
	return 0;
}

int main(int argc, char **argv)
{
	void *lib = argc == 4 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) : NULL;
	lua_State *L = luaL_newstate();
	void *(*begin)(void);
	void (*open_libs)(void *state);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&begin = dlsym(lib, "luaL_newstate");
	*(void **)&open_libs = dlsym(lib, "luaL_openlibs");
	*(void **)&second.load = dlsym(lib, "luaL_loadfilex");
	*(void **)&second.call = dlsym(lib, "lua_pcallk");
	second.state = begin();
	open_libs(second.state);
	luaL_openlibs(L);
	lua_register(L, "call_second", call_second);
	lua_pushstring(L, argv[3]);
	lua_setglobal(L, "script");
	if (luaL_dofile(L, argv[2])) {
		fprintf(stderr, "%s\n", lua_tostring(L, -1));
		return 1;
	}
	lua_close(L);
	return 0;
}
