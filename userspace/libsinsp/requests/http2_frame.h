/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of HTTP/2 (RFC 9113): their headers, and what tells them from other bytes. */
#ifndef SINSP_REQUESTS_HTTP2_FRAME_H
#define SINSP_REQUESTS_HTTP2_FRAME_H

#include "protocol.h"

#define HTTP2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

enum {
	HTTP2_PREFACE_SZ = sizeof(HTTP2_PREFACE) - 1,
	HTTP2_FRAME_SZ = 9, /* of the header of a frame */
};

enum http2_type {
	HTTP2_DATA,
	HTTP2_HEADERS,
	HTTP2_PRIORITY,
	HTTP2_RST_STREAM,
	HTTP2_SETTINGS,
	HTTP2_PUSH_PROMISE,
	HTTP2_PING,
	HTTP2_GOAWAY,
	HTTP2_WINDOW_UPDATE,
	HTTP2_CONTINUATION,
};

enum http2_flags {
	HTTP2_F_END_STREAM = 0x1,
	HTTP2_F_ACK = 0x1,
	HTTP2_F_END_HEADERS = 0x4,
	HTTP2_F_PADDED = 0x8,
	HTTP2_F_PRIORITY = 0x20,
};

struct http2_frame {
	uint32_t len; /* without the header */
	uint32_t stream;
	uint8_t type; /* enum http2_type, or another */
	uint8_t flags;
};

/* Reads the header that the 9 bytes are. Returns 0 if no frame has it. */
int http2_read_frame(struct http2_frame *f, const uint8_t *p);
/* Returns whether the @n bytes, which begin with the frame, can be it and what follows: its content
 * is possible, and another frame is behind it. */
int http2_is_likely(const struct http2_frame *f, const uint8_t *p, size_t n);

/* Finds the fragment of a header block in the content of a frame, of which @n bytes are there:
 * moves *p and *n to it. Returns its length in the frame; -1: the frame is wrong. */
int64_t http2_fragment(const struct http2_frame *f, const uint8_t **p, size_t *n);

/* The protocol's match. */
enum req_match http2_match(const struct req_look *look);

#endif /* SINSP_REQUESTS_HTTP2_FRAME_H */
