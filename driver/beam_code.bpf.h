/* SPDX-License-Identifier: GPL-2.0 */
/* Names of Erlang's functions: atoms. The name of a file is a list of characters. */
#ifndef DRIVER_BEAM_CODE_BPF_H
#define DRIVER_BEAM_CODE_BPF_H

#include "script_text.bpf.h"
#include "walk_beam.bpf.h"

#define BEAM_ATOM_BITS 6 /* tag of an atom; above it its number */
#define BEAM_ATOM_TAG 0x0b
#define BEAM_SEGMENT_BITS 10 /* of the number: place in a segment of the table */
#define BEAM_ATOM_LEN 24
#define BEAM_ATOM_NAME 32

#define BEAM_CHAR_MAX 3 /* bytes of a character */
#define BEAM_LIST_TAG 1 /* in the bits of BEAM_TAG */
#define BEAM_POINTER_TAGS 7ull
#define BEAM_SMALL_TAG 0x0f
#define BEAM_SMALL_BITS 4

/* Returns the name of an atom. */
static __always_inline struct script_text beam_atom(struct user_walk *w, u64 segments, u64 atom)
{
	const u64 number = atom >> BEAM_ATOM_BITS;
	struct script_text t = {.kind = INTERP_BYTES};
	u64 at;

	if ((atom & ((1 << BEAM_ATOM_BITS) - 1)) != BEAM_ATOM_TAG || read_word(w, segments) ||
	    read_word(w, w->word + (number >> BEAM_SEGMENT_BITS) * 8) ||
	    read_word(w, w->word + (number & ((1 << BEAM_SEGMENT_BITS) - 1)) * 8))
		return t;
	at = w->word;
	t.len = read_word(w, at + BEAM_ATOM_LEN) ? 0 : (u16)w->word;
	t.at = read_word(w, at + BEAM_ATOM_NAME) ? 0 : w->word;
	return t;
}

/* Appends the next character of the list w->beam.low to the text in w->window, as UTF-8. A callback
 * of bpf_loop. */
static long beam_char(u32 i, void *loop)
{
	struct user_walk *w = *(struct user_walk **)loop;
	const u32 n = w->beam.n & (INTERP_FILE_MAX - 1);
	u64 c;

	(void)i;
	if ((w->beam.low & BEAM_TAG) != BEAM_LIST_TAG ||
	    w->beam.n > INTERP_FILE_MAX - BEAM_CHAR_MAX ||
	    bpf_probe_read_user(w->object, 16, (void *)(w->beam.low & ~BEAM_POINTER_TAGS)))
		return 1;
	c = object_u64(w, 0);
	w->beam.low = object_u64(w, 8);
	if ((c & BEAM_SMALL_TAG) != BEAM_SMALL_TAG)
		return 1;
	c >>= BEAM_SMALL_BITS;
	if (c < 0x80) {
		w->window[n] = c;
		w->beam.n++;
		return 0;
	}
	if (c < 0x800) {
		w->window[n] = 0xc0 | c >> 6;
		w->window[n + 1] = 0x80 | (c & 0x3f);
		w->beam.n += 2;
		return 0;
	}
	if (c > 0xffff)
		c = 0xfffd;
	w->window[n] = 0xe0 | c >> 12;
	w->window[n + 1] = 0x80 | (c >> 6 & 0x3f);
	w->window[n + 2] = 0x80 | (c & 0x3f);
	w->beam.n += 3;
	return 0;
}

/* Copies the name of a file, a list, to w->window. Returns its length. Verified on its own. */
WALK_FUNC u32 beam_list(struct user_walk *w, u64 list)
{
	if (!w)
		return 0;
	w->beam.low = list;
	w->beam.n = 0;
	w->window_sz = 0;
	bpf_loop(INTERP_FILE_MAX, beam_char, &w, 0);
	return w->beam.n;
}

/* Puts the parameters of the event of function @c, with its module in place of lines, and its arity
 * in place of a line. */
static __always_inline void put_beam_code(struct rec *r, struct user_walk *w,
					  const struct walk_code *c,
					  const struct interp_process *process)
{
	const u64 segments = process->root + (s64)process->beam.atoms;
	struct script_content *s = &w->content;

	*s = (struct script_content){
		.file = {.len = beam_list(w, c->file), .kind = INTERP_BYTES, .is_copy = 1},
		.version = process->beam.version,
	};
	if (!walk_read(w, w->object, BEAM_MFA_SZ, c->code + BEAM_FUNCTION_MFA)) {
		s->name = beam_atom(w, segments, object_u64(w, BEAM_MFA_FUNCTION));
		s->lines = beam_atom(w, segments, object_u64(w, BEAM_MFA_MODULE));
		s->first_line = (u8)object_u64(w, BEAM_MFA_ARITY);
	}
	put_script(r, w, c, s);
}

#endif /* DRIVER_BEAM_CODE_BPF_H */
