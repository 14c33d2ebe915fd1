/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ring of this CPU: reserves room for a record, publishes it, counts it, and wakes the reader.
 * Sheds (drops) unimportant records when the ring fills.
 *
 * The array ring holds a record in place. The perf and ringbuf kinds make it in the CPU's scratch
 * and send it whole. Writers nest (a page fault or a sample inside a filler): ring_ends.nest counts
 * them, and each has the counters of its nesting level to itself.
 */
#ifndef DRIVER_RING_BPF_H
#define DRIVER_RING_BPF_H

#include <linux/errno.h>

#include "compiler.bpf.h"
#include "event_layout.bpf.h"
#include "maps.bpf.h"

#define SCRATCH_LAST (SCRATCH_SZ - 8)
#define RESERVE_TRIES 8

struct rec {
	u8 *base;
	struct drv_slot *slot; /* of the call; NULL: not a call */
	void *ctx;
	s64 ret; /* of the call */
	u64 off; /* end of what is written */
	u64 room; /* reserved */
	u64 pos; /* array: position in the ring */
	u32 type;
	u32 n; /* parameters that were put */
	u32 n_params; /* parameters of the event */
	u32 level;
	u32 flags; /* REC_F_* of an event that is not a call */
};

/* Returns the ring of this CPU; NULL: it has none yet, since it just came online. */
static __always_inline struct ring *this_ring(void)
{
	u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	return ring ? bpf_map_lookup_elem(ring, &zero) : NULL;
}

/* Returns the positions of this CPU's ring: those beside the call, if it is the record of one. */
static __always_inline struct ring_ends *ends_of(const struct rec *r)
{
	return r->slot ? &r->slot->ring : this_ends();
}

static __always_inline struct drv_counters *counters_of(struct ring *ring, u32 level)
{
	return &ring->hdr.counters[level & (DRV_LEVELS - 1)];
}

static __always_inline struct drv_counts *counts_of(struct ring_ends *ends, u32 level)
{
	return &ends->counts[level & (DRV_LEVELS - 1)];
}

/* Ends the call: its slot no longer holds back libscap's watermark. */
static __always_inline void slot_clear(struct drv_slot *slot)
{
	barrier();
	ONCE(slot->task) = 0;
}

/* Leaves as a writer. Only the outermost one publishes. A writer that nested between its reads of
 * resv and nest did not publish, so resv is checked again: returns false if it has grown. */
static __always_inline bool leave_once(struct ring_ends *e)
{
	u64 resv = ONCE(e->resv);

	if (ONCE(e->nest) > 1) {
		ONCE(e->nest) -= 1;
		return true;
	}
	ONCE(e->head) = resv;
	barrier();
	ONCE(e->nest) = 0;
	barrier();
	return ONCE(e->resv) == resv;
}

#define LEAVE_TRIES 8

/* A callback of bpf_loop. */
static long leave_step(u32 i, void *ctx)
{
	struct ring_ends *ends = this_ends();

	(void)i;
	(void)ctx;
	ONCE(ends->nest) = 1;
	return leave_once(ends);
}

/*
 * Publishes what was written while this writer left. After eight interruptions of these few
 * instructions in a row it leaves that to the next writer. Verified on its own, since it follows
 * every path through every filler.
 */
__noinline int leave_again(void)
{
	bpf_loop(LEAVE_TRIES, leave_step, NULL, 0);
	return 0;
}

static __always_inline void ring_leave(struct ring_ends *e)
{
	if (cfg.ring_kind != RING_ARRAY)
		ONCE(e->nest) -= 1;
	else if (!leave_once(e))
		leave_again();
}

/* Counts a record that cannot be sent, and the time. A function of its own, since every filler
 * would have a copy; preemption is off, so the CPU is the same. */
__attribute__((noinline)) int rec_lost(u32 why, u32 type, u32 level)
{
	struct ring *ring = this_ring();
	struct drv_lost_span *at;
	struct drv_counters *c;
	u64 now;

	if (!ring)
		return 0;
	why &= DRV_DROP_ROOM - 1;
	c = counters_of(ring, level);
	at = &c->lost_at[why];
	now = bpf_ktime_get_boot_ns();
	if (at->last_ns <= ONCE(ring->hdr.reported_ns[why]))
		ONCE(at->first_ns) = now;
	ONCE(at->last_ns) = now;
	barrier(); /* a reader that sees the count also sees the times */
	c->lost[why][lost_kind[EVT_INDEX(type) & (EVT_ROWS_MAX - 1)] & (LOST_ROOM - 1)]++;
	__sync_fetch_and_add(&this_ends()->n_lost, 1);
	return 0;
}

/* Returns where the record at @pos is filled: in its place in the ring, or in the scratch. */
static __always_inline u8 *ring_place(struct ring *ring, u64 pos)
{
	return ring->data + (pos & (cfg.ring_kind == RING_ARRAY ? cfg.ring_sz - 8 : SCRATCH_LAST));
}

/* A place in the scratch, which is a stack: an interrupt between the two lines has released its
 * place before we continue. */
static __always_inline int scratch_reserve(struct rec *r, struct ring *ring)
{
	struct ring_ends *ends = ends_of(r);

	r->pos = ONCE(ends->scratch);
	if (r->pos > SCRATCH_LAST)
		return DRV_DROP_NESTED;
	ONCE(ends->scratch) = r->pos + r->room;
	r->base = ring_place(ring, r->pos);
	return DRV_DROP_MAX;
}

#define ARRAY_FULL (~0ull)

struct array_room {
	u64 room, pos;
};

/* A callback of bpf_loop. */
static long reserve_step(u32 i, void *ctx)
{
	struct array_room *a = ctx;
	struct ring_ends *ends = this_ends();
	u64 resv = ONCE(ends->resv);

	(void)i;
	if (resv - ONCE(ends->tail) + a->room > cfg.ring_sz)
		return 1;
	if (__sync_val_compare_and_swap(&ends->resv, resv, resv + a->room) != resv)
		return 0;
	a->pos = resv;
	return 1;
}

/* Reserves room in the array ring after another writer interrupted the attempt. Returns the
 * position. ARRAY_FULL also if that happened too often. */
__noinline u64 array_reserve(u64 room)
{
	struct array_room a = {.room = room, .pos = ARRAY_FULL};

	bpf_loop(RESERVE_TRIES, reserve_step, &a, 0);
	return a.pos;
}

/* Overhead of the kernel's own kinds of ring, which is not counted: headers of up to 16 bytes
 * before each record, at least 64 bytes long. */
#define SHED_OF                                                                                    \
	(cfg.ring_kind == RING_ARRAY || cfg.cpus_per_ring > 1 ? cfg.ring_sz : cfg.ring_sz / 4 * 3)

/* Returns the bytes in use of a ring that CPUs share, including the kernel's headers. Inlined,
 * since 6.1 verifies a function even if it has no caller, and without the map. */
static __always_inline u64 shared_used(void)
{
	u32 at = ring_of_cpu(bpf_get_smp_processor_id());
	void *ringbuf = bpf_map_lookup_elem(&ringbuf_rings, &at);

	return ringbuf ? bpf_ringbuf_query(ringbuf, BPF_RB_AVAIL_DATA) : 0;
}

/* Returns whether the ring is too full for this kind of record, though it would fit. */
static __always_inline bool is_shed(const struct rec *r)
{
	u64 used = cfg.cpus_per_ring > 1 ? shared_used()
					 : ONCE(ends_of(r)->resv) - ONCE(ends_of(r)->tail);
	u32 eighths = shed_at[EVT_INDEX(r->type) & (EVT_ROWS_MAX - 1)];

	used += r->room;
	return cfg.shed && eighths < 8 && used > SHED_OF / 8 * eighths && used <= cfg.ring_sz;
}

/* Reserves r->room bytes in @ring. Returns the place, or the reason why there is none. */
static __always_inline int ring_reserve(struct rec *r, struct ring *ring)
{
	struct ring_ends *ends = ends_of(r);
	u64 resv;

	if (r->room > DRV_REC_MAX)
		return DRV_DROP_TOO_BIG;
	if (is_shed(r))
		return DRV_DROP_SHED;
	if (cfg.ring_kind != RING_ARRAY)
		return scratch_reserve(r, ring);
	resv = ONCE(ends->resv);
	if (resv - ONCE(ends->tail) + r->room > cfg.ring_sz)
		return DRV_DROP_RING_FULL;
	if (__sync_val_compare_and_swap(&ends->resv, resv, resv + r->room) != resv)
		resv = array_reserve(r->room);
	if (resv == ARRAY_FULL)
		return DRV_DROP_RING_FULL;
	r->pos = resv;
	r->base = ring_place(ring, resv);
	return DRV_DROP_MAX;
}

/* Returns why the kernel refused a record for a perf buffer. */
static __always_inline int perf_refusal(long err)
{
	if (err == -ENOSPC)
		return DRV_DROP_RING_FULL;
	if (err == -ENOENT ||
	    err == -EOPNOTSUPP) /* no buffer yet, or one from before the CPU went offline */
		return DRV_DROP_NO_RING;
	return DRV_DROP_REFUSED;
}

/* Sends @len bytes of the scratch. Returns DRV_DROP_MAX, or the reason why they cannot be sent. */
static __always_inline int ring_send(struct rec *r, u64 len)
{
	u32 at = ring_of_cpu(bpf_get_smp_processor_id());
	void *ringbuf;
	long err;

	if (cfg.ring_kind == RING_PERF) {
		err = bpf_perf_event_output(r->ctx, &perf_rings, BPF_F_CURRENT_CPU, r->base, len);
		if (err)
			return perf_refusal(err);
	} else {
		ringbuf = bpf_map_lookup_elem(&ringbuf_rings, &at);
		if (!ringbuf)
			return DRV_DROP_NO_RING;
		if (bpf_ringbuf_output(ringbuf, r->base, len, BPF_RB_NO_WAKEUP))
			return DRV_DROP_RING_FULL;
	}
	/* Locked, since ring_bell must be read after it. */
	__sync_fetch_and_add(&ends_of(r)->resv, len);
	return DRV_DROP_MAX;
}

/* Gives back unused room, unless a nested writer has taken the place behind it. */
static __always_inline u64 ring_trim(struct rec *r, u64 len)
{
	u64 end = r->pos + r->room;

	if (len != r->room &&
	    __sync_val_compare_and_swap(&ends_of(r)->resv, end, r->pos + len) != end)
		return r->room;
	return len;
}

/* Wakes the reader if it sleeps: at once, or, from a nap, once enough is unread. The reader sets
 * ring_sleep, then reads resv; we move resv by a locked instruction before we read ring_sleep. */
static __always_inline void ring_bell(struct ring_ends *e)
{
	u64 asleep = ONCE(e->asleep);

	if (!asleep)
		return;
	if (asleep == RING_NAPS && ONCE(e->resv) - ONCE(e->tail) < cfg.wake_sz)
		return;
	ONCE(e->asleep) = RING_AWAKE;
	bpf_ringbuf_output(&bell, e, 0, BPF_RB_FORCE_WAKEUP);
}

#endif /* DRIVER_WRITER_BPF_H */
