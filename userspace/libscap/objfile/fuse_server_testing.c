/* SPDX-License-Identifier: Apache-2.0 */
#include "objfile/fuse_server_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Numbers of nodes. */
enum { NODE_DIR = 1, NODE_FILE = 1000, NODE_OPEN, NODE_READ, NODE_CLOSE };

static void answer(int fd, const struct fuse_in_header *in, int err, const void *data, size_t sz)
{
	struct fuse_out_header out = {
		.len = (uint32_t)(sizeof(out) + sz), .error = err, .unique = in->unique};
	const struct iovec v[] = {{&out, sizeof(out)}, {(void *)data, sz}};

	if (writev(fd, v, 2) < 0)
		return; /* the process that sent the request has exited */
}

static struct fuse_attr attr_of(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = sizeof(FUSE_TEST_TEXT) - 1,
		.mode = node >= NODE_FILE ? S_IFREG | 0644 : S_IFDIR | 0755,
		.nlink = 1,
		.mtime = 12345,
	};
}

static void look_up(int fd, const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out e = {0};

	if (!strcmp(name, "lookup"))
		return;
	e.nodeid = !strcmp(name, "file")    ? NODE_FILE
		   : !strcmp(name, "open")  ? NODE_OPEN
		   : !strcmp(name, "read")  ? NODE_READ
		   : !strcmp(name, "close") ? NODE_CLOSE
		   : *name == 'd'           ? NODE_DIR + 1 + strtoul(name + 1, NULL, 10)
					    : 0;
	e.attr = attr_of(e.nodeid);
	if (e.nodeid)
		answer(fd, in, 0, &e, sizeof(e));
	else
		answer(fd, in, -ENOENT, NULL, 0);
}

static void serve_one(int fd, const struct fuse_in_header *in)
{
	const struct fuse_init_out init = {.major = 7, .minor = 31, .max_write = 65536};
	const struct fuse_attr_out attr = {.attr = attr_of(in->nodeid)};
	const struct fuse_read_in *r = (const struct fuse_read_in *)(in + 1);
	const struct fuse_open_out open = {.fh = 1};
	const struct fuse_statfs_out fs = {0};

	switch (in->opcode) {
	case FUSE_INIT:
		return answer(fd, in, 0, &init, sizeof(init));
	case FUSE_LOOKUP:
		return look_up(fd, in, (const char *)(in + 1));
	case FUSE_GETATTR:
		return answer(fd, in, 0, &attr, sizeof(attr));
	case FUSE_STATFS:
		return answer(fd, in, 0, &fs, sizeof(fs));
	case FUSE_OPEN:
		return in->nodeid == NODE_OPEN ? (void)0 : answer(fd, in, 0, &open, sizeof(open));
	case FUSE_READ:
		if (in->nodeid != NODE_READ)
			answer(fd, in, 0, FUSE_TEST_TEXT,
			       r->offset ? 0 : sizeof(FUSE_TEST_TEXT) - 1);
		return;
	case FUSE_FLUSH:
		return in->nodeid == NODE_CLOSE ? (void)0 : answer(fd, in, 0, NULL, 0);
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		return answer(fd, in, -ENOSYS, NULL, 0);
	}
}

static __attribute__((noreturn)) void serve(int fd)
{
	static char buf[1 << 20] __attribute__((aligned(8)));

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (read(fd, buf, sizeof(buf)) > 0)
			serve_one(fd, (const struct fuse_in_header *)buf);
		else if (errno != EINTR && errno != ENOENT)
			_exit(0);
	}
}

int fuse_server_start(struct fuse_server *s)
{
	char opts[96];

	*s = (struct fuse_server){.dir = "/tmp/saker_fuse.XXXXXX"};
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -errno;
	s->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (s->fd < 0 || !mkdtemp(s->dir))
		return -errno;
	snprintf(opts, sizeof(opts), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 s->fd);
	if (mount("saker", s->dir, "fuse.saker", MS_NOSUID | MS_NODEV, opts))
		return -errno;
	s->pid = fork();
	if (!s->pid)
		serve(s->fd);
	return 0;
}

void fuse_server_end(struct fuse_server *s)
{
	if (!s->pid)
		return;
	umount2(s->dir, MNT_FORCE | MNT_DETACH);
	close(s->fd);
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	rmdir(s->dir);
	s->pid = 0;
}
