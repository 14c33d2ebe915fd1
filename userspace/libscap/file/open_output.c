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

/* Returns whether another user may have put the file there, to read what saker writes (a file or
 * pipe of his) or to have saker overwrite it (a second name of ours): the rules of
 * protected_regular, protected_fifos and protected_hardlinks, which may be off. */
static int is_bait(const char *path, const struct stat *st)
{
	const int is_file = S_ISREG(st->st_mode), is_of_other = scap_is_of_other(st);
	char copy[PATH_MAX];
	struct stat dir;
	int others_write;

	if (is_of_other && !is_file && !S_ISFIFO(st->st_mode))
		return 0;
	if (!is_of_other && !(is_file && st->st_nlink > 1))
		return 0;
	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy) ||
	    stat(dirname(copy), &dir))
		return 1;
	others_write = !!(dir.st_mode & (S_IWGRP | S_IWOTH));
	if (is_of_other)
		return others_write && dir.st_uid != st->st_uid;
	return others_write || scap_is_of_other(&dir);
}

/* Replaces the path of a link by that to which it leads: @fd is the link itself. Returns 0; 1: it
 * is in /proc, where only the kernel can follow those of descriptors; or a negative errno. */
static int follow_one(char path[PATH_MAX], int fd)
{
	char to[PATH_MAX], from[PATH_MAX];
	const ssize_t len = readlinkat(fd, "", to, sizeof(to) - 1);
	struct statfs fs;
	int n;

	if (len < 0)
		return -errno;
	if (fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
		return 1;
	to[len] = 0;
	memcpy(from, path, strlen(path) + 1);
	n = *to == '/' ? snprintf(path, PATH_MAX, "%s", to)
		       : snprintf(path, PATH_MAX, "%s/%s", dirname(from), to);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Whoever may write to the folder can put another link there at any time: owner and target are
 * those of one link, which is open. */
static int follow_if_link(char path[PATH_MAX], struct stat *st, int *is_link)
{
	const int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int err;

	*is_link = 0;
	if (fd < 0) {
		st->st_nlink = 0;
		return errno == ENOENT ? 0 : -errno;
	}
	err = fstat(fd, st) ? -errno : 0;
	if (!err && S_ISLNK(st->st_mode)) {
		*is_link = 1;
		err = scap_is_of_other(st) ? -EACCES /* as with protected_symlinks */
					   : follow_one(path, fd);
	}
	close(fd);
	return err;
}

int scap_follow_links(char end[PATH_MAX], struct stat *st, const char *path)
{
	if (snprintf(end, PATH_MAX, "%s", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	for (int n = 0; n < LINKS_MAX; n++) {
		int is_link;
		const int err = follow_if_link(end, st, &is_link);

		if (err || !is_link)
			return err;
	}
	return -ELOOP;
}

int scap_open_output(const char *path, int flags, mode_t mode)
{
	const int truncates = flags & O_TRUNC;
	char end[PATH_MAX];
	struct stat st;
	int fd, err = 0, in_proc = scap_follow_links(end, &st, path);

	if (in_proc < 0)
		return in_proc;
	flags = (flags & ~O_TRUNC) | O_WRONLY | O_CLOEXEC | (in_proc ? 0 : O_NOFOLLOW);
	if (!st.st_nlink)
		flags |= O_CREAT | O_EXCL;
	else if (!in_proc && is_bait(end, &st))
		return -EACCES;
	fd = open(end, flags, mode);
	if (fd < 0)
		return -errno;
	/* It may be another file by now. */
	if (fstat(fd, &st) || (!in_proc && is_bait(end, &st)))
		err = -EACCES;
	else if (truncates && S_ISREG(st.st_mode) && ftruncate(fd, 0))
		err = -errno;
	if (err)
		close(fd);
	return err ? err : fd;
}

const char *scap_open_output_error(const char *path, int err)
{
	char end[PATH_MAX];
	struct stat st;
	int in_proc;

	if (err != -EACCES)
		return strerror(-err);
	in_proc = scap_follow_links(end, &st, path);
	if (in_proc == -EACCES && !lstat(path, &st) && S_ISLNK(st.st_mode))
		return "Permission denied: the link, or one behind it, belongs to another user";
	if (!in_proc && st.st_nlink && is_bait(end, &st))
		return "Permission denied: the file belongs to another user, or one may have put "
		       "it there; choose another folder";
	return strerror(-err);
}
