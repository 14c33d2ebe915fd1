/* SPDX-License-Identifier: Apache-2.0 */
#include "chisel_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/open_output.h"
#include "option_values.h"
#include "say.h"

enum { BUFFER_BYTES = 64 << 10 };

/* Truncates the file; pipes and devices need none. Returns 0 or an errno. */
static int begin(struct chisel_output *out)
{
	if (out->begun)
		return 0;
	out->begun = 1;
	if (!out->new.keeper && ftruncate(out->fd, 0) && errno != EINVAL)
		return errno;
	if (!out->is_drawing) {
		const int err = new_file_keep(&out->new);

		if (err)
			return -err;
	}
	if (is_gz_name(out->path)) {
		out->gz = gzdopen(out->fd, "wb");
		if (!out->gz)
			return ENOMEM;
	}
	return 0;
}

static ssize_t put(struct chisel_output *out, const char *p, size_t n)
{
	ssize_t done;

	if (out->gz)
		return gzwrite(out->gz, p, (unsigned int)n);
	do
		done = write(out->fd, p, n);
	while (done < 0 && errno == EINTR);
	return done;
}

/* Writes for fopencookie, for which 0 is a failure. */
static ssize_t write_output(void *ctx, const char *p, size_t n)
{
	struct chisel_output *out = ctx;
	ssize_t done;

	if (!out->err)
		out->err = begin(out);
	if (out->err)
		return 0;
	errno = 0;
	done = put(out, p, n);
	if (done > 0)
		return done;
	out->err = errno ?: EIO;
	return 0;
}

static int close_output(void *ctx)
{
	struct chisel_output *out = ctx;
	int bad;

	errno = 0;
	bad = out->gz ? gzclose(out->gz) != Z_OK : close(out->fd) != 0;
	if (bad && !out->err)
		out->err = errno ?: EIO;
	return bad ? -1 : 0;
}

/* Opens the stream. If the file is a terminal, chisels have a terminal as well. */
static FILE *open_stream(struct chisel_output *out)
{
	const cookie_io_functions_t fns = {.write = write_output, .close = close_output};
	FILE *f;

	if (isatty(out->fd))
		return fdopen(out->fd, "w");
	f = fopencookie(out, "w", fns);
	if (f)
		setvbuf(f, NULL, _IOFBF, BUFFER_BYTES);
	return f;
}

static int open_path(struct chisel_output *out, mode_t mode)
{
	struct stat st;

	if (lstat(out->path, &st) && errno == ENOENT) {
		out->fd = new_file_open(&out->new, out->path, mode);
		return out->fd < 0 ? out->fd : 0;
	}
	out->fd = scap_open_output(out->path, 0, mode);
	return out->fd < 0 ? out->fd : 0;
}

int chisel_output_open(struct chisel_output *out, const char *path, enum chisel_output_kind kind)
{
	struct chisel_output new = {.path = path, .is_drawing = kind != CHISEL_OUTPUT_LINES};
	int err = open_path(&new, kind == CHISEL_OUTPUT_PICTURE ? 0666 : 0600);

	if (err) {
		say("cannot write %s: %s", path, scap_open_output_error(path, err));
		return err;
	}
	*out = new;
	out->f = open_stream(out);
	if (out->f)
		return 0;
	close(out->fd);
	new_file_drop(&out->new);
	say("cannot write %s: not enough memory", path);
	return -ENOMEM;
}

int chisel_output_close(struct chisel_output *out, int failed)
{
	FILE *f = out->f;
	int is_unwanted;

	if (!f)
		return 0;
	out->f = NULL;
	fflush(f); /* which may be the first write */
	is_unwanted = failed && !out->begun && !out->err;
	if (!is_unwanted && !out->err)
		out->err = begin(out);
	if (fclose(f) && !out->err)
		out->err = errno;
	if (!is_unwanted && !out->err)
		out->err = -new_file_keep(&out->new);
	new_file_drop(&out->new);
	if (out->err)
		say("cannot write all of %s: %s", out->path, strerror(out->err));
	return -out->err;
}
