/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the frames of a sample's stacks. The state (code_maps.h) maps an address to a file when the
 * sample comes; the name comes from the capture, if it has it, else from the file, the kernel, or
 * the process's own files for JIT code. An unknown frame has no name, never that of another. Names
 * are cached by place; cache and files in memory are bounded.
 */
#ifndef SINSP_SYMBOLS_SYMBOLS_H
#define SINSP_SYMBOLS_SYMBOLS_H

#include "sinsp.h"

struct sinsp_code_file; /* state/code_maps.h */

enum sinsp_frame_kind {
	SINSP_FRAME_USER, /* in a file */
	SINSP_FRAME_KERNEL,
	SINSP_FRAME_JIT, /* JIT code */
	SINSP_FRAME_SCRIPT, /* of an interpreter: module is the source file */
	SINSP_FRAME_UNKNOWN, /* in no known mapping */
};

struct symbol_place;

/* Texts are borrowed until the next event. */
struct sinsp_frame {
	struct symbol_place *cached; /* entry of the symbol cache, private; NULL: none */
	const char *function; /* NULL: unknown */
	const char *module; /* path of the file, "[kernel]", "[MODULE]", "[jit]"; NULL: unknown */
	const struct sinsp_code_file *code; /* of module; NULL: none */
	const char *file; /* source file; NULL: unknown, or not requested */
	uint64_t addr; /* in the stack */
	uint64_t place; /* of the instruction: in a file the file's own address */
	uint64_t offset; /* offset of addr in the function; 0 for an inlined one */
	uint32_t line; /* 0: unknown */
	uint32_t begin; /* of a SCRIPT frame's function: its first line, or its number in the file;
			 * 0: unknown */
	uint8_t kind; /* enum sinsp_frame_kind */
	uint8_t inlined; /* inlined into the next frame's function */
	uint8_t language; /* of a SCRIPT frame: enum stack_walker */
};

/* Innermost first: kernel frames, then user frames. */
struct sinsp_stack {
	const struct sinsp_frame *frames;
	size_t n, n_kernel;
};

/* Prepares naming: reads the kernel's symbols, which the first sample, and all events behind it,
 * would otherwise wait for. Returns 0, or -ENOMEM. */
int sinsp_symbols_begin(struct sinsp *s);

/*
 * Names the stacks of a sample. With @lines also source lines and inlined functions, from debug
 * information, which takes time. Returns 0 with *out, borrowed until the next event; -ENODATA: not
 * a sample; -ENOMEM.
 */
int sinsp_stack_get(struct sinsp *s, const struct sinsp_evt *evt, int lines,
		    const struct sinsp_stack **out);

/*
 * Exports what another machine needs to name the frames of a sample: an event for each place that
 * was not exported since @piece changed. The events go before the sample. Returns 0, the result of
 * @put, or -ENOMEM; exports nothing for events that are not samples.
 */
typedef int (*sinsp_symbol_fn)(void *ctx, const struct ppm_evt_hdr *hdr);
int sinsp_symbols_export(struct sinsp *s, const struct sinsp_evt *evt, uint32_t piece,
			 sinsp_symbol_fn put, void *ctx);

/* Exports the mappings of all processes as events, for a file that begins now. Works as
 * sinsp_symbols_export. */
int sinsp_code_maps_export(struct sinsp *s, sinsp_symbol_fn put, void *ctx);

/* Exports the code objects of interpreters in the same way. */
int sinsp_scripts_export(struct sinsp *s, sinsp_symbol_fn put, void *ctx);

/* Frees the memory that names were read from; it is read again if needed. */
void sinsp_symbols_drop_tables(struct sinsp *s);

/* Counters since the source was opened. */
struct sinsp_symbols_stats {
	uint64_t n_frames, n_named; /* frames that were named; of these, with a function */
	uint64_t n_files, n_read; /* files of frames that were read */
	uint64_t n_cut; /* of these: with more symbols, names or tables than are read */
	uint64_t n_jit_cut; /* perf maps and jitdumps with more than is read */
	uint64_t n_jit_late; /* frames for which they were not read again, to save time */
	uint64_t bytes; /* current memory */
};
void sinsp_symbols_stats(const struct sinsp *s, struct sinsp_symbols_stats *st);

/* ---- for libsinsp itself ---- */

struct sinsp_symbols;
void sinsp_symbols_free(struct sinsp_symbols *sy);
/* A file was mapped: it may soon be unreachable. */
void sinsp_symbols_add_map(struct sinsp *s, const struct sinsp_evt *evt);
/* Imports a code object of an interpreter from a script event. */
void sinsp_scripts_import(struct sinsp *s, const struct sinsp_evt *evt);
/* The process of a map_exec or map_exit event ended, or runs another program. */
void sinsp_scripts_drop(struct sinsp *s, const struct sinsp_evt *evt);
/* Imports a name from a symbol event of a file. */
void sinsp_symbols_import(struct sinsp *s, const struct sinsp_evt *evt);

#endif /* SINSP_SYMBOLS_SYMBOLS_H */
