/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The connection of an event of TCP: its ends, from a socket or from the headers of a packet, its
 * owner, and the parameters that all these events begin with.
 */
#ifndef DRIVER_TCP_CONN_BPF_H
#define DRIVER_TCP_CONN_BPF_H

#include "enter.bpf.h"
#include "sock.bpf.h"
#include "task.bpf.h"

#define PROTO_TCP 6
#define SOCK_STREAM 1
#define ETH_IP 0x0800
#define ETH_IPV6 0x86dd
#define NO_TID (~0ull)

/* States of tcp_states. */
enum {
	ST_NONE = 0, /* unknown */
	ST_ESTABLISHED = 1,
	ST_SYN_SENT = 2,
	ST_SYN_RECV = 3,
	ST_TIME_WAIT = 6,
	ST_CLOSE = 7,
	ST_LISTEN = 10,
	ST_NEW_SYN_RECV = 12,
};

enum tcp_role { ROLE_UNKNOWN, ROLE_CLIENT, ROLE_SERVER, ROLE_LISTENER };
enum tcp_way { WAY_RECEIVED, WAY_SENT };

/* Whose socket it is. */
struct tcp_owner {
	u64 connect_ns; /* when its SYN was sent; 0: not by connect, or before the capture */
	u64 rtt_ns; /* when its last round trip time was recorded */
	u64 listener; /* address of the listening socket that it is, or comes from; 0: unknown */
	u32 tid, tgid; /* 0: unknown */
	u8 role; /* enum tcp_role */
	u8 is_selected;
	u8 is_inherited; /* the owner is that of the listener */
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct tcp_owner);
} tcp_owners SEC(".maps");

/* Names of reasons, written by libscap before load: by enum drv_tcp_reasons times DRV_TCP_REASONS,
 * plus the kernel's number. */
const volatile struct drv_tcp_reason tcp_reasons[DRV_TCP_REASON_KINDS * DRV_TCP_REASONS];

/* The connection that an event is about: numbers only, for functions that are verified on their
 * own. */
struct tcp_conn {
	u64 sk; /* address of a full socket; 0: none */
	u32 state;
	u32 family;
	struct endpoint local, remote;
	struct tcp_owner owner; /* tid 0: unknown */
};

static __always_inline bool is_tcp(struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_protocol) == PROTO_TCP;
}

/* Returns whether the socket is more than the header that sockets, requests and time-waits share.
 */
static __always_inline bool is_full(u32 state)
{
	return state != ST_TIME_WAIT && state != ST_NEW_SYN_RECV;
}

/* Makes addresses of IPv4 in an IPv6 socket those of IPv4, which the socket also has. */
static __always_inline void unmap(struct tcp_conn *c)
{
	const u64 *const in6 = c->remote.port ? c->remote.in6 : c->local.in6;

	if (c->family == AF_INET6 && !in6[0] && (u32)in6[1] == 0xffff0000) {
		c->family = AF_INET;
		c->local.in4 = c->local.in4 ?: c->local.in6[1] >> 32;
		c->remote.in4 = c->remote.in4 ?: c->remote.in6[1] >> 32;
	}
}

/* Reads the ends of the socket, request or time-wait at c->sk, which becomes 0 unless it is a
 * socket. Verified on its own. */
__noinline int read_ends(struct tcp_conn *c)
{
	struct sock *sk;

	if (!c)
		return 0;
	sk = (void *)c->sk;
	c->state = BPF_CORE_READ(sk, __sk_common.skc_state);
	c->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	c->local = sock_local(sk);
	c->remote = sock_remote(sk);
	if (!is_full(c->state))
		c->sk = 0;
	else if (!c->local.port) /* it is given back before the state becomes CLOSE */
		c->local.port = bpf_ntohs(BPF_CORE_READ((struct inet_sock *)sk, inet_sport));
	unmap(c);
	return 0;
}

static __always_inline void set_owner(struct tcp_conn *c, const struct tcp_owner *owner)
{
	if (owner)
		c->owner = *owner;
}

/* Describes the connection of a socket, a request or a time-wait. */
static __always_inline void conn_of_sock(struct tcp_conn *c, void *sk,
					 const struct tcp_owner *owner)
{
	__builtin_memset(c, 0, sizeof(*c));
	c->sk = (u64)sk;
	set_owner(c, owner);
	read_ends(c);
}

/* The ends of a packet, as in its headers. */
struct packet {
	u32 family;
	struct endpoint from, to;
};

static __always_inline bool read_ipv4(struct packet *p, const u8 *at)
{
	u8 h[20];
	u16 ports[2];

	if (bpf_probe_read_kernel(h, sizeof(h), at) || h[9] != PROTO_TCP)
		return false;
	if (bpf_probe_read_kernel(ports, sizeof(ports), at + (h[0] & 0xf) * 4))
		return false;
	p->family = AF_INET;
	p->from.in4 = *(u32 *)(h + 12);
	p->to.in4 = *(u32 *)(h + 16);
	p->from.port = bpf_ntohs(ports[0]);
	p->to.port = bpf_ntohs(ports[1]);
	return true;
}

/* Headers between those of IPv6 and TCP are not followed. */
static __always_inline bool read_ipv6(struct packet *p, const u8 *at)
{
	u64 h[5];
	u16 ports[2];

	if (bpf_probe_read_kernel(h, sizeof(h), at) || ((u8 *)h)[6] != PROTO_TCP ||
	    bpf_probe_read_kernel(ports, sizeof(ports), at + sizeof(h)))
		return false;
	p->family = AF_INET6;
	p->from.in6[0] = h[1];
	p->from.in6[1] = h[2];
	p->to.in6[0] = h[3];
	p->to.in6[1] = h[4];
	p->from.port = bpf_ntohs(ports[0]);
	p->to.port = bpf_ntohs(ports[1]);
	return true;
}

/* Reads the ends of a packet. Returns false if it is none of TCP. */
static __always_inline bool read_packet(struct packet *p, struct sk_buff *skb)
{
	const u8 *at = BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, network_header);
	const u16 protocol = bpf_ntohs(BPF_CORE_READ(skb, protocol));

	if (protocol == ETH_IP)
		return read_ipv4(p, at);
	return protocol == ETH_IPV6 && read_ipv6(p, at);
}

static __always_inline void conn_of_packet(struct tcp_conn *c, const struct packet *p,
					   enum tcp_way way)
{
	__builtin_memset(c, 0, sizeof(*c));
	c->family = p->family;
	c->local = way == WAY_SENT ? p->from : p->to;
	c->remote = way == WAY_SENT ? p->to : p->from;
}

/* Returns whether an event @type of the owner's connection is recorded. */
static __always_inline bool wants_tcp(u32 type, const struct tcp_owner *owner)
{
	const u32 row = EVT_INDEX(type);

	if (cfg.self_tgid && owner->tgid == cfg.self_tgid)
		return false;
	if (!cfg.state_only && !cfg.failed_only)
		return true;
	if (!(cfg.show_events[row / 64 % (DRV_MAX_EVENTS / 64)] >> (row & 63) & 1))
		return false;
	return !cfg.tasks || owner->is_selected;
}

/* Puts the ends, the own one first. */
static __always_inline void put_ends(struct rec *r, const struct tcp_conn *c)
{
	u32 n = 0;

	if (c->family == AF_INET || c->family == AF_INET6)
		n = store_ip_tuple(put_here(r), c->family, &c->local, &c->remote);
	put_done(r, n);
}

static __always_inline void put_owner(struct rec *r, const struct tcp_owner *owner)
{
	put_u8(r, owner->role);
	if (!owner->tgid) {
		put_empty(r);
		put_empty(r);
		return;
	}
	put_s64(r, owner->tgid);
	put_kernel_str(r, owner->comm, sizeof(owner->comm));
}

/* Puts what the kernel measured. */
static __always_inline void put_measures(struct rec *r, struct tcp_sock *tp)
{
	u32 srtt = BPF_CORE_READ(tp, srtt_us);

	if (srtt) {
		put_u64(r, (u64)srtt * 1000 / 8);
		put_u64(r, (u64)BPF_CORE_READ(tp, mdev_us) * 1000 / 4);
	} else {
		put_empty(r);
		put_empty(r);
	}
	put_u32(r, BPF_CORE_READ(tp, snd_cwnd));
	put_u32(r, BPF_CORE_READ(tp, total_retrans));
	put_u64(r, BPF_CORE_READ(tp, bytes_acked));
	put_u64(r, BPF_CORE_READ(tp, bytes_received));
}

#define CONN_SZ (TUPLE_SZ + 16)
#define CONN_PARAMS 11 /* that all events begin with */

/* Writes the parameters that all events begin with to byte @off. Returns where they end. Verified
 * on its own. */
__noinline u64 write_conn(struct rec_bytes *rec, u64 off, const struct tcp_conn *c)
{
	struct rec r = {.n_params = CONN_PARAMS};

	if (!rec || !c)
		return off;
	r.base = rec->at;
	r.off = bounded(off, REC_OFF_MAX);
	r.slot = this_slot(); /* for its scratch */
	put_ends(&r, c);
	widen_off(&r);
	put_owner(&r, &c->owner);
	widen_off(&r);
	if (c->state)
		put_u8(&r, c->state);
	else
		put_empty(&r);
	if (c->sk && c->state != ST_LISTEN) /* which has no round trip time */
		put_measures(&r, (void *)c->sk);
	for (u32 i = r.n; i < CONN_PARAMS; i++)
		put_empty(&r);
	return r.off;
}

static __always_inline bool begin_conn(struct rec *r, void *ctx, u32 type, u32 n_params, u64 sz,
				       const struct tcp_conn *c)
{
	struct ring *ring = this_ring();

	if (!wants_tcp(type, &c->owner)) {
		if (ring)
			counters_of(ring, ONCE(this_ends()->nest))->n_filtered++;
		return false;
	}
	if (!begin_at(r, ring, ctx, OPEN_SENT, type, 0, n_params, sz))
		return false;
	set_tid(r, c->owner.tid ?: NO_TID);
	r->off = widen(this_slot(), write_conn((void *)r->base, r->off, c), REC_OFF_MAX);
	r->n = CONN_PARAMS;
	return true;
}

/* Begins the record of event @sym, with the parameters of the connection. */
#define begin_tcp(r, ctx, sym, c, extra)                                                           \
	begin_conn(r, ctx, EVT_##sym, EVT_##sym##_NPARAMS,                                         \
		   EVT_##sym##_FIXED_SZ + CONN_SZ + (extra), c)

/* Puts the name of a reason, empty if it has none. */
static __always_inline void put_reason(struct rec *r, enum drv_tcp_reasons kind, u32 nr)
{
	const volatile struct drv_tcp_reason *reason =
		&tcp_reasons[kind * DRV_TCP_REASONS + (nr & (DRV_TCP_REASONS - 1))];

	if (nr < DRV_TCP_REASONS && reason->name[0])
		put_kernel_str(r, (const void *)reason->name, DRV_TCP_REASON_SZ);
	else
		put_empty(r);
}

/* Makes the current task the owner. */
static __always_inline void own(struct tcp_owner *o)
{
	struct task_struct *task = bpf_get_current_task_btf();

	o->tid = task->pid;
	o->tgid = task->tgid;
	o->is_inherited = 0;
	bpf_get_current_comm(o->comm, sizeof(o->comm));
	o->is_selected = task_sel(this_slot(), task) == SEL_SELECTED;
}

#endif /* DRIVER_TCP_CONN_BPF_H */
