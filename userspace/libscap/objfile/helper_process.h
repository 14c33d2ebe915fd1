/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that do for us what may never return, or what a file's bytes might take over: each
 * answers requests on a socket. One that hangs in the kernel cannot be ended; it is left behind,
 * and of those there are only so many.
 */
#ifndef SCAP_OBJFILE_HELPER_PROCESS_H
#define SCAP_OBJFILE_HELPER_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	HELPER_FD = 3, /* the socket, in the helper */
	HELPERS_HUNG_MAX = 8, /* while so many hang no other begins */
	HELPER_WATCHERS_MAX = 8,
	HELPERS_RUNNING_MAX = 16, /* that are known to who begins to watch */
};

struct helper {
	pid_t pid; /* 0: there is none */
	int fd; /* a socket of packets */
};

/*
 * Begins a process that calls @serve with nothing open but the socket and /dev/null, and with all
 * signals blocked. It ends when @serve returns; @serve returns when the socket is closed. 0 or a
 * negative errno; -EBUSY: too many hang.
 */
int helper_start(struct helper *h, void (*serve)(void));
/* As fork, of a child that captures leave out and that executes nothing. */
pid_t helper_fork(void);
/*
 * While a thread forks a helper its TID stands at @tid, so that the driver can tell the helper from
 * other children. Watchers have to be removed before their memory goes. 0, or -ENOSPC.
 */
int helpers_watch(volatile uint32_t *tid);
void helpers_unwatch(const volatile uint32_t *tid);
/* Those that run already: their number. */
unsigned int helpers_running(pid_t v[HELPERS_RUNNING_MAX]);
/* Ends it at once. Waits a moment, never for one that hangs. */
void helper_end(struct helper *h);
/* Those that were ended, and still hang. */
unsigned int helpers_hung(void);

/* One message, with a descriptor unless @passed is below 0. 0 or a negative errno. */
int helper_send(int fd, const void *msg, size_t sz, int passed);
/* Its length; 0: the other side has ended. The caller owns *passed, -1: none. */
ssize_t helper_receive(int fd, void *msg, size_t sz, int *passed);
/* 0, or -ETIMEDOUT: nothing came. */
int helper_wait(int fd, int timeout_ms);

/* Keeps these capabilities, a bit each, of those that the process has, and gains no others. */
void helper_keep_rights(unsigned long long caps);

#endif /* SCAP_OBJFILE_HELPER_PROCESS_H */
