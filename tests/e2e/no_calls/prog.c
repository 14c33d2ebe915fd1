/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes threads that begin, change their names and programs, work and end, all within a capture.
 * Prints a line for each: TID, then for each stage its name, the name of the program's file, its
 * arguments, and the parent's name; in the last stage it works. The argument is ".", the folder in
 * which it runs, which also has the other names of the program.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

/* Computes for 60 ms of CPU time, whatever the load of the machine. */
static void work(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (unsigned int i = 0; i < 20000; i++)
			sink = sink * 31 + i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 60000000);
}

static void become(const char *name)
{
	execl(name, "zero", "one", "two words", (char *)NULL);
	_exit(1);
}

static void renames(void)
{
	work();
	prctl(PR_SET_NAME, "renamed");
	work();
	_exit(0);
}

static void executes(void)
{
	work();
	become("executed");
}

static void executes_twice(void)
{
	execl("again", "zero", "then", "executed", (char *)NULL);
	_exit(1);
}

static void *execute(void *arg)
{
	(void)arg;
	become("by_thread");
	return NULL;
}

static void executes_in_thread(void)
{
	pthread_t t;

	work();
	pthread_create(&t, NULL, execute, NULL);
	pthread_join(t, NULL);
	_exit(1);
}

static void *work_as_thread(void *arg)
{
	*(long *)arg = syscall(SYS_gettid);
	work();
	prctl(PR_SET_NAME, "worker");
	work();
	return NULL;
}

static void run(void (*fn)(void), const char *stages)
{
	const pid_t pid = fork();

	if (!pid)
		fn();
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		exit(1);
	printf("%d%s\n", pid, stages);
}

/* The parent waits in the call until the child has another program. */
static void run_vforked(const char *stages)
{
	const pid_t pid = vfork();

	if (!pid) {
		execl("vforked", "zero", "one", "two words", (char *)NULL);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		exit(1);
	printf("%d%s\n", pid, stages);
}

static void run_thread(const char *stages)
{
	pthread_t t;
	long tid;

	if (pthread_create(&t, NULL, work_as_thread, &tid) || pthread_join(t, NULL))
		exit(1);
	printf("%ld%s\n", tid, stages);
}

#define STAGE(name, file, args, parent) ";" name "|" file "|" args "|" parent
#define FORKED STAGE("no_calls", "no_calls", ".", "no_calls")
#define BECAME(name) STAGE(name, name, "one two words", "no_calls")

int main(int argc, char **argv)
{
	if (argc > 2) { /* another program by now */
		work();
		if (strcmp(argv[1], "then") == 0)
			become(argv[2]);
		return 0;
	}
	run(renames, FORKED STAGE("renamed", "no_calls", ".", "no_calls"));
	run(executes, FORKED BECAME("executed"));
	run(executes_twice,
	    FORKED STAGE("again", "again", "then executed", "no_calls") BECAME("executed"));
	run(executes_in_thread, FORKED BECAME("by_thread"));
	run_vforked(FORKED BECAME("vforked"));
	run_thread(STAGE("no_calls", "no_calls", ".", "") STAGE("worker", "no_calls", ".", ""));
	return 0;
}
