/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that align their stacks for wide registers, as compilers do it: the caller's stack
 * pointer in r10, then in memory below rbp; also with room of a size known at run time only. */
#include <stdlib.h>
#include <string.h>

typedef float wide __attribute__((vector_size(32)));

static volatile float out;

__attribute__((noinline)) static void fill(wide *w, int n)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 8; k++)
			((volatile float *)&w[i])[k] = (float)(i * k);
}

__attribute__((noinline)) static float aligned(int n)
{
	wide w[8];
	char *more = __builtin_alloca((size_t)n * 8 + 8);

	memset(more, n, (size_t)n * 8 + 8);
	fill(w, 8);
	w[0] = w[1] * w[2] + w[3];
	return w[0][3] + (n ? aligned(n - 1) : 0) + (float)more[n];
}

static int compare(const void *a, const void *b)
{
	out = aligned(6);
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	for (;;) {
		int v[] = {3, 1, 2, 5, 4};

		qsort(v, 5, sizeof(*v), compare);
	}
}
