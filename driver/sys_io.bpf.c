/* SPDX-License-Identifier: GPL-2.0 */
/* Fillers of read, write, pread64 and pwrite64. Rows of syscalls.def name the filler of a call. */
#include "args.bpf.h"

/* Serves read and write: result, data, fd, size. */
static __always_inline void put_io(struct rec *r)
{
	put_s64(r, r->ret);
	put_moved(r, arg(r, 1));
	put_fd(r, arg(r, 0));
	put_u32(r, arg(r, 2));
}

SEC("?tp_btf/sys_exit")
int fill_read(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, READ_X, data_room(ctx)))
		return 0;
	put_io(&r);
	return commit(&r);
}

SEC("?tp_btf/sys_exit")
int fill_write(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, WRITE_X, data_room(ctx)))
		return 0;
	put_io(&r);
	return commit(&r);
}

_Static_assert(EVT_GOES_ON(PWRITE_X, PREAD_X, 0), "one filler for both");

/* Serves pread64 and pwrite64. */
SEC("?tp_btf/sys_exit")
int fill_pread(u64 *ctx)
{
	struct rec r;

	if (!begin_like(&r, ctx, EVT_PREAD_X_FIXED_SZ + data_room(ctx)))
		return 0;
	put_io(&r);
	put_u64(&r, arg(&r, 3));
	return commit_like(&r);
}

SEC("?tp_btf/sys_exit")
int fill_close(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, CLOSE_X, 0))
		return 0;
	put_s64(&r, r.ret);
	put_fd(&r, arg(&r, 0));
	return commit(&r);
}
