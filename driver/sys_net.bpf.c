/* SPDX-License-Identifier: GPL-2.0 */
/* Fillers of socket calls, of pidfd_getfd and of ioctl. */
#include "args.bpf.h"
#include "passed.bpf.h"
#include "sock.bpf.h"
#include "task.bpf.h"

/* The arguments in the slot as fill_passed reads them, after the record of the call. */
enum passed_arg {
	PASSED_MSG = 1, /* address of the next message */
	PASSED_FLAGS, /* flags of the call */
	PASSED_AT, /* index of the next file in that message */
	PASSED_LEFT, /* messages left, this one included */
};

#define CONTROL_SZ 256u /* bytes copied of a message's control data, which carries descriptors */

SEC("?tp_btf/sys_exit")
int fill_bind(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, BIND_X, SOCKADDR_SZ + LOCAL_SZ))
		return 0;
	put_s64(&r, r.ret);
	put_sockaddr(&r, arg(&r, 1), (u32)arg(&r, 2));
	put_fd(&r, arg(&r, 0));
	widen_off(&r);
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

/* Serves accept and accept4: fd, tuple, and the fill level of the listening socket's queue. */
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
	widen_off(&r);
	put_u8(&r, max ? (u64)len * 100 / max : 0);
	put_u32(&r, len);
	put_u32(&r, max);
	if (call_nr(&r) == NR_accept4)
		put_u32(&r, arg(&r, 3));
	return commit_like(&r);
}

/* Puts the tuple of a message that has an address; a connected socket needs none. */
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
	widen_off(&r);
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
	/* With MSG_TRUNC the result is the length of the datagram, not of what was copied. */
	put_moved_bytes(&r, arg(&r, 1), received(r.ret, arg(&r, 2)));
	put_msg_tuple(&r, true, r.ret < 0 ? 0 : arg(&r, 4), (u32)user_s32(arg(&r, 5), 0));
	widen_off(&r);
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
	widen_off(&r);
	put_raw32(&r, arg(&r, 2), 0);
	put_user_bytes_apart(&r, m.control, m.controllen, CONTROL_SZ);
	return commit(&r);
}

/* Prepares fill_passed for the first of @n messages. */
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
	/* Without branches: the verifier would follow each to the end of the program. */
	m.namelen &= ~(r.ret >> 63);
	m.controllen &= ~(r.ret >> 63);
	put_s64(&r, r.ret);
	put_u32(&r, r.ret & ~(r.ret >> 63));
	put_user_vector(&r, m.iov, m.iovlen, r.ret);
	put_msg_tuple(&r, true, m.namelen ? m.name : 0, m.namelen);
	widen_off(&r);
	put_user_bytes_apart(&r, m.control, m.controllen, CONTROL_SZ);
	put_fd(&r, arg(&r, 0));
	widen_off(&r);
	put_raw32(&r, arg(&r, 2), 0);
	pin();
	commit(&r);
	/* Not for 32-bit calls, whose control messages have another layout. */
	follows = r.ret >= 0 && m.controllen >= CMSG_MIN && !is_compat();
	if (follows)
		follow_passed(r.slot, 1);
	unpin();
	if (follows)
		bpf_tail_call(ctx, &followers, DRV_FOLLOWER_PASSED);
	return 0;
}

/* Returns the next passed descriptor; -1: the message has no more, the next message follows. */
static __always_inline s32 next_passed(struct drv_call *call)
{
	u64 control[2] = {}; /* control and controllen of struct user_msghdr */
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

#define PASSED_STEPS 8 /* files or messages per run of the program */

/* Sends events of the next files. False: there are no more, or another task has used the slot. */
static __always_inline bool send_passed(u64 *ctx)
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
			send_file(ctx, fd, call->args[PASSED_FLAGS] & MSG_CMSG_CLOEXEC);
	}
	return true;
}

/*
 * Follows recvmsg and recvmmsg by a tail call: sends events of some passed files, and tail-calls
 * itself for the next ones, because the stack has no room for more at a time (6.1: "combined stack
 * size of 5 calls is 544"). The kernel allows 32 tail calls, enough for the 253 files that one
 * message can carry. Files beyond that, in several messages, have no event and stay unknown. The
 * slot still holds the call's arguments.
 */
SEC("?tp_btf/sys_exit")
int fill_passed(u64 *ctx)
{
	bool more;

	pin();
	more = send_passed(ctx);
	unpin();
	if (more)
		bpf_tail_call(ctx, &followers, DRV_FOLLOWER_PASSED);
	return 0;
}

#define MMSG_MAX 4096 /* maximum number of messages whose bytes are summed */

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

/* Returns the address of a message's msg_len, behind its struct msghdr. */
static __always_inline u64 mmsg_len_at(void)
{
	return is_compat() ? COMPAT_MSGHDR_WORDS * sizeof(u32) : sizeof(struct user_msghdr);
}

/* Returns the total bytes of the messages that were moved. */
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

/* Reads the first moved message. Returns its length; -1 if there is none. */
static __always_inline s64 first_mmsg(const struct rec *r, struct user_msghdr *m)
{
	if (r->ret <= 0 || user_msg(m, arg(r, 1)))
		return -1;
	return (u32)user_s32(arg(r, 1) + mmsg_len_at(), 0);
}

/* Each entry of the parameter messages begins with the size of the message (u32), and the sizes of
 * the address and of the data that follow (u16 each). */
#define MMSG_HEAD_SZ 8u
#define MMSG_KEPT 16u /* maximum number of entries */
#define MMSG_DATA_MAX PATH_SZ /* of one message, besides the first */
#define MMSG_OTHERS_SZ 512u /* at least what the other parameters of the record take */
#define MMSG_SZ 32768u

/* Returns the most bytes of entries that the record has room for. */
static __always_inline u64 mmsg_max(void)
{
	u64 left = DRV_REC_MAX - MMSG_OTHERS_SZ;

	left -= cfg.snaplen_max < left ? cfg.snaplen_max : left;
	return left < MMSG_SZ ? left : MMSG_SZ;
}

/* Returns the most bytes of data in an entry. */
static __always_inline u64 mmsg_data_max(const struct drv_slot *slot)
{
	return written(copied_len(slot, MMSG_DATA_MAX), MMSG_DATA_MAX);
}

/* Returns the room for the entries of the call that ends; one of a single message has none. */
static __always_inline u64 mmsg_room(const u64 *ctx)
{
	u64 n = bounded((s64)ctx[1] > 1 ? ctx[1] : 0, MMSG_KEPT);

	return bounded(n * (MMSG_HEAD_SZ + TUPLE_SZ + mmsg_data_max(this_slot())), mmsg_max());
}

/* Words of a struct msghdr, native or 32-bit. */
enum msg_word { MSG_NAME, MSG_NAMELEN, MSG_IOV, MSG_IOVLEN };

/* Reads a word of the struct at @addr, 0 if it is unreadable. The stack has no room for a struct
 * user_msghdr here (6.1: "combined stack size of 4 calls is 544"). */
static __always_inline u64 msg_word(u64 addr, u32 word)
{
	const u64 v = user_ulong(addr + word * ulong_size(), 0);

	return word == MSG_NAMELEN ? (u32)v : v;
}

struct mmsg_data {
	struct rec_bytes *rec;
	u64 iov, count, off, left;
};

/* Copies one more buffer of a message. A callback of bpf_loop. */
static long mmsg_piece(u32 i, void *ctx)
{
	struct mmsg_data *d = ctx;
	struct iovec v;
	u64 n;

	if (i >= d->count || !d->left || user_iovec(&v, d->iov, i))
		return 1;
	n = copy_user(d->rec, d->off, v.base, v.len < d->left ? v.len : d->left, MMSG_DATA_MAX);
	d->off += n;
	d->left -= n;
	return v.len && !n;
}

/* Copies up to @max bytes of the message at @addr to byte @off. Returns their number. */
__noinline u64 mmsg_data(struct rec_bytes *rec, u64 off, u64 addr, u64 max)
{
	struct mmsg_data d = {.rec = rec,
			      .iov = msg_word(addr, MSG_IOV),
			      .count = msg_word(addr, MSG_IOVLEN),
			      .off = off,
			      .left = max};

	if (!rec)
		return 0;
	bpf_loop(VECTOR_MAX, mmsg_piece, &d, 0);
	return d.off - off;
}

/* Writes the address of the message at @addr to byte @off. Returns its length. */
static __always_inline u64 mmsg_tuple(struct rec_bytes *rec, u64 off, u64 addr, u64 inbound)
{
	const u64 name = msg_word(addr, MSG_NAME), len = msg_word(addr, MSG_NAMELEN);
	struct sock *sk = fd_sock(this_slot()->call.args[0]);

	return name && len ? bounded(tuple_text(rec, off, (u64)sk, name, len | inbound), TUPLE_SZ)
			   : 0;
}

struct mmsg_copy {
	struct rec_bytes *rec;
	u64 n; /* messages */
	u64 off, end; /* of the next entry, and of the room */
	u64 inbound;
};

/* Writes the entry of one message. The first has its address and data in parameters of their own. A
 * callback of bpf_loop. */
static long mmsg_entry(u32 i, void *ctx)
{
	struct drv_slot *slot = this_slot();
	const u64 *args = slot->call.args, len_at = mmsg_len_at(), max = mmsg_data_max(slot);
	const u64 addr = args[1] + i * (len_at + ulong_size());
	struct mmsg_copy *c = ctx;
	u64 off = bounded(c->off, REC_OFF_MAX), tuple = 0, data = 0;
	u32 len;

	if (i >= c->n || off + MMSG_HEAD_SZ + TUPLE_SZ + max > c->end)
		return 1;
	len = user_s32(addr + len_at, 0);
	if (i) {
		tuple = mmsg_tuple(c->rec, off + MMSG_HEAD_SZ, addr, c->inbound);
		data = mmsg_data(c->rec, off + MMSG_HEAD_SZ + tuple, addr, len < max ? len : max);
	}
	store32(&c->rec->at[off], len);
	store16(&c->rec->at[off + 4], tuple);
	store16(&c->rec->at[off + 6], data);
	c->off = off + MMSG_HEAD_SZ + tuple + data;
	return 0;
}

/* Writes the entries of @n messages to bytes @off to @end. Returns their length. */
__noinline u64 mmsg_entries(struct rec_bytes *rec, u64 off, u64 end, u64 n, u64 inbound)
{
	struct mmsg_copy c = {.rec = rec, .n = n, .off = off, .end = end, .inbound = inbound};

	if (!rec)
		return 0;
	bpf_loop(MMSG_KEPT, mmsg_entry, &c, 0);
	return c.off - off;
}

/* Puts an entry for each message of a call that moved several; begin must have mmsg_room. */
static __always_inline void put_mmsg_entries(struct rec *r, u64 *ctx, bool inbound)
{
	const u64 n = r->ret > 1 ? r->ret : 0;

	put_done(r, bounded(mmsg_entries((void *)r->base, r->off, r->off + mmsg_room(ctx), n,
					 inbound ? TUPLE_INBOUND : 0),
			    mmsg_max()));
	widen_off(r);
}

/* Puts one event for all messages: their number, total bytes, and data and address of each. */
SEC("?tp_btf/sys_exit")
int fill_sendmmsg(u64 *ctx)
{
	struct user_msghdr m = {};
	struct rec r;
	s64 len;

	if (!begin(&r, ctx, SENDMMSG_X, cfg.snaplen_max + TUPLE_SZ + mmsg_room(ctx)))
		return 0;
	len = first_mmsg(&r, &m);
	put_s64(&r, r.ret);
	put_fd(&r, arg(&r, 0));
	put_u32(&r, mmsg_bytes(&r));
	put_user_vector(&r, m.iov, m.iovlen, len);
	put_msg_tuple(&r, false, m.name, m.namelen);
	widen_off(&r);
	put_raw32(&r, arg(&r, 3), 0);
	put_mmsg_entries(&r, ctx, false);
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

	if (!begin(&r, ctx, RECVMMSG_X, cfg.snaplen_max + TUPLE_SZ + CONTROL_SZ + mmsg_room(ctx)))
		return 0;
	len = first_mmsg(&r, &m);
	put_s64(&r, r.ret);
	put_fd(&r, arg(&r, 0));
	put_u32(&r, mmsg_bytes(&r));
	put_user_vector(&r, m.iov, m.iovlen, len);
	put_msg_tuple(&r, true, m.namelen ? m.name : 0, m.namelen);
	widen_off(&r);
	put_user_bytes_apart(&r, m.control, m.controllen, CONTROL_SZ);
	widen_off(&r);
	put_raw32(&r, arg(&r, 3), 0);
	put_mmsg_entries(&r, ctx, true);
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

/* The call has no name for the file: a FILE_E event after its record describes it. */
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
		send_file(ctx, r.ret, true);
	return 0;
}

#define IOCTL_FICLONE 0x40049409u
#define IOCTL_FICLONERANGE 0x4020940du

struct file_clone_range {
	s64 src_fd;
	u64 src_offset, src_length, dest_offset;
};

/* Source and length of a file clone. */
struct file_clone {
	s64 fd;
	s64 len; /* negative: unknown */
};

/* Sets @c to what a successful ioctl @request with @arg cloned. Returns 0, or -1 if the request is
 * not a clone. A length of 0 in the request means up to the end of the source. */
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

/* Puts source and length of a clone; without values for other requests. */
static __always_inline void put_file_clone(struct rec *r)
{
	struct file_clone c = {.fd = -1, .len = -1};

	if (!r->ret)
		file_clone_of((u32)arg(r, 1), arg(r, 2), &c);
	store64(put_here(r), c.fd);
	put_done(r, widen(r->slot, c.fd < 0 ? 0 : sizeof(u64), sizeof(u64)));
	widen_off(r);
	store64(put_here(r), c.len);
	put_done(r, widen(r->slot, c.len < 0 ? 0 : sizeof(u64), sizeof(u64)));
	widen_off(r);
}

/* Serves ioctl. TIOCGPTPEER (openpty, forkpty) opens the other side of a pty, which has a path. */
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
		send_file(ctx, r.ret, arg(&r, 2) & KERNEL_O_CLOEXEC);
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

/* Serves socketpair: each end is identified by the address of its socket. */
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

/* Index of the type of the dynamic parameter. */
enum sockopt_dyn { SOCKOPT_BYTES, SOCKOPT_ERRNO, SOCKOPT_U32, SOCKOPT_U64, SOCKOPT_TIMEVAL };

/* Returns whether the option is an int: all of sockopt_options up to SO_INCOMING_CPU but these. */
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
	case 0x0d: /* SO_LINGER, SO_PEERCRED, and options that are text or lists */
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

/* Puts the value of an option: u8 type, then the value in that type. */
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

/* Puts the caller's number if the format has none for it. */
static __always_inline void put_unnamed(struct rec *r, bool unnamed, u64 v, u32 sz)
{
	store64(put_here(r), v);
	put_done(r, widen(r->slot, unnamed ? sz : 0, sz));
	widen_off(r);
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
	widen_off(&r);
	put_u32(&r, len);
	put_unnamed(&r, !convert_sockopt_level(level), level, sizeof(u32));
	put_unnamed(&r, !opt, (u64)level << 32 | (u32)arg(&r, 2), sizeof(u64));
	return commit(&r);
}
