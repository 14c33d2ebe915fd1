/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four tellers move money between accounts, and each transfer is noted in a book on the disk.
 * docs/profiling.md has it profiled. gcc -O1 -g -pthread bank.c; with -DSHORT_LOCK the lock is held
 * for the accounts alone.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TELLERS = 4, TRANSFERS = 400, ACCOUNTS = 1000 };

static long accounts[ACCOUNTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int book;

__attribute__((noinline)) static void write_book(unsigned int from, unsigned int to, long sum)
{
	char line[64];
	const int len = snprintf(line, sizeof(line), "%u %u %ld\n", from, to, sum);

	if (write(book, line, len) != len || fdatasync(book))
		exit(1);
}

/* What it costs to move the money: it hangs on much. */
__attribute__((noinline)) static long fee(unsigned int from, unsigned int to, long sum)
{
	unsigned long h = from * 31ul + to;

	for (int i = 0; i < 200000; i++)
		h = h * 6364136223846793005ul + (unsigned long)sum;
	return (long)(h % 10);
}

__attribute__((noinline)) static void transfer(unsigned int from, unsigned int to, long sum)
{
	const long cost = fee(from, to, sum);

	pthread_mutex_lock(&lock);
	accounts[from] -= sum + cost;
	accounts[to] += sum;
#ifdef SHORT_LOCK
	pthread_mutex_unlock(&lock);
	write_book(from, to, sum);
#else
	write_book(from, to, sum);
	pthread_mutex_unlock(&lock);
#endif
}

static void *teller(void *arg)
{
	unsigned int seed = (unsigned int)(size_t)arg;

	for (int i = 0; i < TRANSFERS; i++)
		transfer(rand_r(&seed) % ACCOUNTS, rand_r(&seed) % ACCOUNTS, i);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[TELLERS];

	book = open(argc > 1 ? argv[1] : "book", O_WRONLY | O_CREAT | O_APPEND, 0600);
	for (size_t i = 0; i < TELLERS; i++)
		pthread_create(&threads[i], NULL, teller, (void *)(i + 1));
	for (size_t i = 0; i < TELLERS; i++)
		pthread_join(threads[i], NULL);
	printf("%d transfers\n", TELLERS * TRANSFERS);
	return 0;
}
