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

/* Before a command is started: from here on signals are handled, though a clean end is not possible
 * yet. */
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

#endif /* SAKER_SIGNALS_H */
