/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and files through what the kernel does to them. Each case prints "NAME WORD" lines for
 * its test: numbers and paths that the lines of saker must have.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *dir; /* of the test's own, absolute */

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void tell(const char *name, long v)
{
	printf("%s %ld\n", name, v);
	fflush(stdout);
}

/* A call that does nothing but name a file in its line. */
static void use(int fd)
{
	struct stat st;

	syscall(SYS_fstat, fd, &st);
}

static void wait_for(pid_t pid)
{
	int status;

	check(waitpid(pid, &status, 0) == pid, "waitpid");
	check(WIFEXITED(status) && !WEXITSTATUS(status), "the child failed");
}

static int open_in(const char *name, int flags)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, flags | O_CREAT, 0600);
	check(fd >= 0, path);
	return fd;
}

/* ---- files that are passed ---- */

#define N_PASSED 6
#define N_MANY 253 /* the kernel's SCM_MAX_FD */

static void send_files(int sock, const int *fds, int n)
{
	char byte = 'x', control[CMSG_SPACE(N_MANY * sizeof(int))] = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	check(sendmsg(sock, &m, 0) == 1, "sendmsg");
}

/* Receives with room for @n files; returns how many came. */
static int receive_files(int sock, int *fds, int n, int flags)
{
	char byte, control[CMSG_SPACE(N_MANY * sizeof(int))] = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = CMSG_LEN(n * sizeof(int))};
	struct cmsghdr *c;
	int got;

	check(recvmsg(sock, &m, flags) == 1, "recvmsg");
	c = CMSG_FIRSTHDR(&m);
	check(c && c->cmsg_type == SCM_RIGHTS, "no files came");
	got = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(c), got * sizeof(int));
	return got;
}

static void receiver(int sock)
{
	int fds[N_PASSED], n, null;

	n = receive_files(sock, fds, N_PASSED, 0);
	check(n == N_PASSED, "some files are missing");
	for (int i = 0; i < n; i++)
		tell("all", fds[i]);
	for (int i = 0; i < n; i++)
		use(fds[i]);
	n = receive_files(sock, fds, 2, MSG_CMSG_CLOEXEC);
	check(n == 2, "the message was not cut");
	tell("cut", fds[0]);
	tell("cut", fds[1]);
	use(fds[0]);
	use(fds[1]);
	null = open("/dev/null", O_RDONLY);
	use(null);
	execl("/proc/self/exe", "prog", "use", NULL);
	check(0, "execl");
}

static void passed(void)
{
	int pair[2], ends[2], fds[N_PASSED], listener = socket(AF_INET, SOCK_STREAM, 0);
	pid_t pid;

	check(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair) && !pipe(ends), "socketpair");
	check(!listen(listener, 1), "listen");
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		close(listener);
		close_range(ends[0], ends[1], 0);
		receiver(pair[1]);
	}
	fds[0] = open_in("passed", O_RDWR);
	fds[1] = open(dir, O_RDONLY | O_DIRECTORY);
	fds[2] = ends[0];
	fds[3] = eventfd(0, 0);
	fds[4] = memfd_create("shown", 0);
	fds[5] = listener;
	send_files(pair[0], fds, N_PASSED);
	send_files(pair[0], fds, N_PASSED);
	wait_for(pid);
}

/* Sends as many files as a message can have, then three messages at once: with a file, without,
 * with one. */
static void many_receiver(int sock)
{
	char bytes[3], control[3][CMSG_SPACE(sizeof(int))] = {{0}};
	struct mmsghdr m[3] = {0};
	struct iovec iov[3];
	int fds[N_MANY];

	check(receive_files(sock, fds, N_MANY, 0) == N_MANY, "some files are missing");
	tell("last", fds[N_MANY - 1]);
	use(fds[N_MANY - 1]);
	for (int i = 0; i < 3; i++) {
		iov[i] = (struct iovec){&bytes[i], 1};
		m[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i],
					       .msg_iovlen = 1,
					       .msg_control = control[i],
					       .msg_controllen = sizeof(control[i])};
	}
	check(recvmmsg(sock, m, 3, 0, NULL) == 3, "recvmmsg");
	for (int i = 0; i < 3; i += 2) {
		memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&m[i].msg_hdr)), sizeof(int));
		tell("mmsg", fds[0]);
		use(fds[0]);
	}
	_exit(0);
}

static void many(void)
{
	int pair[2], fds[N_MANY], other;
	pid_t pid;

	check(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), "socketpair");
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		many_receiver(pair[1]);
	}
	for (int i = 0; i < N_MANY - 1; i++)
		fds[i] = pair[0];
	fds[N_MANY - 1] = open_in("last", O_RDWR);
	send_files(pair[0], fds, N_MANY);
	other = open_in("other", O_RDWR);
	send_files(pair[0], &fds[N_MANY - 1], 1);
	check(send(pair[0], "x", 1, 0) == 1, "send");
	send_files(pair[0], &other, 1);
	wait_for(pid);
}

/* After the exec: prints which descriptors are still open. */
static void use_all(void)
{
	for (int fd = 3; fd < 16; fd++)
		use(fd);
}

/* ---- pidfd_getfd ---- */

static void getfd(void)
{
	int fd = open_in("theirs", O_RDONLY), pidfd, got, ends[2];
	char byte;
	pid_t pid;

	check(!pipe(ends), "pipe");
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	close(fd);
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	check(pidfd >= 0, "pidfd_open");
	got = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	check(got >= 0, "pidfd_getfd");
	tell("got", got);
	use(got);
	close(ends[1]);
	wait_for(pid);
}

/* ---- terminals ---- */

static void terminal(void)
{
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY), unlock = 0, other;

	check(master >= 0 && !ioctl(master, TIOCSPTLCK, &unlock), "/dev/ptmx");
	other = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	check(other >= 0, "TIOCGPTPEER");
	tell(ttyname(other), other);
	use(other);
}

/* ---- datagrams without a connection ---- */

static struct sockaddr_in own_address(int fd)
{
	struct sockaddr_in in;
	socklen_t len = sizeof(in);

	check(!getsockname(fd, (struct sockaddr *)&in, &len), "getsockname");
	return in;
}

static void datagrams(void)
{
	struct sockaddr_in in = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}}, from;
	const int server = socket(AF_INET, SOCK_DGRAM, 0), client = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(from);
	char byte;

	check(!bind(server, (struct sockaddr *)&in, sizeof(in)), "bind");
	use(server);
	in = own_address(server);
	for (int i = 0; i < 2; i++) {
		check(sendto(client, "x", 1, 0, (struct sockaddr *)&in, sizeof(in)) == 1, "sendto");
		use(client);
		check(recvfrom(server, &byte, 1, 0, (struct sockaddr *)&from, &len) == 1,
		      "recvfrom");
		use(server);
		check(sendto(server, "y", 1, 0, (struct sockaddr *)&from, len) == 1, "sendto");
		use(server);
		check(recvfrom(client, &byte, 1, 0, (struct sockaddr *)&from, &len) == 1,
		      "recvfrom");
		use(client);
	}
	tell("server", ntohs(in.sin_port));
	tell("client", ntohs(own_address(client).sin_port));
}

/* ---- tables and directories that are shared, or not any more ---- */

struct sharing {
	pthread_barrier_t step;
	int mine, theirs;
};

static void *unsharer(void *arg)
{
	struct sharing *s = arg;

	check(!unshare(CLONE_FILES | CLONE_FS), "unshare");
	check(!chdir(dir), "chdir");
	s->theirs = open("relative", O_RDONLY | O_CREAT, 0600);
	tell("theirs", s->theirs);
	use(s->theirs);
	pthread_barrier_wait(&s->step);
	pthread_barrier_wait(&s->step);
	return NULL;
}

static void unshares(void)
{
	struct sharing s;
	pthread_t t;

	check(!chdir("/"), "chdir");
	pthread_barrier_init(&s.step, NULL, 2);
	check(!pthread_create(&t, NULL, unsharer, &s), "pthread_create");
	pthread_barrier_wait(&s.step);
	s.mine = open("dev/null", O_RDONLY);
	check(s.mine == s.theirs, "another number");
	use(s.mine);
	pthread_barrier_wait(&s.step);
	pthread_join(t, NULL);
}

static char stack[65536];

static int shared_child(void *arg)
{
	(void)arg;
	check(!chdir(dir), "chdir");
	check(open("relative", O_RDONLY | O_CREAT, 0600) == 7, "not 7");
	return 0;
}

/* A process that shares files and directory with its parent, which goes on with them. */
static void shares(void)
{
	pid_t pid;
	int fd;

	check(!chdir("/") && dup2(1, 5) == 5 && dup2(1, 6) == 6 && !close_range(3, 4, 0), "chdir");
	check(dup2(1, 3) == 3 && dup2(1, 4) == 4, "dup2");
	pid = clone(shared_child, stack + sizeof(stack), CLONE_FILES | CLONE_FS | SIGCHLD, NULL);
	check(pid > 0, "clone");
	wait_for(pid);
	use(7);
	fd = open("here", O_RDONLY | O_CREAT, 0600);
	check(fd == 8, "not 8");
	use(fd);
}

static void close_ranges(void)
{
	int a = open_in("a", O_RDONLY), b = open_in("b", O_RDONLY), c = open_in("c", O_RDONLY);
	pid_t pid;

	tell("a", a);
	tell("b", b);
	tell("c", c);
	pid = fork();
	if (pid == 0) {
		check(!syscall(SYS_close_range, b, ~0u, CLOSE_RANGE_CLOEXEC), "close_range");
		use(b);
		execl("/proc/self/exe", "prog", "use", NULL);
	}
	wait_for(pid);
	check(!syscall(SYS_close_range, b, b, CLOSE_RANGE_UNSHARE), "close_range");
	use(a);
	use(b);
	use(c);
}

/* ---- another root ---- */

static void chroots(void)
{
	int fd;

	check(!chroot(dir) && !chdir("/"), "chroot");
	mkdir("sub", 0700);
	fd = open("/sub/../../f", O_RDONLY | O_CREAT, 0600);
	check(fd >= 0, "open");
	use(fd);
	check(!chdir("sub"), "chdir");
	fd = open("g", O_RDONLY | O_CREAT, 0600);
	use(fd);
}

/* ---- processes ---- */

/* A child in a namespace where it is 1, and a child of that. */
static void pidns(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID)) {
		puts("cannot");
		exit(0);
	}
	pid = fork();
	if (pid == 0) {
		pid_t grandchild;

		check(getpid() == 1, "not the first");
		prctl(PR_SET_NAME, "first");
		grandchild = fork();
		if (grandchild == 0) {
			prctl(PR_SET_NAME, "second");
			use(open_in("second", O_RDONLY));
			_exit(0);
		}
		wait_for(grandchild);
		_exit(0);
	}
	tell("child", pid);
	wait_for(pid);
}

/* A thread execs, with files that are not the leader's. */
static void *execer(void *arg)
{
	(void)arg;
	check(!unshare(CLONE_FILES), "unshare");
	check(dup2(open_in("own", O_RDONLY), 9) == 9, "dup2");
	execl("/proc/self/exe", "prog", "use", NULL);
	return NULL;
}

static void thread_exec(void)
{
	pthread_t t;

	check(dup2(open_in("leaders", O_RDONLY), 9) == 9, "dup2");
	check(!pthread_create(&t, NULL, execer, NULL), "pthread_create");
	for (;;)
		pause();
}

static void vforks(void)
{
	int fd = open_in("kept", O_RDONLY);
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/proc/self/exe", "prog", "use", NULL);
		_exit(1);
	}
	wait_for(pid);
	tell("fd", fd);
	use(fd);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"passed", passed},     {"many", many},           {"getfd", getfd},
		{"terminal", terminal}, {"datagrams", datagrams}, {"unshares", unshares},
		{"shares", shares},     {"pidns", pidns},         {"close_ranges", close_ranges},
		{"chroots", chroots},   {"vforks", vforks},       {"thread_exec", thread_exec},
		{"use", use_all},
	};

	dir = argc > 2 ? argv[2] : "";
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	return 2;
}
