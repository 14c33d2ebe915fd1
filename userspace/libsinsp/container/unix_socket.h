/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to a unix socket, within a time limit. */
#ifndef SINSP_CONTAINER_UNIX_SOCKET_H
#define SINSP_CONTAINER_UNIX_SOCKET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct unix_socket {
	int fd; /* -1: none */
	int quit_fd; /* when it becomes readable, waiting ends with -ECANCELED */
	int64_t deadline_ms; /* of clock_now_ms: then it ends with -ETIMEDOUT */
};

/* Connects to a socket of any owner, or to one of @owner. Returns 0, or a negative errno: -EPERM:
 * it belongs to another user. */
int unix_socket_connect(struct unix_socket *s, const char *path);
int unix_socket_connect_to_owned(struct unix_socket *s, const char *path, uint32_t owner);
void unix_socket_close(struct unix_socket *s);

/* Sends all bytes. Returns 0 or a negative errno. */
int unix_socket_send(const struct unix_socket *s, const void *p, size_t n);
/* Returns how many bytes were received; 0: the other side closed the connection; or a negative
 * errno. */
ssize_t unix_socket_receive(const struct unix_socket *s, void *p, size_t n);

#endif /* SINSP_CONTAINER_UNIX_SOCKET_H */
