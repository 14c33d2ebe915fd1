/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "clock.h"

static volatile sig_atomic_t n_stop_signals;
static int64_t stop_signal_ns; /* only the handler's; sa_mask prevents nesting */
static volatile sig_atomic_t command_pid;
static volatile sig_atomic_t trigger_signal, reload_signal;
static int hangup_reloads;

static const int ends[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
enum { N_ENDS = sizeof(ends) / sizeof(ends[0]) };
/* What the parent of saker had set. */
static unsigned int ignored; /* bit i: ends[i] was ignored */
static sigset_t blocked; /* signals of ends[] that were blocked */
static int ignored_children; /* SIGCHLD was ignored: the kernel would keep no exit status */

static int was_ignored(int sig)
{
	for (unsigned int i = 0; i < N_ENDS; i++)
		if (ends[i] == sig)
			return ignored >> i & 1;
	return 0;
}

static void unblock(void)
{
	sigset_t all, before;

	sigemptyset(&all);
	for (unsigned int i = 0; i < N_ENDS; i++)
		sigaddset(&all, ends[i]);
	pthread_sigmask(SIG_UNBLOCK, &all, &before);
	sigandset(&blocked, &all, &before);
}

void signals_begin(void)
{
	struct sigaction was;

	unblock();
	if (!sigaction(SIGCHLD, NULL, &was) && was.sa_handler == SIG_IGN) {
		ignored_children = 1;
		signal(SIGCHLD, SIG_DFL);
	}
	for (unsigned int i = 0; i < N_ENDS; i++) {
		if (sigaction(ends[i], NULL, &was) || was.sa_handler != SIG_IGN)
			continue;
		ignored |= 1u << i;
		if (ends[i] != SIGHUP)
			signal(ends[i], SIG_DFL);
	}
}

void signals_as_inherited(void)
{
	for (unsigned int i = 0; i < N_ENDS; i++)
		if (ignored >> i & 1)
			signal(ends[i], SIG_IGN);
	if (ignored_children)
		signal(SIGCHLD, SIG_IGN);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
}

static void end_at_once(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

static void request_stop(int sig)
{
	const int64_t now = clock_now_ns();

	if (!n_stop_signals) {
		n_stop_signals = 1;
		stop_signal_ns = now;
		if (command_pid)
			kill(command_pid, was_ignored(sig) ? SIGTERM : sig);
	} else if (now - stop_signal_ns >= SIGNALS_ONE_REQUEST_NS) {
		end_at_once(sig);
	}
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (command_pid && info->si_code == SI_KERNEL)
		return;
	request_stop(sig);
	errno = saved;
}

void signals_install(pid_t command)
{
	/* poll(2) is interrupted in any case; a write continues, or stdio would drop data. */
	struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	unsigned int i;

	for (i = 0; i < N_ENDS; i++)
		sigaddset(&act.sa_mask, ends[i]);
	command_pid = command;
	for (i = 0; i < N_ENDS; i++)
		if (ends[i] != SIGHUP || (!was_ignored(SIGHUP) && !hangup_reloads))
			sigaction(ends[i], &act, NULL);
}

void signals_command_ended(void)
{
	command_pid = 0;
}

int signals_stop_requested(void)
{
	return n_stop_signals && !command_pid;
}

static void on_trigger(int sig)
{
	(void)sig;
	trigger_signal = 1;
}

static void on_reload(int sig)
{
	(void)sig;
	reload_signal = 1;
}

void signals_catch_trigger(void)
{
	const struct sigaction act = {.sa_handler = on_trigger, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &act, NULL);
}

void signals_catch_reload(void)
{
	const struct sigaction act = {.sa_handler = on_reload, .sa_flags = SA_RESTART};

	hangup_reloads = 1;
	sigaction(SIGHUP, &act, NULL);
}

static int take(volatile sig_atomic_t *signal)
{
	const int came = *signal;

	if (came)
		*signal = 0;
	return came;
}

int signals_take_trigger(void)
{
	return take(&trigger_signal);
}

int signals_take_reload(void)
{
	return take(&reload_signal);
}
