/* SPDX-License-Identifier: GPL-2.0 */
/* Computes the values of parameters from the arguments of a call, by the rows of syscalls.def. */
#ifndef DRIVER_ARGS_BPF_H
#define DRIVER_ARGS_BPF_H

#include "writer.bpf.h"

#include "shared/convert.h"

/* All rows of syscalls.def in one array, and the range of each call. */
static const struct call_row call_rows[] = {
#define A(param, index, how, ...) {.arg = index, .kind = ARG_##how, .of_enter = 1, ##__VA_ARGS__},
#define AX(param, index, how, ...) {.arg = index, .kind = ARG_##how, ##__VA_ARGS__},
#define AF(param, index, how, offset, ...) A(param, index, how, .off = offset, ##__VA_ARGS__)
#define AXF(param, index, how, offset, ...) AX(param, index, how, .off = offset, ##__VA_ARGS__)
#define AE A
#define SYS(nr, name, event, filler, ...) __VA_ARGS__
#include "syscalls.def"
#include "undef_rows.h"
};

#define CALL_ROWS_N (sizeof(call_rows) / sizeof(*call_rows))
#define CALL_ROWS_MAX 16 /* of one call; a power of two */

/* The rows of one call. */
struct row_range {
	u16 first;
	u8 n_all; /* AE rows are the last */
	u8 n; /* without AE rows */
	u8 n_texts; /* of these n: rows that need room for text */
	u8 n_carried; /* row_is_carried */
	u8 n_carried_texts;
};

/* ROWS_IN_name: these counts of each call, packed into one constant, five bits each. */
#define ROW_BITS 5
#define ROW_COUNT(counts, field) ((counts) >> (field)*ROW_BITS & ((1 << ROW_BITS) - 1))
#define ROW_COUNTS(kind, of_enter, of_exit)                                                        \
	+(1 | (of_exit) << ROW_BITS | ((of_exit) && (kind) >= ARG_PATH) << 2 * ROW_BITS |          \
	  ((of_enter) && ARG_IS_CARRIED(kind)) << 3 * ROW_BITS |                                   \
	  ((of_enter) && ARG_IS_CARRIED(kind) && (kind) >= ARG_PATH) << 4 * ROW_BITS)

enum {
#define A(param, index, how, ...) ROW_COUNTS(ARG_##how, 1, 1)
#define AX(param, index, how, ...) ROW_COUNTS(ARG_##how, 0, 1)
#define AE(param, index, how, ...) ROW_COUNTS(ARG_##how, 1, 0)
#define AF A
#define AXF AX
#define SYS(nr, name, event, filler, ...) ROWS_IN_##name = 0 __VA_ARGS__,
#include "syscalls.def"
#include "undef_rows.h"
};

enum {
#define SYS(nr, name, ...)                                                                         \
	ROWS_OF_##name, ROWS_END_##name = ROWS_OF_##name - 1 + ROW_COUNT(ROWS_IN_##name, 0),
#include "syscalls.def"
#undef SYS
};

#define SYS(nr, name, ...)                                                                         \
	_Static_assert(ROW_COUNT(ROWS_IN_##name, 0) < CALL_ROWS_MAX, "rows of " #name);
#include "syscalls.def"
#undef SYS

static const struct row_range row_ranges[DRV_MAX_NR] = {
#define SYS(nr, name, ...)                                                                         \
	[nr] = {ROWS_OF_##name,                                                                    \
		ROW_COUNT(ROWS_IN_##name, 0),                                                      \
		ROW_COUNT(ROWS_IN_##name, 1),                                                      \
		ROW_COUNT(ROWS_IN_##name, 2),                                                      \
		ROW_COUNT(ROWS_IN_##name, 3),                                                      \
		ROW_COUNT(ROWS_IN_##name, 4)},
#include "syscalls.def"
#undef SYS
};

/* Returns row @i; for an invalid number some other row. */
static __always_inline const struct call_row *call_row_at(u32 i)
{
	OPAQUE(i); /* the index must be the value that was compared */
	return &call_rows[i < CALL_ROWS_N ? i : 0];
}

static __always_inline u64 widen(struct drv_slot *slot, u64 v, u64 max)
{
	return widen_in(&slot->scratch, v, max);
}

/* Maximum length of a record with much text before its last parameters. */
#define REC_OFF_MAX DRV_REC_MAX

/* Hides the current length of the record from the verifier. */
static __always_inline void widen_off(struct rec *r)
{
	r->off = widen(r->slot, r->off, REC_OFF_MAX);
}

/* Returns argument @i, or 0, as a number unknown to the verifier on either path. */
static __always_inline u64 arg_or_0(const struct rec *r, u32 i)
{
	OPAQUE(i); /* 6.1 has no bounds for spilled values: the index must be the value that was
		      compared */
	ONCE(r->slot->scratch) = i < 6 ? arg(r, i) : 0;
	return ONCE(r->slot->scratch);
}

/* Verified on its own, since its cases end the same way. */
__noinline u32 when_holds(u32 when, u32 bits, u64 v)
{
	const struct call_row row = {.when = when, .bits = bits};

	return row_holds(&row, v);
}

/*
 * begin_like(r, ctx, extra): works as begin for the event of the call, one of several that begin
 * alike and continue differently. Static assertions beside these calls compare the parameters with
 * the event, not commit, because the number of parameters is hidden from the verifier, too.
 */
#define MANY_PARAMS 64

#define begin_like(r, ctx, params_sz) (call_claim() && begin_like_call(r, ctx, params_sz))

static __always_inline bool begin_like_call(struct rec *r, u64 *ctx, u64 params_sz)
{
	u32 type = nr_event[this_slot()->call.nr & (DRV_MAX_NR - 1)];

	if (!begin_call(r, ctx, type, n_params_of[EVT_INDEX(type) & (EVT_ROWS_MAX - 1)], params_sz))
		return false;
	r->n_params = MANY_PARAMS;
	return true;
}

/*
 * Returns which of the calls it is. Read again each time, so that the verifier does not fork on it.
 */
static __always_inline u32 call_nr(const struct rec *r)
{
	return ONCE(r->slot->call.nr);
}

/* Joins paths through a filler that put different numbers of parameters. */
static __always_inline void widen_like(struct rec *r)
{
	widen_off(r);
	r->n = widen(r->slot, r->n, MANY_PARAMS / 2);
}

static __always_inline int commit_like(struct rec *r)
{
	widen_off(r);
	r->n = r->n_params;
	return commit(r);
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

/* Verified on their own: the code after them does not depend on whether the read succeeded. */
__noinline u64 user_u64(u64 addr, u64 otherwise)
{
	u64 v;

	return addr && !bpf_probe_read_user(&v, sizeof(v), (void *)addr) ? v : otherwise;
}

__noinline s64 user_s32(u64 addr, s64 otherwise)
{
	s32 v;

	return addr && !bpf_probe_read_user(&v, sizeof(v), (void *)addr) ? v : otherwise;
}

/* Reads an unsigned long or size_t at @addr, in the caller's ABI. */
__noinline u64 user_ulong(u64 addr, u64 otherwise)
{
	u32 v;

	if (!is_compat())
		return user_u64(addr, otherwise);
	return addr && !bpf_probe_read_user(&v, sizeof(v), (void *)addr) ? v : otherwise;
}

static __always_inline u64 ulong_size(void)
{
	return is_compat() ? sizeof(u32) : sizeof(u64);
}

/* Reads two longs, of a time. */
static __always_inline bool user_pair(u64 addr, u64 *v)
{
	s32 v32[2];

	if (!is_compat_time())
		return addr && !bpf_probe_read_user(v, 2 * sizeof(*v), (void *)addr);
	if (!addr || bpf_probe_read_user(v32, sizeof(v32), (void *)addr))
		return false;
	v[0] = (s64)v32[0];
	v[1] = (s64)v32[1];
	return true;
}

/* Reads entry @i of a vector. */
static __always_inline long user_iovec(struct iovec *v, u64 iov, u32 i)
{
	u32 v32[2];
	long err;

	if (!is_compat())
		return bpf_probe_read_user(v, sizeof(*v), (void *)(iov + i * sizeof(*v)));
	err = bpf_probe_read_user(v32, sizeof(v32), (void *)(iov + i * sizeof(v32)));
	if (!err)
		*v = (struct iovec){v32[0], v32[1]};
	return err;
}

/* name, namelen, iov, iovlen, control, controllen, flags */
#define COMPAT_MSGHDR_WORDS 7

static __always_inline long user_msg(struct user_msghdr *m, u64 addr)
{
	u32 w[COMPAT_MSGHDR_WORDS];
	long err;

	if (!is_compat())
		return bpf_probe_read_user(m, sizeof(*m), (void *)addr);
	err = bpf_probe_read_user(w, sizeof(w), (void *)addr);
	if (!err) {
		m->name = w[0];
		m->namelen = w[1];
		m->iov = w[2];
		m->iovlen = w[3];
		m->control = w[4];
		m->controllen = w[5];
		m->flags = w[6];
	}
	return err;
}

struct iovec_sum {
	u64 addr, count, sum;
};

static long iovec_add(u32 i, void *ctx)
{
	struct iovec_sum *s = ctx;
	struct iovec v;

	if (i >= s->count || user_iovec(&v, s->addr, i))
		return 1;
	s->sum += v.len;
	return 0;
}

/* Verified on its own, as arg_number. */
__noinline u64 iovec_sum(u64 addr, u64 count)
{
	struct iovec_sum s = {.addr = addr, .count = count};

	bpf_loop(ARG_IOVEC_MAX, iovec_add, &s, 0);
	return s.sum;
}

static __always_inline u64 msghdr_sum(u64 addr)
{
	struct user_msghdr m;

	if (user_msg(&m, addr))
		return 0;
	return iovec_sum(m.iov, m.iovlen);
}

#define VECTOR_MAX 1024 /* maximum number of buffers in a vector, the kernel's limit */

/* Separate from the record: taking its address would move it from registers to memory. */
struct gather {
	struct drv_slot *slot;
	u8 *to;
	u64 iov, count, left, got;
};

/* Copies one more buffer. A callback of bpf_loop, whose body is verified once. */
static long gather_piece(u32 i, void *ctx)
{
	struct gather *g = ctx;
	u64 got = widen(g->slot, g->got, cfg.snaplen_max), n;
	struct iovec v;

	if (i >= g->count || got >= g->left || user_iovec(&v, g->iov, i))
		return 1;
	n = written(v.len < g->left - got ? v.len : g->left - got, cfg.snaplen_max);
	if (n && bpf_probe_read_user(g->to + got, n, (void *)v.base))
		return 1;
	g->got = got + n;
	return 0;
}

/* Puts the first bytes of data in several buffers: copied_len() of @len, none if negative. begin
 * must have data_room. */
static __always_inline void put_user_vector(struct rec *r, u64 iov, u64 count, s64 len)
{
	struct gather g = {
		.slot = r->slot,
		.to = put_here(r),
		.iov = iov,
		.count = count,
		.left = written(copied_len(r->slot, len), cfg.snaplen_max),
	};

	bpf_loop(VECTOR_MAX, gather_piece, &g, 0);
	put_done(r, widen(r->slot, g.got, cfg.snaplen_max));
}

/*
 * Returns the number that an argument is or points to. @beside: for ARG_OPEN_MODE the argument
 * before it, else the one after it. @failed: the call failed, or has not ended. Verified on its
 * own, once for all callers.
 */
__noinline u64 arg_number(u32 kind, u64 v, u64 beside, u32 failed)
{
	switch (kind) {
	case ARG_IN_LONG:
		return user_ulong(v, 0);
	case ARG_SIGSET:
		return user_u64(v, 0);
	case ARG_IOVEC:
		return iovec_sum(v, beside);
	case ARG_MSGHDR:
		return msghdr_sum(v);
	case ARG_HOW_FLAGS:
		return convert_open_flags(user_u64(v, 0));
	case ARG_HOW_MODE:
		return convert_open_mode(user_u64(v, 0), v ? user_u64(v + 8, 0) : 0);
	case ARG_HOW_RESOLVE:
		return convert_openat2_resolve(v ? user_u64(v + 16, 0) : 0);
	case ARG_URING_FLAGS:
		return convert_uring_flags(v ? user_u64(v + 8, 0) : 0);
	case ARG_OUT32:
		return failed ? -1 : user_s32(v, -1);
	}
	return arg_value(kind, v, beside);
}

/* tv_nsec of a time to set; UTIME_NOW is one higher. */
#define UTIME_OMIT ((1ull << 30) - 2)

/* Reads a time from a structure with only times before it: 32-bit times take half the room. */
static __always_inline bool user_time_field(u32 kind, u64 addr, u32 off, u64 *v)
{
	u64 at[2] = {};

	if (!addr)
		return false;
	if (is_compat_time())
		off /= 2;
	if (kind != ARG_SECONDS_AT) {
		if (!user_pair(addr + off, at))
			return false;
	} else if (bpf_probe_read_user(at, is_compat_time() ? 4 : 8, (void *)(addr + off))) {
		return false;
	}
	if (kind == ARG_TIMEVAL_AT)
		at[1] *= 1000;
	*v = at[0] * 1000000000ull + at[1];
	if (kind == ARG_UTIME_AT && at[1] >= UTIME_OMIT)
		*v = at[1] == UTIME_OMIT ? ABSTIME_OMIT : ABSTIME_NOW;
	return true;
}

/* The fields of struct siginfo that are read; part of the ABI. */
struct user_siginfo {
	s32 signo, err, code, pad;
	s32 pid;
	u32 uid;
};

#define SI_TIMER (-2)
#define SI_SIGIO (-5)
#define SIGCHLD 17

/* Returns the sender of a signal; only some kinds of siginfo have it. */
static __always_inline bool user_sender(u64 addr, u64 *v)
{
	struct user_siginfo si = {};

	if (bpf_probe_read_user(&si, sizeof(si), (void *)addr))
		return false;
	*v = (s64)si.pid;
	return si.signo == SIGCHLD || (si.code <= 0 && si.code != SI_TIMER && si.code != SI_SIGIO);
}

_Static_assert(ARG_TIMEVAL_AT - ARG_U16_AT == ARG_OUT_TIMEVAL_AT - ARG_OUT_U16_AT,
	       "user_field goes by their distance");

/* How an in/out number of each kind is read; 0: no such kind. A table, since the verifier would
 * follow each case of a switch. */
static const u8 inout_kinds[128] = {
#define KIND(kind, as) [ARG_##kind] = ARG_##as,
	ARG_INOUT_KINDS(KIND) ARG_SAME_KINDS(KIND)
#undef KIND
};
_Static_assert(ARG_KIND_MAX <= 128, "a kind is an index of inout_kinds");

/* Reads field @off of the structure at @addr. Returns 1 with its value. Verified on its own, as
 * arg_number. */
__noinline int user_field(u32 kind, u64 addr, u32 off, u64 *v)
{
	bool narrow = false;
	u32 sz = 8;
	u64 at = 0;

	if (!v)
		return 0;
	if (kind == ARG_OUT_SENDER_AT)
		return user_sender(addr, v);
	if (kind == ARG_U64_VIA) {
		addr = user_u64(addr ? addr + off : 0, 0);
		off = 0;
		kind = ARG_U64_AT;
	}
	kind = inout_kinds[kind & 127] ?: kind;
	kind -= arg_is_out(kind) ? ARG_OUT_U16_AT - ARG_U16_AT : 0;
	if (kind >= ARG_TIMESPEC_AT)
		return user_time_field(kind, addr, off, v);
	if (kind == ARG_U16_AT)
		sz = 2;
	else if (kind <= ARG_S32_AT)
		sz = 4;
	else if (kind == ARG_LIMIT_AT)
		narrow = is_compat();
	if (narrow) {
		sz = 4;
		off /= 2;
	}
	if (!addr || bpf_probe_read_user(&at, sz, (void *)(addr + off)))
		return 0;
	/* A 32-bit limit of -1 means no limit, too. */
	*v = kind == ARG_S32_AT || (narrow && (u32)at == (u32)-1) ? (u64)(s64)(s32)at : at;
	return 1;
}

/* A record, as functions that are verified on their own receive it. */
struct rec_bytes {
	u8 at[REC_OFF_MAX + PATH_SZ];
};
_Static_assert(sizeof(struct rec_bytes) <= RING_SLACK,
	       "any place in the ring has as much behind it");

/* Copies up to @max, at most PATH_SZ, bytes of the caller's memory to byte @off. Returns their
 * number; 0 if @len is negative or they are unreadable. */
__noinline u64 copy_user(struct rec_bytes *rec, u64 off, u64 addr, s64 len, u64 max)
{
	u64 n = bounded(written(len, max), PATH_SZ);

	off = bounded(off, REC_OFF_MAX);
	if (!rec || (n && bpf_probe_read_user(&rec->at[off], n, (void *)addr)))
		return 0;
	return n;
}

#define UNREADABLE (~0ull) /* an address that is never readable */

/* Text that stands for an unreadable one. */
enum unreadable {
	UNREADABLE_IS_NA, /* in shared events, whose readers of 2022 expect text */
	UNREADABLE_IS_NOTHING, /* in saker's own events */
};

/* Copies text of the caller's memory with its NUL to byte @off. Returns its length. Empty text is a
 * lone NUL, which the helper does not count before 6.4. */
__noinline u64 copy_user_text(struct rec_bytes *rec, u64 off, u64 addr, u32 otherwise)
{
	s64 n;

	if (!rec)
		return 0;
	off = bounded(off, REC_OFF_MAX);
	n = bpf_probe_read_user_str(&rec->at[off], PATH_SZ, (void *)addr);
	if (n > 0)
		return written(n, PATH_SZ);
	if (n < 0)
		return otherwise == UNREADABLE_IS_NA ? store_na(&rec->at[off]) : 0;
	rec->at[off] = 0;
	return 1;
}

static __always_inline void put_user_text_or(struct rec *r, u64 addr, enum unreadable otherwise)
{
	put_done(r, bounded(copy_user_text((void *)r->base, r->off, addr, otherwise), PATH_SZ));
}

/* Puts text of the caller's memory into a shared event; begin must have PATH_SZ. */
static __always_inline void put_user_text(struct rec *r, u64 addr)
{
	put_user_text_or(r, addr, UNREADABLE_IS_NA);
}

/* Works as put_user_bytes, in programs with many other cases. */
static __always_inline void put_user_bytes_apart(struct rec *r, u64 addr, s64 len, u64 max)
{
	put_done(r, bounded(copy_user((void *)r->base, r->off, addr, len, max), PATH_SZ));
}

#define FDLIST_ITEM_SZ 10
#define FDLIST_SZ (2 + ARG_POLLFDS_MAX * FDLIST_ITEM_SZ)
#define SELECT_WORDS 16

struct select_list {
	struct drv_slot *slot;
	u8 *to;
	u64 sets[3]; /* addresses of the sets: read, write, except */
	u64 bits[3]; /* remaining bits of the current word */
	u64 n; /* descriptors in the list */
	u32 word, nfds;
};

static __always_inline u64 count_bits(u64 v)
{
	v -= v >> 1 & 0x5555555555555555ull;
	v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return v * 0x0101010101010101ull >> 56;
}

/*
 * Goes to the next word of the sets, or appends a descriptor of this one. A callback of bpf_loop.
 */
static long select_add(u32 i, void *ctx)
{
	struct select_list *l = ctx;
	u64 any = l->bits[0] | l->bits[1] | l->bits[2], low = any & -any;
	u64 n = widen(l->slot, l->n, ARG_POLLFDS_MAX - 1), at, mask;
	u32 left = l->nfds - l->word * 64;

	(void)i;
	if (!any) {
		if (l->word * 64 >= l->nfds)
			return 1;
		mask = left < 64 ? (1ull << (left & 63)) - 1 : ~0ull;
		mask = widen(l->slot, mask, ~0ull);
		for (u32 k = 0; k < 3; k++)
			l->bits[k] = mask & user_u64(l->sets[k] ? l->sets[k] + 8 * l->word : 0, 0);
		l->word++;
		return 0;
	}
	at = count_bits(low - 1) & 63;
	store64(l->to + 2 + n * FDLIST_ITEM_SZ, l->word * 64 - 64 + at);
	store16(l->to + 2 + n * FDLIST_ITEM_SZ + 8, (l->bits[0] >> at & 1) * PPM_POLLIN |
							    (l->bits[1] >> at & 1) * PPM_POLLOUT |
							    (l->bits[2] >> at & 1) * PPM_POLLPRI);
	for (u32 k = 0; k < 3; k++)
		l->bits[k] &= ~low;
	l->n = n + 1;
	return l->n == ARG_POLLFDS_MAX;
}

/* Writes the first descriptors in the sets of a select to byte @off. Returns the length. */
__noinline u64 select_fds(struct rec_bytes *rec, u64 off)
{
	struct drv_slot *slot = this_slot();
	const u64 *args = slot->call.args;
	struct select_list l = {
		.slot = slot,
		.sets = {args[1], args[2], args[3]},
		.nfds = (s32)args[0] < 0 ? 0 : args[0],
	};
	u64 n;

	if (!rec)
		return 0;
	l.to = &rec->at[bounded(off, REC_OFF_MAX)];
	if (l.nfds > SELECT_WORDS * 64)
		l.nfds = SELECT_WORDS * 64;
	bpf_loop(SELECT_WORDS + ARG_POLLFDS_MAX, select_add, &l, 0);
	n = widen(slot, l.n, ARG_POLLFDS_MAX);
	store16(l.to, n);
	return 2 + n * FDLIST_ITEM_SZ;
}

static __always_inline void put_select_fds(struct rec *r)
{
	put_done(r, bounded(select_fds((void *)r->base, r->off), FDLIST_SZ));
}

/* Returns the caller's value if it has bits besides @named. */
static __always_inline void put_raw32(struct rec *r, u64 v, u32 named)
{
	store32(put_here(r), v);
	put_done(r, widen(r->slot, (u32)v & ~named ? sizeof(u32) : 0, sizeof(u32)));
	widen_off(r);
}

static __always_inline void put_raw64(struct rec *r, u64 v, u64 named)
{
	store64(put_here(r), v);
	put_done(r, widen(r->slot, v & ~named ? sizeof(u64) : 0, sizeof(u64)));
	widen_off(r);
}

/* Puts @len bytes of text without a NUL; empty if there are none. */
static __always_inline void put_text(struct rec *r, u64 addr, s64 len)
{
	u64 n = bounded(copy_user((void *)r->base, r->off, addr, len, PATH_SZ - 1), PATH_SZ - 1);

	if (len < 0 || (len && !n)) {
		put_empty(r);
		return;
	}
	put_here(r)[n] = 0;
	put_done(r, n + 1);
}

#endif /* DRIVER_ARGS_BPF_H */
