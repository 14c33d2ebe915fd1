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
#include "option_values.h"
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
	if (!is_gz_name(path))
		return 0;
	out->gz = gzdopen(out->fd, "wb");
	if (out->gz)
		return 0;
	close(out->fd);
	say("cannot write lines to %s: %s", path, strerror(ENOMEM));
	return -ENOMEM;
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

/* What a flush wrote can be read, whatever happens then. */
static int pack_all(gzFile gz, const char *p, size_t len)
{
	static const size_t most = 1 << 20;

	errno = 0;
	for (size_t n; len; p += n, len -= n) {
		n = len < most ? len : most;
		if (gzwrite(gz, p, (unsigned int)n) != (int)n)
			return -(errno ?: EIO);
	}
	return gzflush(gz, Z_SYNC_FLUSH) == Z_OK ? 0 : -(errno ?: EIO);
}

static int put_all(struct output *out, const char *p, size_t len)
{
	if (!len)
		return 0;
	return out->gz ? pack_all(out->gz, p, len) : write_all(out->fd, p, len);
}

int output_write(struct output *out, const char *text, size_t len)
{
	int err;

	if (out->failed)
		return -EPIPE;
	err = put_all(out, out->text.p, out->text.len);
	if (!err)
		err = put_all(out, text, len);
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
	err = put_all(out, out->text.p, len);
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

static int close_file(struct output *out)
{
	errno = 0;
	if (out->gz ? gzclose(out->gz) == Z_OK : close(out->fd) == 0)
		return 0;
	return -(errno ?: EIO);
}

int output_close(struct output *out)
{
	int err = output_flush(out), closed = out->owned ? close_file(out) : 0;

	free(out->text.p);
	if (closed && !err && !out->failed)
		err = write_failed(out, closed);
	*out = (struct output){.fd = -1, .failed = out->failed};
	return err;
}
