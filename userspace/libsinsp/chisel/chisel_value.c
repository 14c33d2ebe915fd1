/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a chisel, and their values in Lua. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chisel_host.h"
#include "fields/field.h"
#include "fields/text.h"
#include "hash.h"

static int field_of_name(lua_State *L, const char *name)
{
	struct sinsp_chisel *c = chisel_of(L);
	const char *why = "";
	struct sinsp_chisel_field *fields;
	struct sinsp_field *f;
	size_t at;
	int r;

	/* Scripts request a field repeatedly, some at each event. */
	fields = realloc(c->fields, (c->n_fields + 1) * sizeof(*fields));
	if (!fields)
		return luaL_error(L, "not enough memory");
	c->fields = fields;
	fields += c->n_fields;
	*fields = (struct sinsp_chisel_field){0};
	f = &fields->field;
	r = sinsp_field_parse(f, name, &why, &at);
	if (r >= 0 && name[r]) {
		why = "there is something behind the field";
		r = -EINVAL;
	}
	if (r < 0) {
		lua_pushstring(L, r == -ENOMEM ? "not enough memory" : why);
		sinsp_field_fini(f);
		return luaL_error(L, "chisel.request_field('%s'): %s", name, lua_tostring(L, -1));
	}
	for (size_t i = 0; i < c->n_fields; i++) {
		if (sinsp_field_equal(&c->fields[i].field, f)) {
			sinsp_field_fini(f);
			return (int)i;
		}
	}
	if (f->row->needs)
		sinsp_chisel_warn_no_calls(c, f->row->name);
	return (int)c->n_fields++;
}

int sinsp_chisel_field_index(lua_State *L, int at)
{
	const lua_Unsigned i = (lua_Unsigned)lua_tointeger(L, at) - 1;

	if (lua_type(L, at) == LUA_TSTRING)
		return field_of_name(L, lua_tostring(L, at));
	if (i >= chisel_of(L)->n_fields)
		return luaL_error(L, "neither a field of chisel.request_field nor a field name");
	return (int)i;
}

void sinsp_chisel_push_unsigned(lua_State *L, uint64_t u)
{
	if (u <= LUA_MAXINTEGER)
		lua_pushinteger(L, (lua_Integer)u);
	else
		lua_pushnumber(L, (lua_Number)u);
}

/* Pushes the value as -p prints it. */
static void push_text(lua_State *L, struct sinsp_eval *e, const struct sinsp_value *v)
{
	e->text.len = 0;
	if (sinsp_value_text(&e->text, e, v))
		luaL_error(L, "not enough memory");
	chisel_terminal_note(&chisel_of(L)->terminal, e->text.p ?: "", e->text.len);
	lua_pushlstring(L, e->text.p ?: "", e->text.len);
	e->text.len = 0;
}

/* Pushes the captured bytes. */
static void push_captured(lua_State *L, const struct sinsp_value *v)
{
	chisel_terminal_note(&chisel_of(L)->terminal, v->p, v->len);
	lua_pushlstring(L, v->p, v->len);
}

/* Returns whether the text is printed unchanged, as nearly all names are. */
static int is_plain(const struct sinsp_value *v)
{
	const char *p = v->p;
	uint32_t n = v->len;
	uint64_t w;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&w, p, 8);
		if (!all_printable(w))
			return 0;
	}
	w = 0x2020202020202020;
	memcpy(&w, p, n);
	return all_printable(w);
}

/* Returns whether Lua gets the printed form of the value, else its bytes. */
static int is_shown(const struct sinsp_chisel_field *cf, const struct sinsp_value *v)
{
	switch ((enum sinsp_field_type)v->type) {
	case FIELD_STR:
	case FIELD_PATH:
		return v->is_name && !is_plain(v);
	case FIELD_BYTES: /* evt.buffer is printed as sysdig.set_output_format says; evt.rawarg is
			     not */
		return cf->field.row->type == FIELD_BYTES;
	default:
		return 1;
	}
}

int sinsp_chisel_make_text(struct sinsp_chisel *c, const struct sinsp_chisel_field *cf,
			   struct sinsp_value *v)
{
	struct sinsp_eval *e = &c->eval;
	int r;

	if (!is_shown(cf, v))
		return 0;
	e->text.len = 0;
	r = sinsp_value_text(&e->text, e, v) ?: sinsp_eval_keep(e, v);
	return r < 0 ? r : 0;
}

int sinsp_chisel_has_bytes(const struct sinsp_value *v)
{
	return v->type == FIELD_STR || v->type == FIELD_IP || v->type == FIELD_NET;
}

/* Converts a value so that values which are equal in Lua are equal bytes. Returns 0 or -ENOMEM. */
static int make_key(struct sinsp_chisel *c, const struct sinsp_chisel_field *cf,
		    struct sinsp_value *v)
{
	v->fmt = v->made = 0;
	switch ((enum sinsp_field_type)v->type) {
	case FIELD_UINT:
	case FIELD_PORT:
	case FIELD_TIME:
	case FIELD_DURATION:
		if (v->u <= INT64_MAX) {
			v->type = FIELD_INT;
		} else {
			v->d = (double)v->u;
			v->type = FIELD_DOUBLE;
		}
		break;
	case FIELD_INT:
	case FIELD_DOUBLE:
	case FIELD_BOOL:
	case FIELD_IP:
	case FIELD_NET:
		break;
	default:
		if (sinsp_chisel_make_text(c, cf, v))
			return -ENOMEM;
		v->is_name = 0;
		v->type = FIELD_STR;
	}
	if (!sinsp_chisel_has_bytes(v))
		v->len = 0;
	return 0;
}

void sinsp_chisel_set_event(struct sinsp_chisel *c, const struct sinsp_evt *evt)
{
	c->evt = evt;
	c->eval.insp = evt->insp;
	c->eval.buf_fmt = c->run->buf_fmt;
	c->eval.buf_max = c->run->buf_max;
	c->eval.port_names = c->run->port_names;
	sinsp_eval_set(&c->eval, evt);
}

int sinsp_chisel_get_value(struct sinsp_chisel *c, int field, struct sinsp_value *v)
{
	struct sinsp_chisel_field *cf = &c->fields[field];
	const struct sinsp_value *more;
	int n = sinsp_field_get(&c->eval, &cf->field, v, &more);

	if (n > 0)
		return make_key(c, cf, v) ?: 1;
	*v = (struct sinsp_value){.type = FIELD_NONE};
	return n;
}

uint64_t sinsp_chisel_hash_value(uint64_t h, const struct sinsp_value *v)
{
	h = scap_hash_number(h, v->type);
	return sinsp_chisel_has_bytes(v) ? scap_hash_bytes(h, v->p, v->len)
					 : scap_hash_number(h, v->u);
}

/* Finds the value among the latest ones: scripts mostly see few different values. */
static struct sinsp_chisel_text *find_text(struct sinsp_chisel_field *cf,
					   const struct sinsp_value *v)
{
	const uintptr_t at = (uintptr_t)v->p;

	return &cf->texts[(at >> 3 ^ at >> 8 ^ v->len) % SINSP_CHISEL_TEXTS];
}

static int is_text(const struct sinsp_chisel_text *t, const struct sinsp_value *v)
{
	return t->ref && t->len == v->len && memcmp(t->p, v->p, v->len) == 0;
}

static void push_new_text(lua_State *L, struct sinsp_chisel_text *t, const struct sinsp_value *v)
{
	enum { KEPT_MAX = 256 };
	const char *p = lua_pushlstring(L, v->p, v->len);

	if (v->len > KEPT_MAX)
		return;
	lua_pushvalue(L, -1);
	if (t->ref)
		lua_rawseti(L, LUA_REGISTRYINDEX, t->ref);
	else
		t->ref = luaL_ref(L, LUA_REGISTRYINDEX);
	t->p = p;
	t->len = v->len;
}

void sinsp_chisel_push_value(lua_State *L, struct sinsp_chisel_field *cf,
			     const struct sinsp_value *v)
{
	struct sinsp_eval *e = &chisel_of(L)->eval;
	struct sinsp_chisel_text *t;

	switch ((enum sinsp_field_type)v->type) {
	case FIELD_INT:
		lua_pushinteger(L, v->i);
		break;
	case FIELD_UINT:
	case FIELD_PORT:
	case FIELD_TIME:
	case FIELD_DURATION:
		sinsp_chisel_push_unsigned(L, v->u);
		break;
	case FIELD_DOUBLE:
		lua_pushnumber(L, v->d);
		break;
	case FIELD_BOOL:
		lua_pushboolean(L, v->u != 0);
		break;
	case FIELD_STR:
	case FIELD_PATH:
		t = find_text(cf, v);
		if (is_text(t, v)) {
			lua_rawgeti(L, LUA_REGISTRYINDEX, t->ref);
			break;
		}
		if (is_plain(v)) {
			push_new_text(L, t, v);
			break;
		}
		__attribute__((fallthrough));
	default:
		if (is_shown(cf, v))
			push_text(L, e, v);
		else
			push_captured(L, v);
	}
}
