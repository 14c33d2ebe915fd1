/* SPDX-License-Identifier: Apache-2.0 */
/* Makes threads that get names in every way, and processes that these start; each makes the calls
 * that the test's filters select. Waits for a line on standard input; argument: a directory. */
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
#include <unistd.h>

static const char *dir;
static int kept, udp;
static struct sockaddr_in to;
static pthread_barrier_t turn;
static pid_t other_tid;

/* Calls of each thread and process under each of its names. */
static void act(void)
{
	char path[4096], c;
	int fd;

	for (int i = 0; i < 5; i++) {
		syscall(SYS_getppid);
		snprintf(path, sizeof(path), "%s/pd-file", dir);
		fd = open(path, O_RDONLY);
		if (fd < 0 || read(fd, &c, 1) != 1)
			exit(1);
		close(fd);
		open("/nonexistent/pd-file", O_RDONLY);
		if (pread(kept, &c, 1, 0) != 1 ||
		    sendto(udp, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)) != 1 ||
		    recv(udp, &c, 1, 0) != 1)
			exit(2);
	}
}

static void *thread(void *arg)
{
	(void)arg;
	other_tid = (pid_t)syscall(SYS_gettid);
	act();
	prctl(PR_SET_NAME, "pdone");
	act();
	pthread_barrier_wait(&turn); /* its name is changed meanwhile */
	pthread_barrier_wait(&turn);
	act();
	prctl(PR_SET_NAME, "pdend");
	return NULL;
}

static void rename_other(const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", other_tid);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, name, strlen(name)) < 0)
		exit(3);
	close(fd);
}

static void in_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		act();
		prctl(PR_SET_NAME, "pdthree");
		act();
		execl("/proc/self/exe", "pdexec", dir, "exec", NULL);
		_exit(4);
	}
	waitpid(pid, NULL, 0);
}

static void open_all(void)
{
	char path[4096];
	socklen_t len = sizeof(to);

	snprintf(path, sizeof(path), "%s/pd-file", dir);
	kept = open(path, O_RDONLY);
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	to.sin_family = AF_INET;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (kept < 0 || bind(udp, (struct sockaddr *)&to, len) ||
	    getsockname(udp, (struct sockaddr *)&to, &len))
		exit(5);
}

int main(int argc, char **argv)
{
	pthread_t t;
	char c;

	dir = argv[1];
	open_all();
	if (argc > 2) {
		act();
		return 0;
	}
	if (read(0, &c, 1) != 1)
		return 6;
	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&t, NULL, thread, NULL);
	act();
	pthread_barrier_wait(&turn);
	rename_other("pdtwo");
	prctl(PR_SET_NAME, "pdleader");
	pthread_barrier_wait(&turn);
	act();
	pthread_join(t, NULL);
	in_child();
	return 0;
}
