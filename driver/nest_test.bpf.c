/* SPDX-License-Identifier: GPL-2.0 */
/* The driver, and a sampler whose records interrupt its writers wherever they are. */
#include "driver.bpf.c"

SEC("perf_event")
int sample(void *ctx)
{
	struct rec r;

	if (!begin_event(&r, ctx, SYSCALL_E, 0))
		return 0;
	put_u16(&r, 0);
	put_u16(&r, 0);
	return commit_event(&r);
}

/* The caller's memory, as much as it says, as the only parameter: the size is the record's. */
SEC("?tp_btf/sys_exit")
int fill_payload(u64 *ctx)
{
	u64 n = this_slot()->call.args[2];
	struct rec r;

	OPAQUE(n);
	if (n > cfg.snaplen)
		n = cfg.snaplen;
	if (!begin_call(&r, ctx, EVT_SYSCALL_E, 1, n))
		return 0;
	put_user_bytes(&r, arg(&r, 1), n, cfg.snaplen);
	return commit(&r);
}
