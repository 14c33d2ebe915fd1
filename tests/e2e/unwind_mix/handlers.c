/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers of signals that work, one within another, on the stack and on an alternate one. That
 * lies further down in the stack's own memory: so a copy of the stack has both.
 */
#include <signal.h>
#include <stdlib.h>

#define APART 24576 /* more than all calls take */
#define ALTERNATE_SZ 16384

static volatile unsigned int sink;

__attribute__((noinline)) static unsigned int work(int n)
{
	volatile char room[32];

	room[n & 31] = (char)n;
	for (int i = 0; i < 200; i++)
		sink += (unsigned int)i;
	return n ? work(n - 1) + (unsigned int)room[n & 31] : sink;
}

static void on_inner(int sig)
{
	sink += work(sig % 8);
}

static void on_outer(int sig)
{
	sink += work(sig % 4);
	raise(SIGUSR2);
}

static int compare(const void *a, const void *b)
{
	raise(SIGUSR1);
	return *(const int *)a - *(const int *)b;
}

/* Memory of the stack that is no longer in use, and that no call reaches again. */
__attribute__((noinline)) static void set_alternate(void)
{
	volatile char room[ALTERNATE_SZ + APART];
	stack_t stack = {.ss_sp = (void *)room, .ss_size = ALTERNATE_SZ};

	for (size_t i = 0; i < sizeof(room); i += 1024)
		room[i] = 0;
	sigaltstack(&stack, NULL);
}

int main(void)
{
	struct sigaction act = {.sa_handler = on_outer};

	set_alternate();
	sigaction(SIGUSR1, &act, NULL);
	act = (struct sigaction){.sa_handler = on_inner, .sa_flags = SA_ONSTACK};
	sigaction(SIGUSR2, &act, NULL);
	for (;;) {
		int v[] = {3, 1, 2};

		qsort(v, 3, sizeof(*v), compare);
	}
}
