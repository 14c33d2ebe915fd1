/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagram sockets. One socket may talk with many peers; each (socket, peer) is a connection, found
 * by its ends. It lasts while a request is open, and a little longer for the other end, whose own
 * call may be seen later. Of the messages of sendmmsg and recvmmsg an event has the bytes of the
 * first ones, and the number and the size of all.
 */
#include "datagram.h"

#include <string.h>

#include "conn_life.h"
#include "event/event_table.h"
#include "feed.h"
#include "fields/info.h"
#include "parse/socket_params.h"
#include "request_event.h"

int datagram_is(const struct sinsp_fd *fd)
{
	return fd->l4proto == SCAP_L4_UDP;
}

/* ---- the peer ---- */

/* The tuple of a message runs from its sender to its receiver. */
static void key_of_tuple(struct conn_key *key, const struct sinsp_tuple *t, unsigned int type,
			 int out)
{
	const size_t len = type == SCAP_FD_IPV6_SOCK ? 16 : 4;

	memset(key, 0, sizeof(*key));
	key->family = (uint16_t)type;
	key->is_udp = 1;
	key->local_port = out ? t->sport : t->dport;
	key->remote_port = out ? t->dport : t->sport;
	memcpy(key->local, out ? t->sip : t->dip, len);
	memcpy(key->remote, out ? t->dip : t->sip, len);
}

/* Sets the ends of a message. Without a tuple of its own it has those of the descriptor, which are
 * those of its last datagram, but for sendmmsg and recvmmsg. */
static void make_key(struct conn_key *key, const struct scap_param *tuple,
		     const struct sinsp_fd *fd, int out)
{
	struct sinsp_tuple t;
	unsigned int type;

	if (tuple->len && socket_read_tuple(tuple, &t, &type) && (out ? t.dport : t.sport))
		key_of_tuple(key, &t, type, out);
	else
		conn_make_key(key, fd);
}

struct sinsp_conn *datagram_conn(struct sinsp_requests *rs, const struct scap_param *tuple,
				 const struct sinsp_fd *fd, int out)
{
	struct sinsp_open_file *file = sinsp_fd_file(fd);
	struct sinsp_conn *c;
	struct conn_key key;

	if (!file || (file->conn && !file->conn->is_udp))
		return NULL;
	make_key(&key, tuple, fd, out);
	if (!key.family || !key.is_udp)
		return NULL;
	c = conn_find(rs, &key);
	if (c && (c->files == file || file->imported))
		return c;
	if (c)
		conn_free(c, "lost");
	c = conn_new(rs, fd, file, &key);
	if (!c)
		return NULL;
	c->next_peer = file->conn;
	if (c->next_peer)
		c->next_peer->prev_peer = c;
	file->conn = c;
	return c;
}

void datagram_end(struct sinsp_open_file *file, const char *why)
{
	while (file->conn)
		conn_free(file->conn, why);
}

/* ---- the bytes ---- */

static void unseen(struct sinsp_conn *c, enum req_from from, uint32_t n, uint64_t bytes)
{
	if (c->proto && c->proto->unseen)
		c->proto->unseen(c, from, n, bytes);
}

/* Passes on what is known of the messages that were not captured. Those of a socket that is not
 * connected may have other peers. */
static void feed_others(struct sinsp_conn *c, int out, const struct conn_bytes *bytes)
{
	const enum req_from from = !out == !c->client ? REQ_CLIENT : REQ_SERVER;

	if (!bytes->tuple->len) {
		unseen(c, from, bytes->n_others, bytes->others);
		return;
	}
	if (out || from != REQ_SERVER)
		return;
	for (c = c->files->conn; c; c = c->next_peer)
		if (c->client)
			unseen(c, REQ_SERVER, bytes->n_others, 0);
}

/* Ends requests whose response did not come in time. */
static void expire(struct sinsp_conn *c)
{
	while (c->first && c->first->sent_ns + CONN_IDLE_NS < c->rs->now_ns) {
		if (!c->first->texts[REQ_ERROR])
			req_set_string(c->first, REQ_ERROR, "unanswered");
		req_emit(c, c->first);
	}
}

/* Keeps a connection without an open request, in the place of one that was kept before. */
static void retire(struct sinsp_conn *c)
{
	struct sinsp_conn **place = &c->rs->kept[c->rs->n_kept % CONNS_KEPT];

	if (!c->proto) {
		conn_free(c, "closed");
		return;
	}
	if (c->kept)
		return;
	c->rs->n_kept++;
	if (*place && !(*place)->first)
		conn_free(*place, "closed");
	else if (*place)
		(*place)->kept = NULL;
	*place = c;
	c->kept = place;
}

void datagram_feed(struct sinsp_conn *c, int out, const struct conn_bytes *bytes)
{
	expire(c);
	conn_feed(c, out, bytes->p, bytes->captured, bytes->total);
	if (bytes->n_others)
		feed_others(c, out, bytes);
	if (!c->first)
		retire(c);
}
