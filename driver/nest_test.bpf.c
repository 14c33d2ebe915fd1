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
