/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prog DIR PORT CGROUP: makes calls in processes and threads that selections distinguish by name,
 * user, cgroup and descent. It begins when it receives a line, and prints "ROLE TID" of each. prog
 * sup DIR: a process to be left out by name, and its child.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *dir, *port, *cgroup;
static int kept, shared; /* opened before the capture, and by the first process in it */

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void say(const char *role)
{
	char text[64];
	const int n = snprintf(text, sizeof(text), "%s %d\n", role, gettid());

	must(write(1, text, n) == n, "write");
}

static int open_file(const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT, 0666);
	must(fd >= 0, path);
	return fd;
}

/* Descriptors come and go, some calls fail. */
static void files(const char *name)
{
	const int fd = open_file(name), copy = dup(fd);
	char c;

	must(copy >= 0 && write(fd, name, strlen(name)) > 0, name);
	must(!close(fd) && pread(copy, &c, 1, 0) == 1, "pread");
	must(pread(shared, &c, 1, 0) == 1 && pread(kept, &c, 1, 0) == 1, "pread");
	must(dup2(shared, copy) == copy && pread(copy, &c, 1, 0) == 1, "dup2");
	must(read(-1, &c, 1) < 0 && close(999) < 0 && open("/nonexistent", 0) < 0, "a failure");
	must(!close(copy) && fcntl(copy, F_GETFD) < 0, "close");
}

/* Waits in a way that is one call to everybody. */
static void await(pid_t pid)
{
	int status;

	must(syscall(SYS_wait4, pid, &status, 0, NULL) == pid && !status, "a child");
}

static void *worker(void *unused)
{
	files("before");
	prctl(PR_SET_NAME, "selworker");
	say("worker");
	files("worker");
	return unused;
}

static void *threaded(void *unused)
{
	say("childthread");
	prctl(PR_SET_NAME, "selother");
	files("thread");
	return unused;
}

static void with_thread(void *(*run)(void *))
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, run, NULL) && !pthread_join(thread, NULL), "a thread");
}

static void named(void)
{
	say("child");
	prctl(PR_SET_NAME, "selchild");
	files("child");
	with_thread(threaded);
}

static void in_child(void (*run)(void))
{
	const pid_t pid = fork();

	must(pid >= 0, "fork");
	if (!pid) {
		run();
		exit(0);
	}
	await(pid);
}

static void below_nobody(void)
{
	say("belownobody");
	files("anybody");
}

static void as_nobody(void)
{
	say("nobody");
	must(open_file("root") > 2, "open");
	must(!syscall(SYS_setresuid, 65534, 65534, 65534), "setresuid");
	files("anybody");
	must(open("/etc/shadow", O_RDONLY) < 0, "open");
	in_child(below_nobody);
}

static void as_suppressed(void)
{
	char path[4096];

	say("suppressed");
	snprintf(path, sizeof(path), "%s/selsup", dir);
	execl(path, path, "sup", dir, NULL);
	must(0, path);
}

static void below_suppressed(void)
{
	say("belowsuppressed");
	files("below");
}

/* Being moved counts from the next turn on, and from calls on that change what a task is. */
static void in_cgroup(void)
{
	char path[4096], c, number[16];
	int go[2], fd;
	pid_t pid;

	must(!pipe(go), "pipe");
	pid = fork();
	if (!pid) {
		must(read(go[0], &c, 1) == 1, "read");
		prctl(PR_SET_NAME, "selcgroup");
		say("cgroup");
		files("cgroup");
		exit(0);
	}
	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	snprintf(number, sizeof(number), "%d", pid);
	fd = open(path, O_WRONLY);
	must(fd >= 0 && write(fd, number, strlen(number)) > 0, path);
	must(write(go[1], "", 1) == 1, "write");
	await(pid);
}

static void sends(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
	const int fd = socket(AF_INET, SOCK_STREAM, 0), file = open_file("long");
	char text[300];

	memset(text, 'x', sizeof(text));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(!connect(fd, (struct sockaddr *)&to, sizeof(to)), "connect");
	must(write(fd, text, sizeof(text)) == sizeof(text), "write");
	must(write(file, text, sizeof(text)) == sizeof(text), "write");
}

/* Calls in both halves of two seconds, whatever the machine does in between. */
static void samples(void)
{
	const struct timespec nap = {.tv_nsec = 5000000};
	unsigned int changes = 0, n = 0, half, last = 2;
	struct timespec now;

	say("sampled");
	while (changes < 4 || n < 5) {
		clock_gettime(CLOCK_REALTIME, &now);
		half = now.tv_nsec >= 500000000;
		n++;
		if (half != last) {
			last = half;
			n = 0;
			changes++;
		}
		getppid();
		syscall(SYS_nanosleep, &nap, NULL);
	}
}

int main(int argc, char **argv)
{
	char go;

	must(argc >= 3, "usage");
	if (!strcmp(argv[1], "sup")) {
		dir = argv[2];
		kept = open_file("kept");
		shared = open_file("shared");
		files("suppressed");
		in_child(below_suppressed);
		return 0;
	}
	must(argc == 4, "usage");
	dir = argv[1];
	port = argv[2];
	cgroup = argv[3];
	kept = open_file("kept");
	must(read(0, &go, 1) == 1, "read");
	shared = open_file("shared");
	say("main");
	files("main");
	with_thread(worker);
	in_child(named);
	in_child(as_nobody);
	in_child(as_suppressed);
	if (*cgroup)
		in_cgroup();
	sends();
	samples();
	return 0;
}
