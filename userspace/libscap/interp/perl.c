/* SPDX-License-Identifier: Apache-2.0 */
/* Detects Perl 5. Its loop, Perl_runops_standard, and its version are exported. */
#include <errno.h>
#include <stdio.h>

#include "interp/detect.h"

static const struct interp_perl rows[] = {
#define PERL(minor_, cop_, info, main_cv_, contexts, previous, context, type, sz, oldcop, retop,   \
	     cv, line, file, stash, root, name, flags, egv, gv_name_, gv_stash_, aux, name_count)  \
	{.minor = (minor_),                                                                        \
	 .cop = (cop_),                                                                            \
	 .stack_info = (info),                                                                     \
	 .main_cv = (main_cv_),                                                                    \
	 .info_contexts = (contexts),                                                              \
	 .info_previous = (previous),                                                              \
	 .info_context = (context),                                                                \
	 .info_type = (type),                                                                      \
	 .context_sz = (sz),                                                                       \
	 .context_cop = (oldcop),                                                                  \
	 .context_return = (retop),                                                                \
	 .context_cv = (cv),                                                                       \
	 .cop_line = (line),                                                                       \
	 .cop_file = (file),                                                                       \
	 .cv_stash = (stash),                                                                      \
	 .cv_root = (root),                                                                        \
	 .cv_name = (name),                                                                        \
	 .cv_flags = (flags),                                                                      \
	 .gp_egv = (egv),                                                                          \
	 .gv_name = (gv_name_),                                                                    \
	 .gv_stash = (gv_stash_),                                                                  \
	 .stash_aux = (aux),                                                                       \
	 .aux_name_count = (name_count)},
#include "interp/perl.def"
#undef PERL
};

/* Reads the version 5.@minor. Returns whether it is there. */
static int read_version(const struct elf_file *f, unsigned int *minor)
{
	struct elf_symbol s;
	uint64_t offset;
	uint8_t v;

	if (!elf_dynamic_symbol_find(f, &s, "PL_version") || s.sz != sizeof(v) ||
	    elf_file_offset_of(f, &offset, s.addr) || elf_file_read(f, &v, offset, sizeof(v)))
		return 0;
	*minor = v;
	return 1;
}

static const struct interp_perl *find_row(unsigned int minor)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].minor == minor)
			return &rows[i];
	return NULL;
}

int interp_detect_perl(struct interp_file *out, const struct elf_file *f, const char *path)
{
	const struct interp_perl *row;
	struct elf_symbol loop, key;
	unsigned int minor;

	(void)path;
	if (!elf_dynamic_symbol_find(f, &loop, "Perl_runops_standard") || !read_version(f, &minor))
		return 0;
	snprintf(out->version, sizeof(out->version), "Perl 5.%u", minor);
	row = find_row(minor);
	/* Without threads there is no key, and structures differ. */
	if (!row || !elf_dynamic_symbol_find(f, &key, "PL_thr_key") ||
	    interp_add_loop(out, f, &loop))
		return -ENOTSUP;
	out->process.walker = STACK_WALKER_PERL;
	out->process.root = key.addr;
	out->process.perl = *row;
	return 1;
}
