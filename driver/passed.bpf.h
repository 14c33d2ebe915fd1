/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Passed descriptors: files that a task receives from another one, by a message, by pidfd_getfd, or
 * by an ioctl. The call has only their numbers, so an event after the call's own describes each
 * file.
 */
#ifndef DRIVER_PASSED_BPF_H
#define DRIVER_PASSED_BPF_H

#include "enter.bpf.h"
#include "path.bpf.h"
#include "sock.bpf.h"

#define PIDFS_MAGIC 0x50494446

/* A file outside of the file tree has a name of its kind: "[eventfd]", "memfd:x". */
static __always_inline void put_file_name(struct rec *r, struct file *file)
{
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);

	if (BPF_CORE_READ(dentry, d_sb, s_magic) == PIDFS_MAGIC)
		put_kernel_str(r, "[pidfd]", sizeof("[pidfd]"));
	else if (BPF_CORE_READ(dentry, d_parent) == dentry &&
		 BPF_CORE_READ(file, f_path.mnt, mnt_root) != dentry)
		put_kernel_str(r, BPF_CORE_READ(dentry, d_name.name), NAME_SZ);
	else
		put_path(r, &file->f_path);
}

/*
 * Writes the tuple of a socket to the beginning of @s, as put_tuple does for sent data. Returns its
 * length, 0 if it has none. A function of its own, so that its part of the stack is free for the
 * name.
 */
__noinline int sock_tuple(struct path_scratch *s, u64 sk_addr)
{
	struct sock *sk = (void *)sk_addr, *peer;
	struct endpoint e;
	u32 family, n = 1;

	if (!s || !sk)
		return 0;
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	s->text[0] = family;
	if (family == AF_UNIX) {
		peer = BPF_CORE_READ((struct unix_sock *)sk, peer);
		store64(s->text + 1, (u64)peer);
		store64(s->text + 9, (u64)sk);
		return 17 + store_unix_name(s->text + 17, sk);
	}
	if (family != AF_INET && family != AF_INET6)
		return 0;
	e = sock_local(sk);
	n += store_endpoint(s->text + n, &e, family);
	e = sock_remote(sk);
	n += store_endpoint(s->text + n, &e, family);
	return n;
}

static __always_inline void put_sock_tuple(struct rec *r, struct sock *sk)
{
	struct path_scratch *s;
	u32 zero = 0;
	u64 len;

	s = bpf_map_lookup_elem(&path_scratch, &zero);
	if (!s) {
		put_empty(r);
		return;
	}
	len = widen(r->slot, sock_tuple(s, (u64)sk), TUPLE_SZ);
	if (len)
		bpf_probe_read_kernel(put_here(r), len, s->text);
	put_done(r, len);
	widen_off(r);
}

static __always_inline void put_sock_kind(struct rec *r, struct sock *sk)
{
	put_u16(r, sk ? BPF_CORE_READ(sk, __sk_common.skc_family) : 0);
	put_u16(r, sk ? BPF_CORE_READ(sk, sk_type) : 0);
	put_u16(r, sk ? BPF_CORE_READ(sk, sk_protocol) : 0);
	put_u8(r, sk ? BPF_CORE_READ(sk, __sk_common.skc_state) : 0);
}

static __always_inline void send_file(u64 *ctx, s32 fd, bool cloexec)
{
	struct file *file = fd_file(fd);
	struct file_id id;
	struct sock *sk;
	struct rec r;

	if (!file || !begin_event_after(&r, ctx, FILE_E, TUPLE_SZ + PATH_SZ))
		return;
	r.slot = this_slot(); /* for values hidden from the verifier */
	id = file_id_of(file);
	put_s64(&r, fd);
	put_u32(&r, PEEK(PEEK(file, f_inode), i_mode));
	put_u32(&r,
		convert_open_flags(BPF_CORE_READ(file, f_flags)) | (cloexec ? PPM_O_CLOEXEC : 0));
	put_u32(&r, id.dev);
	put_u64(&r, id.ino);
	sk = fd_sock(fd);
	put_sock_kind(&r, sk);
	put_sock_tuple(&r, sk);
	put_file_name(&r, file);
	r.slot = NULL;
	commit_event(&r);
}

struct user_cmsghdr {
	u64 len; /* including this header */
	s32 level, type;
};

#define CMSG_MIN (sizeof(struct user_cmsghdr) + sizeof(s32))

#define SOL_SOCKET 1
#define SCM_RIGHTS 1
#define MSG_CMSG_CLOEXEC 0x40000000u
#define CMSGS_MAX 4 /* control messages that are examined */

/* Returns descriptor number @i in the control data that a call received, -1: no more. Descriptors
 * that did not fit are missing there. */
static __always_inline s32 passed_fd(u64 control, u64 len, u64 i)
{
	for (int k = 0; k < CMSGS_MAX && len >= CMSG_MIN; k++) {
		struct user_cmsghdr h = {};
		u64 n;
		s32 fd;

		if (bpf_probe_read_user(&h, sizeof(h), (void *)control) || h.len < sizeof(h) ||
		    h.len > len)
			return -1;
		n = (h.len - sizeof(h)) / sizeof(s32);
		if (h.level == SOL_SOCKET && h.type == SCM_RIGHTS) {
			if (i < n)
				return bpf_probe_read_user(
					       &fd, sizeof(fd),
					       (void *)(control + sizeof(h) + i * sizeof(fd)))
					       ? -1
					       : fd;
			i -= n;
		}
		n = (h.len + 7) & ~7ull;
		if (n >= len)
			return -1;
		control += n;
		len -= n;
	}
	return -1;
}

#endif /* DRIVER_PASSED_BPF_H */
