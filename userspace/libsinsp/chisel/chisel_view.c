/* SPDX-License-Identifier: Apache-2.0 */
/* Views: reads view_info, a table of columns without functions. */
#include "chisel_host.h"

enum { COLUMNS_MAX = 100 };

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

static void read_columns(lua_State *L, struct sinsp_view *view)
{
	const size_t n = push_rows(L, "columns");
	struct sinsp_view_column *v = keep_room(L, n, sizeof(*v));

	for (size_t i = 0; i < n; i++) {
		if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TTABLE)
			luaL_error(L, "view_info.columns has a row that is not a table");
		v[i] = (struct sinsp_view_column){
			.name = sinsp_chisel_keep_text(L, "name"),
			.description = sinsp_chisel_keep_text(L, "description"),
			.field = sinsp_chisel_keep_text(L, "field"),
			.is_key = (uint8_t)(sinsp_chisel_is_true(L, "is_key") ||
					    sinsp_chisel_is_true(L, "is_groupby_key")),
		};
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	view->columns = v;
	view->n_columns = n;
}

void sinsp_chisel_read_view(lua_State *L, struct sinsp_chisel_info *info)
{
	struct sinsp_view *view = keep_room(L, 1, sizeof(*view));

	*view = (struct sinsp_view){
		.name = sinsp_chisel_keep_text(L, "name"),
		.description = sinsp_chisel_keep_text(L, "description"),
		.type = sinsp_chisel_keep_text(L, "view_type"),
		.filter = sinsp_chisel_keep_text(L, "filter"),
	};
	read_columns(L, view);
	info->view = view;
}
