/* SPDX-License-Identifier: Apache-2.0 */
/* Container lookup: requests, results, retries and limits, with a fake server. */
#include "container_lookup.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "container_json.h"
#include "testing/fake_docker.h"
#include "testing/test_main.h"

#define H "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define IMAGE "sha256:" H
#define DIGEST "sha256:fedcba98"

static struct sinsp_lookup *begin(const struct fake_docker *d, int timeout_ms)
{
	const struct sinsp_lookup_opts opts = {
		.sz = sizeof(opts),
		.socket = d->path,
		.timeout_ms = timeout_ms,
		.retry_ms = 1,
	};
	struct sinsp_lookup *l;

	assert_int_equal(sinsp_lookup_new(&l, &opts), 0);
	return l;
}

static void ask(struct sinsp_lookup *l)
{
	assert_int_equal(sinsp_lookup_request(l, SINSP_CT_PODMAN, SINSP_NO_UID, "0123456789ab", H),
			 0);
}

/* Requests the container with the number @n of a user, or SINSP_NO_UID. */
static int ask_of(struct sinsp_lookup *l, uint32_t uid, int n)
{
	char full_id[65], id[13];

	snprintf(full_id, sizeof(full_id), "%012d%052d", n, 0);
	snprintf(id, sizeof(id), "%.12s", full_id);
	return sinsp_lookup_request(l, SINSP_CT_DOCKER, uid, id, full_id);
}

static int ask_number(struct sinsp_lookup *l, int n)
{
	return ask_of(l, SINSP_NO_UID, n);
}

static void pause_ms(void)
{
	const struct timespec ts = {0, 1000000};

	nanosleep(&ts, NULL);
}

/* Waits for the next result; the caller owns it. */
static struct sinsp_lookup_result *wait_for_result(struct sinsp_lookup *l)
{
	struct sinsp_lookup_result *r;

	for (int i = 0; i < 30000; i++) {
		r = sinsp_lookup_results(l);
		if (r) {
			assert_null(r->next);
			return r;
		}
		pause_ms();
	}
	fail_msg("no result in half a minute");
	return NULL;
}

static void answer_inspect(struct fake_docker *d, int fd, const char *path)
{
	(void)d;
	if (!strcmp(path, "/containers/" H "/json"))
		fake_answer(fd, "200 OK",
			    "{\"Id\": \"" H "\", \"Name\": \"/web\", \"Image\": \"" IMAGE "\","
			    "\"Config\": {\"Image\": \"reg:5000/shop/web:1.2\","
			    "\"Labels\": {\"app\": \"sh\\u00f6p\", \"n\": 1}, \"Env\": "
			    "[\"PASSWORD=x\"],"
			    "\"Healthcheck\": {\"Test\": [\"CMD-SHELL\", \"curl x\"]}},"
			    "\"HostConfig\": {\"Privileged\": true}, \"Mounts\": [{\"Source\":"
			    "\"/a\", \"Destination\": \"/b\", \"Mode\": \"z\", \"RW\": true,"
			    "\"Propagation\": \"rprivate\"}],"
			    "\"NetworkSettings\": {\"IPAddress\": \"\", \"Networks\":"
			    "{\"a\": {\"IPAddress\": \"10.1.2.3\"}}}}");
	else if (!strcmp(path, "/images/" IMAGE "/json"))
		fake_answer(fd, "200 OK",
			    "{\"RepoDigests\": [\"other@sha256:00\", \"reg:5000/shop/web@" DIGEST
			    "\"]}");
	else
		fake_answer(fd, "404 Not Found", "{}");
}

static void test_found(void **state)
{
	struct sinsp_container_info info;
	struct sinsp_lookup_result *r;
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	fake_start(&d, answer_inspect);
	l = begin(&d, 30000);
	ask(l);
	r = wait_for_result(l);
	assert_null(r->note);
	assert_int_equal(sinsp_container_json_read(&info, r->json, strlen(r->json)), 0);
	assert_int_equal(info.type, SINSP_CT_PODMAN);
	assert_string_equal(info.id, "0123456789ab");
	assert_string_equal(info.name, "web");
	assert_string_equal(info.image, "reg:5000/shop/web:1.2");
	assert_string_equal(info.image_repo, "reg:5000/shop/web");
	assert_string_equal(info.image_tag, "1.2");
	assert_string_equal(info.image_id, H);
	assert_string_equal(info.image_digest, DIGEST);
	assert_string_equal(info.ip, "10.1.2.3");
	assert_string_equal(info.labels.p, "app=sh\xc3\xb6p");
	assert_int_equal(info.privileged, 1);
	assert_int_equal(info.mounts.len, sizeof("/a\0/b\0z\0true\0rprivate"));
	assert_memory_equal(info.mounts.p, "/a\0/b\0z\0true\0rprivate", info.mounts.len);
	assert_int_equal(info.probes[SINSP_PROBE_HEALTH].len, sizeof("/bin/sh\0-c\0curl x"));
	assert_memory_equal(info.probes[SINSP_PROBE_HEALTH].p, "/bin/sh\0-c\0curl x",
			    info.probes[SINSP_PROBE_HEALTH].len);
	assert_null(info.probes[SINSP_PROBE_LIVENESS].p);
	assert_null(strstr(r->json, "PASSWORD"));
	sinsp_container_info_fini(&info);
	sinsp_lookup_result_free(r);
	sinsp_lookup_free(l);
	assert_int_equal(fake_n_requests(&d), 2);
	fake_stop(&d);
}

/* Running containers are listed at the start, and not queried again. */
static void test_found_at_the_start(void **state)
{
	struct sinsp_lookup_result *r;
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	fake_start(&d, answer_inspect);
	d.running = "[{\"Id\": \"" H "\"}, {\"Id\": \"../../x\"}, {\"Id\": 7}, null]";
	d.version = "{\"Components\": [{\"Name\": \"Podman Engine\"}]}";
	l = begin(&d, 30000);
	while (fake_n_requests(&d) < 1)
		pause_ms();
	ask(l);
	r = wait_for_result(l);
	assert_non_null(strstr(r->json, "\"type\":11"));
	assert_string_equal(r->id, "0123456789ab");
	sinsp_lookup_result_free(r);
	sinsp_lookup_free(l);
	assert_int_equal(fake_n_requests(&d), 2);
	fake_stop(&d);
}

/* A container with so many labels that the list is @sz long, and another one before or behind it.
 */
static char *long_list(size_t sz, int is_first)
{
	char *text = malloc(sz + 512), *p = text;

	p += sprintf(p, "[%s{\"Labels\": {\"a\": \"\\\\\\\"]}, ",
		     is_first ? "{\"Id\": \"" H "\"}, " : "");
	memset(p, 'x', sz);
	sprintf(p + sz, "\"}}%s]", is_first ? "" : ", {\"Id\": \"" H "\", \"Labels\": {}}");
	return text;
}

/* A list of the maximum size, and a longer one, whose beginning counts: neither is an error. */
static void test_long_list(void **state)
{
	struct sinsp_lookup_result *r;
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	for (int is_first = 0; is_first < 2; is_first++) {
		char *list = long_list(is_first ? 20 << 20 : 3 << 20, is_first);

		fake_start(&d, answer_inspect);
		d.running = list;
		l = begin(&d, 30000);
		r = wait_for_result(l);
		assert_null(r->note);
		assert_non_null(strstr(r->json, "\"web\""));
		sinsp_lookup_result_free(r);
		sinsp_lookup_free(l);
		fake_stop(&d);
		free(list);
	}
}

static void answer_with_failure(struct fake_docker *d, int fd, const char *path)
{
	(void)d, (void)path;
	fake_answer(fd, "500 Internal Server Error", "");
}

/* After an invalid list, single containers are still queried, and later failures reported. */
static void test_failure_after_a_broken_list(void **state)
{
	struct sinsp_lookup_result *r;
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	fake_start(&d, answer_with_failure);
	d.raw_list = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
	l = begin(&d, 30000);
	r = wait_for_result(l);
	assert_non_null(strstr(r->note, "cannot list containers"));
	assert_null(strstr(r->note, "without names"));
	sinsp_lookup_result_free(r);
	ask(l);
	r = wait_for_result(l);
	assert_non_null(strstr(r->note, "they are shown by ID"));
	sinsp_lookup_result_free(r);
	sinsp_lookup_free(l);
	fake_stop(&d);
}

/* Lists with elements that are no containers. */
static void test_broken_list(void **state)
{
	static const char *const lists[] = {"", "[", "7", "{\"Id\": \"" H "\"}", "[[[]]]"};
	struct sinsp_lookup_result *r;
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		fake_start(&d, answer_inspect);
		d.running = d.version = lists[i];
		l = begin(&d, 30000);
		ask(l);
		r = wait_for_result(l);
		assert_non_null(r->json);
		sinsp_lookup_result_free(r);
		sinsp_lookup_free(l);
		fake_stop(&d);
	}
}

static void answer_not_found(struct fake_docker *d, int fd, const char *path)
{
	(void)d, (void)path;
	fake_answer(fd, "404 Not Found", "{\"message\": \"no such container\"}");
}

/* A query is retried a few times: the server may know the container a moment later. */
static void test_not_found(void **state)
{
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	fake_start(&d, answer_not_found);
	l = begin(&d, 30000);
	ask(l);
	while (fake_n_requests(&d) < 6)
		pause_ms();
	for (int i = 0; i < 50; i++)
		pause_ms();
	assert_null(sinsp_lookup_results(l));
	sinsp_lookup_free(l);
	assert_int_equal(fake_n_requests(&d), 6);
	fake_stop(&d);
}

static void answer_later(struct fake_docker *d, int fd, const char *path)
{
	if (fake_n_requests(d) < 3)
		fake_answer(fd, "500 Internal Server Error", "");
	else
		answer_inspect(d, fd, path);
}

static void test_found_later(void **state)
{
	struct sinsp_lookup_result *r;
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	fake_start(&d, answer_later);
	l = begin(&d, 30000);
	ask(l);
	r = wait_for_result(l);
	assert_null(r->json);
	assert_non_null(strstr(r->note, d.path));
	sinsp_lookup_result_free(r);
	r = wait_for_result(l);
	assert_non_null(strstr(r->json, "\"web\""));
	sinsp_lookup_result_free(r);
	sinsp_lookup_free(l);
	fake_stop(&d);
}

static const char *bad_answers[] = {
	"",
	"null",
	"[]",
	"{\"Id\": 1}",
	"{\"Id\": \"" H "\", \"Name\"",
	"{\"Id\": \"" H "\", \"Name\": \"/\xff\\ud800\"",
	"\"Id\"",
};

static void answer_badly(struct fake_docker *d, int fd, const char *path)
{
	(void)path;
	fake_answer(fd, "200 OK",
		    bad_answers[fake_n_requests(d) % (sizeof(bad_answers) / sizeof(*bad_answers))]);
}

static void test_broken_answers(void **state)
{
	struct sinsp_lookup_result *r;
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	fake_start(&d, answer_badly);
	l = begin(&d, 30000);
	ask(l);
	r = wait_for_result(l);
	assert_null(r->json);
	assert_non_null(strstr(r->note, "invalid answer"));
	sinsp_lookup_result_free(r);
	while (fake_n_requests(&d) < 6)
		pause_ms();
	sinsp_lookup_free(l);
	fake_stop(&d);
}

/* Members of every wrong type, and more of them than are used. */
static void answer_strangely(struct fake_docker *d, int fd, const char *path)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)d, (void)path;
	fputs("{\"Id\": \"x\", \"Name\": 5, \"Image\": \"sha256:../../secrets\", \"Config\":"
	      "{\"Image\": [], \"Labels\": {",
	      f);
	for (int i = 0; i < 5000; i++)
		fprintf(f, "\"label%d\": \"%0100d\",", i, i);
	fputs("\"x\": null}, \"Healthcheck\": {\"Test\": [5, {}, null]}}, \"HostConfig\": 7, "
	      "\"NetworkSettings\": {\"Ports\":"
	      "{\"80/tcp\": [1, null, {\"HostPort\": 3}], \"x\": 1}}, \"Mounts\": [",
	      f);
	for (int i = 0; i < 1000; i++)
		fprintf(f, "{\"Source\": %d},", i);
	fputs("0]}", f);
	fclose(f);
	fake_answer(fd, "200 OK", text);
	free(text);
}

static void test_strange_answer(void **state)
{
	struct sinsp_container_info info;
	struct sinsp_lookup_result *r;
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	fake_start(&d, answer_strangely);
	l = begin(&d, 30000);
	ask(l);
	r = wait_for_result(l);
	assert_non_null(r->json);
	assert_in_range(strlen(r->json), 1000, 100000);
	assert_int_equal(sinsp_container_json_read(&info, r->json, strlen(r->json)), 0);
	assert_string_equal(info.name, "");
	assert_string_equal(info.image, "");
	assert_string_equal(info.image_id, "");
	sinsp_container_info_fini(&info);
	sinsp_lookup_result_free(r);
	sinsp_lookup_free(l);
	assert_int_equal(fake_n_requests(&d), 1);
	fake_stop(&d);
}

#define HUGE (2u << 20)

/* A container whose description is too large, also for a list. */
static void answer_at_length(struct fake_docker *d, int fd, const char *path)
{
	char *text = malloc(HUGE + 512), *p = text;

	(void)d;
	if (!strcmp(path, "/containers/" H "/json"))
		p += sprintf(p, "{\"Args\": [\"");
	else if (strstr(path, "/containers/json?") && strstr(path, H))
		p += sprintf(p,
			     "[{\"Id\": \"" H "\", \"Names\": [\"/hidden\"], \"Image\": \"web:1\", "
			     "\"Labels\": {\"a\": \"");
	else {
		free(text);
		return fake_answer(fd, "404 Not Found", "{}");
	}
	memset(p, 'x', HUGE);
	strcpy(p + HUGE, "\"}}]");
	fake_answer(fd, "200 OK", text);
	free(text);
}

static void test_huge_answer(void **state)
{
	struct sinsp_container_info info;
	struct sinsp_lookup_result *r;
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	fake_start(&d, answer_at_length);
	l = begin(&d, 30000);
	ask(l);
	r = wait_for_result(l);
	assert_null(r->note);
	assert_int_equal(sinsp_container_json_read(&info, r->json, strlen(r->json)), 0);
	assert_string_equal(info.id, "0123456789ab");
	assert_string_equal(info.name, "hidden");
	assert_string_equal(info.image, "web:1");
	sinsp_container_info_fini(&info);
	sinsp_lookup_result_free(r);
	sinsp_lookup_free(l);
	fake_stop(&d);
}

/* Texts of the maximum length, of bytes that are printed as six. */
static void answer_with_checks(struct fake_docker *d, int fd, const char *path)
{
	char *text = malloc(HUGE), *p = text;

	(void)d;
	if (strcmp(path, "/containers/" H "/json")) {
		free(text);
		return fake_answer(fd, "404 Not Found", "{}");
	}
	p += sprintf(p, "{\"Id\": \"" H "\", \"Name\": \"/web\", \"Mounts\": [");
	for (int i = 0; i < 64; i++) {
		p += sprintf(p, "%s{\"Source\": \"", i ? "," : "");
		for (int k = 0; k < 1000; k++)
			p += sprintf(p, "\\u0001");
		p += sprintf(p, "\"}");
	}
	p += sprintf(p, "], \"Config\": {\"Healthcheck\": {\"Test\": [\"CMD\", \"check\"");
	for (int i = 0; i < 60; i++)
		p += sprintf(p, ", \"%0*d\"", i == 1 ? 300000 : 1000, i);
	sprintf(p, "]}}}");
	fake_answer(fd, "200 OK", text);
	free(text);
}

static void test_large_event(void **state)
{
	struct sinsp_container_info info;
	struct sinsp_lookup_result *r;
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	fake_start(&d, answer_with_checks);
	l = begin(&d, 30000);
	ask(l);
	r = wait_for_result(l);
	assert_true(strlen(r->json) <= SINSP_CONTAINER_JSON_MAX);
	assert_int_equal(sinsp_container_json_read(&info, r->json, strlen(r->json)), 0);
	assert_string_equal(info.name, "web");
	sinsp_container_info_fini(&info);
	sinsp_lookup_result_free(r);
	sinsp_lookup_free(l);
	fake_stop(&d);
}

static void answer_nothing(struct fake_docker *d, int fd, const char *path)
{
	(void)path;
	fake_hang(d, fd);
}

/* A timeout is reported, and the server gets no request for a while. */
static void test_hanging(void **state)
{
	struct sinsp_lookup_result *r;
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	fake_start(&d, answer_nothing);
	l = begin(&d, 20);
	for (int i = 0; i < 5; i++)
		assert_int_equal(ask_number(l, i), 0);
	r = wait_for_result(l);
	assert_null(r->json);
	assert_non_null(strstr(r->note, "timed out"));
	sinsp_lookup_result_free(r);
	for (int i = 0; i < 50; i++)
		pause_ms();
	assert_in_range(fake_n_requests(&d), 0, 1);
	sinsp_lookup_free(l);
	fake_stop(&d);
}

/* ---- a CRI socket ---- */

struct fake_cri {
	char path[64];
	int fd;
	atomic_int n;
	pthread_t thread;
};

/* Answers with more bytes than the answer about a pod may have: frames of an unknown type. */
static void *answer_endlessly(void *arg)
{
	static const char frame[9 + 16384] = {0, 0x40, 0, (char)0xee};
	struct fake_cri *cri = arg;
	int fd;

	while ((fd = accept(cri->fd, NULL, NULL)) >= 0) {
		atomic_fetch_add(&cri->n, 1);
		send(fd, "\0\0\0\4\0\0\0\0", 9, MSG_NOSIGNAL);
		while (send(fd, frame, sizeof(frame), MSG_NOSIGNAL) > 0)
			;
		close(fd);
	}
	return NULL;
}

static void cri_start(struct fake_cri *cri)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	cri->n = 0;
	snprintf(cri->path, sizeof(cri->path), "/tmp/saker-cri-%d.sock", (int)getpid());
	strcpy(addr.sun_path, cri->path);
	unlink(cri->path);
	cri->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(cri->fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(cri->fd, 8), 0);
	assert_int_equal(pthread_create(&cri->thread, NULL, answer_endlessly, cri), 0);
}

static void cri_stop(struct fake_cri *cri)
{
	shutdown(cri->fd, SHUT_RDWR);
	pthread_join(cri->thread, NULL);
	close(cri->fd);
	unlink(cri->path);
}

static void answer_in_pod(struct fake_docker *d, int fd, const char *path)
{
	char text[256];

	(void)d;
	snprintf(text, sizeof(text),
		 "{\"Id\": \"%.64s\", \"Name\": \"/web\", \"Config\": {\"Labels\": "
		 "{\"io.kubernetes.cri.sandbox-id\": \"" H "\"}}}",
		 path + strlen("/containers/"));
	fake_answer(fd, "200 OK", text);
}

/* A pod whose answer is too long, as its owner can make it, takes the labels of no other pod. */
static void test_long_pod(void **state)
{
	struct sinsp_lookup_opts opts = {
		.sz = sizeof(opts), .timeout_ms = 30000, .retry_ms = 60000};
	struct sinsp_lookup *l;
	struct fake_docker d;
	struct fake_cri cri;

	(void)state;
	fake_start(&d, answer_in_pod);
	cri_start(&cri);
	opts.socket = d.path;
	opts.cri = cri.path;
	assert_int_equal(sinsp_lookup_new(&l, &opts), 0);
	assert_int_equal(ask_number(l, 1), 0);
	assert_int_equal(ask_number(l, 2), 0);
	for (int i = 0; i < 8000 && atomic_load(&cri.n) < 2; i++)
		pause_ms();
	assert_int_equal(atomic_load(&cri.n), 2);
	sinsp_lookup_free(l);
	cri_stop(&cri);
	fake_stop(&d);
}

/* The end does not wait for an answer. */
static void test_end_while_it_hangs(void **state)
{
	struct sinsp_lookup *l;
	struct fake_docker d;

	(void)state;
	fake_start(&d, answer_nothing);
	l = begin(&d, 3600000);
	ask(l);
	while (!fake_n_requests(&d))
		pause_ms();
	sinsp_lookup_free(l);
	fake_stop(&d);
}

static void test_queue_is_bounded(void **state)
{
	struct sinsp_lookup *l;
	struct fake_docker d;
	int n = 0;

	(void)state;
	fake_start(&d, answer_nothing);
	l = begin(&d, 3600000);
	while (!ask_number(l, n))
		assert_true(++n < 10000);
	assert_in_range(n, 16, 1024);
	sinsp_lookup_free(l);
	fake_stop(&d);
}

/* Users make cgroups that are named like containers, but there are no such containers. */
static void test_users_do_not_fill_the_queue(void **state)
{
	const struct sinsp_lookup_opts opts = {.sz = sizeof(opts), .root = "/no/such/folder"};
	struct sinsp_lookup *l;
	int n_taken = 0;

	(void)state;
	assert_int_equal(sinsp_lookup_new(&l, &opts), 0);
	for (int i = 0; i < 1000; i++)
		n_taken += !ask_of(l, (uint32_t)(1000 + i / 100), i);
	assert_int_equal(n_taken, 128);
	assert_int_equal(
		sinsp_lookup_request(l, SINSP_CT_CONTAINERD, SINSP_NO_UID, "0123456789ab", H), 0);
	sinsp_lookup_free(l);
}

#define LATE_MS 150

static void answer_late(struct fake_docker *d, int fd, const char *path)
{
	(void)d;
	(void)path;
	usleep(LATE_MS * 1000);
	fake_answer(fd, "404 Not Found", "{}");
}

/* A user's server that is slow delays the names of all others: it is left alone for ten times as
 * long. */
static void test_slow_server_of_a_user_rests(void **state)
{
	struct sinsp_lookup_opts opts = {.sz = sizeof(opts), .retry_ms = 1};
	char folder[3][128], path[160];
	const uint64_t begin_ns = clock_now_ns();
	struct sinsp_lookup *l;
	struct fake_docker d;
	uint64_t ms;

	(void)state;
	fake_start(&d, answer_late);
	snprintf(folder[0], sizeof(folder[0]), "%s/run", d.dir);
	snprintf(folder[1], sizeof(folder[1]), "%s/run/user", d.dir);
	snprintf(folder[2], sizeof(folder[2]), "%s/run/user/%u", d.dir, getuid());
	for (int i = 0; i < 3; i++)
		assert_int_equal(mkdir(folder[i], 0700), 0);
	snprintf(path, sizeof(path), "%s/docker.sock", folder[2]);
	assert_int_equal(rename(d.path, path), 0);
	opts.root = d.dir;
	assert_int_equal(sinsp_lookup_new(&l, &opts), 0);
	for (int i = 0; i < 16; i++)
		assert_int_equal(ask_of(l, getuid(), i), 0);
	do {
		pause_ms();
		ms = (clock_now_ns() - begin_ns) / 1000000;
	} while (!fake_n_requests(&d) || ms < 8 * LATE_MS);
	assert_true((uint64_t)fake_n_requests(&d) <= 2 + ms / (10 * LATE_MS));
	sinsp_lookup_free(l);
	unlink(path);
	for (int i = 3; i--;)
		rmdir(folder[i]);
	fake_stop(&d);
}

static void test_who_is_asked(void **state)
{
	(void)state;
	assert_true(sinsp_lookup_supports(SINSP_CT_DOCKER) &&
		    sinsp_lookup_supports(SINSP_CT_PODMAN));
	assert_true(sinsp_lookup_supports(SINSP_CT_CRIO) &&
		    sinsp_lookup_supports(SINSP_CT_CONTAINERD));
	assert_false(sinsp_lookup_supports(SINSP_CT_LXC) || sinsp_lookup_supports(SINSP_CT_CUSTOM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_found_at_the_start),
		cmocka_unit_test(test_long_list),
		cmocka_unit_test(test_failure_after_a_broken_list),
		cmocka_unit_test(test_broken_list),
		cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_found_later),
		cmocka_unit_test(test_broken_answers),
		cmocka_unit_test(test_strange_answer),
		cmocka_unit_test(test_huge_answer),
		cmocka_unit_test(test_large_event),
		cmocka_unit_test(test_hanging),
		cmocka_unit_test(test_long_pod),
		cmocka_unit_test(test_end_while_it_hangs),
		cmocka_unit_test(test_queue_is_bounded),
		cmocka_unit_test(test_users_do_not_fill_the_queue),
		cmocka_unit_test(test_slow_server_of_a_user_rests),
		cmocka_unit_test(test_who_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
