/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io_uring requests: events of submission and completion. Neither is a call. Any task may complete
 * a request, so both events belong to the task that submitted it.
 */
#include "enter.bpf.h"
#include "guard.bpf.h"
#include "snaplen.bpf.h"
#include "sock.bpf.h"

#define OP_NOP 0
#define OP_READV 1
#define OP_WRITEV 2
#define OP_READ_FIXED 4
#define OP_WRITE_FIXED 5
#define OP_SENDMSG 9
#define OP_RECVMSG 10
#define OP_ACCEPT 13
#define OP_CONNECT 16
#define OP_OPENAT 18
#define OP_CLOSE 19
#define OP_READ 22
#define OP_WRITE 23
#define OP_SEND 26
#define OP_RECV 27
#define OP_OPENAT2 28
#define OP_SOCKET 45
#define OP_SEND_ZC 47
#define OP_SENDMSG_ZC 48
#define OP_READ_MULTISHOT 49
#define OP_UNKNOWN 0xff

#define SQE_FIXED_FILE 1
#define SQE_FLAGS 0x7f /* the low bits of a request's flags: those of its SQE */
#define CQE_MORE 2
#define SQE_BUFFER_SELECT 0x20
#define RECV_MULTISHOT 2

/* Operations without a file descriptor in the common field. */
#define OP_BIT(op) (1ull << (op))
#define OPS_WITHOUT_FILE                                                                           \
	(OP_BIT(OP_NOP) | OP_BIT(7) | OP_BIT(11) | OP_BIT(12) | OP_BIT(14) | OP_BIT(15) |          \
	 OP_BIT(OP_OPENAT) | OP_BIT(OP_CLOSE) | OP_BIT(20) | OP_BIT(21) | OP_BIT(25) |             \
	 OP_BIT(OP_OPENAT2) | OP_BIT(29) | OP_BIT(31) | OP_BIT(32) | 0x1full << 35 | OP_BIT(42) |  \
	 OP_BIT(44) | OP_BIT(OP_SOCKET) | 0xfull << 50 | OP_BIT(62))
#define N_OPS 63 /* newer operations are unknown */

/* Operations that move bytes, by what their address is. */
#define OPS_RW_BUFFER                                                                              \
	(OP_BIT(OP_READ_FIXED) | OP_BIT(OP_WRITE_FIXED) | OP_BIT(OP_READ) | OP_BIT(OP_WRITE))
#define OPS_RW_VECTOR (OP_BIT(OP_READV) | OP_BIT(OP_WRITEV))
#define OPS_NET_BUFFER (OP_BIT(OP_SEND) | OP_BIT(OP_RECV) | OP_BIT(OP_SEND_ZC))
#define OPS_NET_VECTOR (OP_BIT(OP_SENDMSG) | OP_BIT(OP_RECVMSG) | OP_BIT(OP_SENDMSG_ZC))
#define OPS_RECEIVE (OP_BIT(OP_RECV) | OP_BIT(OP_RECVMSG))

static __always_inline bool is_op(u32 op, u64 ops)
{
	return op < N_OPS && ops >> op & 1;
}

/* Key of a request: its address; for multishot requests, ring and user data. */
struct io_key {
	u64 of, user_data;
};

struct io_pending {
	s64 fd; /* -1: none */
	u32 op;
	u32 flags; /* of what the request opens */
	u64 begin_ns; /* when it was submitted; 0: unknown */
	u64 is_multi; /* it may have several completions */
	u64 iov, n_iov; /* a vector, which the caller may change at once */
	struct iovec first; /* its first buffer */
};

/* LRU: the completion of an evicted request has no file. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct io_key);
	__type(value, struct io_pending);
} io_requests SEC(".maps");

/* The request that is being recorded: out of the verifier's sight, and off the stack. */
struct io_ended {
	struct io_pending p;
	u64 req, owner; /* addresses of the kernel's structures; a request of 0: unknown */
	s32 res;
	u32 slot; /* registered file, plus one */
	u32 here; /* the result is a descriptor of the current process, which can be looked up */
	u32 msg_flags;
	u64 len; /* bytes to copy */
	struct iovec at; /* from this buffer */
	u64 n; /* and those behind it in the vector, this many in all */
};

struct io_copy {
	u8 *to;
	u64 got;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct io_ended);
} io_ended SEC(".maps");

static __always_inline struct io_ended *this_ended(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&io_ended, &zero);
}

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

/* Returns whether a request goes on after a completion. Its completions have no request then. */
static __always_inline bool io_is_multi(struct io_kiocb *req, u32 op)
{
	if (is_op(op, OPS_RECEIVE))
		return BPF_CORE_READ((struct io_sr_msg *)req, flags) & RECV_MULTISHOT;
	return op == OP_ACCEPT || op == OP_READ_MULTISHOT;
}

/* Since 7.0 a value of an enum without a name tells, which CO-RE cannot find. The call that submits
 * does, too, but for a thread of the kernel (SQPOLL), which has none. */
static __always_inline bool io_is_compat(struct io_ring_ctx *ring)
{
	if (bpf_core_field_exists(ring->compat))
		return BPF_CORE_READ_BITFIELD_PROBED(ring, compat);
	return this_slot()->call.flags & REC_F_IA32;
}

/* Notes the vector of a request; not that of a 32-bit program. */
static __always_inline void io_note_vector(struct io_pending *p, struct io_kiocb *req, u32 op)
{
	struct io_ring_ctx *ring = BPF_CORE_READ(req, ctx);
	struct user_msghdr m = {};

	if (!is_op(op, OPS_RW_VECTOR | OPS_NET_VECTOR) || io_is_compat(ring))
		return;
	if (is_op(op, OPS_RW_VECTOR)) {
		m.iov = BPF_CORE_READ((struct io_rw *)req, addr);
		m.iovlen = BPF_CORE_READ((struct io_rw *)req, len);
	} else if (bpf_probe_read_user(&m, sizeof(m),
				       BPF_CORE_READ((struct io_sr_msg *)req, umsg))) {
		return;
	}
	if (bpf_probe_read_user(&p->first, sizeof(p->first), (void *)m.iov))
		return;
	p->iov = m.iov;
	p->n_iov = m.iovlen;
}

static __always_inline void io_request_add(struct io_kiocb *req, u32 op, s64 fd, u64 user_data)
{
	struct io_key key = {.of = (u64)req};
	struct io_ended *e = this_ended();
	struct io_pending *p;

	if (!e)
		return;
	p = &e->p;
	*p = (struct io_pending){
		.fd = fd,
		.op = op,
		.flags = io_open_flags(req, op),
		.begin_ns = bpf_ktime_get_boot_ns(),
		.is_multi = io_is_multi(req, op),
	};
	io_note_vector(p, req, op);
	bpf_map_update_elem(&io_requests, &key, p, BPF_ANY);
	if (!p->is_multi)
		return;
	key.of = (u64)BPF_CORE_READ(req, ctx);
	key.user_data = user_data;
	bpf_map_update_elem(&io_requests, &key, p, BPF_ANY);
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
static __always_inline void io_request_find(struct io_pending *to, struct io_kiocb *req, u64 ring,
					    const struct io_done *d)
{
	struct io_key key = {.of = (u64)req}, twin = {.of = ring, .user_data = d->user_data};
	struct io_pending *p = bpf_map_lookup_elem(&io_requests, req ? &key : &twin);

	if (!p) {
		*to = (struct io_pending){.fd = -1,
					  .op = req ? BPF_CORE_READ(req, opcode) : OP_UNKNOWN};
		return;
	}
	*to = *p;
	if (!req) /* one of several completions: none has a begin of its own */
		to->begin_ns = 0;
	if (d->flags & CQE_MORE)
		return;
	if (req)
		bpf_map_delete_elem(&io_requests, &key);
	if (to->is_multi)
		bpf_map_delete_elem(&io_requests, &twin);
}

/* Returns whether the result is a descriptor of the current process, which can be looked up. */
static __always_inline bool io_is_here(struct task_struct *owner)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return BPF_CORE_READ(owner, tgid) == task->tgid;
}

/* Returns whether the current task has the memory of @owner. */
static __always_inline bool io_has_memory(struct task_struct *owner)
{
	struct mm_struct *mm = BPF_CORE_READ(owner, mm);

	return mm && mm == untrusted_task(bpf_get_current_task_btf())->mm;
}

/* Returns how many buffers the vector still has: the first alone if the caller has changed it. */
static __always_inline u64 io_n_buffers(const struct io_pending *p)
{
	struct iovec v = {};

	if (!p->iov)
		return 0;
	bpf_probe_read_user(&v, sizeof(v), (void *)p->iov);
	return v.base == p->first.base && v.len == p->first.len ? p->n_iov : 1;
}

/* Finds the bytes that the request moved, at most as many as are copied. */
static __always_inline void io_find_bytes(struct io_ended *e)
{
	struct io_kiocb *req = (void *)e->req;
	struct io_sr_msg *msg = (void *)req;
	s64 max = cfg.n_snap_ports && e->p.fd >= 0 && e->here ? snaplen_of(e->p.fd) : cfg.snaplen;
	u32 op = e->p.op;

	e->n = 1;
	if (e->res <= 0 || !io_has_memory((void *)e->owner))
		return;
	e->len = e->res < max ? e->res : max;
	e->at = (struct iovec){.len = e->len};
	if (is_op(op, OPS_RW_BUFFER)) {
		e->at.base = BPF_CORE_READ((struct io_rw *)req, addr);
	} else if (is_op(op, OPS_NET_BUFFER)) {
		e->at.base = (u64)BPF_CORE_READ(msg, buf);
		if (!(io_flags(req) & SQE_BUFFER_SELECT))
			e->at.base -= BPF_CORE_READ(msg, done_io);
	} else {
		e->at = e->p.first;
		e->n = io_n_buffers(&e->p);
	}
}

/* Finds what is recorded of the request in io_ended. Verified on its own. */
__noinline int io_find(void)
{
	struct io_ended *e = this_ended();
	struct io_sr_msg *msg;

	if (!e)
		return 0;
	e->here = io_is_here((void *)e->owner);
	e->slot = e->msg_flags = e->len = 0;
	if (!e->req)
		return 0;
	e->slot = io_slot((void *)e->req, e->p.op, 0);
	msg = (void *)e->req; /* apart: CO-RE would relocate both */
	if (is_op(e->p.op, OPS_RECEIVE))
		e->msg_flags = BPF_CORE_READ(msg, msg_flags);
	io_find_bytes(e);
	return 0;
}

/* Copies the next buffer. A callback of bpf_loop, whose body is verified once. */
static long io_copy_buffer(u32 i, void *ctx)
{
	struct io_copy *c = ctx;
	struct io_ended *e = this_ended();
	u64 got = widen(this_slot(), c->got, cfg.snaplen_max), n;
	struct iovec v;

	if (!e || i >= e->n || got >= e->len)
		return 1;
	v = e->at;
	if (i && bpf_probe_read_user(&v, sizeof(v), (void *)(e->p.iov + i * sizeof(v))))
		return 1;
	n = written(v.len < e->len - got ? v.len : e->len - got, cfg.snaplen_max);
	if (n && bpf_probe_read_user(c->to + got, n, (void *)v.base))
		return 1;
	c->got = got + n;
	return 0;
}

static __always_inline void put_io_bytes(struct rec *r)
{
	struct io_copy c = {.to = put_here(r)};

	if (!(r->flags & REC_F_STATE_ONLY))
		bpf_loop(VECTOR_MAX, io_copy_buffer, &c, 0);
	put_done(r, widen(r->slot, c.got, cfg.snaplen_max));
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

static __always_inline struct sock *io_sock(const struct io_pending *p, s32 res, bool new_fd)
{
	if (p->op == OP_ACCEPT && new_fd)
		return fd_sock(res);
	if (p->op == OP_CONNECT && p->fd >= 0)
		return fd_sock(p->fd);
	return NULL;
}

/* Puts how long the request took, the flags of what it received, and the bytes that it moved. */
static __always_inline void put_io_moved(struct rec *r, const struct io_ended *e)
{
	u64 now = *(u64 *)(r->base + EVT_AT);

	if (e->p.begin_ns && e->p.begin_ns <= now)
		put_u64(r, now - e->p.begin_ns);
	else
		put_empty(r);
	put_u32_if(r, e->msg_flags);
	widen_off(r);
	put_io_bytes(r);
}

static __always_inline int io_complete(u64 *ctx, struct io_kiocb *req, const struct io_done *d)
{
	struct task_struct *owner = req ? io_owner(req) : bpf_get_current_task_btf();
	struct io_ended *e = this_ended();
	bool new_fd, opens;
	struct sock *sk;
	struct rec r;

	if (!e || BPF_CORE_READ(owner, tgid) == (int)cfg.self_tgid)
		return 0;
	io_request_find(&e->p, req, ctx[0], d);
	e->req = (u64)req;
	e->owner = (u64)owner;
	e->res = d->res;
	io_find();
	if (!begin_event(&r, ctx, IO_URING_COMPLETE_X,
			 PATH_SZ + TUPLE_SZ + written(e->len, cfg.snaplen_max)))
		return 0;
	r.slot = this_slot(); /* for its scratch */
	set_tid(&r, io_tid(owner));
	opens = e->p.op == OP_OPENAT || e->p.op == OP_OPENAT2;
	new_fd = e->here && d->res >= 0 && !e->slot;
	put_s64(&r, d->res);
	put_u8(&r, e->p.op);
	put_fd_if(&r, e->p.fd);
	put_u64(&r, d->user_data);
	put_u32_if(&r, d->flags);
	put_u32_if(&r, e->slot);
	widen_off(&r);
	put_io_opened(&r, opens && new_fd ? fd_file(d->res) : NULL, e->p.flags);
	widen_off(&r);
	sk = e->here ? io_sock(&e->p, d->res, new_fd) : NULL;
	if (sk)
		put_tuple(&r, sk, e->p.op == OP_ACCEPT, 0, 0);
	else
		put_empty(&r);
	widen_off(&r);
	put_io_socket(&r, e->p.op == OP_SOCKET ? req : NULL);
	widen_off(&r);
	put_io_moved(&r, e);
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
