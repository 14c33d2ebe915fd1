/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a function by code made at run time that keeps no frame pointer, as CPython calls its
 * evaluator by a trampoline for each function. Nothing here keeps one. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

typedef void (*evaluator)(unsigned long);
typedef void (*trampoline)(unsigned long, void *, int, evaluator);

static volatile unsigned long sink;

NOINLINE void evaluates(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i;
}

NOINLINE void runs(trampoline t)
{
	struct timespec now;

	do {
		t(1 << 20, NULL, 0, evaluates);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (!now.tv_sec);
	sink++;
}

int main(void)
{
	static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
					     0x48, 0x83, 0xc4, 0x08, 0xc3};
	unsigned char *arena =
		mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned int at = 0; at + 272 <= 65536; at += 272)
		memcpy(arena + at, code, sizeof(code));
	mprotect(arena, 65536, PROT_READ | PROT_EXEC);
	runs((trampoline)(arena + 7 * 272));
	return 0;
}
