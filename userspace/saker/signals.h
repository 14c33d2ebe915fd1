/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT, SIGTERM and SIGHUP ask for a clean end; a second one, half a second later or more, ends
 * saker at once. While a command runs, what the terminal sends is the command's to decide on (it
 * gets it too), and what kill(1) sends is passed on to it.
 */
#ifndef SAKER_SIGNALS_H
#define SAKER_SIGNALS_H

#include <sys/types.h>

/* @command: 0 if there is none. */
void signals_install(pid_t command);
/* The command is gone: signals are for saker again. */
void signals_command_ended(void);
int signals_stop_asked(void);

#endif /* SAKER_SIGNALS_H */
