/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Stacks in records and files, shared by the driver that walks them and all who read them.
 *
 * Kernel frames are u64 addresses, innermost first: the first is where the CPU was, the others are
 * return addresses. User frames are the same, with how each was found in its highest byte, which no
 * user address needs. What an interpreter runs are frames among them, right behind that of the loop
 * that runs it: the address is that of an instruction of the interpreter's own, and which one it is
 * stands in the place of how.
 */
#ifndef DRIVER_SHARED_STACK_H
#define DRIVER_SHARED_STACK_H

#define SAMPLE_HZ_MAX 4000u
#define STACK_USER_MAX 1024u /* frames; the most that may be asked for */
#define STACK_KERNEL_MAX 127u /* the kernel's own limit */

#define STACK_ADDR(frame) ((frame)&0x00ffffffffffffffull)
#define STACK_HOW_SHIFT 56
#define STACK_HOW(frame) ((frame) >> STACK_HOW_SHIFT & 0x7f) /* enum stack_how */
/* The address is of the instruction itself, not the one behind a call: to name it, nothing is to be
 * taken off. */
#define STACK_EXACT (1ull << 63)

/* How a user frame was found. The numbers are in files: rows are only appended. */
enum stack_how {
	STACK_HOW_REGS, /* the registers of the thread */
	STACK_HOW_FP, /* the frame pointer of the frame before */
	STACK_HOW_ROW, /* a row of the unwind table */
	STACK_HOW_SIGNAL, /* what a signal interrupted */
	STACK_HOW_SCRIPT = 0x40, /* a walker: with enum stack_walker in the low bits */
};

#define STACK_IS_SCRIPT(frame) (STACK_HOW(frame) & STACK_HOW_SCRIPT)
#define STACK_WALKER(frame) (STACK_HOW(frame) & (STACK_WALKER_ROOM - 1))

/*
 * Interpreters whose frames are walked: symbol, name, function of the driver. The numbers are in
 * files: rows are only appended. There are none yet: docs/unwinding.md says what one needs.
 */
#define STACK_WALKERS(X)

enum stack_walker {
	STACK_WALKER_NONE,
#define X(sym, ...) STACK_WALKER_##sym,
	STACK_WALKERS(X)
#undef X
		STACK_WALKER_MAX
};

#define STACK_WALKER_ROOM 8 /* STACK_WALKER_MAX at most; a power of two up to 0x40 */

/*
 * Why a user stack ends where it does: symbol, name. The numbers are in files: rows are only
 * appended.
 */
#define STACK_ENDS(X)                                                                              \
	X(ROOT, "root") /* complete: the outermost frame */                                        \
	X(NONE, "none") /* there is no user stack: a thread of the kernel */                       \
	X(DEPTH, "depth") /* as many frames as were asked for */                                   \
	X(FAULT, "fault") /* memory that could not be read */                                      \
	X(BAD_FP, "bad_fp") /* a frame pointer that can be none */                                 \
	X(BAD_PC, "bad_pc") /* a return address that can be none */                                \
	X(COMPAT, "compat") /* a 32-bit program */                                                 \
	X(DEFERRED, "deferred") /* partial: sample_stack has the rest */                           \
	X(NEVER, "never") /* the same, but it never came */                                        \
	X(NO_MAP, "no_map") /* an address in no mapping that is known */                           \
	X(NO_TABLE, "no_table") /* the mapping's file has no unwind table yet */                   \
	X(NO_ROW, "no_row") /* the table says nothing of the address */                            \
	X(BAD_RULE, "bad_rule") /* a rule of the table that cannot be followed */                  \
	X(LOST_REG, "lost_reg") /* a rule needs a register that no frame has kept */               \
	X(BAD_SP, "bad_sp") /* a stack pointer that can be none */                                 \
	X(LOOP, "loop") /* from stack to stack, without an end */                                  \
	X(NEW, "new") /* nothing is known yet of the process's mappings */                         \
	X(SIGNAL, "signal") /* a signal's frame that the kernel was just giving or taking back */  \
	X(PROBE, "probe") /* code of a probe, of which the kernel does not tell where it returns   \
			   */

enum stack_end {
#define X(sym, name) STACK_END_##sym,
	STACK_ENDS(X)
#undef X
		STACK_END_MAX
};

#define STACK_END_ROOM 32 /* STACK_END_MAX at most; a power of two */

/* What made a sample: symbol, name. The numbers are in files: rows are only appended. */
#define SAMPLE_REASONS(X)                                                                          \
	X(CPU, "cpu") /* the clock, or a hardware counter */                                       \
	X(OFF_CPU, "off_cpu") /* the thread was off the CPU; this is where it left */              \
	X(PAGE_FAULT, "page_fault")                                                                \
	X(TRACEPOINT, "tracepoint")

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

/* Set in the number of a call of sample events: it is one of a 32-bit program. */
#define SAMPLE_CALL_IA32 (1u << 16)

#endif /* DRIVER_SHARED_STACK_H */
