/* SPDX-License-Identifier: GPL-2.0 */
/* Names and line tables of Java's methods. The texts are in the constants of the class. */
#ifndef DRIVER_JAVA_CODE_BPF_H
#define DRIVER_JAVA_CODE_BPF_H

#include "script_text.bpf.h"
#include "walk_java.bpf.h"

#define JAVA_CONST_WORDS 24 /* of the whole, in words */
#define JAVA_CONST_FLAGS 28
#define JAVA_HAS_LINES 1
#define JAVA_CONSTANTS_CLASS 24
#define JAVA_CLASS_NAME 24
#define JAVA_SYMBOL_LEN 4
#define JAVA_SYMBOL_TEXT 6

static __always_inline struct script_text java_symbol(struct user_walk *w, u64 symbol)
{
	struct script_text t = {.kind = INTERP_BYTES};

	if (!symbol || read_word(w, symbol))
		return t;
	t.len = (u16)(w->word >> JAVA_SYMBOL_LEN * 8);
	t.at = symbol + JAVA_SYMBOL_TEXT;
	return t;
}

/* Returns the text of constant @i. */
static __always_inline struct script_text
java_constant(struct user_walk *w, const struct interp_java *p, u64 constants, u64 i)
{
	return java_symbol(w,
			   !i || read_word(w, constants + p->constants_sz + i * 8) ? 0 : w->word);
}

/* Puts the parameters of the event of method @c, with its class in place of bases. */
static __always_inline void put_java_code(struct rec *r, struct user_walk *w,
					  const struct walk_code *c, const struct interp_java *p)
{
	struct script_content *s = &w->content;
	u64 at, constants;

	*s = (struct script_content){
		.name.kind = INTERP_BYTES, .file.kind = INTERP_BYTES, .version = p->feature};
	if (!read_word(w, c->at + JAVA_METHOD_CONST) &&
	    !walk_read(w, w->object, JAVA_CONST_SZ, w->word)) {
		at = w->word;
		constants = object_u64(w, JAVA_CONST_CONSTANTS);
		s->name = java_constant(w, p, constants, object_u16(w, p->name_index));
		if (object_u32(w, JAVA_CONST_FLAGS) & JAVA_HAS_LINES) {
			s->lines.at = at + p->const_method_sz + object_u16(w, p->code_sz);
			s->lines.len = at + object_u32(w, JAVA_CONST_WORDS) * 8ull - s->lines.at;
		}
		if (!read_word(w, constants + (p->source_index & ~7u)))
			s->file = java_constant(w, p, constants,
						(u16)(w->word >> (p->source_index & 7) * 8));
		if (!read_word(w, constants + JAVA_CONSTANTS_CLASS) &&
		    !read_word(w, w->word + JAVA_CLASS_NAME))
			s->bases = java_symbol(w, w->word);
	}
	put_script(r, w, c, s);
}

#endif /* DRIVER_JAVA_CODE_BPF_H */
