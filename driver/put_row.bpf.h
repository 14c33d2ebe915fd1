/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Puts the parameter that a row of syscalls.def describes: into the exit record of a call that
 * fill_auto serves, and into raw enters.
 */
#ifndef DRIVER_PUT_ROW_BPF_H
#define DRIVER_PUT_ROW_BPF_H

#include "args.bpf.h"
#include "guard.bpf.h"
#include "inout.bpf.h"
#include "writer.bpf.h"

/* The record that a row is put into. For a raw enter, rec.ret is negative: the call has not written
 * its results yet, as if it had failed. */
struct row_target {
	bool ended; /* an exit record, not a raw enter */
	bool own; /* the event is one of saker's own: unreadable text is empty, not "<NA>" */
	struct guard *guard; /* raw enter: the copied paths; NULL: none */
	u32 sz; /* bytes of the parameter; 0: it varies */
};

/* A number in the size of its parameter: 1, 2, 4 or 8 bytes of the 8 that are written. */
static __always_inline void put_number(struct rec *r, u64 v, u32 sz)
{
	if (!put_len(r, sz))
		return;
	store64(put_here(r), v);
	r->off += sz & 15;
}

static __always_inline bool out_failed(const struct rec *r, u32 kind)
{
	return arg_is_out(kind) && r->ret < 0;
}

/* Returns whether the condition of row @p holds. */
static __always_inline bool row_applies(const struct rec *r, const struct call_row *p)
{
	if (!p->when)
		return true;
	return when_holds(p->when, p->bits,
			  p->when_arg == ARG_OF_RESULT ? (u64)r->ret : arg_or_0(r, p->when_arg));
}

/* Puts the field or in/out number that a row points to; no value if unreadable. */
static __always_inline void put_pointed_number(struct rec *r, const struct call_row *p,
					       const struct row_target *t, u64 addr)
{
	struct drv_call *call = &r->slot->call;
	bool found;
	u64 v;

	if (!is_inout(call, p->kind))
		found = !out_failed(r, p->kind) && user_field(p->kind, addr, p->off, &v);
	else if (t->ended)
		found = inout_value(call, p->arg, p->off, &v);
	else
		found = inout_read(call, p, addr, &v);
	if (found)
		put_number(r, v, t->sz);
	else
		put_empty(r);
}

/* Returns the number of elements of a list: argument @i, the result, PAGES or ONE. */
static __always_inline s64 list_count(const struct rec *r, u32 i)
{
	if (i == ARG_OF_RESULT)
		return r->ret;
	if (i == PAGES)
		return (arg(r, 1) + 4095) >> 12;
	return i == ONE ? 1 : arg_or_0(r, i);
}

static __always_inline s64 at_most(s64 n, s64 max)
{
	return n < max ? n : max;
}

/* Bytes in the caller's memory. */
struct user_bytes {
	u64 addr;
	s64 len; /* negative: none */
	u64 max;
};

/* Returns the bytes that the field at @addr points to. The u32 behind the field is their length;
 * with
 * @out, the size of a buffer that has as many bytes as the result says. */
static __always_inline struct user_bytes bytes_of_field(const struct rec *r, u64 addr, bool out)
{
	u64 v[2] = {};
	s64 len;

	bpf_probe_read_user(v, sizeof(v), (void *)addr);
	len = (u32)v[1];
	return (struct user_bytes){v[0], at_most(out ? at_most(r->ret, len) : len, cfg.snaplen),
				   PATH_SZ};
}

/* Sets @b to the bytes that row @p points to, at most snaplen of data, for kinds that raw enters
 * carry, too. False: the kind is not one of bytes with a length. */
static __always_inline bool carried_bytes(const struct rec *r, const struct call_row *p, u64 addr,
					  s64 beside, struct user_bytes *b)
{
	u64 n;

	switch (p->kind) {
	case ARG_BYTES:
		*b = (struct user_bytes){addr + p->off, at_most(beside, cfg.snaplen), PATH_SZ};
		return true;
	case ARG_LIST:
		n = written(list_count(r, p->count), ARG_LIST_MAX);
		*b = (struct user_bytes){addr, n * p->off, ARG_LIST_MAX};
		return true;
	case ARG_ARRAY:
		n = (s64)(s32)arg_or_0(r, LEN_ARG(p->off)) * LEN_SIZE(p->off);
		*b = (struct user_bytes){addr, n, ARG_ARRAY_MAX};
		return true;
	case ARG_SOCKADDR:
		*b = (struct user_bytes){addr, (s32)beside, ARG_SOCKADDR_MAX};
		return true;
	case ARG_POLLFDS:
		*b = (struct user_bytes){addr, (s64)(u32)beside * 8, ARG_POLLFDS_MAX * 8};
		return true;
	}
	return false;
}

/* The same for kinds that only exits have. After a failed call the length is negative: no bytes. */
static __always_inline bool exit_bytes(const struct rec *r, const struct call_row *p, u64 addr,
				       s64 beside, struct user_bytes *b)
{
	s64 n;

	switch (p->kind) {
	case ARG_OUT_BYTES:
	case ARG_OUT_U64S:
		n = at_most(r->ret, beside) * (p->kind == ARG_OUT_U64S ? sizeof(u64) : 1);
		*b = (struct user_bytes){addr + p->off, at_most(n, cfg.snaplen), PATH_SZ};
		return true;
	case ARG_BYTES_OF:
	case ARG_OUT_BYTES_OF:
		*b = bytes_of_field(r, addr + p->off, p->kind == ARG_OUT_BYTES_OF);
		return true;
	case ARG_OUT_LIST:
		n = r->ret < 0 ? 0 : written(list_count(r, p->count), ARG_LIST_MAX);
		*b = (struct user_bytes){addr, n * p->off, ARG_LIST_MAX};
		return true;
	case ARG_OUT_ARRAY:
		n = at_most((s32)arg_or_0(r, LEN_ARG(p->off)), r->ret);
		*b = (struct user_bytes){addr, n * LEN_SIZE(p->off), ARG_ARRAY_MAX};
		return true;
	}
	return false;
}

/* Puts the path at @addr, or its copy from the call's enter, if there is one. After a failed call,
 * a path that the call writes counts as unreadable. */
static __always_inline void put_row_path(struct rec *r, const struct call_row *p,
					 const struct row_target *t, u64 addr)
{
	const u8 *copy = NULL;

	if (!t->ended) {
		copy = t->guard && !p->off ? guard_text(t->guard, p->arg) : NULL;
		if (copy)
			put_kernel_str(r, copy, PATH_SZ);
		else
			put_user_text_or(r, text_addr(addr + p->off), UNREADABLE_IS_NOTHING);
		return;
	}
	if (p->kind == ARG_PATH && !p->off && put_guarded(r, p->arg))
		return;
	put_user_text_or(r, p->kind == ARG_PATH || r->ret >= 0 ? addr + p->off : 0,
			 t->own ? UNREADABLE_IS_NOTHING : UNREADABLE_IS_NA);
}

/* Puts the parameter that row @p describes. */
static __always_inline void put_row(struct rec *r, const struct call_row *p,
				    const struct row_target *t)
{
	u32 kind = p->kind;
	u64 v = arg_or_0(r, p->arg);
	u64 beside = arg_or_0(r, kind == ARG_OPEN_MODE ? p->arg - 1 : p->arg + 1);
	struct user_bytes b;

	if (!row_applies(r, p)) {
		put_empty(r);
		return;
	}
	if (is_inout(&r->slot->call, kind) || arg_is_field(kind)) {
		put_pointed_number(r, p, t, v);
		return;
	}
	if (carried_bytes(r, p, v, beside, &b) || (t->ended && exit_bytes(r, p, v, beside, &b))) {
		put_user_bytes_apart(r, b.addr, b.len, b.max);
		return;
	}
	if (kind == ARG_SELECT_FDS || (t->ended && kind == ARG_OUT_SELECT_FDS && r->ret >= 0))
		put_select_fds(r);
	else if (kind == ARG_TEXT || (t->ended && kind == ARG_OUT_TEXT))
		put_text(r, v, kind == ARG_TEXT ? (s32)beside : r->ret);
	else if (kind == ARG_PATH || (t->ended && kind == ARG_PATH_OUT))
		put_row_path(r, p, t, v);
	else if (t->ended && r->ret < 0 && (kind == ARG_RESULT || kind == ARG_OUT_SELECT_FDS))
		put_empty(r);
	else
		put_number(r, kind == ARG_RESULT ? r->ret : arg_number(kind, v, beside, r->ret < 0),
			   t->sz);
}

#endif /* DRIVER_PUT_ROW_BPF_H */
