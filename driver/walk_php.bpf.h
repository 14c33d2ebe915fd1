/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the functions of PHP 8, built without thread safety.
 *
 * The executor's globals lead to a list of frames (zend_execute_data), which also has those of
 * functions in C. An activation of the loop (execute_ex) ends at a frame that is marked as its
 * outermost one.
 */
#ifndef DRIVER_WALK_PHP_BPF_H
#define DRIVER_WALK_PHP_BPF_H

#include "script_codes.bpf.h"
#include "shared/user_walk.h"

#define PHP_STEP 4 /* maximum number of frames per call: a loop that is unrolled */
#define PHP_REG_FRAME 14 /* registers of the loop, by DWARF number */
#define PHP_REG_INSN 15

/* In structures of all versions. */
#define PHP_FRAME_INSN 0
#define PHP_FRAME_FUNCTION 24
#define PHP_FRAME_FLAGS 40
#define PHP_FRAME_PREVIOUS 48
#define PHP_FRAME_SZ 56
#define PHP_OUTERMOST (1u << 17) /* flag of a frame: ZEND_CALL_TOP */
#define PHP_C_FUNCTION 1 /* types of functions */
#define PHP_USER_FUNCTION 2
#define PHP_EVAL_CODE 4
#define PHP_FUNCTION_NAME 8
#define PHP_FUNCTION_CLASS 16
#define PHP_FUNCTION_SZ 184 /* of what is read */
#define PHP_INSN_SZ 32
#define PHP_INSN_LINE 24

#define PHP_STRING_HASH 8
#define PHP_STRING_LEN 16
#define PHP_STRING_TEXT 24
/* Bytes from what is read of the name of a file to its end. */
#define PHP_EVAL_END 23 /* "(LINE) : eval()'d code" */
#define PHP_FILE_END 12 /* "name.php" */

#define PHP_COMPILED_WORDS 4 /* that calls inside of compiled code can leave on the stack */
#define PHP_EXIT_SZ 256 /* bytes of the registers that it stores when it leaves a trace */

#define PHP_FUNCTION_AT 64 /* where a function is copied in w->object */

/* Returns the frame of the loop. In the loop itself a register has it: the list runs ahead or
 * behind while an activation begins or ends. */
static __always_inline u64 php_current(struct user_walk *w, u64 listed)
{
	const u64 frame = w->regs[PHP_REG_FRAME];

	if (!w->exact || !(w->known & KNOWN(PHP_REG_FRAME)) || !user_word(frame) || frame == listed)
		return listed;
	if (!read_word(w, frame + PHP_FRAME_PREVIOUS) && w->word == listed)
		return frame;
	if (!read_word(w, listed + PHP_FRAME_PREVIOUS) && w->word == frame)
		return frame;
	return listed;
}

static __always_inline u64 php_first(struct user_walk *w, u64 root)
{
	u64 *next = &w->script[STACK_WALKER_PHP];

	if (walk_script_begins(w, STACK_WALKER_PHP))
		*next = read_word(w, root) ? 0 : php_current(w, w->word);
	return *next;
}

/* Returns the line of the instruction at @insn of the function that was read last; 0: unknown. */
static __always_inline u32 php_line(struct user_walk *w, const struct interp_php *p, u64 insn)
{
	const u64 from = object_u64(w, PHP_FUNCTION_AT + p->code);
	const u64 sz = object_u32(w, PHP_FUNCTION_AT + p->n_code) * (u64)PHP_INSN_SZ;

	if (w->exact && insn != w->regs[PHP_REG_INSN] && w->known & KNOWN(PHP_REG_INSN) &&
	    w->regs[PHP_REG_INSN] - from < sz)
		insn = w->regs[PHP_REG_INSN];
	if (insn - from >= sz || read_word(w, insn + PHP_INSN_LINE))
		return 0;
	return (u32)w->word;
}

/* Returns what tells a function from one that takes its memory later: the hash of its name, or the
 * end of the name of its file. That of an eval has its line there. Pointers would not do: the code
 * and the texts of an eval often get the memory of the one before. */
static __always_inline u64 php_content(struct user_walk *w, const struct interp_php *p)
{
	const u64 name = object_u64(w, PHP_FUNCTION_AT + PHP_FUNCTION_NAME);
	const u64 file = object_u64(w, PHP_FUNCTION_AT + p->file);
	const u32 end = w->object[PHP_FUNCTION_AT] == PHP_EVAL_CODE ? PHP_EVAL_END : PHP_FILE_END;

	if (name)
		return read_word(w, name + PHP_STRING_HASH) ? 0 : w->word;
	if (read_word(w, file + PHP_STRING_LEN) ||
	    read_word(w, file + PHP_STRING_TEXT + w->word - end))
		return 0;
	return w->word;
}

/* Puts the function that was read last, from @function. */
static __always_inline int php_put(struct user_walk *w, const struct interp_php *p, u64 function,
				   u64 insn)
{
	const u64 class = object_u64(w, PHP_FUNCTION_AT + PHP_FUNCTION_CLASS);
	u64 code;
	u32 line, check;

	line = php_line(w, p, insn);
	/* Closures share their instructions. So do methods of a trait in several classes: the class
	 * chooses an address within the first instruction. */
	code = object_u64(w, PHP_FUNCTION_AT + p->code) | (class >> 6 & 7);
	check = script_check(class, object_u32(w, PHP_FUNCTION_AT + p->first_line),
			     php_content(w, p));
	script_used(w, STACK_WALKER_PHP, code, check, function, 0);
	return walk_put_code(w, STACK_WALKER_PHP, code, line, check);
}

/* Goes on by one frame. Returns whether the activation has more. */
static __always_inline int php_step(struct user_walk *w, const struct interp_php *p)
{
	u64 function, insn;
	u8 type;

	w->script[STACK_WALKER_PHP] = 0;
	if (!w->script_frame || walk_read(w, w->object, PHP_FRAME_SZ, w->script_frame))
		return SCRIPT_END;
	function = object_u64(w, PHP_FRAME_FUNCTION);
	insn = object_u64(w, PHP_FRAME_INSN);
	if (function && walk_read(w, w->object + PHP_FUNCTION_AT, PHP_FUNCTION_SZ, function))
		return SCRIPT_END;
	w->script_frame = object_u64(w, PHP_FRAME_PREVIOUS);
	w->script[STACK_WALKER_PHP] = w->script_frame;
	if (!function) /* stands for a generator that delegates */
		return SCRIPT_MORE;
	type = w->object[PHP_FUNCTION_AT];
	if (type != PHP_USER_FUNCTION && type != PHP_EVAL_CODE) /* its native frames tell */
		return SCRIPT_MORE;
	if (php_put(w, p, function, insn))
		return SCRIPT_FULL;
	return object_u32(w, PHP_FRAME_FLAGS) & PHP_OUTERMOST ? SCRIPT_END : SCRIPT_MORE;
}

/* Returns whether the walk is at compiled code. */
static __always_inline int php_in_compiled(const struct user_walk *w)
{
	return (RULE_KIND(w->rule) & UNWIND_KIND_MASK) == UNWIND_NONE;
}

/* The same where the loop has a frame pointer, which compiled code keeps. */
static __always_inline int php_leave_by_rbp(struct user_walk *w, const struct interp_process *p,
					    u64 text)
{
	if (!(w->known & KNOWN(UNWIND_RBP)) || !user_fp(w->bp, w->sp) ||
	    bpf_probe_read_user(&w->word, sizeof(w->word), (void *)(w->bp + 8)) ||
	    w->word - text >= p->php.text_sz)
		return -1;
	w->rule = p->php.rule;
	return 0;
}

/* Sets how the native walk leaves an activation: compiled code runs in the loop's frame. It may
 * have called a part of its own, or left a trace. Returns not 0 if that is not found, which ends
 * the walk. Verified on its own. */
WALK_FUNC int php_leave(struct user_walk *w, const struct interp_process *p)
{
	u64 text, at, add;

	if (!w || !p || w->other)
		return -1;
	text = p->root + (s64)p->php.text;
	if (RULE_KIND(p->php.rule) == UNWIND_RBP)
		return php_leave_by_rbp(w, p, text);
	at = w->sp + (RULE_CFA(p->php.rule) - 1) * 8ull;
	for (u32 i = 0; i < 2 * PHP_COMPILED_WORDS; i++) {
		add = i % PHP_COMPILED_WORDS * 8 + i / PHP_COMPILED_WORDS * PHP_EXIT_SZ;
		if (!bpf_probe_read_user(&w->word, sizeof(w->word), (void *)(at + add)) &&
		    w->word - text < p->php.text_sz) {
			w->sp += add;
			w->regs[UNWIND_RSP] = w->sp;
			w->rule = p->php.rule;
			return 0;
		}
	}
	return -1;
}

/* Puts a few frames. Returns the result of a step. */
static __always_inline int php_steps(struct user_walk *w, const struct interp_process *p)
{
	int r = SCRIPT_MORE;

#pragma unroll
	for (u32 i = 0; i < PHP_STEP && r == SCRIPT_MORE; i++) {
		OPAQUE(w); /* else addresses in it are computed before, and fill the stack */
		OPAQUE(p);
		r = php_step(w, &p->php);
		if (r == SCRIPT_MORE && !w->script_frame)
			r = SCRIPT_END;
	}
	return r;
}

WALK_FUNC int walk_php(struct user_walk *w, const struct interp_process *p)
{
	int r = SCRIPT_END;

	if (!w || !p)
		return 1;
	if (!w->script_frame)
		w->script_frame = php_first(w, p->root);
	if (w->script_frame)
		r = php_steps(w, p);
	if (r == SCRIPT_MORE || script_joins(w, STACK_WALKER_PHP, r, w->script[STACK_WALKER_PHP]))
		return WALK_AGAIN;
	w->script_frame = 0;
	OPAQUE(w);
	OPAQUE(p);
	if (php_in_compiled(w) && php_leave(w, p))
		return walk_ends(w, STACK_END_NO_ROW);
	return r == SCRIPT_FULL;
}

/* Returns whether the walk has left frames: see scripts_left. Those behind the first one of a fiber
 * belong to another native stack. */
static __always_inline int php_left(struct user_walk *w)
{
	const u64 frame = w->script[STACK_WALKER_PHP];
	u64 function;

	if (!frame || read_word(w, frame + PHP_FRAME_FUNCTION))
		return 0;
	function = w->word;
	if (!function || read_word(w, function))
		return !function;
	return (u8)w->word != PHP_C_FUNCTION || read_word(w, function + PHP_FUNCTION_NAME) ||
	       w->word;
}

#endif /* DRIVER_WALK_PHP_BPF_H */
