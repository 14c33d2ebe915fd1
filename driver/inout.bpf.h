/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In/out arguments: numbers in the caller's memory that the call may overwrite, such as a timeout
 * with the time left, or an offset with the next one. They are copied at the enter of these calls
 * only, and the exit has the copy. The same for a call that was given one address to read from and
 * to write to (CALL_F_SAME): a signal mask, the times of a timer.
 */
#ifndef DRIVER_INOUT_BPF_H
#define DRIVER_INOUT_BPF_H

#include "args.bpf.h"
#include "untrusted.bpf.h"

/* Returns the index in drv_call.inout. No call has two in/out numbers at one argument, except SAME_
 * ones at different offsets. */
static __always_inline u32 inout_index(u32 arg, u32 off)
{
	return ((arg >> 1) + (off >> 3)) & 3; /* not ^: 6.1 loses its bounds */
}

static __always_inline void inout_store(struct drv_call *call, const struct call_row *row, u64 v)
{
	u32 at = inout_index(row->arg, row->off);

	call->inout[at] = v;
	call->flags |= CALL_F_INOUT << at;
}

/* Returns the value that argument @arg pointed to before the call; false: unreadable, or NULL. */
static __always_inline bool inout_value(const struct drv_call *call, u32 arg, u32 off, u64 *v)
{
	u32 at = inout_index(arg, off);

	*v = call->inout[at];
	return call->flags & CALL_F_INOUT << at;
}

/* Kinds copied at the enter. 1: of any call; 2: of calls with CALL_F_SAME. */
static const u8 inout_classes[128] = {
#define KEPT(kind, as) [ARG_##kind] = 1,
#define SAME(kind, as) [ARG_##kind] = 2,
	ARG_INOUT_KINDS(KEPT) ARG_SAME_KINDS(SAME)
#undef KEPT
#undef SAME
};

/* Returns whether the value of a row of this kind must come from the copy made at the enter. */
static __always_inline bool is_inout(const struct drv_call *call, u32 kind)
{
	return inout_classes[kind & 127] & (call->flags / CALL_F_SAME % 2 * 2 + 1);
}

/* Reads the value for a call that has not ended: its copy, or, if the page was missing at the
 * enter, the caller's memory, which is copied then. */
static __always_inline bool inout_read(struct drv_call *call, const struct call_row *row, u64 addr,
				       u64 *v)
{
	if (inout_value(call, row->arg, row->off, v))
		return true;
	if (!user_field(row->kind, addr, row->off, v))
		return false;
	inout_store(call, row, *v);
	return true;
}

static __always_inline bool is_exec_nr(u64 nr)
{
	return nr == NR_execve || nr == NR_execveat;
}

static __always_inline bool is_exec(const struct drv_call *call)
{
	return is_exec_nr(call->nr);
}

/* Stores the mm of @task at the enter of an exec, whose arguments are in the memory it replaces. */
static __always_inline void note_memory(struct task_struct *task, struct drv_call *call)
{
	if (is_exec(call))
		call->inout[0] = (u64)untrusted_task(task)->mm;
}

/* Returns where the text is that an argument of this CPU's call points to; UNREADABLE in the memory
 * of another program. Verified on its own. */
__noinline u64 text_addr(u64 addr)
{
	struct drv_call *call = &this_slot()->call;

	if (is_exec(call) && call->state != CALL_NO_ENTER &&
	    call->inout[0] != (u64)untrusted_task(bpf_get_current_task_btf())->mm)
		return UNREADABLE;
	return addr;
}

/* Copies the in/out numbers of @call at its enter. Verified on its own, as guard_fill. */
__noinline int inout_fill(struct drv_call *call)
{
	const struct row_range *rows;

	if (!call || call->nr >= DRV_MAX_NR)
		return -1;
	rows = &row_ranges[call->nr];
	for (u32 i = 0; i < CALL_ROWS_MAX && i < rows->n; i++) {
		const struct call_row *row = call_row_at(rows->first + i);
		u64 v;

		if (row->arg < 6 && is_inout(call, row->kind) &&
		    user_field(row->kind, call->args[row->arg], row->off, &v))
			inout_store(call, row, v);
	}
	return 0;
}

#endif /* DRIVER_INOUT_BPF_H */
