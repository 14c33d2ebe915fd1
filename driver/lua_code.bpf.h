/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of Lua's functions. A function has no name of its own: it is named as its caller's code
 * names it, as Lua's own traceback does: by the instruction that loaded the called function. A main
 * chunk has no name.
 */
#ifndef DRIVER_LUA_CODE_BPF_H
#define DRIVER_LUA_CODE_BPF_H

#include "script_text.bpf.h"
#include "walk_lua.bpf.h"

#define LUA_LOOK_BACK 24 /* instructions before a call */
#define LUA_LOCALS_MAX 64
#define LUA_ENTRY_SZ 16 /* of constants, upvalues and locals */

#define LUA_SHORT_STRING 4 /* types of strings */
#define LUA_LONG_STRING 0x14
#define LUA_STRING_LEN 11 /* of a short one */
#define LUA_STRING_LONG_LEN 16
#define LUA_STRING_TEXT 24
#define LUA_STRING_SZ 32

#define LUA_PROTO_N_LINES 28
#define LUA_PROTO_N_LOCALS 36
#define LUA_PROTO_N_BASES 40
#define LUA_BASE_SZ 8

/* A place in w->object for what is read besides prototype, CallInfo and value. */
#define LUA_MORE_AT 224

#define LUA_OUTSIDE_TEXT 5 /* since 5.5 the text of a long string need not follow it */

static __always_inline struct script_text lua_text(struct user_walk *w, const struct interp_lua *p,
						   u64 str)
{
	struct script_text t = {.kind = INTERP_BYTES};
	u8 type;

	if (!str || walk_read(w, w->object + LUA_MORE_AT, LUA_STRING_SZ, str))
		return t;
	type = w->object[LUA_MORE_AT + 8];
	if (type == LUA_SHORT_STRING)
		t.len = w->object[LUA_MORE_AT + LUA_STRING_LEN];
	else if (type == LUA_LONG_STRING)
		t.len = object_u64(w, LUA_MORE_AT + LUA_STRING_LONG_LEN);
	else
		return t;
	t.at = str + LUA_STRING_TEXT;
	if (type == LUA_LONG_STRING && p->minor >= LUA_OUTSIDE_TEXT)
		t.at = object_u64(w, LUA_MORE_AT + LUA_STRING_TEXT);
	return t;
}

/* Returns the instruction at @at; 0: it is not there. Verified on its own, as Linux 6.1 follows
 * each branch of a loop's body in each round. */
WALK_FUNC u32 lua_insn(struct user_walk *w, u64 at)
{
	if (!w || walk_read(w, w->object + LUA_MORE_AT, LUA_INSN_SZ, at))
		return 0;
	return object_u32(w, LUA_MORE_AT);
}

static __always_inline u32 lua_op(const struct interp_lua *p, u32 insn)
{
	return insn & p->op_mask;
}

static __always_inline u32 lua_a(const struct interp_lua *p, u32 insn)
{
	return insn >> (p->a_at & 31) & 0xff;
}

/* Returns the name of the local variable in register @reg at instruction @at of the prototype that
 * was read last; 0: none. Verified on its own. */
WALK_FUNC u64 lua_local(struct user_walk *w, const struct interp_lua *p, u32 reg, u32 at)
{
	u64 locals;
	u32 n;

	if (!w || !p)
		return 0;
	locals = object_u64(w, p->proto_locals);
	n = object_u32(w, LUA_PROTO_N_LOCALS);
	for (u32 i = 0; i < LUA_LOCALS_MAX && i < n; i++) {
		if (walk_read(w, w->object + LUA_MORE_AT, LUA_ENTRY_SZ,
			      (locals + i * LUA_ENTRY_SZ)) ||
		    object_u32(w, LUA_MORE_AT + 8) > at)
			return 0;
		if (at >= object_u32(w, LUA_MORE_AT + 12))
			continue;
		if (!reg--)
			return object_u64(w, LUA_MORE_AT);
	}
	return 0;
}

/* Returns the string that @insn, instruction @at, uses to load a function; 0: none. */
static __always_inline u64 lua_loaded_by(struct user_walk *w, const struct interp_lua *p, u32 insn,
					 u32 at)
{
	const u32 op = lua_op(p, insn), b = insn >> (p->b_at & 31) & p->b_mask;
	u32 c = insn >> (p->c_at & 31) & p->c_mask;
	u64 from;

	if (op == p->op_move)
		return lua_local(w, p, b, at);
	if (op == p->op_get_upvalue) {
		from = object_u64(w, p->proto_upvalues) + (u64)b * LUA_ENTRY_SZ;
	} else if (op == p->op_get_global || op == p->op_get_field || op == p->op_self) {
		if ((c & p->c_constant) != p->c_constant ||
		    (op == p->op_self && p->key_at && !(insn >> (p->key_at & 31) & 1)))
			return 0;
		c &= ~(u32)p->c_constant;
		from = object_u64(w, p->proto_constants) + (u64)c * LUA_ENTRY_SZ;
	} else {
		return 0;
	}
	return read_word(w, from) ? 0 : w->word;
}

/* Returns the name, a string, that the caller of the function at CallInfo @call has for it; 0:
 * none. Verified on its own. */
WALK_FUNC u64 lua_function_name(struct user_walk *w, const struct interp_lua *p, u64 call)
{
	u32 insn, reg, at;
	bool loads = false;
	u64 code;

	if (!w || !p || !lua_read_call(w, p, call) || !object_u32(w, p->proto_line) ||
	    object_u16(w, LUA_CALL_AT + p->call_status) & (p->entry | p->tail) ||
	    !lua_read_call(w, p, object_u64(w, LUA_CALL_AT + LUA_CALL_PREVIOUS)))
		return 0;
	code = object_u64(w, p->proto_code);
	at = lua_position(w, p, object_u64(w, LUA_CALL_AT + p->call_pc));
	insn = lua_insn(w, code + (u64)at * LUA_INSN_SZ);
	if (lua_op(p, insn) != p->op_call && lua_op(p, insn) != p->op_tail_call)
		return 0;
	reg = lua_a(p, insn);
	for (u32 i = 0; i < LUA_LOOK_BACK && at; i++) {
		at--;
		insn = lua_insn(w, code + (u64)at * LUA_INSN_SZ);
		loads = lua_op(p, insn) != p->op_jump && lua_a(p, insn) == reg;
		if (loads)
			break;
	}
	return loads ? lua_loaded_by(w, p, insn, at) : 0;
}

/* Puts the parameters of the event of prototype @c. */
static __always_inline void put_lua_code(struct rec *r, struct user_walk *w,
					 const struct walk_code *c, const struct interp_lua *p)
{
	struct script_content *s = &w->content;

	*s = (struct script_content){.name = lua_text(w, p, lua_function_name(w, p, c->at)),
				     .version = p->minor};
	if (!lua_read_call(w, p, c->at))
		return;
	s->lines.at = object_u64(w, p->proto_lines);
	s->lines.len = (u64)object_u32(w, LUA_PROTO_N_LINES) * p->line_sz;
	s->bases.at = p->proto_line_bases ? object_u64(w, p->proto_line_bases) : 0;
	s->bases.len = (u64)object_u32(w, LUA_PROTO_N_BASES) * LUA_BASE_SZ;
	s->first_line = object_u32(w, p->proto_line);
	s->file = lua_text(w, p, object_u64(w, p->proto_source));
	put_script(r, w, c, s);
}

#endif /* DRIVER_LUA_CODE_BPF_H */
