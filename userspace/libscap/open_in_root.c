/* SPDX-License-Identifier: Apache-2.0 */
#include "open_in_root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A FIFO would wait for a writer, a terminal become ours. */
#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static int open_below(int root, const char *path)
{
	struct open_how how = {
		.flags = FLAGS,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	const int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int open_in_root(const char *root, const char *path)
{
	struct stat st;
	int dir, fd;

	if (!root) {
		fd = open(path, FLAGS);
		if (fd < 0)
			return -errno;
	} else {
		dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			return -errno;
		fd = open_below(dir, path);
		close(dir);
		if (fd < 0)
			return fd;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}
