// SPDX-License-Identifier: Apache-2.0
/*
 * The kind of a file follows from the text of its link, which the kernel makes for everything
 * without a path ("socket:[5]", "anon_inode:[eventfd]"): a path begins with '/' or, outside of our
 * root, with "(unreachable)", so no path can pass for one of those.
 */
#include "procfs/fd_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "shared/convert.h"

/* Every file of a 64-bit process has it, requested or not. */
#define KERNEL_O_LARGEFILE 0x8000u

#define FDINFO_MAX 65536 /* inotify and epoll list what they watch: this is not read */

static uint64_t find_memfd_dev(void)
{
	int fd = memfd_create("saker", MFD_CLOEXEC);
	struct stat st;
	uint64_t dev;

	if (fd < 0)
		return 0;
	dev = fstat(fd, &st) ? 0 : st.st_dev;
	close(fd);
	return dev;
}

int fd_scan_init(struct fd_scan *s)
{
	memset(s, 0, sizeof(*s));
	s->socks = sock_table_new();
	s->memfd_dev = find_memfd_dev();
	return s->socks ? 0 : -ENOMEM;
}

void fd_scan_fini(struct fd_scan *s)
{
	sock_table_free(s->socks);
	proc_buf_fini(&s->link);
	proc_buf_fini(&s->info);
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
	const char *p = fd->name + strlen("socket:[");
	char path[64];

	fd->ino = proc_dec(&p);
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

	if (after(fd->name, "socket:["))
		return fill_socket(s, fd, pid_fd);
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

int fd_scan_process(struct fd_scan *s, struct scap_state_build *b, uint64_t tid, int pid_fd)
{
	int err = 0, more = 0;
	size_t n_read = 0;
	uint64_t num;

	if (proc_dir_open(&s->dir, pid_fd, "fd"))
		return 0;
	while (err != -ENOMEM && err != -EACCES && (more = proc_dir_next(&s->dir, &num)) > 0) {
		if (n_read++ == FD_SCAN_MAX) {
			err = -EFBIG;
			break;
		}
		err = fd_scan_one(s, b, tid, pid_fd, num);
	}
	proc_dir_close(&s->dir);
	if (err == -ENOMEM || err == -EFBIG)
		return err;
	/* A process that ends meanwhile has no files. */
	return more < 0 && more != -ENOENT && more != -ESRCH ? more : 0;
}
