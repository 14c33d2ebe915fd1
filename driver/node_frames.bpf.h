/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions in code of V8's Maglev compiler, which has no table of positions. For each call that
 * can lead back to the interpreter, V8 keeps a description of the interpreter's frames that the
 * code stands for: which functions were inlined, and the bytecode of each.
 *
 * A description consists of operations, each a byte and numbers of variable length. A run of them
 * may be that of another description, which is read along as a second stream.
 */
#ifndef DRIVER_NODE_FRAMES_BPF_H
#define DRIVER_NODE_FRAMES_BPF_H

#include "node_tables.bpf.h"
#include "script_places.bpf.h"

/* The table of calls: two numbers, of which the second is that of calls; the sizes of an entry's
 * parts; entries: offset of the return address, index of an entry of DeoptimizationData plus 1,
 * another offset, registers, a byte. */
#define NODE_CALLS_CONFIG 8
#define NODE_CALLS_HEADER 16
#define NODE_CALLS_REGS(config) ((config) >> 1 & 7)
#define NODE_CALLS_PC(config) ((config) >> 4 & 7)
#define NODE_CALLS_INDEX(config) ((config) >> 7 & 7)
#define NODE_CALLS_MAX 2048 /* maximum number that is searched */
#define NODE_ENTRY_WORDS                                                                           \
	3 /* of an entry of DeoptimizationData: the second leads to a description */
#define NODE_FRAMES_BYTES 8192 /* maximum number that is read */
enum { NODE_OPERAND_BYTECODE, NODE_OPERAND_FUNCTION }; /* of an operation for a frame */
enum { NODE_OPERAND_BACK, NODE_OPERAND_FRAMES, NODE_OPERAND_FUNCTIONS }; /* of the first one */

/* A callback of bpf_loop: compares one call with the return address. */
static long node_compare_call(u32 i, void *ctx)
{
	const struct node_ctx *c = ctx;
	struct user_walk *w = c->w;
	const u32 config = w->node.table.next;
	const u32 pc_sz = NODE_CALLS_PC(config), index_sz = NODE_CALLS_INDEX(config);
	const u32 sz = 2 * pc_sz + index_sz + NODE_CALLS_REGS(config) + 1;

	w->node.work++;
	if (i >= w->node.table.end || read_word(w, w->node.table.at + (u64)i * sz))
		return 1;
	if ((w->word & ((1ull << pc_sz * 8) - 1)) != w->node.offset + 1)
		return 0;
	w->word = w->word >> pc_sz * 8 & ((1ull << index_sz * 8) - 1);
	w->node.table.position = (s64)w->word - 1;
	return 1;
}

/* Returns where in its array the description for the call that returns behind w->node.offset
 * begins; -1: there is none. The code has a table of its calls behind its instructions. */
static __always_inline s64 node_find_description(struct user_walk *w, const struct interp_node *p,
						 struct node_ctx *c)
{
	u64 at;

	if (read_word(w, w->node.calls))
		return -1;
	w->node.table.end = w->word >> 32;
	if (read_word(w, w->node.calls + NODE_CALLS_CONFIG))
		return -1;
	w->node.table.next = (u32)w->word;
	w->node.table.at = w->node.calls + NODE_CALLS_HEADER;
	w->node.table.position = -1;
	bpf_loop(NODE_CALLS_MAX, node_compare_call, c, 0);
	if (w->node.table.position < 0)
		return -1;
	at = p->deopt_entries + (u64)w->node.table.position * NODE_ENTRY_WORDS + 1;
	return node_word(w, w->node.deopt, NODE_ARRAY_DATA + at * 8) ? -1 : (s64)(w->word >> 32);
}

/* Uses a number of an operation. Returns not 0 at the end. */
static __always_inline int node_operand(struct user_walk *w, const struct interp_node *p)
{
	const u64 raw = w->node.table.value;
	const s64 value = raw & 1 ? -(s64)(raw >> 1) : (s64)(raw >> 1);
	const u32 op = w->node.frames.op, i = w->node.frames.operand++;
	const u32 n = w->node.frames.n & (NODE_INLINED_MAX - 1);

	if (op == p->frames_match) {
		w->node.frames.repeat = raw;
		w->node.frames.skip = w->node.frames.since;
		w->node.frames.since = 0;
	} else if (op == p->frames_begin || op == p->frames_begin + 1u) {
		if (i == NODE_OPERAND_BACK)
			w->node.frames.previous = w->node.frames.begin - raw;
		else if (i == NODE_OPERAND_FUNCTIONS)
			w->node.frames.n_all = value;
		return w->node.frames.n_all >= NODE_INLINED_MAX;
	} else if (op < p->frames_functions && i == NODE_OPERAND_BYTECODE) {
		w->node.frames.bytecode[n] = value;
	} else if (op < p->frames_functions && i == NODE_OPERAND_FUNCTION) {
		w->node.frames.is_builtin = op >= p->frames_builtins;
		w->node.frames.function[n] = w->node.frames.is_builtin ? -1 : value;
		w->node.frames.n = n + 1;
		return n + 1 == w->node.frames.n_all && !w->node.frames.is_builtin;
	} else if (op == p->frames_literal && w->node.frames.is_builtin) {
		w->node.frames.is_builtin = 0;
		w->node.frames.function[(n - 1) & (NODE_INLINED_MAX - 1)] = value;
		return n == w->node.frames.n_all;
	}
	return 0;
}

/* The frame of an inlined builtin has the function that it was inlined into. The builtin is its
 * first value, a literal; else it stays unknown. Returns not 0 at the end. */
static __always_inline int node_no_builtin(struct user_walk *w, const struct interp_node *p, u32 op)
{
	if (!w->node.frames.is_builtin || op == p->frames_literal || op == p->frames_match)
		return 0;
	w->node.frames.is_builtin = 0;
	return w->node.frames.n == w->node.frames.n_all;
}

/* Begins an operation. Returns not 0 at the end. */
static __always_inline int node_operation(struct user_walk *w, const struct interp_node *p, u32 op)
{
	const bool is_new = !w->node.frames.is_previous;

	w->node.frames.operand = 0;
	w->node.frames.op = op;
	if (is_new && op >= p->n_frames_ops) { /* a short form */
		w->node.frames.repeat = op - p->n_frames_ops;
		w->node.frames.skip = w->node.frames.since;
		w->node.frames.since = 0;
		return 0;
	}
	if (op >= p->n_frames_ops || (is_new && w->node.frames.since &&
				      (op == p->frames_begin || op == p->frames_begin + 1u)))
		return -1; /* the end */
	w->node.frames.left = p->frames_operands[op & (NODE_FRAMES_OPS_MAX - 1)];
	if (w->node.frames.skip) {
		w->node.frames.op = p->n_frames_ops; /* of no use */
		w->node.frames.skip--;
		return 0;
	}
	if (is_new && op != p->frames_match)
		w->node.frames.since++;
	return node_no_builtin(w, p, op);
}

/* A callback of bpf_loop: reads one byte of a description. */
static long node_frames_byte(u32 i, void *ctx)
{
	const struct node_ctx *c = ctx;
	struct user_walk *w = c->w;
	int byte;

	(void)i;
	if (!w->node.frames.left) {
		w->node.frames.is_previous = w->node.frames.skip || w->node.frames.repeat;
		if (!w->node.frames.skip && w->node.frames.repeat)
			w->node.frames.repeat--;
	}
	if (w->node.frames.is_previous)
		byte = node_byte(w, 1, w->node.frames.previous++);
	else
		byte = node_table_byte(w);
	if (byte < 0)
		return 1;
	if (!w->node.frames.left)
		return node_operation(w, c->p, byte) != 0;
	w->node.table.value |= (u64)(byte & 127) << (w->node.table.shift & 63);
	w->node.table.shift += 7;
	if (byte & 128)
		return 0;
	w->node.frames.left--;
	if (node_operand(w, c->p))
		return 1;
	w->node.table.value = w->node.table.shift = 0;
	return 0;
}

/* Reads which functions are at w->node.offset of the code with w->node.deopt: w->node.frames,
 * outermost first. Returns not 0 if that is unknown. Verified on its own. */
WALK_FUNC int node_frames(struct user_walk *w, const struct interp_node *p)
{
	struct node_ctx c = {.w = w, .p = p};
	s64 at;

	if (!w || !p)
		return -1;
	at = node_find_description(w, p, &c);
	if (at < 0 || node_word(w, w->node.deopt, NODE_ARRAY_DATA) ||
	    node_table_begin(w, p, w->word, 0))
		return -1;
	w->node.table.at += at;
	w->node.frames.begin = w->node.table.at;
	w->node.frames.previous = 0;
	w->node.frames.n = w->node.frames.n_all = 0;
	w->node.frames.left = w->node.frames.skip = w->node.frames.repeat = 0;
	w->node.frames.since = w->node.frames.is_builtin = 0;
	bpf_loop(NODE_FRAMES_BYTES, node_frames_byte, &c, 0);
	return w->node.frames.n && w->node.frames.n == w->node.frames.n_all ? 0 : -1;
}

/* Returns the bytecodes of the function @shared; 0: not found. */
static __always_inline u64 node_bytecodes_of(struct user_walk *w, const struct interp_node *p,
					     u64 shared)
{
	u64 data;
	int type;

	if (node_word(w, shared, NODE_SHARED_DATA))
		return 0;
	data = w->word;
	type = node_type(w, data);
	if (type == p->code_type) { /* of the baseline compiler */
		data = node_word(w, data, p->code_deopt) ? 0 : w->word;
		type = node_type(w, data);
	}
	return type == p->bytecodes_type ? data : 0;
}

#endif /* DRIVER_NODE_FRAMES_BPF_H */
