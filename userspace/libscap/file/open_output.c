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

/* Returns whether the file may have been put there for others to read what saker writes, or for
 * saker to overwrite it: the rules of protected_regular, protected_fifos and protected_hardlinks,
 * which may be off. */
static int is_bait(const char *path, const struct stat *st)
{
	const int is_of_other = scap_is_of_other(st), is_file = S_ISREG(st->st_mode);
	char copy[PATH_MAX];
	struct stat dir;
	int is_open;

	if (is_of_other ? !(is_file || S_ISFIFO(st->st_mode)) : !(is_file && st->st_nlink > 1))
		return 0;
	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy) ||
	    stat(dirname(copy), &dir))
		return 1;
	is_open = !!(dir.st_mode & (S_IWGRP | S_IWOTH));
	return is_of_other ? is_open && dir.st_uid != st->st_uid
			   : is_open || scap_is_of_other(&dir);
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

int scap_follow_links(char path[PATH_MAX], struct stat *st)
{
	for (int n = 0; n < LINKS_MAX; n++) {
		int is_link;
		const int err = follow_if_link(path, st, &is_link);

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
