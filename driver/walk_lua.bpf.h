/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the frames of PUC Lua 5.3 to 5.5.
 *
 * The loop (luaV_execute) keeps its CallInfo in a register. From there the list of CallInfos leads
 * to the one with which this activation of the loop began. Where the native walk does not restore
 * the register, the caller of the loop has the lua_State in one that the loop saves. Its list of
 * CallInfos has those of all its activations: each one begins with the closure that the frame of
 * the loop has.
 */
#ifndef DRIVER_WALK_LUA_BPF_H
#define DRIVER_WALK_LUA_BPF_H

#include "script_codes.bpf.h"
#include "shared/user_walk.h"

#define LUA_STEP 4 /* maximum number of frames per call: a loop that is unrolled */
#define LUA_INSN_SZ 4
#define LUA_FUNCTION 0x46 /* types of values: a function written in Lua, */
#define LUA_C_CLOSURE 0x66 /* and in C */
#define LUA_C_FUNCTION 0x16
#define LUA_SKIPPED_MAX 8 /* maximum number of CallInfos of C before one of an activation */

/* In structures of all versions. */
#define LUA_STATE_TYPE 8
#define LUA_STATE_CALL 32
#define LUA_STATE_SZ 40
#define LUA_THREAD 8 /* type of a lua_State */
#define LUA_CALL_FUNCTION 0
#define LUA_CALL_PREVIOUS 16
#define LUA_CALL_NEXT 24 /* stays there after its function has returned */
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

	w->object[LUA_VALUE_AT + LUA_VALUE_TYPE] = 0;
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

	if (w->n <= 2 && p->pc_reg != LUA_NO_REG && !w->lua.returned &&
	    pc - object_u64(w, p->proto_code) <= (u64)object_u32(w, LUA_PROTO_N_CODE) * LUA_INSN_SZ)
		return pc;
	return object_u64(w, LUA_CALL_AT + p->call_pc);
}

/* Returns whether the CallInfo that was read last is that of a function in C. */
static __always_inline bool lua_is_c(const struct user_walk *w)
{
	const u8 type = w->object[LUA_VALUE_AT + LUA_VALUE_TYPE];

	return type == LUA_C_CLOSURE || type == LUA_C_FUNCTION;
}

/* Goes to the next CallInfo. Returns whether the activation has it. */
static __always_inline int lua_next(struct user_walk *w, const struct interp_lua *p)
{
	const u64 next = object_u64(w, LUA_CALL_AT + LUA_CALL_PREVIOUS);

	if (object_u16(w, LUA_CALL_AT + p->call_status) & p->entry && !w->lua.resumed) {
		w->lua.next[w->lua.slot & (WALK_LUA_STATES - 1)] = next;
		return SCRIPT_END;
	}
	w->script_frame = next;
	return next ? SCRIPT_MORE : SCRIPT_END;
}

/* Puts one frame. Returns whether the activation has more. Numbers stay in @w: the stack is short.
 */
static __always_inline int lua_step(struct user_walk *w, const struct interp_lua *p)
{
	u64 *proto = &w->script[STACK_WALKER_LUA];
	u32 check;

	*proto = lua_read_call(w, p, w->script_frame);
	if (!*proto && w->lua.resumed && lua_is_c(w))
		return lua_next(w, p);
	w->word = lua_position(w, p, lua_pc(w, p));
	if (!*proto || w->word > object_u32(w, LUA_PROTO_N_CODE))
		return SCRIPT_END;
	check = script_check(object_u64(w, p->proto_source), object_u32(w, p->proto_line),
			     object_u32(w, LUA_PROTO_N_CODE));
	script_used(w, STACK_WALKER_LUA, *proto, check, w->script_frame, 0);
	if (walk_put_code(w, STACK_WALKER_LUA, *proto, w->word, check))
		return SCRIPT_FULL;
	return lua_next(w, p);
}

/* Returns the CallInfo in the register of the loop; 0: it was lost on the way. */
static __always_inline u64 lua_call(const struct user_walk *w, const struct interp_lua *p)
{
	const u32 reg = p->call_reg & (WALK_REGS - 1);

	return w->known & KNOWN(reg) ? w->regs[reg] : 0;
}

/* Finds the call of the loop that made its frame, and with it the lua_State, w->lua.current, and
 * whether it continues a coroutine. A coroutine's first activation returns to its protection, which
 * begins its frame with the lua_State. Returns not 0 if the frame is not complete. Verified on its
 * own. */
WALK_FUNC int lua_read_return(struct user_walk *w, const struct interp_process *p)
{
	const struct interp_lua *lua = p ? &p->lua : NULL;
	u64 cfa, at, ret;

	if (!w || !p)
		return -1;
	w->lua.resumed = 0;
	if (!lua->frame || (RULE_KIND(w->rule) & UNWIND_KIND_MASK) != UNWIND_RSP ||
	    RULE_CFA(w->rule) != lua->frame)
		return -1;
	cfa = w->sp + lua->frame * 8ull;
	at = cfa;
	if (read_word(w, cfa - 8))
		return -1;
	ret = w->word - p->root;
	for (u32 i = 0; i < LUA_RETURNS_MAX && i < lua->n_returns; i++) {
		const struct interp_lua_return *r = &lua->returns[i];

		if (ret != (u64)(s64)r->at)
			continue;
		at = cfa - 8 * (r->reg == UNWIND_RBX ? UNWIND_SAVED_RBX(RULE_SAVED(w->rule))
						     : UNWIND_SAVED_RBP(RULE_SAVED(w->rule)));
		if (!r->reg || at >= cfa - 8)
			return -1;
		w->lua.resumed = r->resumes;
	}
	if (read_word(w, at))
		return -1;
	w->lua.current = w->word;
	return 0;
}

/* Finds the slot of the lua_State w->lua.current, and where its list of CallInfos continues. Sets
 * w->lua.current to its first one. Returns not 0 if it is no lua_State. */
static __always_inline int lua_read_state(struct user_walk *w)
{
	const u64 state = w->lua.current;

	if (!user_word(state) || walk_read(w, w->object, LUA_STATE_SZ, state) ||
	    w->object[LUA_STATE_TYPE] != LUA_THREAD)
		return -1;
	w->lua.call = w->lua.current = object_u64(w, LUA_STATE_CALL);
	for (u32 i = 0; i < WALK_LUA_STATES; i++) {
		if (i >= w->lua.n || w->lua.state[i] != state)
			continue;
		w->lua.slot = i;
		w->lua.call = w->lua.next[i];
		w->lua.current = 0; /* in an activation further inside */
		return 0;
	}
	w->lua.slot = w->lua.n++ & (WALK_LUA_STATES - 1);
	w->lua.state[w->lua.slot & (WALK_LUA_STATES - 1)] = state;
	w->lua.next[w->lua.slot & (WALK_LUA_STATES - 1)] = w->lua.call;
	return 0;
}

/* Returns whether the loop itself runs, with @call in its register, which is the current CallInfo
 * or one next to it: it changes first. */
static __always_inline bool lua_runs(struct user_walk *w, u64 call)
{
	const u64 current = w->lua.current;

	if (!w->exact || !current || !user_word(call))
		return false;
	if (call == current)
		return true;
	if (!read_word(w, current + LUA_CALL_PREVIOUS) && w->word == call)
		return true;
	return !read_word(w, call + LUA_CALL_PREVIOUS) && w->word == current;
}

/* Returns whether the function of the loop's frame may have returned to that of the current
 * CallInfo, which was read last, in the same activation: the loop still has the former. */
static __always_inline bool lua_returned(struct user_walk *w, const struct interp_lua *p)
{
	const u64 next = object_u64(w, LUA_CALL_AT + LUA_CALL_NEXT);

	w->word = 0;
	w->lua.returned = w->lua.call == w->lua.current && user_word(next) &&
			  !walk_read(w, &w->word, sizeof(u16), next + p->call_status) &&
			  !(w->word & p->entry);
	return w->lua.returned;
}

/* Returns the CallInfo with which the frames of the activation begin, from w->lua.call on; 0: none.
 * A function that is about to begin in another activation does not run yet. While one begins, its
 * CallInfo may be that of an earlier call, and look as if the one in the frame had returned to it:
 * the one in the frame follows then. Verified on its own. */
WALK_FUNC u64 lua_find_call(struct user_walk *w, const struct interp_lua *p)
{
	u64 current = 0;

	if (!w || !p || read_word(w, w->sp + p->closure * 8ull))
		return 0;
	w->lua.closure = w->word;
	for (u32 i = 0; i < LUA_SKIPPED_MAX; i++) {
		const u64 call = w->lua.call;

		if (!lua_read_call(w, p, call)) {
			if (!user_word(call) || !lua_is_c(w))
				return current;
		} else if (object_u64(w, LUA_VALUE_AT) == w->lua.closure) {
			return current ? 0 : call;
		} else if (object_u64(w, LUA_CALL_AT + p->call_pc) !=
			   object_u64(w, p->proto_code)) {
			if (current || !lua_returned(w, p))
				return current;
			current = call;
		}
		w->lua.call = object_u64(w, LUA_CALL_AT + LUA_CALL_PREVIOUS);
	}
	return 0;
}

/* Returns the first CallInfo of the activation that the walk is at; 0: unknown. */
static __always_inline u64 lua_first(struct user_walk *w, const struct interp_process *p)
{
	const u64 call = lua_call(w, &p->lua);
	int no_state;

	if (walk_script_begins(w, STACK_WALKER_LUA))
		w->lua.n = 0;
	w->lua.returned = 0;
	no_state = lua_read_return(w, p);
	if (!p->lua.by_state)
		return call;
	if (no_state || lua_read_state(w))
		return 0;
	return lua_runs(w, call) ? call : lua_find_call(w, &p->lua);
}

/* Verified on its own. */
WALK_FUNC int walk_lua(struct user_walk *w, const struct interp_process *p)
{
	int r;

	if (!w || !p)
		return 1;
	if (!w->script_frame)
		w->script_frame = lua_first(w, p);
	if (!w->script_frame)
		return 0;
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
