/* SPDX-License-Identifier: Apache-2.0 */
/* Children that have their parent's stack, and use it for a while. */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned int sink;

__attribute__((noinline)) static unsigned int work(int n)
{
	volatile char room[40];

	room[n & 31] = (char)n;
	for (int i = 0; i < 1000; i++)
		sink += (unsigned int)i;
	return n ? work(n - 1) + (unsigned int)room[n & 31] : sink;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static pid_t give_birth(void)
{
	pid_t pid = vfork();

	if (!pid) {
		/* Leaves time to inspect the child. */
		while (cpu_seconds() < 0.5)
			work(10);
		_exit(0);
	}
	return pid;
}

int main(void)
{
	int status;

	for (;;)
		waitpid(give_birth(), &status, 0);
}
