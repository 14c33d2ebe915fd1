/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "file/open_output.h"

enum { NAME_SZ = 64, BATCH_MAX = 64 << 20, FILES_MAX = 1 << 20 };
#define UNFINISHED "new.tmp"

/* Before the bytes of the batch. */
struct head {
	char magic[8];
	uint32_t len, crc;
};
static const char magic[8] = "sakotlp1";

uint64_t otlp_file_size(size_t len)
{
	const uint64_t n = sizeof(struct head) + len;

	return n < OTLP_FILE_MIN_SZ ? OTLP_FILE_MIN_SZ : n;
}

/* Others who can write to it could send what they want, with the headers of the collector. One of
 * another user could not be written to when privileges are dropped. */
static int check_dir(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
		return -EPERM;
	/* Not every file system has locks of directories. */
	return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK ? -EBUSY : 0;
}

int otlp_dir_open(const char *path)
{
	char end[PATH_MAX];
	struct stat st;
	int fd, err, in_proc;

	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	/* A link of another user could lead to any folder of ours. */
	in_proc = scap_follow_links(end, &st, path);
	if (in_proc < 0)
		return in_proc == -EACCES ? -EPERM : in_proc;
	fd = open(end, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (in_proc ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return -errno;
	err = check_dir(fd);
	if (err)
		close(fd);
	return err ?: fd;
}

static void put_name(char *to, const struct otlp_file *f)
{
	snprintf(to, NAME_SZ, "%016" PRIx64 ".%s.%" PRIu32 ".otlp", f->seq,
		 otlp_signal_names[f->signal], f->n_items);
}

/* Returns whether the name is exactly one that put_name makes. */
static int read_name(struct otlp_file *f, const char *name)
{
	char signal[16] = "", again[NAME_SZ];

	if (sscanf(name, "%16" SCNx64 ".%15[a-z].%" SCNu32 ".otlp", &f->seq, signal, &f->n_items) !=
	    3)
		return 0;
	for (f->signal = 0; f->signal < OTLP_SIGNALS; f->signal++)
		if (!strcmp(signal, otlp_signal_names[f->signal]))
			break;
	if (f->signal == OTLP_SIGNALS)
		return 0;
	put_name(again, f);
	return !strcmp(again, name);
}

static int is_older(const void *a, const void *b)
{
	const struct otlp_file *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Returns whether the name was of a file, which is added. */
static int add_file(struct otlp_file **list, size_t *n, int dir, const char *name)
{
	struct otlp_file f, *more;
	struct stat st;

	if (!read_name(&f, name) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode))
		return 0;
	f.size = (uint64_t)st.st_size < OTLP_FILE_MIN_SZ ? OTLP_FILE_MIN_SZ : (uint64_t)st.st_size;
	if (!(*n & (*n - 1))) { /* a power of two, or 0: it is full */
		more = realloc(*list, (*n ? 2 * *n : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		*list = more;
	}
	(*list)[(*n)++] = f;
	return 1;
}

int otlp_dir_list(struct otlp_file **out, int dir)
{
	const int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct otlp_file *list = NULL;
	const struct dirent *entry;
	size_t n = 0;
	int err = 0;

	if (!d) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	unlinkat(dir, UNFINISHED, 0);
	while (err >= 0 && n < FILES_MAX && (entry = readdir(d)))
		err = add_file(&list, &n, dir, entry->d_name);
	closedir(d);
	if (err < 0) {
		free(list);
		return err;
	}
	if (n)
		qsort(list, n, sizeof(*list), is_older);
	*out = list;
	return (int)n;
}

static int write_all(int fd, const void *p, size_t n)
{
	while (n) {
		const ssize_t r = write(fd, p, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r < 0 ? -errno : -EIO;
		p = (const char *)p + r;
		n -= (size_t)r;
	}
	return 0;
}

static uint32_t crc_of(const uint8_t *p, size_t n)
{
	return (uint32_t)crc32(crc32(0, NULL, 0), p, (uInt)n);
}

void otlp_dir_sync(int dir)
{
	syncfs(dir);
}

int otlp_file_write(int dir, const struct otlp_batch *batch, enum otlp_sync sync)
{
	const struct otlp_file f = {
		.seq = batch->seq, .n_items = batch->n_items, .signal = batch->signal};
	struct head head = {.len = (uint32_t)batch->len, .crc = crc_of(batch->bytes, batch->len)};
	char name[NAME_SZ];
	int err, fd = openat(dir, UNFINISHED, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			     0600);

	if (fd < 0)
		return -errno;
	memcpy(head.magic, magic, sizeof(magic));
	put_name(name, &f);
	err = write_all(fd, &head, sizeof(head)) ?: write_all(fd, batch->bytes, batch->len);
	if (!err && sync == OTLP_SYNC_NOW && fdatasync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir, UNFINISHED, dir, name))
		err = -errno;
	if (err)
		unlinkat(dir, UNFINISHED, 0);
	else if (sync == OTLP_SYNC_NOW)
		fsync(dir); /* some file systems refuse it */
	return err;
}

static int read_all(int fd, void *p, size_t n)
{
	while (n) {
		const ssize_t r = read(fd, p, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return 0;
		p = (char *)p + r;
		n -= (size_t)r;
	}
	return 1;
}

/* Returns 0, -EAGAIN or -EBADMSG. */
static int read_batch(struct otlp_batch **out, int fd, const struct otlp_file *f)
{
	struct otlp_batch *batch;
	struct head head;

	if (!read_all(fd, &head, sizeof(head)) || memcmp(head.magic, magic, sizeof(magic)) ||
	    head.len > BATCH_MAX || otlp_file_size(head.len) != f->size)
		return -EBADMSG;
	batch = malloc(sizeof(*batch) + head.len);
	if (!batch)
		return -EAGAIN;
	*batch = (struct otlp_batch){.seq = f->seq,
				     .n_items = f->n_items,
				     .signal = f->signal,
				     .on_disk = 1,
				     .len = head.len};
	if (!read_all(fd, batch->bytes, head.len) || crc_of(batch->bytes, head.len) != head.crc) {
		free(batch);
		return -EBADMSG;
	}
	*out = batch;
	return 0;
}

int otlp_file_read(struct otlp_batch **out, int dir, const struct otlp_file *f)
{
	char name[NAME_SZ];
	int fd, err;

	put_name(name, f);
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -EAGAIN : -EBADMSG;
	err = read_batch(out, fd, f);
	close(fd);
	return err;
}

void otlp_file_remove(int dir, const struct otlp_file *f)
{
	char name[NAME_SZ];

	put_name(name, f);
	unlinkat(dir, name, 0);
}
