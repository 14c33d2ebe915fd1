/* SPDX-License-Identifier: Apache-2.0 */
/* brief N AT-A-TIME: starts N processes, each of which executes this program, computes for 20 ms of
 * CPU time in functions with known names, and ends. Without frame pointers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORK_NS 20000000

static volatile unsigned long sink;

static long used_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

__attribute__((noipa)) void innermost(void)
{
	do
		for (int i = 0; i < 10000; i++)
			sink += (unsigned long)i;
	while (used_ns() < WORK_NS);
}

__attribute__((noipa)) int compare(const void *a, const void *b)
{
	innermost();
	return *(const int *)a - *(const int *)b;
}

/* With library code in between. */
__attribute__((noipa)) void outermost(void)
{
	int v[] = {2, 1};

	qsort(v, 2, sizeof(*v), compare);
	sink += (unsigned long)v[0];
}

static int begin_one(const char *self)
{
	const pid_t pid = fork();

	if (pid)
		return pid > 0;
	execl(self, "brief", "work", NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	int left = argc > 2 ? atoi(argv[1]) : 0, running = 0, failed = 0, status;

	if (argc == 2 && !strcmp(argv[1], "work")) {
		outermost();
		return 0;
	}
	for (; left || running; running--) {
		for (; left && running < atoi(argv[2]); running++, left--)
			if (!begin_one(argv[0]))
				return 1;
		if (wait(&status) < 0 || status)
			failed++;
	}
	return failed != 0;
}
