/* SPDX-License-Identifier: Apache-2.0 */
#include "file/open_output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int scap_is_of_other(const struct stat *st)
{
	return st->st_uid && st->st_uid != geteuid();
}

/* Returns whether the file may have been put there for others to read what saker writes: the rules
 * of protected_regular and protected_fifos, which hold only for O_CREAT, and may be off. */
static int is_bait(const char *path, const struct stat *st)
{
	char copy[PATH_MAX];
	struct stat dir;

	if (!scap_is_of_other(st) || !(S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode)))
		return 0;
	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy) ||
	    stat(dirname(copy), &dir))
		return 1;
	return dir.st_uid != st->st_uid && dir.st_mode & (S_IWGRP | S_IWOTH);
}

int scap_open_output(const char *path, int flags, mode_t mode)
{
	const int truncates = flags & O_TRUNC;
	struct stat st;
	int fd, err = 0;

	flags = (flags & ~O_TRUNC) | O_WRONLY | O_CLOEXEC;
	if (lstat(path, &st) != 0) {
		if (errno != ENOENT)
			return -errno;
		flags |= O_CREAT | O_EXCL; /* which follows no link, either */
	} else if (S_ISLNK(st.st_mode) ? scap_is_of_other(&st) : is_bait(path, &st)) {
		return -EACCES; /* a link: as with protected_symlinks */
	} else {
		flags |= S_ISLNK(st.st_mode) ? O_CREAT : O_NOFOLLOW;
	}
	fd = open(path, flags, mode);
	if (fd < 0)
		return -errno;
	/* It may be another file by now. */
	if (fstat(fd, &st) || (flags & O_NOFOLLOW && is_bait(path, &st)))
		err = -EACCES;
	else if (truncates && S_ISREG(st.st_mode) && ftruncate(fd, 0))
		err = -errno;
	if (err)
		close(fd);
	return err ? err : fd;
}
