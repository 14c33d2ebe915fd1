/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Plaintext of TLS connections (--tls), from probes on functions of TLS libraries (shared/tls.h).
 * The entry of a function is kept in storage of its thread, and its return sends the event. A
 * goroutine of Go may return on another thread: its calls are kept by goroutine.
 *
 * The descriptor is that of the socket calls within the function, kept for later calls with the
 * same connection. A library without a socket (OpenSSL's memory BIOs) calls none: then the TLS
 * record of the same length is found in the thread's next send, or in its last receive. Otherwise
 * the descriptor is unknown; it is never guessed.
 *
 * Programs of uprobes are preemptible on every kernel, so events are written between pin_iter and
 * unpin_iter (pin.bpf.h). libscap attaches them only if that suffices on the running kernel.
 */
#include "shared/tls.h"
#include "enter.bpf.h"
#include "sock.bpf.h"

#define TLS_DEPTH 4 /* calls within calls: TLS over TLS; a power of two */
#define TLS_RECORDS 8 /* records of a send or receive that are visited; a power of two */
#define TLS_CONNS 16384
#define TLS_GOROUTINES 32768 /* with a call under way */
#define TLS_RECORD_MAX 16384 /* bytes of plaintext in a record */
#define TLS_TYPE_DATA 0x17

#define SOCK_STREAM_TYPE 1

/* The context of a uprobe, as in pt_regs; not relocated, see struct perf_event_ctx. */
struct tls_regs {
	u64 regs[21];
};

enum {
	TLS_R14 = 1,
	TLS_BX = 5,
	TLS_AX = 10,
	TLS_CX = 11,
	TLS_SI = 13,
	TLS_DI = 14,
	TLS_IP = 16,
	TLS_SP = 19
};

struct tls_frame {
	u64 sp; /* at the entry; of a goroutine relative to the end of its stack, which may move */
	u64 ssl, buf;
	u64 len_at; /* of kinds that return the length there; of Go the length itself */
	s32 fd; /* of the last socket call in it; -1: none */
	s32 err; /* result of that call if it failed, else 0 */
	u32 function;
	u8 called; /* it has made a socket call */
	u8 sent; /* a function that it called for the same connection has sent its event */
	u8 has_fd; /* fd is that of the connection, whatever it calls */
	u8 on_stack; /* buf is relative, as sp */
	u32 n_records, records_sz; /* of data that Go has sent, without their headers */
};

/* Calls under way, the innermost last. */
struct tls_calls {
	struct tls_frame frames[TLS_DEPTH];
	u64 n;
};

struct tls_thread {
	struct tls_calls calls;
	s32 in_fd; /* of the last receive that began with a TLS record */
	u32 in_len[TLS_RECORDS]; /* lengths of its records of data; 0: none */
	u32 out_len;
	u64 out_ssl; /* wrote bytes, which the next send contains; 0: none */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tls_thread);
} tls_threads SEC(".maps");

/* Connections and goroutines of a process; an exec replaces its memory. */
struct tls_key {
	u64 mm, ssl;
};

/* Calls by goroutine, only while there are some. LRU: processes end while goroutines wait. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TLS_GOROUTINES);
	__type(key, struct tls_key);
	__type(value, struct tls_calls);
} tls_goroutines SEC(".maps");

u32 tls_has_go; /* a function of Go was called: socket calls may be those of goroutines */

/* Descriptors by connection. LRU: an evicted one is found again by its next call. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TLS_CONNS);
	__type(key, struct tls_key);
	__type(value, s32);
} tls_fds SEC(".maps");

/* Connections by descriptor: one that another connection has is not matched by length. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TLS_CONNS);
	__type(key, struct tls_key);
	__type(value, u64);
} tls_owners SEC(".maps");

static __always_inline struct tls_thread *tls_find(struct task_struct *task)
{
	return bpf_task_storage_get(&tls_threads, task, NULL, 0);
}

static __always_inline struct tls_key tls_key_of(struct task_struct *task, u64 ssl)
{
	return (struct tls_key){.mm = (u64)task->mm, .ssl = ssl};
}

/* Returns the descriptor of the connection; -1: unknown. */
static __always_inline s32 tls_fd_of(const struct tls_key *key)
{
	s32 *fd = bpf_map_lookup_elem(&tls_fds, key);

	return fd ? *fd : -1;
}

/* As struct tls_key, with the descriptor instead of the connection. */
static __always_inline struct tls_key tls_owner_key(const struct tls_key *key, s32 fd)
{
	return (struct tls_key){.mm = key->mm, .ssl = (u32)fd};
}

static __always_inline void tls_learn(const struct tls_key *key, s32 fd)
{
	const struct tls_key at = tls_owner_key(key, fd);
	const u64 ssl = key->ssl;

	if (tls_fd_of(key) == fd)
		return;
	bpf_map_update_elem(&tls_fds, key, &fd, BPF_ANY);
	bpf_map_update_elem(&tls_owners, &at, &ssl, BPF_ANY);
}

/* Returns whether another connection has the descriptor. */
static __always_inline bool tls_is_taken(const struct tls_key *key, s32 fd)
{
	const struct tls_key at = tls_owner_key(key, fd);
	const u64 *ssl = bpf_map_lookup_elem(&tls_owners, &at);
	struct tls_key owner = *key;

	if (!ssl || *ssl == key->ssl)
		return false;
	owner.ssl = *ssl;
	return tls_fd_of(&owner) == fd;
}

/* ---- records of TLS ---- */

/* Returns the length of the record whose header is at @at in the caller's memory, with its type;
 * 0: it is none. */
static __always_inline u32 tls_record(u64 at, u8 *type)
{
	u8 h[5];

	if (bpf_probe_read_user(h, sizeof(h), (void *)at) || h[0] < 0x14 || h[0] > TLS_TYPE_DATA ||
	    h[1] != 3 || h[2] > 4)
		return 0;
	*type = h[0];
	return (u32)h[3] << 8 | h[4];
}

/* Returns whether a record of @len bytes contains @n bytes of plaintext: with the content type and
 * the tag of TLS 1.3, or with the tag of an AEAD cipher of TLS 1.2 and, for AES, a nonce. */
static __always_inline bool tls_holds(u32 len, u32 n)
{
	if (n > TLS_RECORD_MAX)
		n = TLS_RECORD_MAX;
	return len == n + 1 + 16 || len == n + 16 || len == n + 8 + 16;
}

struct tls_walk {
	u64 at, end;
	u32 n; /* records of data */
	u32 seek; /* bytes of plaintext that one shall contain; 0: none */
	u32 len[TLS_RECORDS];
	bool found;
};

/* A callback of bpf_loop. */
static long tls_walk_step(u32 i, void *ctx)
{
	struct tls_walk *w = ctx;
	u8 type = 0;
	u32 len;

	if (w->at + 5 > w->end)
		return 1;
	len = tls_record(w->at, &type);
	if (!len)
		return 1;
	w->at += 5 + len;
	if (type != TLS_TYPE_DATA)
		return 0;
	w->len[i & (TLS_RECORDS - 1)] = len;
	w->n++;
	if (w->seek && tls_holds(len, w->seek)) {
		w->found = true;
		return 1;
	}
	return 0;
}

/* Returns whether @fd is a socket that carries a stream. */
static __always_inline bool tls_is_stream(s32 fd)
{
	struct sock *sk = fd_sock(fd);

	return sk && BPF_CORE_READ(sk, sk_type) == SOCK_STREAM_TYPE;
}

/* ---- socket calls ---- */

enum tls_move { TLS_MOVES_NOTHING, TLS_SENDS, TLS_RECEIVES };

static __always_inline enum tls_move tls_move_of(u64 nr)
{
	switch (nr) {
	case NR_write:
	case NR_sendto:
	case NR_writev:
	case NR_sendmsg:
		return TLS_SENDS;
	case NR_read:
	case NR_recvfrom:
	case NR_readv:
	case NR_recvmsg:
		return TLS_RECEIVES;
	}
	return TLS_MOVES_NOTHING;
}

/* Returns the first buffer of the call, 0: none. */
static __always_inline u64 tls_buffer(u64 nr, u64 arg)
{
	u64 iov = arg, v[2] = {};

	if (nr == NR_sendmsg || nr == NR_recvmsg) {
		if (bpf_probe_read_user(&iov, sizeof(iov), (void *)(arg + 16))) /* msg_iov */
			return 0;
	} else if (nr != NR_writev && nr != NR_readv) {
		return arg;
	}
	return bpf_probe_read_user(v, sizeof(v), (void *)iov) ? 0 : v[0];
}

static __always_inline bool tls_reads(u32 function)
{
	return function == TLS_READ || function == TLS_READ_EX || function == TLS_RECORD_RECV ||
	       function == TLS_GO_READ;
}

/* A socket call within a function of TLS. */
static __always_inline void tls_note_call(struct tls_frame *f, enum tls_move move, s32 fd, s64 res)
{
	if (tls_reads(f->function) != (move == TLS_RECEIVES) || !tls_is_stream(fd) ||
	    (f->has_fd && f->fd != fd))
		return;
	f->fd = fd;
	f->called = 1;
	f->err = res < 0 ? (s32)res : 0;
}

/* A call of the thread outside of functions of TLS that sent @res bytes. */
static __always_inline void tls_note_send(struct task_struct *task, struct tls_thread *t, u64 nr,
					  s32 fd, u64 arg, s64 res)
{
	struct tls_walk w = {.at = tls_buffer(nr, arg), .seek = t->out_len};
	struct tls_key key = tls_key_of(task, t->out_ssl);
	u8 type;

	if (!t->out_ssl || !w.at || res < 5 || !tls_record(w.at, &type) || !tls_is_stream(fd))
		return;
	w.end = w.at + (u64)res;
	bpf_loop(TLS_RECORDS, tls_walk_step, &w, 0);
	t->out_ssl = 0;
	if (w.found && !tls_is_taken(&key, fd))
		tls_learn(&key, fd);
}

/* The same for a receive. */
static __always_inline void tls_note_receive(struct tls_thread *t, u64 nr, s32 fd, u64 arg, s64 res)
{
	struct tls_walk w = {.at = tls_buffer(nr, arg)};
	u8 type;

	if (!w.at || res < 5 || !tls_is_stream(fd))
		return;
	w.end = w.at + (u64)res;
	t->in_fd = -1;
	if (!tls_record(w.at, &type))
		return;
	bpf_loop(TLS_RECORDS, tls_walk_step, &w, 0);
	t->in_fd = w.n ? fd : -1;
	__builtin_memcpy(t->in_len, w.len, sizeof(t->in_len));
}

/* Returns the innermost call; NULL: none. */
static __always_inline struct tls_frame *tls_top(struct tls_calls *c)
{
	const u64 n = c ? c->n : 0;

	return n ? &c->frames[(n - 1) & (TLS_DEPTH - 1)] : NULL;
}

static __always_inline struct tls_calls *tls_calls_of(const struct task_struct *task, u64 goroutine)
{
	const struct tls_key key = {.mm = (u64)task->mm, .ssl = goroutine};

	return bpf_map_lookup_elem(&tls_goroutines, &key);
}

/* ---- functions of TLS ---- */

/* Drops frames that ended without their return: by longjmp, or another probe of the same file. */
static __always_inline void tls_drop(struct tls_calls *c, u64 sp)
{
	for (int i = 0; i < TLS_DEPTH; i++) {
		const struct tls_frame *f = tls_top(c);

		if (!f || f->sp > sp)
			break;
		c->n--;
	}
}

/* Returns the place of a new call. */
static __always_inline struct tls_frame *tls_push(struct tls_calls *c, u64 sp, u32 function)
{
	struct tls_frame *f;
	u64 n;

	tls_drop(c, sp);
	n = c->n;
	if (n >= TLS_DEPTH) /* some of them were left by longjmp */
		n = TLS_DEPTH - 1;
	f = &c->frames[n & (TLS_DEPTH - 1)];
	c->n = n + 1;
	__builtin_memset(f, 0, sizeof(*f));
	f->sp = sp;
	f->fd = -1;
	f->function = function;
	return f;
}

/* Removes the innermost call into *f if it began at @sp. Returns whether it has. Functions of a
 * library call others for the same connection: the innermost sends the event. */
static __always_inline bool tls_pop(struct tls_calls *c, struct tls_frame *f, u64 sp)
{
	struct tls_frame *top, *outer;

	tls_drop(c, sp - sizeof(u64)); /* those within this call */
	top = tls_top(c);
	if (!top || top->sp != sp)
		return false;
	*f = *top;
	c->n--;
	outer = tls_top(c);
	if (outer && outer->ssl == f->ssl && tls_reads(outer->function) == tls_reads(f->function))
		outer->sent = 1;
	return true;
}

/* The kernel had no storage for the call. */
static __always_inline int tls_lost(struct task_struct *task, u32 function)
{
	const u32 type = tls_reads(function) ? EVT_TLS_READ_X : EVT_TLS_WRITE_X;
	struct ring *ring;

	pin_iter();
	ring = this_ring();
	if (ring && sel_event(this_slot(), task, type, EVT_TLS_READ_X_FLAGS) >= 0) {
		counts_of(this_ends(), ONCE(this_ends()->nest))->seen++;
		rec_lost(DRV_DROP_REFUSED, type, ONCE(this_ends()->nest));
	}
	unpin_iter();
	return 0;
}

SEC("?uprobe")
int tls_enter(struct tls_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const u32 function = bpf_get_attach_cookie(ctx);
	struct tls_thread *t;
	struct tls_frame *f;
	struct tls_key key;

	if (is_self(task))
		return 0;
	if (function == TLS_END) {
		key = tls_key_of(task, ctx->regs[TLS_DI]);
		bpf_map_delete_elem(&tls_fds, &key);
		return 0;
	}
	t = bpf_task_storage_get(&tls_threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (function == TLS_BEGIN)
		return 0;
	if (!t)
		return tls_lost(task, function);
	f = tls_push(&t->calls, ctx->regs[TLS_SP], function);
	f->ssl = ctx->regs[TLS_DI];
	f->buf = ctx->regs[TLS_SI];
	f->len_at = ctx->regs[TLS_CX];
	return 0;
}

#define TLS_EAGAIN 11
#define TLS_EINTR 4
#define TLS_EPROTO 71
#define GNUTLS_E_AGAIN (-28)
#define GNUTLS_E_INTERRUPTED (-52)

/* Returns the error of a call that failed: that of its socket call, else one that says what the
 * library waits for. */
static __always_inline s64 tls_error(const struct tls_frame *f, s64 res)
{
	if (f->called)
		return f->err ?: -TLS_EPROTO;
	if (f->function == TLS_RECORD_RECV || f->function == TLS_RECORD_SEND)
		return res == GNUTLS_E_AGAIN         ? -TLS_EAGAIN
		       : res == GNUTLS_E_INTERRUPTED ? -TLS_EINTR
						     : -TLS_EPROTO;
	return -TLS_EAGAIN;
}

/* Returns the number of bytes, or a negative errno. Verified on its own, as the next ones: their
 * callers go on from each result once. */
__noinline s64 tls_result(const struct tls_frame *f, u64 ax)
{
	s64 res = (s32)ax;
	u64 n = 0;

	if (!f)
		return 0;
	if (f->function == TLS_RECORD_RECV || f->function == TLS_RECORD_SEND)
		res = ax;
	if (f->function == TLS_READ_EX || f->function == TLS_WRITE_EX) {
		if (res != 1)
			return tls_error(f, -1);
		bpf_probe_read_user(&n, sizeof(n), (void *)f->len_at);
		return n;
	}
	return res < 0 ? tls_error(f, res) : res;
}

/* Returns whether the last receive of the thread has a record with @n bytes. */
static __always_inline bool tls_was_received(const struct tls_thread *t, u32 n)
{
	bool found = false;

	for (int i = 0; i < TLS_RECORDS; i++)
		found |= t->in_len[i] && tls_holds(t->in_len[i], n);
	return found;
}

/* Returns the descriptor of the socket call in @f, or of an earlier call with the connection; -1:
 * unknown. */
static __always_inline s32 tls_known_fd(struct task_struct *task, const struct tls_frame *f)
{
	const struct tls_key key = tls_key_of(task, f->ssl);

	if (f->fd < 0)
		return tls_fd_of(&key);
	tls_learn(&key, f->fd);
	return f->fd;
}

/* Returns the descriptor of the call @f that ends with @res; -1: unknown. */
__noinline s32 tls_find_fd(struct tls_thread *t, const struct tls_frame *f, s64 res)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct tls_key key;
	s32 fd;

	if (!t || !f)
		return -1;
	key = tls_key_of(task, f->ssl);
	fd = tls_known_fd(task, f);
	if (fd >= 0 || res <= 0) {
		if (res > 0 && !tls_reads(f->function))
			t->out_ssl = 0; /* the next send may be that of this call */
		return fd;
	}
	if (!tls_reads(f->function)) {
		t->out_ssl = f->ssl;
		t->out_len = res > TLS_RECORD_MAX ? TLS_RECORD_MAX : res;
	} else if (t->in_fd >= 0 && tls_was_received(t, res) && !tls_is_taken(&key, t->in_fd)) {
		fd = t->in_fd;
		tls_learn(&key, fd);
	}
	return fd;
}

/* Returns how many bytes of the data are kept. */
__noinline u32 tls_snaplen(s32 fd)
{
	if (!cfg.n_snap_ports)
		return cfg.snaplen;
	if (fd >= 0)
		return snaplen_of(fd);
	for (u32 i = 0; i < DRV_MAX_SNAP_PORTS && i < cfg.n_snap_ports; i++)
		if (!cfg.snap_ports[i].from)
			return cfg.snap_ports[i].snaplen;
	return cfg.snaplen;
}

static __always_inline int tls_send(void *ctx, const struct tls_frame *f, s64 res, s32 fd, u32 max)
{
	const u32 type = tls_reads(f->function) ? EVT_TLS_READ_X : EVT_TLS_WRITE_X;
	u64 n = written(res < max ? res : max, cfg.snaplen_max);
	struct rec r;

	if (!begin_other(&r, ctx, OPEN_NONE, type, EVT_TLS_READ_X_FLAGS, EVT_TLS_READ_X_NPARAMS,
			 EVT_TLS_READ_X_FIXED_SZ + n))
		return 0;
	put_s64(&r, res);
	if (fd < 0)
		put_empty(&r);
	else
		put_s64(&r, fd);
	put_u64(&r, f->ssl);
	put_user_bytes(&r, f->buf, r.flags & REC_F_STATE_ONLY ? 0 : n, cfg.snaplen_max);
	return commit_event(&r);
}

static __always_inline void tls_emit(void *ctx, const struct tls_frame *f, s64 res, s32 fd)
{
	const u32 max = tls_snaplen(fd);

	pin_iter();
	tls_send(ctx, f, res, fd, max);
	unpin_iter();
}

SEC("?uprobe")
int tls_return(struct tls_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct tls_thread *t = tls_find(task);
	struct tls_frame f;
	s64 res;

	if (!t || !tls_pop(&t->calls, &f, ctx->regs[TLS_SP] - sizeof(u64)) || f.sent)
		return 0;
	res = tls_result(&f, ctx->regs[TLS_AX]);
	tls_emit(ctx, &f, res, tls_find_fd(t, &f, res));
	return 0;
}

/* ---- crypto/tls of Go: arguments and results are in the registers of its ABI ---- */

/* The first members of a goroutine. */
struct tls_go_stack {
	u64 lo, hi;
};

#define TLS_GO_ITAB_READ 40 /* in the itab of a net.Conn: Close, LocalAddr, Read */
#define TLS_GO_SYSFD 16 /* in a net.netFD, whose first member is a poll.FD */

/* Returns the descriptor of a connection whose socket is a net.TCPConn, which the method in its
 * interface says; -1: unknown. */
static __always_inline s32 tls_go_fd(u64 conn, u64 tcp_read)
{
	u64 v[2], read, at;
	s64 fd;

	if (bpf_probe_read_user(v, sizeof(v), (void *)conn) || !v[0] ||
	    bpf_probe_read_user(&read, sizeof(read), (void *)(v[0] + TLS_GO_ITAB_READ)) ||
	    read != tcp_read || bpf_probe_read_user(&at, sizeof(at), (void *)v[1]) ||
	    bpf_probe_read_user(&fd, sizeof(fd), (void *)(at + TLS_GO_SYSFD)))
		return -1;
	return fd >= 0 && fd <= 0x7fffffff && tls_is_stream(fd) ? fd : -1;
}

/* Returns the calls of the goroutine, added if it has none; NULL: the map is full. */
static __always_inline struct tls_calls *tls_go_begin(const struct tls_key *key)
{
	struct tls_calls *c = bpf_map_lookup_elem(&tls_goroutines, key), none;

	if (c)
		return c;
	__builtin_memset(&none, 0, sizeof(none));
	bpf_map_update_elem(&tls_goroutines, key, &none, BPF_ANY);
	return bpf_map_lookup_elem(&tls_goroutines, key);
}

/* A goroutine whose stack is too small enters the function again, with a larger one. */
SEC("?uprobe")
int tls_go_enter(struct tls_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const u64 cookie = bpf_get_attach_cookie(ctx), conn = ctx->regs[TLS_AX];
	const s64 distance = (s64)cookie >> TLS_COOKIE_BITS;
	const u32 function = cookie & ((1 << TLS_COOKIE_BITS) - 1);
	struct tls_key key = tls_key_of(task, ctx->regs[TLS_R14]);
	struct tls_go_stack stack;
	struct tls_calls *c;
	struct tls_frame *f;

	if (is_self(task))
		return 0;
	if (function == TLS_GO_BEGIN) {
		key.ssl = conn;
		bpf_map_delete_elem(&tls_fds, &key);
		return 0;
	}
	c = bpf_probe_read_user(&stack, sizeof(stack), (void *)key.ssl) ? NULL : tls_go_begin(&key);
	if (!c)
		return tls_lost(task, function);
	if (!ONCE(tls_has_go))
		ONCE(tls_has_go) = 1;
	f = tls_push(c, ctx->regs[TLS_SP] - stack.hi, function);
	f->ssl = conn;
	f->buf = ctx->regs[TLS_BX];
	f->len_at = ctx->regs[TLS_CX];
	f->on_stack = f->buf >= stack.lo && f->buf < stack.hi;
	if (f->on_stack)
		f->buf -= stack.hi;
	f->fd = tls_go_fd(conn, ctx->regs[TLS_IP] + distance);
	f->has_fd = f->fd >= 0;
	return 0;
}

/* Returns whether the error at @at is io.EOF: its only member is that text. */
static __always_inline bool tls_go_is_end(u64 at)
{
	u64 text[2];
	char v[3];

	return !bpf_probe_read_user(text, sizeof(text), (void *)at) && text[1] == sizeof(v) &&
	       !bpf_probe_read_user(v, sizeof(v), (void *)text[0]) && v[0] == 'E' && v[1] == 'O' &&
	       v[2] == 'F';
}

/* As tls_result. */
__noinline s64 tls_go_result(const struct tls_frame *f, s64 n, u64 err_type, u64 err)
{
	if (!f)
		return 0;
	if (n > 0 || !err_type || (f->function == TLS_GO_READ && tls_go_is_end(err)))
		return n;
	return tls_error(f, -1);
}

static __always_inline s32 tls_go_known_fd(struct task_struct *task, const struct tls_frame *f)
{
	return f->has_fd ? f->fd : tls_known_fd(task, f);
}

/* A return instruction. */
SEC("?uprobe")
int tls_go_return(struct tls_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct tls_key key = tls_key_of(task, ctx->regs[TLS_R14]);
	struct tls_calls *c = bpf_map_lookup_elem(&tls_goroutines, &key);
	struct tls_go_stack stack;
	struct tls_frame f;
	s64 res;

	if (!c || bpf_probe_read_user(&stack, sizeof(stack), (void *)key.ssl) ||
	    !tls_pop(c, &f, ctx->regs[TLS_SP] - stack.hi))
		return 0;
	if (!c->n)
		bpf_map_delete_elem(&tls_goroutines, &key);
	if (f.sent)
		return 0;
	if (f.on_stack)
		f.buf += stack.hi;
	res = tls_go_result(&f, ctx->regs[TLS_AX], ctx->regs[TLS_BX], ctx->regs[TLS_CX]);
	tls_emit(ctx, &f, res, tls_go_known_fd(task, &f));
	return 0;
}

/* ---- socket calls of threads and goroutines ---- */

/* Returns whether a send of @res bytes within a write of Go completes it: one record each, until
 * all have the bytes of the write and what they add to each (tls_holds). */
static __always_inline bool tls_go_is_sent(struct tls_frame *f, enum tls_move move,
					   const struct pt_regs *regs, s64 res)
{
	u8 type = 0;
	u32 len, more;

	if (f->function != TLS_GO_WRITE || move != TLS_SENDS || f->sent || f->fd != (s32)regs->di)
		return false;
	len = tls_record(tls_buffer(regs->orig_ax, regs->si), &type);
	if (type != TLS_TYPE_DATA || (s64)len + 5 != res)
		return false;
	f->n_records++;
	f->records_sz += len;
	more = f->records_sz - (u32)f->len_at;
	return more == f->n_records * 17 || more == f->n_records * 16 || more == f->n_records * 24;
}

/*
 * Sends the event of a write before its return: other goroutines read from the connection, and may
 * have the answer before this one runs again.
 */
static __always_inline int tls_go_send(void *ctx, struct task_struct *task, struct tls_frame *f,
				       u64 goroutine)
{
	struct tls_go_stack stack;
	struct tls_frame now = *f;

	if (bpf_probe_read_user(&stack, sizeof(stack), (void *)goroutine))
		return 0;
	f->sent = 1;
	if (now.on_stack)
		now.buf += stack.hi;
	tls_emit(ctx, &now, (s64)now.len_at, tls_go_known_fd(task, &now));
	return 0;
}

/* Sees socket calls of threads and goroutines that have called a function of TLS. */
SEC("?tp_btf/sys_exit")
int tls_call(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct pt_regs *regs = (void *)ctx[0];
	const u64 nr = regs->orig_ax;
	const enum tls_move move = tls_move_of(nr);
	struct tls_frame *f;
	struct tls_thread *t;
	bool is_go = false;

	if (move == TLS_MOVES_NOTHING)
		return 0;
	t = tls_find(task);
	f = t ? tls_top(&t->calls) : NULL;
	if (!f && ONCE(tls_has_go)) {
		f = tls_top(tls_calls_of(task, regs->r14)); /* r14: the goroutine */
		is_go = f != NULL;
	}
	if (f)
		tls_note_call(f, move, regs->di, ctx[1]);
	if (is_go && tls_go_is_sent(f, move, regs, ctx[1]))
		return tls_go_send(ctx, task, f, regs->r14);
	if (f || !t)
		return 0;
	if (move == TLS_SENDS)
		tls_note_send(task, t, nr, regs->di, regs->si, ctx[1]);
	else
		tls_note_receive(t, nr, regs->di, regs->si, ctx[1]);
	return 0;
}
