/* SPDX-License-Identifier: Apache-2.0 */
/* The command of `saker -- CMD`: a child that waits until the capture is attached, then executes
 * CMD. Exit statuses are those of env(1). */
#ifndef SAKER_SPAWN_H
#define SAKER_SPAWN_H

#include <sys/types.h>

enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1, /* without a command */
	STATUS_SELF_FAILED = 125, /* with a command: saker failed */
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
	STATUS_SIGNAL = 128, /* + the signal that ended the command */
};

struct spawn {
	pid_t pid; /* 0: no child, or it has ended */
	int go_fd; /* closing it without a byte makes the child exit */
	int errno_fd; /* the child reports here why it could not execute CMD; 0: its code is mapped
		       */
	int status; /* exit status, once it has ended */
	char *path; /* path of the executed file */
};

/* Starts the child. @map_code: it has the code of CMD mapped while it waits (command_code.h), for
 * unwind tables and probes. Returns 0; else an exit status, after reporting the reason. Call before
 * threads, handlers and resources. */
int spawn_start(struct spawn *sp, char **argv, int map_code);

/* Lets the child execute CMD. */
void spawn_release(struct spawn *sp);

/* Returns 1: CMD has ended, its status is in sp->status. 0: it runs. @wait: waits until it has
 * ended. */
int spawn_ended(struct spawn *sp, int wait);

void spawn_kill(const struct spawn *sp, int sig);

/* Ends CMD: by SIGTERM, and by SIGKILL if it does not end within a moment. */
void spawn_end(struct spawn *sp);

/* Makes a child exit that was not released. */
void spawn_fini(struct spawn *sp);

#endif /* SAKER_SPAWN_H */
