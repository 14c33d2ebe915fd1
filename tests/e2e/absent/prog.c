/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls whose texts lie in pages that are not in memory when they enter: the kernel brings them in
 * when it reads them. prog DIR drop: of a file, dropped before each call; prog DIR slow: they come
 * from another process, for which the call waits; prog DIR threads: as drop, beside a thread. Each
 * text has a name of its own, absent-N.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES 256

static char *texts; /* read by the calls; a text is the first of its page */
static char *source; /* where they are made: the same file, or what the other process has */
static int n_texts;
static int slow;

static int must(long r, const char *what)
{
	if (r < 0)
		err(1, "%s", what);
	return (int)r;
}

/* Bytes for the next call, which are not in memory. */
static char *absent_bytes(const void *bytes, size_t n)
{
	if (n_texts == PAGES)
		errx(1, "too many texts");
	memcpy(source + n_texts * PAGE, bytes, n);
	return texts + n_texts++ * PAGE;
}

/* The name with this number. */
static char *absent(int i)
{
	char text[32];

	snprintf(text, sizeof(text), "absent-%d", i);
	return absent_bytes(text, strlen(text) + 1);
}

/* The texts leave memory, and the call is made. */
static long call(long nr, const long *a)
{
	if (!slow)
		must(madvise(texts, PAGES * PAGE, MADV_DONTNEED), "madvise");
	return syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#define P(x) ((long)(x))
#define CALL(name, ...) call(SYS_##name, (const long[6]){__VA_ARGS__})

static void one_path(void)
{
	char buf[4096];

	close((int)CALL(open, P(absent(1)), O_RDWR | O_CREAT, 0600));
	close((int)CALL(openat, AT_FDCWD, P(absent(1)), O_RDONLY));
	close((int)CALL(creat, P(absent(2)), 0600));
	CALL(open, P(absent(3)), O_RDONLY);
	CALL(stat, P(absent(1)), P(buf));
	CALL(lstat, P(absent(3)), P(buf));
	CALL(newfstatat, AT_FDCWD, P(absent(1)), P(buf), 0);
	CALL(statx, AT_FDCWD, P(absent(1)), 0, 0x7ff, P(buf));
	CALL(statfs, P(absent(1)), P(buf));
	CALL(access, P(absent(1)), R_OK);
	CALL(faccessat, AT_FDCWD, P(absent(3)), R_OK);
	CALL(chmod, P(absent(1)), 0640);
	CALL(fchmodat, AT_FDCWD, P(absent(3)), 0640);
	CALL(chown, P(absent(1)), -1, -1);
	CALL(lchown, P(absent(1)), -1, -1);
	CALL(fchownat, AT_FDCWD, P(absent(1)), -1, -1, 0);
	CALL(truncate, P(absent(1)), 10);
	CALL(utimensat, AT_FDCWD, P(absent(1)), 0, 0);
	CALL(mkdir, P(absent(4)), 0700);
	CALL(mkdirat, AT_FDCWD, P(absent(4)), 0700);
	CALL(chdir, P(absent(3)));
	CALL(readlink, P(absent(1)), P(buf), sizeof(buf));
	CALL(readlinkat, AT_FDCWD, P(absent(1)), P(buf), sizeof(buf));
	CALL(rmdir, P(absent(4)));
	CALL(mknod, P(absent(5)), 0010600, 0);
	CALL(mknodat, AT_FDCWD, P(absent(5)), 0010600, 0);
	CALL(unlink, P(absent(5)));
	CALL(unlinkat, AT_FDCWD, P(absent(5)), 0);
	CALL(chroot, P(absent(3)));
	CALL(umount2, P(absent(3)), 0);
	close((int)CALL(memfd_create, P(absent(6)), 0));
}

static void two_paths(void)
{
	CALL(link, P(absent(1)), P(absent(11)));
	CALL(linkat, AT_FDCWD, P(absent(11)), AT_FDCWD, P(absent(12)), 0);
	CALL(symlink, P(absent(11)), P(absent(13)));
	CALL(symlinkat, P(absent(11)), AT_FDCWD, P(absent(14)));
	CALL(rename, P(absent(11)), P(absent(15)));
	CALL(renameat, AT_FDCWD, P(absent(12)), AT_FDCWD, P(absent(16)));
	CALL(renameat2, AT_FDCWD, P(absent(3)), AT_FDCWD, P(absent(17)), 0);
	CALL(mount, P(absent(3)), P(absent(18)), P(absent(19)), 0, 0);
	CALL(mkdir, P(absent(7)), 0700);
	CALL(pivot_root, P(absent(7)), P(absent(18))); /* read one after the other */
	CALL(setxattr, P(absent(3)), P(absent(20)), P("v"), 1, 0);
	CALL(getxattr, P(absent(3)), P(absent(20)), 0, 0);
}

static long unix_addr(int i, socklen_t *len)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "absent-%d", i);
	*len = offsetof(struct sockaddr_un, sun_path) + strlen(a.sun_path) + 1;
	return P(absent_bytes(&a, sizeof(a)));
}

static void addresses(void)
{
	int s = must(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
	int d = must(socket(AF_UNIX, SOCK_DGRAM, 0), "socket");
	socklen_t len;
	long addr = unix_addr(21, &len);

	CALL(connect, s, addr, len);
	addr = unix_addr(22, &len);
	CALL(bind, s, addr, len);
	must(listen(s, 1), "listen");
	close(s);
	s = must(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
	addr = unix_addr(22, &len);
	CALL(connect, s, addr, len);
	addr = unix_addr(23, &len);
	CALL(sendto, d, P("x"), 1, 0, addr, len);
	close(d);
	close(s);
}

struct exec {
	int is_at;
	char *path;
	char *argv[3], *envp[2];
};

static int child(void *arg)
{
	struct exec *x = arg;

	if (x->is_at)
		CALL(execveat, AT_FDCWD, P(x->path), P(x->argv), P(x->envp), 0);
	else
		CALL(execve, P(x->path), P(x->argv), P(x->envp));
	_exit(0);
}

/* In a process of its own, as it may succeed, with shared memory whose pages another process brings
 * in. */
static void exec_it(int is_at, int i)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct exec x = {is_at, absent(i), {absent(30), "exit"}, {absent(31)}};
	const int flags = slow ? CLONE_VM | CLONE_VFORK | SIGCHLD : SIGCHLD;
	pid_t pid = must(clone(child, stack + sizeof(stack), flags, &x), "clone");

	must(waitpid(pid, NULL, 0), "waitpid");
}

static void execs(const char *self)
{
	must(symlink(self, "absent-32"), "symlink");
	exec_it(0, 32);
	exec_it(0, 33);
	exec_it(1, 32);
	exec_it(1, 33);
}

/* The other process brings each page when it is requested. */
static void serve(int uffd)
{
	struct uffd_msg msg;

	while (read(uffd, &msg, sizeof(msg)) == sizeof(msg)) {
		uint64_t at = msg.arg.pagefault.address & ~(uint64_t)(PAGE - 1);
		struct uffdio_copy copy = {
			.dst = at,
			.src = (uint64_t)source + (at - (uint64_t)texts),
			.len = PAGE,
		};

		if (msg.event == UFFD_EVENT_PAGEFAULT && ioctl(uffd, UFFDIO_COPY, &copy) &&
		    errno != EEXIST)
			err(1, "UFFDIO_COPY");
	}
}

/* The process that brings the pages; 0: the kernel has no such thing. */
static pid_t wait_for_pages(void)
{
	int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg;
	pid_t pid;

	if (uffd < 0)
		return 0;
	must(ioctl(uffd, UFFDIO_API, &api), "UFFDIO_API");
	source =
		mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	texts = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (source == MAP_FAILED || texts == MAP_FAILED)
		err(1, "mmap");
	reg = (struct uffdio_register){
		.range = {(uint64_t)texts, PAGES * PAGE},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	must(ioctl(uffd, UFFDIO_REGISTER, &reg), "UFFDIO_REGISTER");
	pid = must(fork(), "fork");
	if (!pid)
		serve(uffd);
	return pid;
}

static void map_file(void)
{
	int fd = must(open("texts", O_RDWR | O_CREAT | O_EXCL, 0600), "texts");

	must(ftruncate(fd, PAGES * PAGE), "ftruncate");
	source = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	texts = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (source == MAP_FAILED || texts == MAP_FAILED)
		err(1, "mmap");
}

static void *stay(void *unused)
{
	pause();
	return unused;
}

int main(int argc, char **argv)
{
	char self[4096] = "";
	pid_t helper = 0;
	pthread_t t;

	if (argc == 2 && !strcmp(argv[1], "exit"))
		return 0;
	if (argc != 3)
		errx(1, "usage: prog DIR drop|slow|threads");
	must(readlink("/proc/self/exe", self, sizeof(self) - 1), "readlink");
	must(chdir(argv[1]), "chdir");
	slow = !strcmp(argv[2], "slow");
	if (slow) {
		helper = wait_for_pages();
		if (!helper)
			return 77;
	} else {
		map_file();
	}
	if (!strcmp(argv[2], "threads") && pthread_create(&t, NULL, stay, NULL))
		errx(1, "pthread_create");
	one_path();
	two_paths();
	addresses();
	execs(self);
	if (helper) {
		must(kill(helper, SIGKILL), "kill");
		must(waitpid(helper, NULL, 0), "waitpid");
	}
	return 0;
}
