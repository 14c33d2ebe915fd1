/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection that is older than the capture, or of which bytes were lost, is recognised by the
 * header of a frame at the beginning of a call, with what stands in the frame and behind it.
 */
#include "http2_frame.h"

#include <string.h>

#include "wire.h"

enum {
	LIKELY_MAX = 1 << 20, /* length of a frame where a frame is searched */
	EXTENSION_MAX = 1 << 14, /* of one of unknown type */
	SETTINGS_SZ_MAX = 6 * 64,
	SETTING_MAX = 16, /* number of a setting, but for reserved and private ones */
	SETTING_PRIVATE = 0xfe, /* upper byte: gRPC */
	LAST_ERROR = 13,
};

/* ---- headers of frames ---- */

/* Types that other standards add, and those that are reserved so that receivers ignore them. */
static int is_extension(uint8_t type)
{
	return type <= 0x10 || (type - 0x0b) % 0x1f == 0;
}

static int has_content(const struct http2_frame *f)
{
	switch (f->type) {
	case HTTP2_PRIORITY:
		return f->len == 5;
	case HTTP2_RST_STREAM:
	case HTTP2_WINDOW_UPDATE:
		return f->len == 4;
	case HTTP2_SETTINGS:
		return f->len % 6 == 0 && f->len <= SETTINGS_SZ_MAX &&
		       (!(f->flags & HTTP2_F_ACK) || !f->len);
	case HTTP2_PING:
		return f->len == 8;
	case HTTP2_GOAWAY:
		return f->len >= 8;
	case HTTP2_DATA:
	case HTTP2_HEADERS:
	case HTTP2_PUSH_PROMISE:
	case HTTP2_CONTINUATION:
		return 1;
	}
	return is_extension(f->type) && f->len <= EXTENSION_MAX;
}

int http2_read_frame(struct http2_frame *f, const uint8_t *p)
{
	f->len = wire_be32(p) >> 8;
	f->type = p[3];
	f->flags = p[4];
	f->stream = wire_be32(p + 5);
	if (f->stream >> 31 || !has_content(f))
		return 0;
	switch (f->type) {
	case HTTP2_SETTINGS:
	case HTTP2_PING:
	case HTTP2_GOAWAY:
		return !f->stream;
	case HTTP2_WINDOW_UPDATE:
		return 1;
	}
	return f->stream || f->type > HTTP2_CONTINUATION;
}

/* ---- what is in them ---- */

int64_t http2_fragment(const struct http2_frame *f, const uint8_t **p, size_t *n)
{
	const int padded = f->flags & HTTP2_F_PADDED && f->type != HTTP2_CONTINUATION;
	const int priority = f->flags & HTTP2_F_PRIORITY && f->type == HTTP2_HEADERS;
	size_t before = padded + (priority ? 5 : 0) + (f->type == HTTP2_PUSH_PROMISE ? 4 : 0);
	const size_t padding = padded && *n ? **p : 0;

	if (before + padding > f->len)
		return -1;
	if (before > *n)
		before = *n;
	*p += before;
	*n -= before;
	if (*n > f->len - before - padding)
		*n = f->len - before - padding;
	return (int64_t)(f->len - before - padding);
}

/* Returns who sends a field with this index of the static table at its beginning. */
static enum req_from sender_of(uint32_t index)
{
	if (index >= 1 && index <= 7)
		return REQ_CLIENT;
	return index >= 8 && index <= 14 ? REQ_SERVER : REQ_UNKNOWN;
}

/* Returns who sent the header block, by its first field: that of a request, or the status of a
 * response. Fields of the dynamic table, and its size, may stand before it. */
static enum req_from block_sender(const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;

	while (p < end && (*p & 0xe0) == 0x20) {
		if (*p++ == 0x3f)
			while (p < end && *p++ & 0x80)
				;
	}
	while (p < end && *p >= 0xbe && *p < 0xff)
		p++;
	if (p == end)
		return REQ_UNKNOWN;
	if (*p & 0x80)
		return sender_of(*p & 0x7f);
	return sender_of(*p & 0x40 ? *p & 0x3f : *p & 0x0f);
}

static enum req_from headers_sender(const struct http2_frame *f, const uint8_t *p, size_t n)
{
	const uint8_t *at = p + HTTP2_FRAME_SZ;
	size_t left = n - HTTP2_FRAME_SZ;

	if (f->flags & ~(HTTP2_F_END_STREAM | HTTP2_F_END_HEADERS | HTTP2_F_PADDED |
			 HTTP2_F_PRIORITY) ||
	    http2_fragment(f, &at, &left) < 1)
		return REQ_UNKNOWN;
	return block_sender(at, left);
}

/* Returns whether the settings, or those of them that are there, have numbers that are in use. */
static int are_settings(const struct http2_frame *f, const uint8_t *p, size_t n)
{
	for (size_t at = HTTP2_FRAME_SZ; at + 2 <= n && at < HTTP2_FRAME_SZ + f->len; at += 6) {
		const uint32_t id = wire_be16(p + at);

		if (!id ||
		    (id > SETTING_MAX && id >> 8 != SETTING_PRIVATE && (id & 0x0f0f) != 0x0a0a))
			return 0;
	}
	return 1;
}

int http2_is_likely(const struct http2_frame *f, const uint8_t *p, size_t n)
{
	const size_t whole = HTTP2_FRAME_SZ + (size_t)f->len;
	const uint32_t word = n >= HTTP2_FRAME_SZ + 4 && f->len >= 4 ? wire_be32(p + 9) : 1;
	struct http2_frame next;

	if (f->len > LIKELY_MAX || f->type == HTTP2_PUSH_PROMISE || f->type >= HTTP2_CONTINUATION)
		return 0;
	if (f->type == HTTP2_WINDOW_UPDATE && (!word || word >> 31 || f->flags))
		return 0;
	if (f->type == HTTP2_RST_STREAM && (word > LAST_ERROR || f->flags))
		return 0;
	if (f->type == HTTP2_GOAWAY && (word >> 31 || f->flags))
		return 0;
	if ((f->type == HTTP2_SETTINGS || f->type == HTTP2_PING) && f->flags & ~HTTP2_F_ACK)
		return 0;
	if (f->type == HTTP2_SETTINGS && !are_settings(f, p, n))
		return 0;
	return n < whole + HTTP2_FRAME_SZ || http2_read_frame(&next, p + whole);
}

/* ---- recognition ---- */

static enum req_match is_from(enum req_from from)
{
	if (from == REQ_UNKNOWN)
		return REQ_NO;
	return from == REQ_CLIENT ? REQ_IS_REQUEST : REQ_IS_RESPONSE;
}

static enum req_match match_preface(const struct req_look *l)
{
	if (l->n >= HTTP2_PREFACE_SZ || (l->cut && l->n >= 16))
		return REQ_IS_REQUEST;
	return REQ_MAYBE;
}

enum req_match http2_match(const struct req_look *l)
{
	const size_t n = l->n < HTTP2_PREFACE_SZ ? l->n : HTTP2_PREFACE_SZ;
	enum req_from sender;
	struct http2_frame f;

	if (l->from != REQ_SERVER && !memcmp(l->p, HTTP2_PREFACE, n))
		return match_preface(l);
	if (l->n < HTTP2_FRAME_SZ || !http2_read_frame(&f, l->p) ||
	    !http2_is_likely(&f, l->p, l->n))
		return REQ_NO;
	switch (f.type) {
	case HTTP2_SETTINGS:
	case HTTP2_PING:
		return is_from(l->from);
	case HTTP2_WINDOW_UPDATE:
		return f.stream ? REQ_NO : is_from(l->from);
	case HTTP2_HEADERS:
		if (f.stream % 2 == 0 || !(f.flags & HTTP2_F_END_HEADERS))
			return REQ_NO;
		sender = headers_sender(&f, l->p, l->n);
		return l->from == REQ_UNKNOWN || l->from == sender ? is_from(sender) : REQ_NO;
	}
	return REQ_NO;
}
