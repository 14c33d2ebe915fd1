/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Raw enters, the records of calls that have not ended, and the records of what is no call:
 * whoever emits one of the latter while a call is open sends its enter first.
 */
#ifndef DRIVER_ENTER_BPF_H
#define DRIVER_ENTER_BPF_H

#include "args.bpf.h"
#include "select.bpf.h"
#include "writer.bpf.h"

/* The argument that a raw enter follows: the first pointer among the A rows of the call. */
struct enter_ptr {
	u8 arg;
	u8 kind; /* enum arg_kind; 0: none */
	u16 off; /* of a field */
};

static const struct enter_ptr enter_ptrs[DRV_MAX_NR] = {
#define AX(param, arg, kind)
#define AXF(param, arg, kind, offset)
#define A(param, arg, kind) ARG_##kind >= ARG_IN64 ? (arg):
#define AF(param, arg, kind, offset) (arg) < 6 ? (arg):
#define SYS(nr, name, event, filler, ...) [nr].arg = __VA_ARGS__ 0,
#include "syscalls.def"
#undef SYS
#undef A
#undef AF
#define A(param, arg, kind) ARG_##kind >= ARG_IN64 ? ARG_##kind:
#define AF(param, arg, kind, offset) (arg) < 6 ? ARG_##kind:
#define SYS(nr, name, event, filler, ...) [nr].kind = __VA_ARGS__ 0,
#include "syscalls.def"
#undef SYS
#undef A
#undef AF
#define A(param, arg, kind) ARG_##kind >= ARG_IN64 ? 0:
#define AF(param, arg, kind, offset) (arg) < 6 ? (offset):
#define SYS(nr, name, event, filler, ...) [nr].off = __VA_ARGS__ 0,
#include "syscalls.def"
#undef SYS
#undef A
#undef AF
#undef AX
#undef AXF
};

/* Is what the argument points to known before the call has ended? */
static __always_inline bool known_at_enter(u32 kind)
{
	return arg_is_pointer(kind) && !arg_is_out(kind);
}

static __always_inline struct enter_ptr enter_ptr_of(const struct drv_call *call)
{
	struct enter_ptr none = {};
	u32 nr = call->nr;

	if (nr >= DRV_MAX_NR || call->flags & REC_F_IA32 || !known_at_enter(enter_ptrs[nr].kind))
		return none;
	return enter_ptrs[nr];
}

static __always_inline u32 enter_type_of(const struct drv_call *call)
{
	u32 nr = call->nr;

	if (nr >= DRV_MAX_NR || call->flags & REC_F_IA32)
		return EVT_SYSCALL_E;
	return nr_event[nr] - 1;
}

/* What argument p.arg points to: a number, or bytes as the kernel has them. */
static __always_inline void put_pointed(struct rec *r, const struct drv_call *call,
					struct enter_ptr p)
{
	u32 i = p.arg < 5 ? p.arg : 5;
	u64 addr = call->args[i], beside = call->args[i < 5 ? i + 1 : i];
	u64 v;

	if (arg_is_field(p.kind)) {
		if (user_field(p.kind, addr, p.off, &v))
			put_u64(r, v);
		else
			put_empty(r);
	} else if (p.kind == ARG_BYTES)
		put_user_bytes(r, addr, beside > cfg.snaplen ? cfg.snaplen : beside, PATH_SZ);
	else if (p.kind == ARG_PATH)
		put_user_str(r, addr, PATH_SZ);
	else if (p.kind == ARG_SOCKADDR)
		put_user_bytes(r, addr, (s32)beside, ARG_SOCKADDR_MAX);
	else if (p.kind == ARG_POLLFDS)
		put_user_bytes(r, addr, (s64)(u32)beside * 8, ARG_POLLFDS_MAX * 8);
	else
		put_u64(r, arg_number(p.kind, addr, beside, 1));
}

/*
 * Sends the enter of the call in @slot ahead, as a raw enter. The call is of the task @tid, whose
 * memory is the one mapped now. When it got into the ring, the call's state is CALL_SENT.
 */
static __always_inline void send_enter(void *ctx, struct drv_slot *slot, u64 tid, u64 flags)
{
	struct drv_call *call = &slot->call;
	struct enter_ptr p = enter_ptr_of(call);
	struct rec r;

	if (cfg.failed_only) /* not asked for, unless it fails: the exit will tell */
		flags |= REC_F_STATE_ONLY;
	r.slot = slot;
	if (!rec_open(&r, ctx, enter_type_of(call), p.kind ? 7 : 6, 6 * sizeof(u64) + PATH_SZ))
		return;
	/* Before it is published, lest an interrupt sends it again. */
	ONCE(call->state) = CALL_SENT;
	put_header(&r, call->ts, tid);
	for (int i = 0; i < 6; i++)
		put_u64(&r, call->args[i]);
	if (p.kind)
		put_pointed(&r, call, p);
	if (rec_close(&r, flags | call->flags | REC_F_RAW_ENTER, call->ts))
		return;
	ONCE(call->state) = CALL_OPEN;
}

/*
 * The record of something else than the end of a call. If a call is open on this CPU its enter
 * goes first, so that the ring's keys ascend; inside another writer that is too late, and
 * needless, as the outer record has its place already.
 */
static __always_inline bool begin_other(struct rec *r, void *ctx, u32 type, u32 evt_flags,
					u32 n_params, u64 params_sz)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct drv_slot *slot = this_slot();
	struct ring *ring = this_ring();
	s32 flags = sel_event(slot, task, type, evt_flags);

	if (flags < 0) {
		if (ring)
			counters_of(ring, ONCE(ring->hdr.nest))->n_filtered++;
		return false;
	}

	if (slot->task == (u64)task && slot->call.state == CALL_OPEN && ring && !ring->hdr.nest)
		send_enter(ctx, slot, task->pid, 0);
	r->slot = NULL;
	r->ret = 0;
	r->flags = flags;
	if (!rec_open(r, ctx, type, n_params, params_sz))
		return false;
	put_header(r, bpf_ktime_get_boot_ns(), task->pid);
	return true;
}

/* begin_event(r, ctx, SYM, extra), commit_event(r): the same for events that are no calls. */
#define begin_event(r, ctx, sym, extra)                                                            \
	begin_other(r, ctx, EVT_##sym, EVT_##sym##_FLAGS, EVT_##sym##_NPARAMS,                     \
		    EVT_##sym##_FIXED_SZ + (extra))

static __always_inline int commit_event(struct rec *r)
{
	rec_close(r, r->flags, 0);
	return 0;
}

#endif /* DRIVER_ENTER_BPF_H */
