/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prog DIR: makes a fixed sequence of system calls in the new directory DIR, on descriptors and a
 * port of its own choice, so that every run on every kernel gives the same lines. It prints
 * nothing: the tests that use it have the sequence.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 40123 };

static void must(long ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(99);
}

static void files(void)
{
	struct stat st;
	char buf[64];

	int fd = openat(AT_FDCWD, "notes.txt", O_CREAT | O_RDWR | O_TRUNC, 0640);
	must(fd == 3, "openat notes.txt");
	must(write(fd, "hello, saker\n", 13) == 13, "write");
	must(lseek(fd, 7, SEEK_SET) == 7, "lseek");
	must(read(fd, buf, sizeof(buf)) == 6, "read");
	must(pwrite(fd, "S", 1, 7) == 1, "pwrite");
	must(pread(fd, buf, 5, 0) == 5, "pread");
	struct iovec iov[2] = {{"one ", 4}, {"two", 3}};
	must(writev(fd, iov, 2) == 7, "writev");
	must(syscall(SYS_fstat, fd, &st) == 0, "fstat");
	must(ftruncate(fd, 5) == 0, "ftruncate");
	must(dup(fd) == 4, "dup");
	must(dup2(fd, 9) == 9, "dup2");
	must(fcntl(fd, F_GETFL) >= 0, "fcntl");
	must(close(4) == 0 && close(9) == 0 && close(fd) == 0, "close");
	must(close(fd) == -1 && errno == EBADF, "close again");
	must(open("missing.txt", O_RDONLY) == -1 && errno == ENOENT, "open missing");
	must(mkdir("sub", 0755) == 0, "mkdir");
	must(rename("notes.txt", "sub/moved.txt") == 0, "rename");
	must(chdir("sub") == 0, "chdir");
	must((fd = open("moved.txt", O_RDONLY | O_CLOEXEC)) == 3, "open moved.txt");
	must(close(fd) == 0, "close");
	must(chdir("..") == 0, "chdir ..");
	must(unlink("sub/moved.txt") == 0 && rmdir("sub") == 0, "unlink");
}

static void child_of_fork(int in, char *self)
{
	char c;

	must(read(in, &c, 1) == 1, "read pipe");
	execl(self, "spine-child", "second", "life", NULL);
	must(0, "execl");
}

/* The child blocks in read until the parent, 20 ms later, writes; then it execs. */
static void processes(char *self)
{
	int p[2], status;
	struct timespec nap = {.tv_nsec = 20000000};

	must(pipe(p) == 0 && p[0] == 3, "pipe");
	pid_t pid = fork();
	must(pid >= 0, "fork");
	if (!pid)
		child_of_fork(p[0], self);
	must(nanosleep(&nap, NULL) == 0, "nanosleep");
	must(write(p[1], "x", 1) == 1, "write pipe");
	must(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7, "waitpid");
	must(close(p[0]) == 0 && close(p[1]) == 0, "close");
}

static void network(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int one = 1;
	char buf[32];

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	must(listener == 3, "socket");
	must(!setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), "setsockopt");
	must(!bind(listener, (struct sockaddr *)&sa, sizeof(sa)), "bind: is port 40123 in use?");
	must(!listen(listener, 5), "listen");
	int client = socket(AF_INET, SOCK_STREAM, 0);
	must(!connect(client, (struct sockaddr *)&sa, sizeof(sa)), "connect");
	int server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	must(server == 5, "accept4");
	must(send(client, "ping", 4, 0) == 4, "send");
	must(recv(server, buf, sizeof(buf), 0) == 4, "recv");
	must(write(server, "pong!", 5) == 5, "write");
	must(read(client, buf, sizeof(buf)) == 5, "read");
	must(!shutdown(client, SHUT_RDWR), "shutdown");
	must(!close(server) && !close(client) && !close(listener), "close");

	sa.sin_port = htons(1);
	client = socket(AF_INET, SOCK_STREAM, 0);
	must(connect(client, (struct sockaddr *)&sa, sizeof(sa)) == -1 && errno == ECONNREFUSED,
	     "connect to port 1");
	must(!close(client), "close");
}

static void unix_sockets(void)
{
	struct sockaddr_un su = {.sun_family = AF_UNIX, .sun_path = "spine.sock"};
	int pair[2];

	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	must(write(pair[0], "u", 1) == 1, "write");
	must(!close(pair[0]) && !close(pair[1]), "close");
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	must(!bind(listener, (struct sockaddr *)&su, sizeof(su)) && !listen(listener, 1), "bind");
	int client = socket(AF_UNIX, SOCK_STREAM, 0);
	must(!connect(client, (struct sockaddr *)&su, sizeof(su)), "connect");
	int server = accept(listener, NULL, NULL);
	must(server == 5, "accept");
	must(!close(server) && !close(client) && !close(listener) && !unlink("spine.sock"),
	     "close");
}

static void on_signal(int sig)
{
	(void)sig;
}

static void waiting(void)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct sigaction sa = {.sa_handler = on_signal};

	int efd = eventfd(1, EFD_NONBLOCK);
	must(efd == 3, "eventfd");
	struct pollfd pfd = {.fd = efd, .events = POLLIN};
	must(poll(&pfd, 1, 1000) == 1, "poll");
	int ep = epoll_create1(0);
	must(!epoll_ctl(ep, EPOLL_CTL_ADD, efd, &ev), "epoll_ctl");
	must(epoll_wait(ep, &ev, 1, 1000) == 1, "epoll_wait");
	must(!close(ep) && !close(efd), "close");
	must(!sigaction(SIGUSR1, &sa, NULL), "sigaction");
	must(!kill(getpid(), SIGUSR1), "kill");
	void *p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(p != MAP_FAILED && !mprotect(p, 4096, PROT_NONE) && !munmap(p, 8192), "mmap");
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "second"))
		return 7;
	must(argc == 2, "usage: prog DIR");
	must(!close_range(3, ~0U, 0), "close_range"); /* the lowest free number is 3 now */
	umask(0);
	must(!mkdir(argv[1], 0700) && !chdir(argv[1]), argv[1]);
	files();
	processes("/proc/self/exe");
	network();
	unix_sockets();
	waiting();
	must(!chdir("/") && !rmdir(argv[1]), "rmdir");
	return 3;
}
