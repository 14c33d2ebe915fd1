/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the functions of Erlang/OTP, which its JIT compiles.
 *
 * Each Erlang process has a stack of its own: values, which are tagged, and return addresses, which
 * are not. So the words of it that lie in a module's code are the frames, as for the runtime
 * itself. Compiled code uses that stack as the native one, and changes to the thread's for C code.
 * Of the latter a scheduler has only its own frames below those of the Erlang process, and the walk
 * ends.
 *
 * Functions and lines of an address are searched in the tables of the runtime: modules, functions
 * of a module, lines of a function.
 */
#ifndef DRIVER_WALK_BEAM_BPF_H
#define DRIVER_WALK_BEAM_BPF_H

#include "script_codes.bpf.h"
#include "script_places.bpf.h"
#include "shared/user_walk.h"

#define BEAM_STACK_MAX 65536u /* bytes of the stack that are looked at */
#define BEAM_FINDS_MAX 256 /* addresses of a walk that are searched in the tables */
#define BEAM_CHUNK_SZ 128 /* bytes of the stack per call of the walker */
#define BEAM_SEARCH_STEPS 20 /* tables have up to 1 << 20 entries */
#define BEAM_TAG 3u /* bits that are 0 in return addresses alone */

/* In structures of all versions. */
#define BEAM_RANGES_SZ 32 /* of a code index: modules, their number */
#define BEAM_MODULE_SZ 16 /* start, end */
#define BEAM_PROCESS_SZ 128 /* of what is read, from the top of the stack on */
#define BEAM_LINES_LOCATION_SZ 8 /* in tables of lines: bytes of a location */
#define BEAM_LINES_LOCATIONS 16
#define BEAM_LINES_SZ 24 /* files are first; the addresses of each function follow */
#define BEAM_FUNCTION_MFA 16
#define BEAM_MFA_MODULE 0
#define BEAM_MFA_FUNCTION 8
#define BEAM_MFA_ARITY 16
#define BEAM_MFA_SZ 24

/* Locations: a line, and the number of a file. */
#define BEAM_LINE(location) ((location)&0xffffff)
#define BEAM_FILE(location) ((location) >> 24)

/* Places are kept for up to 8 s: the tables and the code of a module that is loaded several times
 * can get the memory of an earlier one again. */
#define BEAM_KEPT_NS_BITS 33
#define BEAM_NOT_KEPT 3 /* besides SCRIPT_MORE and the others */

#define BEAM_CODE_SZ 72 /* bytes of code before the current instruction */

/* lea rsp, [rbx + N]: compiled code changes to the thread's stack. */
#define BEAM_LEAVES 0x638d48u
/* mov rbp, rsp before it: rbp has the top of the process's stack; else the process has it. */
#define BEAM_KEEPS 0xe58948u
/* mov [r13 + N], r14 or r14d between the two */
#define BEAM_STORES 0x758945u

#define BEAM_RESERVES 0xec8348u /* sub rsp, N */
#define BEAM_FREES 0xc48348u /* add rsp, N */
#define BEAM_RETURN 0xc3u
#define BEAM_JUMP 0xe9u
#define BEAM_SHORT_JUMP 0xebu
#define BEAM_JUMP_TO 0x20ffu /* to the value of a register or a word */
#define BEAM_JUMP_TO_MASK 0x38ffu

/* Reads the number at @at into w->word. Threads of other processes are not walked: walk_beam. */
static __always_inline int beam_word(struct user_walk *w, u64 at)
{
	return bpf_probe_read_user(&w->word, sizeof(w->word), (void *)at);
}

/* Returns three bytes of the code that was read last. */
static __always_inline u32 beam_insn(const struct user_walk *w, u32 at)
{
	return *(const u32 *)(w->object + (at & 127)) & 0xffffff;
}

/* Returns whether compiled code that called C code keeps the top of the process's stack in rbp.
 * Verified on its own. */
WALK_FUNC int beam_keeps_top(struct user_walk *w)
{
	if (!w || bpf_probe_read_user(w->object, BEAM_CODE_SZ, (void *)(w->ip - BEAM_CODE_SZ)))
		return 0;
	for (u32 at = BEAM_CODE_SZ - 4; at > 7; at--)
		if (beam_insn(w, at) == BEAM_LEAVES)
			return beam_insn(w, at - 3) == BEAM_KEEPS ||
			       ((beam_insn(w, at - 4) | 8) == (BEAM_STORES | 8) &&
				beam_insn(w, at - 7) == BEAM_KEEPS);
	return 0;
}

/* Returns the bytes on top of the stack that the function at the current instruction has reserved
 * for its values just before. Until it has stored the values, return addresses of earlier calls are
 * there. Verified on its own. */
WALK_FUNC u32 beam_reserved(struct user_walk *w)
{
	if (!w || bpf_probe_read_user(w->object, BEAM_CODE_SZ, (void *)(w->ip - BEAM_CODE_SZ)))
		return 0;
	for (u32 at = BEAM_CODE_SZ - 1; at > 3; at--) {
		const u32 insn = beam_insn(w, at), op = insn & 0xff;

		if (at <= BEAM_CODE_SZ - 4 && insn == BEAM_RESERVES)
			return w->object[at + 3] & 0x78;
		if (op == BEAM_RETURN || op == BEAM_JUMP || op == BEAM_SHORT_JUMP ||
		    insn == BEAM_FREES || (insn & BEAM_JUMP_TO_MASK) == BEAM_JUMP_TO)
			return 0;
	}
	return 0;
}

/* Returns whether the walk is at compiled code; else it is at the loop in C that runs functions in
 * C on threads of their own. */
static __always_inline int beam_in_compiled(const struct user_walk *w)
{
	return (RULE_KIND(w->rule) & UNWIND_KIND_MASK) == UNWIND_NONE;
}

/* Returns the top of the stack of the process that was read last, from its member stop on; 0: it
 * lies elsewhere. */
static __always_inline u64 beam_top(struct user_walk *w, const struct interp_beam *p)
{
	const u64 heap = object_u64(w, p->heap - p->stop),
		  sz = object_u64(w, p->heap - p->stop + 8) - heap;
	u64 top = object_u64(w, 0);

	w->beam.end = heap + sz;
	w->beam.ends = STACK_END_BAD_SP; /* while garbage is collected */
	if (beam_in_compiled(w)) {
		if (w->sp - heap < sz)
			top = w->sp + (w->exact ? beam_reserved(w) : 0);
		else if (w->known & KNOWN(UNWIND_RBP) && w->bp - heap < sz && beam_keeps_top(w))
			top = w->bp;
	}
	if (!user_word(top) || top - heap >= sz)
		return 0;
	w->beam.ends = STACK_END_ROOT;
	if (w->beam.end - top > BEAM_STACK_MAX) {
		w->beam.ends = STACK_END_DEPTH;
		w->beam.end = top + BEAM_STACK_MAX;
	}
	return top;
}

/* Finds the modules that are loaded, and the process that the thread runs. Returns the top of its
 * stack; 0: none. Verified on its own. */
WALK_FUNC u64 beam_begin(struct user_walk *w, const struct interp_process *process)
{
	const struct interp_beam *p;
	u64 at;

	if (!w || !process)
		return 0;
	p = &process->beam;
	if (beam_word(w, process->root + (s64)p->active))
		return 0;
	at = process->root + (u32)w->word * (u64)BEAM_RANGES_SZ;
	w->beam.modules = beam_word(w, at) ? 0 : w->word;
	w->beam.n_modules = beam_word(w, at + 8) ? 0 : (u32)w->word;
	w->beam.check = script_check(w->beam.modules, w->beam.n_modules,
				     bpf_ktime_get_ns() >> BEAM_KEPT_NS_BITS << 8);
	w->beam.n = 0;
	if (beam_word(w, process->root + (s64)p->key))
		return 0;
	if (!w->tls || (u32)w->word >= GLIBC_KEYS ||
	    beam_word(w, w->tls + GLIBC_KEYS_AT + (u32)w->word * 16ull + 8) || !w->word ||
	    beam_word(w, w->word + p->current_process) || !w->word ||
	    bpf_probe_read_user(w->object, BEAM_PROCESS_SZ, (void *)(w->word + p->stop)))
		return 0;
	return beam_top(w, p);
}

/* Searches the last entry at or before w->beam.pc in a table of w->beam.left addresses at
 * w->beam.low, each @step bytes behind the one before. Returns not 0 if there is none, else 0 with
 * the place of the entry in w->beam.low and its value in w->word. Verified on its own. */
WALK_FUNC int beam_search(struct user_walk *w, u32 step)
{
	u64 n = w ? w->beam.left : 0;

	if (!n || n >> BEAM_SEARCH_STEPS)
		return -1;
	for (u32 i = 0; i < BEAM_SEARCH_STEPS && n > 1; i++) {
		const u64 half = n >> 1;

		if (beam_word(w, w->beam.low + half * step))
			return -1;
		if (w->word <= w->beam.pc)
			w->beam.low += half * step;
		n -= half;
	}
	return beam_word(w, w->beam.low) || w->word > w->beam.pc;
}

/* Begins a search among the functions of the module that was found. Returns not 0 if the address
 * lies behind it. Verified on its own. */
WALK_FUNC int beam_in_module(struct user_walk *w, const struct interp_process *process)
{
	if (!w || !process)
		return -1;
	w->beam.code = w->word;
	if (beam_word(w, w->beam.low + 8) || w->word <= w->beam.pc || beam_word(w, w->beam.code))
		return -1;
	w->beam.left = w->word;
	w->beam.low = w->beam.code + process->beam.functions;
	return 0;
}

/* Begins the place of the function that was found, and a search among its lines, which may be none.
 * Verified on its own. */
WALK_FUNC int beam_in_function(struct user_walk *w, const struct interp_process *process)
{
	struct script_place *place = w ? place_new(w) : NULL;
	u64 at;

	if (!place || !process)
		return -1;
	place->functions[0].code = place->functions[0].at = w->word;
	at = w->beam.low - process->beam.functions - w->beam.code;
	w->beam.left = 0;
	w->beam.lines = beam_word(w, w->beam.code + process->beam.line_table) ? 0 : w->word;
	at += w->beam.lines + BEAM_LINES_SZ;
	if (!w->beam.lines || bpf_probe_read_user(w->object, 16, (void *)at))
		return 0;
	w->beam.low = object_u64(w, 0);
	w->beam.left = (object_u64(w, 8) - w->beam.low) / 8;
	return 0;
}

/* Returns the location that was found; 0: unknown. */
static __always_inline u32 beam_location(struct user_walk *w)
{
	u64 at;

	if (bpf_probe_read_user(w->object, BEAM_LINES_SZ + 8, (void *)w->beam.lines))
		return 0;
	at = (w->beam.low - object_u64(w, BEAM_LINES_SZ)) / 8;
	if (object_u32(w, BEAM_LINES_LOCATION_SZ) == 2)
		return beam_word(w, object_u64(w, BEAM_LINES_LOCATIONS) + at * 2) ? 0
										  : (u16)w->word;
	return beam_word(w, object_u64(w, BEAM_LINES_LOCATIONS) + at * 4) ? 0 : (u32)w->word;
}

/* Completes the place. @has_line: one was found. Verified on its own. */
WALK_FUNC int beam_complete(struct user_walk *w, int has_line)
{
	struct script_place *place = w ? place_new(w) : NULL;
	struct script_place_function *f;
	u32 location;

	if (!place)
		return -1;
	f = &place->functions[0];
	location = has_line ? beam_location(w) : 0;
	f->position = BEAM_LINE(location);
	/* The name of the file is a list. */
	f->file = 0;
	if (w->beam.lines && !beam_word(w, w->beam.lines) &&
	    !beam_word(w, w->word + BEAM_FILE(location) * 8ull))
		f->file = w->word;
	if (bpf_probe_read_user(w->object, BEAM_MFA_SZ, (void *)(f->code + BEAM_FUNCTION_MFA)))
		return -1;
	f->check = script_check(object_u64(w, BEAM_MFA_MODULE) ^ f->file << 32,
				object_u64(w, BEAM_MFA_FUNCTION),
				object_u64(w, BEAM_MFA_ARITY) << 56 ^ f->file);
	place->n = 1;
	return 0;
}

/* Finds the function with w->beam.pc, and keeps its place; one without a function if it lies in no
 * module. */
static __always_inline int beam_find(struct user_walk *w, const struct interp_process *process)
{
	if (w->beam.n++ >= BEAM_FINDS_MAX || place_begin(w)) {
		w->beam.ends = STACK_END_DEPTH;
		return -1;
	}
	w->beam.low = w->beam.modules;
	w->beam.left = w->beam.n_modules;
	if (!beam_search(w, BEAM_MODULE_SZ) && !beam_in_module(w, process) && !beam_search(w, 8) &&
	    !beam_in_function(w, process))
		beam_complete(w, !beam_search(w, 8));
	place_keep(w, w->beam.pc, w->beam.check);
	return 0;
}

/* Puts the function of a place, if it has one. */
static __always_inline int beam_put_place(struct user_walk *w, const struct script_place *place)
{
	const struct script_place_function *f = &place->functions[0];

	w->beam.tag = place->n ? BEAM_TAG : 0;
	if (!place->n)
		return SCRIPT_MORE;
	script_used(w, STACK_WALKER_BEAM, f->code, f->check, f->at, f->file);
	return walk_put_code(w, STACK_WALKER_BEAM, f->code, f->position, f->check) ? SCRIPT_FULL
										   : SCRIPT_MORE;
}

/* Puts the function at w->beam.pc if its place is kept, else returns BEAM_NOT_KEPT. Verified on its
 * own. */
WALK_FUNC int beam_put_kept(struct user_walk *w)
{
	const struct script_place *place;

	if (!w)
		return SCRIPT_END;
	place = place_find(w, w->beam.pc, w->beam.check);
	return place ? beam_put_place(w, place) : BEAM_NOT_KEPT;
}

/* Puts the function that was found. Verified on its own. */
WALK_FUNC int beam_put_new(struct user_walk *w)
{
	const struct script_place *place = w ? place_new(w) : NULL;

	return place ? beam_put_place(w, place) : SCRIPT_END;
}

/* Finds the next address of code on the stack: in w->beam.pc, 0: not in the words that were read.
 * Returns not 0 at the end of the stack. Verified on its own. */
WALK_FUNC int beam_next(struct user_walk *w)
{
	u64 left, sz, word;
	int found;

	if (!w || w->script_frame >= w->beam.end)
		return -1;
	left = w->beam.end - w->script_frame;
	sz = widen_in(&w->scratch, left < BEAM_CHUNK_SZ ? left : BEAM_CHUNK_SZ, BEAM_CHUNK_SZ);
	if (bpf_probe_read_user(w->object, sz, (void *)w->script_frame))
		return -1;
	w->beam.pc = 0;
	for (u32 i = 0; i < BEAM_CHUNK_SZ && i < left; i += 8) {
		word = object_u64(w, i);
		w->script_frame += 8;
		found = !(word & w->beam.tag) && user_code(word);
		w->beam.tag = BEAM_TAG;
		if (found) {
			w->beam.pc = word - 1;
			return 0;
		}
	}
	return 0;
}

/* Goes on by one frame, or some words of the stack. */
static __always_inline int beam_step(struct user_walk *w, const struct interp_process *p)
{
	int r;

	if (!w->beam.pc && beam_next(w))
		return SCRIPT_END;
	if (!w->beam.pc)
		return SCRIPT_MORE;
	r = beam_put_kept(w);
	if (r == BEAM_NOT_KEPT)
		r = beam_find(w, p) ? SCRIPT_END : beam_put_new(w);
	w->beam.pc = 0;
	return r;
}

/* Verified on its own. */
WALK_FUNC int walk_beam(struct user_walk *w, const struct interp_process *p)
{
	int r;

	if (!w || !p)
		return 1;
	if (w->other)
		return beam_in_compiled(w) ? walk_ends(w, STACK_END_FAULT) : 0;
	if (!w->script_frame) {
		w->beam.ends = STACK_END_ROOT;
		if (walk_script_begins(w, STACK_WALKER_BEAM))
			w->script_frame = beam_begin(w, p);
		w->beam.pc = beam_in_compiled(w) ? w->ip - !w->exact : 0;
		w->beam.tag = BEAM_TAG;
	}
	r = w->script_frame ? beam_step(w, p) : SCRIPT_END;
	if (r == SCRIPT_MORE)
		return WALK_AGAIN;
	w->script_frame = 0;
	if (r == SCRIPT_FULL)
		return 1;
	return beam_in_compiled(w) ? walk_ends(w, w->beam.ends) : 0;
}

#endif /* DRIVER_WALK_BEAM_BPF_H */
