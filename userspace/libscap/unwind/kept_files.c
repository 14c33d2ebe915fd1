/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/kept_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "objfile/open_in_root.h"

#define KEPT_MAX 256

struct kept_files {
	pthread_mutex_t lock; /* of what follows */
	struct kept {
		uint64_t ino;
		uint32_t dev;
		int fd;
	} v[KEPT_MAX];
	unsigned int n;
};

struct kept_files *kept_files_new(void)
{
	struct kept_files *k = calloc(1, sizeof(*k));

	if (k)
		pthread_mutex_init(&k->lock, NULL);
	return k;
}

void kept_files_free(struct kept_files *k)
{
	if (!k)
		return;
	for (unsigned int i = 0; i < k->n; i++)
		close(k->v[i].fd);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

static int is_ours(const struct stat *st, const char *path)
{
	struct stat found;
	const int fd = open_in_root(NULL, path, &found);

	if (fd < 0)
		return 0;
	close(fd);
	return found.st_dev == st->st_dev && found.st_ino == st->st_ino;
}

/* -1: none. While a descriptor is open no other file gets its inode. */
static int find(const struct kept_files *k, uint32_t dev, uint64_t ino)
{
	for (unsigned int i = 0; i < k->n; i++)
		if (k->v[i].ino == ino && k->v[i].dev == dev)
			return k->v[i].fd;
	return -1;
}

void kept_files_add(struct kept_files *k, int fd, const struct stat *st, uint32_t dev, uint64_t ino,
		    const char *path)
{
	int own;

	if (!k || is_ours(st, path))
		return;
	pthread_mutex_lock(&k->lock);
	if (k->n < KEPT_MAX && find(k, dev, ino) < 0) {
		own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (own >= 0)
			k->v[k->n++] = (struct kept){ino, dev, own};
	}
	pthread_mutex_unlock(&k->lock);
}

int kept_files_open(struct kept_files *k, uint32_t dev, uint64_t ino)
{
	int fd;

	pthread_mutex_lock(&k->lock);
	fd = find(k, dev, ino);
	if (fd >= 0)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&k->lock);
	return fd < 0 ? -ENOENT : fd;
}
