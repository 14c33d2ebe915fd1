// SPDX-License-Identifier: Apache-2.0
/* prog SHORT MANY: runs SHORT processes one after another, then MANY at once. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int run_short(int n)
{
	for (int i = 0; i < n; i++) {
		const pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return fail("short");
	}
	return 0;
}

/* They end when the pipe is closed, of which all are there. */
static int run_many(int n)
{
	int fds[2];
	char byte;

	if (pipe(fds))
		return fail("pipe");
	for (int i = 0; i < n; i++) {
		const pid_t pid = fork();

		if (pid < 0)
			return fail("many");
		if (!pid) {
			close(fds[1]);
			_exit(read(fds[0], &byte, 1) != 0);
		}
	}
	close(fds[1]);
	for (int i = 0; i < n; i++)
		if (wait(NULL) < 0)
			return fail("wait");
	return 0;
}

int main(int argc, char **argv)
{
	return argc != 3 || run_short(atoi(argv[1])) || run_many(atoi(argv[2]));
}
