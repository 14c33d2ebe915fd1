// SPDX-License-Identifier: Apache-2.0
/* The state of this very process, and of children made for it. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/netlink.h>

#include "live/live_load.h"
#include "procfs/fd_scan.h"
#include "procfs/proc_scan_test.h"
#include "procfs/task_rows.h"
#include "shared/file_row.h"

static uint64_t ino_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

static const struct scap_fd_info *expect(const struct scanned *s, int fd, int type,
					 const char *name)
{
	const struct scap_fd_info *f = file(s, getpid(), fd);

	assert_int_equal(f->type, type);
	assert_string_equal(f->name, name);
	assert_int_equal(f->ino, ino_of(fd));
	return f;
}

static void test_files(void **state)
{
	char path[] = "/tmp/proc_scan_test.XXXXXX", gone[160], fifo[128];
	int fd = mkstemp(path), ro, dir, ff, pfd[2];
	const struct scap_fd_info *f;
	struct scanned s;
	struct stat st;

	(void)state;
	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	ff = open(fifo, O_RDWR);
	ro = open("/dev/null", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	dir = open("/tmp", O_RDONLY | O_DIRECTORY);
	assert_int_equal(pipe2(pfd, O_NONBLOCK), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
	unlink(path);
	unlink(fifo);
	s = scan_at(NULL, 0);

	snprintf(gone, sizeof(gone), "%s (deleted)", path);
	f = expect(&s, fd, SCAP_FD_FILE_V2, gone);
	assert_int_equal(f->open_flags, 0x3 | 0x8); /* RDWR, APPEND */
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(f->dev, makedev(major(st.st_dev), minor(st.st_dev)));

	f = expect(&s, ro, SCAP_FD_FILE_V2, "/dev/null");
	assert_int_equal(f->open_flags, 0x1 | 0x40 | 0x1000); /* RDONLY, NONBLOCK, CLOEXEC */
	f = expect(&s, dir, SCAP_FD_DIRECTORY, "/tmp");
	assert_int_equal(f->open_flags, 0x1 | 0x400);

	snprintf(gone, sizeof(gone), "%s (deleted)", fifo);
	expect(&s, ff, SCAP_FD_FIFO, gone);
	snprintf(gone, sizeof(gone), "pipe:[%llu]", (unsigned long long)ino_of(pfd[0]));
	f = expect(&s, pfd[0], SCAP_FD_FIFO, gone);
	assert_int_equal(f->open_flags, 0x1 | 0x40);
	f = expect(&s, pfd[1], SCAP_FD_FIFO, gone);
	assert_int_equal(f->open_flags, 0x2 | 0x40);

	scap_state_build_free(s.b);
	close(fd), close(ro), close(dir), close(ff), close(pfd[0]), close(pfd[1]);
}

static void test_anon_inodes(void **state)
{
	sigset_t none;
	int ev = eventfd(0, EFD_CLOEXEC), ep = epoll_create1(0), in = inotify_init1(0);
	int tf = timerfd_create(CLOCK_MONOTONIC, 0), mf = memfd_create("a name", 0);
	int pf = syscall(SYS_pidfd_open, getpid(), 0), sf;
	struct epoll_event watch = {.events = EPOLLIN};
	struct scanned s;

	(void)state;
	sigemptyset(&none);
	sf = signalfd(-1, &none, 0);
	epoll_ctl(ep, EPOLL_CTL_ADD, ev, &watch);
	inotify_add_watch(in, "/tmp", IN_OPEN);
	s = scan_at(NULL, 0);

	assert_int_equal(expect(&s, ev, SCAP_FD_EVENT, "")->open_flags, 0x3 | 0x1000);
	expect(&s, ep, SCAP_FD_EVENTPOLL, "");
	expect(&s, in, SCAP_FD_INOTIFY, "");
	expect(&s, tf, SCAP_FD_TIMERFD, "");
	expect(&s, sf, SCAP_FD_SIGNALFD, "");
	expect(&s, mf, SCAP_FD_MEMFD, "/memfd:a name (deleted)");
	if (pf >= 0)
		expect(&s, pf, SCAP_FD_PIDFD, "anon_inode:[pidfd]");

	scap_state_build_free(s.b);
	close(ev), close(ep), close(in), close(tf), close(mf), close(pf), close(sf);
}

/* ---- files by the iterator ---- */

/* Files of all kinds, each twice, behind as many as are read from /proc anyway. */
struct many {
	int fds[256];
	size_t n;
	char path[64], fifo[72], sock[72];
};

static void add(struct many *m, int fd)
{
	assert_true(fd >= 0);
	m->fds[m->n++] = fd;
	m->fds[m->n++] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static void add_sockets(struct many *m)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int tcp = socket(AF_INET, SOCK_STREAM, 0), local = socket(AF_UNIX, SOCK_STREAM, 0), pair[2];

	assert_int_equal(bind(tcp, (struct sockaddr *)&in, sizeof(in)) ?: listen(tcp, 1), 0);
	snprintf(un.sun_path, sizeof(un.sun_path), "%s", m->sock);
	assert_int_equal(bind(local, (struct sockaddr *)&un, sizeof(un)) ?: listen(local, 1), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	add(m, tcp), add(m, local), add(m, pair[0]), add(m, pair[1]);
	add(m, socket(AF_INET6, SOCK_DGRAM, 0)); /* in no table */
	add(m, socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
	add(m, open(m->sock, O_PATH)); /* no socket, but the file that it is bound to */
}

static void open_many(struct many *m)
{
	sigset_t none;
	int ends[2];

	*m = (struct many){.path = "/tmp/proc_scan_test.XXXXXX"};
	for (int i = 0; i < FD_SCAN_FEW; i++)
		add(m, open("/dev/null", O_RDONLY));
	add(m, mkstemp(m->path));
	snprintf(m->fifo, sizeof(m->fifo), "%s.fifo", m->path);
	snprintf(m->sock, sizeof(m->sock), "%s.sock", m->path);
	assert_int_equal(mkfifo(m->fifo, 0600), 0);
	add(m, open(m->fifo, O_RDWR));
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	add(m, ends[0]), add(m, ends[1]);
	add_sockets(m);
	sigemptyset(&none);
	for (int i = 0; i < 3; i++) { /* a name is kept when it was seen twice */
		add(m, eventfd(0, 0)), add(m, epoll_create1(EPOLL_CLOEXEC));
		add(m, timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)), add(m, inotify_init1(0));
		add(m, signalfd(-1, &none, 0));
	}
	for (size_t i = m->n - 10, n = m->n; i < n; i += 2) { /* references to these */
		char path[32];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", m->fds[i]);
		add(m, open(path, O_PATH));
	}
	add(m, memfd_create("a name", 0));
	add(m, (int)syscall(SYS_pidfd_open, getpid(), 0));
	add(m, open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	add(m, open("/proc/self/status", O_RDONLY));
	add(m, open(m->path, O_WRONLY | O_APPEND));
	unlink(m->path), unlink(m->fifo), unlink(m->sock);
	add(m, open("/dev/zero", O_RDWR));
}

static void close_many(const struct many *m)
{
	for (size_t i = 0; i < m->n; i++)
		close(m->fds[i]);
}

/* A source of rows: the driver, or a file that has what it may say. */
struct rows_source {
	struct live_driver *driver;
	const void *data;
	size_t len;
	int err; /* instead of rows */
	void (*meanwhile)(void); /* between the rows and what /proc says; may be NULL */
	int n_own; /* calls for our own process: one to learn the operations, one for its scan */
};

static int rows_file(const void *data, size_t len)
{
	int fd = memfd_create("rows", MFD_CLOEXEC);

	assert_int_equal(write(fd, data, len), len);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Called by several threads. */
static int open_rows(void *ctx, uint32_t tid)
{
	struct rows_source *r = ctx;
	static struct file_row rows[1024];
	ssize_t n;
	int fd;

	if (tid != (uint32_t)getpid())
		return -ENODATA;
	if (r->err)
		return r->err;
	if (!r->driver) {
		__atomic_add_fetch(&r->n_own, 1, __ATOMIC_RELAXED);
		return rows_file(r->data, r->len);
	}
	fd = live_file_rows(r->driver, tid);
	if (__atomic_fetch_add(&r->n_own, 1, __ATOMIC_RELAXED) && r->meanwhile) {
		n = read(fd, rows, sizeof(rows));
		assert_true(n > 0);
		close(fd);
		fd = rows_file(rows, (size_t)n);
		r->meanwhile();
	}
	return fd;
}

static struct scanned scan_by_rows(struct rows_source *r)
{
	struct scap_scan_opts o = {.sz = sizeof(o),
				   .epoch_offset_ns = epoch_offset(),
				   .file_rows = open_rows,
				   .file_rows_ctx = r};
	struct scanned s = {.b = scap_state_build_new()};

	assert_int_equal(scap_scan_machine(s.b, NULL, &o), 0);
	s.st = scap_state_build_done(s.b);
	return s;
}

/* The files of @m are in the scan as /proc alone has them. */
static void as_proc_says(const struct many *m, const struct scanned *s)
{
	struct scanned by_proc = scan_at(NULL, 0);

	for (size_t i = 0; i < m->n; i++) {
		const struct scap_fd_info *a = file(&by_proc, getpid(), m->fds[i]),
					  *b = file(s, getpid(), m->fds[i]);

		assert_string_equal(a->name, b->name);
		assert_int_equal(a->type, b->type);
		assert_int_equal(a->ino, b->ino);
		assert_int_equal(a->dev, b->dev);
		assert_int_equal(a->open_flags, b->open_flags);
		assert_int_equal(a->l4proto, b->l4proto);
		assert_int_equal(a->sport, b->sport);
		assert_int_equal(a->unix_src, b->unix_src);
	}
	scap_state_build_free(by_proc.b);
}

static void need_driver(struct live_driver **d)
{
	if (geteuid() || access("/sys/kernel/btf/vmlinux", R_OK) || live_load(d, NULL, NULL)) {
		print_message("skipped: the driver needs root and a kernel with BTF\n");
		skip();
	}
}

static void test_file_rows(void **state)
{
	struct rows_source r = {0};
	struct scanned s;
	struct many m;

	(void)state;
	need_driver(&r.driver);
	open_many(&m);
	s = scan_by_rows(&r);
	assert_true(r.n_own >= 2);
	as_proc_says(&m, &s);
	scap_state_build_free(s.b);
	close_many(&m);
	live_close(r.driver);
}

static struct many exchanged;

/* The timers but one become other files. */
static void exchange(void)
{
	int event = eventfd(0, 0);

	for (size_t i = exchanged.n - 10; i < exchanged.n - 1; i++)
		dup2(event, exchanged.fds[i]);
	close(event);
}

/* What a process makes of its descriptors says nothing of those that stay as they are. */
static void test_exchanged_files(void **state)
{
	struct rows_source r = {.meanwhile = exchange};
	struct scanned s;

	(void)state;
	need_driver(&r.driver);
	open_many(&exchanged);
	for (int i = 0; i < 5; i++)
		add(&exchanged, timerfd_create(CLOCK_MONOTONIC, 0));
	s = scan_by_rows(&r);
	assert_true(r.n_own >= 2);
	assert_int_equal(file(&s, getpid(), exchanged.fds[exchanged.n - 1])->type, SCAP_FD_TIMERFD);
	scap_state_build_free(s.b);
	close_many(&exchanged);
	live_close(r.driver);
}

/* Rows that break off, that are none or of another process, and those that cannot be had: /proc has
 * the rest. */
static void test_bad_file_rows(void **state)
{
	const uint32_t own = (uint32_t)getpid();
	const struct file_row gone[2] = {{.fd = 100000, .ino = 1, .tid = own},
					 {.fd = 99999, .tid = own}};
	const struct file_row others = {.fd = 40, .tid = own + 1};
	const struct rows_source bad[] = {{.data = gone, .len = sizeof(gone[0]) + 8},
					  {.data = gone, .len = 0},
					  {.data = &others, .len = sizeof(others)},
					  {.err = -EPERM},
					  {.err = -EACCES},
					  {.err = -ENOMEM}};
	struct rows_source r;
	struct scanned s;
	struct many m;

	(void)state;
	open_many(&m);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		r = bad[i];
		s = scan_by_rows(&r);
		as_proc_says(&m, &s);
		scap_state_build_free(s.b);
	}
	/* Complete: nothing else is there. */
	r = (struct rows_source){.data = gone, .len = sizeof(gone)};
	s = scan_by_rows(&r);
	for (size_t i = 0; i < thread_in(&s, own)->n_fds; i++)
		assert_true(thread_in(&s, own)->fds[i].fd < 99999);
	scap_state_build_free(s.b);
	assert_true(r.n_own >= 2);
	close_many(&m);
}

static void test_no_memfd(void **state)
{
	int fd = open("/tmp/memfd:x", O_CREAT | O_RDWR, 0600);
	struct scanned s;

	(void)state;
	unlink("/tmp/memfd:x");
	s = scan_at(NULL, 0);
	expect(&s, fd, SCAP_FD_FILE_V2, "/tmp/memfd:x (deleted)");
	scap_state_build_free(s.b);
	close(fd);
}

static uint16_t port_of(int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&ss, &len), 0);
	return ntohs(ss.ss_family == AF_INET ? ((struct sockaddr_in *)&ss)->sin_port
					     : ((struct sockaddr_in6 *)&ss)->sin6_port);
}

static void expect_inet(const struct scanned *s, int fd, int type, int l4, uint16_t sport,
			uint16_t dport)
{
	const struct scap_fd_info *f = expect(s, fd, type, "");
	static const uint8_t lo4[4] = {127, 0, 0, 1}, lo6[16] = {[15] = 1}, none[16];
	int v6 = type == SCAP_FD_IPV6_SOCK || type == SCAP_FD_IPV6_SERVSOCK;

	assert_int_equal(f->l4proto, l4);
	assert_int_equal(f->sport, sport);
	assert_int_equal(f->dport, dport);
	assert_memory_equal(f->sip, v6 ? lo6 : lo4, v6 ? 16 : 4);
	if (dport)
		assert_memory_equal(f->dip, v6 ? lo6 : lo4, v6 ? 16 : 4);
	else
		assert_memory_equal(f->dip, none, 16);
}

/* Listening, both ends of a connection, a bound and a connected datagram socket. */
static void check_inet(int family, const struct sockaddr *lo, socklen_t len)
{
	int l = socket(family, SOCK_STREAM, 0), c = socket(family, SOCK_STREAM, 0), a;
	int u = socket(family, SOCK_DGRAM, 0), uc = socket(family, SOCK_DGRAM, 0);
	int serv = family == AF_INET ? SCAP_FD_IPV4_SERVSOCK : SCAP_FD_IPV6_SERVSOCK;
	int conn = family == AF_INET ? SCAP_FD_IPV4_SOCK : SCAP_FD_IPV6_SOCK;
	struct sockaddr_storage at;
	struct scanned s;

	assert_int_equal(bind(l, lo, len), 0);
	assert_int_equal(listen(l, 5), 0);
	getsockname(l, (struct sockaddr *)&at, &len);
	assert_int_equal(connect(c, (struct sockaddr *)&at, len), 0);
	a = accept(l, NULL, NULL);
	assert_int_equal(bind(u, lo, len), 0);
	getsockname(u, (struct sockaddr *)&at, &len);
	assert_int_equal(connect(uc, (struct sockaddr *)&at, len), 0);
	s = scan_at(NULL, 0);

	expect_inet(&s, l, serv, SCAP_L4_TCP, port_of(l), 0);
	expect_inet(&s, c, conn, SCAP_L4_TCP, port_of(c), port_of(l));
	expect_inet(&s, a, conn, SCAP_L4_TCP, port_of(l), port_of(c));
	expect_inet(&s, u, serv, SCAP_L4_UDP, port_of(u), 0);
	expect_inet(&s, uc, conn, SCAP_L4_UDP, port_of(uc), port_of(u));

	scap_state_build_free(s.b);
	close(l), close(c), close(a), close(u), close(uc);
}

static void test_inet(void **state)
{
	struct sockaddr_in lo = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	(void)state;
	check_inet(AF_INET, (struct sockaddr *)&lo, sizeof(lo));
}

static void test_inet6(void **state)
{
	struct sockaddr_in6 lo = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	int ok = fd >= 0 && !bind(fd, (struct sockaddr *)&lo, sizeof(lo));

	(void)state;
	close(fd);
	if (!ok) {
		print_message("skipped: no IPv6 loopback address here\n");
		skip();
	}
	check_inet(AF_INET6, (struct sockaddr *)&lo, sizeof(lo));
}

/* Neither bound nor connected: in no table of the kernel, recognized by its protocol. */
static void test_fresh_sockets(void **state)
{
	int t = socket(AF_INET, SOCK_STREAM, 0), u = socket(AF_INET, SOCK_DGRAM, 0);
	int n = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	struct scanned s = scan_at(NULL, 0);

	(void)state;
	assert_int_equal(expect(&s, t, SCAP_FD_IPV4_SOCK, "")->l4proto, SCAP_L4_TCP);
	assert_int_equal(file(&s, getpid(), t)->sport, 0);
	assert_int_equal(expect(&s, u, SCAP_FD_IPV4_SOCK, "")->l4proto, SCAP_L4_UDP);
	expect(&s, n, SCAP_FD_NETLINK, "");
	scap_state_build_free(s.b);
	close(t), close(u), close(n);
}

static struct sockaddr_un unix_addr(const char *path, size_t len)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	memcpy(un.sun_path, path, len);
	return un;
}

static socklen_t unix_len(size_t len)
{
	return offsetof(struct sockaddr_un, sun_path) + len;
}

static void test_unix(void **state)
{
	/* A name made to look like the line of another socket. */
	char path[108], abstract[32] = "";
	const size_t len =
		(size_t)snprintf(path, sizeof(path),
				 "/tmp/proc_scan_test.%d\n00: 00000002 00000000 00010000 "
				 "0001 01 1 x",
				 getpid()) +
		1;
	const size_t abstract_len =
		(size_t)snprintf(abstract + 1, sizeof(abstract) - 1, "proc scan %d", getpid()) + 1;
	struct sockaddr_un un = unix_addr(path, len);
	int l = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0), a, pair[2];
	int ab = socket(AF_UNIX, SOCK_DGRAM, 0);
	const struct scap_fd_info *f;
	struct scanned s;

	(void)state;
	unlink(path);
	assert_int_equal(bind(l, (struct sockaddr *)&un, unix_len(len)), 0);
	assert_int_equal(listen(l, 5), 0);
	assert_int_equal(connect(c, (struct sockaddr *)&un, unix_len(len)), 0);
	a = accept(l, NULL, NULL);
	un = unix_addr(abstract, abstract_len);
	assert_int_equal(bind(ab, (struct sockaddr *)&un, unix_len(abstract_len)), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	s = scan_at(NULL, 0);

	f = expect(&s, l, SCAP_FD_UNIX_SOCK, path);
	assert_int_equal(f->unix_src, ino_of(l));
	f = expect(&s, c, SCAP_FD_UNIX_SOCK, "");
	assert_int_equal(f->unix_src, ino_of(c));
	assert_int_equal(f->unix_dst, ino_of(a));
	f = expect(&s, a, SCAP_FD_UNIX_SOCK, path);
	assert_int_equal(f->unix_dst, ino_of(c));
	abstract[0] = '@';
	expect(&s, ab, SCAP_FD_UNIX_SOCK, abstract);
	assert_int_equal(expect(&s, pair[0], SCAP_FD_UNIX_SOCK, "")->unix_dst, ino_of(pair[1]));
	assert_int_equal(expect(&s, pair[1], SCAP_FD_UNIX_SOCK, "")->unix_dst, ino_of(pair[0]));

	scap_state_build_free(s.b);
	unlink(path);
	close(l), close(c), close(a), close(ab), close(pair[0]), close(pair[1]);
}

/* A child that does @prepare, and stays until it is ended. */
struct child {
	pid_t pid;
	int to[2], from[2];
};

static struct child child_start(int (*prepare)(void))
{
	struct child c;
	char ok;

	assert_int_equal(pipe(c.to), 0);
	assert_int_equal(pipe(c.from), 0);
	c.pid = fork();
	if (!c.pid) {
		close(c.to[1]);
		ok = prepare();
		(void)!write(c.from[1], &ok, 1);
		(void)!read(c.to[0], &ok, 1);
		_exit(0);
	}
	assert_int_equal(read(c.from[0], &ok, 1), 1);
	close(c.from[0]), close(c.from[1]), close(c.to[0]);
	if (ok)
		c.pid = -c.pid; /* it could not */
	return c;
}

static void child_end(struct child *c)
{
	close(c->to[1]);
	waitpid(c->pid < 0 ? -c->pid : c->pid, NULL, 0);
}

static int odd_comm(void)
{
	prctl(PR_SET_NAME, ") R 7 (\n)x ");
	setsid();
	return chdir("/tmp");
}

static void test_odd_comm(void **state)
{
	struct rlimit nofile = {100, 100};
	struct child c = child_start(odd_comm);
	const struct scap_thread_info *t;
	struct scanned s;

	(void)state;
	assert_int_equal(prlimit(c.pid, RLIMIT_NOFILE, &nofile, NULL), 0);
	s = scan_at(NULL, 0);
	t = thread_in(&s, c.pid);
	assert_non_null(t);
	assert_string_equal(t->comm, ") R 7 (\n)x ");
	assert_int_equal(t->pid, c.pid);
	assert_int_equal(t->ptid, getpid());
	assert_int_equal(t->sid, c.pid);
	assert_int_equal(t->vpgid, c.pid);
	assert_int_equal(t->vtid, c.pid);
	assert_int_equal(t->fdlimit, 100);
	assert_int_equal(t->flags, 0);
	assert_string_equal(t->cwd, "/tmp");
	scap_state_build_free(s.b);
	child_end(&c);
}

static int own_netns(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(4711)};
	int l, pair[2];

	if (unshare(CLONE_NEWNET))
		return 1;
	l = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(l, (struct sockaddr *)&any, sizeof(any)) || listen(l, 1) || dup2(l, 50) < 0)
		return 1;
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		return 1;
	return dup2(pair[0], 51) < 0 || dup2(pair[1], 52) < 0;
}

static void test_other_namespace(void **state)
{
	struct child c = child_start(own_netns);
	const struct scap_fd_info *f;
	struct scanned s;

	(void)state;
	if (c.pid < 0) {
		child_end(&c);
		print_message("skipped: a network namespace needs root\n");
		skip();
	}
	s = scan_at(NULL, 0);
	f = file(&s, c.pid, 50);
	assert_int_equal(f->type, SCAP_FD_IPV4_SERVSOCK);
	assert_int_equal(f->sport, 4711);
	assert_int_equal(f->l4proto, SCAP_L4_TCP);
	f = file(&s, c.pid, 51);
	assert_int_equal(f->type, SCAP_FD_UNIX_SOCK);
	assert_int_equal(f->unix_dst, file(&s, c.pid, 52)->ino);
	scap_state_build_free(s.b);
	child_end(&c);
}

struct waiter {
	pthread_t th;
	pthread_barrier_t *ready, *leave;
	pid_t tid;
};

static void *wait_in_thread(void *arg)
{
	struct waiter *w = arg;

	prctl(PR_SET_NAME, "second");
	w->tid = syscall(SYS_gettid);
	pthread_barrier_wait(w->ready);
	pthread_barrier_wait(w->leave);
	return NULL;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static void check_second(const struct scanned *s, pid_t tid, uint64_t before)
{
	const struct scap_thread_info *main = thread_in(s, getpid()), *t = thread_in(s, tid);

	assert_non_null(main);
	assert_non_null(t);
	assert_int_equal(main->flags, 0);
	assert_int_equal(t->flags, 0x2001); /* CLONE_THREAD, CLONE_FILES */
	assert_int_equal(t->pid, getpid());
	assert_int_equal(t->ptid, getppid());
	assert_string_equal(t->comm, "second");
	assert_string_equal(t->exepath, main->exepath);
	assert_ptr_equal(t->env.p, main->env.p); /* kept once */
	assert_int_equal(t->n_fds, 0);
	assert_true(main->n_fds > 2);
	assert_true(t->start_ns >= main->start_ns && t->start_ns < now_ns() + NS_PER_S / 10);
	assert_true(t->start_ns + NS_PER_S > before);
	/* Two readings of the difference between the clocks may differ by about a microsecond. */
	assert_true(t->snapshot_ns + NS_PER_S / 1000 > before && t->snapshot_ns <= now_ns());
}

static void test_threads(void **state)
{
	pthread_barrier_t ready, leave;
	struct waiter w = {.ready = &ready, .leave = &leave};
	uint64_t before = now_ns();
	struct scanned s;

	(void)state;
	pthread_barrier_init(&ready, NULL, 2);
	pthread_barrier_init(&leave, NULL, 2);
	assert_int_equal(pthread_create(&w.th, NULL, wait_in_thread, &w), 0);
	pthread_barrier_wait(&ready);

	s = scan_at(NULL, 0);
	check_second(&s, w.tid, before);
	scap_state_build_free(s.b);
	s = scan_only(NULL, w.tid); /* brings its process along */
	assert_int_equal(s.st->n_threads, 2);
	check_second(&s, w.tid, before);
	scap_state_build_free(s.b);

	pthread_barrier_wait(&leave);
	pthread_join(w.th, NULL);
	pthread_barrier_destroy(&ready);
	pthread_barrier_destroy(&leave);
}

/* Output as from the driver's iterator, in a file. */
static int rows_fd(const struct task_row *rows, size_t n)
{
	int fd = memfd_create("rows", MFD_CLOEXEC);

	assert_int_equal(write(fd, rows, n * sizeof(*rows)), n * sizeof(*rows));
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static struct scanned scan_rows(int fd)
{
	struct scap_scan_opts o = {
		.sz = sizeof(o), .epoch_offset_ns = epoch_offset(), .task_rows_fd = fd};
	struct scanned s = {.b = scap_state_build_new()};

	assert_int_equal(scap_scan_machine(s.b, NULL, &o), 0);
	s.st = scap_state_build_done(s.b);
	close(fd);
	return s;
}

static void check_row(const struct scanned *s, const struct task_row *row)
{
	const struct scap_thread_info *main = thread_in(s, row->pid), *t = thread_in(s, row->tid);

	assert_non_null(main);
	assert_non_null(t);
	assert_string_equal(t->comm, "sixteen bytes..!");
	assert_int_equal(t->pid, row->pid);
	assert_int_equal(t->vtid, 5);
	assert_int_equal(t->uid, 6);
	assert_int_equal(t->gid, 7);
	assert_int_equal(t->flags, 0x2001);
	assert_int_equal(t->pfmajor, 8);
	assert_int_equal(t->pfminor, 9);
	assert_int_equal(t->cap_effective, 10);
	assert_int_equal(t->ptid, main->ptid);
	assert_string_equal(t->exe, main->exe);
}

static void check_ran(const struct scanned *s, const struct task_row *row)
{
	const struct scap_thread_info *t = thread_in(s, row->tid);

	assert_int_equal(t->ran_ns, row->ran_ns);
	assert_true(t->ran_at_ns > row->snapshot_ns); /* since the epoch */
}

static void test_rows(void **state)
{
	struct task_row rows[] = {
		{.tid = UINT32_MAX, .pid = UINT32_MAX, .comm = "of no process"},
		{.tid = getpid(), .pid = getpid(), .ran_ns = 11, .snapshot_ns = 12},
		{.pid = getpid(),
		 .vtid = 5,
		 .uid = 6,
		 .gid = 7,
		 .pfmajor = 8,
		 .pfminor = 9,
		 .cap_effective = 10,
		 .ran_ns = 13,
		 .snapshot_ns = 14,
		 .comm = {"sixteen bytes..!"}},
	};
	pthread_barrier_t ready, leave;
	struct waiter w = {.ready = &ready, .leave = &leave};
	struct scanned s;

	(void)state;
	pthread_barrier_init(&ready, NULL, 2);
	pthread_barrier_init(&leave, NULL, 2);
	assert_int_equal(pthread_create(&w.th, NULL, wait_in_thread, &w), 0);
	pthread_barrier_wait(&ready);

	rows[2].tid = w.tid;
	s = scan_rows(rows_fd(rows, 3));
	check_row(&s, &rows[2]);
	check_ran(&s, &rows[1]);
	check_ran(&s, &rows[2]);
	assert_null(thread_in(&s, UINT32_MAX));
	scap_state_build_free(s.b);
	s = scan_rows(rows_fd(rows, 2)); /* incomplete: read from /proc instead */
	assert_non_null(thread_in(&s, w.tid));
	assert_string_equal(thread_in(&s, w.tid)->comm, "second");
	assert_int_equal(thread_in(&s, w.tid)->ran_at_ns, 0);
	check_ran(&s, &rows[1]);
	scap_state_build_free(s.b);
	s = scan_rows(open("/tmp", O_RDONLY | O_DIRECTORY)); /* no rows: the same */
	assert_non_null(thread_in(&s, w.tid));
	scap_state_build_free(s.b);

	pthread_barrier_wait(&leave);
	pthread_join(w.th, NULL);
	pthread_barrier_destroy(&ready);
	pthread_barrier_destroy(&leave);
}

static void same_thread(const struct task_row *r, const struct scap_thread_info *t, int64_t offset)
{
	assert_non_null(t);
	assert_int_equal(r->pid, t->pid);
	assert_int_equal(r->vtid, t->vtid);
	assert_int_equal(r->uid, t->uid);
	assert_int_equal(r->gid, t->gid);
	assert_string_equal(r->comm, t->comm);
	assert_int_equal(r->cap_inheritable, t->cap_inheritable);
	assert_int_equal(r->cap_permitted, t->cap_permitted);
	assert_int_equal(r->cap_effective, t->cap_effective);
	assert_int_equal(r->pfmajor, t->pfmajor);
	assert_true(r->pfminor <= t->pfminor); /* it may not sleep yet */
	/* /proc has it in hundredths of a second. */
	assert_int_equal(r->start_ns / 10000000, (t->start_ns - offset + 5000000) / 10000000);
}

static uint64_t own_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The driver's iterator and /proc say the same. */
static void test_iterator(void **state)
{
	pthread_barrier_t ready, leave;
	struct waiter w = {.ready = &ready, .leave = &leave};
	const struct task_row *row;
	struct task_rows rows = {0};
	struct live_driver *d = NULL;
	struct scanned s;
	int fd;

	(void)state;
	if (geteuid() || access("/sys/kernel/btf/vmlinux", R_OK) || live_load(&d, NULL, NULL)) {
		print_message("skipped: the driver needs root and a kernel with BTF\n");
		skip();
	}
	assert_int_equal(live_attach(d), 0);
	pthread_barrier_init(&ready, NULL, 2);
	pthread_barrier_init(&leave, NULL, 2);
	assert_int_equal(pthread_create(&w.th, NULL, wait_in_thread, &w), 0);
	pthread_barrier_wait(&ready);

	fd = live_task_rows(d);
	assert_true(fd >= 0);
	assert_int_equal(task_rows_read(&rows, fd), 0);
	s = scan_at(NULL, 0);
	assert_int_equal(task_rows_of(&rows, &row, getpid()), 2);
	row += row->tid == (u32)getpid();
	assert_int_equal(row->tid, w.tid);
	same_thread(row, thread_in(&s, w.tid), s.st->machine.boot_ns);
	row = task_rows_main(&rows, (u32)getpid());
	assert_non_null(row);
	assert_true(row->ran_ns > 0 && row->ran_ns <= own_cpu_ns());

	scap_state_build_free(s.b);
	task_rows_fini(&rows);
	close(fd);
	live_close(d);
	pthread_barrier_wait(&leave);
	pthread_join(w.th, NULL);
	pthread_barrier_destroy(&ready);
	pthread_barrier_destroy(&leave);
}

static void test_self(void **state)
{
	char exe[4096] = "", cwd[4096];
	struct scanned s = scan_only(NULL, getpid());
	const struct scap_thread_info *t = thread_in(&s, getpid());
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY);

	(void)state;
	assert_non_null(t);
	/* Relative, as valgrind gives another answer for the whole path. */
	assert_true(readlinkat(self, "exe", exe, sizeof(exe) - 1) > 0);
	assert_string_equal(t->exepath, exe);
	assert_string_equal(t->cwd, getcwd(cwd, sizeof(cwd)));
	assert_string_equal(t->root, "/");
	assert_int_equal(t->uid, geteuid());
	assert_int_equal(t->gid, getegid());
	assert_int_equal(t->sid, getsid(0));
	assert_int_equal(t->exe_writable, !access(exe, W_OK));
	assert_true(t->vmsize_kb >= t->vmrss_kb && t->vmrss_kb > 0);
	assert_true(t->pfminor > 0);
	assert_true(t->exe[0] != 0);
	assert_true(t->env.len > 0 && t->env.p[t->env.len - 1] == 0);
	assert_true(t->env.len <= 4096);
	close(self);
	scap_state_build_free(s.b);
}

static void test_skip_and_gone(void **state)
{
	struct scanned s = scan_at(NULL, getpid());
	struct scap_scan_opts o = {.sz = sizeof(o)};
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_null(thread_in(&s, getpid()));
	assert_int_equal(scap_scan_thread(s.b, pid, &o), -ESRCH);
	o.proc = "/nonexistent";
	assert_int_equal(scap_scan_machine(s.b, NULL, &o), -ENOENT);
	scap_state_build_free(s.b);
}

static void test_without_users(void **state)
{
	struct scap_scan_opts o = {.sz = sizeof(o), .no_users = 1};
	struct scanned s = {.b = scap_state_build_new()};

	(void)state;
	assert_int_equal(scap_scan_machine(s.b, NULL, &o), 0);
	s.st = scap_state_build_done(s.b);
	assert_int_equal(s.st->n_users, 0);
	assert_int_equal(s.st->n_groups, 0);
	assert_non_null(thread_in(&s, getpid()));
	scap_state_build_free(s.b);
}

static void test_machine(void **state)
{
	struct scanned s = scan_at(NULL, 0);
	int root_user = 0, root_group = 0, lo = 0;

	(void)state;
	assert_int_equal(s.st->machine.n_cpus, sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(s.st->machine.memory_bytes > 1 << 20);
	assert_true(s.st->machine.max_pid >= 300);
	assert_true(s.st->machine.boot_ns > 0);
	for (size_t i = 0; i < s.st->n_users; i++)
		root_user |= !s.st->users[i].uid && !strcmp(s.st->users[i].name, "root") &&
			     s.st->users[i].home[0] == '/';
	for (size_t i = 0; i < s.st->n_groups; i++)
		root_group |= !s.st->groups[i].gid && !strcmp(s.st->groups[i].name, "root");
	for (size_t i = 0; i < s.st->n_ifaces; i++)
		lo |= !strcmp(s.st->ifaces[i].name, "lo") && s.st->ifaces[i].addr[0] == 127 &&
		      s.st->ifaces[i].netmask[0] == 255;
	assert_true(root_user);
	assert_true(root_group);
	assert_true(lo);
	scap_state_build_free(s.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),          cmocka_unit_test(test_files),
		cmocka_unit_test(test_anon_inodes),   cmocka_unit_test(test_no_memfd),
		cmocka_unit_test(test_inet),          cmocka_unit_test(test_inet6),
		cmocka_unit_test(test_fresh_sockets), cmocka_unit_test(test_unix),
		cmocka_unit_test(test_odd_comm),      cmocka_unit_test(test_other_namespace),
		cmocka_unit_test(test_threads),       cmocka_unit_test(test_rows),
		cmocka_unit_test(test_iterator),      cmocka_unit_test(test_skip_and_gone),
		cmocka_unit_test(test_file_rows),     cmocka_unit_test(test_exchanged_files),
		cmocka_unit_test(test_bad_file_rows), cmocka_unit_test(test_without_users),
		cmocka_unit_test(test_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
