/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls without frame pointers, exactly as deep as it prints, with cases between that unwinders
 * find hard: a library function that calls back, a signal handler, an aligned stack. It uses as
 * many milliseconds of CPU time as its argument says, and prints the number of frames below its
 * last call.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DEPTH 20

static volatile unsigned long sink;
static double seconds;

__attribute__((noinline)) void at_the_bottom(void)
{
	struct timespec t;

	do {
		for (int i = 0; i < 100000; i++)
			sink += i;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec + t.tv_nsec / 1e9 < seconds);
}

__attribute__((noinline)) int down(int n, int (*next)(int))
{
	volatile char room[48];

	room[n & 31] = (char)n;
	sink += n ? (unsigned long)down(n - 1, next) : (unsigned long)next(n);
	return room[n & 31];
}

static int last(int n)
{
	at_the_bottom();
	return n + 1;
}

static int compare(const void *a, const void *b)
{
	static int once;

	if (!once++)
		sink += (unsigned long)down(DEPTH, last);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) int aligned(int n)
{
	volatile char wide[100] __attribute__((aligned(64)));
	volatile char *more = __builtin_alloca((size_t)n + 1);
	int v[] = {2, 1};

	wide[n & 63] = more[n] = 1;
	qsort(v, 2, sizeof(*v), compare);
	return wide[n & 63] + more[n];
}

static void on_signal(int sig)
{
	sink += (unsigned long)aligned(sig);
}

int main(int argc, char **argv)
{
	seconds = argc > 1 ? atoi(argv[1]) / 1e3 : 1;
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	printf("%d\n", DEPTH);
	return 0;
}
