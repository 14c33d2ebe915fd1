/* SPDX-License-Identifier: GPL-2.0 */
/* Fillers of open, pipe, sendfile, readv, writev, quotactl, poll and their variants. */
#include "args.bpf.h"
#include "fd.bpf.h"
#include "guard.bpf.h"
#include "task.bpf.h"

/* Returns the file of the descriptor that the call returned; NULL: it failed. */
static __always_inline struct file *opened(const struct rec *r)
{
	return r->ret < 0 ? NULL : fd_file(r->ret);
}

static __always_inline struct file_id opened_id(struct file *file)
{
	struct file_id none = {};

	return file ? file_id_of(file) : none;
}

/* struct open_how */
struct open_how {
	u64 flags;
	u64 mode;
	u64 resolve;
};

_Static_assert(EVT_GOES_ON(OPENAT_X, OPEN_X, 1), "and the directory");
_Static_assert(EVT_GOES_ON(OPENAT2_X, OPENAT_X, 1), "and how names are resolved");
_Static_assert(EVT_GOES_ON(OPEN_X, CREAT_X, 1), "and the caller's flags");

static __always_inline bool has_dirfd(const struct rec *r)
{
	return call_nr(r) == NR_openat || call_nr(r) == NR_openat2;
}

/* Returns flags, mode and resolve of an open: from its arguments, or from struct open_how. */
static __always_inline struct open_how opened_how(const struct rec *r)
{
	struct open_how how = {};

	if (call_nr(r) == NR_openat2) {
		bpf_probe_read_user(&how, sizeof(how), (void *)arg(r, 2));
		return how;
	}
	how.flags = (u32)(has_dirfd(r) ? arg(r, 2) : arg(r, 1));
	how.mode = has_dirfd(r) ? arg(r, 3) : arg(r, 2);
	return how;
}

/* Serves creat: its mode and the file, and flags that are always 0. */
static __always_inline void put_created(struct rec *r, const struct file_id *id)
{
	put_u32(r, arg(r, 1) & 07777);
	put_u32(r, id->dev);
	put_u64(r, id->ino);
	put_u16(r, 0);
}

static __always_inline void put_open(struct rec *r, const struct file_id *id)
{
	struct open_how how = opened_how(r);

	how.flags = widen(r->slot, how.flags, ~0ull);
	how.mode = widen(r->slot, how.mode, ~0ull);
	put_u32(r, convert_open_flags(how.flags) | opened_flags(id));
	put_u32(r, convert_open_mode(how.flags, how.mode));
	if (call_nr(r) == NR_openat2)
		put_u32(r, convert_openat2_resolve(how.resolve));
	widen_like(r);
	put_u32(r, id->dev);
	put_u64(r, id->ino);
}

/* Serves open, openat, openat2 and creat. */
SEC("?tp_btf/sys_exit")
int fill_open(u64 *ctx)
{
	struct file_id id;
	struct file *file;
	struct rec r;

	if (!begin_like(&r, ctx, EVT_OPENAT2_X_FIXED_SZ + 2 * PATH_SZ))
		return 0;
	file = opened(&r);
	id = opened_id(file);
	put_s64(&r, r.ret);
	if (has_dirfd(&r))
		put_fd(&r, arg(&r, 0));
	widen_like(&r);
	put_arg_str(&r, has_dirfd(&r));
	widen_off(&r);
	if (call_nr(&r) == NR_creat)
		put_created(&r, &id);
	else
		put_open(&r, &id);
	widen_like(&r);
	put_opened_path(&r, file, has_dirfd(&r));
	widen_off(&r);
	if (call_nr(&r) != NR_creat) {
		u64 flags = opened_how(&r).flags;

		put_raw64(&r, flags, OPEN_FLAGS_NAMED_OF(flags));
	}
	return commit_like(&r);
}

SEC("?tp_btf/sys_exit")
int fill_open_by_handle_at(u64 *ctx)
{
	struct file_id id;
	struct file *file;
	struct rec r;

	if (!begin(&r, ctx, OPEN_BY_HANDLE_AT_X, PATH_SZ))
		return 0;
	file = opened(&r);
	id = opened_id(file);
	put_s64(&r, r.ret);
	put_fd(&r, arg(&r, 0));
	put_u32(&r, convert_open_flags(arg(&r, 2)));
	if (file)
		put_path(&r, &file->f_path);
	else
		put_no_text(&r);
	put_u32(&r, id.dev);
	put_u64(&r, id.ino);
	put_raw64(&r, (u32)arg(&r, 2), OPEN_FLAGS_NAMED_OF((u32)arg(&r, 2)));
	return commit(&r);
}

_Static_assert(EVT_GOES_ON(PIPE2_X, PIPE_X, 2), "and flags, and the caller's");

/* Serves pipe and pipe2. Both ends of a pipe have the same inode. */
SEC("?tp_btf/sys_exit")
int fill_pipe(u64 *ctx)
{
	s32 fds[2] = {-1, -1};
	struct rec r;

	if (!begin_like(&r, ctx, EVT_PIPE2_X_FIXED_SZ))
		return 0;
	if (r.ret >= 0)
		bpf_probe_read_user(fds, sizeof(fds), (void *)arg(&r, 0));
	put_s64(&r, r.ret);
	put_s64(&r, fds[0]);
	put_s64(&r, fds[1]);
	put_u64(&r, fd_ino(fds[0]));
	if (call_nr(&r) == NR_pipe2) {
		put_u32(&r, convert_file_flags(arg(&r, 1)));
		put_raw32(&r, arg(&r, 1), FILE_FLAGS_NAMED);
	}
	return commit_like(&r);
}

/* Serves sendfile. The kernel advanced *offset by the bytes sent. */
SEC("?tp_btf/sys_exit")
int fill_sendfile(u64 *ctx)
{
	struct rec r;
	u64 offset;

	if (!begin(&r, ctx, SENDFILE_X, 0))
		return 0;
	offset = user_ulong(arg(&r, 2), 0);
	put_s64(&r, r.ret);
	put_u64(&r, offset);
	put_fd(&r, arg(&r, 0));
	put_fd(&r, arg(&r, 1));
	put_u64(&r, arg(&r, 3));
	put_u64(&r, arg(&r, 2) && r.ret > 0 ? offset - r.ret : offset);
	return commit(&r);
}

_Static_assert(EVT_GOES_ON(PREADV_X, READV_X, 1) && EVT_GOES_ON(PREADV2_X, READV_X, 2) &&
		       EVT_GOES_ON(PWRITEV_X, WRITEV_X, 1) && EVT_GOES_ON(PWRITEV2_X, WRITEV_X, 2),
	       "and a position, and flags");

static __always_inline void put_place(struct rec *r, u32 nr_first, u32 nr_last)
{
	if (call_nr(r) != nr_first)
		put_u64(r, arg(r, 3));
	widen_like(r);
	if (call_nr(r) == nr_last)
		put_u32(r, arg(r, 5));
}

/* Serves readv, preadv and preadv2. The size is the result. */
SEC("?tp_btf/sys_exit")
int fill_readv(u64 *ctx)
{
	struct rec r;

	if (!begin_like(&r, ctx, EVT_PREADV2_X_FIXED_SZ + data_room(ctx)))
		return 0;
	put_s64(&r, r.ret);
	put_u32(&r, r.ret & ~(r.ret >> 63));
	put_user_vector(&r, arg(&r, 1), arg(&r, 2), r.ret);
	put_fd(&r, arg(&r, 0));
	put_place(&r, NR_readv, NR_preadv2);
	return commit_like(&r);
}

/* Serves writev, pwritev and pwritev2. */
SEC("?tp_btf/sys_exit")
int fill_writev(u64 *ctx)
{
	struct rec r;

	if (!begin_like(&r, ctx, EVT_PWRITEV2_X_FIXED_SZ + data_room(ctx)))
		return 0;
	put_s64(&r, r.ret);
	put_user_vector(&r, arg(&r, 1), arg(&r, 2), r.ret);
	put_fd(&r, arg(&r, 0));
	put_u32(&r, iovec_sum(arg(&r, 1), arg(&r, 2)));
	put_place(&r, NR_writev, NR_pwritev2);
	return commit_like(&r);
}

/* struct if_dqblk and, of the same calls for information, if_dqinfo */
struct quota {
	u64 bhardlimit, bsoftlimit, curspace;
	u64 ihardlimit, isoftlimit, curinodes;
	u64 btime, itime; /* s */
	u32 valid; /* QIF_* */
	u32 pad;
};

struct quota_info {
	u64 bgrace, igrace; /* s */
	u32 flags, valid;
};

#define QIF_BLIMITS 1
#define QIF_SPACE 2
#define QIF_ILIMITS 4
#define QIF_BTIME 16
#define QIF_ITIME 32
#define IIF_BGRACE 1
#define IIF_IGRACE 2
#define IIF_FLAGS 4

#define NS_PER_S 1000000000ull

static __always_inline void put_quota(struct rec *r, u32 cmd)
{
	struct quota q = {};

	if ((cmd == PPM_Q_GETQUOTA && r->ret >= 0) || cmd == PPM_Q_SETQUOTA)
		bpf_probe_read_user(&q, sizeof(q), (void *)arg(r, 3));
	put_u64(r, q.valid & QIF_BLIMITS ? q.bhardlimit : 0);
	put_u64(r, q.valid & QIF_BLIMITS ? q.bsoftlimit : 0);
	put_u64(r, q.valid & QIF_SPACE ? q.curspace : 0);
	put_u64(r, q.valid & QIF_ILIMITS ? q.ihardlimit : 0);
	put_u64(r, q.valid & QIF_ILIMITS ? q.isoftlimit : 0);
	put_u64(r, q.valid & QIF_BTIME ? q.btime * NS_PER_S : 0);
	put_u64(r, q.valid & QIF_ITIME ? q.itime * NS_PER_S : 0);
}

static __always_inline void put_quota_info(struct rec *r, u32 cmd)
{
	struct quota_info q = {};

	if ((cmd == PPM_Q_GETINFO && r->ret >= 0) || cmd == PPM_Q_SETINFO)
		bpf_probe_read_user(&q, sizeof(q), (void *)arg(r, 3));
	put_u64(r, q.valid & IIF_BGRACE ? q.bgrace * NS_PER_S : 0);
	put_u64(r, q.valid & IIF_IGRACE ? q.igrace * NS_PER_S : 0);
	put_u8(r, q.valid & IIF_FLAGS ? convert_quota_info_flags(q.flags) : 0);
}

/* Serves quotactl. The layout of 2022 has the parameters of all commands. */
SEC("?tp_btf/sys_exit")
int fill_quotactl(u64 *ctx)
{
	u32 cmd, format = 0;
	struct rec r;

	if (!begin(&r, ctx, QUOTACTL_X, 2 * PATH_SZ))
		return 0;
	cmd = convert_quota_cmd(arg(&r, 0));
	put_s64(&r, r.ret);
	put_user_text(&r, arg(&r, 1));
	widen_off(&r);
	if (cmd == PPM_Q_QUOTAON)
		put_user_text(&r, arg(&r, 3));
	else
		put_no_text(&r);
	widen_off(&r);
	put_quota(&r, cmd);
	put_quota_info(&r, cmd);
	if (cmd == PPM_Q_GETFMT && r.ret >= 0)
		format = user_s32(arg(&r, 3), 0);
	put_u8(&r, convert_quota_format(format));
	put_u16(&r, cmd);
	put_u8(&r, convert_quota_type(arg(&r, 0)));
	put_u32(&r, quota_cmd_has_id(cmd) ? arg(&r, 2) : 0);
	put_u8(&r, convert_quota_format(cmd == PPM_Q_QUOTAON ? arg(&r, 2) : 0));
	put_raw32(&r, cmd ? 0 : arg(&r, 0), 0);
	return commit(&r);
}

/* struct pollfd */
struct pollfd {
	s32 fd;
	u16 events;
	u16 revents;
};

struct fdlist {
	struct drv_slot *slot;
	u8 *to;
	u64 addr, n;
	u32 count;
	bool with_events;
};

/* Appends a descriptor. A callback of bpf_loop, whose body the verifier checks once. */
static long fdlist_add(u32 i, void *ctx)
{
	struct fdlist *l = ctx;
	u64 n = widen(l->slot, l->n, ARG_POLLFDS_MAX - 1);
	struct pollfd p;
	u32 flags;

	if (i >= l->count || bpf_probe_read_user(&p, sizeof(p), (void *)(l->addr + i * sizeof(p))))
		return 1;
	flags = l->with_events ? p.events : p.revents;
	if (!l->with_events && !flags)
		return 0;
	store64(l->to + 2 + n * FDLIST_ITEM_SZ, (s64)p.fd);
	store16(l->to + 2 + n * FDLIST_ITEM_SZ + 8, convert_poll_events(flags));
	l->n = n + 1;
	return 0;
}

/* Puts the first descriptors with revents; with @with_events, all of the first ones, with their
 * events. */
static __always_inline void put_fdlist(struct rec *r, bool with_events)
{
	struct fdlist l = {
		.slot = r->slot,
		.to = put_here(r),
		.addr = arg(r, 0),
		.count = arg(r, 1),
		.with_events = with_events,
	};
	u64 n;

	bpf_loop(ARG_POLLFDS_MAX, fdlist_add, &l, 0);
	n = widen(r->slot, l.n, ARG_POLLFDS_MAX);
	store16(l.to, n);
	put_done(r, 2 + n * FDLIST_ITEM_SZ);
}

SEC("?tp_btf/sys_exit")
int fill_poll(u64 *ctx)
{
	struct rec r;

	if (!begin(&r, ctx, POLL_X, 2 * FDLIST_SZ))
		return 0;
	put_s64(&r, r.ret);
	put_fdlist(&r, false);
	put_s64(&r, (s32)arg(&r, 2));
	put_fdlist(&r, true);
	return commit(&r);
}

#define PPOLL_TIMEOUT 2

SEC("?tp_btf/sys_exit")
int fill_ppoll(u64 *ctx)
{
	struct rec r;
	u64 timeout;

	if (!begin(&r, ctx, PPOLL_X, 2 * FDLIST_SZ))
		return 0;
	put_s64(&r, r.ret);
	put_fdlist(&r, false);
	if (inout_value(&r.slot->call, PPOLL_TIMEOUT, 0, &timeout) || !arg(&r, PPOLL_TIMEOUT))
		put_u64(&r, arg(&r, PPOLL_TIMEOUT) ? timeout : -1ull);
	else
		put_empty(&r);
	put_u32(&r, user_u64(arg(&r, 3), 0));
	put_fdlist(&r, true);
	return commit(&r);
}
