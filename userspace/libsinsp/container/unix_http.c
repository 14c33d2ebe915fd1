/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP over a unix socket. In HTTP 1.0 the server may not send chunks, and the answer ends with the
 * connection. Content-Length is checked, so that a truncated answer is an error. */
#include "unix_http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "clock.h"
#include "unix_socket.h"

struct exchange {
	const struct sinsp_http_opts *opts;
	struct unix_socket at;
	char *text; /* the answer, NUL-terminated */
	size_t len, cap;
	int is_cut;
};

static int send_request(struct exchange *x, const char *path)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path);

	if (n < 0 || (size_t)n >= sizeof(text))
		return -EINVAL;
	return unix_socket_send(&x->at, text, (size_t)n);
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
		n = unix_socket_receive(&x->at, x->text + x->len, x->cap - x->len - 1);
		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		x->len += (size_t)n;
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
	struct exchange x = {.opts = opts, .at = {.fd = -1, .quit_fd = opts->quit_fd}};
	char *at = NULL;
	int err;

	x.at.deadline_ms = clock_now_ms() + opts->timeout_ms;
	err = opts->owner == UINT32_MAX ? unix_socket_connect(&x.at, socket)
					: unix_socket_connect_to_owned(&x.at, socket, opts->owner);
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
	unix_socket_close(&x.at);
	return err;
}
