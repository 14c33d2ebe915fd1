// SPDX-License-Identifier: Apache-2.0
#include "procfs/proc_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_CAP 4096

void proc_buf_fini(struct proc_buf *b)
{
	free(b->p);
	*b = (struct proc_buf){0};
}

static int reserve(struct proc_buf *b, size_t cap)
{
	char *p;

	if (cap <= b->cap)
		return 0;
	p = realloc(b->p, cap);
	if (!p)
		return -ENOMEM;
	b->p = p;
	b->cap = cap;
	return 0;
}

/* Reads once, and returns the number of bytes, 0 at the end. Leaves room for a NUL. */
static ssize_t read_more(struct proc_buf *b, int fd, size_t max)
{
	size_t room;
	ssize_t n;

	if (b->cap - b->len < 2 && reserve(b, b->cap ? b->cap * 2 : FIRST_CAP))
		return -ENOMEM;
	room = b->cap - b->len - 1;
	if (room > max - b->len)
		room = max - b->len;
	if (!room)
		return 0;
	do
		n = read(fd, b->p + b->len, room);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	b->len += n;
	return n;
}

static int read_whole(struct proc_buf *b, int dirfd, const char *name, size_t max, int to_end)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int full;

	if (fd < 0)
		return -errno;
	b->len = 0;
	do {
		n = read_more(b, fd, max);
		full = b->cap - b->len < 2;
	} while (n > 0 && (to_end || full));
	close(fd);
	if (n < 0)
		return n;
	b->p[b->len] = 0;
	return 0;
}

int proc_read(struct proc_buf *b, int dirfd, const char *name, size_t max)
{
	return read_whole(b, dirfd, name, max, 0);
}

int proc_read_all(struct proc_buf *b, int dirfd, const char *name, size_t max)
{
	return read_whole(b, dirfd, name, max, 1);
}

int proc_readlink(struct proc_buf *b, int dirfd, const char *name)
{
	ssize_t n;

	if (reserve(b, FIRST_CAP + 1))
		return -ENOMEM;
	n = readlinkat(dirfd, name, b->p, b->cap - 1);
	if (n < 0)
		return -errno;
	b->len = n;
	b->p[n] = 0;
	return 0;
}

int proc_dir_open(struct proc_dir *d, int dirfd, const char *name)
{
	d->pos = d->len = 0;
	d->fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return d->fd < 0 ? -errno : 0;
}

void proc_dir_close(struct proc_dir *d)
{
	close(d->fd);
}

static int is_number(const char *s, uint64_t *num)
{
	uint64_t v = 0;

	if (!*s)
		return 0;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || v > UINT32_MAX)
			return 0;
		v = v * 10 + (*s - '0');
	}
	*num = v;
	return 1;
}

int proc_dir_next(struct proc_dir *d, uint64_t *num)
{
	for (;;) {
		const struct dirent64 *e;
		ssize_t n;

		if (d->pos >= d->len) {
			n = getdents64(d->fd, d->buf, sizeof(d->buf));
			if (n <= 0)
				return n ? -errno : 0;
			d->len = n;
			d->pos = 0;
		}
		e = (const struct dirent64 *)((const char *)d->buf + d->pos);
		d->pos += e->d_reclen;
		if (is_number(e->d_name, num))
			return 1;
	}
}

static const char *skip_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

uint64_t proc_dec(const char **p)
{
	const char *s = skip_blanks(*p);
	uint64_t v = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		v = v * 10 + (*s - '0');
	*p = s;
	return v;
}

int64_t proc_int(const char **p)
{
	const char *s = skip_blanks(*p);
	int neg = *s == '-';
	uint64_t v;

	s += neg;
	v = proc_dec(&s);
	*p = s;
	return neg ? -v : v;
}

uint64_t proc_oct(const char **p)
{
	const char *s = skip_blanks(*p);
	uint64_t v = 0;

	for (; *s >= '0' && *s <= '7'; s++)
		v = v * 8 + (*s - '0');
	*p = s;
	return v;
}

uint64_t proc_hex(const char **p)
{
	const char *s = skip_blanks(*p);
	uint64_t v = 0;

	for (;; s++) {
		if (*s >= '0' && *s <= '9')
			v = v * 16 + (*s - '0');
		else if ((*s | 32) >= 'a' && (*s | 32) <= 'f')
			v = v * 16 + ((*s | 32) - 'a' + 10);
		else
			break;
	}
	*p = s;
	return v;
}

const char *proc_key(const char **p, const char *key)
{
	size_t n = strlen(key);
	const char *s = *p;

	while (s && *s) {
		if (!strncmp(s, key, n) && s[n] == ':')
			return *p = s + n + 1;
		s = strchr(s, '\n');
		s = s ? s + 1 : NULL;
	}
	return NULL;
}
