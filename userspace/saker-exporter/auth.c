/* SPDX-License-Identifier: Apache-2.0 */
#include "auth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"

enum { FILE_MAX = 1 << 20 };

struct auth {
	char *text; /* owned; pairs USER:PASSWORD, each with a NUL */
	size_t n;
};

static int check_file(const struct stat *st, const char *path, const char *what,
		      enum file_kind kind)
{
	if (!S_ISREG(st->st_mode)) {
		say("cannot read %s %s: not a regular file", what, path);
		return -EINVAL;
	}
	if (st->st_size > FILE_MAX) {
		say("cannot read %s %s: larger than 1 MiB", what, path);
		return -EFBIG;
	}
	if (kind == FILE_SECRET && st->st_mode & (S_IRWXO)) {
		say("refusing %s %s: others can read it; chmod o= %s", what, path, path);
		return -EPERM;
	}
	if (kind == FILE_TRUSTED && !geteuid() &&
	    (st->st_uid || st->st_mode & (S_IWGRP | S_IWOTH))) {
		say("refusing %s %s: others can write to it; chown root %s; chmod go-w %s", what,
		    path, path, path);
		return -EPERM;
	}
	return 0;
}

static ssize_t read_all(int fd, char *p, size_t sz)
{
	size_t n = 0;
	ssize_t got;

	while (n < sz && (got = read(fd, p + n, sz - n)) != 0) {
		if (got < 0 && errno != EINTR)
			return -errno;
		n += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)n;
}

int read_whole_file(char **out, const char *path, const char *what, enum file_kind kind)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	struct stat st;
	ssize_t n;
	int err;

	if (fd < 0 || fstat(fd, &st)) {
		err = -errno;
		say("cannot read %s %s: %s", what, path, strerror(-err));
		goto out;
	}
	err = check_file(&st, path, what, kind);
	if (err)
		goto out;
	text = calloc(1, (size_t)st.st_size + 1);
	n = text ? read_all(fd, text, (size_t)st.st_size) : -ENOMEM;
	if (n < 0) {
		err = (int)n;
		say("cannot read %s %s: %s", what, path, strerror(-err));
		goto out;
	}
	if (strlen(text) != (size_t)n) {
		err = -EINVAL;
		say("cannot use %s %s: it has a NUL byte", what, path);
		goto out;
	}
	*out = text;
	text = NULL;
out:
	free(text);
	if (fd >= 0)
		close(fd);
	return err;
}

/* Splits the text into pairs. Returns the number of the line that is none; 0: all are. */
static size_t split(struct auth *a)
{
	size_t n_lines = 0, len;
	char *to = a->text, *next;

	for (char *line = a->text; line && *line; line = next) {
		len = strcspn(line, "\r\n");
		next = line + len + (strncmp(line + len, "\r\n", 2) == 0);
		next = *next ? next + 1 : NULL;
		n_lines++;
		if (!len || *line == '#')
			continue;
		if (*line == ':' || !memchr(line, ':', len))
			return n_lines;
		memmove(to, line, len);
		to[len] = 0;
		to += len + 1;
		a->n++;
	}
	return 0;
}

int auth_read(struct auth **out, const char *path)
{
	struct auth *a = calloc(1, sizeof(*a));
	int err = a ? read_whole_file(&a->text, path, "--auth-file", FILE_SECRET) : -ENOMEM;
	size_t bad;

	if (err) {
		free(a);
		return err;
	}
	bad = split(a);
	if (bad)
		say("%s: line %zu is not USER:PASSWORD", path, bad);
	else if (!a->n)
		say("%s has no user: add a line USER:PASSWORD", path);
	if (bad || !a->n) {
		auth_free(a);
		return -EINVAL;
	}
	*out = a;
	return 0;
}

void auth_free(struct auth *a)
{
	if (a)
		free(a->text);
	free(a);
}

/* Returns 1 if the texts are equal, in time that depends on the length of @given alone. */
static unsigned int is_equal(const char *given, const char *kept)
{
	const size_t n = strlen(given), n_kept = strlen(kept);
	unsigned int differ = n != n_kept;

	for (size_t i = 0; i < n; i++)
		differ |= (unsigned char)given[i] ^ (unsigned char)kept[n_kept ? i % n_kept : 0];
	return !differ;
}

int auth_accepts(const struct auth *a, const char *user, const char *password)
{
	const char *pair = a->text;
	unsigned int found = 0;
	size_t len;
	char *given;

	if (!user || !password || strchr(user, ':'))
		return 0;
	len = strlen(user) + strlen(password) + 2;
	given = malloc(len);
	if (!given)
		return 0;
	strcpy(stpcpy(stpcpy(given, user), ":"), password);
	for (size_t i = 0; i < a->n; i++, pair += strlen(pair) + 1)
		found |= is_equal(given, pair);
	free(given);
	return (int)found;
}
