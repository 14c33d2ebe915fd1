/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files that a task gets from another one: by a message, or by pidfd_getfd. The call says only
 * their numbers, so an event for each says what they are, behind the call's own.
 */
#ifndef DRIVER_PASSED_BPF_H
#define DRIVER_PASSED_BPF_H

#include "enter.bpf.h"
#include "path.bpf.h"
#include "sock.bpf.h"

#define PIDFS_MAGIC 0x50494446

/* A file without a place in a tree has a name of its kind: "[eventfd]", "memfd:x". */
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

static __always_inline void put_sock_kind(struct rec *r, struct sock *sk)
{
	if (!sk) {
		put_empty(r);
		put_empty(r);
		put_empty(r);
		put_empty(r);
		return;
	}
	put_u16(r, BPF_CORE_READ(sk, __sk_common.skc_family));
	put_u16(r, BPF_CORE_READ(sk, sk_type));
	put_u16(r, BPF_CORE_READ(sk, sk_protocol));
	put_u8(r, BPF_CORE_READ(sk, __sk_common.skc_state));
}

static __always_inline void tell_file(u64 *ctx, s32 fd, bool cloexec)
{
	struct file *file = fd_file(fd);
	struct file_id id;
	struct sock *sk;
	struct rec r;

	if (!file || !begin_event_after(&r, ctx, FILE_E, TUPLE_SZ + PATH_SZ))
		return;
	r.slot = this_slot(); /* for what the verifier is to forget */
	id = file_id_of(file);
	sk = fd_sock(fd);
	put_s64(&r, fd);
	put_u32(&r, BPF_CORE_READ(file, f_inode, i_mode));
	put_u32(&r,
		convert_open_flags(BPF_CORE_READ(file, f_flags)) | (cloexec ? PPM_O_CLOEXEC : 0));
	put_u32(&r, id.dev);
	put_u64(&r, id.ino);
	put_sock_kind(&r, sk);
	put_tuple(&r, sk, false, 0, 0);
	settle(&r);
	put_file_name(&r, file);
	r.slot = NULL;
	commit_event(&r);
}

struct passing {
	u64 *ctx;
	u64 at; /* of the numbers, in the caller's memory */
	bool cloexec;
};

/* A callback of bpf_loop. */
static long tell_passed(u32 i, void *data)
{
	struct passing *p = data;
	s32 fd = -1;

	if (bpf_probe_read_user(&fd, sizeof(fd), (void *)(p->at + i * sizeof(fd))) || fd < 0)
		return 1;
	tell_file(p->ctx, fd, p->cloexec);
	return 0;
}

struct user_cmsghdr {
	u64 len; /* this header included */
	s32 level, type;
};

#define SOL_SOCKET 1
#define SCM_RIGHTS 1
#define MSG_CMSG_CLOEXEC 0x40000000u
#define SCM_MAX_FD 253
#define CMSGS_MAX 4 /* kinds of control messages that come with one */

/* After the call's own record: the control data that it received. What did not fit is not there. */
static __always_inline void tell_passed_files(u64 *ctx, u64 control, u64 len, u32 msg_flags)
{
	struct passing p = {.ctx = ctx, .cloexec = msg_flags & MSG_CMSG_CLOEXEC};

	for (int i = 0; i < CMSGS_MAX && len >= sizeof(struct user_cmsghdr); i++) {
		struct user_cmsghdr h = {};
		u64 n;

		if (bpf_probe_read_user(&h, sizeof(h), (void *)control) || h.len < sizeof(h) ||
		    h.len > len)
			return;
		p.at = control + sizeof(h);
		n = (h.len - sizeof(h)) / sizeof(s32);
		if (h.level == SOL_SOCKET && h.type == SCM_RIGHTS)
			bpf_loop(n < SCM_MAX_FD ? n : SCM_MAX_FD, tell_passed, &p, 0);
		n = (h.len + 7) & ~7ull;
		if (n >= len)
			return;
		control += n;
		len -= n;
	}
}

#endif /* DRIVER_PASSED_BPF_H */
