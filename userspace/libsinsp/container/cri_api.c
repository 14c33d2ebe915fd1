/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RuntimeService.ListPodSandbox for one pod. nghttp2 speaks HTTP/2. Answers are hostile: what is
 * received in all, and what is kept, is bounded.
 */
#include "cri_api.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "container_json.h"
#include "container_parts.h"
#include "containers.h"
#include "pb.h"
#include "unix_socket.h"

enum {
	ANSWER_MAX = 1 << 20, /* a pod has a few KiB */
	RECEIVED_MAX = 2 << 20, /* with frames that are no answer */
	LABELS_MAX = 1024,
	REQUEST_SZ = 512,
	PREFIX_SZ = 5, /* of a message of gRPC: is it compressed, and its length */
};

enum { PB_BYTES = 2 };

static int is_field(const struct pb_field *f, uint32_t number)
{
	return f->number == number && f->wire == PB_BYTES;
}

/* ---- the call ---- */

struct call {
	struct unix_socket at;
	uint8_t request[REQUEST_SZ];
	size_t request_sz, n_sent, n_received;
	uint8_t *answer; /* owned */
	size_t len;
	int http_status, grpc_status; /* -1: none yet */
	int is_closed, is_too_long;
};

static ssize_t read_request(nghttp2_session *s, int32_t stream, uint8_t *to, size_t room,
			    uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
	struct call *c = source->ptr;
	size_t n = c->request_sz - c->n_sent;

	(void)s, (void)stream, (void)ctx;
	n = n < room ? n : room;
	memcpy(to, c->request + c->n_sent, n);
	c->n_sent += n;
	if (c->n_sent == c->request_sz)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

static int on_header(nghttp2_session *s, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
		     void *ctx)
{
	struct call *c = ctx;
	char number[8];

	(void)s, (void)frame, (void)flags;
	snprintf(number, sizeof(number), "%.*s", (int)value_len, (const char *)value);
	if (name_len == 7 && !memcmp(name, ":status", 7))
		c->http_status = atoi(number);
	else if (name_len == 11 && !memcmp(name, "grpc-status", 11))
		c->grpc_status = atoi(number);
	return 0;
}

static int on_data(nghttp2_session *s, uint8_t flags, int32_t stream, const uint8_t *data, size_t n,
		   void *ctx)
{
	struct call *c = ctx;
	uint8_t *p;

	(void)s, (void)flags, (void)stream;
	c->is_too_long = c->len + n > ANSWER_MAX;
	p = c->is_too_long ? NULL : realloc(c->answer, c->len + n + 1);
	if (!p)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	memcpy(p + c->len, data, n);
	c->answer = p;
	c->len += n;
	return 0;
}

static int on_close(nghttp2_session *s, int32_t stream, uint32_t error, void *ctx)
{
	struct call *c = ctx;

	(void)s, (void)stream, (void)error;
	c->is_closed = 1;
	return 0;
}

static int send_pending(const struct call *c, nghttp2_session *s)
{
	const uint8_t *p;
	ssize_t n;
	int err = 0;

	while (!err && (n = nghttp2_session_mem_send(s, &p)) > 0)
		err = unix_socket_send(&c->at, p, (size_t)n);
	return err ?: n < 0 ? -EBADMSG : 0;
}

static int receive_some(struct call *c, nghttp2_session *s)
{
	uint8_t data[16384];
	const ssize_t n = unix_socket_receive(&c->at, data, sizeof(data));

	if (n <= 0)
		return n < 0 ? (int)n : -EBADMSG;
	c->n_received += (size_t)n;
	if (c->n_received > RECEIVED_MAX)
		return -EFBIG;
	if (nghttp2_session_mem_recv(s, data, (size_t)n) >= 0)
		return 0;
	return c->is_too_long ? -EFBIG : -EBADMSG;
}

static int exchange(struct call *c, nghttp2_session *s)
{
	int err = 0;

	while (!err && !c->is_closed) {
		err = send_pending(c, s);
		if (!err && !c->is_closed && !nghttp2_session_want_read(s))
			err = -EBADMSG; /* nghttp2 ended the connection */
		if (!err && !c->is_closed)
			err = receive_some(c, s);
	}
	return err;
}

static int new_session(nghttp2_session **out, struct call *c)
{
	nghttp2_session_callbacks *cb;
	int err = nghttp2_session_callbacks_new(&cb);

	if (err)
		return -ENOMEM;
	nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
	err = nghttp2_session_client_new(out, cb, c);
	nghttp2_session_callbacks_del(cb);
	return err ? -ENOMEM : 0;
}

static int start_call(nghttp2_session *s, struct call *c, const char *path)
{
#define HEADER(name, value)                                                                        \
	{                                                                                          \
		(uint8_t *)(name), (uint8_t *)(value), strlen(name), strlen(value),                \
			NGHTTP2_NV_FLAG_NONE                                                       \
	}
	const nghttp2_nv headers[] = {
		HEADER(":method", "POST"),     HEADER(":scheme", "http"),
		HEADER(":path", path),         HEADER(":authority", "localhost"),
		HEADER("te", "trailers"),      HEADER("content-type", "application/grpc"),
		HEADER("user-agent", "saker"),
	};
#undef HEADER
	const nghttp2_data_provider body = {{.ptr = c}, read_request};

	if (nghttp2_submit_settings(s, NGHTTP2_FLAG_NONE, NULL, 0) ||
	    nghttp2_submit_request(s, NULL, headers, sizeof(headers) / sizeof(headers[0]), &body,
				   NULL) < 0)
		return -ENOMEM;
	return 0;
}

enum { GRPC_OK = 0, GRPC_UNIMPLEMENTED = 12 };

/* Returns 0 with the message of the answer: its bytes. */
static int check_answer(const struct call *c, struct pb_field *message)
{
	uint32_t len;

	if (c->http_status != 200 || c->grpc_status < 0)
		return -EBADMSG;
	if (c->grpc_status != GRPC_OK)
		return c->grpc_status == GRPC_UNIMPLEMENTED ? -EOPNOTSUPP : -EPROTO;
	if (c->len < PREFIX_SZ || c->answer[0])
		return -EBADMSG;
	len = (uint32_t)c->answer[1] << 24 | (uint32_t)c->answer[2] << 16 |
	      (uint32_t)c->answer[3] << 8 | c->answer[4];
	if (len != c->len - PREFIX_SZ)
		return -EBADMSG;
	*message = (struct pb_field){.p = c->answer + PREFIX_SZ, .len = len};
	return 0;
}

/* Calls the server. Returns 0 with the message of the answer, which is c's. */
static int call(struct call *c, struct pb_field *message, const char *socket,
		const struct cri_opts *opts)
{
	nghttp2_session *s = NULL;
	int err;

	c->at = (struct unix_socket){.fd = -1, .quit_fd = opts->quit_fd};
	c->at.deadline_ms = clock_now_ms() + opts->timeout_ms;
	c->http_status = c->grpc_status = -1;
	err = unix_socket_connect(&c->at, socket);
	err = err ?: new_session(&s, c);
	err = err ?: start_call(s, c, "/runtime.v1.RuntimeService/ListPodSandbox");
	err = err ?: exchange(c, s);
	nghttp2_session_del(s);
	unix_socket_close(&c->at);
	return err ?: check_answer(c, message);
}

/* ---- pods ---- */

/* What identifies a pod; "": unknown. */
struct pod {
	const char *sandbox, *uid;
};

static struct pod pod_of(const cJSON *container)
{
	const cJSON *labels = cJSON_GetObjectItemCaseSensitive(container, "labels");
	static const char *const sandbox_keys[] = {"io.kubernetes.cri.sandbox-id",
						   "io.kubernetes.cri-o.SandboxID",
						   "io.kubernetes.sandbox.id"};
	struct pod pod = {"", container_text(labels, SINSP_LABEL_POD_UID)};

	for (size_t i = 0; i < sizeof(sandbox_keys) / sizeof(*sandbox_keys) && !*pod.sandbox; i++)
		pod.sandbox = container_text(labels, sandbox_keys[i]);
	return pod;
}

/* Writes ListPodSandboxRequest: {filter: {id: SANDBOX}}, else {filter: {label_selector: {UID}}}. */
static int write_request(struct call *c, const struct pod *pod)
{
	const char *const text = *pod->sandbox ? pod->sandbox : pod->uid;
	size_t filter, entry;
	struct pb b;

	if (strlen(text) > 100)
		return -EINVAL;
	pb_init(&b, REQUEST_SZ - PREFIX_SZ);
	filter = pb_begin(&b, 1);
	if (*pod->sandbox) {
		pb_string(&b, 1, text);
	} else {
		entry = pb_begin(&b, 3);
		pb_string(&b, 1, SINSP_LABEL_POD_UID);
		pb_string(&b, 2, text);
		pb_end(&b, entry);
	}
	pb_end(&b, filter);
	if (!b.failed) {
		memcpy(c->request + PREFIX_SZ, b.p, b.len);
		c->request_sz = PREFIX_SZ + b.len;
		c->request[3] = (uint8_t)(b.len >> 8);
		c->request[4] = (uint8_t)b.len;
	}
	pb_fini(&b);
	return b.failed ? -ENOMEM : 0;
}

static int is_text(const struct pb_field *f, const char *text)
{
	return f->len == strlen(text) && !memcmp(f->p, text, f->len);
}

/* Returns whether the metadata of a pod has this UID, or -EBADMSG. */
static int has_uid(const struct pb_field *metadata, const char *uid)
{
	const uint8_t *p = metadata->p;
	struct pb_field f;
	int has = 0, n;

	while ((n = pb_next(&f, &p, metadata->p + metadata->len)) > 0)
		has |= is_field(&f, 2) && is_text(&f, uid);
	return n < 0 ? n : has;
}

/* Returns 1 if the sandbox is that of the pod, 0 if not, or -EBADMSG. A server may ignore filters.
 */
static int is_of_pod(const struct pb_field *sandbox, const struct pod *pod)
{
	const uint8_t *p = sandbox->p;
	struct pb_field f;
	int is_it = 0, n;

	while ((n = pb_next(&f, &p, sandbox->p + sandbox->len)) > 0) {
		if (is_field(&f, 1) && *pod->sandbox)
			is_it |= is_text(&f, pod->sandbox);
		if (!is_field(&f, 2) || *pod->sandbox)
			continue;
		n = has_uid(&f, pod->uid);
		if (n < 0)
			return n;
		is_it |= n;
	}
	return n < 0 ? n : is_it;
}

static int add_label(cJSON *to, size_t *room, const struct pb_field *entry)
{
	const uint8_t *p = entry->p;
	struct pb_field f;
	char *texts[2] = {NULL, NULL};
	int n;

	while ((n = pb_next(&f, &p, entry->p + entry->len)) > 0) {
		if (!is_field(&f, 1) && !is_field(&f, 2))
			continue;
		free(texts[f.number - 1]);
		texts[f.number - 1] = strndup((const char *)f.p, f.len);
	}
	if (!n && texts[0])
		container_add_label(to, room, texts[0], texts[1] ?: "");
	free(texts[0]);
	free(texts[1]);
	return n;
}

static int add_labels(cJSON *to, const struct pb_field *sandbox)
{
	const uint8_t *p = sandbox->p, *const end = p + sandbox->len;
	size_t room = CONTAINER_LABELS_SZ;
	struct pb_field f;
	int n = 0, n_labels = 0, err = 0;

	while (!err && n_labels < LABELS_MAX && (n = pb_next(&f, &p, end)) > 0)
		if (is_field(&f, 5) && ++n_labels)
			err = add_label(to, &room, &f);
	return err ?: n < 0 ? n : 0;
}

/* Adds the labels of the pod in the answer. Returns 0; 1: it is not there; -EBADMSG. */
static int read_answer(cJSON *to, const struct pb_field *message, const struct pod *pod)
{
	const uint8_t *p = message->p, *const end = p + message->len;
	struct pb_field f;
	int n, found = 0;

	while (!found && (n = pb_next(&f, &p, end)) > 0)
		if (is_field(&f, 1))
			found = is_of_pod(&f, pod);
	if (found > 0)
		return add_labels(to, &f);
	return found ?: n < 0 ? n : 1;
}

static int replace(char **json, const cJSON *root)
{
	char *text = cJSON_PrintUnformatted(root);

	if (!text || strlen(text) > SINSP_CONTAINER_JSON_MAX) {
		free(text);
		return text ? -EFBIG : -ENOMEM;
	}
	free(*json);
	*json = text;
	return 0;
}

int cri_add_pod_labels(char **json, const char *socket, const struct cri_opts *opts)
{
	cJSON *root = cJSON_Parse(*json);
	cJSON *container = cJSON_GetObjectItemCaseSensitive(root, "container");
	const struct pod pod = pod_of(container);
	struct call c = {0};
	struct pb_field message;
	int err;

	if (!*pod.sandbox && !*pod.uid) {
		cJSON_Delete(root);
		return 0;
	}
	err = write_request(&c, &pod) ?: call(&c, &message, socket, opts);
	if (!err)
		err = read_answer(cJSON_AddObjectToObject(container, "pod_sandbox_labels"),
				  &message, &pod);
	err = err ?: replace(json, root);
	free(c.answer);
	cJSON_Delete(root);
	return err;
}
