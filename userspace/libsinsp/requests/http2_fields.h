/* SPDX-License-Identifier: Apache-2.0 */
/* What header fields of HTTP/2 and gRPC say of a request, and the names of their codes. */
#ifndef SINSP_REQUESTS_HTTP2_FIELDS_H
#define SINSP_REQUESTS_HTTP2_FIELDS_H

#include "hpack.h"
#include "request.h"

enum http2_part {
	HTTP2_IGNORED, /* of no request, or trailers of one */
	HTTP2_REQUEST,
	HTTP2_RESPONSE,
	HTTP2_TRAILERS, /* of a response */
};

/* What the fields of a block have said so far. */
struct http2_block {
	uint32_t stream; /* of its frames; 0: no block is open */
	uint32_t request; /* the stream that it is of */
	uint32_t n; /* its bytes */
	uint16_t status; /* 0: not seen */
	uint8_t part; /* enum http2_part */
	uint8_t end_stream; /* the stream ends with it */
	uint8_t has_unknown; /* a field is unknown, or lost */
	uint8_t is_lost; /* the rest of it */
	uint8_t has_grpc_status;
};

/* Sets what a field of the block says of @r, which may be NULL. */
void http2_field(struct request *r, struct http2_block *b, const struct hpack_field *f);
/* Marks the request as truncated if a field that the block must have was not seen. */
void http2_end_block(struct request *r, const struct http2_block *b);

int http2_is_grpc(const struct request *r);
/* Sets request.error to the name of a code of RST_STREAM or GOAWAY, unless it has one. */
void http2_set_error(struct request *r, uint32_t code);

#endif /* SINSP_REQUESTS_HTTP2_FIELDS_H */
