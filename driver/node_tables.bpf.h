/* SPDX-License-Identifier: GPL-2.0 */
/*
 * V8's tables about code, which are read byte by byte:
 *
 * - of positions: pairs of signed numbers, each relative to the pair before: the offset in the
 * code, in which the sign is a flag, and the position in the source with the number of the
 * inlining.
 * - of baseline code: for each bytecode the size of its machine code.
 *
 * Two tables can be read at once.
 */
#ifndef DRIVER_NODE_TABLES_BPF_H
#define DRIVER_NODE_TABLES_BPF_H

#include "node_objects.bpf.h"

#define NODE_TABLE_MAX 32768 /* bytes of a table, or bytecodes, that are read */
#define NODE_HALF (WALK_NODE_SZ / 2)
#define NODE_NUMBER_MAX 4 /* bytes of a size */
enum { NODE_WIDE, NODE_EXTRA_WIDE }; /* bytecodes: the next one has larger operands */

/* Position in the source: offset and inlining, each plus 1. */
#define NODE_POSITION(word) (((word) >> 1 & 0x3fffffff))
#define NODE_INLINING(word) (((word) >> 31 & 0xffff))

/* Returns the byte at @at of stream @half; -1: it cannot be read. */
static __always_inline int node_byte(struct user_walk *w, u32 half, u64 at)
{
	u64 i = at - w->node.streams[half].at;
	u32 sz;

	w->node.work++;
	if (i >= w->node.streams[half].sz) {
		sz = 4096 - (at & 4095);
		if (sz > NODE_HALF)
			sz = NODE_HALF;
		w->node.streams[half].sz = 0;
		if (walk_read(w, w->node.bytes + half * NODE_HALF, sz, at))
			return -1;
		w->node.streams[half].at = at;
		w->node.streams[half].sz = sz;
		i = 0;
	}
	return w->node.bytes[half * NODE_HALF + (i & (NODE_HALF - 1))];
}

/* Returns the next byte of the table; -1: its end. */
static __always_inline int node_table_byte(struct user_walk *w)
{
	if (w->node.table.at >= w->node.table.end)
		return -1;
	return node_byte(w, 0, w->node.table.at++);
}

/* A callback of bpf_loop: reads one byte of a table of positions. */
static long node_position_byte(u32 i, void *ctx)
{
	const struct node_ctx *c = ctx;
	struct user_walk *w = c->w;
	const int byte = node_table_byte(w);
	s64 delta;

	(void)i;
	if (byte < 0)
		return 1;
	w->node.table.value |= (u64)(byte & 127) << (w->node.table.shift & 63);
	w->node.table.shift += 7;
	if (byte & 128)
		return 0;
	delta = (s64)(w->node.table.value >> 1) ^ -(s64)(w->node.table.value & 1);
	if (w->node.table.is_position) {
		w->node.table.position += delta;
	} else {
		w->node.table.code += delta < 0 ? -(delta + 1) : delta;
		if (w->node.table.code > (s64)w->node.table.searched)
			return 1;
	}
	w->node.table.is_position ^= 1;
	w->node.table.value = w->node.table.shift = 0;
	return 0;
}

/* Sets the bytes of a table, an array of bytes. Returns not 0 if it is none. */
static __always_inline int node_table_begin(struct user_walk *w, const struct interp_node *p,
					    u64 table, u64 searched)
{
	if (node_type(w, table) != p->table_type || node_word(w, table, NODE_ARRAY_LEN))
		return -1;
	w->node.table.at = table - 1 + NODE_ARRAY_DATA;
	w->node.table.end = w->node.table.at + (w->word >> 32);
	w->node.table.searched = searched;
	w->node.table.code = w->node.table.position = 0;
	w->node.table.value = 0;
	w->node.table.shift = w->node.table.is_position = w->node.table.next = 0;
	w->node.streams[0].sz = w->node.streams[1].sz = 0;
	return 0;
}

/* Returns the position that belongs to offset @offset of the code; 0: unknown. Verified on its own.
 */
WALK_FUNC u64 node_position(struct user_walk *w, const struct interp_node *p, u64 table, u64 offset)
{
	struct node_ctx c = {.w = w};

	if (!w || !p)
		return 0;
	if (node_table_begin(w, p, table, offset)) {
		w->node.is_missing = 1; /* V8 makes some tables later */
		return 0;
	}
	w->node.table.code = -1; /* the entry of the function */
	bpf_loop(NODE_TABLE_MAX, node_position_byte, &c, 0);
	return w->node.table.position;
}

/* Reads a size of the table of baseline code, and adds it. Returns not 0 at its end. */
static __always_inline int node_add_size(struct user_walk *w)
{
	int byte;

	w->node.table.value = 0;
	for (u32 i = 0; i < NODE_NUMBER_MAX; i++) {
		byte = node_table_byte(w);
		if (byte < 0)
			return -1;
		w->node.table.value |= (u64)(byte & 127) << i * 7;
		if (!(byte & 128)) {
			w->node.table.code += (s64)w->node.table.value;
			return 0;
		}
	}
	return -1;
}

/* Returns the next byte of the bytecodes; -1: it cannot be read. */
static __always_inline int node_next_op(struct user_walk *w, const struct interp_node *p)
{
	return node_byte(w, 1, w->node.bytecodes - 1 + p->bytecodes_header + w->node.table.next);
}

/* A callback of bpf_loop: goes on by one bytecode, until its machine code ends behind what is
 * searched. */
static long node_next_bytecode(u32 i, void *ctx)
{
	const struct node_ctx *c = ctx;
	struct user_walk *w = c->w;
	u32 scale = 0;
	int op;

	(void)i;
	if (w->node.table.code > (s64)w->node.table.searched)
		return 1;
	w->node.table.position = w->node.table.next;
	op = node_next_op(w, c->p);
	if (op == NODE_WIDE || op == NODE_EXTRA_WIDE) {
		scale = op + 1;
		w->node.table.next++;
		op = node_next_op(w, c->p);
	}
	if (op < 0 || node_add_size(w)) {
		w->node.table.position = -1;
		return 1;
	}
	w->node.table.next += c->p->sizes[scale * NODE_BYTECODES_MAX + (op & 255)];
	return 0;
}

/* Returns the offset of the bytecode of w->node.bytecodes whose baseline code has offset @offset;
 * -1: unknown. Verified on its own. */
WALK_FUNC s64 node_bytecode(struct user_walk *w, const struct interp_node *p, u64 table, u64 offset)
{
	struct node_ctx c = {.w = w, .p = p};

	if (!w || !p || node_table_begin(w, p, table, offset) || node_add_size(w))
		return -1;
	w->node.table.position = -1;
	bpf_loop(NODE_TABLE_MAX, node_next_bytecode, &c, 0);
	return w->node.table.position;
}

#endif /* DRIVER_NODE_TABLES_BPF_H */
