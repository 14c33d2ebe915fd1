/* SPDX-License-Identifier: GPL-2.0 */
/* The driver, with a sampler whose records interrupt its writers at any instruction. */
#define NEVER_PREEMPTIBLE
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

/* Sends the enter of a call. ctx: its number, whether it is a 32-bit call, its arguments. */
SEC("?raw_tp")
int send_any(u64 *ctx)
{
	struct drv_slot *slot = this_slot();

	slot->call.nr = slot->call.raw_nr = ctx[0];
	slot->call.flags = ctx[1] ? REC_F_IA32 : 0;
#pragma unroll
	for (int i = 0; i < 6; i++)
		slot->call.args[i] = ctx[2 + i];
	if (ctx[1])
		ia32_arrange();
	slot->call.ts = bpf_ktime_get_boot_ns();
	slot->call.state = CALL_OPEN;
	send_enter(ctx, this_ring(), slot, bpf_get_current_task_btf(), rows_of(&slot->call),
		   REC_F_BLOCKED);
	return 0;
}

/* Writes a record whose only parameter is caller memory: the caller sets the record's size. */
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
