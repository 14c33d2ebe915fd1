/* SPDX-License-Identifier: Apache-2.0 */
#include "other_program.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "say.h"
#include "signals.h"
#include "spawn.h"

static const struct option_command *find(const char *word)
{
	for (const struct option_command *c = option_commands; c->name; c++)
		if (c->program && strcmp(c->name, word) == 0)
			return c;
	return NULL;
}

static int is_help(int argc, char **argv)
{
	return argc == 3 && strcmp(argv[1], "help") == 0;
}

int other_program_is_named(int argc, char **argv)
{
	return argc > 1 && find(argv[is_help(argc, argv) ? 2 : 1]) != NULL;
}

/* Writes the path of a file in the folder of this executable. Returns 0 or a negative errno. */
static int find_beside(char *path, size_t sz, const char *name)
{
	const ssize_t n = readlink("/proc/self/exe", path, sz - 1);
	char *slash;

	if (n < 0)
		return -errno;
	path[n] = 0;
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + strlen(name) >= sz)
		return -ENAMETOOLONG;
	strcpy(slash + 1, name);
	return 0;
}

int other_program_run(int argc, char **argv)
{
	const struct option_command *c = find(argv[is_help(argc, argv) ? 2 : 1]);
	char path[PATH_MAX];
	int err = find_beside(path, sizeof(path), c->program);

	if (!err && is_help(argc, argv))
		argv[2] = "--help";
	if (!err) {
		argv[1] = (char *)c->program;
		execv(path, argv + 1);
		err = -errno;
	}
	say("cannot run %s: %s; install %s in the folder of saker", c->program, strerror(-err),
	    c->program);
	return STATUS_FAILED;
}

int other_program_wait(int argc, char **argv)
{
	const pid_t pid = fork();
	int status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		signals_as_inherited();
		_exit(other_program_run(argc, argv));
	}
	if (pid < 0) {
		say("cannot start saker %s: %s", argv[1], strerror(errno));
		return STATUS_FAILED;
	}
	signals_install(pid); /* one ends the other program */
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return STATUS_FAILED;
	signals_command_ended();
	return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAILED;
}
