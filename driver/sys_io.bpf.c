/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls that move data, and those that make and close descriptors of files.
 * The rows of syscalls.def name the program that fills the record of a call.
 */
#include "writer.bpf.h"

/* What of the data is kept: as much as was moved, so that no room has to be given back. */
static __always_inline u64 io_room(const u64 *ctx)
{
	return written(ctx[1], cfg.snaplen);
}

/* read, write: result, data, fd, size. */
static __always_inline void put_io(struct rec *r)
{
	put_s64(r, r->ret);
	put_user_bytes(r, arg(r, 1), r->ret, cfg.snaplen);
	put_fd(r, arg(r, 0));
	put_u32(r, arg(r, 2));
}

SEC("?tp_btf/sys_exit")
int fill_read(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, READ_X, io_room(ctx)))
		return 0;
	put_io(&r);
	return commit(&r);
}

SEC("?tp_btf/sys_exit")
int fill_write(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, WRITE_X, io_room(ctx)))
		return 0;
	put_io(&r);
	return commit(&r);
}

SEC("?tp_btf/sys_exit")
int fill_pread(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, PREAD_X, io_room(ctx)))
		return 0;
	put_io(&r);
	put_u64(&r, arg(&r, 3));
	return commit(&r);
}

SEC("?tp_btf/sys_exit")
int fill_pwrite(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, PWRITE_X, io_room(ctx)))
		return 0;
	put_io(&r);
	put_u64(&r, arg(&r, 3));
	return commit(&r);
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
