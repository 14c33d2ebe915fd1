/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes activity for all fields: servers and clients of each family, threads, a chain of programs
 * in their own session, paths, polls and log messages. It ends by itself; each step waits for the
 * one before.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int must(int r, const char *what)
{
	if (r < 0)
		err(1, "%s", what);
	return r;
}

static void talk(int client, int server)
{
	char buf[16];

	must(send(client, "ping", 4, 0), "send");
	must(recv(server, buf, sizeof(buf), 0), "recv");
	must(write(server, "pong!", 5), "write");
	must(read(client, buf, sizeof(buf)), "read");
}

/* A stream's server and client, by their addresses; a poll of both ends. */
static void stream(const struct sockaddr *addr, socklen_t len)
{
	int listening = must(socket(addr->sa_family, SOCK_STREAM, 0), "socket");
	int client = must(socket(addr->sa_family, SOCK_STREAM, 0), "socket"), server;
	struct sockaddr_storage bound = {0};
	socklen_t n = sizeof(bound);
	struct pollfd fds[3];

	must(bind(listening, addr, len), "bind");
	must(listen(listening, 1), "listen");
	must(getsockname(listening, (struct sockaddr *)&bound, &n), "getsockname");
	must(connect(client, (struct sockaddr *)&bound, n), "connect");
	server = must(accept(listening, NULL, NULL), "accept");
	talk(client, server);
	fds[0] = (struct pollfd){.fd = listening, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = client, .events = POLLOUT};
	fds[2] = (struct pollfd){.fd = server, .events = POLLOUT};
	must(poll(fds, 3, 0), "poll");
	close(server);
	close(client);
	close(listening);
}

static void datagrams(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int server = must(socket(AF_INET, SOCK_DGRAM, 0), "socket");
	int client = must(socket(AF_INET, SOCK_DGRAM, 0), "socket");
	socklen_t n = sizeof(to);
	char buf[16];

	must(bind(server, (struct sockaddr *)&to, sizeof(to)), "bind");
	must(getsockname(server, (struct sockaddr *)&to, &n), "getsockname");
	must(sendto(client, "a", 1, 0, (struct sockaddr *)&to, sizeof(to)), "sendto");
	must(recvfrom(server, buf, sizeof(buf), 0, NULL, NULL), "recvfrom");
	close(client);
	close(server);
}

static void sockets(const char *place)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int pair[2], log;

	snprintf(un.sun_path, sizeof(un.sun_path), "%s/dev/log", place);
	stream((struct sockaddr *)&v4, sizeof(v4));
	datagrams();
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	talk(pair[0], pair[1]);
	must(mkdir("dev", 0700), "mkdir");
	stream((struct sockaddr *)&un, sizeof(un));
	must(unlink("dev/log"), "unlink");
	log = must(socket(AF_UNIX, SOCK_DGRAM, 0), "socket");
	must(bind(log, (struct sockaddr *)&un, sizeof(un)), "bind");
	must(connect(pair[0] = must(socket(AF_UNIX, SOCK_DGRAM, 0), "socket"),
		     (struct sockaddr *)&un, sizeof(un)),
	     "connect");
	must(write(pair[0], "<86>sshd: it's me", 17), "write");
	/* A machine may have no IPv6. */
	log = socket(AF_INET6, SOCK_STREAM, 0);
	if (log >= 0 && !bind(log, (struct sockaddr *)&v6, sizeof(v6)))
		stream((struct sockaddr *)&v6, sizeof(v6));
}

static void files(void)
{
	char buf[8];
	int fd = must(open("./a//b.txt", O_RDWR | O_CREAT, 0600), "open"), dir, p[2];

	must(write(fd, "text", 4), "write");
	must(lseek(fd, 0, SEEK_SET), "lseek");
	must(read(fd, buf, sizeof(buf)), "read");
	must(fchmod(fd, 0644), "fchmod");
	close(fd);
	(void)!open("missing/file", O_RDONLY);
	(void)!open("/nowhere", O_RDONLY);
	dir = must(open("a", O_RDONLY | O_DIRECTORY), "open");
	fd = must(openat(dir, "b.txt", O_RDONLY), "openat");
	close(fd);
	must(renameat(dir, "b.txt", AT_FDCWD, "c.txt"), "renameat");
	must(symlink("../c.txt", "a/link"), "symlink");
	must(link("c.txt", "hard"), "link");
	must(chmod("hard", 0600), "chmod");
	must(unlinkat(dir, "link", 0), "unlinkat");
	must(unlink("hard"), "unlink");
	must(pipe(p), "pipe");
	must(write(p[1], "x", 1), "write");
	must(read(p[0], buf, 1), "read");
	must(dup2(p[0], 70), "dup2");
	close(70);
	close(99);
	must(chdir("a"), "chdir");
	must(open("../c.txt", O_RDONLY), "open");
	must(chdir(".."), "chdir");
}

static void *work(void *arg)
{
	prctl(PR_SET_NAME, arg);
	must(open("/dev/null", O_WRONLY), "open");
	getppid();
	return NULL;
}

static void threads(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, i ? "worker" : "w \t\x01");
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) != pid)
		;
}

/* Programs one under the other: a session, a group in it, and at the end a child that outlives
 * its parent. */
static void generation(int n, char **argv)
{
	char text[16];
	int p[2];
	pid_t pid;

	getppid();
	if (n == 3) {
		must(pipe(p), "pipe");
		pid = must(fork(), "fork");
		if (!pid) {
			close(p[1]);
			must(read(p[0], text, 1), "read"); /* until the parent is gone */
			getppid();
			_exit(0);
		}
		return;
	}
	pid = must(fork(), "fork");
	if (!pid) {
		if (n == 0)
			must(setsid(), "setsid");
		if (n == 1)
			must(setpgid(0, 0), "setpgid");
		snprintf(text, sizeof(text), "%d", n + 1);
		setenv("GENERATION", text, 1);
		execl(argv[0], n == 1 ? "-sh" : "prog", text, "", "two words", NULL);
		err(1, "%s", argv[0]);
	}
	wait_for(pid);
	getppid();
}

/* A session and a group whose numbers are others outside. Not everybody may. */
static void namespace_of_pids(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		return;
	pid = must(fork(), "fork");
	if (!pid) {
		must(setsid(), "setsid");
		getppid();
		pid = must(fork(), "fork");
		if (!pid) {
			must(setpgid(0, 0), "setpgid");
			getppid();
			_exit(0);
		}
		wait_for(pid);
		_exit(0);
	}
	wait_for(pid);
}

int main(int argc, char **argv)
{
	char self[256] = {0};

	must(readlink("/proc/self/exe", self, sizeof(self) - 1), "readlink");
	argv[0] = self;
	if (argc > 1 && argv[1][0] != '/') {
		generation(atoi(argv[1]), argv);
		return 0;
	}
	must(chdir(argv[1]), "chdir");
	must(mkdir("a", 0700), "mkdir");
	files();
	sockets(argv[1]);
	threads();
	generation(0, argv);
	namespace_of_pids();
	return 0;
}
