/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prog DIR [sqpoll]: requests of io_uring without a library, in the directory DIR. For each it
 * prints what its lines must say: "> op=... key=value" of the request, "< ..." of its completion.
 * Status 77: this kernel or this machine allows no io_uring.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static char said[16 << 10];
static size_t said_len;

static void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	said_len += (size_t)vsnprintf(said + said_len, sizeof(said) - said_len, fmt, ap);
	va_end(ap);
	said[said_len++] = '\n';
}

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static struct {
	int fd;
	struct io_uring_sqe *sqes;
	unsigned int *sq_tail, *sq_flags, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_cqe *cqes;
	int sqpoll;
} ring;

static void setup(int sqpoll)
{
	struct io_uring_params p = {.flags = sqpoll ? IORING_SETUP_SQPOLL : 0};
	char *sq, *cq;

	p.sq_thread_idle = 2000;
	ring.sqpoll = sqpoll;
	ring.fd = (int)syscall(SYS_io_uring_setup, 8, &p);
	if (ring.fd < 0 && (errno == ENOSYS || errno == EPERM)) {
		fprintf(stderr, "io_uring_setup: %s\n", strerror(errno));
		exit(77);
	}
	must(ring.fd >= 0, "io_uring_setup");
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(int), PROT_READ | PROT_WRITE,
		  MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(*ring.cqes), PROT_READ | PROT_WRITE,
		  MAP_SHARED, ring.fd, IORING_OFF_CQ_RING);
	ring.sqes = mmap(NULL, p.sq_entries * sizeof(*ring.sqes), PROT_READ | PROT_WRITE,
			 MAP_SHARED, ring.fd, IORING_OFF_SQES);
	must(sq != MAP_FAILED && cq != MAP_FAILED && (void *)ring.sqes != MAP_FAILED, "mmap");
	ring.sq_tail = (void *)(sq + p.sq_off.tail);
	ring.sq_flags = (void *)(sq + p.sq_off.flags);
	ring.sq_mask = (void *)(sq + p.sq_off.ring_mask);
	ring.sq_array = (void *)(sq + p.sq_off.array);
	ring.cq_head = (void *)(cq + p.cq_off.head);
	ring.cq_tail = (void *)(cq + p.cq_off.tail);
	ring.cq_mask = (void *)(cq + p.cq_off.ring_mask);
	ring.cqes = (void *)(cq + p.cq_off.cqes);
}

static void submit(const struct io_uring_sqe *sqe)
{
	unsigned int tail = *ring.sq_tail, i = tail & *ring.sq_mask, flags = 0, n = 1;

	ring.sqes[i] = *sqe;
	ring.sq_array[i] = i;
	__atomic_store_n(ring.sq_tail, tail + 1, __ATOMIC_SEQ_CST);
	if (ring.sqpoll) {
		n = 0;
		if (__atomic_load_n(ring.sq_flags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
			flags = IORING_ENTER_SQ_WAKEUP;
	}
	must(syscall(SYS_io_uring_enter, ring.fd, n, 0, flags, NULL, 0) >= 0, "io_uring_enter");
}

/* The result of the next completion. */
static int complete(void)
{
	unsigned int head = *ring.cq_head;
	int res;

	while (__atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE) == head)
		must(syscall(SYS_io_uring_enter, ring.fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) >=
			     0,
		     "io_uring_enter");
	res = ring.cqes[head & *ring.cq_mask].res;
	__atomic_store_n(ring.cq_head, head + 1, __ATOMIC_RELEASE);
	return res;
}

static int make(int op, int fd, const void *addr, unsigned int len, unsigned int op_flags,
		unsigned int user_data)
{
	const struct io_uring_sqe sqe = {
		.opcode = (unsigned char)op,
		.fd = fd,
		.addr = (unsigned long)addr,
		.len = len,
		.open_flags = op_flags,
		.user_data = user_data,
	};

	submit(&sqe);
	return complete();
}

static void files(const char *dir)
{
	char b[8];
	int fd, res;

	res = make(IORING_OP_NOP, -1, NULL, 0, 0, 0x11);
	say("> op=0(NOP) user_data=11");
	say("< res=%d op=0(NOP) user_data=11", res);
	fd = make(IORING_OP_OPENAT, AT_FDCWD, "a", 0600, O_CREAT | O_RDWR | O_CLOEXEC, 0x22);
	must(fd >= 0, "openat");
	say("> op=18(OPENAT) user_data=22 dirfd=-100(AT_FDCWD) name=a");
	say("< res=%d op=18(OPENAT) user_data=22 path=%s/a", fd, dir);
	res = make(IORING_OP_WRITE, fd, "data", 4, 0, 0x33);
	say("> op=23(WRITE) fd=%d(<f>%s/a) user_data=33", fd, dir);
	say("< res=%d op=23(WRITE) fd=%d(<f>%s/a) user_data=33 data=data", res, fd, dir);
	must(lseek(fd, 0, SEEK_SET) == 0, "lseek");
	res = make(IORING_OP_READ, fd, b, sizeof(b), 0, 0x44);
	say("< res=%d op=22(READ) fd=%d(<f>%s/a) user_data=44 data=data", res, fd, dir);
	/* A call sees what the request has opened. */
	must(read(fd, b, 1) >= 0, "read");
	say("read fd=%d(<f>%s/a)", fd, dir);
	res = make(IORING_OP_READ, 999, b, 1, 0, 0x55);
	say("< res=%d(EBADF) op=22(READ) user_data=55", res);
	res = make(IORING_OP_OPENAT, AT_FDCWD, "none", 0, O_RDONLY, 0x66);
	say("< res=%d(ENOENT) op=18(OPENAT) user_data=66", res);
	res = make(IORING_OP_CLOSE, fd, NULL, 0, 0, 0x77);
	say("> op=19(CLOSE) fd=%d(<f>%s/a) user_data=77", fd, dir);
	say("< res=%d op=19(CLOSE) fd=%d(<f>%s/a) user_data=77", res, fd, dir);
	/* The descriptor's number now refers to a file without that name. */
	must(read(fd, b, 1) == -1, "read");
	say("read fd=%d", fd);
}

static void sockets(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int server = socket(AF_INET, SOCK_STREAM, 0), client, other;

	must(server >= 0 && !bind(server, (void *)&a, sizeof(a)) && !listen(server, 1), "listen");
	must(!getsockname(server, (void *)&a, &len), "getsockname");
	client = socket(AF_INET, SOCK_STREAM, 0);
	must(!connect(client, (void *)&a, sizeof(a)), "connect");
	other = make(IORING_OP_ACCEPT, server, NULL, 0, 0, 0x88);
	must(other >= 0, "accept");
	say("< res=%d op=13(ACCEPT) fd=%d user_data=88 to=127.0.0.1:%d", other, server,
	    ntohs(a.sin_port));
	must(close(other) == 0, "close");
	say("close fd=%d to=127.0.0.1:%d", other, ntohs(a.sin_port));
	close(client);
	close(server);
}

int main(int argc, char **argv)
{
	if (argc < 2 || chdir(argv[1]))
		return 1;
	setup(argc > 2);
	files(argv[1]);
	sockets();
	must(write(1, said, said_len) == (ssize_t)said_len, "write");
	return 3;
}
