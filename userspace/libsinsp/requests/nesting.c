/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants: each pointer in the tables is an open request; one is served by one thread at most;
 * the requests before the first unpaired one of a connection are paired. */
#include "nesting.h"

#include "conn.h"
#include "protocol.h"

enum { PAIRED_AT_ONCE = 16 };

static struct request **served_by(struct sinsp_requests *rs, int64_t tid)
{
	return &rs->nesting.served[(uint64_t)tid & (NESTING_THREADS - 1)];
}

static struct request **open_slot(struct sinsp_requests *rs, uint64_t id)
{
	return &rs->nesting.open[id & (NESTING_OPEN - 1)];
}

/* Returns the open request; NULL: it ended. */
static struct request *find_open(struct sinsp_requests *rs, uint64_t id)
{
	struct request *r = id ? *open_slot(rs, id) : NULL;

	return r && r->nest.id == id ? r : NULL;
}

static void stop_serving(struct sinsp_requests *rs, struct request *r)
{
	struct request **at = served_by(rs, r->nest.served_by);

	if (*at == r)
		*at = NULL;
}

static void serve(struct request *r, int64_t tid)
{
	struct sinsp_requests *rs = r->conn->rs;

	stop_serving(rs, r);
	r->nest.served_by = tid;
	*served_by(rs, tid) = r;
}

static struct request *served(struct sinsp_requests *rs, int64_t tid)
{
	struct request *r = *served_by(rs, tid);

	return r && r->nest.served_by == tid ? r : NULL;
}

/* The trace of the parent: by its own header, or that of what it is part of. */
static void join(struct request *r, const struct request *parent)
{
	const char *trace = parent->texts[REQ_TRACE_ID] ?: parent->texts[REQ_PARENT_TRACE];

	r->nest.parent = parent->nest.id;
	r->nest.root = parent->nest.root;
	if (trace)
		req_set_string(r, REQ_PARENT_TRACE, trace);
	if (parent->texts[REQ_SPAN_ID])
		req_set_string(r, REQ_PARENT_SPAN, parent->texts[REQ_SPAN_ID]);
}

static int is_same(const struct request *a, const struct request *b)
{
	return a->kind == b->kind && a->has_stream == b->has_stream &&
	       (!a->has_stream || a->stream == b->stream);
}

static void skip_paired(struct sinsp_conn *c)
{
	while (c->unpaired && c->unpaired->nest.paired)
		c->unpaired = c->unpaired->next;
}

/* Returns the first request of the connection that can be the other end of @r; NULL: none. */
static struct request *find_other(const struct sinsp_conn *c, const struct request *r)
{
	struct request *other = c->unpaired;

	for (int i = 0; other && i < REQ_SEARCHED_MAX; i++, other = other->next)
		if (!other->nest.paired && is_same(r, other))
			return other;
	return NULL;
}

/* Requests are in the same order at both ends. */
void nesting_pair(struct request *r)
{
	const int is_client = r->conn->client;
	struct sinsp_conn *peer = r->nest.paired ? NULL : conn_peer(r->conn);
	struct request *other = peer && peer->client != is_client ? find_other(peer, r) : NULL;

	if (!other)
		return;
	r->nest.paired = other->nest.paired = 1;
	skip_paired(r->conn);
	skip_paired(peer);
	if (is_client)
		join(other, r);
	else
		join(r, other);
}

void nesting_connect(struct sinsp_requests *rs, const struct sinsp_evt *evt)
{
	struct sinsp_open_file *file = sinsp_fd_file(evt->fd);
	const struct request *r = served(rs, evt->thread->tid);

	if (file)
		file->opened_for = r ? r->nest.id : 0;
}

/* Returns what the connection was opened for, if this is its first request; else what the thread
 * serves. */
static const struct request *parent_of(struct sinsp_conn *c)
{
	const struct request *r = NULL;

	if (!c->client)
		return NULL;
	if (c->files && c->files->opened_for) {
		r = find_open(c->rs, c->files->opened_for);
		c->files->opened_for = 0;
	}
	return r ?: served(c->rs, c->now.tid);
}

void nesting_begin(struct request *r)
{
	struct sinsp_conn *c = r->conn;
	struct sinsp_requests *rs = c->rs;
	const struct request *parent = parent_of(c);

	r->nest.id = r->nest.root = ++rs->nesting.last_id;
	*open_slot(rs, r->nest.id) = r;
	if (!c->unpaired)
		c->unpaired = r;
	if (parent)
		join(r, parent);
	nesting_pair(r);
	if (!c->client)
		serve(r, c->now.tid);
}

void nesting_end(struct request *r)
{
	struct sinsp_requests *rs = r->conn->rs;
	struct request **slot = open_slot(rs, r->nest.id);
	struct sinsp_conn *c = r->conn;

	if (*slot == r)
		*slot = NULL;
	if (c->unpaired == r) {
		c->unpaired = r->next;
		skip_paired(c);
	}
	stop_serving(rs, r);
}

/* The thread works on the request, or on what that is part of. */
static void touch(struct sinsp_conn *c, struct request *r)
{
	if (r && c->client)
		r = find_open(c->rs, r->nest.parent);
	if (r && !r->conn->client)
		serve(r, c->now.tid);
}

/* What ends with these bytes is not there any more behind them. */
void nesting_before(struct sinsp_conn *c)
{
	touch(c, c->first);
}

void nesting_after(struct sinsp_conn *c)
{
	struct request *r = c->last;

	if (c->client || c->now.out)
		return;
	touch(c, c->streams[REQ_CLIENT].message ?: r);
	/* Streams are known now. */
	for (int i = 0; i < PAIRED_AT_ONCE && r && !r->nest.paired; i++, r = r->prev)
		nesting_pair(r);
}
