/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of pods from a fake server, whose answers are bytes of HTTP/2: good, bad and none. */
#include "cri_api.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "testing/fake_root.h"

enum { DATA, HEADERS, SETTINGS = 4, PING = 6 }; /* frames */
enum { END_STREAM = 1, END_HEADERS = 4, LONG_MS = 10000, SHORT_MS = 50 };

#define SANDBOX "5a0d"
#define EVENT(labels)                                                                              \
	"{\"container\":{\"id\":\"0123456789ab\",\"name\":\"web\",\"labels\":{" labels "}}}"
#define BY_ID EVENT("\"io.kubernetes.cri.sandbox-id\":\"" SANDBOX "\"")
#define BY_UID EVENT("\"io.kubernetes.pod.uid\":\"uid-1\"")

struct bytes {
	char p[1 << 16];
	size_t n;
};

static void put(struct bytes *to, const void *p, size_t n)
{
	assert_true(to->n + n <= sizeof(to->p));
	memcpy(to->p + to->n, p, n);
	to->n += n;
}

static void put_frame(struct bytes *to, int type, int flags, int stream, const void *p, size_t n)
{
	const unsigned char head[] = {(unsigned char)(n >> 16),
				      (unsigned char)(n >> 8),
				      (unsigned char)n,
				      (unsigned char)type,
				      (unsigned char)flags,
				      0,
				      0,
				      0,
				      (unsigned char)stream};

	put(to, head, sizeof(head));
	put(to, p, n);
}

static void put_field(struct bytes *to, int number, const void *p, size_t n)
{
	char head[4] = {(char)(number << 3 | 2), (char)(n | 0x80), (char)(n >> 7)};

	if (n >> 14) {
		head[2] = (char)(n >> 7 | 0x80);
		head[3] = (char)(n >> 14);
	}
	put(to, head, n >> 14 ? 4 : 3);
	put(to, p, n);
}

static void put_pair(struct bytes *to, int number, const char *key, const char *value)
{
	static struct bytes pair;

	pair.n = 0;
	put_field(&pair, 1, key, strlen(key));
	put_field(&pair, 2, value, strlen(value));
	put_field(to, number, pair.p, pair.n);
}

/* A PodSandbox: id, metadata with name and uid, a state, and its labels. */
static void put_sandbox(struct bytes *to, const char *id, const char *uid, const char *app,
			int n_labels)
{
	static struct bytes s;
	char key[16];

	s.n = 0;
	put_field(&s, 1, id, strlen(id));
	put_pair(&s, 2, "web-7", uid);
	put(&s, "\x18\x00\x20\xff\xff\x03", 6);
	put_pair(&s, 5, "app", app);
	for (int i = 0; i < n_labels; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		put_pair(&s, 5, key, "value");
	}
	put_field(to, 1, s.p, s.n);
}

static void put_start(struct bytes *to)
{
	put_frame(to, SETTINGS, 0, 0, "", 0);
	put_frame(to, HEADERS, END_HEADERS, 1, "\x88", 1); /* :status 200 */
}

static void put_end(struct bytes *to, const char *status)
{
	struct {
		char p[32];
	} h = {"\0\x0bgrpc-status"};
	const size_t n = strlen(status);

	h.p[13] = (char)n;
	memcpy(h.p + 14, status, n);
	put_frame(to, HEADERS, END_HEADERS | END_STREAM, 1, h.p, 14 + n);
}

/* The answer with a message, in frames of @piece bytes. */
static void put_answer(struct bytes *to, const struct bytes *message, size_t piece, int flag,
		       size_t more)
{
	static struct bytes m;
	const size_t n = message->n + more;
	const char head[] = {(char)flag, 0, (char)(n >> 16), (char)(n >> 8), (char)n};

	m.n = 0;
	put(&m, head, sizeof(head));
	put(&m, message->p, message->n);
	put_start(to);
	for (size_t i = 0; i < m.n; i += piece)
		put_frame(to, DATA, 0, 1, m.p + i, m.n - i < piece ? m.n - i : piece);
}

/* ---- the server ---- */

static struct {
	char path[64];
	int fd, quit_fd, is_silent;
	pthread_t thread;
	struct bytes answer; /* and is_silent: of the next query */
	pthread_mutex_t lock;
	struct bytes sent; /* under the lock, these two: of the query under way */
	int keeps_open;
} server = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Answers each connection, and reads what comes until the client closes it. */
static void *serve(void *arg)
{
	int fd;

	(void)arg;
	while ((fd = accept(server.fd, NULL, NULL)) >= 0) {
		char more[4096];

		pthread_mutex_lock(&server.lock);
		send(fd, server.sent.p, server.sent.n, MSG_NOSIGNAL);
		if (!server.keeps_open)
			shutdown(fd, SHUT_WR);
		pthread_mutex_unlock(&server.lock);
		while (recv(fd, more, sizeof(more), 0) > 0)
			;
		close(fd);
	}
	return NULL;
}

static int start(void **state)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	if (make_root(state))
		return -1;
	snprintf(server.path, sizeof(server.path), "%s/cri.sock", root);
	strcpy(addr.sun_path, server.path);
	server.quit_fd = eventfd(0, EFD_CLOEXEC);
	server.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return bind(server.fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(server.fd, 8) ||
	       pthread_create(&server.thread, NULL, serve, NULL);
}

static int stop(void **state)
{
	shutdown(server.fd, SHUT_RDWR);
	pthread_join(server.thread, NULL);
	close(server.fd);
	close(server.quit_fd);
	return remove_root(state);
}

static int query(char **json, const char *event, int timeout_ms)
{
	const struct cri_opts opts = {
		.sz = sizeof(opts), .quit_fd = server.quit_fd, .timeout_ms = timeout_ms};

	pthread_mutex_lock(&server.lock);
	server.sent = server.answer;
	server.keeps_open = server.is_silent;
	pthread_mutex_unlock(&server.lock);
	*json = strdup(event);
	return cri_add_pod_labels(json, server.path, &opts);
}

/* ---- tests ---- */

static void test_labels(void **state)
{
	static const struct {
		const char *event, *app;
	} rows[] = {{BY_ID, "one"}, {BY_UID, "two"}};
	static struct bytes message;
	char *json, expected[64];

	(void)state;
	message.n = 0;
	put_sandbox(&message, "other", "uid-0", "none", 0);
	put_sandbox(&message, SANDBOX, "uid-0", "one", 0);
	put_sandbox(&message, "", "uid-1", "two", 0);
	for (size_t i = 0; i < 2; i++) {
		for (size_t piece = 1; piece <= 1024; piece *= 32) {
			server.answer.n = 0;
			put_answer(&server.answer, &message, piece, 0, 0);
			put_end(&server.answer, "0");
			assert_int_equal(query(&json, rows[i].event, LONG_MS), 0);
			snprintf(expected, sizeof(expected),
				 "\"pod_sandbox_labels\":{\"app\":\"%s\"}", rows[i].app);
			assert_non_null(strstr(json, expected));
			assert_non_null(strstr(json, "\"name\":\"web\""));
			free(json);
		}
	}
}

/* No query is made for a container without a pod. */
static void test_no_pod(void **state)
{
	const struct cri_opts opts = {.sz = sizeof(opts), .quit_fd = -1, .timeout_ms = LONG_MS};
	char *json = strdup(EVENT(""));

	(void)state;
	assert_int_equal(cri_add_pod_labels(&json, "/none", &opts), 0);
	assert_string_equal(json, EVENT(""));
	free(json);
	json = strdup(BY_ID);
	assert_int_equal(cri_add_pod_labels(&json, "/none", &opts), -ENOENT);
	assert_string_equal(json, BY_ID);
	free(json);
}

static void test_many_labels(void **state)
{
	static struct bytes message;
	char *json;

	(void)state;
	message.n = 0;
	put_sandbox(&message, SANDBOX, "uid-1", "web", 2000);
	server.answer.n = 0;
	put_answer(&server.answer, &message, 16000, 0, 0);
	put_end(&server.answer, "0");
	assert_int_equal(query(&json, BY_ID, LONG_MS), 0);
	assert_non_null(strstr(json, "\"k1000\":\"value\""));
	assert_null(strstr(json, "\"k1100\":\"value\""));
	free(json);
}

enum bad {
	ANOTHER_POD,
	UNIMPLEMENTED,
	REFUSED,
	NO_STATUS,
	COMPRESSED,
	TOO_SHORT,
	NOT_PROTOBUF,
	ENDLESS_VARINT,
	HTTP1,
	NOTHING,
	PINGS,
	NOT_FOUND,
	N_BAD
};

static void make_bad(enum bad bad)
{
	struct bytes *to = &server.answer;
	static struct bytes message;

	to->n = message.n = 0;
	put_sandbox(&message, bad == ANOTHER_POD ? "other" : SANDBOX, "uid-9", "web", 0);
	if (bad == NOT_PROTOBUF)
		message.n -= 3;
	if (bad == ENDLESS_VARINT)
		memset(message.p, 0xff, message.n);
	if (bad == NOTHING)
		return;
	if (bad == HTTP1) {
		put(to, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
		return;
	}
	if (bad == NOT_FOUND) {
		put_frame(to, SETTINGS, 0, 0, "", 0);
		put_frame(to, HEADERS, END_HEADERS | END_STREAM, 1, "\x8d", 1);
		return;
	}
	put_answer(to, &message, 1024, bad == COMPRESSED, bad == TOO_SHORT);
	for (int i = 0; bad == PINGS && i < 3000; i++)
		put_frame(to, PING, 0, 0, "saker...", 8);
	if (bad == NO_STATUS)
		put_frame(to, DATA, END_STREAM, 1, "", 0);
	else
		put_end(to, bad == UNIMPLEMENTED ? "12" : bad == REFUSED ? "7" : "0");
}

static void test_bad_answers(void **state)
{
	static const int expected[N_BAD] = {
		[ANOTHER_POD] = 1,         [UNIMPLEMENTED] = -EOPNOTSUPP, [REFUSED] = -EPROTO,
		[NO_STATUS] = -EBADMSG,    [COMPRESSED] = -EBADMSG,       [TOO_SHORT] = -EBADMSG,
		[NOT_PROTOBUF] = -EBADMSG, [ENDLESS_VARINT] = -EBADMSG,   [HTTP1] = -EBADMSG,
		[NOTHING] = -EBADMSG,      [NOT_FOUND] = -EBADMSG};
	char *json;

	(void)state;
	for (enum bad i = 0; i < N_BAD; i++) {
		int err;

		make_bad(i);
		err = query(&json, BY_ID, LONG_MS);
		if (i == PINGS ? err > 0 : err != expected[i])
			fail_msg("answer %d: %d", i, err);
		if (err)
			assert_string_equal(json, BY_ID);
		free(json);
	}
}

static void test_silence(void **state)
{
	const uint64_t one = 1;
	uint64_t n;
	char *json;

	(void)state;
	server.answer.n = 0;
	server.is_silent = 1;
	assert_int_equal(query(&json, BY_ID, SHORT_MS), -ETIMEDOUT);
	free(json);
	assert_int_equal(write(server.quit_fd, &one, sizeof(one)), sizeof(one));
	assert_int_equal(query(&json, BY_ID, LONG_MS), -ECANCELED);
	free(json);
	assert_int_equal(read(server.quit_fd, &n, sizeof(n)), sizeof(n));
	server.is_silent = 0;
}

/* Any bytes end in an answer or in an error. */
static void test_damaged_answers(void **state)
{
	static struct bytes message, good;
	char *json;

	(void)state;
	message.n = good.n = 0;
	put_sandbox(&message, SANDBOX, "uid-1", "web", 5);
	put_answer(&good, &message, 40, 0, 0);
	put_end(&good, "0");
	srand(1);
	for (int i = 0; i < 2000; i++) {
		server.answer = good;
		for (int k = rand() % 4; k >= 0; k--)
			server.answer.p[(size_t)rand() % good.n] = (char)rand();
		if (i % 5 == 0)
			server.answer.n = (size_t)rand() % good.n;
		assert_int_not_equal(query(&json, BY_ID, LONG_MS), -ETIMEDOUT);
		free(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),      cmocka_unit_test(test_no_pod),
		cmocka_unit_test(test_many_labels), cmocka_unit_test(test_bad_answers),
		cmocka_unit_test(test_silence),     cmocka_unit_test(test_damaged_answers),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
