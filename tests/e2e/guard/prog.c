/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prog DIR: two threads, one of which changes the path that the other has handed to a call.
 *
 * First while the call sleeps: open("fifo") waits for a writer, who overwrites the name before it
 * opens the other end. Then as fast as it can, while the other opens DIR/a or DIR/b, 5000 times.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile char name[8] = "fifo";
static volatile int stop;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(99);
}

/* Returns whether thread @tid of this process is asleep. */
static int asleep(int tid)
{
	char path[64], line[256];
	FILE *f;
	int state = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	must(f && fgets(line, sizeof(line), f), path);
	fclose(f);
	if (strrchr(line, ')'))
		state = strrchr(line, ')')[2];
	return state == 'S';
}

static void on_cpu(int n)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(n, &set);
	sched_setaffinity(0, sizeof(set), &set); /* on a machine with one CPU it stays there */
}

static void *change(void *arg)
{
	while (!asleep(*(int *)arg))
		sched_yield();
	name[0] = 'g';
	must(open("fifo", O_WRONLY) >= 0, "fifo");
	on_cpu(1);
	name[1] = '\0';
	while (!stop) {
		name[0] = 'a';
		__asm__ volatile("" ::: "memory");
		name[0] = 'b';
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int tid = getpid();
	pthread_t thread;

	must(argc == 2 && !chdir(argv[1]), "chdir");
	must(!mkfifo("fifo", 0600), "mkfifo");
	must(!close(creat("a", 0600)) && !close(creat("b", 0600)), "creat");
	must(!pthread_create(&thread, NULL, change, &tid), "pthread_create");
	must(open((char *)name, O_RDONLY) >= 0, "fifo");
	on_cpu(0);
	while (name[1])
		sched_yield();
	for (int i = 0; i < 5000; i++)
		close(open((char *)name, O_RDONLY));
	stop = 1;
	pthread_join(thread, NULL);
	unlink("none");
	return 0;
}
