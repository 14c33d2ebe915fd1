// SPDX-License-Identifier: Apache-2.0
/* A thread waits for a mutex, which another one holds for longer than its timeout; a third waits on
 * a condition variable until a timeout. Prints the TIDs: holder, waiter, and that of the third. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t held, done;
static int tids[3];

static struct timespec soon(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 100000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void *hold(void *arg)
{
	pthread_setname_np(pthread_self(), "holder");
	tids[0] = gettid();
	pthread_mutex_lock(&mutex);
	sem_post(&held);
	sem_wait(&done);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void *wait_for_mutex(void *arg)
{
	const struct timespec t = soon();

	tids[1] = gettid();
	pthread_mutex_timedlock(&mutex, &t);
	return arg;
}

static void *wait_for_condition(void *arg)
{
	const struct timespec t = soon();

	tids[2] = gettid();
	pthread_mutex_lock(&other);
	pthread_cond_timedwait(&condition, &other, &t);
	pthread_mutex_unlock(&other);
	return arg;
}

int main(void)
{
	void *(*const run[])(void *) = {hold, wait_for_mutex, wait_for_condition};
	pthread_t threads[3];

	for (int i = 0; i < 3; i++) {
		pthread_create(&threads[i], NULL, run[i], NULL);
		if (!i)
			sem_wait(&held);
	}
	for (int i = 2; i > 0; i--)
		pthread_join(threads[i], NULL);
	sem_post(&done);
	pthread_join(threads[0], NULL);
	printf("%d %d %d\n", tids[0], tids[1], tids[2]);
	return 0;
}
