/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling/sampler_session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN_DIR "/run/saker"

/* Opens the directory of the lock, which only its owner may write to. Returns -EACCES if others
 * may. */
static int open_dir(void)
{
	struct stat st;
	int dir;

	if (mkdir(RUN_DIR, 0700) && errno != EEXIST)
		return -errno;
	dir = open(RUN_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (fstat(dir, &st) || st.st_uid != geteuid() || st.st_mode & 022) {
		close(dir);
		return -EACCES;
	}
	return dir;
}

static void lock_name(char *to, size_t sz, const char *name)
{
	snprintf(to, sz, "sampler%s%s.lock", name ? "-" : "", name ? name : "");
	for (char *c = to; *c; c++)
		if (*c == '/')
			*c = '_';
}

/* Returns whether @fd is still the file of that name: whoever ended the session before may have
 * removed it. */
static int is_current(int dir, const char *name, int fd)
{
	struct stat a, b;

	return !fstat(fd, &a) && !fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Opens and locks the file. Returns the descriptor; -EWOULDBLOCK with *pid if another process holds
 * it, 0 if unknown. */
static int take_lock(int dir, const char *name, int *pid)
{
	char text[16] = "";
	int fd, err;

	for (;;) {
		fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			err = -errno;
			if (pread(fd, text, sizeof(text) - 1, 0) > 0)
				*pid = atoi(text);
			close(fd);
			return err;
		}
		if (is_current(dir, name, fd))
			break;
		close(fd);
	}
	if (ftruncate(fd, 0) || dprintf(fd, "%d\n", getpid()) < 0)
		*pid = 0; /* for messages only */
	return fd;
}

int sampler_session_begin(const char *name, const struct scap_log *log)
{
	const int dir = open_dir();
	char file[NAME_MAX];
	int fd, pid = 0;

	lock_name(file, sizeof(file), name);
	fd = dir < 0 ? dir : take_lock(dir, file, &pid);
	if (dir >= 0)
		close(dir);
	if (fd >= 0)
		return fd;
	if (fd != -EWOULDBLOCK) {
		scap_say(log, SCAP_LOG_WARN,
			 "cannot lock %s/%s: %s; other profiles at the same time are not detected",
			 RUN_DIR, file, strerror(-fd));
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	if (pid)
		return scap_fail(log, -EEXIST,
				 "process %d already samples stacks, which one process at a time "
				 "can do; wait until it ends",
				 pid);
	return scap_fail(log, -EEXIST,
			 "another process already samples stacks, which one process at a time "
			 "can do; wait until it ends");
}

void sampler_session_end(int fd)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	if (fd < 0)
		return;
	/* The lock is held until the close, so the file can still be removed. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	if (!strncmp(path, RUN_DIR "/", strlen(RUN_DIR "/")))
		unlink(path);
	close(fd);
}
