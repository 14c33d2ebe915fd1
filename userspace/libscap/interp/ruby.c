/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects Ruby 3 as a shared library. It exports the loop, rb_vm_exec, its version, and the
 * thread-local variable with the execution context, of which the dynamic linker puts module and
 * offset into the library's global offset table.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>

#include "interp/detect.h"
#include "shared/unwind_table.h"

#define VERSION_MAX 16
#define YJIT_WORDS 4 /* of a frame, with the return address */
#define YJIT_RBX 4 /* words below its end */

static const struct interp_ruby rows[] = {
#define RUBY(minor_, frame, label, first, path, lines, n, index)                                   \
	{.minor = (minor_),                                                                        \
	 .frame_sz = (frame),                                                                      \
	 .code_label = (label),                                                                    \
	 .code_first_line = (first),                                                               \
	 .code_path = (path),                                                                      \
	 .code_lines = (lines),                                                                    \
	 .code_n_lines = (n),                                                                      \
	 .code_index = (index)},
#include "interp/ruby.def"
#undef RUBY
};

/* Reads the version. Returns whether it is there. */
static int read_version(const struct elf_file *f, unsigned int *major, unsigned int *minor)
{
	char text[VERSION_MAX] = "";
	struct elf_symbol s;
	uint64_t offset;

	return elf_dynamic_symbol_find(f, &s, "ruby_version") && s.sz < sizeof(text) &&
	       !elf_file_offset_of(f, &offset, s.addr) && !elf_file_read(f, text, offset, s.sz) &&
	       sscanf(text, "%2u.%2u", major, minor) == 2;
}

static const struct interp_ruby *find_row(unsigned int major, unsigned int minor)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (major == 3 && rows[i].minor == minor)
			return &rows[i];
	return NULL;
}

/* Describes the frames of code that YJIT has compiled: its entry pushes r13, r12 and rbx. */
static void put_jit(struct interp_process *p, const struct elf_file *f, uint64_t loop)
{
	const struct elf_segment *v;
	const size_t n = elf_file_segments(f, &v);

	for (size_t i = 0; i < n; i++) {
		if (loop - v[i].vaddr >= v[i].mem_sz)
			continue;
		p->ruby.text = (int32_t)(v[i].vaddr - p->root);
		p->ruby.text_sz = (uint32_t)v[i].mem_sz;
		p->ruby.rule = (uint64_t)UNWIND_SAVED(0, YJIT_RBX) << 56 |
			       (uint64_t)UNWIND_RSP << 48 | (uint64_t)YJIT_WORDS << 32;
		p->has_jit = INTERP_JIT;
	}
}

int interp_detect_ruby(struct interp_file *out, const struct elf_file *f, const char *path)
{
	const struct interp_ruby *row;
	unsigned int major, minor;
	struct elf_symbol loop;

	(void)path;
	if (!read_version(f, &major, &minor))
		return 0;
	snprintf(out->version, sizeof(out->version), "Ruby %u.%u", major, minor);
	row = find_row(major, minor);
	if (!row || !elf_dynamic_symbol_find(f, &loop, "rb_vm_exec") ||
	    !elf_dynamic_slot_find(f, &out->process.root, "ruby_current_ec", R_X86_64_DTPMOD64) ||
	    interp_add_loop(out, f, &loop))
		return -ENOTSUP;
	out->process.walker = STACK_WALKER_RUBY;
	out->process.ruby = *row;
	put_jit(&out->process, f, loop.addr);
	return 1;
}
