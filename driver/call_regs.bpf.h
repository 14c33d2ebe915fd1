/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the number and arguments of a call from the caller's registers. */
#ifndef DRIVER_CALL_REGS_BPF_H
#define DRIVER_CALL_REGS_BPF_H

#include "compiler.bpf.h"
#include "shared/record.h"

/* Returns the call number as records carry it. No larger number is a known call (x32 has bit 30
 * set): cut to 16 bits it would look like another call. */
static __always_inline u32 rec_nr(u32 nr)
{
	if (nr > REC_NR_NONE)
		nr = REC_NR_NONE;
	OPAQUE(nr); /* otherwise the compared value is not the one used as index */
	return nr;
}

static __always_inline void note_args(u64 *args, const struct pt_regs *regs, bool ia32)
{
	if (ia32) {
		args[0] = (u32)regs->bx;
		args[1] = (u32)regs->cx;
		args[2] = (u32)regs->dx;
		args[3] = (u32)regs->si;
		args[4] = (u32)regs->di;
		args[5] = (u32)regs->bp;
		return;
	}
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
}

#endif /* DRIVER_CALL_REGS_BPF_H */
