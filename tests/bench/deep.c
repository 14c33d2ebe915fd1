/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop below many functions, each with a frame of another size and without a frame pointer:
 * deep CALLS SECONDS [MS]
 *
 * CALLS functions lie between main and the loop. Prints how often the loop went round, per second:
 * in the best MS milliseconds, 10 without it, and in the median ones.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_FUNCS 32
#define STEPS 2000 /* between two looks at the clock: about a microsecond */
#define SLICES_MAX 1000000

static uint64_t seconds_ns, slice_ns;
static uint32_t *slices; /* turns in each */
static size_t n_slices;
static volatile uint64_t sink;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void spin(void)
{
	const uint64_t end = now_ns() + seconds_ns;
	uint64_t from = now_ns(), now = from;

	while (now < end && n_slices < SLICES_MAX) {
		uint32_t turns = 0;

		for (; now - from < slice_ns; now = now_ns(), turns++)
			for (int i = 0; i < STEPS; i++)
				__asm__ volatile("" ::: "memory");
		slices[n_slices++] = turns;
		from = now;
	}
}

typedef uint64_t (*func)(int left, uint64_t x);
static const func funcs[N_FUNCS];

/* The values kept across the call vary, so that the frames do. */
#define FUNC(n)                                                                                    \
	static __attribute__((noinline)) uint64_t func##n(int left, uint64_t x)                    \
	{                                                                                          \
		volatile char room[8 * (n) + 8];                                                   \
		uint64_t a = x * 3, b = x ^ 5, c = x + (n);                                        \
                                                                                                   \
		room[x & 7] = (char)x;                                                             \
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c));                                  \
		if (left)                                                                          \
			sink += funcs[(left - 1) & (N_FUNCS - 1)](left - 1, x + 1);                \
		else                                                                               \
			spin();                                                                    \
		return (uint64_t)room[x & 7] + ((n)&1 ? a + b : 0) + ((n)&2 ? c : 0);              \
	}

/* clang-format off */
#define FUNCS(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
	X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
/* clang-format on */

FUNCS(FUNC)

#define NAME(n) func##n,
static const func funcs[N_FUNCS] = {FUNCS(NAME)};

static int by_size(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	const int calls = argc > 1 ? atoi(argv[1]) : 0;
	double turns_ns;

	seconds_ns = argc > 2 ? (uint64_t)(atof(argv[2]) * 1e9) : 1000000000;
	slice_ns = (argc > 3 ? (uint64_t)atoi(argv[3]) : 10) * 1000000;
	slices = calloc(SLICES_MAX, sizeof(*slices));
	if (calls <= 0 || !slice_ns || !slices) {
		fprintf(stderr, "usage: deep CALLS SECONDS [MS]\n");
		return 2;
	}
	sink += funcs[(calls - 1) & (N_FUNCS - 1)](calls - 1, 1);
	if (!n_slices)
		return 1;
	qsort(slices, n_slices, sizeof(*slices), by_size);
	turns_ns = 1e9 / (double)slice_ns;
	printf("best %.0f\nmedian %.0f\n", slices[n_slices - 1] * turns_ns,
	       slices[n_slices / 2] * turns_ns);
	return 0;
}
