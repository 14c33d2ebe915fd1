/* SPDX-License-Identifier: Apache-2.0 */
/* FILE MS N: runs until it has used MS milliseconds of CPU time, in N threads of which all but one have a
 * name of their own. Leaves its number and the nanoseconds that it used in FILE. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static unsigned long long used_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (unsigned long long)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static unsigned long long limit_ns;

static void *burn(void *name)
{
	if (name)
		prctl(PR_SET_NAME, name);
	while (used_ns() < limit_ns)
		for (volatile int i = 0; i < 100000; i++)
			;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[8];
	FILE *f = argc == 4 ? fopen(argv[1], "a") : NULL;
	int n = f ? atoi(argv[3]) : 0;

	if (n < 1 || n > 8)
		return 2;
	limit_ns = strtoull(argv[2], NULL, 10) * 1000000;
	for (int i = 1; i < n; i++)
		if (pthread_create(&threads[i], NULL, burn, "top_worker"))
			return 1;
	burn(NULL);
	for (int i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	fprintf(f, "%d %llu\n", (int)getpid(), used_ns());
	return fclose(f) != 0;
}
