/* SPDX-License-Identifier: Apache-2.0 */
#include "testing/fake_docker.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "testing/test_main.h"

void fake_write(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		p += n;
		len -= n;
	}
}

void fake_text(int fd, const char *text)
{
	fake_write(fd, text, strlen(text));
}

void fake_answer(int fd, const char *status, const char *body)
{
	char head[128];
	int n = snprintf(head, sizeof(head), "HTTP/1.0 %s\r\nContent-Length: %zu\r\n\r\n", status,
			 strlen(body));

	fake_write(fd, head, n);
	fake_text(fd, body);
}

void fake_hang(struct fake_docker *d, int fd)
{
	struct pollfd p[] = {{fd, POLLIN, 0}, {d->quit_fd, POLLIN, 0}};

	poll(p, 2, -1);
}

int fake_n_requests(struct fake_docker *d)
{
	int n;

	pthread_mutex_lock(&d->lock);
	n = d->n_requests;
	pthread_mutex_unlock(&d->lock);
	return n;
}

static void fake_serve(struct fake_docker *d, int fd)
{
	char request[1024] = "", path[256] = "";
	size_t len = 0;

	while (!strstr(request, "\r\n\r\n") && len < sizeof(request) - 1) {
		ssize_t n = recv(fd, request + len, sizeof(request) - 1 - len, 0);

		if (n <= 0)
			return;
		len += n;
		request[len] = 0;
	}
	sscanf(request, "GET %255s ", path);
	if (!strcmp(path, "/containers/json") || !strcmp(path, "/version")) {
		const char *body = path[1] == 'v' ? d->version : d->running;

		if (path[1] == 'c' && d->raw_list) {
			fake_text(fd, d->raw_list);
			return;
		}
		fake_answer(fd, body ? "200 OK" : "404 Not Found", body ? body : "");
		return;
	}
	pthread_mutex_lock(&d->lock);
	d->n_requests++;
	pthread_mutex_unlock(&d->lock);
	d->answer(d, fd, path);
}

static void *fake_main(void *ctx)
{
	struct fake_docker *d = ctx;

	for (;;) {
		struct pollfd p[] = {{d->fd, POLLIN, 0}, {d->quit_fd, POLLIN, 0}};
		int fd;

		poll(p, 2, -1);
		if (p[1].revents)
			return NULL;
		fd = accept(d->fd, NULL, NULL);
		if (fd < 0)
			continue;
		fake_serve(d, fd);
		close(fd);
	}
}

void fake_start(struct fake_docker *d, void (*answer)(struct fake_docker *, int, const char *))
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	memset(d, 0, sizeof(*d));
	strcpy(d->dir, "/tmp/saker-docker-XXXXXX");
	assert_non_null(mkdtemp(d->dir));
	snprintf(d->path, sizeof(d->path), "%s/sock", d->dir);
	strcpy(addr.sun_path, d->path);
	d->answer = answer;
	d->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	d->quit_fd = eventfd(0, EFD_CLOEXEC);
	assert_true(d->fd >= 0 && d->quit_fd >= 0);
	assert_int_equal(bind(d->fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(d->fd, 8), 0);
	pthread_mutex_init(&d->lock, NULL);
	assert_int_equal(pthread_create(&d->thread, NULL, fake_main, d), 0);
}

void fake_stop(struct fake_docker *d)
{
	eventfd_write(d->quit_fd, 1);
	pthread_join(d->thread, NULL);
	close(d->fd);
	close(d->quit_fd);
	unlink(d->path);
	rmdir(d->dir);
	pthread_mutex_destroy(&d->lock);
}
