/* SPDX-License-Identifier: Apache-2.0 */
/* Makes execs, renames and page faults in several processes per CPU, which real-time threads
 * preempt anywhere. Prints the number of calls of each kind. prog ROUNDS */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 3 /* per CPU */
#define PAGES 32
#define HOG_NS 100000
#define HOG_PERIOD_NS 350000
#define STACK_SZ 65536

static atomic_int done;
static volatile unsigned long spins;

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* Sleeps and burns in turn, above everything else on its CPU. */
static void *hog(void *arg)
{
	const struct sched_param top = {.sched_priority = 50};
	const struct timespec nap = {.tv_nsec = HOG_PERIOD_NS - HOG_NS};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((long)arg, &one);
	pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &top))
		fprintf(stderr, "no SCHED_FIFO here\n");
	while (!atomic_load(&done)) {
		const long long end = now_ns() + HOG_NS;

		nanosleep(&nap, NULL);
		while (now_ns() < end + HOG_PERIOD_NS - HOG_NS)
			spins++;
	}
	return NULL;
}

static void fault(void)
{
	const long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	for (int i = 0; p != MAP_FAILED && i < PAGES; i++)
		p[i * page] = 1;
	munmap(p, PAGES * page);
}

static void run(const char *self)
{
	pid_t pid = vfork();

	if (!pid) {
		execl(self, self, "0", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void work(const char *self, int rounds)
{
	char name[16];

	for (int i = 0; i < rounds; i++) {
		run(self);
		for (int j = 0; j < 20; j++) {
			snprintf(name, sizeof(name), "worker-%d", (i * 20 + j) % 1000);
			prctl(PR_SET_NAME, name);
			syscall(SYS_getppid);
		}
		fault();
	}
}

int main(int argc, char **argv)
{
	const long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const int rounds = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t hogs[n_cpus];
	pthread_attr_t attr;
	int status, bad = 0;

	if (!rounds) /* what the workers execute */
		return 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SZ);
	for (long i = 0; i < n_cpus; i++)
		pthread_create(&hogs[i], &attr, hog, (void *)i);
	for (long i = 0; i < WORKERS * n_cpus; i++)
		if (!fork()) {
			work(argv[0], rounds);
			_exit(0);
		}
	for (long i = 0; i < WORKERS * n_cpus; i++)
		bad |= wait(&status) < 0 || status;
	atomic_store(&done, 1);
	for (long i = 0; i < n_cpus; i++)
		pthread_join(hogs[i], NULL);
	printf("execs %ld\n", WORKERS * n_cpus * rounds);
	printf("calls %ld\n", WORKERS * n_cpus * rounds * 20);
	return bad ? 1 : 3;
}
