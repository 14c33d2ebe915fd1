/* SPDX-License-Identifier: Apache-2.0 */
/* Views: reads view_info, a table of columns without functions. */
#include <string.h>

#include "chisel_host.h"

enum { COLUMNS_MAX = 100, SIZE_MAX_OF_COLUMN = 1000 };

/* Allocates memory that the state keeps until its end. */
static void *keep_room(lua_State *L, size_t n, size_t size)
{
	void *p = lua_newuserdatauv(L, n * size + 1, 0);

	luaL_ref(L, LUA_REGISTRYINDEX);
	return p;
}

/* Pushes the table @key of the view on top of the stack. Returns the number of its rows; 0:
 * missing. */
static size_t push_rows(lua_State *L, const char *key)
{
	lua_Integer n;

	if (lua_getfield(L, -1, key) != LUA_TTABLE)
		return 0;
	n = (lua_Integer)lua_rawlen(L, -1);
	if (n > COLUMNS_MAX)
		luaL_error(L, "view_info.%s has more than %d rows", key, COLUMNS_MAX);
	return (size_t)n;
}

/* Returns the texts of the table @key, up to a NULL. */
static const char *const *read_texts(lua_State *L, const char *key)
{
	const size_t n = push_rows(L, key);
	const char **v = keep_room(L, n + 1, sizeof(*v));
	size_t n_texts = 0;

	for (size_t i = 0; i < n; i++) {
		if (lua_rawgeti(L, -1, (lua_Integer)i + 1) == LUA_TSTRING) {
			v[n_texts++] = lua_tostring(L, -1);
			luaL_ref(L, LUA_REGISTRYINDEX);
		} else {
			lua_pop(L, 1);
		}
	}
	v[n_texts] = NULL;
	lua_pop(L, 1);
	return v;
}

static uint8_t read_aggregation(lua_State *L, const char *key)
{
	static const char *const names[] = {
		[SINSP_VIEW_FIRST] = "",  [SINSP_VIEW_SUM] = "SUM",
		[SINSP_VIEW_AVG] = "AVG", [SINSP_VIEW_TIME_AVG] = "TIME_AVG",
		[SINSP_VIEW_MIN] = "MIN", [SINSP_VIEW_MAX] = "MAX",
		[SINSP_VIEW_P50] = "P50", [SINSP_VIEW_P90] = "P90",
		[SINSP_VIEW_P99] = "P99"};
	const char *name = sinsp_chisel_keep_text(L, key);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return (uint8_t)i;
	luaL_error(L, "view_info: %s '%s' is none of SUM, AVG, TIME_AVG, MIN, MAX, P50, P90, P99",
		   key, name);
	return 0;
}

static int32_t read_size(lua_State *L)
{
	lua_Integer size;

	lua_getfield(L, -1, "colsize");
	size = lua_isnil(L, -1) ? -1 : lua_tointeger(L, -1); /* as csysdig */
	lua_pop(L, 1);
	return size < -1 || size > SIZE_MAX_OF_COLUMN ? 0 : (int32_t)size;
}

/* Returns the text @key; with JSON the text @json_key, unless that is missing. */
static const char *keep_text_or(lua_State *L, const char *key, const char *json_key)
{
	const char *text = chisel_of(L)->run->json ? sinsp_chisel_keep_text(L, json_key) : "";

	return *text ? text : sinsp_chisel_keep_text(L, key);
}

static void read_column(lua_State *L, struct sinsp_view_column *c)
{
	*c = (struct sinsp_view_column){
		.name = sinsp_chisel_keep_text(L, "name"),
		.description = sinsp_chisel_keep_text(L, "description"),
		.field = keep_text_or(L, "field", "json_field"),
		.filterfield = sinsp_chisel_keep_text(L, "filterfield"),
		.tags = read_texts(L, "tags"),
		.size = read_size(L),
		.aggregation = read_aggregation(L, "aggregation"),
		.groupby_aggregation = read_aggregation(L, "groupby_aggregation"),
		.is_key = (uint8_t)sinsp_chisel_is_true(L, "is_key"),
		.is_groupby_key = (uint8_t)sinsp_chisel_is_true(L, "is_groupby_key"),
		.is_sorting = (uint8_t)sinsp_chisel_is_true(L, "is_sorting"),
		.filter_in_child_only = (uint8_t)sinsp_chisel_is_true(L, "filter_in_child_only"),
	};
}

static void read_columns(lua_State *L, struct sinsp_view *view)
{
	const size_t n = push_rows(L, "columns");
	struct sinsp_view_column *v = keep_room(L, n, sizeof(*v));

	for (size_t i = 0; i < n; i++) {
		if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TTABLE)
			luaL_error(L, "view_info.columns has a row that is not a table");
		read_column(L, &v[i]);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	view->columns = v;
	view->n_columns = n;
}

/* Returns 1 unless the table on top of the stack has false. */
static uint8_t is_not_false(lua_State *L, const char *key)
{
	const int is_false = lua_getfield(L, -1, key) == LUA_TBOOLEAN && !lua_toboolean(L, -1);

	lua_pop(L, 1);
	return !is_false;
}

static void read_actions(lua_State *L, struct sinsp_view *view)
{
	const size_t n = push_rows(L, "actions");
	struct sinsp_view_action *v = keep_room(L, n, sizeof(*v));

	for (size_t i = 0; i < n; i++) {
		if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TTABLE)
			luaL_error(L, "view_info.actions has a row that is not a table");
		v[i] = (struct sinsp_view_action){
			.hotkey = sinsp_chisel_keep_text(L, "hotkey"),
			.description = sinsp_chisel_keep_text(L, "description"),
			.command = sinsp_chisel_keep_text(L, "command"),
			.asks = (uint8_t)sinsp_chisel_is_true(L, "ask_confirmation"),
			.waits = is_not_false(L, "wait_finish"),
		};
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	view->actions = v;
	view->n_actions = n;
}

void sinsp_chisel_read_view(lua_State *L, struct sinsp_chisel_info *info)
{
	struct sinsp_view *view = keep_room(L, 1, sizeof(*view));

	*view = (struct sinsp_view){
		.id = sinsp_chisel_keep_text(L, "id"),
		.name = sinsp_chisel_keep_text(L, "name"),
		.description = sinsp_chisel_keep_text(L, "description"),
		.type = sinsp_chisel_keep_text(L, "view_type"),
		.filter = keep_text_or(L, "filter", "json_filter"),
		.drilldown_target = sinsp_chisel_keep_text(L, "drilldown_target"),
		.tags = read_texts(L, "tags"),
		.tips = read_texts(L, "tips"),
		.applies_to = read_texts(L, "applies_to"),
		.use_defaults = (uint8_t)sinsp_chisel_is_true(L, "use_defaults"),
		.is_root = (uint8_t)sinsp_chisel_is_true(L, "is_root"),
		.keeps_filter = is_not_false(L, "propagate_filter"),
		.is_deeper = (uint8_t)sinsp_chisel_is_true(L, "drilldown_increase_depth"),
	};
	read_columns(L, view);
	read_actions(L, view);
	info->view = view;
}

int sinsp_view_is_list(const struct sinsp_view *view)
{
	return strcmp(view->type, "list") == 0;
}
