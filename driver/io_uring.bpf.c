/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io_uring requests: events of submission and completion. Neither is a call. Any task may complete
 * a request, so both events belong to the task that submitted it.
 */
#include "enter.bpf.h"
#include "guard.bpf.h"
#include "sock.bpf.h"

#define OP_NOP 0
#define OP_ACCEPT 13
#define OP_CONNECT 16
#define OP_OPENAT 18
#define OP_CLOSE 19
#define OP_OPENAT2 28
#define OP_SOCKET 45
#define OP_UNKNOWN 0xff

#define SQE_FIXED_FILE 1
#define SQE_FLAGS 0x7f /* the low bits of a request's flags: those of its SQE */
#define CQE_MORE 2

/* Operations without a file descriptor in the common field. */
#define OP_BIT(op) (1ull << (op))
#define OPS_WITHOUT_FILE                                                                           \
	(OP_BIT(OP_NOP) | OP_BIT(7) | OP_BIT(11) | OP_BIT(12) | OP_BIT(14) | OP_BIT(15) |          \
	 OP_BIT(OP_OPENAT) | OP_BIT(OP_CLOSE) | OP_BIT(20) | OP_BIT(21) | OP_BIT(25) |             \
	 OP_BIT(OP_OPENAT2) | OP_BIT(29) | OP_BIT(31) | OP_BIT(32) | 0x1full << 35 | OP_BIT(42) |  \
	 OP_BIT(44) | OP_BIT(OP_SOCKET) | 0xfull << 50 | OP_BIT(62))
#define N_OPS 63 /* newer operations are unknown */

/* Key of a request: its address; for multishot requests, ring and user data. */
struct io_key {
	u64 of, user_data;
};

struct io_pending {
	s64 fd; /* -1: none */
	u32 op;
	u32 flags; /* of what the request opens */
};

/* LRU: the completion of an evicted request has no file. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct io_key);
	__type(value, struct io_pending);
} io_requests SEC(".maps");

static __always_inline struct task_struct *io_owner(struct io_kiocb *req)
{
	struct io_kiocb___v612 *old = (void *)req;

	if (bpf_core_field_exists(old->task))
		return BPF_CORE_READ(old, task);
	return BPF_CORE_READ(req, tctx, task);
}

/* Returns the TID of the event: for io_uring's own worker threads, that of the process. */
static __always_inline u32 io_tid(struct task_struct *owner)
{
	if (BPF_CORE_READ(owner, flags) & PF_IO_WORKER)
		return BPF_CORE_READ(owner, tgid);
	return BPF_CORE_READ(owner, pid);
}

static __always_inline u32 io_flags(struct io_kiocb *req)
{
	u32 flags = 0;

	bpf_core_read(&flags, sizeof(flags), &req->flags); /* u64 since 6.10 */
	return flags & SQE_FLAGS;
}

/* Returns the file descriptor that a request uses; -1: none. */
static __always_inline s64 io_fd(struct io_kiocb *req, u32 op, u32 flags)
{
	if (op == OP_CLOSE)
		return BPF_CORE_READ((struct io_close *)req, file_slot)
			       ? -1
			       : BPF_CORE_READ((struct io_close *)req, fd);
	if (op >= N_OPS || OPS_WITHOUT_FILE >> op & 1 || flags & SQE_FIXED_FILE)
		return -1;
	return BPF_CORE_READ(req, cqe.fd);
}

/* Returns the index of the registered file that a request uses or fills, plus one; 0: none. */
static __always_inline u32 io_slot(struct io_kiocb *req, u32 op, u32 flags)
{
	switch (op) {
	case OP_CLOSE:
		return BPF_CORE_READ((struct io_close *)req, file_slot);
	case OP_OPENAT:
	case OP_OPENAT2:
		return BPF_CORE_READ((struct io_open *)req, file_slot);
	case OP_ACCEPT:
		return BPF_CORE_READ((struct io_accept *)req, file_slot);
	case OP_SOCKET:
		return BPF_CORE_READ((struct io_socket *)req, file_slot);
	}
	if (op >= N_OPS || OPS_WITHOUT_FILE >> op & 1 || !(flags & SQE_FIXED_FILE))
		return 0;
	return BPF_CORE_READ(req, cqe.fd) + 1;
}

static __always_inline u32 io_open_flags(struct io_kiocb *req, u32 op)
{
	if (op == OP_OPENAT || op == OP_OPENAT2)
		return convert_open_flags(BPF_CORE_READ((struct io_open *)req, how.flags));
	if (op == OP_ACCEPT)
		return convert_file_flags(BPF_CORE_READ((struct io_accept *)req, flags));
	return 0;
}

/* Returns the path that a request opens: the kernel's copy. */
static __always_inline const char *io_path(struct io_kiocb *req)
{
	struct io_open___v70 *open = (void *)req;

	if (bpf_core_field_exists(open->filename.__incomplete_filename))
		return BPF_CORE_READ(open, filename.__incomplete_filename, name);
	return BPF_CORE_READ((struct io_open___v619 *)req, filename, name);
}

static __always_inline void put_fd_if(struct rec *r, s64 fd)
{
	if (fd < 0)
		put_empty(r);
	else
		put_s64(r, fd);
}

static __always_inline void put_u32_if(struct rec *r, u32 v)
{
	if (v)
		put_u32(r, v);
	else
		put_empty(r);
}

static __always_inline void io_request_add(struct io_kiocb *req, u32 op, s64 fd, u64 user_data)
{
	struct io_key key = {.of = (u64)req};
	struct io_pending p = {.fd = fd, .op = op, .flags = io_open_flags(req, op)};

	bpf_map_update_elem(&io_requests, &key, &p, BPF_ANY);
	if (op != OP_ACCEPT)
		return;
	key.of = (u64)BPF_CORE_READ(req, ctx);
	key.user_data = user_data;
	bpf_map_update_elem(&io_requests, &key, &p, BPF_ANY);
}

static __always_inline int submitted(u64 *ctx)
{
	struct io_kiocb *req = (void *)ctx[0];
	struct task_struct *owner = io_owner(req);
	u32 op = BPF_CORE_READ(req, opcode), flags = io_flags(req);
	u64 user_data = BPF_CORE_READ(req, cqe.user_data);
	u32 slot = io_slot(req, op, flags);
	struct drv_slot *cpu = this_slot();
	s64 fd = io_fd(req, op, flags);
	struct rec r;

	if (BPF_CORE_READ(owner, tgid) == (int)cfg.self_tgid)
		return 0;
	fd = widen(cpu, fd, ~0ull);
	io_request_add(req, op, fd, user_data);
	slot = widen(cpu, slot, ~0u);
	if (!begin_event(&r, ctx, IO_URING_SUBMIT_E, PATH_SZ))
		return 0;
	r.slot = cpu; /* for its scratch */
	set_tid(&r, io_tid(owner));
	put_u8(&r, op);
	put_fd_if(&r, fd);
	widen_off(&r);
	put_u64(&r, user_data);
	put_u32_if(&r, flags);
	put_u32_if(&r, slot);
	if (op == OP_OPENAT || op == OP_OPENAT2) {
		put_s64(&r, BPF_CORE_READ((struct io_open *)req, dfd));
		put_kernel_str(&r, io_path(req), PATH_SZ);
	} else {
		put_empty(&r);
		put_empty(&r);
	}
	widen_off(&r);
	r.slot = NULL;
	return commit_event(&r);
}

SEC("?tp_btf/io_uring_submit_req")
int io_uring_submit_req(u64 *ctx)
{
	return PINNED(submitted(ctx));
}

/* struct io_uring_cqe */
struct io_done {
	u64 user_data;
	s32 res;
	u32 flags;
};

/* Finds the request that completes. OP_UNKNOWN: it is older than the capture, or evicted. */
static __always_inline struct io_pending io_request_find(struct io_kiocb *req, u64 ring,
							 const struct io_done *d)
{
	struct io_pending none = {.fd = -1, .op = OP_UNKNOWN}, found;
	struct io_key key = {.of = (u64)req}, twin = {.of = ring, .user_data = d->user_data};
	struct io_pending *p;

	if (req)
		none.op = BPF_CORE_READ(req, opcode);
	p = bpf_map_lookup_elem(&io_requests, req ? &key : &twin);
	if (!p)
		return none;
	found = *p;
	if (req && !(d->flags & CQE_MORE))
		bpf_map_delete_elem(&io_requests, &key);
	if (found.op == OP_ACCEPT && !(d->flags & CQE_MORE))
		bpf_map_delete_elem(&io_requests, &twin);
	return found;
}

/* Puts path, flags, dev and ino of the opened file, without values if @file is NULL. */
static __always_inline void put_io_opened(struct rec *r, struct file *file, u32 flags)
{
	struct file_id id = {};

	if (!file) {
		put_empty(r);
		put_empty(r);
		put_empty(r);
		put_empty(r);
		return;
	}
	id = file_id_of(file);
	put_path(r, &file->f_path);
	put_u32(r, flags | opened_flags(&id));
	put_u32(r, id.dev);
	put_u64(r, id.ino);
}

static __always_inline void put_io_socket(struct rec *r, struct io_kiocb *req)
{
	if (!req) {
		put_empty(r);
		put_empty(r);
		put_empty(r);
		return;
	}
	put_u32(r, BPF_CORE_READ((struct io_socket *)req, domain));
	put_u32(r, BPF_CORE_READ((struct io_socket *)req, type) |
			   BPF_CORE_READ((struct io_socket *)req, flags));
	put_u32(r, BPF_CORE_READ((struct io_socket *)req, protocol));
}

/* Returns whether the result is a descriptor of the current process, which can be looked up. */
static __always_inline bool io_is_here(struct task_struct *owner)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return BPF_CORE_READ(owner, tgid) == task->tgid;
}

static __always_inline struct sock *io_sock(const struct io_pending *p, s32 res, bool new_fd)
{
	if (p->op == OP_ACCEPT && new_fd)
		return fd_sock(res);
	if (p->op == OP_CONNECT && p->fd >= 0)
		return fd_sock(p->fd);
	return NULL;
}

static __always_inline int io_complete(u64 *ctx, struct io_kiocb *req, const struct io_done *d)
{
	struct task_struct *owner = req ? io_owner(req) : bpf_get_current_task_btf();
	struct io_pending p = io_request_find(req, ctx[0], d);
	u32 slot = req ? io_slot(req, p.op, 0) : 0;
	bool here = io_is_here(owner), new_fd = here && d->res >= 0 && !slot, opens;
	struct drv_slot *cpu = this_slot();
	struct sock *sk;
	struct rec r;

	if (BPF_CORE_READ(owner, tgid) == (int)cfg.self_tgid)
		return 0;
	/* Whatever led to these, the verifier goes on from here once. */
	p.op = widen(cpu, p.op, OP_UNKNOWN);
	p.fd = widen(cpu, p.fd, ~0ull);
	p.flags = widen(cpu, p.flags, ~0u);
	slot = widen(cpu, slot, ~0u);
	here = widen(cpu, here, 1);
	new_fd = widen(cpu, new_fd, 1);
	if (!begin_event(&r, ctx, IO_URING_COMPLETE_X, PATH_SZ + TUPLE_SZ))
		return 0;
	r.slot = cpu; /* for its scratch */
	set_tid(&r, io_tid(owner));
	opens = p.op == OP_OPENAT || p.op == OP_OPENAT2;
	put_s64(&r, d->res);
	put_u8(&r, p.op);
	put_fd_if(&r, p.fd);
	put_u64(&r, d->user_data);
	put_u32_if(&r, d->flags);
	put_u32_if(&r, slot);
	widen_off(&r);
	put_io_opened(&r, opens && new_fd ? fd_file(d->res) : NULL, p.flags);
	widen_off(&r);
	sk = here ? io_sock(&p, d->res, new_fd) : NULL;
	if (sk)
		put_tuple(&r, sk, p.op == OP_ACCEPT, 0, 0);
	else
		put_empty(&r);
	widen_off(&r);
	put_io_socket(&r, p.op == OP_SOCKET ? req : NULL);
	r.slot = NULL;
	return commit_event(&r);
}

static __always_inline int completed(u64 *ctx)
{
	struct io_done d = {};

	if (cfg.io_cqe_at) {
		bpf_probe_read_kernel(&d, sizeof(d), (void *)ctx[2]);
	} else {
		d.user_data = ctx[2];
		d.res = ctx[3];
		d.flags = ctx[4];
	}
	return io_complete(ctx, (void *)ctx[1], &d);
}

SEC("?tp_btf/io_uring_complete")
int io_uring_complete(u64 *ctx)
{
	return PINNED(completed(ctx));
}
