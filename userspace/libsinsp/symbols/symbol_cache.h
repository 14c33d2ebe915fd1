/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbol cache: names of code addresses by place (file and offset, kernel address, JIT
 * address), and the symbol tables that the names are read from. Both are bounded.
 */
#ifndef SINSP_SYMBOLS_SYMBOL_CACHE_H
#define SINSP_SYMBOLS_SYMBOL_CACHE_H

#include "jit_process.h"
#include "memory/intern.h"
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
		const char *function, *file; /* NULL: not known */
		uint32_t line;
	} v[];
};

/* A place that was asked for, and its name. */
struct place {
	uint64_t place; /* address in the kernel, offset in a file */
	uint64_t addr; /* in a file's own terms; UINT64_MAX: not known */
	uint64_t begin; /* of the function; = place if that is not known */
	const char *function, *module;
	struct place_lines *lines; /* NULL: not asked for, or none known */
	uint32_t source; /* 0: free */
	uint32_t told; /* in which piece of a file that is written, + 1; 0: in none */
	uint8_t asked; /* for lines */
	uint8_t given; /* the file that is read told it */
	uint8_t is_start; /* function says where it begins: it has no name */
};

struct read_file {
	struct symbol_file *f;
	uint64_t used; /* when: counts stacks */
	size_t bytes;
};

struct sinsp_symbols {
	const struct sinsp *inspector;
	struct symbol_where where;
	struct place *places;
	uint64_t seed; /* of their hash: captures say any address */
	uint32_t n_places, cap_places; /* a power of two */
	uint32_t n_given;
	struct sinsp_strings strings;
	struct read_file *files; /* by number of the file */
	uint32_t n_files;
	uint32_t n_kept; /* files that are kept open */
	uint32_t n_read; /* files that were read, and not given back */
	size_t bytes; /* of symbols of files */
	struct symtab *kernel;
	uint64_t kernel_ms; /* when it was read; 0: not yet */
	struct jit_processes jit;
	struct line_server *lines; /* NULL: nobody asked for lines yet */
	uint64_t n_stacks;
	/* Of the last sample, without lines and with them. */
	struct made_stack {
		uint64_t serial; /* which event; 0: none yet */
		struct sinsp_stack stack;
	} plain, lined;
	struct sinsp_frame frames[FRAMES_MAX], expanded[EXPANDED_MAX];
	struct place *at[FRAMES_MAX]; /* of each of frames; NULL: it has none that is remembered */
	size_t n_sampler; /* of frames: the sampler's own, which are no part of the stack */
	struct sinsp_symbols_stats stats;
};

/* Returns the cache of @s, which is created at the first call; NULL: no memory. */
struct sinsp_symbols *symbol_cache_get(struct sinsp *s);

/*
 * Makes room for the places of one stack, which stay valid until the next call. A full cache is
 * emptied. Returns 0 or -ENOMEM.
 */
int symbol_cache_reserve(struct sinsp_symbols *sy);

/* Returns the slot of a place; its source is 0 if the place is not cached. */
struct place *symbol_cache_find(const struct sinsp_symbols *sy, uint32_t source, uint64_t place);

/* Caches and names a place of the kernel, or of the file @code. Returns 0 with *out, or -ENOMEM. */
int symbol_cache_place(struct sinsp_symbols *sy, struct place **out, uint32_t source, uint64_t at,
		       const struct sinsp_code_file *code);

/*
 * Looks for the name of an imported place that has only the start of its function, as exported by
 * a machine without symbols of @code. Returns 0 or -ENOMEM.
 */
int symbol_cache_name_start(struct sinsp_symbols *sy, struct place *p,
			    const struct sinsp_code_file *code);

/* Return the interned text, or the interned and demangled name; NULL: no memory. */
const char *symbol_cache_text(struct sinsp_symbols *sy, const char *text, size_t len);
const char *symbol_cache_name(struct sinsp_symbols *sy, const char *name);

/* Returns the lines and inlined functions at a place; NULL: unknown. */
const struct place_lines *symbol_place_lines(struct sinsp_symbols *sy, struct place *p);

/* Returns the process of a sample; -1: unknown. */
int64_t symbol_sample_pid(const struct sinsp_evt *evt);

#endif /* SINSP_SYMBOLS_SYMBOL_CACHE_H */
