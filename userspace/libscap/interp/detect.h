/* SPDX-License-Identifier: Apache-2.0 */
/* Detection of each language, behind interp_file_detect, with the same contract. */
#ifndef SCAP_INTERP_DETECT_H
#define SCAP_INTERP_DETECT_H

#include "interp/interp_file.h"
#include "objfile/elf_dynamic_symbol.h"

int interp_detect_python(struct interp_file *out, const struct elf_file *f, const char *path);
int interp_detect_lua(struct interp_file *out, const struct elf_file *f, const char *path);
int interp_detect_perl(struct interp_file *out, const struct elf_file *f, const char *path);
int interp_detect_php(struct interp_file *out, const struct elf_file *f, const char *path);
int interp_detect_ruby(struct interp_file *out, const struct elf_file *f, const char *path);
int interp_detect_beam(struct interp_file *out, const struct elf_file *f, const char *path);
int interp_detect_node(struct interp_file *out, const struct elf_file *f, const char *path);
int interp_detect_java(struct interp_file *out, const struct elf_file *f, const char *path);

/* Adds the code of the loop: that of the function @loop, and its part that the compiler moved away.
 * Returns -1 if the file does not have it. */
int interp_add_loop(struct interp_file *out, const struct elf_file *f,
		    const struct elf_symbol *loop);

/* Finds how the frames of Lua's loop look, at the address @loop. Returns whether its calls lead to
 * the lua_State. */
int interp_lua_frame(struct interp_lua *p, const struct elf_file *f, uint64_t loop);

/* Adds other code that has the walker. Returns -1 if the file does not have it. */
int interp_add_range(struct interp_file *out, const struct elf_file *f, uint64_t addr, uint64_t sz);

/* Sets out->delta for an interpreter without a loop; @addr: of any code of the file. Returns -1 if
 * the file does not have it. */
int interp_set_delta(struct interp_file *out, const struct elf_file *f, uint64_t addr);

/* Finds the text @mark in the constants of the file, and the version behind it, of which the last
 * number may be missing: it is left as it was. Returns whether it is there. */
int interp_find_version(const struct elf_file *f, const char *mark, unsigned int version[3]);

#endif /* SCAP_INTERP_DETECT_H */
