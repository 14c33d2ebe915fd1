/* SPDX-License-Identifier: Apache-2.0 */
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "objfile/helper_process.h"
#include "privileges.h"

/* Mode as with open(2). */
static int make_temporary(char *temporary, mode_t mode)
{
	const mode_t mask = umask(077);
	const int fd = mkostemp(temporary, O_CLOEXEC);

	umask(mask);
	if (fd < 0)
		return -errno;
	fchmod(fd, mode & ~mask);
	return fd;
}

/* Signals for the capture do not end it, and it has nothing open that others wait for. */
static void stand_apart(int from)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};

	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	if (from)
		close_range(0, (unsigned int)from - 1, 0);
	close_range((unsigned int)from + 1, UINT_MAX, 0);
}

/* To the keeper. The end of the pipe means that saker was killed; it does not come while another
 * child has the pipe, as a command that has not begun. */
enum { KEEP = 'k', DROP = 'd' };

/* Its status is an errno. */
static _Noreturn void run_keeper(int from, const char *temporary, const char *path)
{
	int err = 0;
	ssize_t n;
	char byte;

	stand_apart(from);
	privileges_drop_to_files();
	do
		n = read(from, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1 && byte == KEEP) {
		if (!rename(temporary, path))
			_exit(0);
		err = errno;
	}
	unlink(temporary);
	_exit(err);
}

static int start_keeper(struct new_file *nf, const char *temporary, const char *path)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = helper_fork();
	if (pid == 0)
		run_keeper(ends[0], temporary, path);
	close(ends[0]);
	if (pid < 0) {
		const int err = -errno;

		close(ends[1]);
		return err;
	}
	*nf = (struct new_file){pid, ends[1]};
	return 0;
}

int new_file_open(struct new_file *nf, const char *path, mode_t mode)
{
	sigset_t all, before;
	char *temporary;
	int fd, err;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	/* A signal for the group ends neither us without a keeper, nor that before it stands apart.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	fd = make_temporary(temporary, mode);
	err = fd < 0 ? 0 : start_keeper(nf, temporary, path);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		unlink(temporary);
		close(fd);
		fd = err;
	}
	free(temporary);
	return fd;
}

/* The status of a helper that has ended is the result. */
static int end_keeper(struct new_file *nf, char how)
{
	pid_t pid;
	int status, err = 0;

	if (!nf->keeper)
		return 0;
	if (write(nf->to_keeper, &how, 1) < 0 && errno != EPIPE)
		err = -errno;
	close(nf->to_keeper);
	do
		pid = waitpid(nf->keeper, &status, 0);
	while (pid < 0 && errno == EINTR);
	nf->keeper = 0;
	if (err)
		return err;
	return pid < 0 || !WIFEXITED(status) ? -EIO : -WEXITSTATUS(status);
}

int new_file_keep(struct new_file *nf)
{
	return end_keeper(nf, KEEP);
}

void new_file_drop(struct new_file *nf)
{
	end_keeper(nf, DROP);
}
