/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "file/open_output.h"
#include "say.h"

enum { FULL_BYTES = 128 << 10, OLD_MS = 50 };

int output_open(struct output *out, const char *path, int fd, int unbuffered)
{
	*out = (struct output){.fd = fd, .unbuffered = unbuffered};
	out->name = path ? path : fd == STDERR_FILENO ? "standard error" : "standard output";
	out->flushed_ms = clock_coarse_ms();
	if (path && strcmp(path, "-") == 0) {
		out->fd = STDOUT_FILENO;
		out->name = "standard output";
		return 0;
	}
	if (!path)
		return 0;
	out->fd = scap_open_output(path, O_TRUNC, 0600);
	if (out->fd < 0) {
		say("cannot write lines to %s: %s", path, scap_open_output_error(path, out->fd));
		return out->fd;
	}
	out->owned = 1;
	return 0;
}

/* -EPIPE: no more can be written. */
static int write_failed(struct output *out, int err)
{
	if (err != -EPIPE) {
		out->failed = 1;
		say("cannot write lines to %s: %s", out->name, strerror(-err));
	}
	return -EPIPE;
}

/* Waits for a descriptor that someone else made non-blocking, such as a terminal shared with a
 * shell. */
static int wait_writable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

static int write_all(int fd, const char *p, size_t len)
{
	size_t done = 0;
	int err = 0;

	while (!err && done < len) {
		ssize_t n = write(fd, p + done, len - done);

		if (n >= 0)
			done += n;
		else if (errno == EAGAIN)
			err = wait_writable(fd);
		else if (errno != EINTR)
			err = -errno;
	}
	return err;
}

int output_write(struct output *out, const char *text, size_t len)
{
	int err;

	if (out->failed)
		return -EPIPE;
	err = write_all(out->fd, out->text.p, out->text.len);
	if (!err)
		err = write_all(out->fd, text, len);
	out->text.len = 0;
	out->flushed_ms = clock_coarse_ms();
	return err ? write_failed(out, err) : 0;
}

int output_flush(struct output *out)
{
	return out->text.len ? output_write(out, NULL, 0) : 0;
}

void output_flush_lines(struct output *out)
{
	const char *end = out->text.len ? memrchr(out->text.p, '\n', out->text.len) : NULL;
	const size_t len = end ? (size_t)(end + 1 - out->text.p) : 0, rest = out->text.len - len;
	int err;

	if (!len || out->failed)
		return;
	err = write_all(out->fd, out->text.p, len);
	memmove(out->text.p, out->text.p + len, rest);
	out->text.len = rest;
	if (err)
		write_failed(out, err);
}

int output_flush_old(struct output *out)
{
	if (out->text.len && clock_coarse_ms() - out->flushed_ms >= OLD_MS)
		return output_flush(out);
	return 0;
}

int output_line(struct output *out)
{
	return out->unbuffered || out->text.len >= FULL_BYTES ? output_flush(out) : 0;
}

int output_close(struct output *out)
{
	int err = output_flush(out);

	free(out->text.p);
	if (out->owned && close(out->fd) && !err)
		err = write_failed(out, -errno);
	*out = (struct output){.fd = -1, .failed = out->failed};
	return err;
}
