/* SPDX-License-Identifier: GPL-2.0 */
/* Calls on sockets. */
#include "args.bpf.h"
#include "passed.bpf.h"
#include "sock.bpf.h"
#include "task.bpf.h"

/* What the arguments are when fill_passed looks at them, after the call's own record. */
enum passed_arg {
	PASSED_MSG = 1, /* the message that is next */
	PASSED_FLAGS, /* of the call */
	PASSED_AT, /* the file of the message that is next */
	PASSED_LEFT, /* messages, this one included */
};

#define CONTROL_SZ 256u /* of the control data of a message, which carries descriptors */

SEC("?tp_btf/sys_exit")
int fill_bind(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, BIND_X, SOCKADDR_SZ + LOCAL_SZ))
		return 0;
	put_s64(&r, r.ret);
	put_sockaddr(&r, arg(&r, 1), (u32)arg(&r, 2));
	put_fd(&r, arg(&r, 0));
	settle(&r);
	put_local(&r, r.ret < 0 ? NULL : fd_sock(arg(&r, 0)), arg(&r, 1), (u32)arg(&r, 2));
	return commit(&r);
}

SEC("?tp_btf/sys_exit")
int fill_listen(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, LISTEN_X, LOCAL_SZ))
		return 0;
	put_s64(&r, r.ret);
	put_fd(&r, arg(&r, 0));
	put_u32(&r, arg(&r, 1));
	put_local(&r, r.ret < 0 ? NULL : fd_sock(arg(&r, 0)), 0, 0);
	return commit(&r);
}

SEC("?tp_btf/sys_exit")
int fill_connect(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, CONNECT_X, TUPLE_SZ + SOCKADDR_SZ))
		return 0;
	put_s64(&r, r.ret);
	put_tuple(&r, fd_sock(arg(&r, 0)), false, arg(&r, 1), (u32)arg(&r, 2));
	put_fd(&r, arg(&r, 0));
	put_sockaddr(&r, arg(&r, 1), (u32)arg(&r, 2));
	return commit(&r);
}

_Static_assert(EVT_GOES_ON(ACCEPT4_X, ACCEPT_X, 1), "and flags");

/* Serves accept and accept4: fd, tuple, and how full the queue of the listening socket was left. */
SEC("?tp_btf/sys_exit")
int fill_accept(u64 *ctx)
{
	struct sock *listener;
	u32 len = 0, max = 0;
	struct rec r;

	if (!begin_like(&r, ctx, EVT_ACCEPT4_X_FIXED_SZ + TUPLE_SZ))
		return 0;
	listener = fd_sock(arg(&r, 0));
	if (listener) {
		len = BPF_CORE_READ(listener, sk_ack_backlog);
		max = BPF_CORE_READ(listener, sk_max_ack_backlog);
	}
	put_s64(&r, r.ret);
	put_tuple(&r, r.ret < 0 ? NULL : fd_sock(r.ret), true, 0, 0);
	settle(&r);
	put_u8(&r, max ? (u64)len * 100 / max : 0);
	put_u32(&r, len);
	put_u32(&r, max);
	if (call_nr(&r) == NR_accept4)
		put_u32(&r, arg(&r, 3));
	return commit_like(&r);
}

/* The tuple of a message: only with an address, as a connected socket needs none. */
static __always_inline void put_msg_tuple(struct rec *r, bool inbound, u64 addr, u64 addr_len)
{
	if (!addr) {
		put_empty(r);
		return;
	}
	put_tuple(r, fd_sock(arg(r, 0)), inbound, addr, addr_len);
}

SEC("?tp_btf/sys_exit")
int fill_sendto(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, SENDTO_X, data_room(ctx) + TUPLE_SZ))
		return 0;
	put_s64(&r, r.ret);
	put_moved(&r, arg(&r, 1));
	put_fd(&r, arg(&r, 0));
	put_u32(&r, arg(&r, 2));
	put_msg_tuple(&r, false, arg(&r, 4), (u32)arg(&r, 5));
	settle(&r);
	put_raw32(&r, arg(&r, 3), 0);
	return commit(&r);
}

static __always_inline s64 received(s64 res, u64 size)
{
	return res > 0 && (u64)res > size ? (s64)size : res;
}

SEC("?tp_btf/sys_exit")
int fill_recvfrom(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, RECVFROM_X, data_room(ctx) + TUPLE_SZ))
		return 0;
	put_s64(&r, r.ret);
	/* With MSG_TRUNC the result is the length of what was sent, not of what was received. */
	put_moved_bytes(&r, arg(&r, 1), received(r.ret, arg(&r, 2)));
	put_msg_tuple(&r, true, r.ret < 0 ? 0 : arg(&r, 4), (u32)user_s32(arg(&r, 5), 0));
	settle(&r);
	put_fd(&r, arg(&r, 0));
	put_u32(&r, arg(&r, 2));
	put_raw32(&r, arg(&r, 3), 0);
	return commit(&r);
}

SEC("?tp_btf/sys_exit")
int fill_sendmsg(u64 *ctx)
{
	struct user_msghdr m = {};
	struct rec r;

	if (!begin(&r, ctx, SENDMSG_X, data_room(ctx) + TUPLE_SZ + CONTROL_SZ))
		return 0;
	user_msg(&m, arg(&r, 1));
	put_s64(&r, r.ret);
	put_user_vector(&r, m.iov, m.iovlen, r.ret);
	put_fd(&r, arg(&r, 0));
	put_u32(&r, iovec_sum(m.iov, m.iovlen));
	put_msg_tuple(&r, false, m.name, m.namelen);
	settle(&r);
	put_raw32(&r, arg(&r, 2), 0);
	put_user_bytes_apart(&r, m.control, m.controllen, CONTROL_SZ);
	return commit(&r);
}

/* Lets fill_passed begin with the first of @n messages. */
static __always_inline void follow_passed(struct drv_slot *slot, s64 n)
{
	slot->call.args[PASSED_AT] = 0;
	slot->call.args[PASSED_LEFT] = n;
	if (is_preemptible())
		slot->passed_for = (u64)bpf_get_current_task_btf();
}

SEC("?tp_btf/sys_exit")
int fill_recvmsg(u64 *ctx)
{
	struct user_msghdr m = {};
	struct rec r;
	bool follows;

	if (!begin(&r, ctx, RECVMSG_X, data_room(ctx) + TUPLE_SZ + CONTROL_SZ))
		return 0;
	user_msg(&m, arg(&r, 1));
	/* Without branches, which the verifier would follow to the end. */
	m.namelen &= ~(r.ret >> 63);
	m.controllen &= ~(r.ret >> 63);
	put_s64(&r, r.ret);
	put_u32(&r, r.ret & ~(r.ret >> 63));
	put_user_vector(&r, m.iov, m.iovlen, r.ret);
	put_msg_tuple(&r, true, m.namelen ? m.name : 0, m.namelen);
	settle(&r);
	put_user_bytes_apart(&r, m.control, m.controllen, CONTROL_SZ);
	put_fd(&r, arg(&r, 0));
	settle(&r);
	put_raw32(&r, arg(&r, 2), 0);
	pin();
	commit(&r);
	/* Of 32-bit calls, whose control messages have another layout, nothing is told. */
	follows = r.ret >= 0 && m.controllen >= CMSG_MIN && !is_compat();
	if (follows)
		follow_passed(r.slot, 1);
	unpin();
	if (follows)
		bpf_tail_call(ctx, &followers, DRV_FOLLOWER_PASSED);
	return 0;
}

/* The next file of the messages, -1: there is none in this one, and it is passed over. */
static __always_inline s32 next_passed(struct drv_call *call)
{
	u64 control[2] = {}; /* and its length, of struct user_msghdr */
	s32 fd = -1;

	if (!bpf_probe_read_user(
		    control, sizeof(control),
		    (void *)(call->args[PASSED_MSG] + offsetof(struct user_msghdr, control))))
		fd = passed_fd(control[0], control[1], call->args[PASSED_AT]);
	if (fd >= 0) {
		call->args[PASSED_AT]++;
		return fd;
	}
	call->args[PASSED_AT] = 0;
	call->args[PASSED_MSG] += sizeof(struct user_msghdr) + sizeof(u64);
	call->args[PASSED_LEFT]--;
	return -1;
}

#define PASSED_STEPS 8 /* of one program */

/* Tells the next files. False: there are no more, or another task has used the slot since. */
static __always_inline bool tell_passed(u64 *ctx)
{
	struct drv_slot *slot = this_slot();
	struct drv_call *call = &slot->call;
	s32 fd;

	if (is_preemptible() && slot->passed_for != (u64)bpf_get_current_task_btf())
		return false;
	for (int i = 0; i < PASSED_STEPS; i++) {
		if (!call->args[PASSED_LEFT])
			return false;
		fd = next_passed(call);
		if (fd >= 0)
			tell_file(ctx, fd, call->args[PASSED_FLAGS] & MSG_CMSG_CLOEXEC);
	}
	return true;
}

/*
 * What follows recvmsg and recvmmsg: tells some files, and goes on with the next by a call of
 * itself, as on a stack with more in it there is no room (6.1: "combined stack size of 5 calls is
 * 544"). The kernel lets it do so 32 times, which is enough for the 253 files that a message can
 * have. What more there is in several messages is not told: files of unknown names. The slot still
 * has the call's arguments.
 */
SEC("?tp_btf/sys_exit")
int fill_passed(u64 *ctx)
{
	bool more;

	pin();
	more = tell_passed(ctx);
	unpin();
	if (more)
		bpf_tail_call(ctx, &followers, DRV_FOLLOWER_PASSED);
	return 0;
}

#define MMSG_MAX 32 /* messages of one call that are counted */

struct mmsg_sum {
	u64 addr, step, n, sum;
};

/* Adds the length of one message. A callback of bpf_loop. */
static long mmsg_add(u32 i, void *ctx)
{
	struct mmsg_sum *s = ctx;
	u32 len = 0;

	if (i >= s->n)
		return 1;
	bpf_probe_read_user(&len, sizeof(len), (void *)(s->addr + i * s->step));
	s->sum += len;
	return 0;
}

/* Where the length of a message that was moved is: behind the struct msghdr. */
static __always_inline u64 mmsg_len_at(void)
{
	return is_compat() ? COMPAT_MSGHDR_WORDS * sizeof(u32) : sizeof(struct user_msghdr);
}

/* How much the messages that were moved hold. */
static __always_inline u64 mmsg_bytes(const struct rec *r)
{
	struct mmsg_sum s = {
		.addr = arg(r, 1) + mmsg_len_at(),
		.step = mmsg_len_at() + ulong_size(),
		.n = r->ret < 0 ? 0 : r->ret,
	};

	bpf_loop(MMSG_MAX, mmsg_add, &s, 0);
	return s.sum;
}

/* The first message of those moved: its length; -1 if there is none. */
static __always_inline s64 first_mmsg(const struct rec *r, struct user_msghdr *m)
{
	if (r->ret <= 0 || user_msg(m, arg(r, 1)))
		return -1;
	return (u32)user_s32(arg(r, 1) + mmsg_len_at(), 0);
}

/* One event for all messages: how many, their bytes, and data and address of the first. */
SEC("?tp_btf/sys_exit")
int fill_sendmmsg(u64 *ctx)
{
	struct user_msghdr m = {};
	struct rec r;
	s64 len;

	if (!begin(&r, ctx, SENDMMSG_X, cfg.snaplen_max + TUPLE_SZ))
		return 0;
	len = first_mmsg(&r, &m);
	put_s64(&r, r.ret);
	put_fd(&r, arg(&r, 0));
	put_u32(&r, mmsg_bytes(&r));
	put_user_vector(&r, m.iov, m.iovlen, len);
	put_msg_tuple(&r, false, m.name, m.namelen);
	settle(&r);
	put_raw32(&r, arg(&r, 3), 0);
	return commit(&r);
}

static __always_inline bool is_unix_sock(s32 fd)
{
	struct sock *sk = fd_sock(fd);

	return sk && BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX;
}

SEC("?tp_btf/sys_exit")
int fill_recvmmsg(u64 *ctx)
{
	struct user_msghdr m = {};
	struct rec r;
	bool follows;
	s64 len;

	if (!begin(&r, ctx, RECVMMSG_X, cfg.snaplen_max + TUPLE_SZ + CONTROL_SZ))
		return 0;
	len = first_mmsg(&r, &m);
	put_s64(&r, r.ret);
	put_fd(&r, arg(&r, 0));
	put_u32(&r, mmsg_bytes(&r));
	put_user_vector(&r, m.iov, m.iovlen, len);
	put_msg_tuple(&r, true, m.namelen ? m.name : 0, m.namelen);
	settle(&r);
	put_user_bytes_apart(&r, m.control, m.controllen, CONTROL_SZ);
	settle(&r);
	put_raw32(&r, arg(&r, 3), 0);
	pin();
	commit(&r);
	/* Only unix sockets pass files; 32-bit calls are as in recvmsg. */
	follows = r.ret > 0 && !is_compat() && is_unix_sock(arg(&r, 0));
	if (follows) {
		r.slot->call.args[PASSED_FLAGS] = arg(&r, 3);
		follow_passed(r.slot, r.ret);
	}
	unpin();
	if (follows)
		bpf_tail_call(ctx, &followers, DRV_FOLLOWER_PASSED);
	return 0;
}

/* Of the file, which it does not take by name, its event tells. */
SEC("?tp_btf/sys_exit")
int fill_pidfd_getfd(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, PIDFD_GETFD_X, 0))
		return 0;
	put_s64(&r, r.ret);
	put_fd(&r, arg(&r, 0));
	put_fd(&r, arg(&r, 1));
	put_u32(&r, arg(&r, 2));
	commit(&r);
	if (r.ret >= 0)
		tell_file(ctx, r.ret, true);
	return 0;
}

#define IOCTL_FICLONE 0x40049409u
#define IOCTL_FICLONERANGE 0x4020940du

struct file_clone_range {
	s64 src_fd;
	u64 src_offset, src_length, dest_offset;
};

/* What a clone took from which file. */
struct file_clone {
	s64 fd;
	s64 len; /* negative: not known */
};

/* Finds what the ioctl @request with @arg, which succeeded, cloned: 0, or -1 if it is no clone. A
 * length of 0 means up to the end of the source. */
__noinline int file_clone_of(u32 request, u64 arg, struct file_clone *c)
{
	struct file_clone_range range = {.src_fd = (s32)arg};
	struct file *file;

	if (!c || (request != IOCTL_FICLONE && request != IOCTL_FICLONERANGE))
		return -1;
	if (request == IOCTL_FICLONERANGE &&
	    bpf_probe_read_user(&range, sizeof(range), (void *)arg))
		return -1;
	c->fd = range.src_fd;
	c->len = range.src_length;
	if (range.src_length)
		return 0;
	file = fd_file(c->fd);
	c->len = file ? BPF_CORE_READ(file, f_inode, i_size) - (s64)range.src_offset : -1;
	return 0;
}

/* Of a clone, its source and how many bytes it has. */
static __always_inline void put_file_clone(struct rec *r)
{
	struct file_clone c = {.fd = -1, .len = -1};

	if (!r->ret)
		file_clone_of((u32)arg(r, 1), arg(r, 2), &c);
	store64(put_here(r), c.fd);
	put_done(r, forget(r->slot, c.fd < 0 ? 0 : sizeof(u64), sizeof(u64)));
	settle(r);
	store64(put_here(r), c.len);
	put_done(r, forget(r->slot, c.len < 0 ? 0 : sizeof(u64), sizeof(u64)));
	settle(r);
}

/* The other side of a terminal, which openpty and forkpty open this way, has a name all the same.
 */
SEC("?tp_btf/sys_exit")
int fill_ioctl(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, IOCTL_X, 0))
		return 0;
	put_s64(&r, r.ret);
	put_fd(&r, arg(&r, 0));
	put_u64(&r, (u32)arg(&r, 1));
	put_u64(&r, arg(&r, 2));
	put_file_clone(&r);
	commit(&r);
	if (r.ret >= 0 && ioctl_opens((u32)arg(&r, 1)))
		tell_file(ctx, r.ret, arg(&r, 2) & KERNEL_O_CLOEXEC);
	return 0;
}

/* Serves getsockname and getpeername: the same layout. */
SEC("?tp_btf/sys_exit")
int fill_sockname(u64 *ctx)
{
	u32 nr;
	struct rec r;

	if (!call_claim())
		return 0;
	nr = this_slot()->call.nr;
	if (!begin_call(&r, ctx, nr_event[nr & (DRV_MAX_NR - 1)], EVT_GETSOCKNAME_X_NPARAMS,
			EVT_GETSOCKNAME_X_FIXED_SZ + SOCKADDR_SZ))
		return 0;
	put_s64(&r, r.ret);
	put_fd(&r, arg(&r, 0));
	if (r.ret < 0)
		put_empty(&r);
	else
		put_sockaddr(&r, arg(&r, 1), (u32)user_s32(arg(&r, 2), 0));
	return commit(&r);
}

/* The two ends know each other by the addresses of their sockets. */
SEC("?tp_btf/sys_exit")
int fill_socketpair(u64 *ctx)
{
	struct sock *sk = NULL, *peer = NULL;
	s32 fds[2] = {-1, -1};
	struct rec r;

	if (!begin(&r, ctx, SOCKETPAIR_X, 0))
		return 0;
	if (r.ret >= 0 && !bpf_probe_read_user(fds, sizeof(fds), (void *)arg(&r, 3)))
		sk = fd_sock(fds[0]);
	if (sk && BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX)
		peer = BPF_CORE_READ((struct unix_sock *)sk, peer);
	put_s64(&r, r.ret);
	put_s64(&r, fds[0]);
	put_s64(&r, fds[1]);
	put_u64(&r, (u64)sk);
	put_u64(&r, (u64)peer);
	put_u32(&r, arg(&r, 0));
	put_u32(&r, arg(&r, 1));
	put_u32(&r, arg(&r, 2));
	return commit(&r);
}

/* Which of the types of the dynamic parameter follows. */
enum sockopt_dyn { SOCKOPT_BYTES, SOCKOPT_ERRNO, SOCKOPT_U32, SOCKOPT_U64, SOCKOPT_TIMEVAL };

/* The options that are an int: all of sockopt_options up to SO_INCOMING_CPU but these. */
static __always_inline u32 sockopt_type(u32 level, u32 opt)
{
	if (convert_sockopt_level(level) != 1 || !opt)
		return SOCKOPT_BYTES;
	switch (opt) {
	case 0x04: /* SO_ERROR */
		return SOCKOPT_ERRNO;
	case 0x14: /* SO_RCVTIMEO, SO_SNDTIMEO */
	case 0x15:
		return SOCKOPT_TIMEVAL;
	case 0x35: /* SO_COOKIE */
		return SOCKOPT_U64;
	case 0x0d: /* SO_LINGER, SO_PEERCRED, and those that are text or lists */
	case 0x11:
	case 0x19:
	case 0x1a:
	case 0x1c:
	case 0x1f:
	case 0x33:
	case 0x34:
		return SOCKOPT_BYTES;
	}
	return SOCKOPT_U32;
}

static __always_inline void put_sockopt_bytes(struct rec *r, u64 addr, u64 len)
{
	u8 *to = put_here(r);
	u64 n = written(len, cfg.snaplen);

	to[0] = SOCKOPT_BYTES;
	if (n && bpf_probe_read_user(to + 1, n, (void *)addr))
		n = 0;
	put_done(r, 1 + n);
}

/* The value of an option: u8 type, then the value in that type. */
static __always_inline void put_sockopt(struct rec *r, u32 type, u64 addr, u64 len)
{
	u8 *to = put_here(r);
	u64 tv[2] = {};

	if (type == SOCKOPT_BYTES || len < 4) {
		put_sockopt_bytes(r, addr, len);
		return;
	}
	to[0] = type;
	switch (type) {
	case SOCKOPT_U32:
		store32(to + 1, user_s32(addr, 0));
		put_done(r, 5);
		return;
	case SOCKOPT_ERRNO:
		store64(to + 1, -user_s32(addr, 0));
		break;
	case SOCKOPT_U64:
		store64(to + 1, user_u64(addr, 0));
		break;
	default: /* SOCKOPT_TIMEVAL */
		user_pair(addr, tv);
		store64(to + 1, tv[0] * 1000000000ull + tv[1] * 1000);
	}
	put_done(r, 9);
}

/* What the caller gave, if the format has no number for it. */
static __always_inline void put_unnamed(struct rec *r, bool unnamed, u64 v, u32 sz)
{
	store64(put_here(r), v);
	put_done(r, forget(r->slot, unnamed ? sz : 0, sz));
	settle(r);
}

/* Serves setsockopt and getsockopt: the same layout. */
SEC("?tp_btf/sys_exit")
int fill_sockopt(u64 *ctx)
{
	u32 nr, level, opt, len;
	struct rec r;

	if (!call_claim())
		return 0;
	nr = this_slot()->call.nr;
	if (!begin_call(&r, ctx, nr_event[nr & (DRV_MAX_NR - 1)], EVT_GETSOCKOPT_X_NPARAMS,
			EVT_GETSOCKOPT_X_FIXED_SZ + 9 + cfg.snaplen))
		return 0;
	level = arg(&r, 1);
	opt = convert_sockopt_name(level, arg(&r, 2));
	len = arg(&r, 4);
	if (nr == NR_getsockopt)
		len = r.ret < 0 ? 0 : user_s32(arg(&r, 4), 0);
	put_s64(&r, r.ret);
	put_fd(&r, arg(&r, 0));
	put_u8(&r, convert_sockopt_level(level));
	put_u8(&r, opt);
	put_sockopt(&r, sockopt_type(level, opt), arg(&r, 3), len);
	settle(&r);
	put_u32(&r, len);
	put_unnamed(&r, !convert_sockopt_level(level), level, sizeof(u32));
	put_unnamed(&r, !opt, (u64)level << 32 | (u32)arg(&r, 2), sizeof(u64));
	return commit(&r);
}
