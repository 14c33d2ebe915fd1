/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the methods and blocks of Ruby 3.
 *
 * A thread's execution context is in thread-local storage. Its control frames, the newest first,
 * follow each other in memory; those of methods in C have no code. An activation of the loop
 * (rb_vm_exec) ends at a frame that is marked.
 */
#ifndef DRIVER_WALK_RUBY_BPF_H
#define DRIVER_WALK_RUBY_BPF_H

#include "script_codes.bpf.h"
#include "shared/user_walk.h"

#define RUBY_STEP 4 /* maximum number of frames per call: a loop that is unrolled */

/* In structures of all versions. */
#define RUBY_CONTEXT_FRAME 16
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

#define GLIBC_DTV_AT 8 /* from the thread pointer: blocks of thread-local storage, by module */

/* Returns the newest frame of the thread; 0: unknown. @root: see struct interp_process. */
static __always_inline u64 ruby_newest(struct user_walk *w, u64 root)
{
	u64 at;

	if (!w->tls || read_word(w, root))
		return 0;
	at = w->word * 16;
	if (read_word(w, w->tls + GLIBC_DTV_AT) || read_word(w, w->word + at))
		return 0;
	at = w->word;
	if (read_word(w, root + 8) || read_word(w, at + w->word) ||
	    read_word(w, w->word + RUBY_CONTEXT_FRAME))
		return 0;
	return w->word;
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

/* Goes on by one frame. Returns whether the activation has more. */
static __always_inline int ruby_step(struct user_walk *w, const struct interp_ruby *p)
{
	u64 *next = &w->script[STACK_WALKER_RUBY];
	u32 flags;
	u64 body;

	*next = 0;
	if (!w->script_frame || walk_read(w, w->object, RUBY_FRAME_SZ, w->script_frame) ||
	    read_word(w, object_u64(w, RUBY_FRAME_FLAGS)))
		return SCRIPT_END;
	flags = (u32)w->word;
	if ((flags & RUBY_KIND) == RUBY_BOTTOM)
		return SCRIPT_END;
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
	return flags & RUBY_OUTERMOST ? SCRIPT_END : SCRIPT_MORE;
}

/* Leaves a frame of compiled code, which the loop has called. Its methods are put at the loop's. */
static __always_inline int ruby_leave(struct user_walk *w, const struct interp_process *p)
{
	w->rule = p->ruby.rule;
	if (read_word(w, w->sp + (RULE_CFA(p->ruby.rule) - 1) * 8ull) ||
	    w->word - (p->root + (s64)p->ruby.text) >= p->ruby.text_sz)
		return walk_ends(w, STACK_END_NO_ROW);
	return 0;
}

WALK_FUNC int walk_ruby(struct user_walk *w, const struct interp_process *p)
{
	int r;

	if (!w || !p)
		return 1;
	if ((RULE_KIND(w->rule) & UNWIND_KIND_MASK) == UNWIND_NONE)
		return ruby_leave(w, p);
	if (!w->script_frame) {
		if (walk_script_begins(w, STACK_WALKER_RUBY))
			w->script[STACK_WALKER_RUBY] = ruby_newest(w, p->root);
		w->script_frame = w->script[STACK_WALKER_RUBY];
	}
#pragma unroll
	for (u32 i = 0; i < RUBY_STEP; i++) {
		OPAQUE(w); /* else addresses in it are computed before, and fill the stack */
		OPAQUE(p);
		r = ruby_step(w, &p->ruby);
		if (r != SCRIPT_MORE) {
			w->script_frame = 0;
			return r == SCRIPT_FULL;
		}
	}
	return WALK_AGAIN;
}

#endif /* DRIVER_WALK_RUBY_BPF_H */
