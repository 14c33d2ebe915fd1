/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads objects of V8. A pointer to an object is tagged: its address plus 1. The first word of an
 * object is its map, which has the type; while V8 moves objects it may be the new address instead.
 */
#ifndef DRIVER_NODE_OBJECTS_BPF_H
#define DRIVER_NODE_OBJECTS_BPF_H

#include "script_codes.bpf.h"
#include "shared/user_walk.h"

/* In structures of all versions; offsets are from the address, without the tag. */
#define NODE_MAP_TYPE 8 /* word with the type in bits 32 to 47 */
#define NODE_ARRAY_LEN 8
#define NODE_ARRAY_DATA 16
#define NODE_SCRIPT_SOURCE 8
#define NODE_SCRIPT_NAME 16
#define NODE_SCRIPT_FIRST_LINE 24
#define NODE_SCRIPT_LINE_ENDS 56
#define NODE_SCRIPT_ID 64
#define NODE_SCRIPT_SZ 72
#define NODE_SHARED_DATA 8 /* two words: one of them is the number of a builtin */
#define NODE_SHARED_SZ 72 /* of what is read */
#define NODE_STRING_LEN 8 /* word with the length in the upper half */
#define NODE_STRING_TEXT 16
#define NODE_STRING_MORE 24
#define NODE_NOT_STRING 128 /* types from here on */
#define NODE_ONE_BYTE 8 /* bits of the type of a string */
#define NODE_UNCACHED 16
#define NODE_FORM 7
enum { NODE_FLAT = 0, NODE_CONS = 1, NODE_EXTERNAL = 2, NODE_SLICED = 3, NODE_THIN = 5 };
#define NODE_STRING_DEPTH 4 /* maximum number of strings that refer to others */

#define NODE_SHARED_AT 128 /* where it is copied in w->object */
#define NODE_MIX 0x9e3779b97f4a7c15ull /* of checksums */

/* What callbacks get. */
struct node_ctx {
	struct user_walk *w;
	const struct interp_node *p;
};

static __always_inline bool node_is_object(u64 value)
{
	return (value & 3) == 1 && user_code(value);
}

static __always_inline bool node_is_smi(u64 value)
{
	return !(u32)value;
}

/* Returns the type of an object; -1: it cannot be read. */
static __always_inline int node_type_of(struct user_walk *w, u64 object)
{
	if (!node_is_object(object) || read_word(w, object - 1))
		return -1;
	if (!(w->word & 1) && (!user_word(w->word) || read_word(w, w->word))) /* moved */
		return -1;
	if (!node_is_object(w->word) || read_word(w, w->word - 1 + NODE_MAP_TYPE))
		return -1;
	return (int)(w->word >> 32 & 0xffff);
}

/* The same, verified on its own. */
WALK_FUNC int node_type(struct user_walk *w, u64 object)
{
	return w ? node_type_of(w, object) : -1;
}

/* Reads the word at @at of an object. Returns not 0 if it cannot. */
static __always_inline int node_word(struct user_walk *w, u64 object, u32 at)
{
	return node_is_object(object) ? read_word(w, object - 1 + at) : -1;
}

/* Follows a string that refers to another one. Returns the other one; 0: none. */
static __always_inline u64 node_string_in(struct user_walk *w, u64 string, u32 form)
{
	if (form == NODE_CONS && /* flat, if nothing follows */
	    (node_word(w, string, NODE_STRING_MORE) || node_word(w, w->word, NODE_STRING_LEN) ||
	     w->word >> 32))
		return 0;
	if (form == NODE_SLICED) {
		if (node_word(w, string, NODE_STRING_MORE))
			return 0;
		w->node.text += w->word >> 32;
	}
	return node_word(w, string, NODE_STRING_TEXT) ? 0 : w->word;
}

/* Finds the characters of a string: w->node.text, text_len, text_wide. Returns not 0 if they are
 * not in one piece. Verified on its own. */
WALK_FUNC int node_string(struct user_walk *w, u64 string)
{
	int type;

	if (!w || node_word(w, string, NODE_STRING_LEN))
		return -1;
	w->node.text_len = w->word >> 32;
	w->node.text = 0; /* the first character */
	for (u32 i = 0; i < NODE_STRING_DEPTH; i++) {
		type = node_type_of(w, string);
		if (type < 0 || type >= NODE_NOT_STRING)
			return -1;
		w->node.text_wide = !(type & NODE_ONE_BYTE);
		type &= NODE_FORM | NODE_UNCACHED;
		if (type == NODE_FLAT || type == NODE_EXTERNAL) {
			w->word = string - 1 + NODE_STRING_TEXT;
			if (type == NODE_EXTERNAL && node_word(w, string, NODE_STRING_MORE))
				return -1;
			w->node.text = w->word + (w->node.text << w->node.text_wide);
			return 0;
		}
		if (type != NODE_CONS && type != NODE_SLICED && type != NODE_THIN)
			return -1;
		string = node_string_in(w, string, type);
	}
	return -1;
}

/* Reads the function @shared, a SharedFunctionInfo: w->node.script, and a checksum that does not
 * depend on where V8 has moved it to. Returns not 0 if it is none. Verified on its own. */
WALK_FUNC int node_function(struct user_walk *w, const struct interp_node *p, u64 shared)
{
	u64 id = 0, builtin;

	if (!w || !p || node_type(w, shared) != p->shared_type ||
	    walk_read(w, w->object + NODE_SHARED_AT, NODE_SHARED_SZ, shared - 1))
		return -1;
	w->node.script = object_u64(w, NODE_SHARED_AT + p->shared_script);
	if (node_type(w, w->node.script) != p->script_type ||
	    node_word(w, w->node.script, NODE_SCRIPT_ID))
		w->node.script = 0;
	else
		id = w->word;
	builtin = object_u64(w, NODE_SHARED_AT + NODE_SHARED_DATA + p->shared_builtin * 8);
	w->node.check = script_check(id, object_u32(w, NODE_SHARED_AT + p->shared_literal),
				     node_is_smi(builtin) ? builtin : 0);
	return 0;
}

#endif /* DRIVER_NODE_OBJECTS_BPF_H */
