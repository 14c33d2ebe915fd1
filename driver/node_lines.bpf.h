/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of V8's scripts. V8 makes a table of the lines of a script only when it needs it: else the
 * ends of lines are counted in the source, in blocks whose numbers are kept.
 */
#ifndef DRIVER_NODE_LINES_BPF_H
#define DRIVER_NODE_LINES_BPF_H

#include "node_objects.bpf.h"

#define NODE_BLOCK_SZ WALK_WINDOW /* bytes of a source */
#define NODE_BLOCKS 1024u /* maximum number of a source */
#define NODE_BLOCKS_NEW 64 /* maximum number that one call counts */
#define NODE_BLOCKS_MAX 32768
#define NODE_BLOCK_WORK 256 /* see NODE_WORK_MAX */
#define NODE_COUNT_SZ 64 /* bytes per call of a callback */
#define NODE_LINE_STEPS 22 /* of a search in the table: two to this number of lines */

struct node_block_key {
	u64 source; /* address of the characters */
	u64 block; /* its number, with that of the address space */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, NODE_BLOCKS_MAX);
	__type(key, struct node_block_key);
	__type(value, u32); /* ends of lines */
} node_blocks SEC(".maps");

/* Returns a word with a bit for each character of @v that is @c. */
static __always_inline u64 node_equal(u64 v, u32 wide, u64 c)
{
	const u64 low = wide ? 0x7fff7fff7fff7fffull : 0x7f7f7f7f7f7f7f7full;

	v ^= c * (wide ? 0x0001000100010001ull : 0x0101010101010101ull);
	return ~(((v & low) + low) | v | low) >> 7;
}

/* Returns a word with a bit for each character of @v that ends a line, as JavaScript has it: CR, LF
 * but not behind CR, U+2028 and U+2029. *cr: whether CR is before @v, and then at its end. */
static __always_inline u64 node_line_ends(u64 v, u32 wide, u64 *cr)
{
	const u64 crs = node_equal(v, wide, '\r'), before = *cr | crs << (8 << wide);
	u64 ends = crs | (node_equal(v, wide, '\n') & ~before);

	*cr = crs >> (64 - (8 << wide));
	if (wide)
		ends |= node_equal(v & ~0x0001000100010001ull, wide, 0x2028);
	return ends;
}

/* A callback of bpf_loop: counts in the next bytes of the window. */
static long node_count_words(u32 i, void *ctx)
{
	struct user_walk *w = *(struct user_walk **)ctx;
	u32 at = i * NODE_COUNT_SZ;

#pragma unroll
	for (u32 k = 0; k < NODE_COUNT_SZ / 8; k++, at += 8) {
		const u64 v = *(const u64 *)(w->window + (at & (WALK_WINDOW - 8)));
		u64 ends = node_line_ends(v, !!w->node.text_wide, &w->node.lines.cr);

		if (at >= w->node.lines.piece)
			return 1;
		if (w->node.lines.piece - at < 8)
			ends &= (1ull << (w->node.lines.piece - at) * 8) - 1;
		w->node.lines.n += ends * 0x0101010101010101ull >> 56;
	}
	return 0;
}

/* Counts the ends of lines in the next bytes of the source. Returns not 0 if they cannot be read.
 */
static __always_inline int node_count_block(struct user_walk *w, void *ctx, u64 at, u32 sz)
{
	w->node.lines.cr = 0;
	if (at != w->node.text) { /* what is before the block */
		if (read_word(w, at - 8))
			return -1;
		node_line_ends(w->word, !!w->node.text_wide, &w->node.lines.cr);
	}
	if (sz > WALK_WINDOW || walk_read(w, w->window, sz, at))
		return -1;
	w->node.lines.budget--;
	w->node.work += NODE_BLOCK_WORK;
	w->node.lines.piece = sz;
	bpf_loop(WALK_WINDOW / NODE_COUNT_SZ, node_count_words, ctx, 0);
	return 0;
}

/* Adds what is kept of a block. Returns not 0 if nothing is. Another CPU may take the element of
 * the map for another block meanwhile: then the key no longer leads to it. */
static __always_inline int node_add_kept(struct user_walk *w, const struct node_block_key *key)
{
	const u32 *kept = bpf_map_lookup_elem(&node_blocks, key);
	u32 n;

	if (!kept)
		return -1;
	n = ONCE(*kept);
	barrier();
	if (bpf_map_lookup_elem(&node_blocks, key) != kept)
		return -1;
	w->node.lines.n += n;
	return 0;
}

/* A callback of bpf_loop: adds a block of the source. */
static long node_add_block(u32 i, void *ctx)
{
	struct user_walk *w = *(struct user_walk **)ctx;
	const u64 from = (u64)i * NODE_BLOCK_SZ;
	struct node_block_key key;
	u32 n;

	if (from >= w->node.lines.sz)
		return 1;
	key.source = w->node.text;
	key.block = w->space * 0x9e3779b97f4a7c15ull + i;
	if (w->node.lines.sz - from >= NODE_BLOCK_SZ && !node_add_kept(w, &key))
		return 0;
	w->node.lines.before = w->node.lines.n;
	n = w->node.lines.sz - from < NODE_BLOCK_SZ ? w->node.lines.sz - from : NODE_BLOCK_SZ;
	if (!w->node.lines.budget) {
		w->node.is_partial = 1; /* the next sample continues */
		return 1;
	}
	if (node_count_block(w, ctx, w->node.text + from, n)) {
		w->node.is_missing = 1; /* as is most of the source in the file of Node.js */
		return 1;
	}
	n = w->node.lines.n - w->node.lines.before;
	if (w->node.lines.sz - from >= NODE_BLOCK_SZ)
		bpf_map_update_elem(&node_blocks, &key, &n, BPF_ANY);
	return 0;
}

/* Returns the number of the line of a position in the source of w->node.script, from 1; 0: unknown.
 */
static __always_inline u32 node_count_lines(struct user_walk *w, u64 position)
{
	if (node_word(w, w->node.script, NODE_SCRIPT_SOURCE) || node_string(w, w->word) ||
	    position > w->node.text_len)
		return 0;
	w->node.lines.sz = position << w->node.text_wide;
	if (w->node.lines.sz > (u64)NODE_BLOCKS * NODE_BLOCK_SZ)
		return 0;
	w->node.lines.n = 0;
	w->node.lines.budget = NODE_BLOCKS_NEW;
	w->window_sz = 0;
	bpf_loop(NODE_BLOCKS, node_add_block, &w, 0);
	return w->node.is_partial || w->node.is_missing ? 0 : w->node.lines.n + 1;
}

/* The same, by V8's table at @ends. */
static __always_inline u32 node_search_lines(struct user_walk *w, u64 ends, u64 position)
{
	u32 n, at = 0;

	if (node_word(w, ends, NODE_ARRAY_LEN))
		return 0;
	n = w->word >> 32;
	for (u32 i = 0; i < NODE_LINE_STEPS && n; i++) {
		const u32 half = n >> 1;

		if (node_word(w, ends, NODE_ARRAY_DATA + (at + half) * 8))
			return 0;
		if (w->word >> 32 < position) {
			at += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return n ? 0 : at + 1;
}

/* Returns the line of a position in w->node.script; 0: unknown. Verified on its own. */
WALK_FUNC u32 node_line(struct user_walk *w, const struct interp_node *p, u32 position)
{
	u64 ends;
	u32 line;

	if (!w || !p || node_word(w, w->node.script, NODE_SCRIPT_LINE_ENDS))
		return 0;
	ends = w->word;
	line = node_type(w, ends) == p->array_type ? node_search_lines(w, ends, position)
						   : node_count_lines(w, position);
	if (!line || node_word(w, w->node.script, NODE_SCRIPT_FIRST_LINE))
		return 0;
	return line + (u32)(w->word >> 32);
}

#endif /* DRIVER_NODE_LINES_BPF_H */
