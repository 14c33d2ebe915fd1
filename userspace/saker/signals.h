/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT, SIGQUIT, SIGTERM and SIGHUP request a clean end; a second one, half a second later or
 * more, ends saker at once. A shell starts background jobs of a script with SIGINT and SIGQUIT
 * ignored; kill(1) ends them all the same. Only an ignored SIGHUP, of nohup(1), stays ignored.
 * While a command runs, what the terminal sends is the command's to decide on (it gets it too), and
 * what kill(1) sends is passed on to it: as SIGTERM if the command was started to ignore it.
 */
#ifndef SAKER_SIGNALS_H
#define SAKER_SIGNALS_H

#include <sys/types.h>

/* Before a command is started: from here on signals have effect, though not yet a clean end. */
void signals_begin(void);
/* In the child that becomes the command: restores what signals_begin() changed. */
void signals_as_inherited(void);
/* @command: 0 if there is none. */
void signals_install(pid_t command);
/* The command is gone: signals are for saker again. */
void signals_command_ended(void);
int signals_stop_asked(void);

#endif /* SAKER_SIGNALS_H */
