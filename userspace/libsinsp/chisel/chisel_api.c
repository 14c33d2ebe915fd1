/* SPDX-License-Identifier: Apache-2.0 */
/* Tables chisel and evt of the Lua API: fields, counters, filters, intervals. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chisel_host.h"

/* ---- evt ---- */

/* Returns nil for field nil and 0: existing chisels read fields that they did not request. */
static int no_field(lua_State *L)
{
	int is_number;
	const int is_zero = lua_tointegerx(L, 1, &is_number) == 0 && is_number;

	luaL_argcheck(L, is_zero || lua_isnil(L, 1), 1, "not a field of chisel.request_field");
	lua_pushnil(L);
	return 1;
}

static int evt_field(lua_State *L)
{
	struct sinsp_chisel *c = chisel_of(L);
	const lua_Unsigned i = (lua_Unsigned)lua_tointeger(L, 1) - 1;
	const struct sinsp_value *more;
	struct sinsp_chisel_field *cf;
	struct sinsp_value v;
	int n;

	if (i >= c->n_fields)
		return no_field(L);
	cf = &c->fields[i];
	n = c->evt ? sinsp_field_get(&c->eval, &cf->field, &v, &more) : 0;
	if (n < 0)
		return luaL_error(L, "%s: %s", cf->field.row->name, strerror(-n));
	if (n)
		sinsp_chisel_push_value(L, cf, &v);
	else
		lua_pushnil(L);
	return 1;
}

static const struct sinsp_evt *current(lua_State *L)
{
	const struct sinsp_evt *evt = chisel_of(L)->evt;

	if (!evt)
		luaL_error(L, "no current event: call this in on_event or on_interval");
	return evt;
}

/* Pushes nil if an interval ended without an event, in a live capture. */
static int is_idle(lua_State *L)
{
	const struct sinsp_chisel *c = chisel_of(L);

	if (c->evt || !c->reached_ns)
		return 0;
	lua_pushnil(L);
	return 1;
}

static int evt_get_num(lua_State *L)
{
	if (is_idle(L))
		return 1;
	sinsp_chisel_push_unsigned(L, current(L)->raw.num);
	return 1;
}

static int evt_get_ts(lua_State *L)
{
	const uint64_t ns = is_idle(L) ? chisel_of(L)->reached_ns : current(L)->raw.ts_ns;

	lua_pushinteger(L, (lua_Integer)(ns / 1000000000));
	lua_pushinteger(L, (lua_Integer)(ns % 1000000000));
	return 2;
}

static int evt_get_type(lua_State *L)
{
	if (is_idle(L))
		return 1;
	lua_pushstring(L, sinsp_evt_type(current(L)));
	return 1;
}

static int evt_get_cpuid(lua_State *L)
{
	if (is_idle(L))
		return 1;
	lua_pushinteger(L, current(L)->raw.cpu);
	return 1;
}

const struct sinsp_chisel_binding sinsp_chisel_evt[] = {
	{"field", evt_field, "field(handle) -> value",
	 "Returns the value of the field for the current event: a number, text or boolean; "
	 "nil if the event has none. `handle` comes from `chisel.request_field`. Addresses "
	 "are text; times and durations are nanoseconds. For the handles nil and 0 it "
	 "returns nil. In a live capture `on_interval` may be called without an event: all "
	 "functions return nil then, except `get_ts`."},
	{"get_num", evt_get_num, "get_num() -> number", "Returns the number of the event."},
	{"get_ts", evt_get_ts, "get_ts() -> seconds, nanoseconds",
	 "Returns the time of the event."},
	{"get_type", evt_get_type, "get_type() -> text",
	 "Returns the name of the event, as `evt.type`."},
	{"get_cpuid", evt_get_cpuid, "get_cpuid() -> number", "Returns the CPU of the event."},
	{NULL},
};

/* ---- chisel ---- */

static int request_field(lua_State *L)
{
	luaL_checkstring(L, 1);
	lua_pushinteger(L, sinsp_chisel_field_index(L, 1) + 1);
	return 1;
}

static int chisel_set_filter(lua_State *L)
{
	struct sinsp_chisel *c = chisel_of(L);
	struct sinsp_filter *f = sinsp_chisel_make_filter(L, luaL_checkstring(L, 1), 0);
	char *text = strdup(lua_tostring(L, 1));

	if (!text) {
		sinsp_filter_free(f);
		return luaL_error(L, "not enough memory");
	}
	if (c->run->has_begun && !c->run->source && c->filter && c->run->log)
		c->run->log(c->run->log_ctx, SCAP_LOG_WARN,
			    "chisel.set_filter after on_init: events that the filter of on_init "
			    "leaves out are recorded only with --no-pushdown or -w");
	sinsp_filter_free(c->filter);
	free(c->filter_text);
	c->filter = f;
	c->filter_text = text;
	return 0;
}

static int chisel_follow(lua_State *L)
{
	struct sinsp_chisel *c = chisel_of(L);
	struct sinsp_filter *f;

	luaL_checktype(L, 2, LUA_TFUNCTION);
	f = sinsp_chisel_make_filter(L, luaL_checkstring(L, 1), 0);
	sinsp_filter_free(c->followed);
	c->followed = f;
	luaL_unref(L, LUA_REGISTRYINDEX, c->on_followed);
	c->on_followed = LUA_NOREF;
	lua_settop(L, 2);
	c->on_followed = luaL_ref(L, LUA_REGISTRYINDEX);
	c->run->follows = 1;
	return 0;
}

static int chisel_each_end(lua_State *L)
{
	chisel_of(L)->each_end = 1;
	chisel_of(L)->run->each_end = 1;
	return 0;
}

static int chisel_set_event_formatter(lua_State *L)
{
	struct sinsp_chisel *c = chisel_of(L);
	char *text = strdup(luaL_checkstring(L, 1));

	if (!text)
		return luaL_error(L, "not enough memory");
	free(c->format_text);
	c->format_text = text;
	sinsp_format_free(c->format);
	c->format = NULL;
	return 0;
}

static uint64_t positive(lua_State *L, lua_Number unit)
{
	const lua_Number n = luaL_checknumber(L, 1) * unit;

	luaL_argcheck(L, n >= 1 && n < 9e18, 1, "an interval above 0 is needed");
	return (uint64_t)n;
}

static int chisel_set_interval_ns(lua_State *L)
{
	chisel_of(L)->interval_ns = positive(L, 1);
	return 0;
}

static int chisel_set_interval_s(lua_State *L)
{
	chisel_of(L)->interval_ns = positive(L, 1e9);
	return 0;
}

static int chisel_set_precise_interval_ns(lua_State *L)
{
	chisel_of(L)->precise_ns = positive(L, 1);
	return 0;
}

void sinsp_chisel_exec_fini(struct sinsp_chisel_exec *x)
{
	for (size_t i = 0; i < x->n_args; i++)
		free(x->args[i]);
	free(x->args);
	free(x->name);
	*x = (struct sinsp_chisel_exec){0};
}

static int chisel_exec(lua_State *L)
{
	struct sinsp_chisel_exec *x = &chisel_of(L)->exec;
	const int n = lua_gettop(L);

	luaL_checkstring(L, 1);
	for (int i = 2; i <= n; i++)
		luaL_checkstring(L, i);
	sinsp_chisel_exec_fini(x);
	x->args = calloc((size_t)n + 1, sizeof(*x->args));
	x->name = strdup(lua_tostring(L, 1));
	for (int i = 2; i <= n && x->args; i++)
		x->args[x->n_args++] = strdup(lua_tostring(L, i));
	for (size_t i = 0; i < x->n_args; i++)
		if (!x->args[i])
			return luaL_error(L, "not enough memory");
	return x->name && x->args ? 0 : luaL_error(L, "not enough memory");
}

/* is_printable(text [, max]): most texts are, and need not be made safe for a terminal. */
static int is_printable(lua_State *L)
{
	const int is_text = lua_type(L, 1) == LUA_TSTRING;
	const lua_Integer max = luaL_optinteger(L, 2, LUA_MAXINTEGER);
	size_t len = 0, i = 0;
	const char *text = is_text ? lua_tolstring(L, 1, &len) : NULL;

	while (i < len && text[i] >= ' ' && text[i] <= '~')
		i++;
	lua_pushboolean(L, is_text && i == len && max >= 0 && len <= (size_t)max);
	return 1;
}

const struct sinsp_chisel_binding sinsp_chisel_chisel[] = {
	{"request_field", request_field, "request_field(name) -> handle",
	 "Returns a handle of a field for `evt.field`. `saker -l` lists the fields."},
	{"counter", sinsp_chisel_new_counter, "counter(keys, values [, by]) -> counter",
	 "Counts matching events from now on, without Lua: no `on_event` is needed. `keys` "
	 "is a list of fields, handles or names; events for which `evt.field` returns equal "
	 "values are one row. nil is a value, too, but an event that has none of the keys is "
	 "not counted. `values` is a list of tables: `field` is a field whose numbers above "
	 "0 are added up, or, with `max = true`, the largest of them; `count = true` is the "
	 "number of events. With `when`, a field, only events for which it is true are "
	 "counted. `by` (default 1) is the number of the value that decides which rows are "
	 "kept when there are too many. Counting ends when the counter is collected as "
	 "garbage."},
	{"log", sinsp_chisel_new_log, "log(options) -> log",
	 "Keeps the last events that match a filter from now on, without Lua, also those that "
	 "only `follow` would get. `options` is a table: `filter`, the text of a filter of at most "
	 "4096 bytes; `keys`, a list of 1 to 4 fields, but for addresses: the event is in the list "
	 "of each value that they have, and events without any are not kept; `fields`, a list of "
	 "at "
	 "most 64 fields whose values are kept; `max`, how many records there are at most (1 to "
	 "1000000; and some 64 MiB in all): the oldest is evicted first, so that an idle thread "
	 "keeps its records while a busy one fills the log; `begin` and `length`, fields that say "
	 "when the record began and how long it took; `only`, for a single key: `first` or `last`, "
	 "each value of the key has one record, that of its first or its last event. The filter "
	 "does not make events recorded or derived: `set_filter`, `follow` and the fields do. "
	 "Keeping ends when the log is collected as garbage."},
	{"set_filter", chisel_set_filter, "set_filter(text)",
	 "Sets the filter of `on_event`, in addition to that of the command line."},
	{"each_end", chisel_each_end, "each_end()",
	 "From now on an event that moves bytes from one descriptor to another, such as "
	 "sendfile, comes twice, for filter, counters and `on_event`: as the read of one and "
	 "as the write of the other. `fd.*` is that descriptor, and `evt.io.*` has its "
	 "bytes. The filter of the command line then also selects one of them, as "
	 "`fd.name=/etc/hosts` does."},
	{"follow", chisel_follow, "follow(filter, fn)",
	 "Calls `fn()` for events that match `filter` but not the filter of the command "
	 "line: a chisel that tracks processes sees their end whatever that filter is. It "
	 "should not print these events. In a live capture, of processes that do not match "
	 "only events which begin, change or end a thread are recorded: clone, fork, vfork, "
	 "clone3, execve, execveat and procexit."},
	{"is_printable", is_printable, "is_printable(text [, max]) -> boolean",
	 "Returns whether `text` is a string of printable ASCII, of at most `max` bytes: it is "
	 "safe for a terminal as it is."},
	{"set_event_formatter", chisel_set_event_formatter, "set_event_formatter(format)",
	 "Prints a line of this format for each event for which `on_event` returns true, or "
	 "for each matching event if there is no `on_event`."},
	{"set_interval_ns", chisel_set_interval_ns, "set_interval_ns(ns)",
	 "Calls `on_interval` at the first event of each interval; in a live capture also "
	 "without events."},
	{"set_interval_s", chisel_set_interval_s, "set_interval_s(s)",
	 "As `set_interval_ns`, in seconds."},
	{"set_precise_interval_ns", chisel_set_precise_interval_ns, "set_precise_interval_ns(ns)",
	 "As `set_interval_ns`, but intervals start at the first event, and `on_interval` is "
	 "called for each interval that passed, with its time: up to a million between two "
	 "events."},
	{"json", sinsp_chisel_json, "json(value [, indent]) -> text",
	 "Returns the value as JSON, on one line unless `indent` is true. A table with the "
	 "keys 1 to n is a list; the keys of others are sorted. Bytes that are not UTF-8 "
	 "become U+FFFD."},
	{"json_row", sinsp_chisel_json_row, "json_row(names, values) -> text",
	 "Returns a JSON object on one line. Its keys are in the order of `names`; values "
	 "that are nil or `<NA>` are left out."},
	{"exec", chisel_exec, "exec(name, ...)",
	 "In `on_init`: replaces this chisel by another one with these arguments."},
	{NULL},
};
