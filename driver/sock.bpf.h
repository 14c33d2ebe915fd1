/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes addresses of sockets in the layout of the format: u8 family, then address and port, or a
 * path. The kernel's socket takes precedence over the caller's memory, which another thread may
 * have changed.
 */
#ifndef DRIVER_SOCK_BPF_H
#define DRIVER_SOCK_BPF_H

#include "args.bpf.h"
#include "fd.bpf.h"
#include <bpf/bpf_endian.h>

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10

#define UNIX_PATH_SZ 109u /* with a NUL, which the kernel's may lack */
#define TUPLE_SZ (1 + 2 * 8 + UNIX_PATH_SZ)
#define SOCKADDR_SZ (1 + UNIX_PATH_SZ)
#define LOCAL_SZ (1 + 16 + 2) /* the address of an inet socket */

/* A struct sockaddr of any family; in6 begins where in does. */
struct user_addr {
	u16 family;
	u16 port; /* big endian, as in4 */
	u32 in4; /* IPv6: flow information */
	u8 in6[16];
};

/* One end of a connection. */
struct endpoint {
	u16 port; /* host order */
	u32 in4;
	u64 in6[2];
};

/* Reads the address in the caller's memory; family 0: none. */
static __always_inline struct user_addr read_user_addr(u64 addr, u64 len)
{
	struct user_addr a = {};

	if (!addr || len < 2)
		return a;
	if (len >= 24)
		bpf_probe_read_user(&a, 24, (void *)addr);
	else if (len >= 8)
		bpf_probe_read_user(&a, 8, (void *)addr);
	else
		bpf_probe_read_user(&a, 2, (void *)addr);
	return a;
}

static __always_inline struct endpoint user_endpoint(const struct user_addr *a)
{
	struct endpoint e = {.port = bpf_ntohs(a->port), .in4 = a->in4};

	__builtin_memcpy(e.in6, a->in6, sizeof(e.in6));
	return e;
}

static __always_inline struct endpoint sock_local(struct sock *sk)
{
	struct endpoint e = {.port = BPF_CORE_READ(sk, __sk_common.skc_num),
			     .in4 = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr)};

	if (!e.in4)
		e.in4 = BPF_CORE_READ((struct inet_sock *)sk, inet_saddr);
	bpf_core_read(e.in6, sizeof(e.in6), &sk->__sk_common.skc_v6_rcv_saddr);
	return e;
}

static __always_inline struct endpoint sock_remote(struct sock *sk)
{
	struct endpoint e = {.port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport)),
			     .in4 = BPF_CORE_READ(sk, __sk_common.skc_daddr)};

	bpf_core_read(e.in6, sizeof(e.in6), &sk->__sk_common.skc_v6_daddr);
	return e;
}

/* Writes an end at @to. Returns its size. */
static __always_inline u32 store_endpoint(u8 *to, const struct endpoint *e, u32 family)
{
	if (family == AF_INET) {
		store32(to, e->in4);
		store16(to + 4, e->port);
		return 6;
	}
	store64(to, e->in6[0]);
	store64(to + 8, e->in6[1]);
	store16(to + 16, e->port);
	return 18;
}

static __always_inline u32 store_ip_tuple(u8 *p, u32 family, const struct endpoint *from,
					  const struct endpoint *to)
{
	u32 n = 1;

	p[0] = family;
	n += store_endpoint(p + n, from, family);
	return n + store_endpoint(p + n, to, family);
}

static __always_inline s64 read_str(void *to, u32 max, const void *from, bool user)
{
	return user ? bpf_probe_read_user_str(to, max, from)
		    : bpf_probe_read_kernel_str(to, max, from);
}

static __always_inline long read_bytes(void *to, u32 n, const void *from, bool user)
{
	return user ? bpf_probe_read_user(to, n, from) : bpf_probe_read_kernel(to, n, from);
}

/* Writes the path of a unix address of @len bytes, with a NUL. Returns its size. An abstract name,
 * which begins with a NUL and may contain more, begins with '@' instead. */
static __always_inline u32 store_unix_path(u8 *to, const void *path, s64 len, bool user)
{
	u64 given = written(len, UNIX_PATH_SZ - 1);
	u64 n = written(read_str(to, given + 1, path, user), UNIX_PATH_SZ);

	if (n > 1) /* empty text has 0 bytes before 6.4, 1 since */
		return n;
	to[0] = 0;
	if (given < 2 || read_bytes(to, given, path, user))
		return 1;
	to[0] = '@';
	to[given] = 0;
	return given + 1;
}

#define SUN_PATH_AT 2

/* The name that a unix socket is bound to. */
static __always_inline u32 store_unix_name(u8 *to, struct sock *sk)
{
	struct unix_address *addr = BPF_CORE_READ((struct unix_sock *)sk, addr);
	int len;

	if (!addr) {
		to[0] = 0;
		return 1;
	}
	len = BPF_CORE_READ(addr, len) - SUN_PATH_AT;
	return store_unix_path(to, (void *)&addr->name[0] + SUN_PATH_AT, len, false);
}

/*
 * Writes the tuple of a unix socket. As in sysdig: for sent data the peer first, for received data
 * the socket itself; then the name of the side that has one as seen by the other: the caller's
 * @addr, the peer's, or, for received data, the socket's own.
 */
static __always_inline u32 store_unix_tuple(u8 *p, struct sock *sk, bool inbound, u64 addr,
					    u64 addr_len)
{
	struct sock *peer = BPF_CORE_READ((struct unix_sock *)sk, peer);

	p[0] = AF_UNIX;
	store64(p + 1, (u64)(inbound ? sk : peer));
	store64(p + 9, (u64)(inbound ? peer : sk));
	if (addr && addr_len > SUN_PATH_AT)
		return 17 + store_unix_path(p + 17, (void *)(addr + SUN_PATH_AT),
					    addr_len - SUN_PATH_AT, true);
	return 17 + store_unix_name(p + 17, inbound ? sk : peer);
}

#define TUPLE_INBOUND (1ull << 32) /* in addition to an address */

/*
 * Writes source and destination of a socket's data to byte @off. Returns the length, 0 if there are
 * none. Uses @addr in the caller's memory as peer if the socket has none. Verified on its own,
 * since its many paths end the same way.
 */
__noinline u64 tuple_text(struct rec_bytes *rec, u64 off, u64 sk_addr, u64 addr, u64 len)
{
	struct sock *sk = (void *)sk_addr;
	u32 family = sk ? BPF_CORE_READ(sk, __sk_common.skc_family) : 0;
	const bool inbound = len & TUPLE_INBOUND;
	struct endpoint local, remote;
	u8 *p;

	if (!rec)
		return 0;
	p = &rec->at[bounded(off, REC_OFF_MAX)];
	if (family == AF_UNIX)
		return store_unix_tuple(p, sk, inbound, addr, (u32)len);
	if (family != AF_INET && family != AF_INET6)
		return 0;
	local = sock_local(sk);
	remote = sock_remote(sk);
	if (!remote.port) {
		struct user_addr a = read_user_addr(addr, (u32)len);

		remote = user_endpoint(&a);
	}
	return store_ip_tuple(p, family, inbound ? &remote : &local, inbound ? &local : &remote);
}

/* Puts the tuple; begin must have TUPLE_SZ. */
static __always_inline void put_tuple(struct rec *r, struct sock *sk, bool inbound, u64 addr,
				      u32 len)
{
	put_done(r, bounded(tuple_text((void *)r->base, r->off, (u64)sk, addr,
				       len | (inbound ? TUPLE_INBOUND : 0)),
			    TUPLE_SZ));
}

/* Writes an address of the caller's memory to byte @off. Returns the length, 0 if there is none. */
__noinline u64 sockaddr_text(struct rec_bytes *rec, u64 off, u64 addr, u64 len)
{
	struct user_addr a = read_user_addr(addr, len);
	struct endpoint e;
	u8 *p;

	if (!rec)
		return 0;
	p = &rec->at[bounded(off, REC_OFF_MAX)];
	p[0] = a.family;
	if (a.family == AF_UNIX)
		return 1 + store_unix_path(p + 1, (void *)(addr + SUN_PATH_AT), len - SUN_PATH_AT,
					   true);
	if ((a.family != AF_INET || len < 8) && (a.family != AF_INET6 || len < 24))
		return 0;
	e = user_endpoint(&a);
	return 1 + store_endpoint(p + 1, &e, a.family);
}

/* Puts the address; begin must have SOCKADDR_SZ. */
static __always_inline void put_sockaddr(struct rec *r, u64 addr, u64 len)
{
	put_done(r, bounded(sockaddr_text((void *)r->base, r->off, addr, len), SOCKADDR_SZ));
}

/* Writes the address of an inet socket to byte @off, unless its port equals that of @addr in the
 * caller's memory. Returns the length, 0 if there is none. */
__noinline u64 local_text(struct rec_bytes *rec, u64 off, u64 sk_addr, u64 addr, u64 len)
{
	struct user_addr a = read_user_addr(addr, len);
	struct sock *sk = (void *)sk_addr;
	u32 family = sk ? BPF_CORE_READ(sk, __sk_common.skc_family) : 0;
	struct endpoint e;
	u8 *p;

	if (!rec || (family != AF_INET && family != AF_INET6))
		return 0;
	e = sock_local(sk);
	if (!e.port || e.port == bpf_ntohs(a.port))
		return 0;
	p = &rec->at[bounded(off, REC_OFF_MAX)];
	p[0] = family;
	return 1 + store_endpoint(p + 1, &e, family);
}

/* Puts the address; begin must have LOCAL_SZ. */
static __always_inline void put_local(struct rec *r, struct sock *sk, u64 addr, u64 len)
{
	put_done(r, bounded(local_text((void *)r->base, r->off, (u64)sk, addr, len), LOCAL_SZ));
}

#endif /* DRIVER_SOCK_BPF_H */
