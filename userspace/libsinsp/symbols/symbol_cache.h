/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbol cache: names of code addresses by place (file and offset, kernel address, JIT
 * address), and the symbol tables that the names are read from. Both are bounded.
 */
#ifndef SINSP_SYMBOLS_SYMBOL_CACHE_H
#define SINSP_SYMBOLS_SYMBOL_CACHE_H

#include "jit_process.h"
#include "memory/intern.h"
#include "script_names.h"
#include "shared/stack.h"
#include "symbol_file.h"
#include "symbols.h"

struct line_server;
struct symtab;

enum {
	FRAMES_MAX = STACK_USER_MAX + STACK_KERNEL_MAX,
	EXPANDED_MAX = 2 * FRAMES_MAX, /* with inlined functions */
};
#define MODULE_BPF "[bpf]" /* in kallsyms */
#define KERNEL_SOURCE 1u
#define FILE_SOURCE 2u /* + the file's number */
#define JIT_SOURCE (1u << 31) /* + the process */

/* Functions and lines at a place, innermost first: the last one is the place's own function. */
struct place_lines {
	uint32_t n;
	struct {
		const char *function, *file; /* NULL: unknown */
		uint32_t line;
	} v[];
};

/* A named code address: one slot of the cache. */
struct symbol_place {
	uint64_t place; /* address in the kernel, offset in a file */
	uint64_t addr; /* ELF virtual address; UINT64_MAX: unknown */
	uint64_t begin; /* of the function; = place if unknown */
	const char *function, *module;
	struct place_lines *lines; /* NULL: not read, or none */
	uint32_t source; /* 0: free */
	uint32_t exported; /* last piece of the written file that has it, + 1; 0: none */
	uint8_t lines_known; /* lines were read */
	uint8_t imported; /* from a symbol event of the capture file */
	uint8_t is_start; /* function is only the address of its start, as text */
};

struct read_file {
	struct symbol_file *f;
	uint64_t used; /* last use, as a count of stacks */
	size_t bytes;
	uint8_t is_cut; /* its symbols were cut at a limit */
};

struct sinsp_symbols {
	const struct sinsp *inspector;
	struct symbol_where where;
	struct symbol_place *places;
	uint64_t seed; /* of their hash: addresses of a capture are hostile */
	uint32_t n_places, cap_places; /* a power of two */
	uint32_t n_imported;
	struct sinsp_strings strings;
	size_t max_text; /* of strings; 0: default */
	struct read_file *files; /* by number of the file */
	uint32_t n_files;
	uint32_t n_kept; /* files that are kept open */
	uint32_t n_read; /* files whose symbols are in memory */
	size_t bytes; /* of symbols of files */
	struct symtab *kernel;
	uint64_t kernel_ms; /* time of the last read; 0: not yet */
	struct jit_processes jit;
	struct script_names scripts;
	struct line_server *lines; /* NULL: not started */
	uint64_t n_stacks;
	/* The last sample, without and with lines. */
	struct made_stack {
		uint64_t serial; /* number of the event; 0: none */
		struct sinsp_stack stack;
	} plain, lined;
	struct sinsp_frame frames[FRAMES_MAX], expanded[EXPANDED_MAX];
	size_t n_frames;
	struct sinsp_frame shown[FRAMES_MAX]; /* of a stack with hidden frames */
	size_t n_sampler; /* leading frames of the sampler itself, not part of the stack */
	struct sinsp_symbols_stats stats;
};

/* Returns the cache of @s, which is created at the first call; NULL: no memory. */
struct sinsp_symbols *symbol_cache_get(struct sinsp *s);

/*
 * Makes room for the places of one stack, which stay valid until the next call. A cache with too
 * many places or too much text is emptied. Returns 0 or -ENOMEM.
 */
int symbol_cache_reserve(struct sinsp_symbols *sy);

/* Returns the slot of a place; its source is 0 if the place is not cached. */
struct symbol_place *symbol_cache_find(const struct sinsp_symbols *sy, uint32_t source,
				       uint64_t place);

/* Caches and names a place of the kernel, or of the file @code. Returns 0 with *out, or -ENOMEM. */
int symbol_cache_place(struct sinsp_symbols *sy, struct symbol_place **out, uint32_t source,
		       uint64_t at, const struct sinsp_code_file *code);

/*
 * Looks for the name of an imported place that has only the start of its function, as exported by
 * a machine without symbols of @code. Returns 0 or -ENOMEM.
 */
int symbol_cache_name_start(struct sinsp_symbols *sy, struct symbol_place *p,
			    const struct sinsp_code_file *code);

/* Return the interned text, or the interned and demangled name; NULL: no memory. */
const char *symbol_cache_text(struct sinsp_symbols *sy, const char *text, size_t len);
const char *symbol_cache_name(struct sinsp_symbols *sy, const char *name);

/* Returns the lines and inlined functions at a place; NULL: unknown. */
const struct place_lines *symbol_place_lines(struct sinsp_symbols *sy, struct symbol_place *p);

/* Returns the process of a sample; -1: unknown. */
int64_t symbol_sample_pid(const struct sinsp_evt *evt);

#endif /* SINSP_SYMBOLS_SYMBOL_CACHE_H */
