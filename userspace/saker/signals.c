/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <errno.h>
#include <signal.h>

static volatile sig_atomic_t n_asked;
static volatile sig_atomic_t command_pid;

static void end_at_once(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (command_pid && info->si_code == SI_KERNEL)
		return;
	if (n_asked++)
		end_at_once(sig);
	else if (command_pid)
		kill(command_pid, sig);
	errno = saved;
}

void signals_install(pid_t command)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	struct sigaction was;
	unsigned int i;

	command_pid = command;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		/* nohup(1) and background jobs of a shell ignore some: so be it. */
		if (sigaction(ends[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(ends[i], &act, NULL);
	}
}

void signals_command_ended(void)
{
	command_pid = 0;
}

int signals_stop_asked(void)
{
	return n_asked && !command_pid;
}
