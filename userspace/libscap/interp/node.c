/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects Node.js by its V8, which has its version in exported variables. The code of V8's builtins
 * is one part of the file. Types and sizes in the file (v8dbg_*) must be those of the version's
 * row: else V8 was built in another way.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "interp/detect.h"

#define N_SCALES 3 /* of operands of bytecodes */
#define FUNCTION_TYPES 17 /* JSFunction and at most 16 that are derived from it */

static const struct row {
	unsigned int version, v8_minor;
	struct interp_node node;
} rows[] = {
#define NODE(version_, major_, minor_, function, shared, scope, script, bytecodes, code, stream,   \
	     table, array, exit, to_shared, name, to_script, literal, builtin, positions, first,   \
	     header, deopt, code_positions_, flags, size, baseline, maglev, literals,              \
	     deopt_shared_, inlined, entries, locals, state)                                       \
	{(version_),                                                                               \
	 (minor_),                                                                                 \
	 {.major = (major_),                                                                       \
	  .builtin_exit = (exit),                                                                  \
	  .n_function_types = FUNCTION_TYPES,                                                      \
	  .function_shared = (to_shared),                                                          \
	  .shared_name = (name),                                                                   \
	  .shared_script = (to_script),                                                            \
	  .shared_literal = (literal),                                                             \
	  .shared_builtin = (builtin),                                                             \
	  .bytecodes_positions = (positions),                                                      \
	  .bytecodes_header = (first),                                                             \
	  .code_header = (header),                                                                 \
	  .code_deopt = (deopt),                                                                   \
	  .code_positions = (code_positions_),                                                     \
	  .code_flags = (flags),                                                                   \
	  .code_size = (size),                                                                     \
	  .baseline_kind = (baseline),                                                             \
	  .maglev_kind = (maglev),                                                                 \
	  .deopt_literals = (literals),                                                            \
	  .deopt_shared = (deopt_shared_),                                                         \
	  .deopt_inlined = (inlined),                                                              \
	  .deopt_entries = (entries),                                                              \
	  .scope_locals = (locals),                                                                \
	  .vm_state = (state),                                                                     \
	  .function_type = (function),                                                             \
	  .shared_type = (shared),                                                                 \
	  .scope_type = (scope),                                                                   \
	  .script_type = (script),                                                                 \
	  .bytecodes_type = (bytecodes),                                                           \
	  .code_type = (code),                                                                     \
	  .stream_type = (stream),                                                                 \
	  .table_type = (table),                                                                   \
	  .array_type = (array)}},
#include "interp/node.def"
#undef NODE
};

/* TranslationOpcode of V8 13.6: the numbers of operands. */
static const uint8_t frames_operands[] = {
	6, 4, 3, 3, /* of functions */
	2, 1, 3, 4, 3, 3, 3, 1, 0, 0, 3, 3, /* begin a description */
	1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2, 1, /* repeats those of another one */
};
#define FRAMES_FUNCTIONS 4
#define FRAMES_BUILTINS 2
#define FRAMES_BEGIN 14
#define FRAMES_LITERAL 38

static void set_frames(struct interp_node *n)
{
	n->frames_functions = FRAMES_FUNCTIONS;
	n->frames_builtins = FRAMES_BUILTINS;
	n->frames_begin = FRAMES_BEGIN;
	n->frames_literal = FRAMES_LITERAL;
	n->n_frames_ops = sizeof(frames_operands);
	n->frames_match = sizeof(frames_operands) - 1;
	memcpy(n->frames_operands, frames_operands, sizeof(frames_operands));
}

/* Reads @sz bytes of a symbol. Returns 0 if the file does not have it. */
static int read_symbol(const struct elf_file *f, void *to, size_t sz, const char *name)
{
	struct elf_symbol s;
	uint64_t offset;

	return elf_any_symbol_find(f, &s, name) && !elf_file_offset_of(f, &offset, s.addr) &&
	       !elf_file_read(f, to, offset, sz);
}

static int has_number(const struct elf_file *f, const char *name, int32_t number)
{
	int32_t n;

	return read_symbol(f, &n, sizeof(n), name) && n == number;
}

static const struct row *find_row(int32_t major, int32_t minor)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].node.major == (uint32_t)major && rows[i].v8_minor == (uint32_t)minor)
			return &rows[i];
	return NULL;
}

static int is_as_row(const struct elf_file *f, const struct interp_node *n)
{
	return has_number(f, "v8dbg_TaggedSize", sizeof(uint64_t)) &&
	       has_number(f, "v8dbg_type_JSFunction__JS_FUNCTION_TYPE", n->function_type) &&
	       has_number(f, "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE",
			  n->shared_type) &&
	       has_number(f, "v8dbg_frametype_BuiltinExitFrame", n->builtin_exit);
}

/* Reads the sizes of bytecodes, by scale. */
static int read_sizes(const struct elf_file *f, struct interp_node *n)
{
	struct elf_symbol s;
	uint64_t offset;

	if (!elf_any_symbol_find(f, &s,
				 "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE") ||
	    s.sz % N_SCALES || s.sz > sizeof(n->sizes) || elf_file_offset_of(f, &offset, s.addr))
		return -1;
	for (size_t i = 0; i < N_SCALES; i++)
		if (elf_file_read(f, n->sizes + i * NODE_BYTECODES_MAX,
				  offset + i * (s.sz / N_SCALES), s.sz / N_SCALES))
			return -1;
	return 0;
}

/* Finds the address with which a function begins (lea), and the code behind that. Returns 0 if it
 * begins in another way. */
static uint64_t find_address(const struct elf_file *f, const char *name, uint8_t behind[4])
{
	struct elf_symbol s;
	uint64_t offset;
	uint8_t code[11];
	int32_t rel;

	if (!elf_dynamic_symbol_find(f, &s, name) || elf_file_offset_of(f, &offset, s.addr) ||
	    elf_file_read(f, code, offset, sizeof(code)) || memcmp(code, "\x48\x8d\x05", 3))
		return 0;
	memcpy(&rel, code + 3, sizeof(rel));
	memcpy(behind, code + 7, 4);
	return s.addr + 7 + (uint64_t)(int64_t)rel;
}

/* Adds the builtins of a library without their symbols, by the code of functions that tell where
 * they are: the address itself, or that of a variable with it, and that of their size. */
static int add_hidden_builtins(struct interp_file *out, const struct elf_file *f)
{
	uint64_t code, sz_at, offset;
	uint8_t behind[4];
	uint32_t sz;

	code = find_address(f, "_ZN2v88internal23DefaultEmbeddedBlobCodeEv", behind);
	if (!code)
		return -1;
	if (!memcmp(behind, "\x48\x8b\x00\xc3", 4)) {
		if (!elf_dynamic_slot_is(f, code, R_X86_64_RELATIVE, &code))
			return -1;
	} else if (behind[0] != 0xc3) {
		return -1;
	}
	sz_at = find_address(f, "_ZN2v88internal27DefaultEmbeddedBlobCodeSizeEv", behind);
	if (!sz_at || memcmp(behind, "\x8b\x00\xc3", 3) || elf_file_offset_of(f, &offset, sz_at) ||
	    elf_file_read(f, &sz, offset, sizeof(sz)))
		return -1;
	return interp_add_range(out, f, code, sz);
}

static int add_builtins(struct interp_file *out, const struct elf_file *f)
{
	struct elf_symbol code;
	uint32_t sz;

	if (!elf_any_symbol_find(f, &code, "v8_Default_embedded_blob_code_data_") && /* V8 10 */
	    !elf_any_symbol_find(f, &code, "v8_Default_embedded_blob_code_"))
		return add_hidden_builtins(out, f);
	if (!read_symbol(f, &sz, sizeof(sz), "v8_Default_embedded_blob_code_size_"))
		return -1;
	return interp_add_range(out, f, code.addr, sz);
}

/* Returns the size of a program's thread-local storage, which ends at the thread pointer; 0: it has
 * none, or is a library. */
static uint64_t local_storage(const struct elf_file *f)
{
	const struct elf_segment *v;
	const size_t n = elf_file_segments(f, &v);
	uint64_t sz = 0;
	int is_program = 0;

	for (size_t i = 0; i < n; i++) {
		is_program |= v[i].type == PT_INTERP;
		if (v[i].type == PT_TLS && v[i].align)
			sz = (v[i].mem_sz + v[i].align - 1) / v[i].align * v[i].align;
	}
	return is_program && sz <= INT32_MAX ? sz : 0;
}

/* Finds where a thread has its Isolate: a variable in later versions, a key before. Without it
 * stacks do not show garbage collection. */
static void find_isolate(struct interp_process *p, const struct elf_file *f)
{
	const char *const variable = "_ZN2v88internal18g_current_isolate_E";
	const uint64_t sz = local_storage(f);
	struct elf_symbol s;

	if (elf_any_symbol_find(f, &s, variable) && s.addr < sz)
		p->node.isolate = (int32_t)s.addr - (int32_t)sz;
	else if (elf_dynamic_slot_find(f, &p->root, variable, R_X86_64_DTPMOD64))
		p->node.isolate_in = NODE_ISOLATE_SLOT;
	else if (elf_any_symbol_find(f, &s, "_ZN2v88internal7Isolate12isolate_key_E"))
		p->node.isolate_in = NODE_ISOLATE_KEY, p->root = s.addr;
	else
		p->node.vm_state = 0;
}

int interp_detect_node(struct interp_file *out, const struct elf_file *f, const char *path)
{
	struct interp_node *n = &out->process.node;
	const struct row *row;
	int32_t major, minor;
	struct elf_symbol s;

	(void)path;
	if (!elf_dynamic_symbol_find(f, &s, "_ZN2v88internal7Version6major_E") ||
	    !read_symbol(f, &major, sizeof(major), "_ZN2v88internal7Version6major_E") ||
	    !read_symbol(f, &minor, sizeof(minor), "_ZN2v88internal7Version6minor_E"))
		return 0;
	snprintf(out->version, sizeof(out->version), "V8 %d.%d", major, minor);
	row = find_row(major, minor);
	if (!row || !is_as_row(f, &row->node) || add_builtins(out, f))
		return -ENOTSUP;
	snprintf(out->version, sizeof(out->version), "Node.js %u", row->version);
	*n = row->node;
	set_frames(n);
	find_isolate(&out->process, f);
	if (read_sizes(f, n))
		return -ENOTSUP;
	out->process.walker = STACK_WALKER_NODE;
	out->process.has_jit = 1;
	return 1;
}
