/* SPDX-License-Identifier: Apache-2.0 */
/* Typical work of C programs, for as long as they may run: recursion, library functions that call
 * back, numbers, text, a few system calls. Compiled as a static program, by another compiler, ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned int seed = 1;

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static double sum(const int *v, int n)
{
	double s = 0;

	for (int i = 0; i < n; i++)
		s += v[i] / 3.0;
	return s;
}

__attribute__((noinline)) static int down(int n, char *text, size_t sz)
{
	int v[64];

	for (int i = 0; i < 64; i++)
		v[i] = rand_r(&seed);
	qsort(v, 64, sizeof(*v), by_value);
	snprintf(text, sz, "%d %f %s", n, sum(v, 64), v[3] % 2 ? "odd" : "even");
	if (!n)
		return (int)strtol(text, NULL, 10) + (getppid() == 0);
	return down(n - 1, text, sz) + (strlen(text) > 3);
}

int main(void)
{
	char text[128];
	int n = 0;

	while (n >= 0)
		n = down(20, text, sizeof(text)) & 0xff;
	return 0;
}
