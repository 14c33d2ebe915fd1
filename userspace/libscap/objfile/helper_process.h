/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helper processes, which do what may never return, or what hostile file content might take over:
 * each answers requests on a socket. A helper that hangs in the kernel cannot be killed; it is left
 * behind, up to a maximum number.
 */
#ifndef SCAP_OBJFILE_HELPER_PROCESS_H
#define SCAP_OBJFILE_HELPER_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	HELPER_FD = 3, /* the socket, in the helper */
	HELPERS_HUNG_MAX = 8, /* maximum number of hung helpers; no other is started then */
	HELPER_WATCHERS_MAX = 8,
	HELPERS_RUNNING_MAX = 16, /* maximum number reported to a new watcher */
};

struct helper {
	pid_t pid; /* 0: none */
	int fd; /* a packet socket */
};

/*
 * Starts a process that calls @serve with nothing open but the socket and /dev/null, and with all
 * signals blocked. It ends when @serve returns; @serve returns when the socket is closed. Returns 0
 * or a negative errno; -EBUSY: too many hang.
 */
int helper_start(struct helper *h, void (*serve)(void));
/* Works as fork, for a child that captures leave out and that never execs. */
pid_t helper_fork(void);
/*
 * While a thread forks a helper its TID is stored at @tid, so that the driver can distinguish the
 * helper from other children. Watchers must be removed before their memory is freed. Returns 0, or
 * -ENOSPC.
 */
int helpers_watch(volatile uint32_t *tid);
void helpers_unwatch(const volatile uint32_t *tid);
/* Returns the number of running helpers, and their PIDs. */
unsigned int helpers_running(pid_t v[HELPERS_RUNNING_MAX]);
/* Ends it at once. Waits a moment, but not for one that hangs. */
void helper_end(struct helper *h);
/* Returns the number of killed helpers that still hang. */
unsigned int helpers_hung(void);

/* Sends one message, with a descriptor unless @passed is below 0. Returns 0 or a negative errno. */
int helper_send(int fd, const void *msg, size_t sz, int passed);
/* Receives a message and returns its length; 0: the other side has ended. The caller owns *passed,
 * -1: none. */
ssize_t helper_receive(int fd, void *msg, size_t sz, int *passed);
/* Returns 0, or -ETIMEDOUT if nothing came. */
int helper_wait(int fd, int timeout_ms);

#endif /* SCAP_OBJFILE_HELPER_PROCESS_H */
