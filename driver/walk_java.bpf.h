/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the methods of Java on HotSpot, interpreted and compiled.
 *
 * An interpreter's frame has the method and the bytecode. A compiled frame has a fixed size; for
 * each call in it the compiler keeps which methods were inlined there, and at which bytecodes. A
 * walk goes on from one frame of the code cache to the next one.
 */
#ifndef DRIVER_WALK_JAVA_BPF_H
#define DRIVER_WALK_JAVA_BPF_H

#include "java_places.bpf.h"

#define JAVA_STEP 4 /* maximum number of frames per call: a loop that is unrolled */
#define JAVA_POINTS_BITS 20 /* a method has at most so many points with debug information, log2 */
#define JAVA_SCOPE_SZ 16 /* bytes: three numbers of at most five */
#define JAVA_NUMBER_SZ 5
#define JAVA_NUMBER_LAST 192 /* a byte below ends a number */
#define JAVA_NUMBER_SHIFT 6
#define JAVA_FRAME_MAX (1u << 17) /* words of a compiled frame */
#define JAVA_PUSHES 5 /* words above a frame where its return address is searched */
#define JAVA_SAVED_FRAME 64 /* words: stubs with larger frames save all registers, and have rbp */

#define JAVA_REG_BCP 13 /* register of the interpreter: the current bytecode */

/* In structures of all versions. */
#define JAVA_POINT_SZ 16
/* The frame of the interpreter, from rbp. */
#define JAVA_FRAME_FROM 72 /* what is read begins so many bytes below */
#define JAVA_FRAME_SZ 88
#define JAVA_FRAME_BCP 8
#define JAVA_FRAME_CACHE 24
#define JAVA_FRAME_METHOD 48
#define JAVA_FRAME_SENDER_SP 64
#define JAVA_FRAME_LINK 72
#define JAVA_FRAME_RETURN 80

/* Set in the key of a place where a thread was interrupted: what belongs to it is another point. */
#define JAVA_EXACT (1ull << 63)

/* How much of its frame an interrupted function has. */
enum { JAVA_FULL, JAVA_BARE, JAVA_PUSHED /* rbp */, JAVA_UNSAVED /* full, but for rbp */ };

#define JAVA_CODE_BEFORE 8 /* bytes of code that are read before an instruction */
#define JAVA_CODE_SZ 16

/* ---- methods ---- */

static __always_inline u32 java_position(const struct user_walk *w, u64 bci)
{
	return bci < w->java.method.n_bytecodes ? (u32)bci : INTERP_JAVA_NO_POSITION;
}

/* Puts a method. */
static __always_inline int java_put(struct user_walk *w, u64 method, u32 position, u32 check)
{
	script_used(w, STACK_WALKER_JAVA, method, check, method, 0);
	return walk_put_code(w, STACK_WALKER_JAVA, method, position, check);
}

/* ---- frames ---- */

/* Brings @sz bytes of stack at @addr into the window. Returns not 0 if they are not there. */
static __always_inline int java_window(struct user_walk *w, u64 addr, u64 sz)
{
	const u64 at = addr - w->window_at, left = 4096 - (addr & 4095);

	if (at < w->window_sz && sz <= w->window_sz - at)
		return 0;
	w->window_sz = 0;
	if (!user_word(addr) || walk_fill(w, left > sz ? left : sz, addr))
		return -1;
	w->window_at = addr;
	w->window_sz = left > sz ? left : sz;
	return 0;
}

/* Returns a word of the window. */
static __always_inline u64 java_word(const struct user_walk *w, u64 addr)
{
	return walk_window(w, addr - w->window_at);
}

/* Goes to the caller, which has its return address below @cfa. */
static __always_inline int java_return(struct user_walk *w, u64 cfa, u32 saves_bp)
{
	if (cfa <= w->sp || !user_word(cfa - 16))
		return walk_ends(w, STACK_END_BAD_SP);
	if (java_window(w, cfa - 16, 16)) {
		w->fault = cfa - 16;
		return walk_ends(w, STACK_END_FAULT);
	}
	w->ip = java_word(w, cfa - 8);
	if (saves_bp)
		w->regs[UNWIND_RBP] = java_word(w, cfa - 16);
	w->known &= KNOWN(UNWIND_RBP) | KNOWN(UNWIND_RSP);
	if (saves_bp)
		w->known |= KNOWN(UNWIND_RBP);
	w->regs[UNWIND_RSP] = w->sp = cfa;
	w->bp = w->regs[UNWIND_RBP];
	w->exact = 0;
	return WALK_STEPPED;
}

/* Goes from a frame of the interpreter at @fp, which is in the window, to its caller. */
static __always_inline int java_leave(struct user_walk *w, u64 fp)
{
	const u64 sender_sp = java_word(w, fp - 8);

	w->ip = java_word(w, fp + 8);
	w->bp = w->regs[UNWIND_RBP] = java_word(w, fp);
	w->known = KNOWN(UNWIND_RBP) | KNOWN(UNWIND_RSP);
	w->sp = fp + 16;
	/* Compiled callers have their frame from here on; the words between are arguments. */
	if (user_fp(sender_sp, w->sp))
		w->sp = sender_sp;
	w->regs[UNWIND_RSP] = w->sp;
	w->exact = 0;
	return WALK_STEPPED;
}

/* Walks a frame of the interpreter. Verified on its own. */
WALK_FUNC int java_interpreted(struct user_walk *w, const struct interp_process *p)
{
	u64 fp, method, bci;

	if (!w || !p)
		return 1;
	fp = w->bp;
	if (!(w->known & KNOWN(UNWIND_RBP)) || !user_fp(fp, w->sp) ||
	    java_window(w, fp - JAVA_FRAME_FROM, JAVA_FRAME_SZ))
		return 0;
	method = java_word(w, fp - JAVA_FRAME_FROM + JAVA_FRAME_METHOD);
	bci = java_word(w, fp - JAVA_FRAME_FROM + JAVA_FRAME_BCP);
	if (java_method_find(w, p, method, bci,
			     java_word(w, fp - JAVA_FRAME_FROM + JAVA_FRAME_CACHE)) &&
	    (java_read_method(w, p, method) ||
	     w->java.method.cache != java_word(w, fp - JAVA_FRAME_FROM + JAVA_FRAME_CACHE)))
		return 0;
	bci -= w->java.method.at + p->java.const_method_sz;
	if (w->exact && w->known & KNOWN(JAVA_REG_BCP)) {
		const u64 now = w->regs[JAVA_REG_BCP] - w->java.method.at - p->java.const_method_sz;

		bci = now < w->java.method.n_bytecodes ? now : bci;
	}
	if (java_put(w, method, java_position(w, bci), w->java.method.check))
		return 1;
	return java_leave(w, fp);
}

/* Returns how much of its frame the function has at the interrupted instruction, by the
 * instructions there: compilers emit few forms. */
static __always_inline int java_frame_state(struct user_walk *w)
{
	const u64 off = w->ip - w->java.place.code;
	const u8 *at;
	u64 left;

	if (walk_read(w, w->object, JAVA_CODE_SZ, w->ip - JAVA_CODE_BEFORE))
		return JAVA_FULL;
	at = w->object + JAVA_CODE_BEFORE;
	if (at[0] == 0xc3 || at[0] == 0x55) /* ret, push rbp */
		return JAVA_BARE;
	if (at[0] == 0x5d || at[-1] == 0x55) /* pop rbp, behind push rbp */
		return JAVA_PUSHED;
	/* A poll, before ret: cmp rsp, [r15 + X]; ja */
	if (at[0] == 0x49 && at[1] == 0x3b && (at[2] == 0xa7 || at[2] == 0x67))
		return JAVA_BARE;
	if (at[0] == 0x0f && at[1] == 0x87 &&
	    ((at[-7] == 0x49 && at[-5] == 0xa7) || (at[-4] == 0x49 && at[-2] == 0x67)))
		return JAVA_BARE;
	left = w->java.place.complete - off;
	if (w->java.place.complete < 0 || off >= (u64)w->java.place.complete)
		return JAVA_FULL;
	if (at[0] == 0x48 && at[1] == 0x89 && at[3] == 0x24 && (at[2] == 0x6c || at[2] == 0xac))
		return JAVA_UNSAVED; /* mov [rsp + X], rbp */
	/* Some have a check behind the frame, of at most 18 bytes. */
	if (at[0] == 0x41 && at[1] == 0x81 && at[2] == 0x7f) /* cmp [r15 + X], N */
		return JAVA_FULL;
	return left <= 6 && at[0] != 0x48 ? JAVA_FULL : JAVA_BARE;
}

/* Goes from an interrupted function to its caller, if its return address is below @cfa or a few
 * words above: some instructions lie between a push and a pop. */
static __always_inline int java_return_near(struct user_walk *w, u64 cfa, u32 saves_bp)
{
	for (u32 i = 0; i < JAVA_PUSHES; i++, cfa += 8) {
		OPAQUE(w);
		if (read_word(w, cfa - 8))
			break;
		if (java_is_code(w, w->word))
			return java_return(w, cfa, saves_bp);
	}
	return walk_ends(w, STACK_END_BAD_PC);
}

/* Returns the end of the frame of a compiled method, and whether it has saved rbp, in *saves_bp; 0:
 * unknown. */
static __always_inline u64 java_cfa(struct user_walk *w, u32 *saves_bp)
{
	const int state = w->exact ? java_frame_state(w) : JAVA_FULL;
	const u64 frame = w->java.place.frame;

	*saves_bp = state == JAVA_FULL || state == JAVA_PUSHED;
	if (state == JAVA_BARE)
		return w->sp + 8;
	if (state == JAVA_PUSHED)
		return w->sp + 16;
	return frame < 2 || frame > JAVA_FRAME_MAX ? 0 : w->sp + frame * 8;
}

/* Goes from a compiled method to its caller. Verified on its own. */
WALK_FUNC int java_step(struct user_walk *w)
{
	u32 saves_bp;
	u64 cfa;

	if (!w)
		return 1;
	cfa = java_cfa(w, &saves_bp);
	if (!cfa)
		return walk_ends(w, STACK_END_BAD_RULE);
	return w->exact ? java_return_near(w, cfa, saves_bp) : java_return(w, cfa, saves_bp);
}

/* Goes from a stub to its caller. Returns 0 if it has a frame pointer. Verified on its own. */
WALK_FUNC int java_stub(struct user_walk *w)
{
	if (!w)
		return 1;
	if (w->exact) {
		/* Many have no frame of their own. */
		if (!read_word(w, w->sp) && java_is_code(w, w->word))
			return java_return(w, w->sp + 8, 0);
		return java_frame_state(w) == JAVA_PUSHED ? java_return(w, w->sp + 16, 1) : 0;
	}
	if (w->java.place.frame < 2 || w->java.place.frame > JAVA_SAVED_FRAME)
		return 0;
	return java_return(w, w->sp + w->java.place.frame * 8ull, 1);
}

/* ---- compiled methods ---- */

/* Finds the first point at or behind offset @off of the code. Returns the offset of its scope; 0:
 * none. Verified on its own. */
WALK_FUNC u64 java_scope_of(struct user_walk *w, u64 off)
{
	u64 sz;

	if (!w)
		return 0;
	sz = w->java.points_end - w->java.points;
	w->java.first = 0;
	w->java.n_points = sz / JAVA_POINT_SZ;
	if (sz > (u64)JAVA_POINT_SZ << JAVA_POINTS_BITS)
		return 0;
	for (u32 i = 0; i <= JAVA_POINTS_BITS; i++) {
		const u64 half = w->java.n_points >> 1;

		OPAQUE(w);
		if (!w->java.n_points)
			break;
		if (read_word(w, w->java.points + (w->java.first + half) * JAVA_POINT_SZ))
			return 0;
		if ((s32)w->word >= (s64)off) {
			w->java.n_points = half;
		} else {
			w->java.first += half + 1;
			w->java.n_points -= half + 1;
		}
	}
	if (w->java.first >= sz / JAVA_POINT_SZ ||
	    read_word(w, w->java.points + w->java.first * JAVA_POINT_SZ) ||
	    (s32)w->word == 0x7fffffff)
		return 0;
	return (u32)(w->word >> 32);
}

/* Reads a scope: its caller's, its method, its bytecode. Verified on its own. */
WALK_FUNC int java_read_scope(struct user_walk *w, u64 scope, u32 bias)
{
	u32 n = 0, shift = 0;

	if (!w || walk_read(w, w->object, JAVA_SCOPE_SZ, w->java.scopes + scope))
		return -1;
	w->java.number[0] = w->java.number[1] = w->java.number[2] = 0;
	for (u32 i = 0; i < JAVA_SCOPE_SZ - 1 && n < 3; i++) {
		const u32 byte = w->object[i];

		w->java.number[n] += (byte - bias) << shift;
		shift += JAVA_NUMBER_SHIFT;
		if (byte < JAVA_NUMBER_LAST || shift == JAVA_NUMBER_SZ * JAVA_NUMBER_SHIFT) {
			n++;
			shift = 0;
		}
	}
	return n == 3 ? 0 : -1;
}

/* Appends @method, which was read last, to the place. */
static __always_inline void java_append(struct user_walk *w, u64 method, u32 position)
{
	const u32 n = w->java.place.n & (WALK_JAVA_FUNCTIONS - 1);

	w->java.place.functions[n].method = method;
	w->java.place.functions[n].position = position;
	w->java.place.functions[n].check = w->java.method.check;
	w->java.place.n = n + 1;
}

/* Appends the method of the scope at w->java.scope to the place, and goes to its caller's. */
static __always_inline int java_add_scope(struct user_walk *w, const struct interp_process *p)
{
	if (java_read_scope(w, w->java.scope, p->java.bias) || !w->java.number[1] ||
	    read_word(w, w->java.metadata + (w->java.number[1] - 1) * 8ull))
		return -1;
	if (java_read_method(w, p, w->word))
		return -1;
	/* 0 is before the first bytecode: the entry of a synchronized method. */
	java_append(w, w->java.method.method,
		    java_position(w, w->java.number[2] ? w->java.number[2] - 1 : 0));
	/* Scopes of callers lie before those that refer to them. */
	w->java.scope = w->java.number[0] < w->java.scope ? w->java.number[0] : 0;
	return 0;
}

/* Appends the methods from w->java.scope on, or none if one is not known. Verified on its own. */
WALK_FUNC int java_add_scopes(struct user_walk *w, const struct interp_process *p)
{
	if (!w || !p)
		return -1;
	for (u32 i = 0; i < WALK_JAVA_FUNCTIONS && w->java.scope; i++) {
		OPAQUE(w);
		OPAQUE(p);
		if (java_add_scope(w, p)) {
			w->java.place.n = 0;
			return -1;
		}
	}
	w->java.place.more = w->java.scope;
	return 0;
}

/* Returns whether frames that shall be deoptimized return to @pc. */
static __always_inline int java_is_deopt(const struct user_walk *w, u64 pc)
{
	return pc == w->java.place.deopt || pc == w->java.place.deopt_handle;
}

/* Finds out what the code at @pc is, and for compiled code, the scope there. Returns not 0 if there
 * is none. Verified on its own. */
WALK_FUNC int java_place_begin(struct user_walk *w, const struct interp_process *p, u64 pc,
			       u64 scope)
{
	const u64 ip = pc & ~JAVA_EXACT;

	if (!w || !p || java_read_blob(w, p, java_blob_of(w, ip, p->java.block_sz), ip))
		return -1;
	w->java.place.process = java_process(w);
	w->java.place.pc = pc;
	w->java.place.scope = scope;
	w->java.place.more = 0;
	w->java.place.n = 0;
	w->java.scope = 0;
	if (w->java.place.kind == JAVA_METHOD && !java_is_deopt(w, pc))
		w->java.scope = scope ?: java_scope_of(w, ip + (pc >> 63) - w->java.place.code);
	return 0;
}

/* Completes the place, and keeps it. A method whose scopes are not known is appended itself, and
 * not kept. Verified on its own. */
WALK_FUNC int java_place_end(struct user_walk *w, const struct interp_process *p)
{
	u32 kind;

	if (!w || !p)
		return -1;
	kind = w->java.place.kind;
	if ((kind == JAVA_METHOD || kind == JAVA_NATIVE) && !w->java.place.n &&
	    !java_is_deopt(w, w->java.place.pc)) {
		if (!java_read_method(w, p, header_u64(w, p->java.method)))
			java_append(w, w->java.method.method, INTERP_JAVA_NO_POSITION);
		if (kind == JAVA_METHOD || !w->java.place.n)
			return 0;
	}
	java_place_keep(w);
	return 0;
}

/* Puts the methods of the place. Returns WALK_AGAIN if there are more. Verified on its own. */
WALK_FUNC int java_put_methods(struct user_walk *w)
{
	if (!w)
		return 1;
	for (u32 i = 0; i < WALK_JAVA_FUNCTIONS && i < w->java.place.n; i++)
		if (java_put(w, w->java.place.functions[i].method,
			     w->java.place.functions[i].position, w->java.place.functions[i].check))
			return 1;
	w->script_frame = w->java.place.more;
	return w->script_frame ? WALK_AGAIN : 0;
}

/* Finds the place of @pc. Calls no function that makes it as a whole: on Linux 6.1 a program has at
 * most eight functions that call each other. */
static __always_inline int java_place(struct user_walk *w, const struct interp_process *p, u64 pc)
{
	const u64 scope = w->script_frame;

	if (!java_place_find(w, p, pc, scope))
		return 0;
	if (java_place_begin(w, p, pc, scope))
		return -1;
	if (w->java.scope)
		java_add_scopes(w, p);
	return java_place_end(w, p);
}

/* ---- the walk ---- */

/* Finds the place that a frame returns to which shall be deoptimized: it returns to a handler, and
 * keeps its return address. That of the handler has no methods. */
static __always_inline int java_find_original(struct user_walk *w, const struct interp_process *p)
{
	const u64 blob = w->java.place.blob;

	if (!read_word(w, w->sp + w->java.place.original) && !java_place(w, p, w->word) &&
	    w->java.place.blob == blob)
		return 0;
	return java_place(w, p, w->ip);
}

/* Finds the place of the frame. */
static __always_inline int java_find(struct user_walk *w, const struct interp_process *p)
{
	if (java_place(w, p, w->exact ? w->ip | JAVA_EXACT : w->ip))
		return -1;
	if (w->exact || w->java.place.kind != JAVA_METHOD || !java_is_deopt(w, w->ip))
		return 0;
	return java_find_original(w, p);
}

/* Walks a frame. Returns as a walker does. */
static __always_inline int java_frame(struct user_walk *w, const struct interp_process *p)
{
	int r;

	if (w->ip >= w->java.loop && w->ip < w->java.loop_end)
		return java_interpreted(w, p);
	if (java_find(w, p)) {
		w->script_frame = 0;
		return 0;
	}
	if (w->java.place.kind == JAVA_LOOP)
		return java_interpreted(w, p);
	if (w->java.place.kind == JAVA_STUB)
		return java_stub(w);
	r = java_put_methods(w);
	return r ? r : java_step(w);
}

/* Returns whether the walk can go on here: with more methods of the frame, or with its caller,
 * whose native frame is put. */
static __always_inline int java_goes_on(struct user_walk *w, int r)
{
	if (r == WALK_AGAIN)
		return 1;
	return r == WALK_STEPPED && java_is_code(w, w->ip) && w->n < w->max &&
	       !walk_put(w, STACK_HOW_FP);
}

WALK_FUNC int walk_java(struct user_walk *w, const struct interp_process *p)
{
	int r = 0;

	if (!w || !p)
		return 1;
	if (walk_script_begins(w, STACK_WALKER_JAVA))
		java_begin(w, p);
#pragma unroll
	for (u32 i = 0; i < JAVA_STEP; i++) {
		OPAQUE(w);
		OPAQUE(p);
		r = java_frame(w, p);
		if (i + 1 == JAVA_STEP || !java_goes_on(w, r))
			break;
	}
	return r;
}

#endif /* DRIVER_WALK_JAVA_BPF_H */
