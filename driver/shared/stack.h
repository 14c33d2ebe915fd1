/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Stacks in records and files, shared by the driver, which walks them, and all readers.
 *
 * Kernel frames are u64 addresses, innermost first: the first is the instruction that the CPU was
 * at, the others are return addresses. User frames are the same, with the way each was found in the
 * highest byte, which user addresses do not use. Frames of an interpreter stand right behind the
 * native frame of its loop, innermost first. Such a frame is a word whose highest byte names the
 * interpreter, with the address of the code object, and STACK_HOW_MORE words that belong to it: for
 * Python one, with the position in the code and a checksum.
 */
#ifndef DRIVER_SHARED_STACK_H
#define DRIVER_SHARED_STACK_H

#include <linux/types.h>

#define SAMPLE_HZ_MAX 4000u
#define STACK_USER_MAX 1024u /* maximum number of frames */
#define STACK_KERNEL_MAX 127u /* limit of the kernel */

#define STACK_ADDR(frame) ((frame)&0x00ffffffffffffffull)
#define STACK_HOW_SHIFT 56
#define STACK_HOW(frame) ((frame) >> STACK_HOW_SHIFT & 0x7f) /* enum stack_how */
/* The address is that of the instruction itself, not of the one after a call: do not subtract 1
 * before naming it. */
#define STACK_EXACT (1ull << 63)

/* How a user frame was found. The numbers are in files: only append rows. */
enum stack_how {
	STACK_HOW_REGS, /* the registers of the thread */
	STACK_HOW_FP, /* the frame pointer of the previous frame */
	STACK_HOW_ROW, /* a row of the unwind table */
	STACK_HOW_SIGNAL, /* the frame that a signal interrupted */
	STACK_HOW_SCRIPT = 0x40, /* an interpreter's walker: enum stack_walker in the low bits */
	STACK_HOW_MORE = 0x60, /* no frame: more about the interpreter's frame before it */
};

#define STACK_IS_MORE(frame) (STACK_HOW(frame) == STACK_HOW_MORE)
#define STACK_IS_SCRIPT(frame) (STACK_HOW(frame) & STACK_HOW_SCRIPT && !STACK_IS_MORE(frame))
#define STACK_WALKER(frame) (STACK_HOW(frame) & (STACK_WALKER_ROOM - 1))

/* The word behind an interpreter's frame. The checksum shows whether the code object at the address
 * is still the named one. */
#define STACK_SCRIPT_BITS 28
#define STACK_SCRIPT_MASK ((1u << STACK_SCRIPT_BITS) - 1)
#define STACK_MORE(position, check)                                                                \
	((__u64)STACK_HOW_MORE << STACK_HOW_SHIFT |                                                \
	 (__u64)((position)&STACK_SCRIPT_MASK) << STACK_SCRIPT_BITS | ((check)&STACK_SCRIPT_MASK))
#define STACK_MORE_POSITION(word) ((__u32)((word) >> STACK_SCRIPT_BITS) & STACK_SCRIPT_MASK)
#define STACK_MORE_CHECK(word) ((__u32)(word)&STACK_SCRIPT_MASK)

/* Interpreters whose frames are walked: symbol, number, name, function of the driver. The numbers
 * are in files: never change one. */
#define STACK_WALKERS(X)                                                                           \
	X(PYTHON, 1, "python", walk_python)                                                        \
	X(LUA, 2, "lua", walk_lua)                                                                 \
	X(PERL, 3, "perl", walk_perl)                                                              \
	X(PHP, 4, "php", walk_php)                                                                 \
	X(RUBY, 5, "ruby", walk_ruby)                                                              \
	X(NODE, 6, "node", walk_node)                                                              \
	X(JAVA, 7, "java", walk_java)                                                              \
	X(BEAM, 8, "erlang", walk_beam)

enum stack_walker {
	STACK_WALKER_NONE,
#define X(sym, number, ...) STACK_WALKER_##sym = (number),
	STACK_WALKERS(X)
#undef X
};

/* What a runtime does for itself: a function that it seems to have called. Walker, symbol, number,
 * name. The number stands in place of a code object's address, which is never that low. Numbers are
 * in files: never change one. */
#define STACK_STATES(X)                                                                            \
	X(RUBY, GC, 1, "(garbage collection)")                                                     \
	X(PYTHON, GC, 1, "(garbage collection)")                                                   \
	X(NODE, GC, 1, "(garbage collection)")

enum stack_state {
#define X(walker, sym, number, name) STACK_STATE_##walker##_##sym = (number),
	STACK_STATES(X)
#undef X
};

#define STACK_WALKER_ROOM 32 /* above all numbers; a power of two up to 0x20 */

/* End reasons of user stacks: symbol, name. The numbers are in files: only append rows. */
#define STACK_ENDS(X)                                                                              \
	X(ROOT, "root") /* complete: the outermost frame was reached */                            \
	X(NONE, "none") /* no user stack: a kernel thread */                                       \
	X(DEPTH, "depth") /* maximum depth reached */                                              \
	X(FAULT, "fault") /* memory could not be read */                                           \
	X(BAD_FP, "bad_fp") /* invalid frame pointer */                                            \
	X(BAD_PC, "bad_pc") /* invalid return address */                                           \
	X(COMPAT, "compat") /* a 32-bit program */                                                 \
	X(DEFERRED, "deferred") /* partial: sample_stack has the rest */                           \
	X(NEVER, "never") /* partial: the rest never came */                                       \
	X(NO_MAP, "no_map") /* address outside all known mappings */                               \
	X(NO_TABLE, "no_table") /* the file has no unwind table yet */                             \
	X(NO_ROW, "no_row") /* the unwind table has no row for the address */                      \
	X(BAD_RULE, "bad_rule") /* the rule of the row cannot be followed */                       \
	X(LOST_REG, "lost_reg") /* the rule needs a register whose value is lost */                \
	X(BAD_SP, "bad_sp") /* invalid stack pointer */                                            \
	X(LOOP, "loop") /* too many changes of the stack */                                        \
	X(NEW, "new") /* the mappings of the process are not known yet */                          \
	X(SIGNAL, "signal") /* a signal frame that the kernel was just building or removing */     \
	X(PROBE, "probe") /* code of a probe whose return address is unknown \ */

enum stack_end {
#define X(sym, name) STACK_END_##sym,
	STACK_ENDS(X)
#undef X
		STACK_END_MAX
};

#define STACK_END_ROOM 32 /* at least STACK_END_MAX; a power of two */

/* Triggers of samples: symbol, name. The numbers are in files: only append rows. */
#define SAMPLE_REASONS(X)                                                                          \
	X(CPU, "cpu") /* the clock, or a hardware counter */                                       \
	X(OFF_CPU, "off_cpu") /* the thread was off the CPU; the stack is where it left */         \
	X(PAGE_FAULT, "page_fault")                                                                \
	X(TRACEPOINT, "tracepoint")                                                                \
	X(SYSCALL, "syscall") /* at the end of a recorded call: right before its exit event */

enum sample_reason {
#define X(sym, name) SAMPLE_##sym,
	SAMPLE_REASONS(X)
#undef X
		SAMPLE_REASON_MAX
};

/* The parameters of a sample, in their order. */
enum sample_param {
	SAMPLE_P_REASON,
	SAMPLE_P_WEIGHT,
	SAMPLE_P_PID,
	SAMPLE_P_COMM,
	SAMPLE_P_KERNEL,
	SAMPLE_P_USER,
	SAMPLE_P_END,
	SAMPLE_P_IP,
	SAMPLE_P_SP,
	SAMPLE_P_BP,
	SAMPLE_P_ID,
	SAMPLE_P_VPID,
	SAMPLE_P_VTID,
	SAMPLE_P_TRACEPOINT,
	SAMPLE_P_ADDR,
	SAMPLE_P_CALL,
	SAMPLE_P_STATE,
	SAMPLE_P_WAKER,
	SAMPLE_P_WAKER_COMM,
	SAMPLE_P_WAIT,
	SAMPLE_P_ARG,
	SAMPLE_P_OLDER,
	SAMPLE_P_MAX
};

/* Set in the call number of sample events for a call of a 32-bit program. */
#define SAMPLE_CALL_IA32 (1u << 16)

#endif /* DRIVER_SHARED_STACK_H */
