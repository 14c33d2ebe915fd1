/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the subroutines of Perl 5, built with threads.
 *
 * The thread's interpreter is a thread-specific value. It has a stack of contexts: loops, blocks
 * and subroutines, the latter with the COP (line and file) of their caller. An activation of the
 * loop (runops) ends at a subroutine that returns to C, or at the end of a stack of its own, as
 * sort has.
 */
#ifndef DRIVER_WALK_PERL_BPF_H
#define DRIVER_WALK_PERL_BPF_H

#include "script_codes.bpf.h"
#include "shared/user_walk.h"

#define PERL_STEP 4 /* maximum number of contexts per call: a loop that is unrolled */

/* Types of contexts, and of stacks. */
#define PERL_CONTEXT_TYPE 0xf
#define PERL_CONTEXT_BLOCK 2
#define PERL_CONTEXT_SUB 9
#define PERL_CONTEXT_FORMAT 10
#define PERL_CONTEXT_FAKE 0x80 /* of code in a regular expression */
#define PERL_INFO_MAIN 1

/* Progress of an activation, in w->script_frame. */
enum { PERL_BEGINS = 1, PERL_GOES_ON };

#define PERL_CONTEXT_MAX 128 /* bytes of a context */
#define PERL_COP_AT 128 /* where a COP is copied in w->object */
#define PERL_COP_SZ 64
#define PERL_BODY_SZ 96 /* of a CV */

/* Enters the stack @info. */
static __always_inline void perl_enter(struct user_walk *w, const struct interp_perl *p, u64 info)
{
	w->perl.info = info;
	w->perl.context = -1;
	w->perl.bottom = PERL_CONTEXT_BLOCK;
	if (!info || read_word(w, info + p->info_contexts))
		return;
	w->perl.contexts = w->word;
	if (!read_word(w, info + p->info_context))
		w->perl.context = (s32)w->word;
}

/* Finds the stack of the thread's interpreter. */
static __always_inline void perl_begin(struct user_walk *w, const struct interp_process *p)
{
	u64 perl = 0;

	w->perl.info = 0;
	if (!read_word(w, p->root))
		perl = thread_value(w, w->word);
	w->script[STACK_WALKER_PERL] = perl;
	if (!perl || read_word(w, perl + p->perl.cop))
		return;
	w->perl.cop = w->word;
	if (!read_word(w, perl + p->perl.stack_info))
		perl_enter(w, &p->perl, w->word);
}

/* Puts the frame of subroutine @cv, which is at the current COP. */
static __always_inline int perl_put(struct user_walk *w, const struct interp_perl *p, u64 cv)
{
	u64 file, code;
	u32 line, check;

	if (walk_read(w, w->object + PERL_COP_AT, PERL_COP_SZ, w->perl.cop))
		return 0;
	line = object_u32(w, PERL_COP_AT + p->cop_line);
	file = object_u64(w, PERL_COP_AT + p->cop_file);
	if (read_word(w, cv) || walk_read(w, w->object, PERL_BODY_SZ, w->word))
		return 0;
	/* Closures of one text share their operations; the main program has none here. */
	code = object_u64(w, p->cv_root) ?: cv;
	check = script_check(object_u64(w, p->cv_name), object_u64(w, p->cv_stash), code);
	script_used(w, STACK_WALKER_PERL, code, check, cv, file);
	return walk_put_code(w, STACK_WALKER_PERL, code, line, check);
}

/* Leaves a stack: ends the activation, unless it has only begun. The last one belongs to the main
 * program, which begins with a block: else it does not run, and a program in C, or the beginning of
 * a thread, has called the subroutine. */
static __always_inline int perl_leave(struct user_walk *w, const struct interp_perl *p)
{
	const u64 info = w->perl.info;
	u32 type;

	w->perl.info = 0;
	if (read_word(w, info + p->info_type))
		return SCRIPT_END;
	type = w->word;
	if (type == PERL_INFO_MAIN) {
		if (w->perl.bottom != PERL_CONTEXT_BLOCK ||
		    read_word(w, w->script[STACK_WALKER_PERL] + p->main_cv))
			return SCRIPT_END;
		return perl_put(w, p, w->word) ? SCRIPT_FULL : SCRIPT_END;
	}
	if (read_word(w, info + p->info_previous))
		return SCRIPT_END;
	perl_enter(w, p, w->word);
	return w->script_frame == PERL_BEGINS ? SCRIPT_MORE : SCRIPT_END;
}

/* Goes on by one context. Returns whether the activation has more. */
static __always_inline int perl_step(struct user_walk *w, const struct interp_perl *p)
{
	u64 returns;
	u8 type;

	if (!w->perl.info)
		return SCRIPT_END;
	if (w->perl.context < 0)
		return perl_leave(w, p);
	if (walk_read(w, w->object, p->context_sz & (PERL_CONTEXT_MAX - 1),
		      w->perl.contexts + w->perl.context * p->context_sz)) {
		w->perl.info = 0;
		return SCRIPT_END;
	}
	w->perl.context--;
	w->script_frame = PERL_GOES_ON;
	type = w->object[0];
	if (w->perl.context < 0)
		w->perl.bottom = type & PERL_CONTEXT_TYPE;
	if (type & PERL_CONTEXT_FAKE || ((type & PERL_CONTEXT_TYPE) != PERL_CONTEXT_SUB &&
					 (type & PERL_CONTEXT_TYPE) != PERL_CONTEXT_FORMAT))
		return SCRIPT_MORE;
	returns = object_u64(w, p->context_return);
	w->perl.caller = object_u64(w, p->context_cop);
	if (perl_put(w, p, object_u64(w, p->context_cv)))
		return SCRIPT_FULL;
	w->perl.cop = w->perl.caller;
	return returns ? SCRIPT_MORE : SCRIPT_END;
}

/* Verified on its own. */
WALK_FUNC int walk_perl(struct user_walk *w, const struct interp_process *p)
{
	int r;

	if (!w || !p)
		return 1;
	if (!w->script_frame) {
		w->script_frame = PERL_BEGINS;
		if (walk_script_begins(w, STACK_WALKER_PERL))
			perl_begin(w, p);
	}
#pragma unroll
	for (u32 i = 0; i < PERL_STEP; i++) {
		OPAQUE(w); /* else addresses in it are computed before, and fill the stack */
		OPAQUE(p);
		r = perl_step(w, &p->perl);
		if (script_joins(w, STACK_WALKER_PERL, r, w->perl.info)) {
			w->script_frame = PERL_BEGINS;
			r = SCRIPT_MORE;
		}
		if (r != SCRIPT_MORE) {
			w->script_frame = 0;
			return r == SCRIPT_FULL;
		}
	}
	return WALK_AGAIN;
}

/* Returns whether the walk has left frames: see scripts_left. */
static __always_inline int perl_left(struct user_walk *w, const struct interp_perl *p)
{
	if (!w->perl.info)
		return 0;
	if (w->perl.context >= 0 || w->perl.bottom == PERL_CONTEXT_BLOCK)
		return 1;
	return !read_word(w, w->perl.info + p->info_type) && (u32)w->word != PERL_INFO_MAIN;
}

#endif /* DRIVER_WALK_PERL_BPF_H */
