/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * A row of an unwind table: how to find the caller's registers, for the code from its address to
 * the next row. libscap builds the rows of a file, sorted by pc; the driver searches them.
 *
 * The CFA of a frame is the value of rsp in the caller. The return address lies right below it; rbp
 * and rbx, if the function saved them, somewhere below. No other register is followed: where
 * another one is the base of a CFA, its value is known only in the frame where the program was
 * interrupted.
 */
#ifndef DRIVER_SHARED_UNWIND_ROW_H
#define DRIVER_SHARED_UNWIND_ROW_H

#include <linux/types.h>

struct unwind_row {
	__u32 pc; /* offset in the file: only the bias of a mapping is needed to compare it with an
		     address */
	__u16 cfa; /* in units of 8 bytes, unless the kind says otherwise */
	__u8 kind; /* enum unwind_kind, and UNWIND_F_* */
	__u8 saved; /* UNWIND_SAVED(): where rbp and rbx are */
};

/* The first sixteen are DWARF register numbers: the CFA is that register plus cfa. */
enum unwind_kind {
	UNWIND_RDX = 1,
	UNWIND_RBX = 3,
	UNWIND_RSI = 4,
	UNWIND_RBP = 6,
	UNWIND_RSP = 7,
	UNWIND_REGS = 16, /* kinds below are registers */
	UNWIND_RSP_FAR = 16, /* rsp, plus cfa and UNWIND_FAR */
	UNWIND_PLT, /* rsp plus 8, and 8 more if the low four bits of the pc are at least cfa */
	UNWIND_DEREF_RBP, /* memory at rbp plus UNWIND_DEREF_AT, plus UNWIND_DEREF_ADD */
	UNWIND_DEREF_RSP, /* the same with rsp */
	UNWIND_SIGNAL, /* a signal frame: a struct ucontext with all registers lies at rsp */
	UNWIND_END, /* the outermost frame of a thread: no caller */
	UNWIND_NONE, /* no rule for this code */
	UNWIND_RA_REG, /* the return address is in a register: UNWIND_RA_REG_CFA. The CFA is based
			  on rsp */
	UNWIND_ODD, /* a rule that a row cannot express */
	UNWIND_GO_SWITCH, /* Go's switch to the system stack: UNWIND_GO_CFA, UNWIND_GO_TLS */
	UNWIND_PROBE, /* never in a row: the driver's rule for [uprobes] */
	UNWIND_KIND_MAX,
};

#define UNWIND_KIND_MASK 0x1f
/* rbp and rbx are saved relative to rbp, not to the CFA: code that aligned its stack. */
#define UNWIND_F_AT_RBP 0x20
/* Never in a row: the driver sets it in the rule of an address in an interpreter's loop. */
#define UNWIND_F_LOOP 0x40

#define UNWIND_FAR 0x10000u

/* cfa of UNWIND_DEREF_*: 13 bits of signed offset, and 3 of the number added; units of 8. */
#define UNWIND_DEREF_CFA(at, add) ((__u16)((__u32)(at) << 3 | (add)))
#define UNWIND_DEREF_AT(cfa) ((__s16)(cfa) >> 3)
#define UNWIND_DEREF_ADD(cfa) ((cfa)&7)

/* cfa of UNWIND_RA_REG: 4 bits of register, the rest is added to rsp. */
#define UNWIND_RA_REG_CFA(reg, words) ((__u16)((words) << 4 | (reg)))
#define UNWIND_RA_REG_REG(cfa) ((cfa)&15)
#define UNWIND_RA_REG_WORDS(cfa) ((cfa) >> 4)

/*
 * UNWIND_GO_SWITCH: the address of g lies this many words (saved) below the thread pointer; m at
 * g_m in it; the g that left at curg in that; and its rsp at g_sp: all in units of 8 bytes. The
 * return address lies there.
 */
#define UNWIND_GO_CFA(g_m, g_sp, curg) ((__u16)((g_m) | (g_sp) << 4 | (curg) << 8))
#define UNWIND_GO_G_M(cfa) ((cfa)&15)
#define UNWIND_GO_G_SP(cfa) ((cfa) >> 4 & 15)
#define UNWIND_GO_CURG(cfa) ((cfa) >> 8)

/*
 * Where rbp and rbx are, four bits each: n words below the CFA. 0: the register is unchanged; 1,
 * the slot of the return address: its value is lost. With UNWIND_F_AT_RBP: rbp in the memory at
 * rbp, rbx n words below that.
 */
#define UNWIND_SAVED(rbp, rbx) ((__u8)((rbp) | (rbx) << 4))
#define UNWIND_SAVED_RBP(saved) ((saved)&15)
#define UNWIND_SAVED_RBX(saved) ((saved) >> 4)
#define UNWIND_UNTOUCHED 0
#define UNWIND_LOST 1
#define UNWIND_SAVED_MAX 15

/* Layout of a signal frame, from rsp on: flags of struct ucontext, 0 for a link, ... */
#define UNWIND_SIGNAL_FLAGS 7ull /* the only known flags */
/* ... mcontext's r8 to r15, di, si, bp, bx, dx, ax, cx, sp, ip, ... */
#define UNWIND_SIGNAL_REGS_AT 40
/* ... and the siginfo. */
#define UNWIND_SIGNAL_INFO_AT 304

#endif /* DRIVER_SHARED_UNWIND_ROW_H */
