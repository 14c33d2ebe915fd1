/* SPDX-License-Identifier: Apache-2.0 */
/* One question over HTTP on a unix socket, within a time that it never exceeds. */
#ifndef SINSP_CONTAINER_UNIX_HTTP_H
#define SINSP_CONTAINER_UNIX_HTTP_H

#include <stddef.h>
#include <stdint.h>

struct sinsp_http_opts {
	size_t sz;
	uint32_t owner; /* the socket must be this user's; UINT32_MAX: anybody's */
	int quit_fd; /* when it can be read, the answer is not wanted any more */
	int timeout_ms; /* for everything together */
	size_t max_sz; /* of an answer with its headers */
	int may_cut; /* of a longer answer its beginning will do */
};

/*
 * Asks the server at @socket for @path. The status of the answer, with its body in *body,
 * which ends in a NUL and which the caller owns; or a negative errno: what connect says,
 * -ETIMEDOUT, -ECANCELED, -EFBIG: a longer answer, -EBADMSG: one that is no HTTP or was cut
 * off, -EPERM: the socket is not the owner's.
 */
int sinsp_http_get(char **body, size_t *len, const char *socket, const char *path,
		   const struct sinsp_http_opts *opts);

#endif /* SINSP_CONTAINER_UNIX_HTTP_H */
