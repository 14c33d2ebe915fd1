/* SPDX-License-Identifier: GPL-2.0 */
/* Names of PHP's functions: class and name, each a zend_string. */
#ifndef DRIVER_PHP_CODE_BPF_H
#define DRIVER_PHP_CODE_BPF_H

#include "script_text.bpf.h"
#include "walk_php.bpf.h"

#define PHP_CLASS_NAME 8

static __always_inline struct script_text php_text(struct user_walk *w, u64 str)
{
	struct script_text t = {.kind = INTERP_BYTES};

	if (!str || read_word(w, str + PHP_STRING_LEN))
		return t;
	t.len = w->word;
	t.at = str + PHP_STRING_TEXT;
	return t;
}

/* Puts the parameters of the event of function @c, with its class in place of lines. */
static __always_inline void put_php_code(struct rec *r, struct user_walk *w,
					 const struct walk_code *c, const struct interp_php *p)
{
	struct script_content *s = &w->content;
	u64 class;

	*s = (struct script_content){
		.name.kind = INTERP_BYTES, .file.kind = INTERP_BYTES, .version = p->minor};
	if (!walk_read(w, w->object, PHP_FUNCTION_SZ, c->at)) {
		s->first_line = object_u32(w, p->first_line);
		class = object_u64(w, PHP_FUNCTION_CLASS);
		s->name = php_text(w, object_u64(w, PHP_FUNCTION_NAME));
		s->file = php_text(w, object_u64(w, p->file));
		if (class && !read_word(w, class + PHP_CLASS_NAME))
			s->lines = php_text(w, w->word);
	}
	put_script(r, w, c, s);
}

#endif /* DRIVER_PHP_CODE_BPF_H */
