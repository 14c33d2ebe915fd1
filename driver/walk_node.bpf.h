/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the functions of JavaScript in Node.js, 64-bit V8 without compressed pointers.
 *
 * All code that V8 makes, and its builtins, have frames with a frame pointer. Below it are a
 * context and the function, or a number for the type of a frame that is no function's. The
 * interpreter's frame has the bytecode; compiled code is found before its program counter in
 * memory. What a program counter or bytecode stands for is found in steps, each a call of the
 * walker, and kept as a place (script_places.bpf.h).
 *
 * V8 moves and frees objects. So what was kept counts only for the same function, by the numbers of
 * its script and in its script, and for compiled code, by what the Code refers to.
 */
#ifndef DRIVER_WALK_NODE_BPF_H
#define DRIVER_WALK_NODE_BPF_H

#include "node_frames.bpf.h"
#include "node_lines.bpf.h"
#include "node_tables.bpf.h"
#include "script_places.bpf.h"

/* From the frame pointer. */
#define NODE_FRAME_SZ 40 /* bytes below it */
#define NODE_FRAME_OFFSET 0 /* of the bytecode, from the lowest of these */
#define NODE_FRAME_BYTECODES 8
#define NODE_FRAME_FUNCTION 24
#define NODE_FRAME_CONTEXT 32
#define NODE_EXIT_FUNCTION 24 /* above it, in the frame of a builtin in C++ */
#define NODE_FUNCTION_SZ 48 /* of what is read of a JSFunction */

#define NODE_STATE_GC 1 /* of the VM */

#define NODE_CODE_ALIGN 64
#define NODE_CODE_STEPS 2048 /* code of up to 128 KiB is found */
#define NODE_CODE_SZ 64 /* of what is read */
#define NODE_CODE_KIND 15 /* bits of its flags */
#define NODE_CODE_STREAM_CODE 8 /* in the object with the instructions: its Code */
#define NODE_INLINED_SZ 16 /* of an inlining position: u64 position, s32 function */
#define NODE_WEAK 2 /* bit of a reference */
#define NODE_PLACES 3 /* where the program counter of the innermost function may be */
/* Limit of the work of a walk that finds what is not kept, in units of about 20 ns: the next sample
 * goes on. */
#define NODE_WORK_MAX 32768
#define NODE_WORK_STEP 8 /* of a look back */
#define NODE_AGAIN 256 /* how often a place without all lines is used before a new search */

enum node_phase { NODE_FRAME, NODE_FIND, NODE_FUNCTIONS };
/* Results of a phase. */
enum { NODE_MORE, NODE_UP, NODE_FULL };

/* A callback of bpf_loop: looks at one place where the code with a program counter may begin. */
static long node_look_back(u32 i, void *ctx)
{
	const struct node_ctx *c = ctx;
	struct user_walk *w = c->w;
	const u64 object = w->node.at - (u64)i * NODE_CODE_ALIGN - c->p->code_header;

	w->node.work += NODE_WORK_STEP;
	if (read_word(w, object))
		return 1;
	if (!node_is_object(w->word) || node_type_of(w, object + 1) != c->p->stream_type)
		return 0;
	w->node.found = object;
	return 1;
}

/* Finds the code with the instruction at w->node.pc: w->node.code, a Code, which is copied, and the
 * offset in it. Returns not 0 if there is none. Verified on its own. */
WALK_FUNC int node_code(struct user_walk *w, const struct interp_node *p)
{
	struct node_ctx c = {.w = w, .p = p};

	if (!w || !p)
		return -1;
	w->node.at = w->node.pc & -(u64)NODE_CODE_ALIGN;
	w->node.found = 0;
	bpf_loop(NODE_CODE_STEPS, node_look_back, &c, 0);
	if (!w->node.found)
		return -1;
	w->node.code = w->node.found;
	if (p->stream_type != p->code_type) { /* two objects */
		if (read_word(w, w->node.found + NODE_CODE_STREAM_CODE))
			return -1;
		w->node.code = w->word - 1;
	}
	if (node_type_of(w, w->node.code + 1) != p->code_type ||
	    walk_read(w, w->object, NODE_CODE_SZ, w->node.code))
		return -1;
	w->node.offset = w->node.pc - w->node.found - p->code_header;
	w->node.calls = w->node.found + p->code_header + object_u32(w, p->code_size);
	return w->node.offset < object_u32(w, p->code_size) ? 0 : -1;
}

static __always_inline u64 node_deopt_word(struct user_walk *w, u64 deopt, u32 index)
{
	return node_word(w, deopt, NODE_ARRAY_DATA + index * 8) ? 0 : w->word;
}

/* Returns whether the code that was copied last is that of the frame's function. */
static __always_inline bool node_is_own_code(struct user_walk *w, const struct interp_node *p,
					     u64 deopt)
{
	u64 shared;

	if (!w->node.is_optimized)
		return deopt == w->node.bytecodes && node_type(w, deopt) == p->bytecodes_type;
	shared = node_deopt_word(w, deopt, p->deopt_shared);
	if (shared != w->node.shared) /* in a wrapper, in later versions */
		shared = node_word(w, shared, 8) ? 0 : w->word;
	return shared == w->node.shared;
}

/* Sets the position of compiled code, where w->node.pc is. Returns not 0 if it is unknown. */
static __always_inline int node_compiled(struct user_walk *w, const struct interp_node *p)
{
	u64 deopt, table;
	s64 offset;

	if (node_code(w, p))
		return -1;
	deopt = object_u64(w, p->code_deopt);
	table = object_u64(w, p->code_positions);
	w->node.is_optimized = (object_u32(w, p->code_flags) & NODE_CODE_KIND) > p->baseline_kind;
	w->node.is_maglev = w->node.is_optimized &&
			    (object_u32(w, p->code_flags) & NODE_CODE_KIND) == p->maglev_kind;
	if (!node_is_own_code(w, p, deopt))
		return -1;
	w->node.deopt = deopt;
	w->node.position = 0;
	if (w->node.is_maglev) {
		w->node.is_maglev = !node_frames(w, p); /* else it is not at a call */
		return 0;
	}
	if (w->node.is_optimized) {
		w->node.position = node_position(w, p, table, w->node.offset);
		return 0;
	}
	offset = node_bytecode(w, p, table, w->node.offset);
	if (offset >= 0 && !node_word(w, w->node.bytecodes, p->bytecodes_positions))
		w->node.position = node_position(w, p, w->word, offset);
	return 0;
}

/* Sets the position of the bytecode of an interpreter's frame. */
static __always_inline int node_interpreted(struct user_walk *w, const struct interp_node *p)
{
	const u64 offset = (w->node.offset >> 32) - (p->bytecodes_header - 1);

	if (node_type(w, w->node.bytecodes) != p->bytecodes_type ||
	    node_word(w, w->node.bytecodes, p->bytecodes_positions))
		return -1;
	w->node.position = node_position(w, p, w->word, offset);
	return 0;
}

/* Puts the function of the frame, with an unknown line. */
static __always_inline int node_put_plain(struct user_walk *w, const struct interp_node *p)
{
	if (node_function(w, p, w->node.shared))
		return NODE_UP;
	script_used(w, STACK_WALKER_NODE, w->node.shared, w->node.check, w->node.shared, 0);
	return walk_put_code(w, STACK_WALKER_NODE, w->node.shared, 0, w->node.check) ? NODE_FULL
										     : NODE_UP;
}

/* Returns whether an address is in compiled code: builtins are in the program's file. */
static __always_inline bool node_is_compiled(u64 rule)
{
	return RULE_WALKER(rule) == STACK_WALKER_NODE && !(RULE_FLAGS(rule) & RULE_GAP);
}

/* Chooses the next address that may be the one in the code of the frame's function: the innermost
 * native function may have no frame of its own, and the return address at the end of the stack.
 * Returns not 0 if there is none. */
static __always_inline int node_next_pc(struct user_walk *w)
{
	for (u32 i = 0; i < NODE_PLACES; i++) {
		const u32 place = w->node.tried++;

		if (place >= NODE_PLACES || (place && !w->exact))
			return -1;
		w->node.pc = w->exact ? w->ip : w->ip - 1;
		if (place) {
			if (read_word(w, w->sp + (place - 1) * 8))
				return -1;
			w->node.pc = w->word - 1;
		}
		if (node_is_compiled(place ? walk_search(w, w->node.pc) : w->rule))
			return 0;
	}
	return -1;
}

/* Reads the word of the stack at @addr. Returns not 0 if it cannot. Verified on its own. */
WALK_FUNC int node_stack_word(struct user_walk *w, u64 addr)
{
	return w ? walk_word(w, addr, &w->word) : -1;
}

/* Reads the frame. Returns not 0 if it is no function's. */
static __always_inline int node_read_frame(struct user_walk *w, const struct interp_node *p)
{
	const u64 fp = w->bp, at = fp - NODE_FRAME_SZ;

	if (!user_fp(fp, w->sp) || (w->exact && w->sp > at + NODE_FRAME_FUNCTION) ||
	    node_stack_word(w, at + NODE_FRAME_OFFSET))
		return -1;
	w->node.offset = w->word;
	if (node_stack_word(w, at + NODE_FRAME_BYTECODES))
		return -1;
	w->node.bytecodes = w->word;
	if (node_stack_word(w, at + NODE_FRAME_CONTEXT))
		return -1;
	w->node.is_builtin = !(w->word & 1);
	if (w->node.is_builtin && w->word != (u64)p->builtin_exit << 1)
		return -1;
	return node_stack_word(w, w->node.is_builtin ? fp + NODE_EXIT_FUNCTION
						     : at + NODE_FRAME_FUNCTION);
}

/* Finds the function of the frame, a JSFunction at w->word: w->node.shared, and identity, which is
 * that of no other function. Returns not 0 if there is none. Verified on its own. */
WALK_FUNC int node_identify(struct user_walk *w, const struct interp_node *p)
{
	struct walk_node_seen *seen;
	u64 id;

	if (!w || !p || !node_is_object(w->word))
		return -1;
	w->node.callee = w->word;
	seen = &w->node.seen[(w->word >> 6 ^ w->word >> 12) & (NODE_SEEN - 1)];
	if (seen->function != w->node.callee) {
		if (walk_read(w, w->object, NODE_FUNCTION_SZ, w->node.callee - 1))
			return -1;
		w->node.shared = object_u64(w, p->function_shared);
		if (!node_is_object(w->node.shared) ||
		    walk_read(w, w->object + NODE_SHARED_AT, NODE_SHARED_SZ, w->node.shared - 1))
			return -1;
		id = object_u64(w, NODE_SHARED_AT + p->shared_script);
		id = node_word(w, id, NODE_SCRIPT_ID) ? 0 : w->word; /* a builtin has no script */
		id = (id ^ object_u32(w, NODE_SHARED_AT + p->shared_literal)) * NODE_MIX;
		seen->identity =
			((id ^ id >> 32) + object_u64(w, NODE_SHARED_AT + NODE_SHARED_DATA)) *
			NODE_MIX;
		seen->shared = w->node.shared;
		seen->function = w->node.callee;
	}
	w->node.shared = seen->shared;
	w->node.identity = seen->identity;
	return 0;
}

/* Returns the key of the place: changes when V8 moves the function. */
static __always_inline u64 node_key(const struct user_walk *w)
{
	return (w->node.shared * NODE_MIX + (w->node.is_compiled ? 0 : w->node.offset)) ^
	       w->node.identity;
}

/* Returns what tells the code in the object @found from others there; 0: it cannot be read.
 * Verified on its own. */
WALK_FUNC u64 node_code_check(struct user_walk *w, const struct interp_node *p, u64 found)
{
	u64 check;

	if (!w || !p)
		return 0;
	w->word = found + 1;
	if (p->stream_type != p->code_type && read_word(w, found + NODE_CODE_STREAM_CODE))
		return 0;
	check = w->word;
	if (!node_is_object(check) || walk_read(w, w->object, NODE_CODE_SZ, check - 1))
		return 0;
	check = (check ^ object_u32(w, p->code_size)) * NODE_MIX;
	check = (check ^ check >> 32 ^ object_u64(w, p->code_deopt)) * NODE_MIX;
	return (check ^ check >> 32 ^ object_u64(w, p->code_positions)) * NODE_MIX | 1;
}

/* Keeps the new place. Verified on its own. */
WALK_FUNC int node_keep(struct user_walk *w, const struct interp_node *p)
{
	struct script_place *place = w && p ? place_new(w) : NULL;

	if (!place || w->node.is_partial || w->missed)
		return 0;
	place->again = w->node.is_missing ? NODE_AGAIN : 0;
	place->code = w->node.found;
	place->check = w->node.found ? node_code_check(w, p, w->node.found) : 0;
	return place_keep(w, w->node.pc, node_key(w));
}

/* Puts the functions of the new place, or those at the address or bytecode that was chosen. Returns
 * NODE_MORE if they are not known. Verified on its own. */
WALK_FUNC int node_put_place(struct user_walk *w, const struct interp_node *p, u32 is_new)
{
	const struct script_place *place;

	if (!w || !p)
		return NODE_UP;
	place = is_new ? place_new(w) : place_find(w, w->node.pc, node_key(w));
	if (!place)
		return NODE_MORE;
	if (!is_new && place->code && node_code_check(w, p, place->code) != place->check)
		return NODE_MORE;
	return place_put(w, STACK_WALKER_NODE, place) ? NODE_FULL : NODE_UP;
}

static __always_inline int node_put_known(struct user_walk *w, const struct interp_node *p)
{
	w->node.phase = NODE_FIND;
	return node_put_place(w, p, 0);
}

/* Begins with a frame. */
static __always_inline int node_frame(struct user_walk *w, const struct interp_node *p)
{
	if (node_read_frame(w, p) || node_identify(w, p))
		return NODE_UP;
	w->node.tried = 0;
	w->node.is_compiled = !w->node.is_builtin && !node_next_pc(w);
	w->node.is_plain = 0;
	if (w->node.is_compiled)
		return node_put_known(w, p);
	w->node.pc = w->node.bytecodes;
	if (w->node.is_builtin || !node_is_smi(w->node.offset) || !w->node.offset ||
	    !node_is_object(w->node.bytecodes) || (w->exact && w->sp > w->bp - NODE_FRAME_SZ)) {
		w->node.is_plain = 1;
		w->node.offset = w->node.pc = 0;
	}
	return node_put_known(w, p);
}

/* Goes on with only the function of the frame, without a line. Returns as place_begin. */
static __always_inline int node_give_up(struct user_walk *w)
{
	w->node.is_missing = 1;
	w->node.is_optimized = w->node.is_maglev = 0;
	w->node.n_inlined = 0;
	w->node.position = w->node.found = 0;
	return place_begin(w);
}

/* Finds the position of what was chosen. */
static __always_inline int node_find(struct user_walk *w, const struct interp_node *p)
{
	w->node.is_optimized = w->node.is_maglev = 0;
	w->node.is_partial = w->node.is_missing = 0;
	w->node.n_inlined = 0;
	w->node.position = w->node.found = 0;
	if ((u32)node_type(w, w->node.callee) - p->function_type >= p->n_function_types)
		return NODE_UP;
	if (w->node.work > NODE_WORK_MAX)
		return node_put_plain(w, p);
	w->node.phase = NODE_FUNCTIONS;
	if (w->node.is_plain ||
	    !(w->node.is_compiled ? node_compiled(w, p) : node_interpreted(w, p)))
		return place_begin(w) ? NODE_UP : NODE_MORE;
	if (w->node.is_compiled && !node_next_pc(w))
		return node_put_known(w, p);
	return node_give_up(w) ? NODE_UP : NODE_MORE;
}

/* Returns the function that the code has as a literal; 0: none. Where Maglev inlined a builtin, the
 * literal is a JSFunction. Verified on its own. */
WALK_FUNC u64 node_literal(struct user_walk *w, const struct interp_node *p, u32 i)
{
	u64 literal;

	if (!w || !p)
		return 0;
	literal = node_deopt_word(w, w->node.deopt, p->deopt_literals);
	if (node_word(w, literal, NODE_ARRAY_DATA + (u64)i * 8))
		return 0;
	literal = w->word & ~(u64)NODE_WEAK;
	if ((u32)node_type(w, literal) - p->function_type >= p->n_function_types)
		return literal;
	return node_word(w, literal, p->function_shared) ? 0 : w->word;
}

/* Goes from an inlined function, which is the one to add, to where it is called. Returns not 0 if
 * it is unknown. */
static __always_inline int node_inlined(struct user_walk *w, const struct interp_node *p, u32 id)
{
	const u64 inlined = node_deopt_word(w, w->node.deopt, p->deopt_inlined);
	u64 at = inlined - 1 + NODE_ARRAY_DATA + (u64)id * NODE_INLINED_SZ;

	if (node_word(w, inlined, NODE_ARRAY_LEN) ||
	    (u64)(id + 1) * NODE_INLINED_SZ > w->word >> 32 || read_word(w, at))
		return -1;
	w->node.position = w->word;
	if (read_word(w, at + 8))
		return -1;
	if ((s32)w->word < 0)
		return 0;
	w->node.function.code = node_literal(w, p, (u32)w->word);
	return 0;
}

/* Takes the innermost function off w->node.frames. */
static __always_inline void node_take_frame(struct user_walk *w, const struct interp_node *p)
{
	const u32 i = --w->node.frames.n & (NODE_INLINED_MAX - 1);
	const s32 offset = w->node.frames.bytecode[i];
	u64 bytecodes;

	w->node.function.code = node_literal(w, p, w->node.frames.function[i]);
	bytecodes = node_bytecodes_of(w, p, w->node.function.code);
	w->node.position = 0;
	if (offset >= 0 && !node_word(w, bytecodes, p->bytecodes_positions))
		w->node.position = node_position(w, p, w->word, offset);
}

/* Sets the next function that the place gets, and its position. Returns whether there are more; -1:
 * unknown. */
static __always_inline int node_next_function(struct user_walk *w, const struct interp_node *p)
{
	const u64 id = NODE_INLINING(w->node.position);

	w->node.function.code = w->node.shared;
	w->node.function.position = NODE_POSITION(w->node.position);
	if (w->node.n_inlined++ >= PLACE_FUNCTIONS || w->node.work > 2 * NODE_WORK_MAX)
		return -1;
	if (w->node.is_maglev) {
		node_take_frame(w, p);
		w->node.function.position = NODE_POSITION(w->node.position);
		return w->node.frames.n > 0;
	}
	if (!w->node.is_optimized || !id)
		return 0;
	return node_inlined(w, p, id - 1) ? -1 : 1;
}

/* The functions of the place are not found: only that of the frame counts. */
static __always_inline int node_unknown(struct user_walk *w, const struct interp_node *p)
{
	if (w->node.is_missing || w->node.work > 2 * NODE_WORK_MAX)
		return node_put_plain(w, p);
	return node_give_up(w) ? NODE_UP : NODE_MORE;
}

/* Adds one function to the place, and puts the place after the outermost one. */
static __always_inline int node_add(struct user_walk *w, const struct interp_node *p)
{
	const int more = node_next_function(w, p);

	if (more < 0)
		return node_unknown(w, p);
	if (node_function(w, p, w->node.function.code))
		return node_unknown(w, p);
	w->node.function.at = w->node.function.code;
	w->node.function.check = w->node.check;
	if (w->node.function.position)
		w->node.function.position =
			w->node.script ? node_line(w, p, w->node.function.position - 1) : 0;
	place_add(w, (const struct script_place_function *)&w->node.function);
	if (more)
		return NODE_MORE;
	node_keep(w, p);
	return node_put_place(w, p, 1);
}

/* Returns whether the thread collects garbage, as V8 itself notes it. Verified on its own. */
WALK_FUNC int node_in_gc(struct user_walk *w, const struct interp_process *p)
{
	u64 at;

	if (!w || !p || !p->node.vm_state || !w->tls)
		return 0;
	if (p->node.isolate_in == NODE_ISOLATE_KEY) {
		if (read_word(w, p->root) || !thread_value(w, (u32)w->word))
			return 0;
	} else {
		at = p->node.isolate_in == NODE_ISOLATE_SLOT ? thread_variable(w, p->root)
							     : w->tls + (s64)p->node.isolate;
		if (!at || read_word(w, at))
			return 0;
	}
	return w->word && !read_word(w, w->word + p->node.vm_state) &&
	       (u16)w->word == NODE_STATE_GC;
}

/* Begins a walk. Returns whether the stack is full. */
static __always_inline int node_begins(struct user_walk *w, const struct interp_process *p)
{
	w->node.phase = NODE_FRAME;
	w->node.work = 0;
	for (u32 i = 0; i < NODE_SEEN; i++)
		w->node.seen[i].function = 0;
	return !w->exact && node_in_gc(w, p) &&
	       walk_put_state(w, STACK_WALKER_NODE, STACK_STATE_NODE_GC);
}

WALK_FUNC int walk_node(struct user_walk *w, const struct interp_process *p)
{
	int r = NODE_UP;

	if (!w || !p)
		return 1;
	if (!(w->known & KNOWN(UNWIND_RBP)))
		return 0;
	if (walk_script_begins(w, STACK_WALKER_NODE) && node_begins(w, p))
		return 1;
	if (w->node.phase == NODE_FRAME)
		r = node_frame(w, &p->node);
	else if (w->node.phase == NODE_FIND)
		r = node_find(w, &p->node);
	else
		r = node_add(w, &p->node);
	if (r == NODE_MORE)
		return WALK_AGAIN;
	w->node.phase = NODE_FRAME;
	return r == NODE_FULL ? 1 : walk_to_caller(w, w->bp);
}

#endif /* DRIVER_WALK_NODE_BPF_H */
