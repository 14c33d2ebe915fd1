/* SPDX-License-Identifier: Apache-2.0 */
/* A Docker API server on a unix socket, for tests: counts requests and answers as a test
 * prescribes. */
#ifndef SINSP_TESTING_FAKE_DOCKER_H
#define SINSP_TESTING_FAKE_DOCKER_H

#include <pthread.h>
#include <stddef.h>

struct fake_docker {
	char dir[32], path[48];
	int fd, quit_fd;
	pthread_t thread;
	pthread_mutex_t lock;
	/* Writes the answer to a request of @path to @fd; the connection is closed after. */
	void (*answer)(struct fake_docker *d, int fd, const char *path);
	const char *running, *version; /* bodies of /containers/json and /version; NULL: 404 */
	const char *raw_list; /* whole response to /containers/json, with headers; NULL: none */
	int n_requests; /* requests of other paths; protected by lock */
};

/* Creates the socket d->path and begins to serve it. */
void fake_start(struct fake_docker *d, void (*answer)(struct fake_docker *, int, const char *));
void fake_stop(struct fake_docker *d);

/* Returns the number of requests so far, other than of /containers/json and /version. */
int fake_n_requests(struct fake_docker *d);

/* Writes @len bytes at @p; stops early if the client closed the connection. */
void fake_write(int fd, const char *p, size_t len);
void fake_text(int fd, const char *text);
/* Writes a response with @status ("200 OK") and @body. */
void fake_answer(int fd, const char *status, const char *body);
/* Waits until the client closes the connection or the server stops. */
void fake_hang(struct fake_docker *d, int fd);

#endif /* SINSP_TESTING_FAKE_DOCKER_H */
