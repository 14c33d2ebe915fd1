/* SPDX-License-Identifier: Apache-2.0 */
/* What programs share that look like an interpreter to a walker. */
#ifndef E2E_FAKE_INTERPRETER_H
#define E2E_FAKE_INTERPRETER_H

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define PUBLIC __attribute__((visibility("default"), used))

static volatile int stop; /* for the thread that changes things */
static int changes;
static pthread_t changer;

/* Sets a number of an object, by its offset in bytes. */
static inline void set(volatile uint64_t *v, size_t at, uint64_t to)
{
	v[at / 8] = to;
}

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Uses a CPU for half a second. */
static __attribute__((always_inline)) inline int spin(void)
{
	const double end = now() + 0.5;
	int n = 0;

	while (now() < end)
		for (volatile int i = 0; i < 20000; i++)
			n += i;
	return n;
}

/* Runs @change in another thread if @what is "changing". Returns whether it failed. */
static inline int begin_changes(const char *what, void *(*change)(void *))
{
	changes = !strcmp(what, "changing");
	return changes && pthread_create(&changer, NULL, change, NULL);
}

static inline void end_changes(void)
{
	stop = 1;
	if (changes)
		pthread_join(changer, NULL);
}

#endif /* E2E_FAKE_INTERPRETER_H */
