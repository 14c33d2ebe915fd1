/* SPDX-License-Identifier: GPL-2.0 */
/* Values of parameters made of a call's arguments, as the rows of syscalls.def say. */
#ifndef DRIVER_ARGS_BPF_H
#define DRIVER_ARGS_BPF_H

#include "writer.bpf.h"

#include "convert.h"

/*
 * @v, at most @max, of which the verifier is to know no more than that. Where ways through a
 * filler meet again with different knowledge, it would follow each of them to the end.
 */
static __always_inline u64 forget(struct drv_slot *slot, u64 v, u64 max)
{
	ONCE(slot->scratch) = v;
	v = ONCE(slot->scratch);
	OPAQUE(v);
	if (v > max)
		v = max;
	OPAQUE(v); /* 6.1: bounds are lost on what was spilled before the comparison */
	return v;
}

/* What a record with much text may be long before its end. */
#define REC_OFF_MAX (48u << 10)

/* Forgets how long the record is by now. */
static __always_inline void settle(struct rec *r)
{
	r->off = forget(r->slot, r->off, REC_OFF_MAX);
}

struct iovec {
	u64 base;
	u64 len;
};

/* struct user_msghdr; part of the ABI. */
struct user_msghdr {
	u64 name;
	u32 namelen, pad0;
	u64 iov;
	u64 iovlen;
	u64 control;
	u64 controllen;
	u32 flags, pad1;
};

static __always_inline u64 user_u64(u64 addr, u64 otherwise)
{
	u64 v;

	return addr && !bpf_probe_read_user(&v, sizeof(v), (void *)addr) ? v : otherwise;
}

static __always_inline s64 user_s32(u64 addr, s64 otherwise)
{
	s32 v;

	return addr && !bpf_probe_read_user(&v, sizeof(v), (void *)addr) ? v : otherwise;
}

/* struct timespec in ns; 0 if it cannot be read. */
static __always_inline u64 user_timespec(u64 addr)
{
	u64 ts[2];

	if (!addr || bpf_probe_read_user(ts, sizeof(ts), (void *)addr))
		return 0;
	return ts[0] * 1000000000ull + ts[1];
}

struct iovec_sum {
	u64 addr, count, sum;
};

static long iovec_add(u32 i, void *ctx)
{
	struct iovec_sum *s = ctx;
	struct iovec v;

	if (i >= s->count || bpf_probe_read_user(&v, sizeof(v), (void *)(s->addr + i * sizeof(v))))
		return 1;
	s->sum += v.len;
	return 0;
}

/* A function of its own to the verifier, as arg_number. */
__noinline u64 iovec_sum(u64 addr, u64 count)
{
	struct iovec_sum s = {.addr = addr, .count = count};

	bpf_loop(ARG_IOVEC_MAX, iovec_add, &s, 0);
	return s.sum;
}

static __always_inline u64 msghdr_sum(u64 addr)
{
	struct user_msghdr m;

	if (bpf_probe_read_user(&m, sizeof(m), (void *)addr))
		return 0;
	return iovec_sum(m.iov, m.iovlen);
}

#define VECTOR_MAX 8 /* pieces that data is gathered from */

/* Not with the record itself: what has its address taken is in memory, not in registers. */
struct gather {
	struct drv_slot *slot;
	u8 *to;
	u64 iov, count, left, got;
};

/* Takes one piece more. A callback of bpf_loop, whose body is checked once. */
static long gather_piece(u32 i, void *ctx)
{
	struct gather *g = ctx;
	u64 got = forget(g->slot, g->got, cfg.snaplen), n;
	struct iovec v;

	if (i >= g->count || got >= g->left ||
	    bpf_probe_read_user(&v, sizeof(v), (void *)(g->iov + i * sizeof(v))))
		return 1;
	n = written(v.len < g->left - got ? v.len : g->left - got, cfg.snaplen);
	if (n && bpf_probe_read_user(g->to + got, n, (void *)v.base))
		return 1;
	g->got = got + n;
	return 0;
}

/*
 * The first bytes of a buffer in pieces, as much as was transferred: @len of it, at most
 * snaplen, nothing if negative. begin was asked for snaplen.
 */
static __always_inline void put_user_vector(struct rec *r, u64 iov, u64 count, s64 len)
{
	struct gather g = {
		.slot = r->slot,
		.to = put_here(r),
		.iov = iov,
		.count = count,
		.left = len < 0 ? 0 : len,
	};

	if (g.left > cfg.snaplen)
		g.left = cfg.snaplen;
	bpf_loop(VECTOR_MAX, gather_piece, &g, 0);
	put_done(r, forget(r->slot, g.got, cfg.snaplen));
}

/*
 * The number that an argument is or points to. @beside: the argument before it for
 * ARG_OPEN_MODE, else the one after it. @failed: the call failed, or has not ended.
 * A function of its own to the verifier, which checks it once for all its callers.
 */
__noinline u64 arg_number(u32 kind, u64 v, u64 beside, u32 failed)
{
	switch (kind) {
	case ARG_IN64:
		return user_u64(v, 0);
	case ARG_TIMESPEC:
		return user_timespec(v);
	case ARG_SIGSET:
		return user_u64(v, 0);
	case ARG_IOVEC:
		return iovec_sum(v, beside);
	case ARG_MSGHDR:
		return msghdr_sum(v);
	case ARG_LIM64:
		return user_u64(v, -1);
	case ARG_LIM64_2ND:
		return v ? user_u64(v + 8, -1) : -1ull;
	case ARG_OUT64:
		return failed ? -1ull : user_u64(v, -1);
	case ARG_OUT64_2ND:
		return failed || !v ? -1ull : user_u64(v + 8, -1);
	case ARG_OUT32:
		return failed ? -1 : user_s32(v, -1);
	}
	return arg_value(kind, v, beside);
}

/* Field @off of the structure at @addr: true with its value. */
static __always_inline bool user_field(u32 kind, u64 addr, u32 off, u64 *v)
{
	u64 at[2] = {};
	u32 sz = 8;

	kind -= arg_is_out(kind) ? ARG_OUT_U16_AT : ARG_U16_AT;
	if (kind == 0)
		sz = 2;
	else if (kind <= ARG_S32_AT - ARG_U16_AT)
		sz = 4;
	else if (kind >= ARG_TIMESPEC_AT - ARG_U16_AT)
		sz = 16;
	if (!addr || bpf_probe_read_user(at, sz, (void *)(addr + off)))
		return false;
	*v = at[0];
	if (kind == ARG_S32_AT - ARG_U16_AT)
		*v = (s64)(s32)at[0];
	else if (kind == ARG_TIMESPEC_AT - ARG_U16_AT)
		*v = at[0] * 1000000000ull + at[1];
	else if (kind == ARG_TIMEVAL_AT - ARG_U16_AT)
		*v = at[0] * 1000000000ull + at[1] * 1000;
	return true;
}

#endif /* DRIVER_ARGS_BPF_H */
