/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that do nothing, with many files: crowd PROCESSES FILES
 *
 * Each of the processes opens /dev/null FILES times. When all have, it prints "ready", and they end
 * with its standard input.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "crowd: %s: %s\n", what, strerror(errno));
	return 1;
}

static int raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -1;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

/* Writes a byte to @ready: 1 if it has its files. */
static void be_there(long n_files, int ready)
{
	char all = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (long i = 0; i < n_files && all; i++)
		all = open("/dev/null", O_RDONLY) >= 0;
	if (write(ready, &all, 1) != 1)
		_exit(1);
	close(ready);
	for (;;)
		pause();
}

static int start_all(long n, long n_files, pid_t *pids)
{
	int ends[2];
	char all = 1;

	if (pipe(ends))
		return -1;
	for (long i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			return -1;
		if (!pids[i])
			be_there(n_files, ends[1]);
	}
	close(ends[1]);
	for (long i = 0; i < n; i++)
		if (read(ends[0], &all, 1) != 1 || !all)
			return -1;
	close(ends[0]);
	return 0;
}

int main(int argc, char **argv)
{
	const long n = argc == 3 ? atol(argv[1]) : 0, n_files = argc == 3 ? atol(argv[2]) : 0;
	pid_t *pids = n > 0 ? calloc((size_t)n, sizeof(*pids)) : NULL;
	int err = 1;

	if (!pids) {
		fputs("usage: crowd PROCESSES FILES\n", stderr);
		return 1;
	}
	if (raise_limit()) {
		fail("the limit of open files");
	} else if (start_all(n, n_files, pids)) {
		fail("processes and their files");
	} else {
		puts("ready");
		fflush(stdout);
		err = getchar() != EOF;
	}
	for (long i = 0; i < n && pids[i] > 0; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	free(pids);
	return err;
}
