/* SPDX-License-Identifier: Apache-2.0 */
#include "file/open_output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* as in the kernel */

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

/* Returns whether a link is in /proc: only the kernel can follow those of descriptors. */
static int is_in_proc(const char *path)
{
	const int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;
	int is;

	if (fd < 0)
		return 0;
	is = fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
	close(fd);
	return is;
}

/* Replaces the path of a link by that to which it leads. */
static int follow_one(char path[PATH_MAX])
{
	char to[PATH_MAX], from[PATH_MAX];
	const ssize_t len = readlink(path, to, sizeof(to) - 1);
	int n;

	if (len < 0)
		return -errno;
	to[len] = 0;
	memcpy(from, path, strlen(path) + 1);
	n = *to == '/' ? snprintf(path, PATH_MAX, "%s", to)
		       : snprintf(path, PATH_MAX, "%s/%s", dirname(from), to);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int scap_follow_links(char path[PATH_MAX], struct stat *st)
{
	for (int n = 0; n < LINKS_MAX; n++) {
		int err;

		if (lstat(path, st)) {
			st->st_nlink = 0;
			return errno == ENOENT ? 0 : -errno;
		}
		if (!S_ISLNK(st->st_mode))
			return 0;
		if (scap_is_of_other(st))
			return -EACCES; /* as with protected_symlinks */
		if (is_in_proc(path))
			return 1;
		err = follow_one(path);
		if (err)
			return err;
	}
	return -ELOOP;
}

int scap_open_output(const char *path, int flags, mode_t mode)
{
	const int truncates = flags & O_TRUNC;
	char end[PATH_MAX];
	struct stat st;
	int fd, err, in_proc;

	if (snprintf(end, sizeof(end), "%s", path) >= (int)sizeof(end))
		return -ENAMETOOLONG;
	err = scap_follow_links(end, &st);
	if (err < 0)
		return err;
	in_proc = err;
	flags = (flags & ~O_TRUNC) | O_WRONLY | O_CLOEXEC | (in_proc ? 0 : O_NOFOLLOW);
	if (!st.st_nlink)
		flags |= O_CREAT | O_EXCL;
	else if (!in_proc && is_bait(end, &st))
		return -EACCES;
	fd = open(end, flags, mode);
	if (fd < 0)
		return -errno;
	err = 0;
	/* It may be another file by now. */
	if (fstat(fd, &st) || (!in_proc && is_bait(end, &st)))
		err = -EACCES;
	else if (truncates && S_ISREG(st.st_mode) && ftruncate(fd, 0))
		err = -errno;
	if (err)
		close(fd);
	return err ? err : fd;
}
