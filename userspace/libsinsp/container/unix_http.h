/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request on a unix socket, within a time limit. */
#ifndef SINSP_CONTAINER_UNIX_HTTP_H
#define SINSP_CONTAINER_UNIX_HTTP_H

#include <stddef.h>
#include <stdint.h>

struct sinsp_http_opts {
	size_t sz;
	uint32_t owner; /* the socket must belong to this user; UINT32_MAX: any user */
	int quit_fd; /* when it becomes readable, the request is cancelled */
	int timeout_ms; /* of the whole request */
	size_t max_sz; /* maximum size of an answer with its headers */
	int may_cut; /* accept the beginning of a longer answer */
};

/*
 * Requests @path from the server at @socket. Returns the status of the answer, with its body in
 * *body, with a NUL and owned by the caller; or a negative errno: that of connect, -ETIMEDOUT,
 * -ECANCELED, -EFBIG: answer too long, -EBADMSG: not HTTP, or truncated, -EPERM: the socket belongs
 * to another user.
 */
int sinsp_http_get(char **body, size_t *len, const char *socket, const char *path,
		   const struct sinsp_http_opts *opts);

#endif /* SINSP_CONTAINER_UNIX_HTTP_H */
