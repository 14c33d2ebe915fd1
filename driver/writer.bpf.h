/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes a record: begin, one put_* per parameter in the order of events.def, commit.
 *
 *	struct rec r;
 *
 *	if (!begin(&r, ctx, READ_X, io_room(ctx)))
 *		return 0;
 *	put_s64(&r, r.ret);
 *	put_moved(&r, arg(&r, 1));
 *	...
 *	return commit(&r);
 *
 * A record is written in place in the array ring, or in the CPU's scratch and then sent whole. So
 * the record of a nested writer may come before the one that it interrupted: a record has its
 * nesting level. From begin to commit the task is pinned (pin.bpf.h), and ring_ends.nest of the CPU
 * is positive, which shows libscap a writer in flight. No program tail-calls between begin and
 * commit.
 *
 * seen == records + lost: begin counts seen, commit or a failed reservation the other two, each in
 * the counters of its nesting level, which no other level writes.
 */
#ifndef DRIVER_WRITER_BPF_H
#define DRIVER_WRITER_BPF_H

#include "compiler.bpf.h"
#include "event_layout.bpf.h"
#include "ia32.bpf.h"
#include "maps.bpf.h"
#include "pin.bpf.h"
#include "ring.bpf.h"
#include "saved.bpf.h"

#define PATH_SZ 4096u

/* Records are packed, but written with plain stores: the verifier accepts unaligned ones on x86,
 * and clang would split accesses to a packed member into bytes. */
#define REC_LENS (sizeof(struct rec_hdr)) /* start of the array of lengths */
#define EVT_AT (sizeof(struct rec_hdr) - sizeof(struct ppm_evt_hdr))

enum rec_kind { REC_EXIT, REC_ENTER, REC_OTHER };

/* Reserves room for a record in this CPU's @ring. False: the record is counted as lost. */
static __always_inline bool rec_open(struct rec *r, struct ring *ring, void *ctx,
				     enum rec_kind kind, u32 type, u32 n_params, u64 params_sz)
{
	struct drv_slot *slot = r->slot ?: this_slot();
	struct drv_counts *c;
	int why;

	if (!ring) {
		__sync_fetch_and_add(&slot->n_no_ring, 1);
		return false;
	}
	r->ctx = ctx;
	r->type = type;
	r->n = 0;
	r->n_params = n_params;
	r->off = REC_LENS + 2 * n_params;
	r->room = align8(r->off + params_sz);
	r->level = ONCE(slot->ring.nest);
	ONCE(slot->ring.nest) = r->level + 1;
	barrier();
	c = counts_of(&slot->ring, r->level);
	c->seen++;
	c->n_enters += kind == REC_ENTER;
	c->n_others += kind == REC_OTHER;
	if (cfg.ring_kind == RING_ARRAY && kind == REC_EXIT)
		ONCE(slot->before) = ONCE(slot->ring.resv) + 1;
	else if (cfg.ring_kind == RING_ARRAY && kind == REC_ENTER)
		ONCE(slot->before) = 0;
	barrier();
	why = ring_reserve(r, ring);
	if (why == DRV_DROP_MAX)
		return true;
	rec_lost(why, type, r->level);
	ring_leave(ends_of(r));
	return false;
}

static __always_inline void put_header(struct rec *r, u64 ts, u64 tid)
{
	store64(r->base + EVT_AT, ts);
	store64(r->base + EVT_AT + 8, tid);
	store16(r->base + EVT_AT + 20, r->type);
	store32(r->base + EVT_AT + 22, r->n_params);
}

/* Makes the open record, whose room must suffice, one of another type, without parameters. */
static __always_inline void rec_retype(struct rec *r, u32 type, u32 n_params)
{
	r->type = type;
	r->n = 0;
	r->n_params = n_params;
	r->off = REC_LENS + 2 * n_params;
	store16(r->base + EVT_AT + 20, type);
	store32(r->base + EVT_AT + 22, n_params);
}

/* The record belongs to another thread than the current one. */
static __always_inline void set_tid(struct rec *r, u64 tid)
{
	store64(r->base + EVT_AT + 8, tid);
}

/* Counts the record of a call as lost: the kernel had no storage for it while its task was off the
 * CPU. */
static __always_inline void count_lost_call(void)
{
	struct ring *ring = this_ring();
	u32 level;

	if (!ring) {
		__sync_fetch_and_add(&this_slot()->n_no_ring, 1);
		return;
	}
	level = ONCE(this_ends()->nest);
	counts_of(this_ends(), level)->seen++;
	rec_lost(DRV_DROP_REFUSED, EVT_SYSCALL_X, level);
}

/* Puts the current task's saved call back into the slot. Returns 1, or 0 if it was not saved: the
 * record is then counted as lost. */
__noinline int slot_reclaim(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct drv_slot *slot = this_slot();
	struct drv_call *saved = saved_find(task);

	if (!saved || saved->state == CALL_NONE) {
		count_lost_call();
		return 0;
	}
	slot->call = *saved;
	saved_drop(task, saved);
	ONCE(slot->task) = (u64)task;
	slot->tid = task->pid;
	return 1;
}

/*
 * Pins the task for the record of its call. It is not pinned before a filler's tail call: it may
 * have been preempted there, and the call moved to its storage. Returns false, not pinned, if there
 * is no call.
 */
static __always_inline bool call_claim(void)
{
	pin();
	if (!is_preemptible() || ONCE(this_slot()->task) == (u64)bpf_get_current_task_btf() ||
	    slot_reclaim())
		return true;
	unpin();
	return false;
}

/* Begins the exit record of the call in this CPU's slot, which sys_exit in driver.bpf.c claimed. */
static __always_inline bool begin_call(struct rec *r, u64 *ctx, u32 type, u32 n_params,
				       u64 params_sz)
{
	r->slot = this_slot();
	r->ret = ctx[1];
	if (!rec_open(r, this_ring(), ctx, REC_EXIT, type, n_params, params_sz)) {
		slot_clear(r->slot);
		unpin();
		return false;
	}
	put_header(r, bpf_ktime_get_boot_ns(), r->slot->tid);
	return true;
}

/* begin(r, ctx, SYM, extra): begins the exit record EVT_SYM of the current call, with @extra bytes
 * for its variable parameters. Returns false if there is no room, which is counted. */
#define begin(r, ctx, sym, extra)                                                                  \
	(call_claim() &&                                                                           \
	 begin_call(r, ctx, EVT_##sym, EVT_##sym##_NPARAMS, EVT_##sym##_FIXED_SZ + (extra)))

/* Returns argument @i of the call, as at the enter. */
static __always_inline u64 arg(const struct rec *r, u32 i)
{
	return r->slot->call.args[i];
}

/* Appends the length of the next parameter, if the event has more. */
static __always_inline bool put_len(struct rec *r, u16 len)
{
	if (r->n < r->n_params)
		store16(r->base + REC_LENS + 2 * r->n, len);
	return r->n++ < r->n_params;
}

static __always_inline void put_u8(struct rec *r, u8 v)
{
	if (!put_len(r, 1))
		return;
	r->base[r->off] = v;
	r->off += 1;
}

static __always_inline void put_u16(struct rec *r, u16 v)
{
	if (!put_len(r, 2))
		return;
	store16(r->base + r->off, v);
	r->off += 2;
}

static __always_inline void put_u32(struct rec *r, u32 v)
{
	if (!put_len(r, 4))
		return;
	store32(r->base + r->off, v);
	r->off += 4;
}

static __always_inline void put_u64(struct rec *r, u64 v)
{
	if (!put_len(r, 8))
		return;
	store64(r->base + r->off, v);
	r->off += 8;
}

static __always_inline void put_s32(struct rec *r, s32 v)
{
	put_u32(r, v);
}

static __always_inline void put_s64(struct rec *r, s64 v)
{
	put_u64(r, v);
}

/* Puts a descriptor that is an argument: the kernel uses only its low 32 bits. */
static __always_inline void put_fd(struct rec *r, u64 fd)
{
	put_s64(r, (s32)fd);
}

/* Puts a parameter without a value. */
static __always_inline void put_empty(struct rec *r)
{
	put_len(r, 0);
}

/* Returns where the next parameter goes; its writer then calls put_done with the number of bytes
 * written, which must be bounded for the verifier by the room given to begin. */
static __always_inline u8 *put_here(struct rec *r)
{
	return r->base + r->off;
}

static __always_inline void put_done(struct rec *r, u64 len)
{
	if (put_len(r, len))
		r->off += len;
}

/* Returns the number of bytes that a helper wrote, 0 if it failed; at most @max, which the verifier
 * of 6.1 sees only if the same register is compared. */
static __always_inline u64 written(s64 n, u64 max)
{
	u64 len = n < 0 ? 0 : n;

	OPAQUE(len);
	return len > max ? max : len;
}

/* Puts up to @max bytes of the caller's memory: @len of them, none if negative or unreadable. */
static __always_inline void put_user_bytes(struct rec *r, u64 addr, s64 len, u64 max)
{
	u64 n = written(len, max);

	if (n && bpf_probe_read_user(put_here(r), n, (void *)addr))
		n = 0;
	put_done(r, n);
}

/* Returns how many of @n moved bytes are copied to the record; negative if @n is. */
static __always_inline s64 copied_len(const struct drv_slot *slot, s64 n)
{
	s64 max = cfg.n_snap_ports ? slot->call.snaplen : cfg.snaplen;

	if (cfg.state_only && slot->call.flags & REC_F_STATE_ONLY)
		max = 0;
	return n < max ? n : max;
}

/* Returns the room for the data of the call that ends: exactly what will be put, so that none needs
 * to be given back. */
static __always_inline u64 data_room(const u64 *ctx)
{
	return written(copied_len(this_slot(), ctx[1]), cfg.snaplen_max);
}

/* Puts @n bytes that the call moved, at @addr in the caller's memory; begin must have data_room. */
static __always_inline void put_moved_bytes(struct rec *r, u64 addr, s64 n)
{
	put_user_bytes(r, addr, copied_len(r->slot, n), cfg.snaplen_max);
}

/* The same for as many bytes as the result says. */
static __always_inline void put_moved(struct rec *r, u64 addr)
{
	put_moved_bytes(r, addr, r->ret);
}

/* Puts text of which a helper wrote @n bytes. Empty text has its NUL, too: readers of 2022 require
 * it. */
static __always_inline void put_str_done(struct rec *r, s64 n, u32 max)
{
	u64 len = written(n, max);

	if (!len) {
		*put_here(r) = 0;
		len = 1;
	}
	put_done(r, len);
}

/* Writes "<NA>", as other tools do, for unreadable text: empty text would mean something else.
 * Returns its length. */
static __always_inline u64 store_na(u8 *to)
{
	static const char na[] = "<NA>";

	__builtin_memcpy(to, na, sizeof(na));
	return sizeof(na);
}

static __always_inline void put_kernel_str(struct rec *r, const void *addr, u32 max)
{
	put_str_done(r, bpf_probe_read_kernel_str(put_here(r), max, addr), max);
}

/* Read back: if kept in a register until here, 6.1 would lose the bounds of another one, which it
 * spills ("math between map_value pointer and register with unbounded min value", in fill_exec). */
static __always_inline u32 rec_type(const struct rec *r)
{
	return *(u16 *)(r->base + EVT_AT + 20);
}

/* Completes and publishes the record. Returns true if it got into the ring. */
static __always_inline bool rec_close(struct rec *r, u64 flags, u64 enter_ns)
{
	struct ring_ends *ends = ends_of(r);
	struct drv_counts *c = counts_of(ends, r->level);
	u64 cpu = bpf_get_smp_processor_id(), len = align8(r->off);
	u16 nr = r->slot ? r->slot->call.raw_nr : REC_NR_NONE;
	int why = DRV_DROP_MAX;

	if (r->n != r->n_params)
		__sync_fetch_and_add(&ends->n_bad_record, 1);
	for (u32 i = r->n; i < r->n_params; i++)
		ONCE(*(u16 *)(r->base + REC_LENS + 2 * i)) = 0; /* no memset: BPF has none */
	store32(r->base + EVT_AT + 16, r->off - EVT_AT);
	store64(r->base + 8, enter_ns);
	if (cfg.ring_kind == RING_ARRAY)
		len = ring_trim(r, len);
	flags |= (u64)(r->level & (DRV_LEVELS - 1)) << REC_LEVEL_SHIFT;
	store64(r->base, len | cpu << 16 | flags << 32 | (u64)nr << 48);
	if (cfg.ring_kind != RING_ARRAY) {
		why = ring_send(r, len);
		ONCE(ends->scratch) = r->pos;
	}
	if (why == DRV_DROP_MAX)
		c->records++;
	else
		rec_lost(why, rec_type(r), r->level);
	barrier();
	ring_leave(ends);
	ring_bell(ends);
	return why == DRV_DROP_MAX;
}

/* Some 32-bit calls have an event of their own, with the layout of their row's event. */
static __always_inline void set_ia32_event(struct rec *r)
{
	u32 event = ia32_calls[r->slot->call.raw_nr & (DRV_MAX_NR - 1)].event;

	if (event && r->slot->call.raw_nr < DRV_MAX_NR)
		store16(r->base + EVT_AT + 20, event);
}

/* Completes and publishes the record of a call. Returns 0, for programs to return. */
static __always_inline int commit(struct rec *r)
{
	struct drv_call *call = &r->slot->call;
	u64 flags = call->flags & ~(u64)CALL_F_OWN, enter_ns = call->ts;

	if (flags & REC_F_IA32)
		set_ia32_event(r);
	if (call->state == CALL_SENT)
		flags |= REC_F_ENTER_SENT;
	if (call->state == CALL_NO_ENTER || call->state == CALL_BORN)
		enter_ns = 0;
	/* An interrupt between here and the clearing finds no enter left to send. */
	ONCE(call->state) = CALL_NONE;
	rec_close(r, flags, enter_ns);
	slot_clear(r->slot);
	unpin();
	return 0;
}

#endif /* DRIVER_WRITER_BPF_H */
