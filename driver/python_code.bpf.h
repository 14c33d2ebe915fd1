/* SPDX-License-Identifier: GPL-2.0 */
/* Names of CPython's code objects. */
#ifndef DRIVER_PYTHON_CODE_BPF_H
#define DRIVER_PYTHON_CODE_BPF_H

#include "script_text.bpf.h"

/* Behind the head of a str or bytes, which begin with the length. */
#define PY_TEXT_STATE 16
#define PY_BYTES 16
#define PY_KIND(state) ((state) >> 2 & 7)
#define PY_IS_COMPACT(state) ((state)&0x20)
#define PY_IS_ASCII(state) ((state)&0x40)

static __always_inline struct script_text python_text(struct user_walk *w,
						      const struct interp_python *p, u64 str)
{
	struct script_text t = {0};
	u64 n, state;
	u32 size;

	if (!str || read_word(w, str + p->head))
		return t;
	n = w->word;
	if (read_word(w, str + p->head + PY_TEXT_STATE) || !PY_IS_COMPACT(w->word))
		return t;
	state = w->word;
	size = PY_KIND(state);
	if (size != 1 && size != 2 && size != 4)
		return t;
	if (n > INTERP_FILE_MAX)
		n = INTERP_FILE_MAX;
	t.at = str + (PY_IS_ASCII(state) ? p->text : p->wide_text);
	t.len = n * size;
	t.kind = PY_IS_ASCII(state) ? INTERP_ASCII
		 : size == 1        ? INTERP_UCS1
		 : size == 2        ? INTERP_UCS2
				    : INTERP_UCS4;
	return t;
}

/* Puts the parameters of the event of code object @c. */
static __always_inline void put_python_code(struct rec *r, struct user_walk *w,
					    const struct walk_code *c,
					    const struct interp_python *p)
{
	const u64 code = c->code;
	struct script_content *s = &w->content;
	u64 lines;

	*s = (struct script_content){.version = p->minor};
	s->first_line = read_word(w, code + p->code_first_line) ? 0 : (u32)w->word;
	s->name = python_text(w, p, read_word(w, code + p->code_name) ? 0 : w->word);
	s->file = python_text(w, p, read_word(w, code + p->code_file) ? 0 : w->word);
	lines = read_word(w, code + p->code_lines) ? 0 : w->word;
	if (lines && !read_word(w, lines + p->head)) {
		s->lines.at = lines + p->head + PY_BYTES;
		s->lines.len = w->word;
	}
	put_script(r, w, c, s);
}

#endif /* DRIVER_PYTHON_CODE_BPF_H */
