/* SPDX-License-Identifier: Apache-2.0 */
#include "http2_fields.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "trace_ids.h"
#include "wire.h"

static const char grpc[] = "grpc"; /* request.proto */

int http2_is_grpc(const struct request *r)
{
	return r->proto == grpc;
}

/* ---- codes ---- */

static const char *const error_names[] = {
	"NO_ERROR",
	"PROTOCOL_ERROR",
	"INTERNAL_ERROR",
	"FLOW_CONTROL_ERROR",
	"SETTINGS_TIMEOUT",
	"STREAM_CLOSED",
	"FRAME_SIZE_ERROR",
	"REFUSED_STREAM",
	"CANCEL",
	"COMPRESSION_ERROR",
	"CONNECT_ERROR",
	"ENHANCE_YOUR_CALM",
	"INADEQUATE_SECURITY",
	"HTTP_1_1_REQUIRED",
};

static const char *const grpc_names[] = {
	"OK",
	"CANCELLED",
	"UNKNOWN",
	"INVALID_ARGUMENT",
	"DEADLINE_EXCEEDED",
	"NOT_FOUND",
	"ALREADY_EXISTS",
	"PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED",
	"FAILED_PRECONDITION",
	"ABORTED",
	"OUT_OF_RANGE",
	"UNIMPLEMENTED",
	"INTERNAL",
	"UNAVAILABLE",
	"DATA_LOSS",
	"UNAUTHENTICATED",
};

void http2_set_error(struct request *r, uint32_t code)
{
	char number[16];

	if (*req_text(r, REQ_ERROR))
		return;
	snprintf(number, sizeof(number), "%u", code);
	req_set_string(r, REQ_ERROR,
		       code < sizeof(error_names) / sizeof(error_names[0]) ? error_names[code]
									   : number);
}

static void set_grpc_status(struct request *r, const struct hpack_field *f)
{
	uint64_t code;

	if (!wire_decimal((const uint8_t *)f->value, f->len, &code))
		req_set_text(r, REQ_ERROR, f->value, f->len);
	else if (code && code < sizeof(grpc_names) / sizeof(grpc_names[0]))
		req_set_string(r, REQ_ERROR, grpc_names[code]);
	else if (code)
		req_set_text(r, REQ_ERROR, f->value, f->len);
}

/* ---- fields ---- */

static int is(const struct hpack_field *f, const char *name)
{
	return strlen(name) == f->name_len && !memcmp(f->name, name, f->name_len);
}

/* Sets the text by the first field that has it. */
static void set_once(struct request *r, enum req_text which, const struct hpack_field *f)
{
	if (!*req_text(r, which))
		req_set_text(r, which, f->value, f->len);
}

/* Sets the message, in which %XX is a byte. */
static void set_message(struct request *r, const struct hpack_field *f)
{
	char text[256];
	size_t n = 0;

	for (size_t i = 0; i < f->len && n < sizeof(text); i++) {
		const int escaped = f->value[i] == '%' && f->len - i > 2;
		const int high = escaped ? wire_hex((uint8_t)f->value[i + 1]) : -1;
		const int low = high >= 0 ? wire_hex((uint8_t)f->value[i + 2]) : -1;

		text[n++] = low >= 0 ? (char)(high << 4 | low) : f->value[i];
		i += low >= 0 ? 2 : 0;
	}
	req_set_text(r, REQ_ERROR_TEXT, text, n);
}

static void note_type(struct request *r, const struct hpack_field *f)
{
	static const char type[] = "application/grpc";
	const size_t n = sizeof(type) - 1;

	if (is(f, "content-type") && f->len >= n && !strncasecmp(f->value, type, n))
		r->proto = grpc;
}

static void request_field(struct request *r, const struct hpack_field *f)
{
	if (is(f, ":method"))
		set_once(r, REQ_METHOD, f);
	else if (is(f, ":path"))
		set_once(r, REQ_RESOURCE, f);
	else if (is(f, ":authority") && !strcmp(req_text(r, REQ_METHOD), "CONNECT"))
		set_once(r, REQ_RESOURCE, f);
	else
		req_trace_header(r, f->name, f->name_len, f->value, f->len);
	note_type(r, f);
}

static void set_status(struct request *r, struct http2_block *b, const struct hpack_field *f)
{
	uint64_t status;

	if (f->len != 3 || !wire_decimal((const uint8_t *)f->value, 3, &status) || b->status)
		return;
	b->status = (uint16_t)status;
	if (!r || status < 200)
		return;
	req_set_status(r, (int64_t)status);
	if (status >= 400)
		req_set_text(r, REQ_ERROR, f->value, f->len);
}

static void response_field(struct request *r, struct http2_block *b, const struct hpack_field *f)
{
	if (is(f, "grpc-status") && !b->has_grpc_status) {
		b->has_grpc_status = 1;
		set_grpc_status(r, f);
	} else if (is(f, "grpc-message") && !*req_text(r, REQ_ERROR_TEXT)) {
		set_message(r, f);
	}
	note_type(r, f);
}

void http2_field(struct request *r, struct http2_block *b, const struct hpack_field *f)
{
	if (!f->name) {
		b->has_unknown = 1;
		return;
	}
	if (b->part == HTTP2_IGNORED)
		return;
	if (b->part != HTTP2_REQUEST && is(f, ":status"))
		set_status(r, b, f);
	else if (r && b->part == HTTP2_REQUEST)
		request_field(r, f);
	else if (r)
		response_field(r, b, f);
}

void http2_end_block(struct request *r, const struct http2_block *b)
{
	int missing = 0;

	if (b->part == HTTP2_REQUEST)
		missing = !*req_text(r, REQ_METHOD) || !*req_text(r, REQ_RESOURCE);
	else if (b->part == HTTP2_RESPONSE)
		missing = !b->status;
	if (b->end_stream && (b->part == HTTP2_RESPONSE || b->part == HTTP2_TRAILERS))
		missing |= http2_is_grpc(r) && !b->has_grpc_status;
	if (missing && b->has_unknown)
		r->truncated = 1;
}
