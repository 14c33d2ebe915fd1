/* SPDX-License-Identifier: Apache-2.0 */
/* The Lua state of a chisel, with limits of memory and instructions; all protected calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chisel_host.h"

static void *count_bytes(void *ctx, void *p, size_t old, size_t size)
{
	struct sinsp_chisel *c = ctx;
	void *q;

	if (!p)
		old = 0; /* here Lua passes the type of the object */
	if (!size) {
		free(p);
		c->n_bytes -= old;
		return NULL;
	}
	if (size > old && size - old > c->run->max_bytes - c->n_bytes) {
		c->out_of_memory = 1;
		return NULL;
	}
	q = realloc(p, size);
	if (q)
		c->n_bytes = c->n_bytes - old + size;
	return q;
}

void *sinsp_chisel_realloc(struct sinsp_chisel *c, void *p, size_t old, size_t size)
{
	return count_bytes(c, p, old, size);
}

int sinsp_chisel_reserve(struct sinsp_chisel *c, struct sinsp_chisel_buffer *b, size_t more)
{
	size_t size = b->size ?: 1024;
	char *p;

	if (more <= b->size - b->len)
		return 0;
	while (size - b->len < more)
		size *= 2;
	p = sinsp_chisel_realloc(c, b->p, b->size, size);
	if (!p)
		return -ENOMEM;
	b->p = p;
	b->size = size;
	return 0;
}

void sinsp_chisel_drop_buffer(struct sinsp_chisel *c, struct sinsp_chisel_buffer *b)
{
	sinsp_chisel_realloc(c, b->p, b->size, 0);
	*b = (struct sinsp_chisel_buffer){0};
}

/* Ends a chisel above its limits: from then on every step of every coroutine raises an error, so
 * pcall cannot stop it. */
static void count_instructions(lua_State *L, lua_Debug *ar)
{
	struct sinsp_chisel *c = chisel_of(L);
	const int is_late = chisel_watch_is_late(&c->watch);

	(void)ar;
	c->n_instructions += (uint64_t)lua_gethookcount(L);
	if (c->n_instructions <= c->run->max_instructions && !is_late && !c->out_of_instructions)
		return;
	c->out_of_instructions = 1;
	lua_sethook(L, count_instructions, LUA_MASKCOUNT, 1);
	luaL_error(L, "it did not return within %f million instructions, or %d s (--chisel-limit)",
		   (double)c->run->max_instructions / 1e6, chisel_watch_seconds(&c->watch));
}

int sinsp_chisel_watch(struct sinsp_chisel *c)
{
	return chisel_watch_init(&c->watch, c->run, c->name, &c->terminal, c->L,
				 count_instructions);
}

int sinsp_chisel_create_coroutine(lua_State *L)
{
	lua_State *co;

	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, 1);
	co = lua_tothread(L, -1);
	if (!co && lua_getupvalue(L, -1, 1)) {
		co = lua_tothread(L, -1);
		lua_pop(L, 1);
	}
	if (!co)
		return luaL_error(L, "not a coroutine");
	lua_sethook(co, count_instructions, LUA_MASKCOUNT, CHISEL_WATCH_STEP);
	return 1;
}

/* Handler of xpcall. The error of the hook is raised in the hook, where no instruction is counted:
 * it is passed on without a call of the script's handler. */
static int handle_error(lua_State *L)
{
	if (chisel_of(L)->out_of_instructions)
		return 1;
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	return lua_gettop(L);
}

int sinsp_chisel_guard_handler(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TFUNCTION);
	lua_settop(L, 1);
	lua_pushcclosure(L, handle_error, 1);
	return 1;
}

/* ---- protected calls ---- */

/* Adds a traceback to an error, which may be any value. */
static int add_traceback(lua_State *L)
{
	const char *text = lua_tostring(L, 1);

	if (!text)
		text = lua_pushfstring(L, "the error value is a %s, not text", luaL_typename(L, 1));
	luaL_traceback(L, L, text, 1);
	return 1;
}

/* The bottom of the stack is always add_traceback. */
lua_State *sinsp_chisel_state(struct sinsp_chisel *c)
{
	lua_State *L = lua_newstate(count_bytes, c);

	if (!L)
		return NULL;
	*(struct sinsp_chisel **)lua_getextraspace(L) = c;
	lua_pushcfunction(L, add_traceback);
	return L;
}

/* Logs line by line: a traceback has several. */
static void say_lines(const struct sinsp_chisel *c, const char *what, const char *text)
{
	const char *nl;

	sinsp_chisel_say(c, "chisel %s failed in %s: %.*s", c->info.name, what,
			 (int)strcspn(text, "\n"), text);
	for (nl = strchr(text, '\n'); nl; nl = strchr(nl + 1, '\n'))
		sinsp_chisel_say(c, "%.*s", (int)strcspn(nl + 1, "\n"), nl + 1);
}

static void say_out_of_memory(const struct sinsp_chisel *c, const char *what)
{
	sinsp_chisel_say(c,
			 "chisel %s failed in %s: memory limit of %zu million bytes exceeded "
			 "(--chisel-limit)",
			 c->info.name, what, c->run->max_bytes / 1000000);
}

int sinsp_chisel_fail(struct sinsp_chisel *c, const char *what, int err)
{
	if (err == -ENOMEM && c->out_of_memory)
		say_out_of_memory(c, what);
	else
		sinsp_chisel_say(c, "chisel %s failed in %s: %s", c->info.name, what,
				 strerror(-err));
	return -EINVAL;
}

/* Reachable for leak checkers. */
static _Thread_local struct sinsp_chisel *left;

void sinsp_chisel_keep_left(struct sinsp_chisel *c)
{
	c->next_left = left;
	left = c;
}

enum { STATUS_LEFT = -1 };

/* Returns a status of Lua, or STATUS_LEFT if a jump left the call: the state is lost then. */
static __attribute__((noinline)) int call_watched(struct sinsp_chisel *c, int n_args, int n_results)
{
	int status;

	if (sigsetjmp(c->watch.out, 0)) {
		chisel_watch_left(&c->watch);
		c->is_left = 1;
		return STATUS_LEFT;
	}
	chisel_watch_begin(&c->watch);
	status = lua_pcall(c->L, n_args, n_results, 1);
	chisel_watch_end(&c->watch);
	return status;
}

int sinsp_chisel_call(struct sinsp_chisel *c, int n_args, int n_results, const char *what)
{
	lua_State *L = c->L;
	const char *text = NULL;
	int status;

	c->n_instructions = 0;
	status = call_watched(c, n_args, n_results);
	if (status == LUA_OK && !c->out_of_instructions)
		return 0;
	if (status == STATUS_LEFT) {
		sinsp_chisel_say(c,
				 "chisel %s failed in %s: a Lua library function, for instance a "
				 "pattern match, exceeded the time limit (--chisel-limit)",
				 c->info.name, what);
		return -EINVAL;
	}
	if (status == LUA_OK)
		text = "instruction limit exceeded (--chisel-limit)";
	else if (lua_type(L, -1) == LUA_TSTRING)
		text = lua_tostring(L, -1);
	if (c->run->ends_with_status) {
		lua_settop(L, 1);
		return -ECANCELED;
	}
	if (status == LUA_ERRMEM && c->out_of_memory)
		say_out_of_memory(c, what);
	else
		say_lines(c, what, text ?: "unknown error");
	lua_settop(L, 1);
	return -EINVAL;
}

static int call_global(lua_State *L)
{
	struct sinsp_chisel_callback *cb = lua_touserdata(L, 1);

	if (lua_getglobal(L, cb->name) != LUA_TFUNCTION)
		return 0;
	cb->found = 1;
	for (int i = 0; i < cb->n_texts; i++)
		lua_pushstring(L, cb->texts[i]);
	for (int i = 0; i < cb->n_numbers; i++)
		lua_pushinteger(L, cb->numbers[i]);
	lua_call(L, cb->n_texts + cb->n_numbers, 1);
	cb->result = lua_toboolean(L, -1);
	return 0;
}

int sinsp_chisel_call_back(struct sinsp_chisel *c, struct sinsp_chisel_callback *cb)
{
	lua_pushcfunction(c->L, call_global);
	lua_pushlightuserdata(c->L, cb);
	return sinsp_chisel_call(c, 1, 0, cb->name);
}
