/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/2 (RFC 9113) and gRPC over it: a request is a stream, and its response ends with the stream.
 * Frames are skipped by their length, but for those with header blocks. Where bytes are lost,
 * frames are searched at the beginning of a call, the table of header fields is unknown, and the
 * streams that are answered may have ended.
 */
#include "http2.h"

#include <string.h>

#include "http2_fields.h"
#include "http2_frame.h"
#include "wire.h"

enum {
	BLOCK_MAX = 64 << 10, /* bytes of a header block */
	GOAWAY_KEPT = 8 + 256, /* bytes of its frame */
	DOUBT_NS = 1000000000, /* after which a stream that may have ended has ended */
};

/* One direction. */
struct side {
	struct hpack table;
	struct http2_block block;
	uint32_t last; /* the highest stream that it has begun */
	uint8_t synced; /* a frame begins where the bytes begin */
	uint8_t began; /* bytes were seen */
};

struct http2 {
	struct side sides[2]; /* by enum req_from */
	int64_t used; /* counted memory of the tables */
	uint8_t whole; /* all streams that the client has begun are known */
	uint8_t doubt; /* streams may have ended */
};

/* mark of a request */
enum {
	MARK_EARLY = 1, /* the response was seen before the request */
	MARK_ENDED = 2, /* and its end, too */
	MARK_DOUBT = 4, /* the end of the response may be lost */
	MARK_CUT = 8, /* truncated for another reason */
};

static void count_memory(struct sinsp_conn *c, struct http2 *h)
{
	const int64_t used = h->sides[0].table.used + h->sides[1].table.used;

	if (used != h->used)
		req_use(c, used - h->used);
	h->used = used;
}

/* ---- streams ---- */

/* Returns the open request of the stream. */
static struct request *find(struct sinsp_conn *c, enum req_from from, uint32_t stream)
{
	struct request *r = req_message(c, from);

	return r && r->id == stream ? r : req_find(c, stream);
}

static void set_doubt(struct request *r)
{
	if (!(r->mark & MARK_DOUBT) && r->truncated)
		r->mark |= MARK_CUT;
	r->mark |= MARK_DOUBT;
	r->truncated = 1;
	r->end = REQ_END_OPEN;
	if (!r->first_ns && r->kind != REQ_KIND_ONEWAY && !*req_text(r, REQ_ERROR))
		req_set_string(r, REQ_ERROR, "lost");
}

/* A frame of the stream shows that it has not ended. */
static void clear_doubt(struct request *r)
{
	if (!r || !(r->mark & MARK_DOUBT))
		return;
	r->mark &= (uint8_t)~MARK_DOUBT;
	r->truncated = !!(r->mark & MARK_CUT);
	r->end = REQ_END_KNOWN;
	if (!r->first_ns)
		req_set_string(r, REQ_ERROR, "");
}

/* Ends responses whose end may be lost: the only one, where the client begins another request, and
 * those of which nothing was seen for long. */
static void end_doubtful(struct sinsp_conn *c, struct http2 *h, const struct request *begun)
{
	const int only = req_next(req_first(c)) == begun;

	h->doubt = 0;
	for (struct request *r = req_first(c), *next; r; r = next) {
		next = req_next(r);
		if (!(r->mark & MARK_DOUBT))
			continue;
		if (r->first_ns && (only || r->last_ns + DOUBT_NS < begun->begin_ns))
			req_end_now(c, r);
		else
			h->doubt = 1;
	}
}

/* Adds the request for a response that was seen before it, as another thread of the client reads.
 * If that is never seen, it is as long as the response. */
static struct request *begin_early(struct sinsp_conn *c, struct http2 *h, uint32_t stream)
{
	struct request *r;

	if (!h->whole || stream % 2 == 0 || stream <= h->sides[REQ_CLIENT].last)
		return NULL;
	r = req_push(c);
	if (!r)
		return NULL;
	r->kind = REQ_KIND_REQUEST;
	r->id = stream;
	r->mark = MARK_EARLY;
	r->truncated = 1;
	return r;
}

/* Moves what was seen of the response to its request. */
static void take_early(struct sinsp_conn *c, struct request *r, struct request *early)
{
	r->first_ns = early->first_ns;
	r->last_ns = early->last_ns;
	r->bytes[REQ_SERVER] = early->bytes[REQ_SERVER];
	r->status = early->status;
	r->has_status = early->has_status;
	r->proto = early->proto;
	r->mark = early->mark & MARK_ENDED;
	req_set_string(r, REQ_ERROR, req_text(early, REQ_ERROR));
	req_set_string(r, REQ_ERROR_TEXT, req_text(early, REQ_ERROR_TEXT));
	if (req_message(c, REQ_SERVER) == early)
		req_answer(c, r);
	req_cancel(c, early);
}

static struct request *begin(struct sinsp_conn *c, struct http2 *h, uint32_t stream)
{
	struct request *r = req_begin(c), *early;

	h->sides[REQ_CLIENT].last = stream;
	if (!r)
		return NULL;
	early = req_find(c, stream);
	if (early)
		take_early(c, r, early);
	r->id = stream;
	req_set_stream(r, stream);
	if (h->doubt)
		end_doubtful(c, h, r);
	return r;
}

static void end_stream(struct sinsp_conn *c, enum req_from from, struct request *r)
{
	if (!r)
		return;
	if (from == REQ_SERVER && r->mark & MARK_EARLY) {
		r->mark |= MARK_ENDED;
		r->end = REQ_END_OPEN;
	} else if (from == REQ_SERVER || r->mark & MARK_ENDED) {
		req_end(c, r, from);
	}
}

/* ---- header blocks ---- */

struct reading {
	struct request *r;
	struct http2_block *block;
};

static void take_field(void *ctx, const struct hpack_field *field)
{
	const struct reading *reading = ctx;

	http2_field(reading->r, reading->block, field);
}

/* Reads a fragment of the open block, of which @n of @len bytes are there. @last: it ends there. */
static void read_fragment(struct side *s, struct request *r, const uint8_t *p, size_t n,
			  uint32_t len, int last)
{
	struct http2_block *b = &s->block;
	struct reading reading = {r, b};

	b->n += len;
	if (b->is_lost)
		return;
	if (!hpack_read(&s->table, p, n, last && n == len, take_field, &reading) || n < len ||
	    b->n > BLOCK_MAX) {
		hpack_forget(&s->table);
		b->is_lost = b->has_unknown = 1;
		if (r)
			r->truncated = 1;
	}
}

static void end_block(struct sinsp_conn *c, enum req_from from, struct side *s, struct request *r)
{
	if (r && s->block.part != HTTP2_IGNORED)
		http2_end_block(r, &s->block);
	if (s->block.end_stream)
		end_stream(c, from, r);
	s->block.stream = 0;
}

/* Returns the request that the block of a frame is of, and sets what it is of it. */
static struct request *request_of(struct sinsp_conn *c, struct http2 *h, enum req_from from,
				  uint32_t stream, uint8_t *part)
{
	struct request *r = find(c, from, stream);

	*part = HTTP2_IGNORED;
	if (from == REQ_CLIENT) {
		if (stream % 2 == 0 || stream <= h->sides[REQ_CLIENT].last)
			return r;
		*part = HTTP2_REQUEST;
		return begin(c, h, stream);
	}
	if (!r)
		r = begin_early(c, h, stream);
	clear_doubt(r);
	if (r)
		*part = r->first_ns ? HTTP2_TRAILERS : HTTP2_RESPONSE;
	return r;
}

/* Makes the bytes part of the request. A status of 1xx stands before the response. */
static void belong_block(struct sinsp_conn *c, enum req_from from, const struct http2_block *b,
			 struct request *r)
{
	const int early = b->part == HTTP2_RESPONSE && b->status / 100 == 1;

	if (b->part == HTTP2_REQUEST)
		return;
	if (from == REQ_SERVER && r && early)
		req_answer_early(c, r);
	else
		req_belong(c, from, r);
}

static int take_headers(struct sinsp_conn *c, struct http2 *h, enum req_from from,
			const struct http2_frame *f, const uint8_t *p, size_t n)
{
	struct side *s = &h->sides[from];
	const int64_t len = http2_fragment(f, &p, &n);
	struct request *r;
	uint8_t part;

	if (len < 0)
		return 0;
	r = request_of(c, h, from, f->stream, &part);
	s->block = (struct http2_block){
		.stream = f->stream,
		.request = f->stream,
		.part = part,
		.end_stream = f->flags & HTTP2_F_END_STREAM,
	};
	read_fragment(s, r, p, n, (uint32_t)len, f->flags & HTTP2_F_END_HEADERS);
	if (part == HTTP2_REQUEST && !r)
		req_belong(c, from, NULL);
	belong_block(c, from, &s->block, r);
	if (f->flags & HTTP2_F_END_HEADERS)
		end_block(c, from, s, r);
	return 1;
}

/* A request that the server makes for the client. */
static int take_promise(struct sinsp_conn *c, struct http2 *h, const struct http2_frame *f,
			const uint8_t *p, size_t n)
{
	const size_t padded = !!(f->flags & HTTP2_F_PADDED);
	const uint32_t stream = n >= padded + 4 ? wire_be32(p + padded) & INT32_MAX : 0;
	const int64_t len = http2_fragment(f, &p, &n);
	struct side *s = &h->sides[REQ_SERVER];
	const int is_new = stream && stream % 2 == 0 && stream > s->last;
	struct request *r;

	if (len < 0)
		return 0;
	r = is_new ? req_push(c) : NULL;
	s->block = (struct http2_block){
		.stream = f->stream,
		.request = stream,
		.part = r ? HTTP2_REQUEST : HTTP2_IGNORED,
	};
	if (r) {
		s->last = stream;
		r->id = stream;
		req_set_stream(r, stream);
	} else {
		req_belong(c, REQ_SERVER, NULL);
	}
	read_fragment(s, r, p, n, (uint32_t)len, f->flags & HTTP2_F_END_HEADERS);
	if (f->flags & HTTP2_F_END_HEADERS)
		end_block(c, REQ_SERVER, s, r);
	return 1;
}

static int take_continuation(struct sinsp_conn *c, struct http2 *h, enum req_from from,
			     const struct http2_frame *f, const uint8_t *p, size_t n)
{
	struct side *s = &h->sides[from];
	struct request *r = find(c, from, s->block.request);

	read_fragment(s, r, p, n, f->len, f->flags & HTTP2_F_END_HEADERS);
	belong_block(c, from, &s->block, r);
	if (f->flags & HTTP2_F_END_HEADERS)
		end_block(c, from, s, r);
	return 1;
}

/* ---- other frames ---- */

static int take_data(struct sinsp_conn *c, enum req_from from, const struct http2_frame *f)
{
	struct request *r = find(c, from, f->stream);

	if (from == REQ_SERVER)
		clear_doubt(r);
	req_belong(c, from, r);
	if (f->flags & HTTP2_F_END_STREAM)
		end_stream(c, from, r);
	return 1;
}

static int take_reset(struct sinsp_conn *c, enum req_from from, const struct http2_frame *f,
		      const uint8_t *p, size_t n)
{
	struct request *r = find(c, from, f->stream);

	req_belong(c, from, NULL);
	if (!r)
		return 1;
	clear_doubt(r);
	if (n >= 4)
		http2_set_error(r, wire_be32(p));
	req_end_now(c, r);
	return 1;
}

/* The server takes no stream above the one it names. */
static int take_goaway(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n)
{
	uint32_t last, code;

	req_belong(c, from, NULL);
	if (from == REQ_CLIENT || n < 8)
		return 1;
	last = wire_be32(p) & INT32_MAX;
	code = wire_be32(p + 4);
	for (struct request *r = req_first(c), *next; r; r = next) {
		next = req_next(r);
		if (r->id <= last || r->id % 2 == 0)
			continue;
		clear_doubt(r);
		if (code)
			http2_set_error(r, code);
		else
			req_set_string(r, REQ_ERROR, "GOAWAY");
		req_set_text(r, REQ_ERROR_TEXT, p + 8, n - 8);
		req_end_now(c, r);
	}
	return 1;
}

/* Returns 0 if the frame is wrong. @n: bytes of its content that are there. */
static int take(struct sinsp_conn *c, struct http2 *h, enum req_from from,
		const struct http2_frame *f, const uint8_t *p, size_t n)
{
	switch (f->type) {
	case HTTP2_DATA:
		return take_data(c, from, f);
	case HTTP2_HEADERS:
		return take_headers(c, h, from, f, p, n);
	case HTTP2_PUSH_PROMISE:
		return from == REQ_SERVER && take_promise(c, h, f, p, n);
	case HTTP2_CONTINUATION:
		return take_continuation(c, h, from, f, p, n);
	case HTTP2_RST_STREAM:
		return take_reset(c, from, f, p, n);
	case HTTP2_GOAWAY:
		return take_goaway(c, from, p, n);
	}
	req_belong(c, from, NULL);
	return 1;
}

/* ---- frames ---- */

/* Returns how many bytes of the frame's content are needed; the rest is skipped. */
static size_t needed(const struct http2_frame *f)
{
	const uint32_t most = REQ_BUFFER_MAX - HTTP2_FRAME_SZ - 1;

	switch (f->type) {
	case HTTP2_HEADERS:
	case HTTP2_PUSH_PROMISE:
	case HTTP2_CONTINUATION:
		return f->len < most ? f->len : most;
	case HTTP2_RST_STREAM:
		return 4;
	case HTTP2_GOAWAY:
		return f->len < GOAWAY_KEPT ? f->len : GOAWAY_KEPT;
	}
	return 0;
}

/* Returns whether a frame is where no frame was known to begin. */
static int is_found(struct sinsp_conn *c, const struct http2 *h, enum req_from from,
		    const struct http2_frame *f, const uint8_t *p, size_t n)
{
	if (!http2_is_likely(f, p, n))
		return 0;
	if (f->type == HTTP2_HEADERS && from == REQ_CLIENT && f->stream % 2 &&
	    f->stream > h->sides[REQ_CLIENT].last)
		return 1;
	if (f->type == HTTP2_WINDOW_UPDATE && !f->stream)
		return 1;
	if (f->type == HTTP2_SETTINGS || f->type == HTTP2_PING || f->type == HTTP2_GOAWAY)
		return 1;
	return find(c, from, f->stream) != NULL;
}

/* The connection begins: the tables are empty. */
static int parse_preface(struct sinsp_conn *c, struct http2 *h, size_t n, unsigned int flags)
{
	const size_t here = n < HTTP2_PREFACE_SZ ? n : HTTP2_PREFACE_SZ;

	if (here < HTTP2_PREFACE_SZ && !(flags & REQ_F_CUT))
		return REQ_MORE;
	for (int i = 0; i < 2; i++) {
		hpack_start(&h->sides[i].table);
		h->sides[i].synced |= !h->sides[i].began;
	}
	h->sides[REQ_CLIENT].began = 1;
	h->sides[REQ_CLIENT].synced = 1;
	h->whole = 1;
	req_continue(c, NULL);
	req_skip(c, REQ_CLIENT, HTTP2_PREFACE_SZ - here);
	return (int)here;
}

static int parse_frame(struct sinsp_conn *c, struct http2 *h, enum req_from from, const uint8_t *p,
		       size_t n, unsigned int flags)
{
	struct side *s = &h->sides[from];
	const int cut = flags & REQ_F_CUT;
	struct http2_frame f;
	size_t here;

	if (n < HTTP2_FRAME_SZ)
		return cut ? REQ_LOST : REQ_MORE;
	if (!http2_read_frame(&f, p) || (f.type == HTTP2_CONTINUATION) != !!s->block.stream ||
	    (s->block.stream && f.stream != s->block.stream))
		return REQ_LOST;
	if ((!s->synced || flags & REQ_F_SEARCH) && !is_found(c, h, from, &f, p, n))
		return REQ_LOST;
	here = HTTP2_FRAME_SZ + needed(&f);
	if (n < here && !cut)
		return REQ_MORE;
	here = n < here ? n : here;
	s->synced = 1;
	if (!take(c, h, from, &f, p + HTTP2_FRAME_SZ, here - HTTP2_FRAME_SZ))
		return REQ_LOST;
	req_skip(c, from, f.len - (here - HTTP2_FRAME_SZ));
	return (int)here;
}

static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	const size_t most = n < HTTP2_PREFACE_SZ ? n : HTTP2_PREFACE_SZ;
	struct http2 *h = req_state(c);
	int r;

	if (from == REQ_CLIENT && !h->sides[from].began && !memcmp(p, HTTP2_PREFACE, most))
		return parse_preface(c, h, n, flags);
	r = parse_frame(c, h, from, p, n, flags);
	if (r != REQ_MORE)
		h->sides[from].began = 1;
	count_memory(c, h);
	return r;
}

static void lost(struct sinsp_conn *c, enum req_from from)
{
	struct http2 *h = req_state(c);
	struct side *s = &h->sides[from];

	hpack_forget(&s->table);
	count_memory(c, h);
	s->block.stream = 0;
	s->synced = 0;
	if (from == REQ_CLIENT) {
		h->whole = 0;
		return;
	}
	for (struct request *r = req_first(c); r; r = req_next(r)) {
		set_doubt(r);
		h->doubt = 1;
	}
}

static void fini(void *state)
{
	struct http2 *h = state;

	for (int i = 0; i < 2; i++)
		hpack_fini(&h->sides[i].table);
}

static const uint16_t ports[] = {50051, 0};

const struct req_protocol req_http2 = {
	.name = "http2",
	.ports = ports,
	.state_sz = sizeof(struct http2),
	.streams = 1,
	.open_max = REQ_SEARCHED_MAX,
	.match = http2_match,
	.parse = parse,
	.lost = lost,
	.fini = fini,
};

void http2_upgrade(struct sinsp_conn *c, struct request *r)
{
	struct http2 *h;

	req_answer_early(c, r);
	req_switch(c, &req_http2);
	h = req_state(c);
	if (!h)
		return;
	for (int i = 0; i < 2; i++) {
		hpack_start(&h->sides[i].table);
		h->sides[i].synced = 1;
	}
	h->sides[REQ_CLIENT].last = 1;
	h->whole = 1;
	r->proto = req_http2.name;
	r->mark = 0;
	r->id = 1;
	req_set_stream(r, 1);
}
