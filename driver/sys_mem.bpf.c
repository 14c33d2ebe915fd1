/* SPDX-License-Identifier: GPL-2.0 */
/* Filler of brk, mmap and munmap, whose events have the size of the address space afterwards. */
#include "args.bpf.h"
#include "task.bpf.h"

_Static_assert(EVT_GOES_ON(MUNMAP_X, BRK_X, 1) && EVT_GOES_ON(MMAP_X, BRK_X, 6),
	       "and a length, and five more");

/* Serves brk, munmap and mmap. */
SEC("?tp_btf/sys_exit")
int fill_mmap(u64 *ctx)
{
	struct rec r;

	if (!begin_like(&r, ctx, EVT_MMAP_X_FIXED_SZ))
		return 0;
	put_s64(&r, r.ret);
	put_vm(&r, bpf_get_current_task_btf());
	put_u64(&r, arg(&r, 0));
	if (call_nr(&r) != NR_brk)
		put_u64(&r, arg(&r, 1));
	widen_like(&r);
	if (call_nr(&r) == NR_mmap) {
		put_u32(&r, convert_prot(arg(&r, 2)));
		put_u32(&r, convert_mmap_flags(arg(&r, 3)));
		put_fd(&r, arg(&r, 4));
		put_u64(&r, arg(&r, 5));
		put_raw32(&r, arg(&r, 3), MMAP_FLAGS_NAMED);
	}
	return commit_like(&r);
}
