/* SPDX-License-Identifier: Apache-2.0 */
#include "chisel_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "say.h"

static ssize_t write_gz(void *ctx, const char *p, size_t n)
{
	return gzwrite(ctx, p, (unsigned int)n);
}

static int close_gz(void *ctx)
{
	return gzclose(ctx) == Z_OK ? 0 : -1;
}

static int is_gz(const char *path)
{
	const size_t len = strlen(path);

	return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

static FILE *open_gz(int fd)
{
	const cookie_io_functions_t fns = {.write = write_gz, .close = close_gz};
	gzFile gz = gzdopen(fd, "wb");
	FILE *f = gz ? fopencookie(gz, "w", fns) : NULL;

	if (gz && !f)
		gzclose(gz);
	else if (!gz)
		close(fd);
	return f;
}

int chisel_output_open(FILE **out, const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *f;

	if (fd < 0) {
		const int err = -errno;

		say("%s: cannot write there: %s", path, strerror(-err));
		return err;
	}
	if (is_gz(path)) {
		f = open_gz(fd);
	} else {
		f = fdopen(fd, "w");
		if (!f)
			close(fd);
	}
	if (!f) {
		say("%s: cannot write there: not enough memory", path);
		return -ENOMEM;
	}
	*out = f;
	return 0;
}
