// SPDX-License-Identifier: Apache-2.0
/* The lock decides who is later, the end of the work or that of the wait: it frees. */
#include "thread_within.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "thread_start.h"

struct work {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	int has_ended, is_left;
	void (*run)(void *arg);
	void (*left)(void *arg);
	void *arg;
};

static void work_free(struct work *w)
{
	pthread_cond_destroy(&w->ended);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static void *do_work(void *arg)
{
	struct work *w = arg;
	int is_left;

	w->run(w->arg);
	pthread_mutex_lock(&w->lock);
	w->has_ended = 1;
	is_left = w->is_left;
	pthread_cond_signal(&w->ended);
	pthread_mutex_unlock(&w->lock);
	if (is_left) {
		w->left(w->arg);
		work_free(w);
	}
	return NULL;
}

/* Returns whether the work has ended. */
static int wait_for(struct work *w, pthread_t thread, uint64_t ns)
{
	const struct timespec until = clock_deadline(ns);
	int has_ended, err = 0;

	pthread_mutex_lock(&w->lock);
	while (!w->has_ended && !err)
		err = pthread_cond_clockwait(&w->ended, &w->lock, CLOCK_MONOTONIC, &until);
	has_ended = w->has_ended;
	w->is_left = !has_ended;
	pthread_mutex_unlock(&w->lock);
	if (has_ended) {
		pthread_join(thread, NULL);
		work_free(w);
	} else {
		pthread_detach(thread);
	}
	return has_ended;
}

int thread_run_within(void (*run)(void *arg), void (*left)(void *arg), void *arg, uint64_t ns)
{
	struct work *w = malloc(sizeof(*w));
	pthread_t thread;
	int err;

	if (!w)
		return -ENOMEM;
	*w = (struct work){.lock = PTHREAD_MUTEX_INITIALIZER,
			   .ended = PTHREAD_COND_INITIALIZER,
			   .run = run,
			   .left = left,
			   .arg = arg};
	err = thread_start(&thread, do_work, w);
	if (err) {
		work_free(w);
		return err;
	}
	return wait_for(w, thread, ns);
}
