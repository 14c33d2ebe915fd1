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

/* Puts the parameters of the event of function @c. */
static __always_inline void put_php_code(struct rec *r, struct user_walk *w,
					 const struct walk_code *c, const struct interp_php *p)
{
	struct script_text name = {0}, file = {0}, class = {0};
	u32 line = 0;
	u64 at;

	if (!bpf_probe_read_user(w->object, PHP_FUNCTION_SZ, (void *)c->at)) {
		line = object_u32(w, p->first_line);
		at = object_u64(w, PHP_FUNCTION_CLASS);
		name = php_text(w, object_u64(w, PHP_FUNCTION_NAME));
		file = php_text(w, object_u64(w, p->file));
		if (at && !read_word(w, at + PHP_CLASS_NAME))
			class = php_text(w, w->word);
	}
	put_qualified_code(r, w, c, p->minor, line, &name, &file, &class);
}

#endif /* DRIVER_PHP_CODE_BPF_H */
