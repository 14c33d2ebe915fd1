/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic filler: writes the result and then the rows of syscalls.def, for all calls whose row
 * has the filler auto.
 */
#include "args.bpf.h"
#include "put_row.bpf.h"

/* Bytes of each parameter of an event; 0: the size varies. */
static const u8 param_sizes[EVT_ROWS_MAX][EVT_MAX_PARAMS] = {
#define P(name, type, fmt) PSZ_##type,
#define PX(name, type, fmt, table) PSZ_##type,
#define PR(name, type, fmt, dirfd) PSZ_##type,
#define PL(name, list) PSZ_LIST,
#define O P
#define OX PX
#define OL PL
#define EVT(id, sym, name, category, flags, n_2022, ...) [EVT_INDEX(id)] = {__VA_ARGS__},
#include "events.def"
#include "undef_rows.h"
};

/* The part of the record that a round needs. A struct rec whose address is passed to bpf_loop would
 * be in memory, where the verifier tracks less of it. */
struct auto_fill {
	u8 *base;
	struct drv_slot *slot;
	const u8 *sizes; /* of the parameters; the first one is the result */
	s64 ret;
	u64 off;
	u32 first; /* row */
	bool own; /* one of saker's own events */
};

/* Puts parameter @i. A callback of bpf_loop, whose body the verifier checks once. */
static long auto_step(u32 i, void *ctx)
{
	struct auto_fill *f = ctx;
	u32 at = i & (CALL_ROWS_MAX - 1);
	const struct call_row *row = call_row_at(f->first + at);
	struct rec r = {
		.base = f->base,
		.slot = f->slot,
		.ret = f->ret,
		.off = bounded(f->off, REC_OFF_MAX),
		.n = at + 1,
		.n_params = CALL_ROWS_MAX + 1,
	};
	const struct row_target t = {.ended = true, .own = f->own, .sz = f->sizes[at + 1]};

	put_row(&r, row, &t);
	f->off = widen(r.slot, r.off, REC_OFF_MAX);
	return 0;
}

/* Writes the record of the claimed call. */
static __always_inline int fill_by_rows(u64 *ctx)
{
	u32 nr = this_slot()->call.nr & (DRV_MAX_NR - 1);
	const struct row_range *rows = &row_ranges[nr];
	u32 type = nr_event[nr];
	struct auto_fill f = {
		.sizes = param_sizes[EVT_INDEX(type) & (EVT_ROWS_MAX - 1)],
		.first = rows->first,
		.own = type >= EVT_OWN_CALL,
	};
	u32 n = rows->n & 31;
	struct rec r;

	if (!begin_call(&r, ctx, type, n + 1, 8 * (CALL_ROWS_MAX + 2) + rows->n_texts * PATH_SZ))
		return 0;
	put_number(&r, r.ret, f.sizes[0]);
	f.base = r.base;
	f.slot = r.slot;
	f.ret = r.ret;
	f.off = r.off;
	bpf_loop(n, auto_step, &f, 0);
	r.off = widen(r.slot, f.off, REC_OFF_MAX);
	r.n = r.n_params; /* all were put; 6.1 would follow commit's loop over missing ones */
	return commit(&r);
}

SEC("?tp_btf/sys_exit")
int fill_auto(u64 *ctx)
{
	return call_claim() ? fill_by_rows(ctx) : 0;
}
