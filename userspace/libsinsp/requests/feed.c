/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds the bytes of a stream to its protocol. Bytes that it skips are counted, not read, so they
 * may be missing in the capture; bytes that are missing elsewhere are a gap: the protocol sees that
 * what it has is cut, and searches its next message where a call begins.
 *
 * Invariant: each byte of a call counts for at most one request, and all bytes of a message for the
 * same one.
 */
#include <stdlib.h>
#include <string.h>

#include "feed.h"

#include "conn_life.h"
#include "recognise.h"
#include "request_event.h"

/* Ends the request whose last message is complete. */
static void settle(struct sinsp_conn *c, enum req_from from)
{
	struct req_stream *s = &c->streams[from];
	struct request *r = s->message;

	if (r && !s->skip && r->ends_with == from + 1)
		req_emit(c, r);
}

/* Counts @n bytes of the current message. */
static void count(struct sinsp_conn *c, enum req_from from, uint64_t n)
{
	struct request *r = c->streams[from].message;

	if (!r)
		return;
	r->bytes[from] += n;
	if (from == REQ_CLIENT)
		r->sent_ns = c->now.end_ns;
	else
		r->last_ns = c->now.end_ns;
}

static uint64_t skip(struct sinsp_conn *c, enum req_from from, uint64_t n)
{
	struct req_stream *s = &c->streams[from];

	if (n > s->skip)
		n = s->skip;
	if (!n)
		return 0;
	count(c, from, n);
	if (s->skip != REQ_SKIP_ALL)
		s->skip -= n;
	settle(c, from);
	return n;
}

/* Keeps the beginning of a message for the next call. Returns 0 without memory. */
static int keep(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n)
{
	struct req_stream *s = &c->streams[from];
	size_t cap = s->cap ? s->cap : 256;
	uint8_t *buf;

	while (cap < n)
		cap *= 2;
	if (p >= s->buf && s->buf && p < s->buf + s->n) {
		memmove(s->buf, p, n);
		s->n = (uint32_t)n;
		return 1;
	}
	buf = cap > s->cap ? realloc(s->buf, cap) : s->buf;
	if (!buf)
		return 0;
	conn_use(c, (int64_t)cap - s->cap);
	s->buf = buf;
	s->cap = (uint32_t)cap;
	memcpy(s->buf, p, n);
	s->n = (uint32_t)n;
	return 1;
}

static void lose(struct sinsp_conn *c, enum req_from from)
{
	struct req_stream *s = &c->streams[from];

	s->n = 0;
	s->lost = 1;
	if (c->proto && c->proto->lost)
		c->proto->lost(c, from);
}

/* Calls the protocol, and the one that it switches to. Returns as parse. */
static int call_protocol(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
			 unsigned int flags)
{
	int r = c->proto->parse(c, from, p, n, flags);

	while (r == REQ_SWITCHED && c->proto) {
		if (!c->switched)
			return REQ_LOST;
		c->switched = 0;
		r = c->proto->parse(c, from, p, n, flags);
	}
	return r;
}

/* Calls the protocol for the beginning of the bytes. A message that needs more than are buffered
 * counts as cut. Returns as parse, and never 0 with REQ_F_CUT. */
static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	struct req_stream *s = &c->streams[from];
	int r;

	if (s->lost)
		flags |= REQ_F_SEARCH;
	r = call_protocol(c, from, p, n, flags);
	if (r == REQ_MORE && !(flags & REQ_F_CUT)) {
		if (n < REQ_BUFFER_MAX || !c->proto)
			return REQ_MORE;
		r = call_protocol(c, from, p, n, flags | REQ_F_CUT);
	}
	if (r > 0 && (size_t)r <= n) {
		s->lost = 0;
		return r;
	}
	return REQ_LOST;
}

/* Feeds bytes that stand in one place. Returns how many of them are the beginning of a message that
 * needs more. */
static size_t feed(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		   unsigned int flags)
{
	struct req_stream *s = &c->streams[from];

	while (n) {
		const size_t skipped = (size_t)skip(c, from, n);
		int r;

		p += skipped;
		n -= skipped;
		if (skipped)
			s->begin_ns = c->now.out ? c->now.begin_ns : c->now.end_ns;
		if (!n || c->opaque || !c->proto)
			return 0;
		r = parse(c, from, p, n, flags);
		if (r == REQ_MORE)
			return n;
		if (r < 0) {
			count(c, from, n);
			lose(c, from);
			return 0;
		}
		count(c, from, (uint64_t)r);
		if (c->now.datagram)
			s->skip = c->now.missing;
		settle(c, from);
		s->begin_ns = c->now.out ? c->now.begin_ns : c->now.end_ns;
		p += r;
		n -= (size_t)r;
	}
	return 0;
}

/* Appends the bytes to what is kept of the message. Returns 0 without memory. */
static int append(struct sinsp_conn *c, enum req_from from, const uint8_t **p, size_t *n)
{
	struct req_stream *s = &c->streams[from];
	const size_t sum = s->n + *n;
	uint8_t *buf = s->buf;

	if (sum > s->cap) {
		size_t cap = s->cap;

		while (cap < sum)
			cap *= 2;
		buf = realloc(s->buf, cap);
		if (!buf)
			return 0;
		conn_use(c, (int64_t)cap - s->cap);
		s->buf = buf;
		s->cap = (uint32_t)cap;
	}
	memcpy(buf + s->n, *p, *n);
	s->n = (uint32_t)sum;
	*p = buf;
	*n = sum;
	return 1;
}

/* Counts bytes that were not captured. */
static void feed_gap(struct sinsp_conn *c, enum req_from from, uint64_t missing)
{
	missing -= skip(c, from, missing);
	if (!missing)
		return;
	count(c, from, missing);
	lose(c, from);
}

/* Feeds what is in one place, behind what was kept before. */
static void feed_captured(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
			  int cut)
{
	struct req_stream *s = &c->streams[from];
	const unsigned int datagram = cut ? REQ_F_DATAGRAM | REQ_F_CUT : REQ_F_DATAGRAM;
	const unsigned int flags = c->now.datagram ? datagram : 0;
	size_t rest = n ? feed(c, from, p, n, flags) : 0;

	p += n - rest;
	if (rest && (cut || c->now.datagram)) {
		feed(c, from, p, rest, flags | REQ_F_CUT);
		rest = 0;
	}
	if (!rest)
		s->n = 0;
	else if (!keep(c, from, p, rest))
		lose(c, from);
}

/* Ends the request whose response could not be followed. Those behind it may have been answered. */
static void end_rest(struct sinsp_conn *c)
{
	struct request *r = c->streams[REQ_SERVER].message;

	c->rest = 0;
	c->streams[REQ_SERVER].skip = 0;
	if (r)
		req_emit(c, r);
	conn_end_requests(c, "lost");
}

/* A datagram is a message of its own. */
static void begin_datagram(struct req_stream *s)
{
	s->n = 0;
	s->skip = 0;
	s->lost = 0;
	s->message = NULL;
}

void conn_feed(struct sinsp_conn *c, int out, const uint8_t *p, size_t captured, uint64_t total)
{
	enum req_from from = !out == !c->client ? REQ_CLIENT : REQ_SERVER;
	struct req_stream *s = &c->streams[from];
	const uint64_t missing = total - captured;
	int wait = 0;

	c->now.missing = missing;
	if (c->now.datagram)
		begin_datagram(s);
	if (c->rest && from == REQ_CLIENT)
		end_rest(c);
	if (!s->n)
		s->begin_ns = out ? c->now.begin_ns : c->now.end_ns;
	else if (!append(c, from, &p, &captured))
		s->n = 0;
	if (captured && conn_is_undecided(c, from))
		wait = conn_recognise(c, &from, p, captured, !!missing);
	s = &c->streams[from];
	if (wait && captured < REQ_MATCH_MAX && !missing && keep(c, from, p, captured))
		return;
	feed_captured(c, from, p, captured, !!missing);
	if (missing)
		feed_gap(c, from, missing);
	if (!s->n && s->cap > 1024)
		conn_drop_buffer(c, s);
	conn_use(c, 0); /* texts are counted where they are set, and evict here */
}

/* ---- what protocols call ---- */

void *req_state(struct sinsp_conn *c)
{
	return c->state;
}

void req_use(struct sinsp_conn *c, int64_t bytes)
{
	c->state_used += bytes;
	conn_use(c, bytes);
}

static void append_open(struct sinsp_conn *c, struct request *r)
{
	r->prev = c->last;
	*(c->last ? &c->last->next : &c->first) = r;
	c->last = r;
	c->n_open++;
}

static uint32_t open_max(const struct sinsp_conn *c)
{
	return c->proto && c->proto->open_max ? c->proto->open_max : CONN_OPEN_MAX;
}

static struct request *new_request(struct sinsp_conn *c, enum req_from from)
{
	struct sinsp_requests *rs = c->rs;
	struct request *r;

	c->streams[from].message = NULL;
	if (c->n_open >= open_max(c)) {
		rs->stats.n_evicted_requests++;
		req_set_string(c->first, REQ_ERROR, "evicted");
		req_emit(c, c->first);
	}
	r = sinsp_slab_get(&rs->requests);
	if (!r) {
		rs->stats.n_dropped++;
		return NULL;
	}
	conn_use(c, sizeof(*r));
	r->conn = c;
	r->begin_ns = c->streams[from].begin_ns;
	r->sent_ns = c->now.end_ns;
	r->proto = c->proto ? c->proto->name : NULL;
	r->tid = c->now.tid;
	r->fd = c->now.fd;
	append_open(c, r);
	c->streams[from].message = r;
	nesting_begin(r);
	return r;
}

struct request *req_begin(struct sinsp_conn *c)
{
	return new_request(c, REQ_CLIENT);
}

struct request *req_push(struct sinsp_conn *c)
{
	struct request *r = new_request(c, REQ_SERVER);

	if (r)
		r->kind = REQ_KIND_ONEWAY;
	return r;
}

void req_cancel(struct sinsp_conn *c, struct request *r)
{
	req_drop(c, r);
}

struct request *req_message(struct sinsp_conn *c, enum req_from from)
{
	return c->streams[from].message;
}

void req_continue(struct sinsp_conn *c, struct request *r)
{
	c->streams[REQ_CLIENT].message = r;
}

struct request *req_first(struct sinsp_conn *c)
{
	return c->first;
}

struct request *req_first_waiting(struct sinsp_conn *c)
{
	struct request *r = c->first;

	while (r && r->kind == REQ_KIND_ONEWAY)
		r = r->next;
	return r;
}

struct request *req_last(struct sinsp_conn *c)
{
	return c->last;
}

struct request *req_next(struct request *r)
{
	return r->next;
}

struct request *req_find(struct sinsp_conn *c, uint64_t id)
{
	struct request *r = c->first;

	while (r && r->id != id)
		r = r->next;
	return r;
}

void req_answer_early(struct sinsp_conn *c, struct request *r)
{
	c->streams[REQ_SERVER].message = r;
}

void req_answer(struct sinsp_conn *c, struct request *r)
{
	c->streams[REQ_SERVER].message = r;
	if (r && !r->first_ns) {
		r->first_ns = c->streams[REQ_SERVER].begin_ns;
		r->last_ns = c->now.end_ns;
	}
}

void req_belong(struct sinsp_conn *c, enum req_from from, struct request *r)
{
	if (from == REQ_CLIENT)
		req_continue(c, r);
	else
		req_answer(c, r);
}

void req_lost(struct sinsp_conn *c, enum req_from from)
{
	(void)from;
	for (struct request *r = c->first; r; r = r->next)
		r->truncated = 1;
}

void req_answer_rest(struct sinsp_conn *c, struct request *r)
{
	req_answer(c, r);
	r->end = REQ_END_OPEN;
	r->truncated = 1;
	c->streams[REQ_SERVER].skip = REQ_SKIP_ALL;
	c->rest = 1;
}

void req_end(struct sinsp_conn *c, struct request *r, enum req_from from)
{
	if (r && c->streams[from].message == r)
		r->ends_with = (uint8_t)(from + 1);
}

void req_end_now(struct sinsp_conn *c, struct request *r)
{
	req_emit(c, r);
}

void req_skip(struct sinsp_conn *c, enum req_from from, uint64_t n)
{
	c->streams[from].skip = n;
}

void req_switch(struct sinsp_conn *c, const struct req_protocol *to)
{
	conn_set_protocol(c, to);
	c->opaque = !to;
	c->switched = 1;
	c->is_generic = 0;
}
