/* SPDX-License-Identifier: Apache-2.0 */
#include "unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"

/* Returns 0 when the socket is ready. */
static int wait_for(const struct unix_socket *s, short events)
{
	for (;;) {
		struct pollfd p[] = {{s->fd, events, 0}, {s->quit_fd, POLLIN, 0}};
		int64_t left = s->deadline_ms - clock_now_ms();
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
static int wait_for_backlog(const struct unix_socket *s)
{
	struct pollfd quit = {s->quit_fd, POLLIN, 0};

	if (poll(&quit, 1, 10) > 0)
		return -ECANCELED;
	return clock_now_ms() < s->deadline_ms ? 0 : -ETIMEDOUT;
}

int unix_socket_connect(struct unix_socket *s, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int err;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return -errno;
	while (connect(s->fd, (struct sockaddr *)&addr, sizeof(addr))) {
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		err = wait_for_backlog(s);
		if (err)
			return err;
	}
	return 0;
}

/* A user's directory may contain a link to a socket that only root may use, so the socket is opened
 * first (O_PATH), then checked and connected through that descriptor. */
int unix_socket_connect_to_owned(struct unix_socket *s, const char *path, uint32_t owner)
{
	char held[32];
	struct stat st;
	int err = 0, fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISSOCK(st.st_mode) || st.st_uid != owner)
		err = -EPERM;
	if (!err) {
		snprintf(held, sizeof(held), "/proc/self/fd/%d", fd);
		err = unix_socket_connect(s, held);
	}
	close(fd);
	return err;
}

void unix_socket_close(struct unix_socket *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int unix_socket_send(const struct unix_socket *s, const void *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t sent = send(s->fd, (const char *)p + done, n - done, MSG_NOSIGNAL);
		int err = 0;

		if (sent >= 0)
			done += (size_t)sent;
		else if (errno != EINTR)
			err = errno == EAGAIN ? wait_for(s, POLLOUT) : -errno;
		if (err)
			return err;
	}
	return 0;
}

ssize_t unix_socket_receive(const struct unix_socket *s, void *p, size_t n)
{
	for (;;) {
		ssize_t got = recv(s->fd, p, n, 0);
		int err = 0;

		if (got >= 0)
			return got;
		if (errno != EINTR)
			err = errno == EAGAIN ? wait_for(s, POLLIN) : -errno;
		if (err)
			return err;
	}
}
