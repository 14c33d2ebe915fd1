// SPDX-License-Identifier: Apache-2.0
/*
 * The kind of a file follows from the text of its link, which the kernel makes for everything
 * without a path ("socket:[5]", "anon_inode:[eventfd]"): a path begins with '/' or, outside of our
 * root, with "(unreachable)", so no path can pass for one of those.
 */
#include "procfs/fd_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "shared/convert.h"
#include "shared/file_row.h"

/* Every file of a 64-bit process has it, requested or not. */
#define KERNEL_O_LARGEFILE 0x8000u

#define FDINFO_MAX 65536 /* inotify and epoll list what they watch: this is not read */

/* Closes @fd. Returns its device; 0: unknown. */
static uint64_t dev_of_closed(int fd)
{
	struct stat st;
	uint64_t dev;

	if (fd < 0)
		return 0;
	dev = fstat(fd, &st) ? 0 : st.st_dev;
	close(fd);
	return dev;
}

/* ---- what is known of files that have rows ---- */

#define MEMO_BITS 8
#define ROWS_PER_READ 256

/* A path of the process that is read. */
struct memo_path {
	uint64_t turn; /* the process; 0: the slot is empty */
	uint64_t dentry, mnt, ino;
	uint32_t dev;
	uint8_t type;
	char *name;
};

/* Anonymous inodes of a kind have the same operations and the same name. */
struct memo_anon {
	uint64_t ops;
	const char *kind; /* as in anon_inodes, of those without a name */
};

#define N_ANON 5

/* Devices of file systems without paths, and what our own files show. */
struct fd_memo {
	uint64_t sock_dev, pipe_dev, anon_dev; /* 0: unknown */
	struct memo_anon anon[N_ANON];
	unsigned int n_anon;
	uint64_t turn;
	struct memo_path paths[1 << MEMO_BITS];
	struct file_row rows[ROWS_PER_READ];
};

/* Reads the next rows. Returns their number, or a negative errno. */
static ssize_t read_rows(struct fd_memo *m, int fd)
{
	ssize_t got;

	do
		got = read(fd, m->rows, sizeof(m->rows));
	while (got < 0 && (errno == EINTR || errno == EAGAIN));
	if (got < 0)
		return -errno;
	return got % sizeof(*m->rows) ? -EPROTO : got / (ssize_t)sizeof(*m->rows);
}

/* A descriptor of ours that has one of the operations to learn. */
struct sample_file {
	const char *kind;
	int fd; /* -1: refused */
};

static void learn_from_row(struct fd_memo *m, const struct sample_file *files,
			   const struct file_row *r)
{
	for (int i = 0; i < N_ANON; i++)
		if (files[i].fd >= 0 && r->fd == (uint32_t)files[i].fd &&
		    r->tid == (uint32_t)getpid() && m->n_anon < N_ANON)
			m->anon[m->n_anon++] = (struct memo_anon){r->ops, files[i].kind};
}

/* Learns the operations of anonymous inodes from files of ours: those of others can be exchanged
 * while they are looked at. */
static void learn_anon(struct fd_memo *m, const struct fd_scan *s)
{
	sigset_t none;
	const struct sample_file files[N_ANON] = {
		{"[eventfd]", eventfd(0, EFD_CLOEXEC)},
		{"[eventpoll]", epoll_create1(EPOLL_CLOEXEC)},
		{"inotify", inotify_init1(IN_CLOEXEC)},
		{"[timerfd]", timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)},
		{"[signalfd]", sigemptyset(&none) ?: signalfd(-1, &none, SFD_CLOEXEC)},
	};
	const int rows = s->rows(s->rows_ctx, (uint32_t)getpid());
	ssize_t n;

	while (rows >= 0 && (n = read_rows(m, rows)) > 0)
		for (ssize_t i = 0; i < n; i++)
			learn_from_row(m, files, &m->rows[i]);
	if (rows >= 0)
		close(rows);
	for (int i = 0; i < N_ANON; i++)
		m->anon_dev = dev_of_closed(files[i].fd) ?: m->anon_dev;
}

static struct fd_memo *new_memo(const struct fd_scan *s)
{
	struct fd_memo *m = calloc(1, sizeof(*m));
	int ends[2];

	if (!m)
		return NULL;
	m->sock_dev = dev_of_closed(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	if (!pipe2(ends, O_CLOEXEC)) {
		close(ends[1]);
		m->pipe_dev = dev_of_closed(ends[0]);
	}
	learn_anon(m, s);
	return m;
}

static void free_memo(struct fd_memo *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < sizeof(m->paths) / sizeof(*m->paths); i++)
		free(m->paths[i].name);
	free(m);
}

int fd_scan_init(struct fd_scan *s)
{
	memset(s, 0, sizeof(*s));
	s->socks = sock_table_new();
	s->memfd_dev = dev_of_closed(memfd_create("saker", MFD_CLOEXEC));
	return s->socks ? 0 : -ENOMEM;
}

void fd_scan_fini(struct fd_scan *s)
{
	sock_table_free(s->socks);
	proc_buf_fini(&s->link);
	proc_buf_fini(&s->info);
	free_memo(s->memo);
}

/* Reads "pos:", "flags:" (octal), "mnt_id:", and since Linux 5.19 "ino:". */
static void read_fdinfo(struct fd_scan *s, struct scap_fd_info *fd, int pid_fd)
{
	char name[40];
	const char *p, *v;

	snprintf(name, sizeof(name), "fdinfo/%lld", (long long)fd->fd);
	if (proc_read(&s->info, pid_fd, name, FDINFO_MAX))
		return;
	p = s->info.p;
	v = proc_key(&p, "flags");
	if (v)
		fd->open_flags = convert_open_flags(proc_oct(&v) & ~KERNEL_O_LARGEFILE);
	v = proc_key(&p, "ino");
	if (v)
		fd->ino = proc_dec(&v);
}

/* A socket in no table: just created, or neither bound nor connected. */
static const struct {
	const char *proto; /* the kernel's name */
	uint8_t type, l4proto;
} sock_protos[] = {
	{"TCP", SCAP_FD_IPV4_SOCK, SCAP_L4_TCP},   {"TCPv6", SCAP_FD_IPV6_SOCK, SCAP_L4_TCP},
	{"MPTCP", SCAP_FD_IPV4_SOCK, SCAP_L4_TCP}, {"MPTCPv6", SCAP_FD_IPV6_SOCK, SCAP_L4_TCP},
	{"UDP", SCAP_FD_IPV4_SOCK, SCAP_L4_UDP},   {"UDPv6", SCAP_FD_IPV6_SOCK, SCAP_L4_UDP},
	{"RAW", SCAP_FD_IPV4_SOCK, SCAP_L4_RAW},   {"RAWv6", SCAP_FD_IPV6_SOCK, SCAP_L4_RAW},
	{"PING", SCAP_FD_IPV4_SOCK, SCAP_L4_ICMP}, {"PINGv6", SCAP_FD_IPV6_SOCK, SCAP_L4_ICMP},
	{"UNIX", SCAP_FD_UNIX_SOCK, SCAP_L4_NA},   {"UNIX-STREAM", SCAP_FD_UNIX_SOCK, SCAP_L4_NA},
	{"NETLINK", SCAP_FD_NETLINK, SCAP_L4_NA},
};

static void type_by_protocol(struct scap_fd_info *fd, const char *path)
{
	char proto[32];
	ssize_t n = getxattr(path, "system.sockprotoname", proto, sizeof(proto) - 1);
	size_t i;

	fd->type = SCAP_FD_UNSUPPORTED;
	if (n <= 0)
		return;
	proto[n] = 0;
	for (i = 0; i < sizeof(sock_protos) / sizeof(*sock_protos); i++) {
		if (!strcmp(proto, sock_protos[i].proto)) {
			fd->type = sock_protos[i].type;
			fd->l4proto = sock_protos[i].l4proto;
			fd->name = "";
		}
	}
}

static int fill_socket(struct fd_scan *s, struct scap_fd_info *fd, int pid_fd)
{
	char path[64];

	if (sock_table_find(s->socks, fd))
		return 0;
	if (sock_table_read(s->socks, pid_fd))
		return -ENOMEM;
	if (sock_table_find(s->socks, fd))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/fd/%lld", pid_fd, (long long)fd->fd);
	type_by_protocol(fd, path);
	return 0;
}

static const struct {
	const char *text;
	uint8_t type;
	uint8_t named; /* the text becomes its name; older types have none in a file */
} anon_inodes[] = {
	{"[eventfd]", SCAP_FD_EVENT, 0},
	{"[eventpoll]", SCAP_FD_EVENTPOLL, 0},
	{"inotify", SCAP_FD_INOTIFY, 0},
	{"[signalfd]", SCAP_FD_SIGNALFD, 0},
	{"[timerfd]", SCAP_FD_TIMERFD, 0},
	{"[io_uring]", SCAP_FD_IOURING, 1},
	{"[userfaultfd]", SCAP_FD_USERFAULTFD, 1},
	{"[pidfd]", SCAP_FD_PIDFD, 1},
	{"bpf", SCAP_FD_BPF, 1}, /* bpf-map, bpf-prog, bpf_link, bpf_iter */
};

static int find_anon(const char *kind)
{
	const int n = sizeof(anon_inodes) / sizeof(*anon_inodes);

	for (int i = 0; i < n; i++)
		if (!strncmp(kind, anon_inodes[i].text, strlen(anon_inodes[i].text)))
			return i;
	return -1;
}

enum scap_fd_type scap_anon_type(const char *kind)
{
	int i = find_anon(kind);

	return i < 0 ? 0 : anon_inodes[i].type;
}

static void fill_anon(struct scap_fd_info *fd, const char *kind)
{
	int i = find_anon(kind);

	fd->type = i < 0 ? SCAP_FD_UNSUPPORTED : anon_inodes[i].type;
	if (i >= 0 && !anon_inodes[i].named)
		fd->name = "";
}

static uint8_t type_of_mode(mode_t mode)
{
	if (S_ISDIR(mode))
		return SCAP_FD_DIRECTORY;
	if (S_ISFIFO(mode))
		return SCAP_FD_FIFO;
	return SCAP_FD_FILE_V2;
}

/* Without synchronization: a file on an unresponsive server must not block us. */
static int fill_by_stat(const struct fd_scan *s, struct scap_fd_info *fd, int pid_fd,
			const char *name)
{
	struct statx st;

	if (statx(pid_fd, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_INO, &st))
		return -errno;
	fd->type = type_of_mode(st.stx_mode);
	fd->dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	if (!fd->ino)
		fd->ino = st.stx_ino;
	if (s->memfd_dev && s->memfd_dev == fd->dev && !strncmp(fd->name, "/memfd:", 7))
		fd->type = SCAP_FD_MEMFD;
	return 0;
}

static const char *after(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(s, prefix, n) ? NULL : s + n;
}

static int fill(struct fd_scan *s, struct scap_fd_info *fd, int pid_fd, const char *path)
{
	const char *kind;

	kind = after(fd->name, "socket:[");
	if (kind) {
		fd->ino = proc_dec(&kind);
		return fill_socket(s, fd, pid_fd);
	}
	kind = after(fd->name, "pipe:[");
	if (kind) {
		fd->type = SCAP_FD_FIFO;
		fd->ino = proc_dec(&kind);
		return 0;
	}
	/* The inode comes from stat if fdinfo lacks it. */
	if (fill_by_stat(s, fd, pid_fd, path))
		return -ENOENT;
	kind = after(fd->name, "anon_inode:");
	if (kind)
		fill_anon(fd, kind);
	return 0;
}

int fd_scan_one(struct fd_scan *s, struct scap_state_build *b, uint64_t tid, int pid_fd,
		uint64_t num)
{
	struct scap_fd_info fd = {.fd = num};
	char path[32];
	int err;

	snprintf(path, sizeof(path), "fd/%llu", (unsigned long long)num);
	err = proc_readlink(&s->link, pid_fd, path);
	if (err)
		return err;
	fd.name = s->link.p;
	read_fdinfo(s, &fd, pid_fd);
	err = fill(s, &fd, pid_fd, path);
	return err ? err : scap_state_build_fd(b, tid, &fd);
}

/* ---- files that have rows ---- */

static struct memo_path *path_slot(struct fd_memo *m, const struct file_row *r)
{
	const uint64_t hash = (r->dentry ^ r->mnt) * 0x9e3779b97f4a7c15u;

	return &m->paths[hash >> (64 - MEMO_BITS)];
}

static int is_path_of(const struct memo_path *p, const struct file_row *r, uint64_t turn)
{
	return p->turn == turn && p->dentry == r->dentry && p->mnt == r->mnt && p->ino == r->ino &&
	       p->dev == r->dev;
}

static void keep_path(struct fd_memo *m, const struct file_row *r, const struct scap_fd_info *fd)
{
	struct memo_path *p = path_slot(m, r);

	free(p->name);
	p->name = strdup(fd->name);
	p->turn = p->name ? m->turn : 0;
	p->dentry = r->dentry;
	p->mnt = r->mnt;
	p->ino = r->ino;
	p->dev = r->dev;
	p->type = fd->type;
}

/* Finds the path of a row by a reference to the file itself, so that the path and what stat(2) says
 * are those of one file, which may be another one by now. Returns 0 if it is that of the row. */
static int find_path(struct fd_scan *s, int pid_fd, const struct file_row *r,
		     struct scap_fd_info *fd)
{
	char path[32];
	int ref, err;

	snprintf(path, sizeof(path), "fd/%u", r->fd);
	ref = openat(pid_fd, path, O_PATH | O_CLOEXEC);
	if (ref < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ref);
	err = proc_readlink(&s->link, AT_FDCWD, path);
	fd->name = s->link.p;
	fd->ino = 0; /* that of stat */
	err = err ?: fill_by_stat(s, fd, AT_FDCWD, path);
	close(ref);
	if (err || after(fd->name, "socket:[") || after(fd->name, "pipe:["))
		return err ?: -ESTALE;
	if (after(fd->name, "anon_inode:")) /* of a file system of its own: pidfd */
		fill_anon(fd, after(fd->name, "anon_inode:"));
	/* Some file systems (btrfs, overlayfs) have other numbers in stat(2). */
	return fd->ino == r->ino && fd->dev == r->dev ? 0 : -ESTALE;
}

static int add_path(struct fd_scan *s, struct scap_state_build *b, uint64_t tid, int pid_fd,
		    const struct file_row *r, struct scap_fd_info *fd)
{
	const struct memo_path *p = path_slot(s->memo, r);

	if (is_path_of(p, r, s->memo->turn)) {
		fd->name = p->name;
		fd->type = p->type;
		fd->dev = p->dev;
		return scap_state_build_fd(b, tid, fd);
	}
	if (find_path(s, pid_fd, r, fd))
		return fd_scan_one(s, b, tid, pid_fd, r->fd);
	keep_path(s->memo, r, fd);
	return scap_state_build_fd(b, tid, fd);
}

static int add_anon(struct fd_scan *s, struct scap_state_build *b, uint64_t tid, int pid_fd,
		    const struct file_row *r, struct scap_fd_info *fd)
{
	for (unsigned int i = 0; i < s->memo->n_anon; i++) {
		const struct memo_anon *a = &s->memo->anon[i];

		if (a->ops != r->ops)
			continue;
		fd->dev = r->dev;
		fill_anon(fd, a->kind);
		return scap_state_build_fd(b, tid, fd);
	}
	return fd_scan_one(s, b, tid, pid_fd, r->fd);
}

static int add_row(struct fd_scan *s, struct scap_state_build *b, uint64_t tid, int pid_fd,
		   const struct file_row *r)
{
	struct scap_fd_info fd = {.fd = r->fd, .ino = r->ino};
	char name[40];
	int err = 0;

	fd.open_flags = convert_open_flags(r->flags & ~KERNEL_O_LARGEFILE);
	fd.name = name;
	if (r->dev == s->memo->anon_dev)
		return add_anon(s, b, tid, pid_fd, r, &fd);
	if (r->dev == s->memo->sock_dev) {
		snprintf(name, sizeof(name), "socket:[%llu]", (unsigned long long)r->ino);
		err = fill_socket(s, &fd, pid_fd);
	} else if (r->dev == s->memo->pipe_dev) {
		snprintf(name, sizeof(name), "pipe:[%llu]", (unsigned long long)r->ino);
		fd.type = SCAP_FD_FIFO;
	} else {
		return add_path(s, b, tid, pid_fd, r, &fd);
	}
	return err ?: scap_state_build_fd(b, tid, &fd);
}

/* The iterator finds the process by its number: while that lives, another has it not. */
static int lives(int pid_fd)
{
	return !faccessat(pid_fd, "stat", F_OK, 0);
}

/* What the rows of a process gave. */
enum rows_end {
	ROWS_ALL, /* all files are added */
	ROWS_BROKE_OFF, /* /proc has the rest */
};

/* Adds the files above *last, which advances. Returns enum rows_end, -EFBIG, or -ENOMEM. */
static int add_rows(struct fd_scan *s, struct scap_state_build *b, uint64_t tid, int pid_fd, int fd,
		    uint64_t *last, size_t *n_read)
{
	const struct file_row *rows = s->memo->rows;
	ssize_t n, sum = 0;

	while ((n = read_rows(s->memo, fd)) > 0 && lives(pid_fd)) {
		for (ssize_t i = 0; i < n; i++) {
			if (rows[i].tid != tid)
				return ROWS_BROKE_OFF;
			if (rows[i].fd <= *last)
				continue;
			if ((*n_read)++ == FD_SCAN_MAX)
				return -EFBIG;
			if (add_row(s, b, tid, pid_fd, &rows[i]) == -ENOMEM)
				return -ENOMEM;
			*last = rows[i].fd;
		}
		sum += n;
	}
	return !n && sum ? ROWS_ALL : ROWS_BROKE_OFF;
}

/* The same, if the iterator can be had. */
static int add_rest(struct fd_scan *s, struct scap_state_build *b, uint64_t tid, int pid_fd,
		    uint64_t *last, size_t *n_read)
{
	int fd, ret;

	if (!s->rows)
		return ROWS_BROKE_OFF;
	if (!s->memo)
		s->memo = new_memo(s);
	if (!s->memo)
		return -ENOMEM;
	s->memo->turn++;
	fd = s->rows(s->rows_ctx, (uint32_t)tid);
	if (fd < 0)
		return ROWS_BROKE_OFF;
	ret = add_rows(s, b, tid, pid_fd, fd, last, n_read);
	close(fd);
	return ret;
}

int fd_scan_process(struct fd_scan *s, struct scap_state_build *b, uint64_t tid, int pid_fd)
{
	int err = 0, more = 0, with_rows = 0;
	size_t n_read = 0;
	uint64_t num, last = 0;

	if (proc_dir_open(&s->dir, pid_fd, "fd"))
		return 0;
	while (err != -ENOMEM && err != -EACCES && (more = proc_dir_next(&s->dir, &num)) > 0) {
		if (with_rows && num <= last) /* they broke off behind it */
			continue;
		if (n_read++ == FD_SCAN_MAX) {
			err = -EFBIG;
			break;
		}
		err = fd_scan_one(s, b, tid, pid_fd, num);
		if (n_read != FD_SCAN_FEW || with_rows || err == -ENOMEM)
			continue;
		with_rows = 1;
		last = num;
		err = add_rest(s, b, tid, pid_fd, &last, &n_read);
		if (err != ROWS_BROKE_OFF)
			break;
		err = 0;
	}
	proc_dir_close(&s->dir);
	if (err == -ENOMEM || err == -EFBIG)
		return err;
	/* A process that ends meanwhile has no files. */
	return more < 0 && more != -ENOENT && more != -ESRCH ? more : 0;
}
