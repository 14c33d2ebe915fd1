/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP over a unix socket. In HTTP 1.0 the server may not send chunks, and the answer ends with the
 * connection. Content-Length is checked, so that a truncated answer is an error. */
#include "unix_http.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

struct exchange {
	const struct sinsp_http_opts *opts;
	int fd;
	int64_t deadline_ms;
	char *text; /* the answer, NUL-terminated */
	size_t len, cap;
	int is_cut;
};

/* Returns 0 when the socket is ready. */
static int wait_for(struct exchange *x, short events)
{
	for (;;) {
		struct pollfd p[] = {{x->fd, events, 0}, {x->opts->quit_fd, POLLIN, 0}};
		int64_t left = x->deadline_ms - clock_now_ms();
		int n = left > 0 ? poll(p, 2, (int)left) : 0;

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && p[1].revents)
			return -ECANCELED;
		if (n > 0 && p[0].revents)
			return 0;
		if (n == 0)
			return -ETIMEDOUT;
	}
}

/* Waits 10 ms for a busy server, whose backlog is full: a unix socket cannot be polled for that. */
static int wait_for_backlog(struct exchange *x)
{
	struct pollfd quit = {x->opts->quit_fd, POLLIN, 0};

	if (poll(&quit, 1, 10) > 0)
		return -ECANCELED;
	return clock_now_ms() < x->deadline_ms ? 0 : -ETIMEDOUT;
}

static int connect_to(struct exchange *x, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int err;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	x->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (x->fd < 0)
		return -errno;
	while (connect(x->fd, (struct sockaddr *)&addr, sizeof(addr))) {
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		err = wait_for_backlog(x);
		if (err)
			return err;
	}
	return 0;
}

/* Connects to a socket of the owner. A user's directory may contain a link to a socket that only
 * root may use, so the socket is opened first (O_PATH), then checked and connected through that
 * descriptor. */
static int connect_to_owned(struct exchange *x, const char *path)
{
	char held[32];
	struct stat st;
	int err = 0, fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISSOCK(st.st_mode) || st.st_uid != x->opts->owner)
		err = -EPERM;
	if (!err) {
		snprintf(held, sizeof(held), "/proc/self/fd/%d", fd);
		err = connect_to(x, held);
	}
	close(fd);
	return err;
}

static int send_request(struct exchange *x, const char *path)
{
	char text[512];
	size_t done = 0, len;
	int n = snprintf(text, sizeof(text), "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path);

	if (n < 0 || (size_t)n >= sizeof(text))
		return -EINVAL;
	len = n;
	while (done < len) {
		ssize_t sent = send(x->fd, text + done, len - done, MSG_NOSIGNAL);
		int err;

		if (sent >= 0) {
			done += sent;
		} else if (errno != EINTR) {
			err = errno == EAGAIN ? wait_for(x, POLLOUT) : -errno;
			if (err)
				return err;
		}
	}
	return 0;
}

static int make_room(struct exchange *x)
{
	size_t cap = x->cap ? x->cap * 2 : 16384;
	char *p;

	if (x->len + 1 < x->cap)
		return 0;
	if (x->len >= x->opts->max_sz)
		return -EFBIG;
	p = realloc(x->text, cap);
	if (!p)
		return -ENOMEM;
	x->text = p;
	x->cap = cap;
	return 0;
}

/* Reads to the end of the connection. */
static int receive(struct exchange *x)
{
	for (;;) {
		int err = make_room(x);
		ssize_t n;

		if (err == -EFBIG && x->opts->may_cut) {
			x->is_cut = 1;
			break;
		}
		if (err)
			return err;
		n = recv(x->fd, x->text + x->len, x->cap - x->len - 1, 0);
		if (n > 0)
			x->len += n;
		else if (n == 0)
			break;
		else if (errno == EAGAIN)
			err = wait_for(x, POLLIN);
		else if (errno != EINTR)
			err = -errno;
		if (err)
			return err;
	}
	x->text[x->len] = 0;
	return x->len > x->opts->max_sz && !x->is_cut ? -EFBIG : 0;
}

/* Returns the value of a header in the lines from @p to @end; NULL: missing. */
static const char *header(const char *p, const char *end, const char *name)
{
	size_t n = strlen(name);

	for (; p < end; p = memchr(p, '\n', end - p), p = p ? p + 1 : end)
		if ((size_t)(end - p) > n && !strncasecmp(p, name, n) && p[n] == ':')
			return p + n + 1;
	return NULL;
}

/* Returns the status; -EBADMSG. *body points into the text. */
static int read_answer(struct exchange *x, char **body, size_t *len)
{
	char *end = memmem(x->text, x->len, "\r\n\r\n", 4);
	const char *length;
	int status;

	if (!end || sscanf(x->text, "HTTP/1.%*1d %3d", &status) != 1 || status < 100)
		return -EBADMSG;
	*body = end + 4;
	*len = x->len - (*body - x->text);
	if (header(x->text, end, "Transfer-Encoding"))
		return -EBADMSG;
	length = header(x->text, end, "Content-Length");
	if (length) {
		unsigned long long n = strtoull(length, NULL, 10);

		if (n > *len)
			return x->is_cut ? status : -EBADMSG;
		*len = n;
		(*body)[n] = 0;
	}
	return status;
}

int sinsp_http_get(char **body, size_t *len, const char *socket, const char *path,
		   const struct sinsp_http_opts *opts)
{
	struct exchange x = {.opts = opts, .fd = -1};
	char *at = NULL;
	int err;

	x.deadline_ms = clock_now_ms() + opts->timeout_ms;
	err = opts->owner == UINT32_MAX ? connect_to(&x, socket) : connect_to_owned(&x, socket);
	if (!err)
		err = send_request(&x, path);
	if (!err)
		err = receive(&x);
	if (!err)
		err = read_answer(&x, &at, len);
	if (err > 0) {
		memmove(x.text, at, *len + 1);
		*body = x.text;
		x.text = NULL;
	}
	free(x.text);
	if (x.fd >= 0)
		close(x.fd);
	return err;
}
