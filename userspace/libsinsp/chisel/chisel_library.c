/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lua's standard library in a chisel: as chisels for Lua 5.1 expect it, without functions that
 * reach outside of the state unless the run is unsafe. Bytecode is refused, since it can read any
 * memory; finalizers are refused, since Lua counts no instructions in them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chisel_host.h"
#include "chisel_lua.h"
#include "fields/text.h"

static void wrap_library(lua_State *L, const char *table, const char *name, lua_CFunction fn)
{
	lua_getglobal(L, table);
	lua_getfield(L, -1, name);
	lua_pushcclosure(L, fn, 1);
	lua_setfield(L, -2, name);
	lua_pop(L, 1);
}

/* ---- numbers as text, as in Lua 5.1 ---- */

/* Prints a float with an integral value without ".0". */
static int to_string(lua_State *L)
{
	luaL_checkany(L, 1);
	if (lua_type(L, 1) == LUA_TNUMBER && !lua_isinteger(L, 1)) {
		char text[64];

		snprintf(text, sizeof(text), LUA_NUMBER_FMT, lua_tonumber(L, 1));
		lua_pushstring(L, text);
	} else {
		luaL_tolstring(L, 1, NULL);
	}
	return 1;
}

static void put_all(lua_State *L, const char *sep, int texts_only)
{
	FILE *out = chisel_of(L)->run->out;
	const int n = lua_gettop(L);

	for (int i = 1; i <= n; i++) {
		const char *s;
		size_t len;

		if (texts_only)
			luaL_argcheck(L, lua_isstring(L, i), i, "text or a number is needed");
		if (lua_type(L, i) != LUA_TSTRING) {
			lua_pushcfunction(L, to_string);
			lua_pushvalue(L, i);
			lua_call(L, 1, 1);
			lua_replace(L, i);
		}
		s = lua_tolstring(L, i, &len);
		if (i > 1)
			fputs_unlocked(sep, out);
		chisel_terminal_put(&chisel_of(L)->terminal, out, s, len);
	}
}

static int print(lua_State *L)
{
	put_all(L, "\t", 0);
	putc_unlocked('\n', chisel_of(L)->run->out);
	return 0;
}

static int write_out(lua_State *L)
{
	put_all(L, "", 1);
	return 0;
}

static int flush_out(lua_State *L)
{
	fflush(chisel_of(L)->run->out);
	return 0;
}

/* Replaces the argument of %d by its integer part. */
static void make_whole(lua_State *L, int arg)
{
	lua_Number n = luaL_checknumber(L, arg);

	if (lua_isinteger(L, arg))
		return;
	if (n >= -9.2e18 && n <= 9.2e18)
		lua_pushinteger(L, (lua_Integer)n);
	else
		lua_pushinteger(L, n > 0 ? LUA_MAXINTEGER : LUA_MININTEGER);
	lua_replace(L, arg);
}

static void make_text(lua_State *L, int arg)
{
	if (lua_type(L, arg) != LUA_TNUMBER)
		return;
	lua_pushcfunction(L, to_string);
	lua_pushvalue(L, arg);
	lua_call(L, 1, 1);
	lua_replace(L, arg);
}

/* LuaJIT rounds ties up (%.2f of 8.125 is 8.13); C rounds them to even. */
static void round_tie_up(lua_State *L, int arg, const char *precision)
{
	const lua_Number n = lua_tonumber(L, arg);
	const int digits = *precision == '.' ? atoi(precision + 1) : 6;
	lua_Number unit = 1, scaled;

	if (!lua_isnumber(L, arg) || digits > 15)
		return;
	for (int i = 0; i < digits; i++)
		unit *= 10;
	scaled = fabs(n) * unit;
	if (scaled >= 0x1p52 || scaled - floor(scaled) != 0.5 || scaled / unit != fabs(n))
		return;
	lua_pushnumber(L, nextafter(n, n < 0 ? -HUGE_VAL : HUGE_VAL));
	lua_replace(L, arg);
}

/* string.format with %u, %i, and fractions for %d; the original is an upvalue. */
static int string_format(lua_State *L)
{
	const int n = lua_gettop(L);
	size_t len;
	const char *fmt = luaL_checklstring(L, 1, &len), *end = fmt + len, *precision;
	luaL_Buffer b;
	int arg = 1;

	luaL_checkstack(L, 8, NULL);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1); /* the function, then the arguments */
	luaL_buffinit(L, &b);
	while (fmt < end) {
		luaL_addchar(&b, *fmt);
		if (*fmt++ != '%')
			continue;
		if (fmt < end && *fmt == '%') {
			luaL_addchar(&b, *fmt++);
			continue;
		}
		precision = "";
		while (fmt < end && strchr("-+ #0123456789.", *fmt) && *fmt) {
			if (*fmt == '.')
				precision = fmt;
			luaL_addchar(&b, *fmt++);
		}
		if (fmt == end)
			break;
		if (++arg <= n) {
			/* The buffer may be on the stack, above the arguments. */
			if (strchr("diuxXoc", *fmt) && lua_type(L, arg + 1) != LUA_TNIL)
				make_whole(L, arg + 1);
			else if (*fmt == 's')
				make_text(L, arg + 1);
			else if (*fmt == 'f')
				round_tie_up(L, arg + 1, precision);
		}
		luaL_addchar(&b, *fmt == 'u' ? 'd' : *fmt);
		fmt++;
	}
	luaL_pushresult(&b);
	lua_replace(L, 2);
	lua_call(L, n, 1);
	return 1;
}

/* ---- table.insert and table.remove, as in Lua 5.1: any position ---- */

static lua_Integer whole_arg(lua_State *L, int arg)
{
	make_whole(L, arg);
	return lua_tointeger(L, arg);
}

static int table_insert(lua_State *L)
{
	lua_Integer end, at;

	luaL_checktype(L, 1, LUA_TTABLE);
	end = (lua_Integer)lua_rawlen(L, 1) + 1;
	at = end;
	if (lua_gettop(L) == 3)
		at = whole_arg(L, 2);
	else if (lua_gettop(L) != 2)
		return luaL_error(L, "wrong number of arguments to 'insert'");
	/* Only existing elements move, however small the position is. */
	for (lua_Integer i = end; i > at && i > 0; i--) {
		lua_rawgeti(L, 1, i - 1);
		lua_rawseti(L, 1, i);
	}
	lua_rawseti(L, 1, at);
	return 0;
}

static int table_remove(lua_State *L)
{
	lua_Integer end, at;

	luaL_checktype(L, 1, LUA_TTABLE);
	end = (lua_Integer)lua_rawlen(L, 1);
	at = lua_isnoneornil(L, 2) ? end : whole_arg(L, 2);
	if (at < 1 || at > end)
		return 0;
	lua_rawgeti(L, 1, at);
	for (; at < end; at++) {
		lua_rawgeti(L, 1, at + 1);
		lua_rawseti(L, 1, at);
	}
	lua_pushnil(L);
	lua_rawseti(L, 1, end);
	return 1;
}

/* ---- files with code ---- */

static int load_file(lua_State *L)
{
	const char *path = luaL_checkstring(L, 1);
	const struct sinsp_chisel_source source = {.path = (char *)path};

	if (sinsp_chisel_load(L, &source) == LUA_OK)
		return 1;
	lua_pushnil(L);
	lua_insert(L, -2);
	return 2;
}

static int close_file(lua_State *L)
{
	luaL_Stream *s = luaL_checkudata(L, 1, LUA_FILEHANDLE);

	return luaL_fileresult(L, fclose(s->f) == 0, NULL);
}

/* open_plain(PATH): io.open for regular files. */
static int open_plain(lua_State *L)
{
	const char *path = luaL_checkstring(L, 1);
	luaL_Stream *s = lua_newuserdatauv(L, sizeof(*s), 0);
	int err;

	s->closef = NULL;
	luaL_setmetatable(L, LUA_FILEHANDLE);
	err = sinsp_chisel_open_plain(path, &s->f);
	if (!err) {
		s->closef = close_file;
		return 1;
	}
	lua_pushnil(L);
	lua_pushfstring(L, "%s: %s", path, sinsp_chisel_plain_error(err));
	lua_pushinteger(L, -err);
	return 3;
}

/* Only the built-in modules may print terminal sequences of the host. */
static int is_of_host(const char *name)
{
	return strcmp(name, "ansiterminal") == 0;
}

/* find_module(NAME): the code of a module in the folders of chisels, or of a built-in one. */
static int find_module(lua_State *L)
{
	struct sinsp_chisel *c = chisel_of(L);
	const char *name = luaL_checkstring(L, 1);
	struct sinsp_chisel_source source = {0};
	int err;

	if (!strchr(name, '/') && !is_of_host(name))
		sinsp_chisel_find(&source, c, name);
	for (const struct sinsp_chisel_file *m = chisel_lua_modules;
	     !source.path && !source.builtin && m->name; m++)
		if (strcmp(m->name, name) == 0)
			source.builtin = m;
	if (!source.path && !source.builtin) {
		lua_pushfstring(L, "no chisel folder has a file %s.lua", name);
		return 1;
	}
	err = sinsp_chisel_load(L, &source);
	free(source.path);
	return err ? lua_error(L) : 1;
}

/* ---- end of the run ---- */

/* os.exit: ends other chisels and the capture file properly. */
static int end_run(lua_State *L)
{
	struct sinsp_chisel_run *run = chisel_of(L)->run;

	run->status = lua_isboolean(L, 1) ? !lua_toboolean(L, 1) : (int)luaL_optinteger(L, 1, 0);
	run->ends_with_status = run->end = 1;
	return luaL_error(L, "os.exit");
}

/* For compat.lua. */
static const luaL_Reg natives[] = {
	{"tostring", to_string},
	{"print", print},
	{"write", write_out},
	{"flush", flush_out},
	{"load_file", load_file},
	{"find_module", find_module},
	{"open_plain", open_plain},
	{"exit", end_run},
	{"guard_handler", sinsp_chisel_guard_handler},
	{"insert", table_insert},
	{"remove", table_remove},
	{NULL, NULL},
};

static void add_bindings(lua_State *L, const char *table, const struct sinsp_chisel_binding *b)
{
	sinsp_chisel_push_bindings(L, b);
	lua_setglobal(L, table);
}

static int add_code(lua_State *L, const void *p, size_t n, void *ctx)
{
	struct sinsp_text *code = ctx;
	char *to = text_begin(code, n);

	(void)L;
	return text_end(code, to ? put_mem(to, p, n) : NULL);
}

/* The prelude is compiled for the first state of a run: for the many views of saker top that takes
 * longer than all else. */
static void load_prelude(lua_State *L, struct sinsp_chisel_run *run)
{
	const struct sinsp_chisel_file *file = &chisel_lua_compat;
	struct sinsp_text code = {0};

	if (run->prelude.len) {
		if (luaL_loadbufferx(L, run->prelude.p, run->prelude.len, "=compat.lua", "b"))
			lua_error(L);
		return;
	}
	if (luaL_loadbufferx(L, file->text, file->len, "=compat.lua", "t"))
		lua_error(L);
	if (lua_dump(L, add_code, &code, 0))
		free(code.p);
	else
		run->prelude = code;
}

void sinsp_chisel_fill_state(lua_State *L)
{
	const struct sinsp_chisel_run *run = chisel_of(L)->run;

	luaL_openlibs(L);
	wrap_library(L, "string", "format", string_format);
	wrap_library(L, "coroutine", "create", sinsp_chisel_create_coroutine);
	wrap_library(L, "coroutine", "wrap", sinsp_chisel_create_coroutine);
	/* The finalizer of files would run without a limit. */
	luaL_getmetatable(L, LUA_FILEHANDLE);
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
	add_bindings(L, "sysdig", sinsp_chisel_sysdig);
	add_bindings(L, "chisel", sinsp_chisel_chisel);
	add_bindings(L, "evt", sinsp_chisel_evt);
	sinsp_chisel_add_counters(L);
	sinsp_chisel_add_logs(L);
	luaL_newmetatable(L, "saker.sorted");
	lua_pop(L, 1);
	load_prelude(L, chisel_of(L)->run);
	luaL_newlib(L, natives);
	lua_pushboolean(L, run->unsafe);
	luaL_getmetatable(L, "saker.sorted");
	lua_call(L, 3, 0);
}
