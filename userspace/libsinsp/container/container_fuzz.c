/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target: what container engines answer, and what runtimes write. SAKER_FUZZ_ARG selects:
 * event (the text of a container event), docker (answers of its API), http (a whole answer on a
 * socket), cri (the message in an answer of CRI), oci (a bundle's config.json, podman's list),
 * cgroup (paths).
 */
#include "testing/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "container_files.h"
#include "container_json.h"
#include "container_match.h"
#include "cri_api.h"
#include "docker_api.h"
#include "unix_http.h"

#define ID "0123456789ab"
#define FULL_ID ID ID ID ID ID "0123"

static void fuzz_event(const uint8_t *data, size_t sz)
{
	struct sinsp_container_info info;

	if (sinsp_container_json_read(&info, (const char *)data, sz))
		return;
	if (strlen(info.id) + strlen(info.name) + strlen(info.image) > 4 * sz)
		abort();
	if (info.labels.len && info.labels.p[info.labels.len - 1])
		abort();
	sinsp_container_info_fini(&info);
}

static void check_id(void *ctx, const char *id)
{
	(void)ctx;
	if (strlen(id) != 64)
		abort();
}

static void fuzz_docker(const uint8_t *data, size_t sz)
{
	const char *text = (const char *)data;
	struct sinsp_docker_answer *a;
	char *event;

	sinsp_docker_each(text, sz, check_id, NULL);
	free(sinsp_docker_listed_event(text, sz, ID, FULL_ID, SINSP_CT_DOCKER));
	if (sinsp_docker_answer_new(&a, text, sz))
		return;
	if (strchr(sinsp_docker_answer_image(a), '/'))
		abort();
	sinsp_docker_answer_add_image(a, text, sz);
	event = sinsp_docker_answer_event(a, ID, SINSP_CT_DOCKER);
	if (event)
		fuzz_event((const uint8_t *)event, strlen(event));
	free(event);
	sinsp_docker_answer_free(a);
}

/* A server that answers each connection with the same bytes. */
static struct {
	struct sockaddr_un at;
	int fd;
	const uint8_t *data;
	size_t sz;
	sem_t served;
} server = {.at = {.sun_family = AF_UNIX}, .fd = -1};

static void *serve(void *arg)
{
	(void)arg;
	for (;;) {
		const int fd = accept(server.fd, NULL, NULL);

		if (fd < 0 || send(fd, server.data, server.sz, MSG_NOSIGNAL) < -1)
			abort();
		shutdown(fd, SHUT_WR);
		while (recv(fd, &(char[512]){0}, 512, 0) > 0)
			;
		close(fd);
		sem_post(&server.served);
	}
	return NULL;
}

static void set_answer(const uint8_t *data, size_t sz)
{
	pthread_t thread;

	server.data = data;
	server.sz = sz;
	if (server.fd >= 0)
		return;
	fuzz_make_root();
	snprintf(server.at.sun_path, sizeof(server.at.sun_path), "%s/socket", fuzz_root);
	server.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	sem_init(&server.served, 0, 0);
	if (bind(server.fd, (const void *)&server.at, sizeof(server.at)) || listen(server.fd, 4) ||
	    pthread_create(&thread, NULL, serve, NULL))
		abort();
}

static void fuzz_http(const uint8_t *data, size_t sz)
{
	const struct sinsp_http_opts opts = {.sz = sizeof(opts),
					     .owner = UINT32_MAX,
					     .quit_fd = -1,
					     .timeout_ms = 5000,
					     .max_sz = 2048};
	char *body = NULL;
	size_t len = 0;

	set_answer(data, sz);
	if (sinsp_http_get(&body, &len, server.at.sun_path, "/x", &opts) > 0) {
		if (len > sz || body[len])
			abort();
		free(body);
	}
	sem_wait(&server.served);
}

/* Appends a frame of HTTP/2. */
static uint8_t *put_frame(uint8_t *to, uint8_t type, uint8_t flags, const void *p, size_t n)
{
	const uint8_t head[] = {
		(uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n, type, flags, 0, 0, 0, type != 4};

	memcpy(to, head, sizeof(head));
	memcpy(to + sizeof(head), p, n);
	return to + sizeof(head) + n;
}

static void fuzz_cri(const uint8_t *data, size_t sz)
{
	static const char *const events[] = {
		"{\"container\":{\"id\":\"" ID
		"\",\"labels\":{\"io.kubernetes.cri.sandbox-id\":\"5a0d\"}}}",
		"{\"container\":{\"id\":\"" ID
		"\",\"labels\":{\"io.kubernetes.pod.uid\":\"uid-1\"}}}"};
	static const char trailer[] = "\0\x0bgrpc-status\x01\x30";
	const struct cri_opts opts = {.sz = sizeof(opts), .quit_fd = -1, .timeout_ms = 5000};
	static uint8_t answer[16384 + 64], message[16384] = {0};
	uint8_t *p = answer;

	if (sz > sizeof(message) - 5)
		return;
	message[3] = (uint8_t)(sz >> 8);
	message[4] = (uint8_t)sz;
	memcpy(message + 5, data, sz);
	p = put_frame(p, 4, 0, "", 0); /* SETTINGS */
	p = put_frame(p, 1, 4, "\x88", 1); /* HEADERS: 200 */
	p = put_frame(p, 0, 0, message, 5 + sz); /* DATA */
	p = put_frame(p, 1, 5, trailer, sizeof(trailer) - 1); /* HEADERS */
	for (size_t i = 0; i < 2; i++) {
		char *json = fuzz_must(strdup(events[i]));

		set_answer(answer, (size_t)(p - answer));
		if (!cri_add_pod_labels(&json, server.at.sun_path, &opts))
			fuzz_event((const uint8_t *)json, strlen(json));
		free(json);
		sem_wait(&server.served);
	}
}

static void put(const char *path, const uint8_t *data, size_t sz)
{
	char whole[400], command[500];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s%s", fuzz_root, path);
	f = fopen(whole, "w");
	if (!f) {
		snprintf(command, sizeof(command), "mkdir -p $(dirname %s)", whole);
		if (system(command))
			abort();
		f = fuzz_must(fopen(whole, "w"));
	}
	fwrite(data, sz, 1, f);
	fclose(f);
}

static void fuzz_oci(const uint8_t *data, size_t sz)
{
	static const enum sinsp_container_type types[] = {SINSP_CT_CONTAINERD, SINSP_CT_CRIO,
							  SINSP_CT_PODMAN};
	static int has_root;

	if (!has_root) {
		umask(022);
		fuzz_make_root();
		has_root = 1;
	}
	put("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" FULL_ID "/config.json", data,
	    sz);
	put("/var/lib/containers/storage/overlay-containers/" FULL_ID "/userdata/config.json", data,
	    sz);
	put("/var/lib/containers/storage/overlay-containers/containers.json", data, sz);
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		char *json = NULL;

		if (!container_files_event(&json, fuzz_root, types[i], ID, FULL_ID))
			fuzz_event((const uint8_t *)json, strlen(json));
		free(json);
	}
}

static void fuzz_cgroup(const uint8_t *data, size_t sz)
{
	struct sinsp_container_match m;

	if (sinsp_container_match(&m, (const char *)data, sz) &&
	    (strlen(m.id) >= sizeof(m.id) || strlen(m.full_id) >= sizeof(m.full_id) ||
	     strlen(m.pod_uid) >= sizeof(m.pod_uid)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static const struct {
		const char *arg;
		void (*fn)(const uint8_t *data, size_t sz);
	} kinds[] = {{"event", fuzz_event}, {"docker", fuzz_docker}, {"http", fuzz_http},
		     {"cri", fuzz_cri},     {"oci", fuzz_oci},       {"cgroup", fuzz_cgroup}};
	const char *arg = getenv("SAKER_FUZZ_ARG") ?: "event";

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(arg, kinds[i].arg))
			kinds[i].fn(data, sz);
	return 0;
}
