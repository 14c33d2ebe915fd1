/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects Ruby 3: a shared library, or a program that exports its API. Ruby 3.1 exports the loop,
 * rb_vm_exec, and the thread-local variable with the execution context. Later versions hide both:
 * rb_iseq_eval and rb_iseq_eval_main end in the loop, and rb_thread_current reads the variable.
 * Code that differs from what is expected here is refused.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/detect.h"
#include "objfile/elf_functions.h"
#include "shared/unwind_table.h"

#define VERSION_MAX 16
#define CODE_MAX 4096 /* bytes of a function that is read */
#define CALLED_MAX 64 /* functions that one calls */
#define CALL_SZ 5
#define YJIT_WORDS 4 /* of a frame, with the return address */
#define YJIT_RBX 4 /* words below its end */

static const struct interp_ruby rows[] = {
#define RUBY(minor_, frame, label, first, shift, path, lines, n, index, text_, running_, late)     \
	{.minor = (minor_),                                                                        \
	 .frame_sz = (frame),                                                                      \
	 .code_label = (label),                                                                    \
	 .code_first_line = (first),                                                               \
	 .first_line_shift = (shift),                                                              \
	 .code_path = (path),                                                                      \
	 .code_lines = (lines),                                                                    \
	 .code_n_lines = (n),                                                                      \
	 .code_index = (index),                                                                    \
	 .text = (text_),                                                                          \
	 .running = (running_),                                                                    \
	 .position_late = (late)},
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

/* ---- code ---- */

/* The code of a function, and a place in it. */
struct code {
	uint64_t addr;
	size_t sz, at;
	uint8_t bytes[CODE_MAX];
};

/* Reads an exported function. Returns 0 if the file does not have it. */
static int read_code(struct code *c, const struct elf_file *f, const char *name)
{
	struct elf_symbol s;
	uint64_t offset;

	if (!elf_dynamic_symbol_find(f, &s, name) || !s.sz || s.sz > sizeof(c->bytes) ||
	    elf_file_offset_of(f, &offset, s.addr) || elf_file_read(f, c->bytes, offset, s.sz))
		return 0;
	c->addr = s.addr;
	c->sz = s.sz;
	c->at = 0;
	return 1;
}

/* Goes behind the bytes @hex, if they come next. Returns whether they do. */
static int skip(struct code *c, const char *hex)
{
	size_t at = c->at;
	unsigned int byte;

	for (; *hex; hex += hex[2] ? 3 : 2)
		if (sscanf(hex, "%2x", &byte) != 1 || at == c->sz || c->bytes[at++] != byte)
			return 0;
	c->at = at;
	return 1;
}

/* Goes behind a number of @sz bytes. Returns whether there is one. */
static int skip_number(struct code *c, int32_t *to, size_t sz)
{
	if (sz > c->sz - c->at)
		return 0;
	*to = 0;
	memcpy(to, c->bytes + c->at, sz);
	c->at += sz;
	return 1;
}

/* Goes behind an address relative to the next instruction. Returns whether there is one. */
static int skip_address(struct code *c, uint64_t *to)
{
	int32_t rel;

	if (!skip_number(c, &rel, sizeof(rel)))
		return 0;
	*to = c->addr + c->at + (uint64_t)(int64_t)rel;
	return 1;
}

/* ---- the loop ---- */

/* Finds the functions that @c calls or jumps to. Returns their number, at most CALLED_MAX. */
static size_t find_called(uint64_t to[CALLED_MAX], struct code *c,
			  const struct elf_functions *functions)
{
	uint64_t called, start, sz;
	size_t n = 0;

	for (size_t i = 0; i + CALL_SZ <= c->sz && n < CALLED_MAX; i++) {
		if (c->bytes[i] != 0xe8 && c->bytes[i] != 0xe9) /* call, jmp */
			continue;
		c->at = i + 1;
		if (skip_address(c, &called) && called - c->addr >= c->sz &&
		    elf_functions_find(functions, called, &start, &sz) && start == called)
			to[n++] = called;
	}
	return n;
}

/* Returns whether a function begins as the loop: it keeps the tag of its argument, the context. */
static int keeps_tag(const struct elf_file *f, const struct elf_symbol *function)
{
	uint8_t begin[64];
	uint64_t offset;

	if (function->sz < sizeof(begin) || elf_file_offset_of(f, &offset, function->addr) ||
	    elf_file_read(f, begin, offset, sizeof(begin)))
		return 0;
	for (size_t i = 0; i + 4 <= sizeof(begin); i++) /* mov 0x18(%rdi), any register */
		if ((begin[i] & 0xfb) == 0x48 && begin[i + 1] == 0x8b &&
		    (begin[i + 2] & 0xc7) == 0x47 && begin[i + 3] == 0x18)
			return 1;
	return 0;
}

/* Finds the one function that both call. Returns 0 if there is none, or several. */
static int find_common(struct elf_symbol *loop, struct code *a, struct code *b,
		       const struct elf_functions *functions)
{
	uint64_t of_a[CALLED_MAX], of_b[CALLED_MAX], start;
	const size_t n_a = find_called(of_a, a, functions), n_b = find_called(of_b, b, functions);

	loop->addr = 0;
	for (size_t i = 0; i < n_a; i++)
		for (size_t k = 0; k < n_b; k++) {
			if (of_a[i] != of_b[k] || of_a[i] == loop->addr)
				continue;
			if (loop->addr)
				return 0;
			loop->addr = of_a[i];
		}
	return loop->addr && elf_functions_find(functions, loop->addr, &start, &loop->sz);
}

/* Finds the loop. Returns 0 if it is not there. */
static int find_loop(struct elf_symbol *loop, const struct elf_file *f)
{
	struct elf_functions *functions;
	struct code a, b;
	int found;

	if (elf_dynamic_symbol_find(f, loop, "rb_vm_exec"))
		return 1;
	if (!read_code(&a, f, "rb_iseq_eval") || !read_code(&b, f, "rb_iseq_eval_main") ||
	    elf_functions_open(&functions, f))
		return 0;
	found = find_common(loop, &a, &b, functions) && keeps_tag(f, loop);
	elf_functions_close(functions);
	return found;
}

/* ---- the context ---- */

/* Finds where the execution context of a thread is, by its name or the code of rb_thread_current.
 * Returns 0 if that is different code. */
static int find_context(struct interp_process *p, const struct elf_file *f)
{
	const char *const rest = "48 8b 40 30 48 8b 40 10"; /* its thread, and the object of that */
	uint64_t called;
	struct code c;

	if (elf_dynamic_slot_find(f, &p->root, "ruby_current_ec", R_X86_64_DTPMOD64))
		return 1;
	p->root = 0;
	if (!read_code(&c, f, "rb_thread_current"))
		return 0;
	skip(&c, "f3 0f 1e fa"); /* endbr64 */
	if (skip(&c, "64 48 8b 04 25")) /* mov %fs:number, %rax: in a program */
		return skip_number(&c, &p->ruby.context, sizeof(p->ruby.context)) && skip(&c, rest);
	if (!skip(&c, "48 83 ec 08 66 48 8d 3d") || !skip_address(&c, &p->root) ||
	    !skip(&c, "66 66 48 e8")) /* sub; lea, and call: __tls_get_addr */
		return 0;
	return skip_address(&c, &called) && skip(&c, "48 8b 00") && skip(&c, rest) &&
	       elf_dynamic_slot_is(f, p->root, R_X86_64_DTPMOD64, NULL);
}

/* ---- garbage collection ---- */

/* Finds the address of the variable that points to the virtual machine, in code that reads it. */
static int find_machine(struct code *c, const struct elf_file *f, uint64_t *at)
{
	struct elf_symbol s;
	uint64_t slot;

	if (skip(c, "48 8d 05"))
		return skip_address(c, at);
	if (!skip(c, "48 8b 05") || !skip_address(c, &slot) ||
	    !elf_dynamic_slot_find(f, at, "ruby_current_vm_ptr", R_X86_64_GLOB_DAT) ||
	    *at != slot || !elf_dynamic_symbol_find(f, &s, "ruby_current_vm_ptr"))
		return 0;
	*at = s.addr;
	return 1;
}

/* Finds how to see that garbage is collected, by the code of rb_during_gc. If that is different
 * code, stacks do not show it. */
static void find_gc(struct interp_process *p, const struct elf_file *f)
{
	int32_t heap, flags, shift, past;
	uint64_t machine;
	struct code c;

	if (!read_code(&c, f, "rb_during_gc"))
		return;
	skip(&c, "f3 0f 1e fa"); /* endbr64 */
	if (!find_machine(&c, f, &machine) || !skip(&c, "48 8b 00"))
		return;
	if (skip(&c, "48 85 c0 74")) /* test, je */
		skip_number(&c, &past, 1);
	if (!skip(&c, "48 8b 80") || !skip_number(&c, &heap, sizeof(heap)) ||
	    !skip(&c, "0f b6 40") || !skip_number(&c, &flags, 1) || !skip(&c, "c0 e8") ||
	    !skip_number(&c, &shift, 1) || !skip(&c, "83 e0 01") || heap < 0 || heap > UINT16_MAX)
		return;
	p->ruby.machine = (int64_t)(machine - p->root);
	p->ruby.heap = (uint16_t)heap;
	p->ruby.heap_flags = (uint8_t)flags;
	p->ruby.in_gc = (uint8_t)(1u << (shift & 7));
}

/* Describes the frames of code that Ruby has compiled: its entry pushes r13, r12 and rbx (YJIT), or
 * r15, r14 and rbx (RJIT). */
static void put_jit(struct interp_process *p, const struct elf_file *f, uint64_t loop)
{
	const struct elf_segment *v;
	const size_t n = elf_file_segments(f, &v);

	for (size_t i = 0; i < n; i++) {
		if (loop - v[i].vaddr >= v[i].mem_sz)
			continue;
		p->ruby.code = (int32_t)(v[i].vaddr - p->root);
		p->ruby.code_sz = (uint32_t)v[i].mem_sz;
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
	if (!row)
		return -ENOTSUP;
	out->process.walker = STACK_WALKER_RUBY;
	out->process.ruby = *row;
	if (!find_loop(&loop, f) || !find_context(&out->process, f) ||
	    interp_add_loop(out, f, &loop))
		return -ENOTSUP;
	find_gc(&out->process, f);
	put_jit(&out->process, f, loop.addr);
	return 1;
}
