/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP POST after the other, by libcurl: what is read of a response is bounded. */
#ifndef OTLP_POST_H
#define OTLP_POST_H

#include <stddef.h>
#include <stdint.h>

struct otlp_post;

struct otlp_post_opts {
	size_t sz;
	const char *ca; /* PEM file of trusted certificates; NULL: those of the system. Texts are
			   borrowed */
	const char *const *headers; /* NAME: VALUE; secret */
	size_t n_headers;
	const char *type; /* header Content-Type; NULL: that of protobuf */
	const char *user_agent;
	int gzip; /* compress */
	int is_gzip; /* it is compressed already */
	uint64_t timeout_ns; /* of a request; 0: 10 s */
	const int *ends; /* atomic: aborts a request; NULL: never */
};

/* What happened to a request. */
enum otlp_outcome {
	OTLP_ACCEPTED, /* 2xx */
	OTLP_THROTTLED, /* 429, 502, 503, 504: to be sent again */
	OTLP_FINAL, /* another status */
	OTLP_FAILED, /* no response: to be sent again */
	OTLP_OUTCOMES
};
extern const char *const otlp_outcome_names[OTLP_OUTCOMES];
enum otlp_outcome otlp_outcome_of(long status);

struct otlp_answer {
	enum otlp_outcome outcome;
	long status; /* of HTTP; 0: none */
	uint64_t after_s; /* Retry-After */
	uint64_t rejected; /* items, of a partial success */
	int absent; /* nothing was sent: there was no connection */
	const char *reason; /* why there is no status. Borrowed until the next request */
};

/* Returns 0 or -ENOMEM. */
int otlp_post_new(struct otlp_post **out, const struct otlp_post_opts *opts);
void otlp_post_free(struct otlp_post *s);
void otlp_post_send(struct otlp_post *s, struct otlp_answer *a, const char *url, const void *p,
		    size_t len);

#endif /* OTLP_POST_H */
