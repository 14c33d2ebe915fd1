/* SPDX-License-Identifier: Apache-2.0 */
#include "standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "say.h"
#include "sinsp.h"

static int failure; /* the first one: -EPIPE or -EIO */

/* Each is opened in the wrong direction, so that using it fails as if it were still closed. */
void standard_fds_fill(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_WRONLY);
		if (fd == STDOUT_FILENO || fd == STDERR_FILENO) {
			close(fd);
			fd = open("/dev/null", O_RDONLY);
		}
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int stdout_failed(int err)
{
	if (failure)
		return failure;
	failure = err == EPIPE ? -EPIPE : -EIO;
	if (failure == -EIO && err)
		say("cannot write to standard output: %s", strerror(err));
	else if (failure == -EIO)
		say("cannot write all to standard output");
	return failure;
}

int stdout_put(const void *p, size_t n)
{
	if (fwrite(p, 1, n, stdout) == n && !fflush(stdout))
		return 0;
	return stdout_failed(errno);
}

int stdout_put_text(struct sinsp_text *text)
{
	const size_t n = text->len;

	text->len = 0;
	return stdout_put(text->p ?: "", n);
}

/* Of a write that failed earlier, errno is not known any more. */
static int earlier_error(void)
{
	struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&fd, 1, 0) > 0 && fd.revents & POLLERR ? EPIPE : EIO;
}

int stdout_end(int status)
{
	int err = 0;

	if (fflush(stdout))
		err = stdout_failed(errno);
	else if (ferror(stdout))
		err = stdout_failed(earlier_error());
	return err == -EIO ? 1 : status;
}
