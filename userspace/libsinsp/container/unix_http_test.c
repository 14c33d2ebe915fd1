/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP over a unix socket: well-formed, malformed, slow and silent servers. */
#include "unix_http.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "testing/fake_docker.h"
#include "testing/test_main.h"

enum { LONG_MS = 30000, SHORT_MS = 100, MAX_SZ = 100000 };

static int get(struct fake_docker *d, int timeout_ms, char **body, size_t *len)
{
	const struct sinsp_http_opts opts = {
		.sz = sizeof(opts),
		.owner = UINT32_MAX,
		.quit_fd = -1,
		.timeout_ms = timeout_ms,
		.max_sz = MAX_SZ,
	};

	return sinsp_http_get(body, len, d->path, "/a/path", &opts);
}

/* Sends a request to a server of this kind. */
static int ask(void (*answer)(struct fake_docker *, int, const char *), int timeout_ms)
{
	struct fake_docker d;
	char *body = NULL;
	size_t len = 0;
	int ret;

	fake_start(&d, answer);
	ret = get(&d, timeout_ms, &body, &len);
	fake_stop(&d);
	if (ret > 0)
		free(body);
	else
		assert_null(body);
	return ret;
}

static void answer_well(struct fake_docker *d, int fd, const char *path)
{
	(void)d;
	fake_answer(fd, strcmp(path, "/a/path") ? "404 Not Found" : "200 OK", "{\"a\": 1}");
}

static void test_answer(void **state)
{
	struct fake_docker d;
	char *body;
	size_t len;

	(void)state;
	fake_start(&d, answer_well);
	assert_int_equal(get(&d, LONG_MS, &body, &len), 200);
	assert_string_equal(body, "{\"a\": 1}");
	assert_int_equal(len, 8);
	free(body);
	fake_stop(&d);
	assert_int_equal(get(&d, LONG_MS, &body, &len), -ENOENT);
}

static void answer_without_length(struct fake_docker *d, int fd, const char *path)
{
	(void)d, (void)path;
	fake_text(fd, "HTTP/1.1 200 OK\r\nServer: x\r\n\r\nbody");
}

static void answer_not_found(struct fake_docker *d, int fd, const char *path)
{
	(void)d, (void)path;
	fake_answer(fd, "404 Not Found", "");
}

static void test_other_answers(void **state)
{
	(void)state;
	assert_int_equal(ask(answer_without_length, LONG_MS), 200);
	assert_int_equal(ask(answer_not_found, LONG_MS), 404);
}

/* Sends byte by byte, as a busy server may. */
static void answer_slowly(struct fake_docker *d, int fd, const char *path)
{
	static const char text[] = "HTTP/1.0 200 OK\r\ncontent-length:2\r\n\r\n{}";

	(void)d, (void)path;
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		const struct timespec ts = {0, 1000000};

		fake_write(fd, text + i, 1);
		nanosleep(&ts, NULL);
	}
}

static void test_slow(void **state)
{
	(void)state;
	assert_int_equal(ask(answer_slowly, LONG_MS), 200);
}

/* Sends bytes without an end. */
static void answer_forever(struct fake_docker *d, int fd, const char *path)
{
	(void)path;
	fake_text(fd, "HTTP/1.0 200 OK\r\n\r\n");
	for (int i = 0; i < 20; i++) {
		struct pollfd p[] = {{fd, POLLIN, 0}, {d->quit_fd, POLLIN, 0}};

		fake_text(fd, " ");
		if (poll(p, 2, 20) > 0)
			return;
	}
	fake_hang(d, fd);
}

static void answer_nothing(struct fake_docker *d, int fd, const char *path)
{
	(void)path;
	fake_hang(d, fd);
}

static void test_no_end(void **state)
{
	(void)state;
	assert_int_equal(ask(answer_nothing, SHORT_MS), -ETIMEDOUT);
	assert_int_equal(ask(answer_forever, SHORT_MS), -ETIMEDOUT);
}

static void answer_hugely(struct fake_docker *d, int fd, const char *path)
{
	static char block[4096];

	(void)d, (void)path;
	memset(block, 'x', sizeof(block));
	fake_text(fd, "HTTP/1.0 200 OK\r\n\r\n");
	for (int i = 0; i < 1000; i++)
		fake_write(fd, block, sizeof(block));
}

static void answer_half(struct fake_docker *d, int fd, const char *path)
{
	(void)d, (void)path;
	fake_text(fd, "HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\n{}");
}

static void answer_empty(struct fake_docker *d, int fd, const char *path)
{
	(void)d, (void)fd, (void)path;
}

static void answer_chunks(struct fake_docker *d, int fd, const char *path)
{
	(void)d, (void)path;
	fake_text(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
}

static void answer_ssh(struct fake_docker *d, int fd, const char *path)
{
	(void)d, (void)path;
	fake_text(fd, "SSH-2.0-OpenSSH\r\n\r\n");
}

static void answer_head_only(struct fake_docker *d, int fd, const char *path)
{
	(void)d, (void)path;
	fake_text(fd, "HTTP/1.0 200 OK\r\nContent-");
}

static void test_nonsense(void **state)
{
	(void)state;
	assert_int_equal(ask(answer_hugely, LONG_MS), -EFBIG);
	assert_int_equal(ask(answer_half, LONG_MS), -EBADMSG);
	assert_int_equal(ask(answer_empty, LONG_MS), -EBADMSG);
	assert_int_equal(ask(answer_chunks, LONG_MS), -EBADMSG);
	assert_int_equal(ask(answer_ssh, LONG_MS), -EBADMSG);
	assert_int_equal(ask(answer_head_only, LONG_MS), -EBADMSG);
}

static int get_owned(const char *socket, uint32_t owner)
{
	const struct sinsp_http_opts opts = {
		.sz = sizeof(opts),
		.owner = owner,
		.quit_fd = -1,
		.timeout_ms = LONG_MS,
		.max_sz = MAX_SZ,
	};
	char *body;
	size_t len;
	int ret = sinsp_http_get(&body, &len, socket, "/a/path", &opts);

	if (ret > 0)
		free(body);
	return ret;
}

/* A link to a socket of another user is not followed. */
static void test_owner(void **state)
{
	struct fake_docker d;
	char link[64];

	(void)state;
	fake_start(&d, answer_well);
	snprintf(link, sizeof(link), "%s/link", d.dir);
	assert_int_equal(symlink(d.path, link), 0);
	assert_int_equal(get_owned(d.path, getuid()), 200);
	assert_int_equal(get_owned(d.path, getuid() + 1), -EPERM);
	assert_int_equal(get_owned(link, getuid()), -EPERM);
	assert_int_equal(get_owned("/dev/null", 0), -EPERM);
	unlink(link);
	assert_int_equal(get_owned(link, getuid()), -ENOENT);
	fake_stop(&d);
}

static void test_no_server(void **state)
{
	struct fake_docker d;
	char *body;
	size_t len;

	(void)state;
	fake_start(&d, answer_well);
	shutdown(d.fd, SHUT_RDWR);
	assert_int_equal(get(&d, LONG_MS, &body, &len), -ECONNREFUSED);
	fake_stop(&d);
	memset(d.path, 'x', sizeof(d.path) - 1);
	assert_int_equal(get(&d, LONG_MS, &body, &len), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),    cmocka_unit_test(test_other_answers),
		cmocka_unit_test(test_slow),      cmocka_unit_test(test_no_end),
		cmocka_unit_test(test_nonsense),  cmocka_unit_test(test_owner),
		cmocka_unit_test(test_no_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
