/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps numbers that an argument points to and that the call may overwrite: a timeout with the time
 * left, an offset with the next one. They are copied at the enter of these calls only, and the exit
 * has the copy. The same for memory that a call both reads and writes: a signal mask, the times of
 * a timer.
 */
#ifndef DRIVER_KEPT_BPF_H
#define DRIVER_KEPT_BPF_H

#include "args.bpf.h"

/* No call has two of them at one argument, except SAME_ ones at different offsets. */
static __always_inline u32 kept_at(u32 arg, u32 off)
{
	return ((arg >> 1) + (off >> 3)) & 3; /* not ^: 6.1 loses its bounds */
}

static __always_inline void keep(struct drv_call *call, const struct call_row *row, u64 v)
{
	u32 at = kept_at(row->arg, row->off);

	call->kept[at] = v;
	call->flags |= CALL_F_KEPT << at;
}

/* Returns the value that argument @arg pointed to before the call; false: unreadable, or NULL. */
static __always_inline bool kept_value(const struct drv_call *call, u32 arg, u32 off, u64 *v)
{
	u32 at = kept_at(arg, off);

	*v = call->kept[at];
	return call->flags & CALL_F_KEPT << at;
}

/* Which kinds are kept: for each call, and for those that write the memory they read. */
static const u8 kinds_that_are_kept[128] = {
#define KEPT(kind, as) [ARG_##kind] = 1,
#define SAME(kind, as) [ARG_##kind] = 2,
	ARG_KEPT_KINDS(KEPT) ARG_SAME_KINDS(SAME)
#undef KEPT
#undef SAME
};

/* Returns whether the value of a row of this kind is only known from the enter. */
static __always_inline bool is_kept(const struct drv_call *call, u32 kind)
{
	return kinds_that_are_kept[kind & 127] & (call->flags / CALL_F_SAME % 2 * 2 + 1);
}

/* The same for a call that has not ended: a value that was unreadable at the enter, because its
 * page was missing, may be readable now, and is kept then. */
static __always_inline bool kept_now(struct drv_call *call, const struct call_row *row, u64 addr,
				     u64 *v)
{
	if (kept_value(call, row->arg, row->off, v))
		return true;
	if (!user_field(row->kind, addr, row->off, v))
		return false;
	keep(call, row, *v);
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

/*
 * Runs at the enter of @call by @task: the arguments of an exec lie in the memory that it replaces.
 */
static __always_inline void note_memory(struct task_struct *task, struct drv_call *call)
{
	if (is_exec(call))
		call->kept[0] = (u64)task->mm;
}

/* Returns where the text is that an argument of this CPU's call points to; UNREADABLE in the memory
 * of another program. Verified on its own. */
__noinline u64 text_addr(u64 addr)
{
	struct drv_call *call = &this_slot()->call;

	if (is_exec(call) && call->state != CALL_NO_ENTER &&
	    call->kept[0] != (u64)bpf_get_current_task_btf()->mm)
		return UNREADABLE;
	return addr;
}

/* Runs at the enter of @call. Verified on its own, as guard_fill. */
__noinline int kept_fill(struct drv_call *call)
{
	const struct row_range *rows;

	if (!call || call->nr >= DRV_MAX_NR)
		return -1;
	rows = &row_ranges[call->nr];
	for (u32 i = 0; i < CALL_ROWS_MAX && i < rows->n; i++) {
		const struct call_row *row = call_row_at(rows->first + i);
		u64 v;

		if (row->arg < 6 && is_kept(call, row->kind) &&
		    user_field(row->kind, call->args[row->arg], row->off, &v))
			keep(call, row, v);
	}
	return 0;
}

#endif /* DRIVER_KEPT_BPF_H */
