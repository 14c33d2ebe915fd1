/* SPDX-License-Identifier: Apache-2.0 */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command_code.h"
#include "program_path.h"
#include "say.h"
#include "signals.h"

/* Time for a command to end after SIGTERM: two seconds. */
enum { END_PAUSES = 200, END_PAUSE_NS = 10000000 };

enum { MAP_CODE_MS = 5000 }; /* a file system may not answer */

static int status_of_errno(int err)
{
	if (err == ENOENT || err == ENOTDIR)
		return STATUS_NOT_FOUND;
	return STATUS_NOT_EXECUTABLE;
}

static int say_not_run(const char *name, int err)
{
	if (err == ENOENT)
		say("%s: command not found", name);
	else
		say("cannot execute %s: %s", name, strerror(err));
	return status_of_errno(err);
}

/* A text file without "#!" is a script of sh, as for execvp. */
static void exec_script(const char *path, char **argv)
{
	size_t n;
	char **v;

	for (n = 0; argv[n]; n++)
		;
	v = calloc(n + 2, sizeof(*v));
	if (!v)
		return;
	v[0] = argv[0];
	v[1] = (char *)path;
	memcpy(v + 2, argv + 1, (n - 1) * sizeof(*v));
	execv(_PATH_BSHELL, v);
}

__attribute__((noreturn)) static void child(const char *path, char **argv, int go_fd, int errno_fd,
					    int map_code)
{
	char go;
	int err = 0;

	if (map_code) {
		command_code_map(path);
		if (write(errno_fd, &err, sizeof(err)) < 0)
			_exit(STATUS_SELF_FAILED);
	}
	if (read(go_fd, &go, 1) != 1)
		_exit(STATUS_SELF_FAILED);
	signals_as_inherited();
	execv(path, argv);
	if (errno == ENOEXEC)
		exec_script(path, argv);
	err = errno;
	if (write(errno_fd, &err, sizeof(err)) < 0)
		_exit(STATUS_SELF_FAILED);
	_exit(STATUS_NOT_EXECUTABLE);
}

/* Waits until the child has mapped its code, which takes some milliseconds. */
static void wait_for_code(const struct spawn *sp)
{
	struct pollfd p = {.fd = sp->errno_fd, .events = POLLIN};

	(void)poll(&p, 1, MAP_CODE_MS);
}

int spawn_start(struct spawn *sp, char **argv, int map_code)
{
	int go[2], why[2], err;

	*sp = (struct spawn){.go_fd = -1, .errno_fd = -1};
	err = program_path_find(argv[0], &sp->path);
	if (err)
		return say_not_run(argv[0], -err);
	if (pipe2(go, O_CLOEXEC) || pipe2(why, O_CLOEXEC))
		goto err;
	fflush(NULL);
	sp->pid = fork();
	if (sp->pid < 0)
		goto err;
	if (sp->pid == 0) {
		close(go[1]);
		child(sp->path, argv, go[0], why[1], map_code);
	}
	close(go[0]);
	close(why[1]);
	sp->go_fd = go[1];
	sp->errno_fd = why[0];
	if (map_code)
		wait_for_code(sp);
	return 0;
err:
	say("cannot start %s: %s", argv[0], strerror(errno));
	sp->pid = 0;
	spawn_fini(sp);
	return STATUS_SELF_FAILED;
}

void spawn_release(struct spawn *sp)
{
	/* The child may be gone: spawn_ended reports that. */
	if (write(sp->go_fd, "", 1) < 0 && errno != EPIPE)
		say_cause(say_n_errors(), sp->path, -errno);
	close(sp->go_fd);
	sp->go_fd = -1;
}

static int status_of_wait(int status)
{
	return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int spawn_ended(struct spawn *sp, int wait)
{
	int status, why;
	pid_t pid;

	if (!sp->pid)
		return 1;
	do {
		pid = waitpid(sp->pid, &status, wait ? 0 : WNOHANG);
	} while (pid < 0 && errno == EINTR && wait);
	if (pid != sp->pid)
		return 0;
	sp->pid = 0;
	sp->status = status_of_wait(status);
	while (read(sp->errno_fd, &why, sizeof(why)) == sizeof(why))
		if (why)
			sp->status = say_not_run(sp->path, why);
	return 1;
}

void spawn_kill(const struct spawn *sp, int sig)
{
	if (sp->pid)
		kill(sp->pid, sig);
}

void spawn_end(struct spawn *sp)
{
	const struct timespec pause = {.tv_nsec = END_PAUSE_NS};

	spawn_kill(sp, SIGTERM);
	for (int i = 0; i < END_PAUSES && !spawn_ended(sp, 0); i++)
		nanosleep(&pause, NULL);
	spawn_kill(sp, SIGKILL);
	spawn_ended(sp, 1);
}

void spawn_fini(struct spawn *sp)
{
	if (sp->go_fd >= 0) {
		close(sp->go_fd);
		spawn_ended(sp, 1);
	}
	if (sp->errno_fd >= 0)
		close(sp->errno_fd);
	free(sp->path);
	*sp = (struct spawn){.go_fd = -1, .errno_fd = -1};
}
