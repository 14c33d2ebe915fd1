/* SPDX-License-Identifier: GPL-2.0 */
/* Fillers of semop, keyctl and io_submit, whose parameters need more than a row of syscalls.def. */
#include "args.bpf.h"

/* struct sembuf */
struct sembuf {
	u16 num;
	s16 op;
	u16 flg;
};

/* Serves semop: the first two operations, as many as the format has. */
SEC("?tp_btf/sys_exit")
int fill_semop(u64 *ctx)
{
	struct sembuf ops[2] = {};
	struct rec r;
	u32 n;

	if (!begin(&r, ctx, SEMOP_X, 0))
		return 0;
	n = arg(&r, 2);
	bpf_probe_read_user(ops, n < 2 ? sizeof(*ops) : sizeof(ops), (void *)arg(&r, 1));
	put_s64(&r, r.ret);
	put_u32(&r, n);
	for (u32 i = 0; i < 2; i++) {
		put_u16(&r, ops[i].num);
		put_u16(&r, ops[i].op);
		put_u16(&r, convert_semop_flags(ops[i].flg));
	}
	put_s32(&r, arg(&r, 0));
	return commit(&r);
}

enum { DYN_KEYCTL_NUMBER, DYN_KEYCTL_TEXT };

/* By operation: bit n is set if argument n + 1 is text; bits from KEYCTL_WRITTEN on, if the call
 * writes it. */
#define KEYCTL_WRITTEN 4
static const u8 keyctl_texts[64] = {
	[1] = 1 << 0, /* JOIN_SESSION_KEYRING */
	[6] = 1 << (1 + KEYCTL_WRITTEN), /* DESCRIBE */
	[10] = 1 << 1 | 1 << 2, /* SEARCH */
	[17] = 1 << (1 + KEYCTL_WRITTEN), /* GET_SECURITY */
	[24] = 1 << 2, /* PKEY_QUERY, ENCRYPT, DECRYPT, SIGN, VERIFY */
	[25] = 1 << 1,
	[26] = 1 << 1,
	[27] = 1 << 1,
	[28] = 1 << 1,
	[29] = 1 << 1 | 1 << 2, /* RESTRICT_KEYRING */
};

/* Puts argument @i as text if it is text, else as a number. */
static __always_inline void put_keyctl_arg(struct rec *r, u64 v, bool text)
{
	u64 n = 0;

	if (text)
		n = written(bpf_probe_read_user_str(put_here(r) + 1, PATH_SZ - 1, (void *)v),
			    PATH_SZ - 1);
	*put_here(r) = n ? DYN_KEYCTL_TEXT : DYN_KEYCTL_NUMBER;
	if (!n) {
		store64(put_here(r) + 1, v);
		n = sizeof(v);
	}
	put_done(r, 1 + n);
	widen_off(r);
}

SEC("?tp_btf/sys_exit")
int fill_keyctl(u64 *ctx)
{
	struct rec r;
	u32 op, texts;

	if (!begin(&r, ctx, KEYCTL_X, 4 * PATH_SZ))
		return 0;
	op = arg(&r, 0);
	texts = op < 64 ? keyctl_texts[op & 63] : 0;
	if (r.ret > 0)
		texts |= texts >> KEYCTL_WRITTEN;
	put_s64(&r, r.ret);
	put_u32(&r, op);
	for (u32 i = 0; i < 4; i++)
		put_keyctl_arg(&r, arg(&r, 1 + i), texts >> i & 1);
	return commit(&r);
}

struct iocb_list {
	struct drv_slot *slot;
	u8 *to;
	u64 addr, count, n;
};

#define IOCB_SZ 64
#define IOCB_MAX (ARG_LIST_MAX / IOCB_SZ)

/* Appends one request. A callback of bpf_loop, whose body the verifier checks once. */
static long iocb_add(u32 i, void *ctx)
{
	struct iocb_list *l = ctx;
	u64 n = widen(l->slot, l->n, IOCB_MAX - 1);

	if (i >= l->count || bpf_probe_read_user(l->to + n * IOCB_SZ, IOCB_SZ,
						 (void *)user_u64(l->addr + i * sizeof(u64), 0)))
		return 1;
	l->n = n + 1;
	return 0;
}

/* Serves io_submit: the requests, given as an array of pointers. */
SEC("?tp_btf/sys_exit")
int fill_io_submit(u64 *ctx)
{
	struct iocb_list l = {};
	struct rec r;

	if (!begin(&r, ctx, IO_SUBMIT_X, ARG_LIST_MAX))
		return 0;
	put_s64(&r, r.ret);
	l.slot = r.slot;
	l.to = put_here(&r);
	l.addr = arg(&r, 2);
	l.count = arg(&r, 1);
	bpf_loop(IOCB_MAX, iocb_add, &l, 0);
	put_done(&r, widen(r.slot, l.n, IOCB_MAX) * IOCB_SZ);
	put_u64(&r, arg(&r, 0));
	put_u64(&r, arg(&r, 1));
	return commit(&r);
}
