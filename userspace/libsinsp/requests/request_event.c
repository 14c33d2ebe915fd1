/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the event of a request that ended. The parts of the latency sum to it. */
#include "request_event.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields/request_params.h"
#include "state/thread.h"

enum { END_TEXT = INET6_ADDRSTRLEN + 10 };

void req_drop(struct sinsp_conn *c, struct request *r)
{
	nesting_end(r);
	*(r->prev ? &r->prev->next : &c->first) = r->next;
	*(r->next ? &r->next->prev : &c->last) = r->prev;
	c->n_open--;
	for (int i = 0; i < 2; i++)
		if (c->streams[i].message == r)
			c->streams[i].message = NULL;
	for (int i = 0; i < REQ_TEXT_MAX; i++)
		free(r->texts[i]);
	conn_release(c, (int64_t)sizeof(*r) + r->texts_sz);
	sinsp_slab_put(&c->rs->requests, r);
}

/* The values of the event, in the order of its row. */
struct values {
	struct evt_value v[REQUEST_P_MAX];
	unsigned int n;
	uint64_t numbers[REQUEST_P_MAX];
};

static void put(struct values *to, const void *p, size_t len)
{
	to->v[to->n++] = (struct evt_value){p, (uint16_t)len};
}

static void put_number(struct values *to, uint64_t u, size_t sz)
{
	to->numbers[to->n] = u;
	put(to, &to->numbers[to->n], sz);
}

static void put_known(struct values *to, uint64_t u, int known)
{
	put_number(to, u, known ? sizeof(u) : 0);
}

static void put_text(struct values *to, const char *text)
{
	put(to, text, text && *text ? strlen(text) + 1 : 0);
}

static void end_text(char *to, const struct conn_key *key, const uint8_t *ip, uint16_t port)
{
	const int v6 = key->family == SCAP_FD_IPV6_SOCK;
	char addr[INET6_ADDRSTRLEN];

	inet_ntop(v6 ? AF_INET6 : AF_INET, ip, addr, sizeof(addr));
	snprintf(to, END_TEXT, v6 ? "[%s]:%u" : "%s:%u", addr, port);
}

static uint64_t unix_end(const uint8_t *end)
{
	uint64_t u;

	memcpy(&u, end, sizeof(u));
	return u;
}

/* Writes the name of the connection, which is the same at both ends. */
static void conn_text(char *to, size_t sz, const struct sinsp_conn *c)
{
	const struct conn_key *key = &c->key;
	char local[END_TEXT], remote[END_TEXT];
	uint64_t a, b;

	*to = 0;
	if (!key->family)
		return;
	if (c->is_unix) {
		a = unix_end(key->local);
		b = unix_end(key->remote);
		snprintf(to, sz, "%llx->%llx", (unsigned long long)(a < b ? a : b),
			 (unsigned long long)(a < b ? b : a));
		return;
	}
	end_text(local, key, key->local, key->local_port);
	end_text(remote, key, key->remote, key->remote_port);
	snprintf(to, sz, "%s->%s", c->client ? local : remote, c->client ? remote : local);
}

static void peer_text(char *to, size_t sz, const struct sinsp_conn *c)
{
	*to = 0;
	if (c->is_unix)
		snprintf(to, sz, "%s", c->path ? c->path : "");
	else if (c->key.family)
		end_text(to, &c->key, c->key.remote, c->key.remote_port);
}

/* Times as differences. A response may begin before the request is complete. */
static void put_times(struct values *v, const struct sinsp_conn *c, const struct request *r)
{
	const int answered = r->first_ns != 0, oneway = r->kind == REQ_KIND_ONEWAY;
	uint64_t sent = r->sent_ns, first = r->first_ns, last = r->last_ns;

	if (sent < r->begin_ns)
		sent = r->begin_ns;
	if (answered && first < r->begin_ns)
		first = r->begin_ns;
	if (answered && sent > first)
		sent = first;
	if (last < first)
		last = first;
	if (!answered)
		last = c->rs->now_ns > sent ? c->rs->now_ns : sent;
	put_number(v, r->begin_ns, sizeof(uint64_t));
	put_known(v, last - r->begin_ns, !oneway);
	put_known(v, sent - r->begin_ns, 1);
	put_known(v, first - sent, answered && !oneway);
	put_known(v, last - first, answered && !oneway);
}

static void put_peer(struct values *v, const struct sinsp_conn *c)
{
	const struct sinsp_conn *peer = conn_peer(c);
	const struct sinsp_thread *t = peer ? sinsp_thread_find(c->rs->s, peer->now.tid) : NULL;

	put_known(v, (uint64_t)(t ? t->pid : c->peer_pid), t || c->peer_name);
	put_text(v, t ? sinsp_thread_proc_name(t) : c->peer_name);
}

static void put_bytes(struct values *v, const struct sinsp_conn *c, const struct request *r)
{
	put_number(v, r->bytes[c->client ? REQ_SERVER : REQ_CLIENT], sizeof(uint64_t));
	put_number(v, r->bytes[c->client ? REQ_CLIENT : REQ_SERVER], sizeof(uint64_t));
}

static void put_nest(struct values *v, const struct request *r)
{
	put_number(v, r->nest.id, sizeof(uint64_t));
	put_known(v, r->nest.parent, r->nest.parent != 0);
	put_number(v, r->nest.root, sizeof(uint64_t));
	put_text(v, r->texts[REQ_PARENT_TRACE]);
	put_text(v, r->texts[REQ_PARENT_SPAN]);
}

void req_emit(struct sinsp_conn *c, struct request *r)
{
	char conn[2 * END_TEXT + 4], peer[256];
	struct values v = {.n = 0};

	nesting_pair(r);
	conn_text(conn, sizeof(conn), c);
	peer_text(peer, sizeof(peer), c);
	put_number(&v, ++c->rs->num, sizeof(uint64_t));
	put_text(&v, r->proto);
	put_number(&v, r->kind, 1);
	put_number(&v, c->client ? 0 : 1, 1);
	put_number(&v, (uint64_t)r->fd, sizeof(uint64_t));
	put_number(&v, (uint64_t)r->tid, sizeof(uint64_t));
	put_text(&v, conn);
	put_text(&v, peer);
	put_peer(&v, c);
	put_times(&v, c, r);
	put_bytes(&v, c, r);
	put_text(&v, r->texts[REQ_METHOD]);
	put_text(&v, r->texts[REQ_RESOURCE]);
	put_text(&v, r->texts[REQ_STATEMENT]);
	put_known(&v, (uint64_t)r->status, r->has_status);
	put_text(&v, r->texts[REQ_ERROR]);
	put_text(&v, r->texts[REQ_ERROR_TEXT]);
	put_text(&v, r->texts[REQ_TRACE_ID]);
	put_text(&v, r->texts[REQ_SPAN_ID]);
	put_known(&v, r->stream, r->has_stream);
	put_number(&v, r->truncated, 1);
	put_nest(&v, r);
	sinsp_derived_add(&c->rs->s->derived, EVT_REQUEST_E, c->now.tid, v.v, v.n);
	c->rs->stats.n_requests++;
	req_drop(c, r);
}
