/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the frames of PUC Lua 5.3 and 5.4.
 *
 * The loop (luaV_execute) keeps its CallInfo in a register. From there the list of CallInfos leads
 * to the one with which this activation of the loop began. Neither the lua_State nor the coroutine
 * is needed: an activation belongs to one of them.
 */
#ifndef DRIVER_WALK_LUA_BPF_H
#define DRIVER_WALK_LUA_BPF_H

#include "script_codes.bpf.h"
#include "shared/user_walk.h"

#define LUA_STEP 4 /* maximum number of frames per call: a loop that is unrolled */
#define LUA_INSN_SZ 4
#define LUA_FUNCTION 0x46 /* type of a value: a function written in Lua */

/* In structures of both versions. */
#define LUA_CALL_FUNCTION 0
#define LUA_CALL_PREVIOUS 16
#define LUA_CALL_SZ 72
#define LUA_VALUE_TYPE 8
#define LUA_CLOSURE_PROTO 24
#define LUA_PROTO_N_CODE 24
#define LUA_PROTO_SZ 120

/* Where they are copied in w->object. */
#define LUA_CALL_AT 128
#define LUA_VALUE_AT 208

/* Reads the CallInfo at @call, and the prototype of its function. Returns the prototype's address;
 * 0: no Lua function. */
static __always_inline u64 lua_read_call(struct user_walk *w, const struct interp_lua *p, u64 call)
{
	u64 proto;

	if (!user_word(call) || walk_read(w, w->object + LUA_CALL_AT, LUA_CALL_SZ, call) ||
	    walk_read(w, w->object + LUA_VALUE_AT, 16,
		      object_u64(w, LUA_CALL_AT + LUA_CALL_FUNCTION)) ||
	    w->object[LUA_VALUE_AT + LUA_VALUE_TYPE] != LUA_FUNCTION ||
	    read_word(w, object_u64(w, LUA_VALUE_AT) + LUA_CLOSURE_PROTO))
		return 0;
	proto = w->word;
	if (walk_read(w, w->object, LUA_PROTO_SZ, proto) || w->object[8] != p->proto_type)
		return 0;
	return proto;
}

/* Returns the number of the instruction that a function runs; the next one is at @pc. */
static __always_inline u64 lua_position(const struct user_walk *w, const struct interp_lua *p,
					u64 pc)
{
	const u64 next = (pc - object_u64(w, p->proto_code)) / LUA_INSN_SZ;

	return next ? next - 1 : 0;
}

/* Returns the next instruction of the frame that was read last. The loop itself, and functions that
 * it calls directly, may run ahead of the one in the CallInfo. */
static __always_inline u64 lua_pc(const struct user_walk *w, const struct interp_lua *p)
{
	const u64 pc = w->regs[p->pc_reg & (WALK_REGS - 1)];

	if (w->n <= 2 && p->pc_reg != LUA_NO_REG &&
	    pc - object_u64(w, p->proto_code) <= (u64)object_u32(w, LUA_PROTO_N_CODE) * LUA_INSN_SZ)
		return pc;
	return object_u64(w, LUA_CALL_AT + p->call_pc);
}

/* Puts one frame. Returns whether the activation has more. Numbers stay in @w: the stack is short.
 */
static __always_inline int lua_step(struct user_walk *w, const struct interp_lua *p)
{
	u64 *proto = &w->script[STACK_WALKER_LUA];
	u32 check;

	*proto = lua_read_call(w, p, w->script_frame);
	w->word = lua_position(w, p, lua_pc(w, p));
	if (!*proto || w->word > object_u32(w, LUA_PROTO_N_CODE))
		return SCRIPT_END;
	check = script_check(object_u64(w, p->proto_source), object_u32(w, p->proto_line),
			     object_u32(w, LUA_PROTO_N_CODE));
	script_used(w, STACK_WALKER_LUA, *proto, check, w->script_frame, 0);
	if (walk_put_code(w, STACK_WALKER_LUA, *proto, w->word, check))
		return SCRIPT_FULL;
	if (object_u16(w, LUA_CALL_AT + p->call_status) & p->entry)
		return SCRIPT_END;
	w->script_frame = object_u64(w, LUA_CALL_AT + LUA_CALL_PREVIOUS);
	return SCRIPT_MORE;
}

/* Returns the CallInfo of the loop; 0: its register was lost on the way. */
static __always_inline u64 lua_call(const struct user_walk *w, const struct interp_lua *p)
{
	const u32 reg = p->call_reg & (WALK_REGS - 1);

	return w->known & KNOWN(reg) ? w->regs[reg] : 0;
}

/* Verified on its own. */
WALK_FUNC int walk_lua(struct user_walk *w, const struct interp_process *p)
{
	int r;

	if (!w || !p)
		return 1;
	if (!w->script_frame)
		w->script_frame = lua_call(w, &p->lua);
#pragma unroll
	for (u32 i = 0; i < LUA_STEP; i++) {
		OPAQUE(w); /* else addresses in it are computed before, and fill the stack */
		OPAQUE(p);
		r = lua_step(w, &p->lua);
		if (r != SCRIPT_MORE) {
			w->script_frame = 0;
			return r == SCRIPT_FULL;
		}
	}
	return WALK_AGAIN;
}

#endif /* DRIVER_WALK_LUA_BPF_H */
