/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One filler for all calls whose exit is the result and then what the arguments say:
 * the rows of syscalls.def with the filler auto.
 */
#include "args.bpf.h"
#include "guard.bpf.h"

/* Bytes of each parameter of an event; 0: it varies. */
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

/* A number in the size of its parameter: 1, 2, 4 or 8 bytes of the 8 that are written. */
static __always_inline void put_number(struct rec *r, u64 v, u32 sz)
{
	if (!put_len(r, sz))
		return;
	store64(put_here(r), v);
	r->off += sz & 15;
}

static __always_inline void put_field(struct rec *r, const struct call_row *p, u32 sz)
{
	u64 v;

	if ((arg_is_out(p->kind) && r->ret < 0) ||
	    !user_field(p->kind, arg_or_0(r, p->arg), p->off, &v)) {
		put_empty(r);
		return;
	}
	put_number(r, v, sz);
}

static __always_inline void put_kept(struct rec *r, const struct call_row *p, u32 sz)
{
	u64 v;

	if (kept_value(&r->slot->call, p->arg, p->off, &v))
		put_number(r, v, sz);
	else
		put_empty(r);
}

/* Data is kept as far as text is: the record has as much room for either. */
static __always_inline void put_data(struct rec *r, u64 addr, s64 len)
{
	put_user_bytes_apart(r, addr, len > cfg.snaplen ? cfg.snaplen : len, PATH_SZ);
}

/* What the call wrote: as many units as its result says, if there was room for them. */
static __always_inline void put_out_data(struct rec *r, u64 addr, s64 room, u32 unit)
{
	put_data(r, addr, (r->ret < room ? r->ret : room) * unit);
}

/* Bytes that the field at @addr points to: how many, the u32 behind it says, or of what the call
 * wrote its result. */
static __always_inline void put_data_of(struct rec *r, u64 addr, bool out)
{
	u64 v[2] = {};
	s64 len;

	bpf_probe_read_user(v, sizeof(v), (void *)addr);
	len = (u32)v[1];
	put_data(r, v[0], out && r->ret < len ? r->ret : len);
}

static __always_inline void put_string(struct rec *r, u64 addr, bool own)
{
	put_user_text_or(r, addr, own ? UNREADABLE_IS_NOTHING : UNREADABLE_IS_NA);
}

/* An array, of which a call that writes it has filled no more than its result says. */
static __always_inline void put_array(struct rec *r, u32 kind, u64 addr, u32 off)
{
	s64 n = (s32)arg_or_0(r, LEN_ARG(off));

	if (kind == ARG_OUT_ARRAY && r->ret < n)
		n = r->ret;
	put_user_bytes_apart(r, addr, n * LEN_SIZE(off), ARG_ARRAY_MAX);
}

/* Does the row hold for this call? */
static __always_inline bool row_applies(const struct rec *r, const struct call_row *p)
{
	if (!p->when)
		return true;
	return when_holds(p->when, p->bits,
			  p->when_arg == ARG_OF_RESULT ? (u64)r->ret : arg_or_0(r, p->when_arg));
}

/* An argument, or one of the numbers that are none: of a list's elements. */
static __always_inline s64 number_of(const struct rec *r, u32 i)
{
	if (i == ARG_OF_RESULT)
		return r->ret;
	if (i == PAGES)
		return (arg(r, 1) + 4095) >> 12;
	return i == ONE ? 1 : arg_or_0(r, i);
}

static __always_inline bool out_failed(const struct rec *r, u32 kind)
{
	return arg_is_out(kind) && r->ret < 0;
}

static __always_inline void put_auto(struct rec *r, const struct call_row *p, u32 sz, bool own)
{
	u32 kind = p->kind, index = p->arg;
	u64 v = arg_or_0(r, index);
	u64 beside = arg_or_0(r, kind == ARG_OPEN_MODE ? index - 1 : index + 1);

	if (!row_applies(r, p) || (kind == ARG_RESULT && r->ret < 0)) {
		put_empty(r);
		return;
	}
	if (is_kept(&r->slot->call, kind)) {
		put_kept(r, p, sz);
		return;
	}
	if (arg_is_field(kind)) {
		put_field(r, p, sz);
		return;
	}
	if (kind == ARG_BYTES) {
		put_data(r, v + p->off, beside);
		return;
	}
	if (kind == ARG_OUT_BYTES || kind == ARG_OUT_U64S) {
		put_out_data(r, v + p->off, beside, kind == ARG_OUT_U64S ? sizeof(u64) : 1);
		return;
	}
	if (kind == ARG_BYTES_OF || kind == ARG_OUT_BYTES_OF) {
		put_data_of(r, v + p->off, kind == ARG_OUT_BYTES_OF);
		return;
	}
	if (kind == ARG_LIST || kind == ARG_OUT_LIST) {
		put_elements(r, v, out_failed(r, kind) ? -1 : number_of(r, p->count), p->off);
		return;
	}
	if (kind == ARG_OUT_SELECT_FDS) {
		if (r->ret < 0)
			put_empty(r);
		else
			put_select_fds(r);
		return;
	}
	if (kind == ARG_ARRAY || kind == ARG_OUT_ARRAY) {
		put_array(r, kind, v, p->off);
		return;
	}
	if (kind == ARG_TEXT || kind == ARG_OUT_TEXT) {
		put_text(r, v, kind == ARG_TEXT ? (s32)beside : r->ret);
		return;
	}
	if (kind == ARG_RESULT) {
		put_number(r, r->ret, sz);
		return;
	}
	if (kind == ARG_PATH && !p->off && put_guarded(r, index))
		return;
	if (kind == ARG_PATH || kind == ARG_PATH_OUT) {
		put_string(r, kind == ARG_PATH || r->ret >= 0 ? v + p->off : 0, own);
		return;
	}
	put_number(r, arg_number(kind, v, beside, r->ret < 0), sz);
}

/* What a round needs of the record: one whose address is taken is in memory, and there
 * the verifier knows less of it. */
struct auto_fill {
	u8 *base;
	struct drv_slot *slot;
	const u8 *sizes; /* of the parameters; the first is the result */
	s64 ret;
	u64 off;
	u32 first; /* row */
	bool own; /* one of saker's own events */
};

/* Puts parameter @i. A callback of bpf_loop, whose body is checked once. */
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

	put_auto(&r, row, f->sizes[at + 1], f->own);
	f->off = forget(r.slot, r.off, REC_OFF_MAX);
	return 0;
}

/* The call is claimed. */
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
	r.off = forget(r.slot, f.off, REC_OFF_MAX);
	r.n = r.n_params; /* so they are; 6.1 would follow commit's look for missing ones */
	return commit(&r);
}

SEC("?tp_btf/sys_exit")
int fill_auto(u64 *ctx)
{
	return call_claim() ? fill_by_rows(ctx) : 0;
}
