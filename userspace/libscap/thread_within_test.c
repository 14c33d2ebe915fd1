/* SPDX-License-Identifier: Apache-2.0 */
/* Work that ends in time, and work that does not. */
#include "testing/test_main.h"

#include <semaphore.h>
#include <signal.h>

#include "thread_within.h"

#define LONG 60000000000ull
#define SHORT 1000000ull

struct job {
	sem_t go, done;
	int n_run, n_left, blocks_signals;
};

static struct job new_job(void)
{
	struct job j = {0};

	sem_init(&j.go, 0, 0);
	sem_init(&j.done, 0, 0);
	return j;
}

static void run(void *arg)
{
	struct job *j = arg;
	sigset_t blocked;

	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	j->blocks_signals = sigismember(&blocked, SIGINT);
	sem_wait(&j->go);
	j->n_run++;
}

static void left(void *arg)
{
	struct job *j = arg;

	j->n_left++;
	sem_post(&j->done);
}

static void test_in_time(void **state)
{
	struct job j = new_job();

	(void)state;
	sem_post(&j.go);
	assert_int_equal(thread_run_within(run, left, &j, LONG), 1);
	assert_int_equal(j.n_run, 1);
	assert_int_equal(j.n_left, 0);
	assert_int_equal(j.blocks_signals, 1);
}

static void test_left_behind(void **state)
{
	struct job j = new_job();

	(void)state;
	assert_int_equal(thread_run_within(run, left, &j, SHORT), 0);
	sem_post(&j.go);
	sem_wait(&j.done);
	assert_int_equal(j.n_run, 1);
	assert_int_equal(j.n_left, 1);
}

/* Whichever is later: each work is released once. */
static void test_at_the_last_moment(void **state)
{
	int n_in_time = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct job j = new_job();

		sem_post(&j.go);
		if (thread_run_within(run, left, &j, (uint64_t)i * 1000) == 1)
			n_in_time++;
		else
			sem_wait(&j.done);
		assert_int_equal(j.n_run, 1);
	}
	print_message("%d of 200 in time\n", n_in_time);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_time),
		cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_at_the_last_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
