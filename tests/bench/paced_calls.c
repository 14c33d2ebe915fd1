/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls at a rate: paced_calls RATE SECONDS
 *
 * Calls getppid RATE times a second, some each millisecond, on the CPU that it begins on; RATE 0:
 * as often as it can, on every CPU. Prints how many calls it made.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000ull
#define TURN_NS 1000000ull
#define CALLS_PER_LOOK 256 /* at the clock */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("paced_calls: CPU");
}

static void call(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		syscall(SYS_getppid);
}

/* Returns the number of calls. Behind its time it catches up. */
static uint64_t call_at(uint64_t rate, double seconds)
{
	const uint64_t begin = now_ns(), length = (uint64_t)(seconds * 1e9);
	uint64_t n = 0;

	for (uint64_t at = TURN_NS; at <= length && now_ns() - begin < length; at += TURN_NS) {
		const uint64_t due = rate * at / SECOND_NS, now = now_ns() - begin;

		call(due - n);
		n = due;
		if (now < at)
			usleep((useconds_t)((at - now) / 1000));
	}
	return n;
}

static uint64_t call_always(double seconds)
{
	const uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
	uint64_t n = 0;

	for (; now_ns() < end; n += CALLS_PER_LOOK)
		call(CALLS_PER_LOOK);
	return n;
}

static uint64_t call_everywhere(double seconds)
{
	const long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t sum = 0, n;
	int ends[2];

	if (pipe(ends))
		return 0;
	for (long cpu = 0; cpu < n_cpus; cpu++) {
		if (fork())
			continue;
		stay_on((int)cpu);
		n = call_always(seconds);
		_exit(write(ends[1], &n, sizeof(n)) != sizeof(n));
	}
	close(ends[1]);
	while (read(ends[0], &n, sizeof(n)) == sizeof(n))
		sum += n;
	while (wait(NULL) > 0)
		;
	return sum;
}

int main(int argc, char **argv)
{
	const uint64_t rate = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	const double seconds = argc == 3 ? atof(argv[2]) : 0;

	if (seconds <= 0) {
		fputs("usage: paced_calls RATE SECONDS\n", stderr);
		return 1;
	}
	if (rate)
		stay_on(sched_getcpu());
	printf("%llu\n",
	       (unsigned long long)(rate ? call_at(rate, seconds) : call_everywhere(seconds)));
	return 0;
}
