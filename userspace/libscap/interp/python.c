/* SPDX-License-Identifier: Apache-2.0 */
/* Detects CPython. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "interp/detect.h"
#include "interp/python_types.h"

/* A row of the table. */
struct row {
	/* In _PyRuntime; 0: see find_variables. */
	uint64_t key_at, interps_at;
	uint64_t gil_at; /* in it, or in a thread state */
	uint64_t code_sz, frame_sz; /* of their types; 0: the file tells its offsets */
	struct interp_python python;
};

static const struct row rows[] = {
#define ROW(head_, minor_, frames_, entry_, scale, key, interps_, next, states, tstate, thread,    \
	    f_code, f_previous, f_lasti, f_entry, argcount, flags, first, file, name, lines,       \
	    bytes, text_, wide, collecting, gil_, code_sz_, frame_sz_)                             \
	{.key_at = (key),                                                                          \
	 .interps_at = (interps_),                                                                 \
	 .gil_at = (gil_),                                                                         \
	 .code_sz = (code_sz_),                                                                    \
	 .frame_sz = (frame_sz_),                                                                  \
	 .python = {.head = (head_),                                                               \
		    .frames = PYTHON_##frames_,                                                    \
		    .minor = (minor_),                                                             \
		    .entry = (entry_),                                                             \
		    .lasti_scale = (scale),                                                        \
		    .interp_next = (next),                                                         \
		    .interp_states = (states),                                                     \
		    .tstate_frame = (tstate),                                                      \
		    .tstate_thread = (thread),                                                     \
		    .frame_code = (f_code),                                                        \
		    .frame_previous = (f_previous),                                                \
		    .frame_lasti = (f_lasti),                                                      \
		    .frame_entry = (f_entry),                                                      \
		    .code_argcount = (argcount),                                                   \
		    .code_flags = (flags),                                                         \
		    .code_first_line = (first),                                                    \
		    .code_file = (file),                                                           \
		    .code_name = (name),                                                           \
		    .code_lines = (lines),                                                         \
		    .code_bytes = (bytes),                                                         \
		    .text = (text_),                                                               \
		    .wide_text = (wide),                                                           \
		    .gc_collecting = (collecting)}},
#define PYTHON(...) ROW(PYTHON_HEAD_SZ, __VA_ARGS__)
#define PYTHON_FREE(...) ROW(PYTHON_FREE_HEAD_SZ, __VA_ARGS__)
#include "interp/python.def"
#undef ROW
};

/* Returns the version 3.N that the name says; 0: none. */
static unsigned int python_version_in(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	unsigned int minor;

	if (!strncmp(name, "lib", 3))
		name += 3;
	return sscanf(name, "python3.%u", &minor) == 1 ? minor : 0;
}

/* Returns the version 3.N: that of the symbol Py_Version (3.11 and later), or of the name. */
static unsigned int python_version(const struct elf_file *f, const char *path)
{
	struct elf_symbol version;
	uint64_t offset;
	uint32_t v;

	if (!elf_dynamic_symbol_find(f, &version, "Py_Version"))
		return python_version_in(path);
	if (elf_file_offset_of(f, &offset, version.addr) ||
	    elf_file_read(f, &v, offset, sizeof(v)) || v >> 24 != 3)
		return 0;
	return v >> 16 & 0xff;
}

/* Finds the variable that the function @name reads relative to its code: the first instruction that
 * begins with @op. Returns its address; 0: not found. */
static uint64_t find_variable(const struct elf_file *f, const char *name, const char *op)
{
	struct elf_symbol function;
	uint8_t code[64];
	uint64_t offset;
	size_t sz, i;
	int32_t rel;

	if (!elf_dynamic_symbol_find(f, &function, name))
		return 0;
	sz = function.sz < sizeof(code) ? function.sz : sizeof(code);
	if (elf_file_offset_of(f, &offset, function.addr) || elf_file_read(f, code, offset, sz))
		return 0;
	for (i = 0; i + strlen(op) + sizeof(rel) <= sz; i++) {
		if (memcmp(code + i, op, strlen(op)))
			continue;
		i += strlen(op);
		memcpy(&rel, code + i, sizeof(rel));
		return function.addr + i + sizeof(rel) + (uint64_t)(int64_t)rel;
	}
	return 0;
}

/* Finds the variables of a version whose functions alone show where they are. */
static int find_variables(struct interp_process *p, const struct elf_file *f)
{
	const uint64_t key = find_variable(f, "PyGILState_GetThisThreadState",
					   "\x8b\x3d"); /* mov key(%rip), %edi */
	const uint64_t interps = find_variable(f, "PyInterpreterState_Head",
					       "\x48\x8b\x05"); /* mov head(%rip), %rax */

	p->root = key;
	p->python.root_is_key = 1;
	p->python.interps = (int32_t)(interps - key);
	return key && interps ? 0 : -1;
}

/* Finds the key of the thread's state, and the interpreters. Returns -1 if they are not there. */
static int find_root(struct interp_process *p, const struct elf_file *f, const struct row *row)
{
	struct elf_symbol runtime;

	if (!row->key_at)
		return find_variables(p, f);
	if (!elf_dynamic_symbol_find(f, &runtime, "_PyRuntime") || row->key_at + 8 > runtime.sz)
		return -1;
	p->root = runtime.addr + row->key_at;
	p->python.interps = (int32_t)(row->interps_at - row->key_at);
	p->python.gil = (int32_t)(p->python.minor < 12 ? row->gil_at - row->key_at : row->gil_at);
	return 0;
}

/* Returns whether it is built without the GIL, whose structures differ: as _PyRuntime says since
 * 3.13, behind its mark and version. */
static int is_free_threaded(const struct elf_file *f, unsigned int minor)
{
	struct elf_symbol runtime;
	uint64_t offset, is_free;

	return minor >= 13 && elf_dynamic_symbol_find(f, &runtime, "_PyRuntime") &&
	       (elf_file_offset_of(f, &offset, runtime.addr + 16) ||
		elf_file_read(f, &is_free, offset, sizeof(is_free)) || is_free);
}

/* Where _Py_DebugOffsets, with which _PyRuntime begins since 3.13, has the offsets of a row: the
 * first word of each structure. */
static const struct debug_at {
	unsigned int minor;
	unsigned int thread, frame, code; /* current_frame, previous, filename */
	unsigned int interp_gc, status, collecting; /* the word itself */
} debug_offsets[] = {{13, 23, 29, 35, 10, 27, 72}, {14, 26, 32, 40, 11, 30, 82}};

#define DEBUG_WORDS 96
#define DEBUG_INTERPS 5
#define DEBUG_INTERP_NEXT 8
#define DEBUG_INTERP_STATES 9

static int is_row_of(const struct row *row, const uint64_t *words, const struct debug_at *at)
{
	const struct interp_python *p = &row->python;
	const uint64_t *thread = words + at->thread, *frame = words + at->frame,
		       *code = words + at->code;

	return words[DEBUG_INTERPS] == row->interps_at &&
	       words[DEBUG_INTERP_NEXT] == p->interp_next &&
	       words[DEBUG_INTERP_STATES] == p->interp_states && thread[0] == p->tstate_frame &&
	       thread[1] == p->tstate_thread && frame[0] == p->frame_previous &&
	       frame[1] == p->frame_code && frame[2] == p->frame_lasti &&
	       frame[4] == p->frame_entry && code[0] == p->code_file && code[2] == p->code_name &&
	       code[3] == p->code_lines && code[4] == p->code_first_line &&
	       code[5] == p->code_argcount && code[8] == p->code_bytes &&
	       words[at->interp_gc] + words[at->collecting] == p->gc_collecting &&
	       words[at->status] == row->gil_at;
}

/* Returns whether the offsets of the row are those of the file: by _Py_DebugOffsets since 3.13, by
 * its types before. */
static int is_confirmed(const struct elf_file *f, const struct row *row)
{
	const struct interp_python *p = &row->python;
	uint64_t words[DEBUG_WORDS], offset;
	struct elf_symbol runtime;

	for (size_t i = 0; i < sizeof(debug_offsets) / sizeof(debug_offsets[0]); i++)
		if (debug_offsets[i].minor == p->minor)
			return elf_dynamic_symbol_find(f, &runtime, "_PyRuntime") &&
			       !elf_file_offset_of(f, &offset, runtime.addr) &&
			       !elf_file_read(f, words, offset, sizeof(words)) &&
			       is_row_of(row, words, &debug_offsets[i]);
	return python_types_agree(f, p, row->code_sz, row->frame_sz);
}

static const struct row *find_row(unsigned int minor, int is_free)
{
	const uint8_t head = is_free ? PYTHON_FREE_HEAD_SZ : PYTHON_HEAD_SZ;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].python.minor == minor && rows[i].python.head == head)
			return &rows[i];
	return NULL;
}

/* Returns 1, or -ENOTSUP if the variables are not there. */
static int use_row(struct interp_file *out, const struct elf_file *f, const struct row *row)
{
	out->process.walker = STACK_WALKER_PYTHON;
	out->process.python = row->python;
	return find_root(&out->process, f, row) ? -ENOTSUP : 1;
}

/* Appends to the version, cut at its room: a file can claim any number. */
static void append(struct interp_file *out, const char *text)
{
	const size_t n = strlen(out->version);

	snprintf(out->version + n, sizeof(out->version) - n, "%s", text);
}

int interp_detect_python(struct interp_file *out, const struct elf_file *f, const char *path)
{
	struct elf_symbol loop;
	const struct row *row;
	unsigned int minor;
	int is_free;

	strcpy(out->version, "Python");
	if (!elf_dynamic_symbol_find(f, &loop, "_PyEval_EvalFrameDefault"))
		return elf_dynamic_symbol_find(f, &loop, "PyEval_EvalFrameEx") /* before 3.6 */
			       ? -ENOTSUP
			       : 0;
	minor = python_version(f, path);
	if (minor)
		snprintf(out->version, sizeof(out->version), "Python 3.%u", minor);
	is_free = is_free_threaded(f, minor);
	if (is_free)
		append(out, " without the GIL");
	row = find_row(minor, is_free);
	if (row && !is_confirmed(f, row))
		append(out, ", other structures");
	else if (row && !interp_add_loop(out, f, &loop))
		return use_row(out, f, row);
	return -ENOTSUP;
}
