/* SPDX-License-Identifier: Apache-2.0 */
/* Works, sleeps, waits for its child and faults; prints the depth of its calls, the duration of its
 * sleep, the number of pages that it touches, and its PIDs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 12
#define PAGES 32
#define NAP_NS 30000000

static volatile uint64_t turns;

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Runs until half a second of CPU time is used, whatever the load of the machine. */
__attribute__((noinline)) static uint64_t deep(unsigned int n)
{
	uint64_t r = n;

	if (!n) {
		while (cpu_ns() < 500000000)
			for (int i = 0; i < 1000000; i++)
				turns++;
		return r;
	}
	r = deep(n - 1);
	__asm__ volatile("" : "+r"(r));
	return r;
}

int main(void)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	char *p = mmap(NULL, 4096 * PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	pid_t child;

	if (p == MAP_FAILED)
		return 1;
	madvise(p, 4096 * PAGES, MADV_NOHUGEPAGE);
	deep(DEPTH);
	for (int i = 0; i < PAGES; i++)
		p[4096 * i] = 1;
	nanosleep(&nap, NULL);
	child = fork();
	if (!child) {
		nanosleep(&nap, NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	printf("%d %d %lx %d %d %d\n", getpid(), child, (unsigned long)p, PAGES, DEPTH, NAP_NS);
	return 0;
}
