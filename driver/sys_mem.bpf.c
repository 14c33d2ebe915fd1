/* SPDX-License-Identifier: GPL-2.0 */
/* Calls that change an address space, whose events tell its size afterwards. */
#include "args.bpf.h"
#include "task.bpf.h"

SEC("?tp_btf/sys_exit")
int fill_brk(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, BRK_X, 0))
		return 0;
	put_s64(&r, r.ret);
	put_vm(&r, bpf_get_current_task_btf());
	put_u64(&r, arg(&r, 0));
	return commit(&r);
}

SEC("?tp_btf/sys_exit")
int fill_munmap(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, MUNMAP_X, 0))
		return 0;
	put_s64(&r, r.ret);
	put_vm(&r, bpf_get_current_task_btf());
	put_u64(&r, arg(&r, 0));
	put_u64(&r, arg(&r, 1));
	return commit(&r);
}

SEC("?tp_btf/sys_exit")
int fill_mmap(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, MMAP_X, 0))
		return 0;
	put_s64(&r, r.ret);
	put_vm(&r, bpf_get_current_task_btf());
	put_u64(&r, arg(&r, 0));
	put_u64(&r, arg(&r, 1));
	put_u32(&r, convert_prot(arg(&r, 2)));
	put_u32(&r, convert_mmap_flags(arg(&r, 3)));
	put_fd(&r, arg(&r, 4));
	put_u64(&r, arg(&r, 5));
	return commit(&r);
}
