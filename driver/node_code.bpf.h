/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of JavaScript's functions: what the source calls it, else the name that V8 inferred from
 * the code around. A function that has been compiled keeps both in its ScopeInfo.
 */
#ifndef DRIVER_NODE_CODE_BPF_H
#define DRIVER_NODE_CODE_BPF_H

#include "script_text.bpf.h"
#include "walk_node.bpf.h"

/* Flags of a ScopeInfo, and its words after the map: flags, parameters, variables. */
#define NODE_SCOPE_CLASS_VARIABLE (1u << 10)
#define NODE_SCOPE_NAME (3u << 12)
#define NODE_SCOPE_INFERRED (1u << 14)
#define NODE_SCOPE_FLAGS 8
#define NODE_SCOPE_N_LOCALS 24
#define NODE_NAME_PIECES 8 /* maximum number of strings that a name consists of */
#define NODE_SCOPE_HASHED 75 /* with more variables a table has their names */

/* Returns the name of the function with this ScopeInfo, a string; 0: none. */
static __always_inline u64 node_scope_name(struct user_walk *w, const struct interp_node *p,
					   u64 scope)
{
	u32 at = 8 + p->scope_locals * 8, flags;
	u64 n, name = 0;

	if (node_word(w, scope, NODE_SCOPE_FLAGS))
		return 0;
	flags = w->word >> 32 | (u32)w->word; /* a small integer, or in later versions a number */
	if (node_word(w, scope, NODE_SCOPE_N_LOCALS))
		return 0;
	n = w->word >> 32;
	at += (n < NODE_SCOPE_HASHED ? 2 * n : 1 + n) * 8;
	at += flags & NODE_SCOPE_CLASS_VARIABLE ? 8 : 0;
	if (flags & NODE_SCOPE_NAME) {
		if (node_word(w, scope, at))
			return 0;
		name = w->word;
		at += 16;
	}
	if (node_is_object(name) && !node_word(w, name, NODE_STRING_LEN) && w->word >> 32)
		return name;
	return !(flags & NODE_SCOPE_INFERRED) || node_word(w, scope, at) ? 0 : w->word;
}

/* Returns the name of a function, a string; 0: none. */
static __always_inline u64 node_name(struct user_walk *w, const struct interp_node *p, u64 shared)
{
	u64 name;

	if (node_word(w, shared, p->shared_name))
		return 0;
	name = w->word;
	return node_type(w, name) == p->scope_type ? node_scope_name(w, p, name) : name;
}

/* Takes the first piece of a string, w->node.text, off it. Returns the rest; 0: there is none.
 * Verified on its own. */
WALK_FUNC u64 node_piece(struct user_walk *w, u64 string)
{
	u64 rest, first;

	if (!w)
		return 0;
	w->node.text_len = 0;
	if (!node_string(w, string))
		return 0;
	w->node.text_len = 0;
	if ((node_type(w, string) & NODE_FORM) != NODE_CONS ||
	    node_word(w, string, NODE_STRING_MORE))
		return 0;
	rest = w->word;
	if (node_word(w, string, NODE_STRING_TEXT))
		return 0;
	first = w->word;
	if (node_string(w, first))
		w->node.text_len = 0;
	return w->node.text_len ? rest : 0;
}

/* Copies a name, which may lie in pieces, to w->node.bytes. Returns its bytes; 0: none. Verified on
 * its own. */
WALK_FUNC u32 node_copy_name(struct user_walk *w, u64 name)
{
	u32 n = 0, wide = 0;
	u64 rest, sz;

	if (!w)
		return 0;
	for (u32 i = 0; i < NODE_NAME_PIECES && name && n < INTERP_NAME_MAX; i++) {
		rest = node_piece(w, name);
		if (!w->node.text_len || (i && w->node.text_wide != wide))
			return 0;
		wide = w->node.text_wide;
		sz = w->node.text_len > INTERP_NAME_MAX ? INTERP_NAME_MAX
							: w->node.text_len << (wide & 1);
		if (sz > INTERP_NAME_MAX - n)
			sz = INTERP_NAME_MAX - n;
		sz = widen_in(&w->scratch, sz, INTERP_NAME_MAX);
		if (walk_read(w, w->node.bytes + (n & (INTERP_NAME_MAX - 1)), sz, w->node.text))
			return 0;
		n += sz;
		name = rest;
	}
	return n;
}

/* Puts the parameters of the event of function @c, unless V8 has moved it away. */
static __always_inline void put_node_code(struct rec *r, struct user_walk *w,
					  const struct walk_code *c, const struct interp_node *p)
{
	struct script_content *s = &w->content;

	*s = (struct script_content){
		.name.kind = INTERP_UCS1, .file.kind = INTERP_UCS1, .version = p->major};
	if (node_function(w, p, c->at) || w->node.check != c->check)
		return;
	/* V8's number of the function in its script, from 0; -1: none. */
	s->first_line = object_u32(w, NODE_SHARED_AT + p->shared_literal) + 1;
	s->name.is_copy = 1;
	s->name.len = node_copy_name(w, node_name(w, p, c->at));
	s->name.kind = w->node.text_wide ? INTERP_UCS2 : INTERP_UCS1;
	if (w->node.script && !node_word(w, w->node.script, NODE_SCRIPT_NAME) &&
	    !node_string(w, w->word)) {
		s->file.at = w->node.text;
		s->file.len = w->node.text_len << (w->node.text_wide & 1);
		s->file.kind = w->node.text_wide ? INTERP_UCS2 : INTERP_UCS1;
	}
	put_script(r, w, c, s);
}

#endif /* DRIVER_NODE_CODE_BPF_H */
