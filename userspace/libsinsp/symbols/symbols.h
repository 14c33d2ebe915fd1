/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the frames of a sample's stacks. Where an address is in which file is asked of the state
 * (code_maps.h) when the sample comes; its name comes from the capture, if that has it, else from
 * the file, the kernel, or what the process says of code it made. What is not known has no name:
 * never another's. Names are remembered by place, and what is remembered and read is bounded.
 */
#ifndef SINSP_SYMBOLS_SYMBOLS_H
#define SINSP_SYMBOLS_SYMBOLS_H

#include "sinsp.h"

struct sinsp_code_file; /* state/code_maps.h */

enum sinsp_frame_kind {
	SINSP_FRAME_USER, /* of a file */
	SINSP_FRAME_KERNEL,
	SINSP_FRAME_JIT, /* code that the program made */
	SINSP_FRAME_UNKNOWN, /* nothing is known of the address */
};

/* Texts are borrowed until the next event. */
struct sinsp_frame {
	const char *function; /* NULL: not known */
	const char *module; /* path of the file, "[kernel]", "[MODULE]", "[jit]"; NULL: not known */
	const struct sinsp_code_file *code; /* of module; NULL: it is none */
	const char *file; /* source; NULL: not known, or not asked for */
	uint64_t addr; /* in the stack */
	uint64_t place; /* of the instruction in the module: in a file's own addresses */
	uint64_t offset; /* of addr in the function; of an inlined one 0 */
	uint32_t line; /* 0: not known */
	uint8_t kind; /* enum sinsp_frame_kind */
	uint8_t inlined; /* it is part of the next frame's function */
};

/* Innermost first: the kernel's frames, then the user's. */
struct sinsp_stack {
	const struct sinsp_frame *frames;
	size_t n, n_kernel;
};

/*
 * Names of frames will be asked for: reads those of the kernel, for which the first sample would
 * else have to wait, and with it all that runs meanwhile and may be gone then. 0, or -ENOMEM.
 */
int sinsp_symbols_begin(struct sinsp *s);

/*
 * The stacks of a sample. With @lines also lines of source and functions that the compiler put
 * into others, where there is debugging information: that takes its time. 0 with *out, borrowed
 * until the next event; -ENODATA: it is no sample; -ENOMEM.
 */
int sinsp_stack_get(struct sinsp *s, const struct sinsp_evt *evt, int lines,
		    const struct sinsp_stack **out);

/*
 * What a file needs to name the frames of a sample elsewhere: an event for each place that was not
 * told of since @piece was another number. They belong ahead of the sample. 0, what @put returned,
 * or -ENOMEM; of events that are no samples nothing.
 */
typedef int (*sinsp_symbol_fn)(void *ctx, const struct ppm_evt_hdr *hdr);
int sinsp_symbols_tell(struct sinsp *s, const struct sinsp_evt *evt, uint32_t piece,
		       sinsp_symbol_fn put, void *ctx);

/* What each process has mapped, as events: a file that begins now needs them. As
 * sinsp_symbols_tell. */
int sinsp_code_maps_tell(struct sinsp *s, sinsp_symbol_fn put, void *ctx);

/* Gives back what names were read from, for when nothing more is expected: it is read again if it
 * is needed. */
void sinsp_symbols_give_back(struct sinsp *s);

/* What it did, since the source was opened. */
struct sinsp_symbols_stats {
	uint64_t n_frames, n_named; /* asked for; of them with a function */
	uint64_t n_files, n_read; /* files that frames were in, that were read */
	uint64_t bytes; /* of memory now */
};
void sinsp_symbols_stats(const struct sinsp *s, struct sinsp_symbols_stats *st);

/* ---- for libsinsp itself ---- */

struct sinsp_symbols;
void sinsp_symbols_free(struct sinsp_symbols *sy);
/* A file was mapped: it may soon be out of reach. */
void sinsp_symbols_see_map(struct sinsp *s, const struct sinsp_evt *evt);
/* A file tells the name of a place. */
void sinsp_symbols_take(struct sinsp *s, const struct sinsp_evt *evt);

#endif /* SINSP_SYMBOLS_SYMBOLS_H */
