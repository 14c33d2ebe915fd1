/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the methods and blocks of Ruby 3.
 *
 * A thread's execution context is in thread-local storage. Its control frames, the newest first,
 * follow each other in memory; those of methods in C have no code. An activation of the loop
 * (rb_vm_exec) ends at a frame that is marked.
 *
 * The frame is there before the activation. Then the native walk is still at the one before: the
 * frame has run no instruction, although other functions are called, or a tag, which each
 * activation puts on the stack, is further in.
 */
#ifndef DRIVER_WALK_RUBY_BPF_H
#define DRIVER_WALK_RUBY_BPF_H

#include "script_codes.bpf.h"
#include "shared/user_walk.h"

#define RUBY_STEP 4 /* maximum number of frames per call: a loop that is unrolled */

/* In structures of all versions. */
#define RUBY_CONTEXT_FRAME 16
#define RUBY_CONTEXT_TAG 24
#define RUBY_CONTEXT_THREAD 48
#define RUBY_CONTEXT_SZ 56 /* of what is read */
#define RUBY_THREAD_RACTOR 24
#define RUBY_FRAME_INSN 0
#define RUBY_FRAME_CODE 16
#define RUBY_FRAME_FLAGS 32 /* address of the flags */
#define RUBY_FRAME_SZ 40 /* of what is read */
#define RUBY_OUTERMOST 0x20 /* flags: VM_FRAME_FLAG_FINISH, and the kind */
#define RUBY_IN_C 0x80
#define RUBY_KIND 0xffff0000u
#define RUBY_BOTTOM 0x79990000u /* below the frames of a thread */
#define RUBY_CODE_BODY 16
#define RUBY_BODY_N_INSNS 4
#define RUBY_BODY_INSNS 8
#define RUBY_BODY_SZ 160 /* of what is read */
#define RUBY_INSN_SZ 8

#define RUBY_BODY_AT 64 /* where a body is copied in w->object */

/* Reads the context of the thread to w->object. Returns 0 if it is not found. */
static __always_inline int ruby_context(struct user_walk *w, const struct interp_process *p)
{
	u64 at;

	if (!w->tls)
		return 0;
	at = p->ruby.context ? w->tls + (s64)p->ruby.context : thread_variable(w, p->root);
	if (!at || read_word(w, at))
		return 0;
	w->ruby.context = w->word;
	return !walk_read(w, w->object, RUBY_CONTEXT_SZ, w->word);
}

/* Returns whether this thread collects garbage: the process does, and it is the one that runs. */
static __always_inline int ruby_in_gc(struct user_walk *w, struct interp_process *p)
{
	if (!p->ruby.heap_at) {
		if (read_word(w, p->root + p->ruby.machine) || read_word(w, w->word + p->ruby.heap))
			return 0;
		p->ruby.heap_at = w->word;
	}
	if (!p->ruby.heap_at || read_word(w, p->ruby.heap_at + p->ruby.heap_flags) ||
	    !(w->word & p->ruby.in_gc))
		return 0;
	return !read_word(w, object_u64(w, RUBY_CONTEXT_THREAD) + RUBY_THREAD_RACTOR) &&
	       !read_word(w, w->word + p->ruby.running) && w->word == w->ruby.context;
}

#define RUBY_NATIVE_MAX 2 /* frames of an activation that has run no instruction */

/* Returns whether the loop itself has called the next frame, not code that Ruby has compiled. */
static __always_inline int ruby_callee_is_native(const struct user_walk *w,
						 const struct interp_process *p)
{
	const u64 callee = STACK_ADDR(w->frames[(w->n - 2) & (STACK_USER_MAX - 1)]);

	return callee - (p->root + (s64)p->ruby.code) < p->ruby.code_sz;
}

/* Returns whether the activation that the walk is at has removed its frames, and returns. Then the
 * newest frame is that of the function in C that began it; an activation that calls such a function
 * has more native frames. */
static __always_inline int ruby_is_over(struct user_walk *w, const struct interp_process *p)
{
	if (w->n > RUBY_NATIVE_MAX || (w->n == RUBY_NATIVE_MAX && !ruby_callee_is_native(w, p)))
		return 0;
	return !read_word(w, w->ruby.newest + RUBY_FRAME_FLAGS) && !read_word(w, w->word) &&
	       w->word & RUBY_IN_C;
}

/* Returns whether the walk is at the activation before that of a frame that has run no instruction.
 * Then other functions are called, or an activation's own tag is further out. */
static __always_inline int ruby_is_early(const struct user_walk *w, const struct interp_process *p)
{
	const u64 tag = object_u64(w, RUBY_CONTEXT_TAG);

	if (tag < w->sp)
		return 1;
	return !p->ruby.position_late && w->n > RUBY_NATIVE_MAX && walk_frame_has(w, tag) &&
	       ruby_callee_is_native(w, p);
}

/* Begins with the newest frame of the thread. Verified on its own. */
WALK_FUNC int ruby_begin(struct user_walk *w, struct interp_process *p)
{
	if (!w || !p)
		return 0;
	w->script[STACK_WALKER_RUBY] = 0;
	w->ruby.is_over = 0;
	if (!ruby_context(w, p))
		return 0;
	w->ruby.newest = w->script[STACK_WALKER_RUBY] = object_u64(w, RUBY_CONTEXT_FRAME);
	w->ruby.is_early = ruby_is_early(w, p);
	if (p->ruby.in_gc && ruby_in_gc(w, p))
		return walk_put_state(w, STACK_WALKER_RUBY, STACK_STATE_RUBY_GC);
	w->ruby.is_over = ruby_is_over(w, p);
	return 0;
}

/* Puts the frame with the body @body, which was read last. */
static __always_inline int ruby_put(struct user_walk *w, const struct interp_ruby *p, u64 body)
{
	const u64 insns = object_u64(w, RUBY_BODY_AT + RUBY_BODY_INSNS);
	u64 at = (object_u64(w, RUBY_FRAME_INSN) - insns) / RUBY_INSN_SZ;
	u32 check;

	if (at > object_u32(w, RUBY_BODY_AT + RUBY_BODY_N_INSNS))
		return 0;
	if (at) /* the next instruction is known, not the current one */
		at--;
	check = script_check(object_u64(w, RUBY_BODY_AT + p->code_label),
			     object_u64(w, RUBY_BODY_AT + p->code_first_line), insns);
	script_used(w, STACK_WALKER_RUBY, body, check, body, 0);
	return walk_put_code(w, STACK_WALKER_RUBY, body, at, check);
}

static __always_inline int ruby_has_run_none(const struct user_walk *w)
{
	return object_u64(w, RUBY_FRAME_INSN) == object_u64(w, RUBY_BODY_AT + RUBY_BODY_INSNS);
}

/* Goes on by one frame. Returns whether the activation has more. */
static __always_inline int ruby_step(struct user_walk *w, const struct interp_ruby *p)
{
	u64 *next = &w->script[STACK_WALKER_RUBY];
	u32 flags, is_newest;
	u64 body;

	*next = 0;
	if (!w->script_frame || walk_read(w, w->object, RUBY_FRAME_SZ, w->script_frame) ||
	    read_word(w, object_u64(w, RUBY_FRAME_FLAGS)))
		return SCRIPT_END;
	flags = (u32)w->word;
	if ((flags & RUBY_KIND) == RUBY_BOTTOM)
		return SCRIPT_END;
	is_newest = w->script_frame == w->ruby.newest;
	w->script_frame += p->frame_sz;
	*next = w->script_frame;
	if (flags & RUBY_IN_C || !object_u64(w, RUBY_FRAME_CODE)) /* its native frames tell */
		return SCRIPT_MORE;
	if (read_word(w, object_u64(w, RUBY_FRAME_CODE) + RUBY_CODE_BODY))
		return SCRIPT_END;
	body = w->word;
	if (walk_read(w, w->object + RUBY_BODY_AT, RUBY_BODY_SZ, body))
		return SCRIPT_END;
	if (ruby_put(w, p, body))
		return SCRIPT_FULL;
	if (!(flags & RUBY_OUTERMOST))
		return SCRIPT_MORE;
	return is_newest && w->ruby.is_early && ruby_has_run_none(w) ? SCRIPT_MORE : SCRIPT_END;
}

/* Leaves a frame of compiled code, which the loop has called. Its methods are put at the loop's. */
static __always_inline int ruby_leave(struct user_walk *w, const struct interp_process *p)
{
	w->rule = p->ruby.rule;
	if (read_word(w, w->sp + (RULE_CFA(p->ruby.rule) - 1) * 8ull) ||
	    w->word - (p->root + (s64)p->ruby.code) >= p->ruby.code_sz)
		return walk_ends(w, STACK_END_NO_ROW);
	return 0;
}

WALK_FUNC int walk_ruby(struct user_walk *w, struct interp_process *p)
{
	int r;

	if (!w || !p)
		return 1;
	if ((RULE_KIND(w->rule) & UNWIND_KIND_MASK) == UNWIND_NONE)
		return ruby_leave(w, p);
	if (!w->script_frame) {
		if (walk_script_begins(w, STACK_WALKER_RUBY)) {
			if (ruby_begin(w, p))
				return 1;
			if (w->ruby.is_over)
				return 0;
		}
		w->script_frame = w->script[STACK_WALKER_RUBY];
	}
#pragma unroll
	for (u32 i = 0; i < RUBY_STEP; i++) {
		OPAQUE(w); /* else addresses in it are computed before, and fill the stack */
		OPAQUE(p);
		r = ruby_step(w, &p->ruby);
		if (script_joins(w, STACK_WALKER_RUBY, r, w->script[STACK_WALKER_RUBY]))
			r = SCRIPT_MORE;
		if (r != SCRIPT_MORE) {
			w->script_frame = 0;
			return r == SCRIPT_FULL;
		}
	}
	return WALK_AGAIN;
}

/* Returns whether the walk has left frames: see scripts_left. */
static __always_inline int ruby_left(struct user_walk *w)
{
	const u64 frame = w->script[STACK_WALKER_RUBY];

	return frame && !read_word(w, frame + RUBY_FRAME_FLAGS) && !read_word(w, w->word) &&
	       ((u32)w->word & RUBY_KIND) != RUBY_BOTTOM;
}

#endif /* DRIVER_WALK_RUBY_BPF_H */
