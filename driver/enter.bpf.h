/* SPDX-License-Identifier: GPL-2.0 */
/* Writes raw enters, the records of calls that have not ended, and records of events that are not
 * calls: these send the enter of an open call first. */
#ifndef DRIVER_ENTER_BPF_H
#define DRIVER_ENTER_BPF_H

#include "args.bpf.h"
#include "guard.bpf.h"
#include "put_row.bpf.h"
#include "ring.bpf.h"
#include "select.bpf.h"
#include "writer.bpf.h"

static __always_inline u32 enter_type_of(const struct drv_call *call)
{
	u32 nr = call->nr, event = 0;

	if (nr >= DRV_MAX_NR)
		return EVT_SYSCALL_E;
	if (call->flags & REC_F_IA32 && call->raw_nr < DRV_MAX_NR)
		event = ia32_calls[call->raw_nr & (DRV_MAX_NR - 1)].event;
	return (event ?: nr_event[nr]) - 1;
}

#define ENTER_ARGS 6

/* The part of the record that a round needs, as in fill_auto. */
struct enter_fill {
	u8 *base;
	struct drv_slot *slot;
	u64 off;
	struct guard *guard; /* of the task; NULL: none */
	u32 first; /* row */
	u32 n; /* parameters that were put */
};

/* Puts the value that row @i points to, if a raw enter carries it. A callback of bpf_loop. */
static long enter_step(u32 i, void *ctx)
{
	struct enter_fill *f = ctx;
	const struct call_row *row = call_row_at(f->first + i);
	struct rec r = {
		.base = f->base,
		.slot = f->slot,
		.off = bounded(f->off, REC_OFF_MAX),
		.n = f->n & 31,
		.n_params = ENTER_ARGS + CALL_ROWS_MAX,
		.ret = -1, /* as of a failed call: see struct row_target */
	};
	const struct row_target t = {.guard = f->guard, .sz = sizeof(u64)};

	if (!row_is_carried(row))
		return 0;
	put_row(&r, row, &t);
	f->off = widen(r.slot, r.off, REC_OFF_MAX);
	f->n++;
	return 0;
}

static const struct row_range no_rows;

static __always_inline const struct row_range *rows_of(const struct drv_call *call)
{
	u32 nr = call->nr;

	if (nr >= DRV_MAX_NR)
		return &no_rows;
	return &row_ranges[nr];
}

/*
 * Puts the values that pointers of the call in this CPU's slot point to, into the record at @pos
 * from byte @off on. Returns its end. Verified on its own, once for all callers; it looks up the
 * slot and the ring itself, since these cannot be passed.
 */
__noinline u64 put_carried(u64 pos, u64 off)
{
	struct drv_slot *slot = this_slot();
	const struct row_range *rows = rows_of(&slot->call);
	struct ring *ring = this_ring();
	struct enter_fill f = {
		.slot = slot,
		.off = off,
		.first = rows->first,
		.n = ENTER_ARGS,
	};

	if (!ring)
		return off;
	f.base = ring_place(ring, pos);
	f.guard = guard_of(bpf_get_current_task_btf(), &slot->call);
	bpf_loop(rows->n_all & 31, enter_step, &f, 0);
	return f.off;
}

/* @rows: the rows whose pointers are followed. */
static __always_inline bool open_enter(struct rec *r, struct ring *ring, void *ctx,
				       struct drv_slot *slot, const struct row_range *rows)
{
	u32 n = ENTER_ARGS + rows->n_carried;

	r->slot = slot;
	return rec_open(r, ring, ctx, REC_ENTER, enter_type_of(&slot->call), n,
			n * sizeof(u64) + rows->n_carried_texts * PATH_SZ);
}

/* Completes the raw enter in @r, which is open. Returns true if it got into the ring. */
static __always_inline bool fill_enter(struct rec *r, const struct row_range *rows,
				       struct task_struct *task, u64 flags)
{
	struct drv_call *call = &r->slot->call;

	if (cfg.failed_only) /* recorded only if it fails, which the exit decides */
		flags |= REC_F_STATE_ONLY;
	put_header(r, call->ts, task->pid);
	for (int i = 0; i < ENTER_ARGS; i++)
		put_u64(r, call->args[i]);
	if (rows->n_carried)
		r->off = widen(r->slot, put_carried(r->pos, r->off), REC_OFF_MAX);
	r->n = r->n_params; /* as in fill_auto */
	return rec_close(r, flags | (call->flags & ~(u64)CALL_F_OWN) | REC_F_RAW_ENTER, call->ts);
}

/* Sends the raw enter of the call in @slot. @task made the call, and its memory is the one mapped
 * now. Sets CALL_SENT if the record got into the ring. */
static __always_inline void send_enter(void *ctx, struct ring *ring, struct drv_slot *slot,
				       struct task_struct *task, const struct row_range *rows,
				       u64 flags)
{
	struct rec r;

	if (!open_enter(&r, ring, ctx, slot, rows))
		return;
	/* Before the record is published, so that an interrupt does not send it again. */
	ONCE(slot->call.state) = CALL_SENT;
	if (!fill_enter(&r, rows, task, flags))
		ONCE(slot->call.state) = CALL_OPEN;
}

/* Sends the only record of a call that does not return. The call is never open, and its time is
 * that of the record: a program that interrupts it before is older. */
static __always_inline void send_last(void *ctx, struct drv_slot *slot, struct task_struct *task)
{
	struct rec r;

	if (!open_enter(&r, this_ring(), ctx, slot, &no_rows)) /* it has only numbers */
		return;
	slot->call.ts = bpf_ktime_get_boot_ns();
	fill_enter(&r, &no_rows, task, REC_F_BLOCKED);
}

/*
 * Returns whether the fault comes from a read that does not wait for pages: the driver's own reads
 * of the caller's memory, those of other tracers' programs, and the kernel's first attempts. A
 * reader that needs the page faults again, and waits.
 */
static __always_inline bool fault_is_probe(struct task_struct *task)
{
	return task->pagefault_disabled || this_slot()->ring.nest;
}

/* Actions for the enter of a call that may be open. */
enum open_call {
	OPEN_NONE, /* no call can be open */
	OPEN_SENT, /* send its enter with the arguments only: it is not shown */
	OPEN_SENT_WHOLE, /* send it with the values behind pointers: the call may block */
};

/* Returns whether the open call has no place in the ring yet. An exit's writer that was interrupted
 * before it reserved one has none as long as nothing was reserved since. */
static __always_inline bool is_ahead(const struct drv_slot *slot)
{
	if (!ONCE(slot->ring.nest))
		return true;
	return cfg.ring_kind == RING_ARRAY && ONCE(slot->before) == ONCE(slot->ring.resv) + 1;
}

/*
 * Begins the record of an event that is not the end of a call, with @flags. Sends the enter of a
 * call that is open on this CPU first, so that the ring's keys ascend; inside another writer that
 * is too late and not needed, since the outer record already has its place.
 */
static __always_inline bool begin_at(struct rec *r, struct ring *ring, void *ctx,
				     enum open_call open, u32 type, u32 flags, u32 n_params,
				     u64 params_sz)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct drv_slot *slot = this_slot();

	if (cfg.calls && open != OPEN_NONE && slot->task == (u64)task &&
	    slot->call.state == CALL_OPEN && ring && is_ahead(slot))
		send_enter(ctx, ring, slot, task,
			   open == OPEN_SENT_WHOLE ? rows_of(&slot->call) : &no_rows, 0);
	ONCE(slot->overtaken) = 1;
	r->slot = NULL;
	r->ret = 0;
	r->flags = flags;
	if (!rec_open(r, ring, ctx, REC_OTHER, type, n_params, params_sz))
		return false;
	put_header(r, bpf_ktime_get_boot_ns(), task->pid);
	return true;
}

/* The same, if the event is selected. */
static __always_inline bool begin_other(struct rec *r, void *ctx, enum open_call open, u32 type,
					u32 evt_flags, u32 n_params, u64 params_sz)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct drv_slot *slot = this_slot();
	struct ring *ring = this_ring();
	s32 flags = sel_event(slot, task, type, evt_flags);

	if (cfg.sampling && ONCE(sampling_off) && evt_flags & EF_DROP_SIMPLE_CONS && flags >= 0) {
		__sync_fetch_and_add(&slot->n_unsampled, 1);
		return false;
	}
	if (flags < 0) {
		if (ring)
			counters_of(ring, ONCE(slot->ring.nest))->n_filtered++;
		return false;
	}
	return begin_at(r, ring, ctx, open, type, flags, n_params, params_sz);
}

/*
 * begin_event(r, ctx, SYM, extra), commit_event(r): begin and commit of events that are not calls.
 */
#define begin_event(r, ctx, sym, extra)                                                            \
	begin_other(r, ctx, OPEN_SENT, EVT_##sym, EVT_##sym##_FLAGS, EVT_##sym##_NPARAMS,          \
		    EVT_##sym##_FIXED_SZ + (extra))

/* The same for events that happen all the time within calls. */
#define begin_event_within(r, ctx, sym, extra)                                                     \
	begin_other(r, ctx, OPEN_SENT_WHOLE, EVT_##sym, EVT_##sym##_FLAGS, EVT_##sym##_NPARAMS,    \
		    EVT_##sym##_FIXED_SZ + (extra))

/* The same after the record of a call in the same program: 6.1 would count the stack of the code
 * that sends the open enter. */
#define begin_event_after(r, ctx, sym, extra)                                                      \
	begin_other(r, ctx, OPEN_NONE, EVT_##sym, EVT_##sym##_FLAGS, EVT_##sym##_NPARAMS,          \
		    EVT_##sym##_FIXED_SZ + (extra))

static __always_inline int commit_event(struct rec *r)
{
	rec_close(r, r->flags, 0);
	return 0;
}

#endif /* DRIVER_ENTER_BPF_H */
