/* SPDX-License-Identifier: Apache-2.0 */
/* Events that open, copy and close descriptors. */
#include <limits.h>
#include <string.h>

#include "parsers.h"
#include "state/pathname.h"

enum { AT_FDCWD_2022 = -100 };
enum { F_DUPFD = 1, F_DUPFD_CLOEXEC = 26 }; /* PPM_FCNTL_* */
enum { F_SETFD = 3, FD_CLOEXEC = 1 };
enum { CLOSE_RANGE_UNSHARE = 1 << 1, CLOSE_RANGE_CLOEXEC = 1 << 2 };
enum { MOUNT_API_CLOEXEC = 1, FAN_CLOEXEC = 1 };
enum { OPEN_TREE_CLONE = 1, OPEN_TREE_CLOEXEC = 0x80000 };
enum { MFD_CLOEXEC = 1, EPOLL_CLOEXEC_2022 = 1, PERF_FLAG_FD_CLOEXEC = 8 };

static struct sinsp_fd_mem *mem_of(const struct sinsp_parse *p)
{
	return &p->s->threads.fds;
}

/* Copies the directory that a relative path starts at, with a slash at its end. */
static size_t directory(const struct sinsp_parse *p, char *out, int64_t dirfd)
{
	static const char unknown[] = "<UNKNOWN>";
	const struct sinsp_thread *t = p->e->thread;
	const struct sinsp_fd *dir;
	const char *name = t->fs->cwd;
	size_t n = sinsp_str_len(name);

	if (dirfd != AT_FDCWD_2022) {
		dir = sinsp_thread_fd(t, dirfd);
		name = dir ? dir->name : unknown;
		n = dir ? strlen(dir->name) : sizeof(unknown) - 1;
		if (n >= SINSP_PATH_SZ / 2)
			n = 0;
		memcpy(out, name, n);
		if (dir && (sinsp_quirk(p->s, SINSP_QUIRK_DIRFD_SLASH) || !n || name[n - 1] != '/'))
			out[n++] = '/';
		return n;
	}
	if (n >= SINSP_PATH_SZ / 2)
		n = 0;
	memcpy(out, name, n);
	return n;
}

/* Marks a name as uncertain if the directory that it was joined to is. */
static void inherit_uncertainty(const struct sinsp_parse *p, struct sinsp_fd *fd, int64_t dirfd)
{
	const struct sinsp_thread *t = p->e->thread;
	const struct sinsp_fd *dir;

	if (dirfd == AT_FDCWD_2022) {
		if (!sinsp_fs_is_certain(p->s, t->fs))
			fd->as_of_ns = t->fs->as_of_ns;
		return;
	}
	dir = sinsp_thread_fd(t, dirfd);
	if (dir && !sinsp_fd_is_certain(p->s, dir, p->e->raw.true_ns)) {
		fd->as_of_ns = dir->as_of_ns;
		fd->flags |= dir->flags & SINSP_FD_F_RESYNCED;
	}
}

/* Returns whether the path is that of the enter event: the exit event has it if the enter could not
 * read it. */
static int enter_has_path(const struct sinsp_parse *p)
{
	const struct scap_param *v;

	if (!p->enter_row || p->enter_row->at[SINSP_P_name] < 0)
		return 0;
	v = sinsp_call_param(p, SINSP_P_name);
	return v && strncmp((const char *)v->p, "(NULL)", v->len);
}

/* Sets type, flags, device and inode by @flags (PPM_O_*) and the exit event. */
static void set_opened(struct sinsp_parse *p, struct sinsp_fd *fd, const struct scap_param *flags)
{
	fd->open_flags = sinsp_u64(flags, 0);
	/* O_TMPFILE opens an unnamed file in the directory */
	if (fd->open_flags & SINSP_O_DIRECTORY && !(fd->open_flags & SINSP_O_TMPFILE))
		fd->type = SCAP_FD_DIRECTORY;
	else if (fd->open_flags & SINSP_O_FIFO)
		fd->type = SCAP_FD_FIFO;
	if (fd->open_flags & SINSP_O_CLOEXEC)
		fd->flags |= SINSP_FD_F_CLOEXEC;
	fd->dev = sinsp_u64(sinsp_evt_param(p, SINSP_P_dev), 0);
	fd->ino = sinsp_u64(sinsp_evt_param(p, SINSP_P_ino), 0);
}

void sinsp_parse_open(struct sinsp_parse *p)
{
	const struct scap_param *(*get)(const struct sinsp_parse *, enum sinsp_param);
	char dir[SINSP_PATH_SZ], path[SINSP_PATH_SZ];
	int64_t num = sinsp_result(p), dirfd;
	const struct scap_param *name, *opened; /* the path as the kernel prints it */
	struct sinsp_fd *fd;
	size_t n = 0;

	if (num < 0 || !p->e->thread)
		return;
	get = enter_has_path(p) || p->e->raw.type == EVT_OPENAT_102_X ? sinsp_call_param
								      : sinsp_evt_param;
	name = get(p, SINSP_P_name);
	dirfd = sinsp_s64(get(p, SINSP_P_dirfd), AT_FDCWD_2022);
	if (name && !sinsp_quirk(p->s, SINSP_QUIRK_UNREAD_PATH_JOINED) &&
	    !strncmp((const char *)name->p, "<NA>", name->len))
		name = NULL;
	opened = sinsp_evt_param(p, SINSP_P_path);
	if (opened) {
		n = sinsp_parse_path(p, path, dir, 0, (const char *)opened->p, opened->len);
	} else if (name) {
		n = name->p[0] == '/' ? 0 : directory(p, dir, dirfd);
		n = sinsp_parse_path(p, path, dir, n, (const char *)name->p, name->len);
	}

	fd = sinsp_parse_new_fd(p, num, SCAP_FD_FILE_V2);
	if (!fd)
		return;
	set_opened(p, fd, get(p, SINSP_P_flags));
	if (name)
		sinsp_fd_set_names(mem_of(p), fd, path, n, (const char *)name->p,
				   sinsp_text_len(name));
	else
		sinsp_fd_set_name(mem_of(p), fd, path, n);
	if (name && name->p[0] != '/')
		inherit_uncertainty(p, fd, dirfd);
}

/* The event has the path as the kernel prints it: absolute. */
void sinsp_parse_open_by_handle(struct sinsp_parse *p)
{
	const struct scap_param *path = sinsp_evt_param(p, SINSP_P_path);
	struct sinsp_fd *fd = sinsp_parse_new_fd(p, sinsp_result(p), SCAP_FD_FILE_V2);

	if (!fd)
		return;
	set_opened(p, fd, sinsp_evt_param(p, SINSP_P_flags));
	if (path)
		sinsp_fd_set_name(mem_of(p), fd, (const char *)path->p, sinsp_text_len(path));
}

void sinsp_parse_close_enter(struct sinsp_parse *p)
{
	struct sinsp_fd *fd;

	/* A thread that shares its table with no other cannot reuse the number while close runs. */
	if (!p->e->fd || p->e->thread->files->refs == 1)
		return;
	fd = sinsp_parse_edit_fd(p);
	if (fd)
		fd->flags |= SINSP_FD_F_CLOSING;
}

static void clear_flags(struct sinsp_parse *p, unsigned int flags)
{
	struct sinsp_fd *fd = p->e->fd->flags & flags ? sinsp_parse_edit_fd(p) : NULL;

	if (fd)
		fd->flags &= ~flags;
}

/* Returns whether the number is free: Linux frees it whatever close returns, except EBADF. */
static int was_closed(const struct sinsp_parse *p)
{
	int64_t res = sinsp_result(p);

	return res != INT64_MIN && res != -9 /* EBADF */;
}

void sinsp_parse_close(struct sinsp_parse *p)
{
	const struct sinsp_fd *fd = p->e->fd;

	if (!fd)
		return;
	if (!was_closed(p)) {
		clear_flags(p, SINSP_FD_F_CLOSING);
		return;
	}
	/* The number was reused while close ran: the closed file is already gone. */
	if (fd->flags & SINSP_FD_F_REOPENED) {
		clear_flags(p, SINSP_FD_F_REOPENED);
		return;
	}
	p->s->closed_tid = p->e->thread->tid;
	p->s->closed_fd = p->e->fdnum;
}

struct range {
	int64_t first, last;
};

static int in_range(const struct sinsp_fd *fd, void *ctx)
{
	const struct range *r = ctx;

	return fd->num >= r->first && fd->num <= r->last;
}

/* Descriptors of a range that get O_CLOEXEC: the table that is walked is a copy of the one that is
 * changed. */
struct cloexec {
	struct sinsp_fd_mem *mem;
	struct sinsp_files *to;
	struct range range;
};

static void mark_cloexec(const struct sinsp_fd *found, void *ctx)
{
	struct cloexec *c = ctx;
	struct sinsp_fd *fd;

	if (!in_range(found, &c->range) || found->flags & SINSP_FD_F_CLOEXEC)
		return;
	fd = sinsp_files_edit(c->mem, c->to, found->num);
	if (fd)
		fd->flags |= SINSP_FD_F_CLOEXEC;
}

static void mark_range_cloexec(struct sinsp_parse *p, const struct range *r)
{
	struct cloexec c = {mem_of(p), p->e->thread->files, *r};
	struct sinsp_files *walked = sinsp_files_copy(c.to);

	if (!walked)
		return;
	sinsp_files_each(walked, mark_cloexec, &c);
	sinsp_files_put(c.mem, walked);
}

void sinsp_parse_close_range(struct sinsp_parse *p)
{
	uint32_t flags = sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0);
	struct range r = {
		.first = sinsp_u64(sinsp_evt_param(p, SINSP_P_first), 0),
		.last = sinsp_u64(sinsp_evt_param(p, SINSP_P_last), 0),
	};

	if (sinsp_result(p) < 0 || !p->e->thread)
		return;
	if (flags & CLOSE_RANGE_UNSHARE)
		sinsp_parse_unshare_files(p, p->e->thread);
	if (flags & CLOSE_RANGE_CLOEXEC)
		mark_range_cloexec(p, &r);
	else
		sinsp_files_sweep(mem_of(p), p->e->thread->files, in_range, &r);
}

/* Makes descriptor @num a copy of @from, another one. */
static void copy_fd(struct sinsp_parse *p, int64_t num, const struct sinsp_fd *from, int cloexec)
{
	struct sinsp_fd *to = sinsp_parse_new_fd(p, num, from->type);

	if (!to)
		return;
	sinsp_fd_copy(mem_of(p), to, from);
	to->flags &= ~(SINSP_FD_F_CLOSING | SINSP_FD_F_REOPENED | SINSP_FD_F_CLOEXEC);
	if (cloexec)
		to->flags |= SINSP_FD_F_CLOEXEC;
}

static void duplicate(struct sinsp_parse *p, int64_t num, int cloexec)
{
	const struct sinsp_fd *from = p->e->fd;

	if (num < 0 || (from && from->num == num))
		return;
	if (from)
		copy_fd(p, num, from, cloexec);
	/* The call closed what was open under that number. */
	else if (p->e->thread)
		sinsp_files_remove(mem_of(p), p->e->thread->files, num);
}

void sinsp_parse_dup(struct sinsp_parse *p)
{
	uint64_t flags = sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0);

	duplicate(p, sinsp_result(p), !!(flags & SINSP_O_CLOEXEC));
}

void sinsp_parse_fcntl(struct sinsp_parse *p)
{
	unsigned int cmd = sinsp_u64(sinsp_call_param(p, SINSP_P_cmd), 0);
	int64_t res = sinsp_result(p);

	if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) {
		duplicate(p, res, cmd == F_DUPFD_CLOEXEC);
	} else if (cmd == F_SETFD && res >= 0) {
		struct sinsp_fd *fd = sinsp_parse_edit_fd(p);

		if (!fd)
			return;
		fd->flags &= ~SINSP_FD_F_CLOEXEC;
		if (sinsp_u64(sinsp_evt_param(p, SINSP_P_arg), 0) & FD_CLOEXEC)
			fd->flags |= SINSP_FD_F_CLOEXEC;
	}
}

void sinsp_parse_pipe(struct sinsp_parse *p)
{
	static const enum sinsp_param ends[] = {SINSP_P_fd1, SINSP_P_fd2};
	uint64_t flags = sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0);

	if (sinsp_result(p) < 0)
		return;
	for (int i = 0; i < 2; i++) {
		int64_t num = sinsp_s64(sinsp_evt_param(p, ends[i]), -1);
		struct sinsp_fd *fd = sinsp_parse_new_fd(p, num, SCAP_FD_FIFO);

		if (!fd)
			continue;
		fd->ino = sinsp_u64(sinsp_evt_param(p, SINSP_P_ino), 0);
		fd->open_flags = i ? SINSP_O_WRONLY : SINSP_O_RDONLY;
		if (flags & SINSP_O_CLOEXEC)
			fd->flags |= SINSP_FD_F_CLOEXEC;
	}
}

/* Sets the second descriptor of a call with two. */
void sinsp_parse_two_fds(struct sinsp_parse *p)
{
	static const enum sinsp_param names[] = {SINSP_P_fdin, SINSP_P_in_fd, SINSP_P_fd_out};
	const struct scap_param *num = NULL;

	if (!p->e->thread)
		return;
	for (int i = 0; i < 3 && !num; i++)
		num = sinsp_call_param(p, names[i]);
	p->e->other_fdnum = sinsp_s64(num, -1);
	p->e->other_fd = sinsp_thread_fd(p->e->thread, p->e->other_fdnum);
}

static unsigned int anon_type(const struct sinsp_parse *p)
{
	switch (p->e->raw.type) {
	case EVT_EVENTFD_X:
	case EVT_EVENTFD2_X:
		return SCAP_FD_EVENT;
	case EVT_SIGNALFD_X:
	case EVT_SIGNALFD4_X:
		return SCAP_FD_SIGNALFD;
	case EVT_TIMERFD_CREATE_X:
		return SCAP_FD_TIMERFD;
	case EVT_INOTIFY_INIT_X:
	case EVT_INOTIFY_INIT1_X:
		return SCAP_FD_INOTIFY;
	case EVT_EPOLL_CREATE_X:
	case EVT_EPOLL_CREATE1_X:
		return SCAP_FD_EVENTPOLL;
	case EVT_IO_URING_SETUP_X:
		return SCAP_FD_IOURING;
	case EVT_USERFAULTFD_X:
		return SCAP_FD_USERFAULTFD;
	}
	return 0;
}

static int anon_is_cloexec(const struct sinsp_parse *p)
{
	uint64_t flags = sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0);

	switch (p->e->raw.type) {
	case EVT_EPOLL_CREATE1_X:
		return !!(flags & EPOLL_CLOEXEC_2022);
	case EVT_IO_URING_SETUP_X: /* always set, without a flag */
		return 1;
	}
	return !!(flags & SINSP_O_CLOEXEC);
}

/* Adds a descriptor that has a type but no name. */
void sinsp_parse_anon(struct sinsp_parse *p)
{
	struct sinsp_fd *fd;

	if (p->e->raw.type == EVT_USERFAULTFD_X && sinsp_quirk(p->s, SINSP_QUIRK_NO_USERFAULTFD))
		return;
	fd = sinsp_parse_new_fd(p, sinsp_result(p), anon_type(p));
	if (fd && anon_is_cloexec(p))
		fd->flags |= SINSP_FD_F_CLOEXEC;
}

void sinsp_parse_memfd(struct sinsp_parse *p)
{
	const struct scap_param *name = sinsp_evt_param(p, SINSP_P_name);
	struct sinsp_fd *fd = sinsp_parse_new_fd(p, sinsp_result(p), SCAP_FD_MEMFD);

	if (!fd)
		return;
	if (name)
		sinsp_fd_set_name(mem_of(p), fd, (const char *)name->p, sinsp_text_len(name));
	if (sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0) & MFD_CLOEXEC)
		fd->flags |= SINSP_FD_F_CLOEXEC;
}

static struct sinsp_fd *new_named_fd(struct sinsp_parse *p, unsigned int type, const char *name)
{
	struct sinsp_fd *fd = sinsp_parse_new_fd(p, sinsp_result(p), type);

	if (fd)
		sinsp_fd_set_name(mem_of(p), fd, name, strlen(name));
	return fd;
}

/* Adds a descriptor with a fixed name, as in /proc/PID/fd. */
void sinsp_parse_named(struct sinsp_parse *p)
{
	const uint64_t flags = sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0);
	struct sinsp_fd *fd = NULL;
	int cloexec = 0;

	switch (p->e->raw.type) {
	case EVT_MEMFD_SECRET_X:
		fd = new_named_fd(p, SCAP_FD_FILE_V2, "/secretmem");
		cloexec = !!(flags & SINSP_O_CLOEXEC);
		break;
	case EVT_PERF_EVENT_OPEN_X:
		fd = new_named_fd(p, SCAP_FD_UNSUPPORTED, "anon_inode:[perf_event]");
		cloexec = !!(flags & PERF_FLAG_FD_CLOEXEC);
		break;
	case EVT_LANDLOCK_CREATE_RULESET_X:
		/* With a flag the result is a version and no descriptor. */
		if (flags)
			return;
		fd = new_named_fd(p, SCAP_FD_UNSUPPORTED, "anon_inode:[landlock-ruleset]");
		cloexec = 1;
		break;
	case EVT_FSOPEN_X:
	case EVT_FSPICK_X:
		fd = new_named_fd(p, SCAP_FD_UNSUPPORTED, "anon_inode:[fscontext]");
		cloexec = !!(flags & MOUNT_API_CLOEXEC);
		break;
	case EVT_FSMOUNT_X:
		fd = new_named_fd(p, SCAP_FD_DIRECTORY, "/");
		cloexec = !!(flags & MOUNT_API_CLOEXEC);
		break;
	case EVT_FANOTIFY_INIT_X:
		fd = new_named_fd(p, SCAP_FD_UNSUPPORTED, "anon_inode:[fanotify]");
		cloexec = !!(flags & FAN_CLOEXEC);
		break;
	}
	if (fd && cloexec)
		fd->flags |= SINSP_FD_F_CLOEXEC;
}

/* Adds a descriptor with the path that was opened; the copy of a mount has the name "/". */
void sinsp_parse_open_tree(struct sinsp_parse *p)
{
	const int64_t dirfd = sinsp_s64(sinsp_evt_param(p, SINSP_P_dirfd), AT_FDCWD_2022);
	const uint64_t flags = sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0);
	const struct scap_param *path = sinsp_evt_param(p, SINSP_P_path);
	char dir[SINSP_PATH_SZ], text[SINSP_PATH_SZ] = "/";
	struct sinsp_fd *fd;
	size_t n = 1;

	if (sinsp_result(p) < 0 || !p->e->thread)
		return;
	if (path && !(flags & OPEN_TREE_CLONE)) {
		n = path->p[0] == '/' ? 0 : directory(p, dir, dirfd);
		n = sinsp_parse_path(p, text, dir, n, (const char *)path->p, path->len);
	}
	fd = sinsp_parse_new_fd(p, sinsp_result(p), SCAP_FD_FILE_V2);
	if (!fd)
		return;
	if (flags & OPEN_TREE_CLOEXEC)
		fd->flags |= SINSP_FD_F_CLOEXEC;
	sinsp_fd_set_name(mem_of(p), fd, text, n);
	if (path && path->p[0] != '/' && !(flags & OPEN_TREE_CLONE))
		inherit_uncertainty(p, fd, dirfd);
}

/* The C library drops the slash at the beginning of the name. */
void sinsp_parse_mq_open(struct sinsp_parse *p)
{
	const struct scap_param *name = sinsp_evt_param(p, SINSP_P_name);
	struct sinsp_fd *fd = sinsp_parse_new_fd(p, sinsp_result(p), SCAP_FD_FILE_V2);
	char path[NAME_MAX + 2] = "/";
	size_t n = sinsp_text_len(name);

	if (!fd)
		return;
	fd->flags |= SINSP_FD_F_CLOEXEC;
	if (!n || n > NAME_MAX)
		return;
	memcpy(path + 1, name->p, n);
	sinsp_fd_set_name(mem_of(p), fd, path, n + 1);
}

/* Adds the descriptor that a command of bpf(2) returns. */
void sinsp_parse_bpf(struct sinsp_parse *p)
{
	static const struct {
		uint8_t type;
		const char *name;
	} made[] = {
		[0] = {SCAP_FD_BPF, "anon_inode:bpf-map"}, /* MAP_CREATE */
		[5] = {SCAP_FD_BPF, "anon_inode:bpf-prog"}, /* PROG_LOAD */
		[7] = {SCAP_FD_BPF, ""}, /* a map, program or link */
		[13] = {SCAP_FD_BPF, "anon_inode:bpf-prog"}, /* PROG_GET_FD_BY_ID */
		[14] = {SCAP_FD_BPF, "anon_inode:bpf-map"}, /* MAP_GET_FD_BY_ID */
		[17] = {SCAP_FD_BPF, "anon_inode:bpf_link"}, /* RAW_TRACEPOINT_OPEN */
		[18] = {SCAP_FD_UNSUPPORTED, "anon_inode:btf"}, /* BTF_LOAD */
		[19] = {SCAP_FD_UNSUPPORTED, "anon_inode:btf"}, /* BTF_GET_FD_BY_ID */
		[28] = {SCAP_FD_BPF, "anon_inode:bpf_link"}, /* LINK_CREATE */
		[30] = {SCAP_FD_BPF, "anon_inode:bpf_link"}, /* LINK_GET_FD_BY_ID */
		[32] = {SCAP_FD_BPF, "anon_inode:bpf-stats"}, /* ENABLE_STATS */
		[33] = {SCAP_FD_BPF, "anon_inode:bpf_iter"}, /* ITER_CREATE */
	};
	const uint64_t cmd = sinsp_u64(sinsp_evt_param(p, SINSP_P_cmd), UINT64_MAX);
	struct sinsp_fd *fd;

	/* sysdig's exit events lack the command. */
	if (cmd >= sizeof(made) / sizeof(*made) || !made[cmd].name)
		return;
	fd = new_named_fd(p, made[cmd].type, made[cmd].name);
	if (fd)
		fd->flags |= SINSP_FD_F_CLOEXEC;
}

void sinsp_parse_pidfd_open(struct sinsp_parse *p)
{
	struct sinsp_fd *fd = sinsp_parse_new_fd(p, sinsp_result(p), SCAP_FD_PIDFD);
	const struct sinsp_thread *target;

	if (!fd)
		return;
	target = sinsp_thread_in_pidns(p->s, p->e->thread,
				       sinsp_s64(sinsp_evt_param(p, SINSP_P_pid), -1));
	sinsp_fd_edit_ends(fd)->pid = target ? target->pid : -1;
	fd->flags |= SINSP_FD_F_CLOEXEC;
}

void sinsp_parse_pidfd_getfd(struct sinsp_parse *p)
{
	const struct sinsp_fd *pidfd =
		sinsp_thread_fd(p->e->thread, sinsp_s64(sinsp_evt_param(p, SINSP_P_pid_fd), -1));
	const struct sinsp_thread *target = NULL;
	const struct sinsp_fd *from;
	int64_t num = sinsp_result(p);

	if (pidfd && pidfd->type == SCAP_FD_PIDFD)
		target = sinsp_threads_find(&p->s->threads, sinsp_fd_ends(pidfd)->pid);
	from = sinsp_thread_fd(target, sinsp_s64(sinsp_evt_param(p, SINSP_P_target_fd), -1));
	if (from && from != sinsp_thread_fd(p->e->thread, num))
		copy_fd(p, num, from, 1);
}
