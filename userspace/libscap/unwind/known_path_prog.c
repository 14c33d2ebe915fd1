/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_path_prog [once]: makes calls of many kinds, and keeps their path where a test reads it
 * from a copy of the stack. Each function records where it returns to as it begins, and removes
 * that as it ends: so the path is known at each instruction, except whether it already contains the
 * innermost function. Runs until it is killed, in two threads, interrupted by signals; or once.
 *
 * Prints the address of its path when it begins.
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "known_path.h"

#define APART 40960 /* bytes of stack: more than all calls take */
#define ALTERNATE_SZ 16384

/* In a section of their own, whose ends the linker provides. */
#ifdef __clang__
#define KNOWN __attribute__((noinline, section("known_text")))
#else
#define KNOWN __attribute__((noipa, section("known_text")))
#endif

extern char __start_known_text[], __stop_known_text[];

static __thread volatile struct known_path *path;
static volatile int sink;
static volatile int once;

#define ENTER()                                                                                    \
	do {                                                                                       \
		path->ra[path->n] = (uintptr_t)__builtin_return_address(0);                        \
		path->n++;                                                                         \
		__asm__ volatile("" ::: "memory");                                                 \
	} while (0)

#define LEAVE()                                                                                    \
	do {                                                                                       \
		__asm__ volatile("" ::: "memory");                                                 \
		path->n--;                                                                         \
		__asm__ volatile("" ::: "memory");                                                 \
	} while (0)

/* Nearly all prologue and epilogue. */
KNOWN int tiny(int n)
{
	int r;

	ENTER();
	r = sink + n;
	LEAVE();
	return r;
}

/* Many registers to save. */
KNOWN int crowded(int n)
{
	int a = n, b = n + 1, c = n + 2, d = n + 3, e = n + 4, f = n + 5;

	ENTER();
	a += tiny(a);
	b += tiny(b) ^ a;
	c += tiny(c) ^ b;
	d += tiny(d) ^ c;
	e += tiny(e) ^ d;
	f += tiny(f) ^ e;
	LEAVE();
	return a + b + c + d + e + f;
}

/* Returns early, before anything is saved. */
KNOWN int early(int n)
{
	int r;

	if (__builtin_expect(n & 1, 0))
		return n;
	ENTER();
	r = crowded(n) + tiny(n);
	LEAVE();
	return r;
}

/* Called from two places in turn, so that a missing frame is noticed. */
KNOWN int down(int n)
{
	int r;

	ENTER();
	if (!n)
		r = tiny(1);
	else if (n & 1)
		r = down(n - 1) + 1;
	else
		r = down(n - 1) ^ 2;
	LEAVE();
	return r;
}

KNOWN int pong(int n);

KNOWN int ping(int n)
{
	volatile char room[72];
	int r;

	ENTER();
	room[n & 63] = (char)n;
	r = n ? pong(n - 1) + room[n & 63] : early(2);
	LEAVE();
	return r;
}

KNOWN int pong(int n)
{
	int r;

	ENTER();
	r = n ? ping(n - 1) * 3 : early(4);
	LEAVE();
	return r;
}

/* Takes stack of a size that only the caller knows. */
KNOWN int with_alloca(int n)
{
	volatile char *room;
	int r;

	ENTER();
	room = __builtin_alloca((size_t)n * 16 + 1);
	room[n] = (char)n;
	r = tiny(n) + room[n] + (n > 2 ? with_alloca(n - 2) : down(3));
	LEAVE();
	return r;
}

/* Aligns the stack. */
KNOWN int realigned(int n)
{
	volatile char room[64] __attribute__((aligned(64)));
	int r;

	ENTER();
	room[n & 63] = (char)n;
	r = tiny(n) + room[n & 63] + (n ? realigned(n - 1) : 0);
	LEAVE();
	return r;
}

KNOWN int aligned_alloca(int n)
{
	volatile char room[64] __attribute__((aligned(32)));
	volatile char *more;
	int r;

	ENTER();
	more = __builtin_alloca((size_t)n + 1);
	room[n & 31] = more[n] = (char)n;
	r = tiny(n) + room[n & 31] + more[n] + (n ? aligned_alloca(n - 1) : realigned(1));
	LEAVE();
	return r;
}

/* A frame larger than a page. */
KNOWN int large(int n)
{
	volatile char room[9000];
	int r;

	ENTER();
	room[n] = (char)n;
	r = tiny(room[n]) + early(2);
	LEAVE();
	return r;
}

KNOWN int many(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
	int r;

	ENTER();
	r = a + b + c + d + e + f + g + h + (i ? many(b, c, d, e, f, g, h, i, i - 1) : tiny(a));
	LEAVE();
	return r;
}

KNOWN int variable(int n, ...)
{
	va_list ap;
	int r = 0;

	ENTER();
	va_start(ap, n);
	for (int i = 0; i < n; i++)
		r += tiny(va_arg(ap, int));
	va_end(ap);
	LEAVE();
	return r;
}

struct wide {
	long v[6];
};

KNOWN struct wide by_value(struct wide w, int n)
{
	struct wide r;

	ENTER();
	r = w;
	r.v[n % 6] += tiny(n);
	if (n)
		r = by_value(r, n - 1);
	LEAVE();
	return r;
}

KNOWN double floating(double x, int n)
{
	double r;

	ENTER();
	r = n ? floating(x * 1.5, n - 1) + x : (double)tiny((int)x);
	LEAVE();
	return r;
}

static int (*const volatile table[])(int) = {tiny, crowded,     early,    down,
					     ping, with_alloca, realigned};

KNOWN int indirect(int n)
{
	int r;

	ENTER();
	r = table[n % 7](n & 6) + 1;
	LEAVE();
	return r;
}

KNOWN int jumps(int n)
{
	int r;

	ENTER();
	switch (n % 8) {
	case 0:
		r = tiny(n);
		break;
	case 1:
		r = indirect(n) + 3;
		break;
	case 2:
		r = large(n) - 5;
		break;
	case 3:
		r = variable(3, n, n, n) ^ 9;
		break;
	case 4:
		r = (int)floating(n, 4);
		break;
	case 5:
		r = many(1, 2, 3, 4, 5, 6, 7, 8, 2) + 1;
		break;
	default:
		r = aligned_alloca(n) / 3;
	}
	LEAVE();
	return r;
}

KNOWN int by_number(const void *a, const void *b)
{
	int r;

	ENTER();
	r = *(const int *)a - *(const int *)b + 0 * jumps(*(const int *)a);
	LEAVE();
	return r;
}

/* The library calls back. */
KNOWN int sorted(int n)
{
	int v[] = {5, 3, 8, 1, n}, r;

	ENTER();
	qsort(v, 5, sizeof(*v), by_number);
	r = bsearch(&v[2], v, 5, sizeof(*v), by_number) != NULL;
	LEAVE();
	return r;
}

static __thread jmp_buf back;

KNOWN int jump_back(int n)
{
	int r = 0;

	ENTER();
	if (n) {
		r = jump_back(n - 1) + 1;
	} else if (!once) {
		path->unsure = 1; /* until the target of the jump has its place again */
		longjmp(back, 1);
	}
	LEAVE();
	return r;
}

KNOWN int caught(int n)
{
	volatile uint64_t place;
	int r;

	ENTER();
	place = path->n;
	if (!setjmp(back)) {
		r = jump_back(n);
	} else {
		path->n = place;
		path->unsure = 0;
		r = tiny(n);
	}
	LEAVE();
	return r;
}

/* Through the linkage table, the vDSO, and into the kernel. */
KNOWN int library(int n)
{
	struct timespec t;
	char text[64];
	int r;

	ENTER();
	clock_gettime(CLOCK_MONOTONIC, &t);
	snprintf(text, sizeof(text), "%d %g %ld", n, sin(n), t.tv_nsec);
	r = (int)strtol(text, NULL, 10) + (int)strlen(text) + (getppid() == n);
	LEAVE();
	return r;
}

KNOWN void on_signal(int sig)
{
	/* The interrupted code may have written this, and not yet that it is valid. */
	const uint64_t next = path->ra[path->n];

	ENTER();
	sink += ping(sig % 4) + (sig == SIGUSR1 ? sorted(sig) : 0);
	LEAVE();
	path->ra[path->n] = next;
}

KNOWN int signalled(int n)
{
	int r;

	ENTER();
	r = raise(SIGUSR1) + raise(SIGUSR2) + tiny(n);
	LEAVE();
	return r;
}

/* Stack memory that is no longer in use, and that no call reaches again. */
__attribute__((noinline)) static void set_alternate(void)
{
	volatile char room[ALTERNATE_SZ + APART];
	stack_t stack = {.ss_sp = (void *)room, .ss_size = ALTERNATE_SZ};

	for (size_t i = 0; i < sizeof(room); i += 1024)
		room[i] = 0;
	sigaltstack(&stack, NULL);
}

static void begin(struct known_path *p)
{
	for (int i = 0; i < KNOWN_MAGIC_SZ; i++)
		p->magic[i] = KNOWN_MAGIC(i);
	p->text = (uintptr_t)__start_known_text;
	p->text_end = (uintptr_t)__stop_known_text;
	p->n = p->unsure = 0;
	path = p;
	set_alternate();
}

KNOWN int all_shapes(int n)
{
	struct wide w;
	int r;

	ENTER(); /* first: to set a structure, clang -O0 calls memset */
	w = (struct wide){{n}};
	r = tiny(n) + crowded(n) + early(n) + early(n + 1) + down(7) + ping(6);
	r += with_alloca(6) + realigned(3) + aligned_alloca(5) + large(n & 63) + caught(3);
	r += many(1, 2, 3, 4, 5, 6, 7, 8, 3) + variable(4, 1, 2, 3, 4) + (int)by_value(w, 4).v[0];
	r += (int)floating(n, 5) + sorted(n) + library(n) + signalled(n);
	for (int i = 0; i < 8; i++)
		r += jumps(i) + indirect(i);
	LEAVE();
	return r;
}

/* Signals of the timers find the path of the thread that takes them. */
static void take_timers(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	sigaddset(&set, SIGVTALRM);
	pthread_sigmask(how, &set, NULL);
}

/* Signals come at any instruction, by the CPU time used. */
static void set_timers(void)
{
	const struct itimerval often = {{.tv_usec = 1100}, {.tv_usec = 1100}};
	const struct itimerval also = {{.tv_usec = 1700}, {.tv_usec = 1700}};

	setitimer(ITIMER_PROF, &often, NULL);
	setitimer(ITIMER_VIRTUAL, &also, NULL);
}

KNOWN void *run_thread(void *arg)
{
	struct known_path p;

	(void)arg;
	begin(&p);
	ENTER();
	take_timers(SIG_UNBLOCK);
	for (int i = 0; i >= 0; i = (i + 1) & 0xff)
		sink += all_shapes(i);
	LEAVE();
	return NULL;
}

KNOWN int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = on_signal};
	struct known_path p;
	uint64_t at = (uintptr_t)&p;
	pthread_t thread;

	once = argc > 1 && !strcmp(argv[1], "once");
	begin(&p);
	ENTER();
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGPROF, &act, NULL);
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &act, NULL);
	sigaction(SIGVTALRM, &act, NULL);
	if (write(STDOUT_FILENO, &at, sizeof(at)) != sizeof(at))
		return 1;
	if (once) {
		raise(SIGSTOP);
		sink += all_shapes(2);
		_exit(0);
	}
	take_timers(SIG_BLOCK); /* in the new thread, too, until it has its path */
	if (pthread_create(&thread, NULL, run_thread, NULL))
		return 1;
	take_timers(SIG_UNBLOCK);
	set_timers();
	for (int i = 0; i >= 0; i = (i + 1) & 0xff)
		sink += all_shapes(i);
	LEAVE();
	return 0;
}
