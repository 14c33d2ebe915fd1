/* SPDX-License-Identifier: Apache-2.0 */
/* A request: what a client sent, and what the server answered. */
#ifndef SINSP_REQUESTS_REQUEST_H
#define SINSP_REQUESTS_REQUEST_H

#include <stddef.h>
#include <stdint.h>

struct sinsp_conn;

enum req_kind {
	REQ_KIND_REQUEST = 0,
	REQ_KIND_ONEWAY = 1, /* a message without a response */
	REQ_KIND_CONNECT = 2, /* a connection that failed */
};

/* Texts of a request, cut to the limits in request.c. */
enum req_text {
	REQ_METHOD, /* GET, SELECT, SET: few values */
	REQ_RESOURCE, /* path, table, key, topic */
	REQ_STATEMENT, /* the whole statement, without secrets */
	REQ_ERROR, /* a short code; not empty: the request failed */
	REQ_ERROR_TEXT,
	REQ_TRACE_ID,
	REQ_SPAN_ID,
	REQ_PARENT_TRACE, /* the same of what it is part of (nesting.h) */
	REQ_PARENT_SPAN,
	REQ_TEXT_MAX
};

/* How the response ends. */
enum req_end {
	REQ_END_KNOWN, /* the protocol shows it */
	REQ_END_OPEN, /* unknown: with the next request, the end of the connection, or idleness */
	REQ_END_CLOSE, /* with the connection, which is no error */
};

/* What the request is part of: nesting.h. */
struct req_nest {
	uint64_t id; /* from 1 on, by their begin */
	uint64_t parent; /* 0: unknown, or nothing */
	uint64_t root; /* the outermost; its own id without a parent */
	int64_t served_by; /* thread */
	uint8_t paired; /* with that of the other end */
};

struct request {
	struct request *next, *prev; /* open requests of the connection */
	struct sinsp_conn *conn;
	const char *proto; /* name of the protocol */
	uint64_t id; /* of protocols whose responses have one */
	uint64_t stream; /* request.stream */
	uint64_t begin_ns, sent_ns; /* first and last byte of the request */
	uint64_t first_ns, last_ns; /* of the response; 0: none yet */
	uint64_t bytes[2]; /* by enum req_from */
	int64_t status;
	int64_t tid, fd; /* of the call with the first byte */
	struct req_nest nest;
	char *texts[REQ_TEXT_MAX]; /* owned; NULL: unknown */
	uint8_t kind; /* enum req_kind */
	uint8_t end; /* enum req_end */
	uint8_t has_status, has_stream;
	uint8_t truncated; /* a part that it was read from was cut, or lost */
	uint8_t ends_with; /* enum req_from + 1: it ends with the message; 0: not yet */
	uint8_t mark; /* for the protocol */
	uint32_t texts_sz; /* bytes of the texts, which count as memory of the connection */
};

/* Sets a text, up to its limit. Keeps the old one without memory. */
void req_set_text(struct request *r, enum req_text which, const void *p, size_t n);
void req_set_string(struct request *r, enum req_text which, const char *text);
/* The same in capitals. */
void req_set_upper(struct request *r, enum req_text which, const void *p, size_t n);
/* Appends to a text, up to its limit. */
void req_add_text(struct request *r, enum req_text which, const void *p, size_t n);
static inline const char *req_text(const struct request *r, enum req_text which)
{
	return r->texts[which] ? r->texts[which] : "";
}

static inline void req_set_status(struct request *r, int64_t status)
{
	r->status = status;
	r->has_status = 1;
}

static inline void req_set_stream(struct request *r, uint64_t stream)
{
	r->stream = stream;
	r->has_stream = 1;
}

#endif /* SINSP_REQUESTS_REQUEST_H */
