/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of TCP: states, connects, retransmits, resets, round trip times, drops, overflows of
 * listen queues. Loaded only if they are requested.
 *
 * Most of these tracepoints run in an interrupt, on top of an unrelated task. So each socket has
 * its owner in socket storage, stored where the owner is the current task: at connect and listen,
 * and at the first read. A socket that a listener creates inherits the listener's owner until then,
 * since the kernel copies the storage. An iterator stores the owners of older sockets at the start.
 * An unknown owner is no owner: the interrupted task is never named.
 */
#include "tcp_conn.bpf.h"

#define RTT_INTERVAL_NS 1000000000ull /* at most one sample of a connection in this time */

enum tcp_outcome {
	CONN_ESTABLISHED,
	CONN_REFUSED,
	CONN_RESET,
	CONN_TIMED_OUT,
	CONN_UNREACHABLE,
	CONN_ABORTED,
	CONN_FAILED
};
enum tcp_kind { RETRANSMIT_DATA, RETRANSMIT_SYN, RETRANSMIT_SYNACK };

/* ---- listen queues ---- */

/* What is known of listening sockets, by address: sk_drops as far as it was reported. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, u32);
} tcp_listeners SEC(".maps");

/*
 * Reports what a listening socket dropped since the last time: sk_drops counts it, and no
 * tracepoint reports a SYN that finds the queue full. So the count is compared whenever something
 * happens to the listener or to a connection of it.
 */
static __always_inline void note_overflow(void *ctx, struct sock *sk, const struct tcp_owner *owner)
{
	const u32 drops = BPF_CORE_READ(sk, sk_drops.counter);
	u64 key = (u64)sk;
	u32 *seen = bpf_map_lookup_elem(&tcp_listeners, &key), old, n;
	struct tcp_conn c;
	struct rec r;

	if (!seen) {
		bpf_map_update_elem(&tcp_listeners, &key, &drops, BPF_ANY);
		return;
	}
	old = ONCE(*seen);
	n = drops - old;
	/* Another CPU may report at the same time: what it leaves is reported the next time. */
	if (!n || n > 1u << 31 || __sync_val_compare_and_swap(seen, old, drops) != old)
		return;
	conn_of_sock(&c, sk, owner);
	c.owner.role = ROLE_LISTENER;
	if (!begin_tcp(&r, ctx, TCP_OVERFLOW_E, &c, 0))
		return;
	put_u32(&r, n);
	put_u32(&r, BPF_CORE_READ(sk, sk_ack_backlog));
	put_u32(&r, BPF_CORE_READ(sk, sk_max_ack_backlog));
	commit_event(&r);
}

static __always_inline bool is_drop_reason(u32 nr, const char *name, u32 sz)
{
	for (u32 i = 0; i < sz; i++)
		if (tcp_reasons[DRV_TCP_DROP * DRV_TCP_REASONS + (nr & (DRV_TCP_REASONS - 1))]
			    .name[i] != name[i])
			return false;
	return true;
}

/* Takes a packet for the listening socket out of what it dropped. sk_drops counts such a packet,
 * too, but not one that is answered by a reset, and none with a wrong checksum. */
static __always_inline void note_listener_drop(struct sock *sk, u32 reason)
{
	u64 key = (u64)sk;
	u32 *seen = bpf_map_lookup_elem(&tcp_listeners, &key);

	if (seen && !is_drop_reason(reason, "TCP_FLAGS", sizeof("TCP_FLAGS")) &&
	    !is_drop_reason(reason, "TCP_CSUM", sizeof("TCP_CSUM")))
		__sync_fetch_and_add(seen, 1);
}

/* Returns the listener that the connection comes from; NULL: none. Its address may be stale by now.
 */
static __always_inline struct sock *listener_of(const struct tcp_owner *owner, struct sock *sk)
{
	struct sock *listener = owner ? (void *)owner->listener : NULL;

	if (!listener || BPF_CORE_READ(listener, __sk_common.skc_state) != ST_LISTEN ||
	    BPF_CORE_READ(listener, __sk_common.skc_num) != BPF_CORE_READ(sk, __sk_common.skc_num))
		return NULL;
	return listener;
}

/* A socket begins to listen. */
static __always_inline void begin_listen(struct sock *sk, struct tcp_owner *o)
{
	const u32 drops = BPF_CORE_READ(sk, sk_drops.counter);

	o->role = ROLE_LISTENER;
	o->listener = (u64)sk;
	bpf_map_update_elem(&tcp_listeners, &o->listener, &drops, BPF_ANY);
}

/* ---- states ---- */

static __always_inline u32 outcome_of(u32 state, int err)
{
	if (state == ST_ESTABLISHED)
		return CONN_ESTABLISHED;
	switch (err) {
	case 0: /* closed by its owner */
		return CONN_ABORTED;
	case 111: /* ECONNREFUSED */
		return CONN_REFUSED;
	case 104: /* ECONNRESET */
		return CONN_RESET;
	case 110: /* ETIMEDOUT */
		return CONN_TIMED_OUT;
	case 101: /* ENETUNREACH */
	case 113: /* EHOSTUNREACH */
		return CONN_UNREACHABLE;
	}
	return CONN_FAILED;
}

/* A connect ends: the socket is connected, or closed. */
static __always_inline void send_connect(u64 *ctx, const struct tcp_conn *c)
{
	const u64 begin_ns = c->owner.connect_ns;
	struct sock *sk = (void *)c->sk; /* CO-RE would relocate the member of c, too */
	int err = BPF_CORE_READ(sk, sk_err);
	struct rec r;

	if (!begin_tcp(&r, ctx, TCP_CONNECT_E, c, 0))
		return;
	put_u8(&r, outcome_of(c->state, err));
	if (begin_ns)
		put_u64(&r, bpf_ktime_get_boot_ns() - begin_ns);
	else
		put_empty(&r);
	put_s64(&r, -(s64)err);
	commit_event(&r);
}

static __always_inline void send_state(u64 *ctx, const struct tcp_conn *c, u32 old)
{
	struct rec r;

	if (!begin_tcp(&r, ctx, TCP_STATE_E, c, 0))
		return;
	put_u8(&r, old);
	commit_event(&r);
}

/* Stores what the change says about the owner. */
static __always_inline void update_owner(struct sock *sk, struct tcp_owner *o, u32 old, u32 state)
{
	if (state == ST_SYN_SENT) {
		own(o);
		o->role = ROLE_CLIENT;
		o->connect_ns = bpf_ktime_get_boot_ns();
	} else if (state == ST_LISTEN) {
		own(o);
		begin_listen(sk, o);
	} else if (old == ST_LISTEN && state == ST_SYN_RECV) {
		o->role = ROLE_SERVER;
		o->is_inherited = 1;
	}
}

/* The socket is a listener that ends, or a connection of one begins or ends. */
static __always_inline void note_listener(u64 *ctx, struct sock *sk, const struct tcp_owner *o,
					  u32 old, u32 state)
{
	struct sock *listener = NULL;

	if (old == ST_LISTEN)
		listener = sk;
	else if (state == ST_ESTABLISHED || state == ST_CLOSE)
		listener = listener_of(o, sk);
	if (listener)
		note_overflow(ctx, listener, o);
}

/* ctx: socket, old state, new one. */
static __always_inline int state_changes(u64 *ctx)
{
	struct sock *sk = (void *)ctx[0];
	const u32 old = ctx[1], state = ctx[2];
	struct tcp_owner *o;
	struct tcp_conn c;

	if (!is_tcp(sk))
		return 0;
	o = bpf_sk_storage_get(
		&tcp_owners, (void *)ctx[0], NULL,
		state == ST_SYN_SENT || state == ST_LISTEN ? BPF_SK_STORAGE_GET_F_CREATE : 0);
	if (o)
		update_owner(sk, o, old, state);
	if (old == ST_LISTEN && state == ST_SYN_RECV) /* the new socket has no peer yet */
		return 0;
	note_listener(ctx, sk, o, old, state);
	conn_of_sock(&c, sk, o);
	c.state = state;
	c.sk = (u64)sk;
	send_state(ctx, &c, old);
	if ((state == ST_ESTABLISHED || state == ST_CLOSE) &&
	    (old == ST_SYN_SENT || (old == ST_SYN_RECV && c.owner.role == ROLE_CLIENT)))
		send_connect(ctx, &c);
	return 0;
}

SEC("?tp_btf/inet_sock_set_state")
int tcp_state(u64 *ctx)
{
	return PINNED(state_changes(ctx));
}

/* The first read of an accepted connection shows which process has it. Parsers in the kernel read
 * within interrupts, on top of any task. */
static __always_inline int reads(u64 *ctx)
{
	struct tcp_owner *o = bpf_sk_storage_get(&tcp_owners, (void *)ctx[0], NULL, 0);
	struct task_struct *task = bpf_get_current_task_btf();

	if (o && o->is_inherited && !(task->flags & PF_KTHREAD) && !in_interrupt(ctx, task))
		own(o);
	return 0;
}

SEC("?tp_btf/tcp_rcv_space_adjust")
int tcp_received(u64 *ctx)
{
	return PINNED(reads(ctx));
}

/* ---- events of packets ---- */

static __always_inline u32 segments_of(struct sk_buff *skb)
{
	struct tcp_skb_cb *cb = (void *)skb + bpf_core_field_offset(struct sk_buff, cb);

	return BPF_CORE_READ(cb, tcp_gso_segs);
}

/* ctx: socket, packet. */
static __always_inline int retransmits(u64 *ctx)
{
	struct tcp_owner *o = bpf_sk_storage_get(&tcp_owners, (void *)ctx[0], NULL, 0);
	struct sock *sk = (void *)ctx[0];
	struct tcp_conn c;
	struct rec r;

	conn_of_sock(&c, sk, o);
	if (!begin_tcp(&r, ctx, TCP_RETRANSMIT_E, &c, 0))
		return 0;
	put_u8(&r, c.state == ST_SYN_SENT ? RETRANSMIT_SYN : RETRANSMIT_DATA);
	put_u32(&r, segments_of((void *)ctx[1]));
	put_u8(&r, BPF_CORE_READ_BITFIELD_PROBED((struct inet_connection_sock *)sk, icsk_ca_state));
	return commit_event(&r);
}

SEC("?tp_btf/tcp_retransmit_skb")
int tcp_retransmit(u64 *ctx)
{
	return PINNED(retransmits(ctx));
}

/* ctx: the listening socket, the request. */
static __always_inline int repeats_synack(u64 *ctx)
{
	struct tcp_owner *o = bpf_sk_storage_get(&tcp_owners, (void *)ctx[0], NULL, 0);
	struct sock *sk = (void *)ctx[0];
	struct tcp_conn c;
	struct rec r;

	note_overflow(ctx, sk, o);
	conn_of_sock(&c, (void *)ctx[1], o);
	c.owner.role = ROLE_SERVER;
	c.sk = 0;
	c.state = ST_NEW_SYN_RECV;
	if (!begin_tcp(&r, ctx, TCP_RETRANSMIT_E, &c, 0))
		return 0;
	put_u8(&r, RETRANSMIT_SYNACK);
	put_u32(&r, 1);
	put_empty(&r);
	return commit_event(&r);
}

SEC("?tp_btf/tcp_retransmit_synack")
int tcp_synack(u64 *ctx)
{
	return PINNED(repeats_synack(ctx));
}

static __always_inline int send_reset(u64 *ctx, const struct tcp_conn *c, enum tcp_way way,
				      u32 reason)
{
	struct rec r;

	if (!begin_tcp(&r, ctx, TCP_RESET_E, c, DRV_TCP_REASON_SZ))
		return 0;
	put_u8(&r, way);
	put_reason(&r, DRV_TCP_RESET, reason);
	return commit_event(&r);
}

/* ctx: socket or NULL, the packet that is answered or NULL, reason. */
static __always_inline int sends_reset(u64 *ctx)
{
	u32 reason = cfg.tcp_args & DRV_TCP_RESET_REASON ? ctx[2] : DRV_TCP_REASONS;
	struct sock *sk = (void *)ctx[0];
	struct tcp_owner *o = NULL;
	struct tcp_conn c = {};
	struct packet p = {};

	if (sk) {
		o = bpf_sk_storage_get(&tcp_owners, sk, NULL, 0);
		conn_of_sock(&c, sk, o);
	} else if (ctx[1] && read_packet(&p, (void *)ctx[1])) {
		conn_of_packet(&c, &p, WAY_RECEIVED);
	}
	return send_reset(ctx, &c, WAY_SENT, reason);
}

SEC("?tp_btf/tcp_send_reset")
int tcp_reset_sent(u64 *ctx)
{
	return PINNED(sends_reset(ctx));
}

/* ctx: socket. */
static __always_inline int receives_reset(u64 *ctx)
{
	struct tcp_owner *o = bpf_sk_storage_get(&tcp_owners, (void *)ctx[0], NULL, 0);
	struct tcp_conn c;

	conn_of_sock(&c, (void *)ctx[0], o);
	return send_reset(ctx, &c, WAY_RECEIVED, DRV_TCP_REASONS);
}

SEC("?tp_btf/tcp_receive_reset")
int tcp_reset_received(u64 *ctx)
{
	return PINNED(receives_reset(ctx));
}

/* Runs for each packet that a connection receives. */
static __always_inline int probes(u64 *ctx)
{
	struct tcp_owner *o =
		bpf_sk_storage_get(&tcp_owners, (void *)ctx[0], NULL, BPF_SK_STORAGE_GET_F_CREATE);
	struct sock *sk = (void *)ctx[0];
	u64 now = bpf_ktime_get_boot_ns();
	struct tcp_conn c;
	struct rec r;

	if (!o || now - o->rtt_ns < RTT_INTERVAL_NS ||
	    !BPF_CORE_READ((struct tcp_sock *)sk, srtt_us))
		return 0;
	o->rtt_ns = now;
	conn_of_sock(&c, sk, o);
	if (!begin_tcp(&r, ctx, TCP_RTT_E, &c, 0))
		return 0;
	return commit_event(&r);
}

SEC("?tp_btf/tcp_probe")
int tcp_rtt(u64 *ctx)
{
	return PINNED(probes(ctx));
}

/* Returns whether the socket sent the packet. */
static __always_inline bool is_sender(struct sock *sk, const struct packet *p)
{
	return sk && BPF_CORE_READ(sk, __sk_common.skc_num) == p->from.port;
}

static __always_inline int send_drop(u64 *ctx, const struct tcp_conn *c, enum tcp_way way)
{
	struct rec r;

	if (!begin_tcp(&r, ctx, TCP_DROP_E, c, DRV_TCP_REASON_SZ))
		return 0;
	put_u8(&r, way);
	put_reason(&r, DRV_TCP_DROP, ctx[2]);
	r.slot = this_slot();
	widen_off(&r);
	r.slot = NULL;
	put_u32(&r, BPF_CORE_READ((struct sk_buff *)ctx[0], len));
	return commit_event(&r);
}

/* Returns whether the socket gets copies of packets, of which TCP loses nothing. */
static __always_inline bool gets_copies(struct sock *sk)
{
	const u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	if (family != AF_INET && family != AF_INET6)
		return true;
	return is_full(BPF_CORE_READ(sk, __sk_common.skc_state)) &&
	       BPF_CORE_READ(sk, sk_type) != SOCK_STREAM;
}

/* ctx: packet, place, reason, receiving socket or NULL. */
static __always_inline int drops(u64 *ctx)
{
	struct sk_buff *skb = (void *)ctx[0];
	struct packet p = {};
	struct tcp_owner *o = NULL;
	struct sock *sk = NULL;
	struct tcp_conn c;
	enum tcp_way way;

	if (!read_packet(&p, skb))
		return 0;
	if (cfg.tcp_args & DRV_TCP_DROP_SOCK) {
		sk = (void *)ctx[3];
		if (sk && gets_copies(sk))
			return 0;
		if (sk)
			o = bpf_sk_storage_get(&tcp_owners, sk, NULL, 0);
	}
	way = !sk && is_sender(BPF_CORE_READ(skb, sk), &p) ? WAY_SENT : WAY_RECEIVED;
	conn_of_packet(&c, &p, way);
	set_owner(&c, o);
	if (sk) {
		c.state = BPF_CORE_READ(sk, __sk_common.skc_state);
		c.sk = is_full(c.state) ? (u64)sk : 0;
		if (c.state == ST_LISTEN) {
			note_listener_drop(sk, ctx[2]);
			note_overflow(ctx, sk, o);
		}
	}
	return send_drop(ctx, &c, way);
}

SEC("?tp_btf/kfree_skb")
int tcp_drop(u64 *ctx)
{
	return PINNED(drops(ctx));
}

/* ---- sockets that are older or younger than the capture ---- */

SEC("?iter/task_file")
int tcp_begun(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct tcp_owner *o;
	struct socket *sock;
	struct sock *sk;

	if (!task || !file)
		return 0;
	sock = bpf_sock_from_file(file);
	if (!sock)
		return 0;
	sk = sock->sk;
	if (!sk || !is_tcp(sk))
		return 0;
	o = bpf_sk_storage_get(&tcp_owners, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!o || o->tgid)
		return 0;
	o->tid = task->pid;
	o->tgid = task->tgid;
	bpf_probe_read_kernel_str(o->comm, sizeof(o->comm), task->comm);
	o->is_selected = is_selected(task);
	if (BPF_CORE_READ(sk, __sk_common.skc_state) == ST_LISTEN)
		begin_listen(sk, o);
	return 0;
}

SEC("?iter/task_file")
int tcp_left(struct bpf_iter__task_file *ctx)
{
	struct file *file = ctx->file;
	struct tcp_owner *o;
	struct socket *sock;
	struct sock *sk;

	if (!file)
		return 0;
	sock = bpf_sock_from_file(file);
	if (!sock)
		return 0;
	sk = sock->sk;
	if (!sk || !is_tcp(sk) || BPF_CORE_READ(sk, __sk_common.skc_state) != ST_LISTEN)
		return 0;
	o = bpf_sk_storage_get(&tcp_owners, sk, NULL, 0);
	pin_iter();
	note_overflow(ctx, sk, o);
	unpin_iter();
	return 0;
}
