/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_post.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "otlp_message.h"

enum {
	HEADERS_MAX = 64 << 10, /* bytes of the headers of a response */
	BODY_MAX = 64 << 10, /* bytes that are read of a body */
	BODY_KEPT = 4 << 10, /* of which these are kept */
	CONNECT_MS = 5000,
};
#define TIMEOUT_NS 10000000000ull

const char *const otlp_outcome_names[OTLP_OUTCOMES] = {"accepted", "throttled", "refused",
						       "failed"};

/* What came back. */
struct response {
	size_t headers, body, kept;
	uint8_t bytes[BODY_KEPT];
};

struct otlp_post {
	struct otlp_post_opts o;
	CURL *curl;
	struct curl_slist *headers;
	struct response response;
	char reason[CURL_ERROR_SIZE]; /* of libcurl */
};

/* Returning another number than that of the bytes ends the request. */
static size_t take_header(char *p, size_t size, size_t n, void *ctx)
{
	struct response *r = ctx;

	(void)p;
	r->headers += size * n;
	return r->headers > HEADERS_MAX ? 0 : size * n;
}

static size_t take_body(char *p, size_t size, size_t n, void *ctx)
{
	struct response *r = ctx;
	const size_t len = size * n, room = BODY_KEPT - r->kept, kept = len < room ? len : room;

	memcpy(r->bytes + r->kept, p, kept);
	r->kept += kept;
	r->body += len;
	return r->body > BODY_MAX ? 0 : len;
}

/* Another number than 0 ends the request. */
static int is_ended(void *ctx, curl_off_t dl, curl_off_t dl_now, curl_off_t ul, curl_off_t ul_now)
{
	const struct otlp_post *s = ctx;

	(void)dl, (void)dl_now, (void)ul, (void)ul_now;
	return s->o.ends && __atomic_load_n(s->o.ends, __ATOMIC_RELAXED);
}

static uint64_t rejected_items(const struct response *r)
{
	return r->body == r->kept ? otlp_response_rejected(r->bytes, r->kept) : 0;
}

/* Returns the compressed bytes, owned by the caller; NULL: no memory. */
static uint8_t *compress_gzip(const uint8_t *p, size_t n, size_t *len)
{
	z_stream z = {.next_in = (Bytef *)p, .avail_in = (uInt)n};
	uint8_t *to = NULL;
	size_t cap;

	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	cap = deflateBound(&z, n);
	to = malloc(cap);
	if (to) {
		z.next_out = to;
		z.avail_out = (uInt)cap;
		if (deflate(&z, Z_FINISH) != Z_STREAM_END) {
			free(to);
			to = NULL;
		}
	}
	*len = z.total_out;
	deflateEnd(&z);
	return to;
}

/* Returns the status of the response; 0: there was none. */
static long post(struct otlp_post *s, const char *url, const uint8_t *p, size_t len)
{
	long status = 0;
	CURLcode code;

	s->response = (struct response){0};
	s->reason[0] = 0;
	curl_easy_setopt(s->curl, CURLOPT_URL, url);
	curl_easy_setopt(s->curl, CURLOPT_POSTFIELDS, p);
	curl_easy_setopt(s->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
	code = curl_easy_perform(s->curl);
	if (code != CURLE_OK && !*s->reason)
		snprintf(s->reason, sizeof(s->reason), "%s", curl_easy_strerror(code));
	curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
	return s->response.headers > HEADERS_MAX || code == CURLE_ABORTED_BY_CALLBACK ? 0 : status;
}

enum otlp_outcome otlp_outcome_of(long status)
{
	if (status >= 200 && status < 300)
		return OTLP_ACCEPTED;
	if (status == 429 || status == 502 || status == 503 || status == 504)
		return OTLP_THROTTLED;
	return status >= 300 ? OTLP_FINAL : OTLP_FAILED;
}

void otlp_post_send(struct otlp_post *s, struct otlp_answer *a, const char *url, const void *p,
		    size_t len)
{
	curl_off_t after_s = 0, pretransfer_us = 0; /* 0: there was no connection */
	uint8_t *packed = NULL;

	*a = (struct otlp_answer){.reason = s->reason};
	if (s->o.gzip) {
		packed = compress_gzip(p, len, &len);
		if (!packed) {
			a->reason = "not enough memory";
			a->outcome = OTLP_FAILED;
			return;
		}
		p = packed;
	}
	a->status = post(s, url, p, len);
	free(packed);
	a->outcome = otlp_outcome_of(a->status);
	curl_easy_getinfo(s->curl, CURLINFO_PRETRANSFER_TIME_T, &pretransfer_us);
	a->absent = !a->status && !pretransfer_us;
	if (a->outcome == OTLP_ACCEPTED)
		a->rejected = rejected_items(&s->response);
	if (a->outcome == OTLP_THROTTLED)
		curl_easy_getinfo(s->curl, CURLINFO_RETRY_AFTER, &after_s);
	a->after_s = after_s > 0 ? (uint64_t)after_s : 0;
}

/* ---- life ---- */

static int add_header(struct otlp_post *s, const char *text)
{
	struct curl_slist *more = curl_slist_append(s->headers, text);

	if (!more)
		return -ENOMEM;
	s->headers = more;
	return 0;
}

static int set_headers(struct otlp_post *s)
{
	int err = add_header(s, s->o.type ?: "Content-Type: application/x-protobuf")
			  ?: add_header(s, "Expect:");

	if (!err && (s->o.gzip || s->o.is_gzip))
		err = add_header(s, "Content-Encoding: gzip");
	for (size_t i = 0; i < s->o.n_headers && !err; i++)
		err = add_header(s, s->o.headers[i]);
	return err;
}

/* Redirections are not followed: headers with secrets go to one place only. */
static void set_options(struct otlp_post *s)
{
	const uint64_t timeout_ns = s->o.timeout_ns ? s->o.timeout_ns : TIMEOUT_NS;
	CURL *c = s->curl;

	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L); /* does not wait for a thread that resolves */
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, s->reason);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)((timeout_ns + 999999) / 1000000));
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, s->headers);
	curl_easy_setopt(c, CURLOPT_USERAGENT, s->o.user_agent);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, &s->response);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, &s->response);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, is_ended);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, s);
	if (s->o.ca) {
		curl_easy_setopt(c, CURLOPT_CAINFO, s->o.ca);
		curl_easy_setopt(c, CURLOPT_CAPATH, NULL); /* else those of the system, too */
	}
}

int otlp_post_new(struct otlp_post **out, const struct otlp_post_opts *opts)
{
	struct otlp_post *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->o = *opts;
	err = curl_global_init(CURL_GLOBAL_DEFAULT) ? -ENOMEM : set_headers(s);
	s->curl = err ? NULL : curl_easy_init();
	if (!s->curl) {
		otlp_post_free(s);
		return -ENOMEM;
	}
	set_options(s);
	*out = s;
	return 0;
}

void otlp_post_free(struct otlp_post *s)
{
	if (!s)
		return;
	curl_easy_cleanup(s->curl);
	curl_slist_free_all(s->headers);
	free(s);
}
