/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sampling by the sampling ratio (--sampling): records only the first part of each second, except
 * for calls that change the state of threads and files. A call belongs to the time of its enter.
 * The events DROP_E and DROP_X report that recording pauses and resumes, at the first call in the
 * new phase on any CPU.
 */
#ifndef DRIVER_SAMPLING_BPF_H
#define DRIVER_SAMPLING_BPF_H

#include "enter.bpf.h"

#define SECOND_NS 1000000000ull

/* Returns whether the call @nr is left out while recording pauses. */
static __always_inline bool is_sampled(u32 nr, bool ia32)
{
	return cfg.sampling && !call_in(&cfg.keeps, nr, ia32);
}

static __always_inline void send_pause(void *ctx)
{
	struct rec r;

	if (!begin_event(&r, ctx, DROP_E, 0))
		return;
	put_u32(&r, cfg.sampling);
	commit_event(&r);
}

static __always_inline void send_resume(void *ctx)
{
	struct rec r;

	if (!begin_event(&r, ctx, DROP_X, 0))
		return;
	put_u32(&r, cfg.sampling);
	commit_event(&r);
}

/* Returns whether recording pauses now. No call is open on this CPU yet. */
static __always_inline bool sampling_pauses(void *ctx)
{
	u64 now = bpf_ktime_get_boot_ns() + cfg.epoch_offset;
	u32 off = now % SECOND_NS >= SECOND_NS / cfg.sampling;

	if (ONCE(sampling_off) != off &&
	    __sync_val_compare_and_swap(&sampling_off, !off, off) == !off) {
		if (off)
			send_pause(ctx);
		else
			send_resume(ctx);
	}
	return off;
}

#endif /* DRIVER_SAMPLING_BPF_H */
