/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers that an argument points to and that the call may overwrite: a timeout by the time that is
 * left, an offset by the one behind what was copied. They are copied when the call enters, for
 * these calls only, and the exit tells the copy.
 */
#ifndef DRIVER_KEPT_BPF_H
#define DRIVER_KEPT_BPF_H

#include "args.bpf.h"

/* No call has two of them at arguments of one place. */
static __always_inline u32 kept_at(u32 arg)
{
	return arg >> 1 & 1;
}

static __always_inline void keep(struct drv_call *call, u32 arg, u64 v)
{
	call->kept[kept_at(arg)] = v;
	call->flags |= CALL_F_KEPT << kept_at(arg);
}

/* What argument @arg pointed to before the call; false: it was not readable, or NULL. */
static __always_inline bool kept_value(const struct drv_call *call, u32 arg, u64 *v)
{
	*v = call->kept[kept_at(arg)];
	return call->flags & CALL_F_KEPT << kept_at(arg);
}

/* The same of a call that has not ended: what was not readable at the enter, because the page was
 * missing, can be by now, and then is kept. */
static __always_inline bool kept_now(struct drv_call *call, const struct call_row *row, u64 addr,
				     u64 *v)
{
	if (kept_value(call, row->arg, v))
		return true;
	if (!user_field(row->kind, addr, row->off, v))
		return false;
	keep(call, row->arg, *v);
	return true;
}

/* At the enter of @call. A function of its own to the verifier, as guard_fill. */
__noinline int kept_fill(struct drv_call *call)
{
	const struct row_range *rows;

	if (!call || call->nr >= DRV_MAX_NR)
		return -1;
	rows = &row_ranges[call->nr];
	for (u32 i = 0; i < CALL_ROWS_MAX && i < rows->n; i++) {
		const struct call_row *row = call_row_at(rows->first + i);
		u64 v;

		if (row->arg < 6 && ARG_IS_KEPT(row->kind) &&
		    user_field(row->kind, call->args[row->arg], row->off, &v))
			keep(call, row->arg, v);
	}
	return 0;
}

#endif /* DRIVER_KEPT_BPF_H */
