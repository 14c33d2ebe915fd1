/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCAP_THREAD_START_H
#define SCAP_THREAD_START_H

#include <pthread.h>
#include <signal.h>

/* Starts a thread with all signals blocked: they are for the main thread. Returns 0 or a negative
 * errno. */
static inline int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

#endif /* SCAP_THREAD_START_H */
