// SPDX-License-Identifier: Apache-2.0
/* The thread "holder" holds a mutex until the input ends; "waiter" waits for it, half a second at a
 * time. Prints the TID of each. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_mutex(void *arg)
{
	struct timespec until;

	pthread_setname_np(pthread_self(), "waiter");
	printf("%d\n", gettid());
	fflush(stdout);
	do {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 500000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
	} while (pthread_mutex_timedlock(&mutex, &until));
	return arg;
}

int main(void)
{
	pthread_t waiter;
	char byte;

	pthread_setname_np(pthread_self(), "holder");
	pthread_mutex_lock(&mutex);
	printf("%d ", gettid());
	pthread_create(&waiter, NULL, wait_for_mutex, NULL);
	while (read(0, &byte, 1) == 1)
		;
	pthread_mutex_unlock(&mutex);
	return pthread_join(waiter, NULL);
}
