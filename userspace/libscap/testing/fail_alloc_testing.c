/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fails one allocation of the program that this is linked into, with -Wl,--wrap=malloc and so on:
 * the first one at the place of which the environment has the number, SAKER_FAIL_ALLOC=N, from 1
 * on. A place is a call with three callers. With 0 none fails, and a line for each place goes to
 * the file SAKER_FAIL_ALLOC_PLACES: its addresses from the start of the program on.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNREAD -1
#define NONE -2
#define CALLERS 4
#define PLACES_MAX (1 << 16) /* a power of two */

extern const char __executable_start[]; /* of the linker */
extern void *__libc_stack_end;

static struct {
	pthread_mutex_t lock;
	long wanted; /* SAKER_FAIL_ALLOC; UNREAD: the environment was not read yet; NONE: not set */
	long n;
	int fd;
	uint64_t seen[PLACES_MAX];
} places = {.lock = PTHREAD_MUTEX_INITIALIZER, .wanted = UNREAD};

static void begin(void)
{
	const char *wanted = getenv("SAKER_FAIL_ALLOC");
	const char *path = getenv("SAKER_FAIL_ALLOC_PLACES");
	FILE *f;

	places.wanted = wanted ? strtol(wanted, NULL, 10) : NONE;
	places.fd = -1;
	if (places.wanted == 0 && path) {
		f = fopen(path, "we");
		places.fd = f ? fileno(f) : -1;
	}
}

/* Fills @at with the addresses that frame @fp and those around it return to. What is not built with
 * frame pointers ends it. */
static void callers(uintptr_t at[CALLERS], const uintptr_t *fp)
{
	memset(at, 0, CALLERS * sizeof(*at));
	for (size_t i = 0; i < CALLERS; i++) {
		const uintptr_t *next = (const uintptr_t *)fp[0];

		at[i] = fp[1] - (uintptr_t)__executable_start;
		if (next <= fp || (const void *)next >= __libc_stack_end || (uintptr_t)next % 8)
			return;
		fp = next;
	}
}

/* Returns whether a place is new. */
static bool add_place(const uintptr_t at[CALLERS])
{
	uint64_t hash = 1;
	size_t slot;

	for (size_t i = 0; i < CALLERS; i++)
		hash = (hash ^ at[i]) * 0x9e3779b97f4a7c15ull;
	for (slot = hash >> 48; places.seen[slot % PLACES_MAX]; slot++)
		if (places.seen[slot % PLACES_MAX] == hash)
			return false;
	places.seen[slot % PLACES_MAX] = hash;
	places.n++;
	if (places.fd >= 0)
		dprintf(places.fd, "%zx %zx %zx %zx\n", at[0], at[1], at[2], at[3]);
	return true;
}

/* Returns whether the allocation of the function with frame @fp is to fail. */
static bool fails(const void *fp)
{
	uintptr_t at[CALLERS];
	bool res = false;

	if (places.wanted == NONE || places.n > PLACES_MAX / 2)
		return false;
	callers(at, fp);
	pthread_mutex_lock(&places.lock);
	if (places.wanted == UNREAD)
		begin();
	if (places.wanted >= 0)
		res = add_place(at) && places.n == places.wanted;
	pthread_mutex_unlock(&places.lock);
	if (res)
		errno = ENOMEM;
	return res;
}

#define WRAP(name, params, args)                                                                   \
	void *__real_##name params;                                                                \
	void *__wrap_##name params;                                                                \
	void *__wrap_##name params                                                                 \
	{                                                                                          \
		return fails(__builtin_frame_address(0)) ? NULL : __real_##name args;              \
	}

WRAP(malloc, (size_t n), (n))
WRAP(calloc, (size_t n, size_t sz), (n, sz))
WRAP(realloc, (void *p, size_t n), (p, n))
WRAP(reallocarray, (void *p, size_t n, size_t sz), (p, n, sz))
WRAP(aligned_alloc, (size_t align, size_t n), (align, n))
WRAP(strdup, (const char *s), (s))
WRAP(strndup, (const char *s, size_t n), (s, n))
WRAP(open_memstream, (char **s, size_t *n), (s, n))

int __real_vasprintf(char **s, const char *format, va_list args);
int __wrap_vasprintf(char **s, const char *format, va_list args);
int __wrap_asprintf(char **s, const char *format, ...);

int __wrap_vasprintf(char **s, const char *format, va_list args)
{
	return fails(__builtin_frame_address(0)) ? -1 : __real_vasprintf(s, format, args);
}

int __wrap_asprintf(char **s, const char *format, ...)
{
	va_list args;
	int n;

	if (fails(__builtin_frame_address(0)))
		return -1;
	va_start(args, format);
	n = __real_vasprintf(s, format, args);
	va_end(args);
	return n;
}
