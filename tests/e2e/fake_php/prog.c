/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks like PHP 8.2 to a walker, with frames that no interpreter has: fake_php WHAT. It runs what
 * looks like the loop for a second.
 *
 *	circle    a frame is its own caller
 *	in_c      the same, of a function in C, which is no frame of the stack
 *	unmapped  the frame is not in memory
 *	function  the function is not in memory
 *	names     the texts of the function claim to have 2^60 characters
 *	changing  another thread changes the frame, and its function, all the time
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PUBLIC __attribute__((visibility("default"), used))
#define OUTERMOST (1u << 17)

/* Offsets as in php.def. */
PUBLIC uint64_t executor_globals[225];
PUBLIC void *zend_execute_ex;
static uint64_t code[16], text[8], type[4];
static volatile uint64_t frame[16], function[32];
static volatile int stop;

static void set(volatile uint64_t *v, size_t at, uint64_t to)
{
	v[at / 8] = to;
}

static void *change(void *arg)
{
	uint64_t i = 0;

	while (!stop) {
		set(frame, 48, ++i & 1 ? (uintptr_t)frame : 0);
		set(frame, 24, i & 2 ? (uintptr_t)function : 8);
		set(function, 8, i & 4 ? (uintptr_t)text : i * 0x9e3779b97f4a7c15u);
		set(function, 80, i * 0x9e3779b97f4a7c15u);
	}
	return arg;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

PUBLIC __attribute__((noinline)) int execute_ex(const char *what)
{
	const double end = now() + 1;
	int n = 0;

	set(executor_globals, 488, strcmp(what, "unmapped") ? (uintptr_t)frame : 0x1000);
	while (now() < end)
		for (volatile int i = 0; i < 20000; i++)
			n += i;
	return n;
}

PUBLIC __attribute__((noinline)) int run(const char *what)
{
	return execute_ex(what) + 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t changer;
	int r;

	puts("X-Powered-By: PHP/8.2.0");
	set(frame, 0, (uintptr_t)code);
	set(frame, 24, (uintptr_t)function);
	set(frame, 40, strcmp(what, "circle") && strcmp(what, "in_c") ? OUTERMOST : 0);
	set(frame, 48, (uintptr_t)frame);
	set(function, 0, strcmp(what, "in_c") ? 2 : 1);
	set(function, 8, (uintptr_t)text);
	set(function, 16, (uintptr_t)type);
	set(function, 80, 4);
	set(function, 88, (uintptr_t)code);
	set(function, 152, (uintptr_t)text);
	type[1] = (uintptr_t)text;
	text[2] = 1ull << 60;
	if (!strcmp(what, "function"))
		set(frame, 24, 0x1000);
	if (!strcmp(what, "changing") && pthread_create(&changer, NULL, change, NULL))
		return 2;
	r = run(what);
	stop = 1;
	if (!strcmp(what, "changing"))
		pthread_join(changer, NULL);
	return !r;
}
