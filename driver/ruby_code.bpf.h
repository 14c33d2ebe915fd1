/* SPDX-License-Identifier: GPL-2.0 */
/* Names and line tables of Ruby's methods and blocks. */
#ifndef DRIVER_RUBY_CODE_BPF_H
#define DRIVER_RUBY_CODE_BPF_H

#include "script_text.bpf.h"
#include "walk_ruby.bpf.h"

#define RUBY_TYPE 0x1f /* of flags of an object */
#define RUBY_STRING 5
#define RUBY_ARRAY 7
#define RUBY_FLAG (1u << 13) /* of a string: not embedded; of an array: embedded */
#define RUBY_EMBEDDED_LEN(flags) ((flags) >> 14 & 0x1f)
#define RUBY_EMBEDDED 16 /* content of an object that is embedded in it */
#define RUBY_STRING_LEN 16 /* of one that is not */
#define RUBY_STRING_TEXT 24
#define RUBY_ARRAY_VALUES 32

#define RUBY_LINE_SZ 12 /* of an entry of the line table */
/* The index of the line table: a part for the first instructions, then blocks. */
#define RUBY_INDEX_FIRST 54 /* instructions */
#define RUBY_INDEX_FIRST_SZ 48
#define RUBY_INDEX_WORD 9 /* instructions of a word of it */
#define RUBY_INDEX_BLOCK 512
#define RUBY_INDEX_BLOCK_SZ 80

static __always_inline struct script_text ruby_text(struct user_walk *w, u64 str,
						    const struct interp_ruby *p)
{
	struct script_text t = {.kind = INTERP_BYTES};
	u64 flags;

	if (!str || read_word(w, str))
		return t;
	flags = w->word;
	if ((flags & RUBY_TYPE) != RUBY_STRING)
		return t;
	t.len = RUBY_EMBEDDED_LEN(flags);
	t.at = str + p->text;
	if (flags & RUBY_FLAG || p->text != RUBY_EMBEDDED)
		t.len = read_word(w, str + RUBY_STRING_LEN) ? 0 : w->word;
	if (flags & RUBY_FLAG)
		t.at = read_word(w, str + RUBY_STRING_TEXT) ? 0 : w->word;
	return t;
}

/* Returns the path: a string, or the first value of an array of two. */
static __always_inline struct script_text ruby_path(struct user_walk *w, u64 path,
						    const struct interp_ruby *p)
{
	u64 at = path + RUBY_EMBEDDED;

	if (read_word(w, path) || (w->word & RUBY_TYPE) != RUBY_ARRAY)
		return ruby_text(w, path, p);
	if (!(w->word & RUBY_FLAG))
		at = read_word(w, path + RUBY_ARRAY_VALUES) ? 0 : w->word;
	return ruby_text(w, read_word(w, at) ? 0 : w->word, p);
}

static __always_inline u64 ruby_index_sz(u32 n_insns)
{
	/* Short code has a part of the first words: what comes after it may not be readable. */
	if (n_insns <= RUBY_INDEX_FIRST)
		return (n_insns + RUBY_INDEX_WORD - 1) / RUBY_INDEX_WORD * 8ull;
	return RUBY_INDEX_FIRST_SZ +
	       (u64)((n_insns - RUBY_INDEX_FIRST + RUBY_INDEX_BLOCK - 1) / RUBY_INDEX_BLOCK) *
		       RUBY_INDEX_BLOCK_SZ;
}

/* Puts the parameters of the event of the iseq with body @c. */
static __always_inline void put_ruby_code(struct rec *r, struct user_walk *w,
					  const struct walk_code *c, const struct interp_ruby *p)
{
	struct script_content *s = &w->content;

	*s = (struct script_content){
		.name.kind = INTERP_BYTES, .file.kind = INTERP_BYTES, .version = p->minor};
	if (!walk_read(w, w->object, RUBY_BODY_SZ, c->at)) {
		s->name = ruby_text(w, object_u64(w, p->code_label), p);
		s->file = ruby_path(w, object_u64(w, p->code_path), p);
		s->lines.at = object_u64(w, p->code_lines);
		s->lines.len = (u64)object_u32(w, p->code_n_lines) * RUBY_LINE_SZ;
		s->bases.at = object_u64(w, p->code_index);
		s->bases.len = ruby_index_sz(object_u32(w, RUBY_BODY_N_INSNS));
		s->first_line = object_u32(w, p->code_first_line) >> p->first_line_shift;
	}
	put_script(r, w, c, s);
}

#endif /* DRIVER_RUBY_CODE_BPF_H */
