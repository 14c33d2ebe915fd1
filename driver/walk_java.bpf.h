/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the methods of Java on HotSpot, interpreted and compiled.
 *
 * All code lies in the code cache: up to a few heaps, each with a map that leads from an address to
 * the beginning of its blob. A blob is the interpreter, a compiled method (nmethod), or a stub. An
 * interpreter's frame has the method and the bytecode. A compiled frame has a fixed size; for each
 * call in it the compiler keeps which methods were inlined there, and at which bytecodes.
 */
#ifndef DRIVER_WALK_JAVA_BPF_H
#define DRIVER_WALK_JAVA_BPF_H

#include "script_codes.bpf.h"
#include "script_places.bpf.h"
#include "shared/user_walk.h"

#define JAVA_HOPS 32 /* maximum number of steps in the map of segments */
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
#define JAVA_SPACE_HIGH 8 /* VirtualSpace: behind _low */
#define JAVA_ARRAY_DATA 8
#define JAVA_SEGMENT_FREE 255
#define JAVA_METHOD_CONST 8
#define JAVA_CONST_CONSTANTS 8
#define JAVA_CONST_IDS 32 /* sizes and indexes */
#define JAVA_CONST_SZ 64 /* of what is read */
#define JAVA_CONSTANTS_CACHE 16
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

/* First eight bytes of the names of blobs. */
#define JAVA_NAME_NMETHOD 0x00646f6874656d6eull /* "nmethod" */
#define JAVA_NAME_NATIVE 0x6e2065766974616eull /* "native nmethod" */
#define JAVA_NAME_LOOP 0x6572707265746e49ull /* "Interpreter" */

/* How much of its frame an interrupted function has. */
enum { JAVA_FULL, JAVA_BARE, JAVA_PUSHED /* rbp */, JAVA_UNSAVED /* full, but for rbp */ };

#define JAVA_CODE_BEFORE 8 /* bytes of code that are read before an instruction */
#define JAVA_CODE_SZ 16

/* ---- the code cache ---- */

/* Reads the bounds of heap @i. Verified on its own. */
WALK_FUNC int java_heap(struct user_walk *w, const struct interp_process *p, u64 at, u32 i)
{
	const struct interp_java *j;
	u64 heap;

	if (!w || !p || i >= WALK_JAVA_HEAPS)
		return -1;
	j = &p->java;
	if (read_word(w, at))
		return -1;
	heap = w->word;
	if (walk_read(w, &w->java.heaps[i].low, 16, heap + j->heap_memory) ||
	    read_word(w, heap + j->heap_segments))
		return -1;
	w->java.heaps[i].segments = w->word;
	if (read_word(w, heap + j->heap_shift))
		return -1;
	w->java.heaps[i].shift = w->word & 31;
	return 0;
}

/* Reads the heaps. @root: the address of a pointer to the array of them. */
static __always_inline void java_begin(struct user_walk *w, const struct interp_process *p)
{
	u64 array, data;
	u32 n;

	w->java.n_heaps = 0;
	w->java.blob = w->java.blob_end = w->java.loop = w->java.loop_end = 0;
	if (read_word(w, p->root))
		return;
	array = w->word;
	if (read_word(w, array))
		return;
	n = (u32)w->word;
	if (read_word(w, array + JAVA_ARRAY_DATA))
		return;
	data = w->word;
	for (u32 i = 0; i < WALK_JAVA_HEAPS && i < n; i++) {
		if (java_heap(w, p, data + 8 * i, i))
			return;
		w->java.n_heaps = i + 1;
	}
}

/* Finds the heap with @pc, and puts it into w->java.heap. Returns not 0 if there is none. */
static __always_inline int java_find_heap(struct user_walk *w, u64 pc)
{
	for (u32 i = 0; i < WALK_JAVA_HEAPS && i < w->java.n_heaps; i++) {
		if (pc < w->java.heaps[i].low || pc >= w->java.heaps[i].high)
			continue;
		w->java.heap = w->java.heaps[i];
		return 0;
	}
	return -1;
}

/* Finds the beginning of the blob with @pc: each segment has how far its block begins before, at
 * most. Returns 0: none. Verified on its own. */
WALK_FUNC u64 java_blob_of(struct user_walk *w, u64 pc, u32 block_sz)
{
	if (!w || java_find_heap(w, pc))
		return 0;
	w->java.at = (pc - w->java.heap.low) >> (w->java.heap.shift & 31);
	for (u32 i = 0; i < JAVA_HOPS; i++) {
		OPAQUE(w);
		w->word = 0;
		if (walk_read(w, &w->word, 1, w->java.heap.segments + w->java.at))
			return 0;
		if (!w->word)
			return w->java.heap.low + (w->java.at << (w->java.heap.shift & 31)) +
			       block_sz;
		if (w->word == JAVA_SEGMENT_FREE || w->word > w->java.at)
			return 0;
		w->java.at -= w->word;
	}
	return 0;
}

/* Returns the address that a field of the blob has, or has as an offset. */
static __always_inline u64 java_address(const struct user_walk *w, const struct interp_java *j,
					u64 from, u16 at)
{
	return j->has_offsets ? from + object_u32(w, at) : object_u64(w, at);
}

/* Notes what the walk needs of the compiled method that was read last. */
static __always_inline void java_note_method(struct user_walk *w, const struct interp_java *j)
{
	const u64 blob = w->java.blob;
	const u64 data = j->has_offsets ? object_u64(w, j->method_data) : blob;

	w->java.method = object_u64(w, j->method);
	w->java.points = data + object_u32(w, j->points);
	w->java.points_end = data + object_u32(w, j->points_end);
	w->java.scopes = j->has_offsets ? w->java.points_end : object_u64(w, j->scopes);
	w->java.metadata = (j->has_offsets ? object_u64(w, j->mutable_data) : blob) +
			   object_u32(w, j->metadata);
	w->java.deopt = java_address(w, j, blob, j->deopt);
	w->java.deopt_handle = java_address(w, j, blob, j->deopt_handle);
	w->java.original = (s32)object_u32(w, j->original);
	w->java.check = script_check(w->java.method, object_u32(w, j->id), blob);
}

/* Reads the blob that the walk is at. Returns not 0 if it is none. Verified on its own. */
WALK_FUNC int java_read_blob(struct user_walk *w, const struct interp_process *p, u64 blob)
{
	const struct interp_java *j;

	if (!w || !p || !blob)
		return -1;
	j = &p->java;
	w->java.blob = w->java.blob_end = 0;
	if (walk_read(w, w->object, INTERP_JAVA_HEAD, blob) ||
	    walk_read(w, w->object + INTERP_JAVA_TAIL_AT, INTERP_JAVA_TAIL, blob + j->tail) ||
	    read_word(w, object_u64(w, j->name)))
		return -1;
	w->java.name = w->word;
	w->java.code = java_address(w, j, blob, j->code);
	w->java.frame = object_u32(w, j->frame);
	w->java.complete =
		j->has_offsets ? (s16)object_u16(w, j->complete) : (s32)object_u32(w, j->complete);
	w->java.blob = blob;
	w->java.blob_end = java_address(w, j, blob, j->code_end);
	if (w->java.name == JAVA_NAME_NMETHOD || w->java.name == JAVA_NAME_NATIVE)
		java_note_method(w, j);
	if (w->java.name == JAVA_NAME_LOOP) {
		w->java.loop = w->java.code;
		w->java.loop_end = w->java.blob_end;
	}
	return 0;
}

/* Finds the blob of the frame. Returns not 0 if it has none. */
static __always_inline int java_find(struct user_walk *w, const struct interp_process *p)
{
	const u64 pc = w->ip;

	if (pc >= w->java.loop && pc < w->java.loop_end) {
		w->java.name = JAVA_NAME_LOOP;
		w->java.blob = w->java.blob_end = 0;
		return 0;
	}
	if (pc < w->java.code || pc >= w->java.blob_end) {
		if (java_read_blob(w, p, java_blob_of(w, pc, p->java.block_sz)))
			return -1;
	}
	return pc < w->java.code || pc >= w->java.blob_end;
}

/* ---- methods ---- */

/* Reads what belongs to @method. Returns not 0 if it is no method. Verified on its own. */
WALK_FUNC int java_read_method(struct user_walk *w, const struct interp_process *p, u64 method)
{
	u64 at, constants;

	if (!w || !p || !user_word(method) || read_word(w, method + JAVA_METHOD_CONST))
		return -1;
	at = w->word;
	if (!user_word(at) || walk_read(w, w->object, JAVA_CONST_SZ, at))
		return -1;
	constants = object_u64(w, JAVA_CONST_CONSTANTS);
	if (!user_word(constants) || read_word(w, constants + JAVA_CONSTANTS_CACHE))
		return -1;
	w->java.cache = w->word;
	w->java.bytecodes = at + p->java.const_method_sz;
	w->java.n_bytecodes = object_u16(w, p->java.code_sz);
	w->java.method_check = script_check(at, constants, object_u64(w, JAVA_CONST_IDS));
	return 0;
}

static __always_inline u32 java_position(const struct user_walk *w, u64 bci)
{
	return bci < w->java.n_bytecodes ? (u32)bci : INTERP_JAVA_NO_POSITION;
}

/* Puts the method that was read last. Verified on its own. */
WALK_FUNC int java_put(struct user_walk *w, u64 method, u32 position)
{
	u32 check;

	if (!w)
		return 1;
	check = w->java.method_check;
	script_used(w, STACK_WALKER_JAVA, method, check, method, 0);
	return walk_put_code(w, STACK_WALKER_JAVA, method, position, check);
}

/* ---- frames ---- */

/* Goes to the caller, which has its return address below @cfa. Reads do not use the window: a
 * function more would need more of the stack. */
static __always_inline int java_return(struct user_walk *w, u64 cfa, u32 saves_bp)
{
	if (cfa <= w->sp || !user_word(cfa - 16))
		return walk_ends(w, STACK_END_BAD_SP);
	if (walk_read(w, w->object, 16, cfa - 16)) {
		w->fault = cfa - 16;
		return walk_ends(w, STACK_END_FAULT);
	}
	w->ip = object_u64(w, 8);
	if (saves_bp)
		w->regs[UNWIND_RBP] = object_u64(w, 0);
	w->known &= KNOWN(UNWIND_RBP) | KNOWN(UNWIND_RSP);
	if (saves_bp)
		w->known |= KNOWN(UNWIND_RBP);
	w->regs[UNWIND_RSP] = w->sp = cfa;
	w->bp = w->regs[UNWIND_RBP];
	w->exact = 0;
	return WALK_STEPPED;
}

/* Walks a frame of the interpreter. */
static __always_inline int java_interpreted(struct user_walk *w, const struct interp_process *p)
{
	const u64 fp = w->bp;
	u64 bci;

	if (!(w->known & KNOWN(UNWIND_RBP)) || !user_fp(fp, w->sp) ||
	    walk_read(w, w->object, JAVA_FRAME_SZ, fp - JAVA_FRAME_FROM))
		return 0;
	w->java.method = object_u64(w, JAVA_FRAME_METHOD);
	w->java.frame_bcp = object_u64(w, JAVA_FRAME_BCP);
	w->java.frame_cache = object_u64(w, JAVA_FRAME_CACHE);
	w->java.sender_sp = object_u64(w, JAVA_FRAME_SENDER_SP);
	w->java.link = object_u64(w, JAVA_FRAME_LINK);
	w->java.ret = object_u64(w, JAVA_FRAME_RETURN);
	if (java_read_method(w, p, w->java.method) || w->java.cache != w->java.frame_cache)
		return 0;
	bci = w->java.frame_bcp - w->java.bytecodes;
	if (w->exact && w->known & KNOWN(JAVA_REG_BCP) &&
	    w->regs[JAVA_REG_BCP] - w->java.bytecodes < w->java.n_bytecodes)
		bci = w->regs[JAVA_REG_BCP] - w->java.bytecodes;
	if (java_put(w, w->java.method, java_position(w, bci)))
		return 1;
	w->ip = w->java.ret;
	w->bp = w->regs[UNWIND_RBP] = w->java.link;
	w->known = KNOWN(UNWIND_RBP) | KNOWN(UNWIND_RSP);
	w->sp = fp + 16;
	/* Compiled callers have their frame from here on; the words between are arguments. */
	if (user_fp(w->java.sender_sp, w->sp))
		w->sp = w->java.sender_sp;
	w->regs[UNWIND_RSP] = w->sp;
	w->exact = 0;
	return WALK_STEPPED;
}

/* Returns how much of its frame the function has at the interrupted instruction, by the
 * instructions there: compilers emit few forms. */
static __always_inline int java_frame_state(struct user_walk *w)
{
	const u64 off = w->ip - w->java.code;
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
	left = w->java.complete - off;
	if (w->java.complete < 0 || off >= (u64)w->java.complete)
		return JAVA_FULL;
	if (at[0] == 0x48 && at[1] == 0x89 && at[3] == 0x24 && (at[2] == 0x6c || at[2] == 0xac))
		return JAVA_UNSAVED; /* mov [rsp + X], rbp */
	/* Some have a check behind the frame, of at most 18 bytes. */
	if (at[0] == 0x41 && at[1] == 0x81 && at[2] == 0x7f) /* cmp [r15 + X], N */
		return JAVA_FULL;
	return left <= 6 && at[0] != 0x48 ? JAVA_FULL : JAVA_BARE;
}

/* Returns whether @addr is in the code cache, where all callers of compiled code are. */
static __always_inline int java_is_code(const struct user_walk *w, u64 addr)
{
	for (u32 i = 0; i < WALK_JAVA_HEAPS && i < w->java.n_heaps; i++)
		if (addr >= w->java.heaps[i].low && addr < w->java.heaps[i].high)
			return 1;
	return 0;
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
	const u64 frame = w->java.frame;

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
	if (w->java.frame < 2 || w->java.frame > JAVA_SAVED_FRAME)
		return 0;
	return java_return(w, w->sp + w->java.frame * 8ull, 1);
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

/* Appends the method of the scope at w->java.scope to the new place, and goes to its caller's.
 */
static __always_inline int java_add_scope(struct user_walk *w, const struct interp_process *p)
{
	if (java_read_scope(w, w->java.scope, p->java.bias) || !w->java.number[1])
		return -1;
	if (read_word(w, w->java.metadata + (w->java.number[1] - 1) * 8ull))
		return -1;
	w->java.function.code = w->java.function.at = w->word;
	if (java_read_method(w, p, w->java.function.code))
		return -1;
	/* 0 is before the first bytecode: the entry of a synchronized method. */
	w->java.function.position = java_position(w, w->java.number[2] ? w->java.number[2] - 1 : 0);
	w->java.function.check = w->java.method_check;
	/* Scopes of callers lie before those that refer to them. */
	w->java.scope = w->java.number[0] < w->java.scope ? w->java.number[0] : 0;
	w->java.function.file = w->java.scope;
	return place_add(w, (const struct script_place_function *)&w->java.function);
}

/* Makes the place of the methods from w->java.scope on. Returns not 0 if none is known. */
static __always_inline int java_make_place(struct user_walk *w, const struct interp_process *p)
{
	if (place_begin(w))
		return -1;
	for (u32 i = 0; i < PLACE_FUNCTIONS && w->java.scope; i++) {
		OPAQUE(w);
		OPAQUE(p);
		if (java_add_scope(w, p))
			return -1;
	}
	return 0;
}

/* Puts one method of a place. Verified on its own: place_put would need more of the stack. */
WALK_FUNC int java_put_function(struct user_walk *w, const struct script_place_function *f)
{
	if (!w || !f)
		return 1;
	script_used(w, STACK_WALKER_JAVA, f->code, f->check, f->at, f->file);
	return walk_put_code(w, STACK_WALKER_JAVA, f->code, f->position, f->check);
}

/* Puts the methods at a place. Returns WALK_AGAIN if there are more. */
static __always_inline int java_put_place(struct user_walk *w, const struct script_place *place)
{
	for (u32 i = 0; i < PLACE_FUNCTIONS && i < place->n; i++)
		if (java_put_function(w, &place->functions[i]))
			return 1;
	w->script_frame =
		place->n == PLACE_FUNCTIONS ? place->functions[PLACE_FUNCTIONS - 1].file : 0;
	return w->script_frame ? WALK_AGAIN : 0;
}

/* Puts the method itself: what it has inlined here is unknown. */
static __always_inline int java_put_outer(struct user_walk *w, const struct interp_process *p)
{
	if (java_read_method(w, p, w->java.method))
		return 0;
	return java_put(w, w->java.method, INTERP_JAVA_NO_POSITION);
}

/* Puts the methods at @pc of compiled code, or from scope w->script_frame on. */
static __always_inline int java_put_compiled(struct user_walk *w, const struct interp_process *p,
					     u64 pc)
{
	const u64 check = w->java.check | w->script_frame << 32;
	const struct script_place *place = place_find(w, pc, check);

	if (place)
		return java_put_place(w, place);
	w->java.scope = w->script_frame ?: java_scope_of(w, pc - w->java.code);
	w->script_frame = 0;
	if (!w->java.scope || java_make_place(w, p))
		return java_put_outer(w, p);
	place_keep(w, pc, check);
	place = place_new(w);
	return place ? java_put_place(w, place) : 0;
}

/* Returns the address in the method: debug information is at return addresses, and that of an
 * interrupted instruction at the next one. */
static __always_inline u64 java_point(struct user_walk *w)
{
	if (w->exact)
		return w->ip + 1;
	/* A frame that shall be deoptimized returns to a handler, and keeps its return address. */
	if (w->ip != w->java.deopt && w->ip != w->java.deopt_handle)
		return w->ip;
	return read_word(w, w->sp + w->java.original) ? 0 : w->word;
}

static __always_inline int java_compiled(struct user_walk *w, const struct interp_process *p)
{
	const u64 pc = java_point(w);
	int r;

	if (w->java.name == JAVA_NAME_NATIVE)
		r = java_put_outer(w, p);
	else if (pc >= w->java.code && pc <= w->java.blob_end)
		r = java_put_compiled(w, p, pc);
	else
		r = 0;
	return r ?: java_step(w);
}

WALK_FUNC int walk_java(struct user_walk *w, const struct interp_process *p)
{
	if (!w || !p)
		return 1;
	if (walk_script_begins(w, STACK_WALKER_JAVA))
		java_begin(w, p);
	if (java_find(w, p)) {
		w->script_frame = 0;
		return 0;
	}
	if (w->java.name == JAVA_NAME_LOOP)
		return java_interpreted(w, p);
	if (w->java.name == JAVA_NAME_NMETHOD || w->java.name == JAVA_NAME_NATIVE)
		return java_compiled(w, p);
	return java_stub(w);
}

#endif /* DRIVER_WALK_JAVA_BPF_H */
