/* SPDX-License-Identifier: GPL-2.0 */
/* Fills read, write, pread64, pwrite64 and close in sys_exit: their rows in syscalls.def have the
 * filler inline. */
#include "args.bpf.h"

/* Result, data, fd, size. */
static __always_inline void put_io(struct rec *r)
{
	put_s64(r, r->ret);
	put_moved(r, arg(r, 1));
	put_fd(r, arg(r, 0));
	put_u32(r, arg(r, 2));
}

_Static_assert(EVT_GOES_ON(WRITE_X, READ_X, 0), "read and write have the same parameters");

static __always_inline int fill_io(u64 *ctx, u32 type)
{
	struct rec r;

	if (!begin_call(&r, ctx, type, EVT_READ_X_NPARAMS, EVT_READ_X_FIXED_SZ + data_room(ctx)))
		return 0;
	put_io(&r);
	return commit(&r);
}

_Static_assert(EVT_GOES_ON(PWRITE_X, PREAD_X, 0), "pread64 and pwrite64 have the same parameters");

static __always_inline int fill_io_at(u64 *ctx, u32 type)
{
	struct rec r;

	if (!begin_call(&r, ctx, type, EVT_PREAD_X_NPARAMS, EVT_PREAD_X_FIXED_SZ + data_room(ctx)))
		return 0;
	put_io(&r);
	put_u64(&r, arg(&r, 3));
	return commit(&r);
}

static __always_inline int fill_close(u64 *ctx)
{
	struct rec r;

	if (!begin_call(&r, ctx, EVT_CLOSE_X, EVT_CLOSE_X_NPARAMS, EVT_CLOSE_X_FIXED_SZ))
		return 0;
	put_s64(&r, r.ret);
	put_fd(&r, arg(&r, 0));
	return commit(&r);
}
