/* SPDX-License-Identifier: GPL-2.0 */
/* Names of Perl's subroutines: package and name, each a HEK. */
#ifndef DRIVER_PERL_CODE_BPF_H
#define DRIVER_PERL_CODE_BPF_H

#include "script_text.bpf.h"
#include "walk_perl.bpf.h"

#define PERL_CV_NAMED 0x8000 /* flag: the name is a HEK, not that of a GV */
#define PERL_HEK_LEN 4
#define PERL_HEK_TEXT 8
#define PERL_GV_GP 16 /* in the head of a GV */

static __always_inline struct script_text perl_hek(struct user_walk *w, u64 hek)
{
	struct script_text t = {.kind = INTERP_BYTES};

	if (!hek || read_word(w, hek + PERL_HEK_LEN) || (s32)w->word < 0)
		return t;
	t.len = (u32)w->word;
	t.at = hek + PERL_HEK_TEXT;
	return t;
}

/* Returns the HEK with the name of the package @stash; 0: none. */
static __always_inline u64 perl_package(struct user_walk *w, const struct interp_perl *p, u64 stash)
{
	u64 aux, name;

	if (!stash || read_word(w, stash) || !w->word)
		return 0;
	aux = w->word + p->stash_aux;
	if (read_word(w, aux))
		return 0;
	name = w->word;
	if (read_word(w, aux + p->aux_name_count))
		return 0;
	if (!(s32)w->word || !name)
		return name;
	/* Several names; the first one may have been removed. */
	return read_word(w, name + ((s32)w->word < 0 ? 8 : 0)) ? 0 : w->word;
}

/* Reads the body of the GV that names a subroutine: in it is the one that it was defined with. */
static __always_inline int perl_read_gv(struct user_walk *w, const struct interp_perl *p, u64 gv)
{
	u64 egv;

	if (!gv || read_word(w, gv + PERL_GV_GP) || read_word(w, w->word + p->gp_egv))
		return -1;
	egv = w->word ?: gv;
	return read_word(w, egv) ? -1 : walk_read(w, w->object, PERL_BODY_SZ, w->word);
}

/* Finds the HEKs of a subroutine's name and package. Verified on its own. */
WALK_FUNC int perl_names(struct user_walk *w, const struct interp_perl *p, u64 cv)
{
	if (!w || !p)
		return 0;
	w->perl.name = w->perl.package = 0;
	if (read_word(w, cv) || walk_read(w, w->object, PERL_BODY_SZ, w->word))
		return 0;
	if (object_u32(w, p->cv_flags) & PERL_CV_NAMED) {
		w->perl.name = object_u64(w, p->cv_name);
		w->perl.package = perl_package(w, p, object_u64(w, p->cv_stash));
	} else if (!perl_read_gv(w, p, object_u64(w, p->cv_name))) {
		w->perl.name = object_u64(w, p->gv_name);
		w->perl.package = perl_package(w, p, object_u64(w, p->gv_stash));
	}
	return 0;
}

/* Puts the parameters of the event of subroutine @c, with its package in place of lines. */
static __always_inline void put_perl_code(struct rec *r, struct user_walk *w,
					  const struct walk_code *c, const struct interp_perl *p)
{
	struct script_content *s = &w->content;

	*s = (struct script_content){.file = {.at = c->file, .kind = INTERP_BYTES},
				     .version = p->minor};
	s->file.len = script_text_len(w, c->file);
	perl_names(w, p, c->at);
	s->name = perl_hek(w, w->perl.name);
	s->lines = perl_hek(w, w->perl.package);
	put_script(r, w, c, s);
}

#endif /* DRIVER_PERL_CODE_BPF_H */
