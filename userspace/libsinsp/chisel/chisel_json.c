/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON encoder of chisels. Keys of a table are sorted, so that the same table always gives the
 * same text; those of a row stand in the order given. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chisel_host.h"
#include "state/utf8.h"

enum { DEPTH_MAX = 100, KEPT_BYTES = 1 << 16, NUMBER_SZ = 32 };

/* One encoding, into the buffer of the chisel. */
struct json {
	lua_State *L;
	struct sinsp_chisel *c;
	int is_indented;
};

/* ---- the buffer ---- */

static char *room(struct json *j, size_t n)
{
	struct sinsp_chisel_buffer *b = &j->c->json;

	if (sinsp_chisel_reserve(j->c, b, n))
		luaL_error(j->L, "not enough memory");
	return b->p + b->len;
}

static void put(struct json *j, const char *s, size_t n)
{
	if (n)
		memcpy(room(j, n), s, n);
	j->c->json.len += n;
}

static void put_text(struct json *j, const char *s)
{
	put(j, s, strlen(s));
}

static struct json begin(lua_State *L)
{
	struct sinsp_chisel *c = chisel_of(L);

	c->json.len = 0;
	return (struct json){.L = L, .c = c};
}

/* Pushes the text. */
static int end(struct json *j)
{
	lua_pushlstring(j->L, j->c->json.p, j->c->json.len);
	if (j->c->json.size > KEPT_BYTES)
		sinsp_chisel_drop_buffer(j->c, &j->c->json);
	return 1;
}

/* ---- strings and numbers ---- */

static void put_escaped(struct json *j, unsigned int c)
{
	static const char letters[128] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
					  ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
	char *p = room(j, 8);

	if (c < 128 && letters[c]) {
		p[0] = '\\';
		p[1] = letters[c];
		j->c->json.len += 2;
	} else {
		j->c->json.len += (size_t)snprintf(p, 8, "\\u%04x", c);
	}
}

static int is_plain(unsigned char c)
{
	return c >= ' ' && c < 127 && c != '"' && c != '\\';
}

static int is_utf8(const unsigned char *s, size_t n)
{
	for (size_t i = 0, len; i < n; i += len) {
		len = sinsp_utf8_control_len(s + i, n - i) ?: sinsp_utf8_len(s + i, n - i);
		if (!len)
			return 0;
	}
	return 1;
}

/* Puts a run of bytes above 127: a single U+FFFD for all of it if any of it is not UTF-8. */
static void put_high_bytes(struct json *j, const unsigned char *s, size_t n)
{
	if (!is_utf8(s, n)) {
		put_text(j, "\\ufffd");
		return;
	}
	for (size_t i = 0, len; i < n; i += len) {
		len = sinsp_utf8_control_len(s + i, n - i);
		if (len == 2) {
			put_escaped(j, s[i + 1]);
		} else if (len) {
			put_escaped(j, 0x2000 | (s[i + 1] & 0x3fu) << 6 | (s[i + 2] & 0x3f));
		} else {
			len = sinsp_utf8_len(s + i, n - i);
			put(j, (const char *)s + i, len);
		}
	}
}

static void put_string(struct json *j, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t i = 0, from;

	put_text(j, "\"");
	while (i < n) {
		for (from = i; i < n && is_plain(s[i]);)
			i++;
		put(j, text + from, i - from);
		for (from = i; i < n && s[i] > 127;)
			i++;
		if (i > from)
			put_high_bytes(j, s + from, i - from);
		else if (i < n && !is_plain(s[i]))
			put_escaped(j, s[i++]);
	}
	put_text(j, "\"");
}

static void put_lua_string(struct json *j, int at)
{
	size_t n;
	const char *s = lua_tolstring(j->L, at, &n);

	put_string(j, s, n);
}

static void format_number(lua_State *L, int at, char text[NUMBER_SZ])
{
	if (lua_isinteger(L, at))
		snprintf(text, NUMBER_SZ, LUA_INTEGER_FMT, lua_tointeger(L, at));
	else
		snprintf(text, NUMBER_SZ, "%.14g", lua_tonumber(L, at));
}

static void put_number(struct json *j, int at)
{
	char text[NUMBER_SZ] = "null";

	if (isfinite(lua_tonumber(j->L, at)))
		format_number(j->L, at, text);
	put_text(j, text);
}

/* ---- tables ---- */

/* A key of an object; its table keeps the text. */
struct key {
	int type;
	int boolean;
	int is_integer;
	lua_Integer integer;
	lua_Number number;
	const char *text;
	size_t len;
};

/* Sorts numbers before strings before booleans. */
static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int r;

	if (x->type != y->type)
		return x->type == LUA_TNUMBER || y->type == LUA_TBOOLEAN ? -1 : 1;
	if (x->is_integer && y->is_integer)
		return (x->integer > y->integer) - (x->integer < y->integer);
	if (x->type == LUA_TNUMBER)
		return (x->number > y->number) - (x->number < y->number);
	if (x->type == LUA_TBOOLEAN)
		return x->boolean - y->boolean;
	r = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
	return r ? r : (x->len > y->len) - (x->len < y->len);
}

static void read_key(lua_State *L, int at, struct key *k)
{
	*k = (struct key){.type = lua_type(L, at)};
	switch (k->type) {
	case LUA_TNUMBER:
		k->number = lua_tonumber(L, at);
		k->is_integer = lua_isinteger(L, at);
		k->integer = lua_tointeger(L, at);
		break;
	case LUA_TBOOLEAN:
		k->boolean = lua_toboolean(L, at);
		break;
	case LUA_TSTRING:
		k->text = lua_tolstring(L, at, &k->len);
		break;
	default:
		luaL_error(L, "cannot encode JSON: a %s is not a key", luaL_typename(L, at));
	}
}

/* Returns the number of keys; *is_list: they are 1 to n. */
static size_t count_keys(lua_State *L, int at, int *is_list)
{
	size_t n = 0;

	*is_list = 1;
	for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) {
		n++;
		if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1)
			*is_list = 0;
	}
	*is_list = *is_list && n == lua_rawlen(L, at);
	return n;
}

/* Pushes and returns the sorted keys. */
static struct key *sort_keys(lua_State *L, int at, size_t n)
{
	struct key *keys = lua_newuserdatauv(L, n * sizeof(*keys), 0), *k = keys;

	for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1))
		read_key(L, -2, k++);
	qsort(keys, n, sizeof(*keys), compare_keys);
	return keys;
}

static void push_key(lua_State *L, const struct key *k)
{
	if (k->type == LUA_TSTRING)
		lua_pushlstring(L, k->text, k->len);
	else if (k->type == LUA_TBOOLEAN)
		lua_pushboolean(L, k->boolean);
	else if (k->is_integer)
		lua_pushinteger(L, k->integer);
	else
		lua_pushnumber(L, k->number);
}

static void put_key(struct json *j, const struct key *k)
{
	char text[NUMBER_SZ] = "";

	if (k->type == LUA_TSTRING) {
		put_string(j, k->text, k->len);
	} else {
		if (k->type == LUA_TBOOLEAN)
			strcpy(text, k->boolean ? "true" : "false");
		else
			format_number(j->L, -1, text);
		put_string(j, text, strlen(text));
	}
	put_text(j, ":");
}

static void put_line(struct json *j, int depth)
{
	if (!j->is_indented)
		return;
	put_text(j, "\n");
	for (int i = 0; i < depth; i++)
		put_text(j, "  ");
}

static void put_value(struct json *j, int at, int depth);

static void put_list(struct json *j, int at, size_t n, int depth)
{
	for (size_t i = 1; i <= n; i++) {
		if (i > 1)
			put_text(j, ",");
		put_line(j, depth + 1);
		lua_rawgeti(j->L, at, (lua_Integer)i);
		put_value(j, lua_gettop(j->L), depth + 1);
		lua_pop(j->L, 1);
	}
}

static void put_object(struct json *j, int at, size_t n, int depth)
{
	const struct key *keys = sort_keys(j->L, at, n);

	for (size_t i = 0; i < n; i++) {
		if (i)
			put_text(j, ",");
		put_line(j, depth + 1);
		push_key(j->L, &keys[i]);
		put_key(j, &keys[i]);
		lua_rawget(j->L, at);
		put_value(j, lua_gettop(j->L), depth + 1);
		lua_pop(j->L, 1);
	}
	lua_pop(j->L, 1);
}

static void put_table(struct json *j, int at, int depth)
{
	int is_list;
	size_t n;

	if (depth > DEPTH_MAX)
		luaL_error(j->L, "cannot encode JSON: tables nest deeper than %d", DEPTH_MAX);
	luaL_checkstack(j->L, 8, NULL);
	if (luaL_getmetafield(j->L, at, "__mode") != LUA_TNIL)
		luaL_error(j->L, "cannot encode JSON: a weak table, whose values may vanish");
	n = count_keys(j->L, at, &is_list);
	put_text(j, is_list ? "[" : "{");
	if (is_list)
		put_list(j, at, n, depth);
	else
		put_object(j, at, n, depth);
	if (n)
		put_line(j, depth);
	put_text(j, is_list ? "]" : "}");
}

/* Returns whether it is the `null` of module dkjson. */
static int is_null(lua_State *L, int at)
{
	int r = 0;

	if (luaL_getmetafield(L, at, "__tojson") != LUA_TNIL) {
		r = lua_toboolean(L, -1);
		lua_pop(L, 1);
	}
	return r;
}

static void put_value(struct json *j, int at, int depth)
{
	switch (lua_type(j->L, at)) {
	case LUA_TNIL:
	case LUA_TNONE:
		put_text(j, "null");
		break;
	case LUA_TBOOLEAN:
		put_text(j, lua_toboolean(j->L, at) ? "true" : "false");
		break;
	case LUA_TNUMBER:
		put_number(j, at);
		break;
	case LUA_TSTRING:
		put_lua_string(j, at);
		break;
	case LUA_TTABLE:
		if (is_null(j->L, at))
			put_text(j, "null");
		else
			put_table(j, at, depth);
		break;
	default:
		luaL_error(j->L, "cannot encode JSON: a %s has no JSON form",
			   luaL_typename(j->L, at));
	}
}

/* ---- functions of chisels ---- */

int sinsp_chisel_json(lua_State *L)
{
	struct json j = begin(L);

	j.is_indented = lua_toboolean(L, 2);
	lua_settop(L, 1);
	put_value(&j, 1, 0);
	return end(&j);
}

/* Returns whether the value on top is nil or the text of fields without a value. */
static int is_absent(lua_State *L)
{
	return lua_isnil(L, -1) ||
	       (lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "<NA>") == 0);
}

int sinsp_chisel_json_row(lua_State *L)
{
	struct json j = begin(L);
	lua_Integer n;

	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	n = (lua_Integer)lua_rawlen(L, 1);
	put_text(&j, "{");
	for (lua_Integer i = 1; i <= n; i++) {
		lua_rawgeti(L, 2, i);
		if (!is_absent(L)) {
			if (j.c->json.len > 1)
				put_text(&j, ",");
			if (lua_rawgeti(L, 1, i) != LUA_TSTRING)
				return luaL_error(L, "cannot encode JSON: name %d is not text",
						  (int)i);
			put_lua_string(&j, -1);
			put_text(&j, ":");
			lua_pop(L, 1);
			put_value(&j, lua_gettop(L), 1);
		}
		lua_pop(L, 1);
	}
	put_text(&j, "}");
	return end(&j);
}
