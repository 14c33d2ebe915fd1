/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT, SIGQUIT, SIGTERM and SIGHUP request a clean end; a second one, half a second later or
 * more, ends saker at once. A shell starts background jobs of a script with SIGINT and SIGQUIT
 * ignored; kill(1) ends them nevertheless. Only an ignored SIGHUP, from nohup(1), stays ignored.
 * While a command runs, signals from the terminal are for the command (which gets them, too), and
 * those of kill(1) are passed on to it: as SIGTERM if the command was started to ignore them.
 */
#ifndef SAKER_SIGNALS_H
#define SAKER_SIGNALS_H

#include <sys/types.h>

/* timeout(1) signals its child and then its group: two requests at once count as one. */
#define SIGNALS_ONE_REQUEST_NS 500000000ll

/* Before a command is started: from here on signals are handled, though a clean end is not possible
 * yet. Unblocks them, and no longer ignores SIGCHLD. */
void signals_begin(void);
/* In the child that becomes the command: restores what signals_begin() changed. */
void signals_as_inherited(void);
/* @command: 0 if there is none. */
void signals_install(pid_t command);
/* The command has ended: signals are for saker again. */
void signals_command_ended(void);
int signals_stop_requested(void);
/* Handles SIGUSR1 from here on; the other function returns whether it came since the last call. */
void signals_catch_trigger(void);
int signals_take_trigger(void);
/* The same of SIGHUP, which no longer requests an end. */
void signals_catch_reload(void);
int signals_take_reload(void);

#endif /* SAKER_SIGNALS_H */
