/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends connections. The least recently used one is evicted when there is no room. */
#include "conn_life.h"

#include <stdlib.h>
#include <string.h>

#include "memory/intern.h"
#include "request_event.h"
#include "state/thread.h"

void conn_use(struct sinsp_conn *c, int64_t bytes)
{
	struct sinsp_requests *rs = c->rs;

	conn_count(c, bytes);
	while (rs->used > CONN_MEMORY_MAX && rs->oldest != c) {
		rs->stats.n_evicted_conns++;
		conn_free(rs->oldest, "evicted");
	}
}

/* ---- protocol and streams ---- */

void conn_set_protocol(struct sinsp_conn *c, const struct req_protocol *to)
{
	if (c->proto) {
		if (c->proto->fini && c->state)
			c->proto->fini(c->state);
		conn_release(c, (int64_t)c->proto->state_sz + c->state_used);
	}
	free(c->state);
	c->state_used = 0;
	c->state = NULL;
	c->proto = to;
	if (!to)
		return;
	c->state = calloc(1, to->state_sz ? to->state_sz : 1);
	if (!c->state) {
		c->proto = NULL;
		c->opaque = 1;
		return;
	}
	conn_use(c, (int64_t)to->state_sz);
}

void conn_drop_buffer(struct sinsp_conn *c, struct req_stream *s)
{
	conn_release(c, s->cap);
	free(s->buf);
	s->buf = NULL;
	s->n = s->cap = 0;
}

void conn_drop_streams(struct sinsp_conn *c)
{
	for (int i = 0; i < 2; i++) {
		conn_drop_buffer(c, &c->streams[i]);
		c->streams[i].skip = 0;
		c->streams[i].lost = 0;
	}
	c->rest = 0;
}

/* ---- requests ---- */

/* Returns whether the end of the connection, by the reason @why, is the regular end of the
 * response. */
static int ends_here(const struct request *r, const char *why)
{
	if (r->kind == REQ_KIND_ONEWAY)
		return 1;
	if (!r->first_ns)
		return 0;
	return r->end == REQ_END_OPEN || (r->end == REQ_END_CLOSE && !strcmp(why, "closed"));
}

/* Returns the error of a request without a whole response. Where the responses can no longer be
 * followed, those without one may have been answered. */
static const char *error_of_end(const struct sinsp_conn *c, const struct request *r,
				const char *why)
{
	if (strcmp(why, "closed") || r->first_ns)
		return why;
	return c->rest ? "lost" : "unanswered";
}

void conn_end_requests(struct sinsp_conn *c, const char *why)
{
	while (c->first) {
		struct request *r = c->first;

		if (!ends_here(r, why) && !*req_text(r, REQ_ERROR))
			req_set_string(r, REQ_ERROR, error_of_end(c, r, why));
		req_emit(c, r);
	}
}

void conn_end_open(struct sinsp_conn *c)
{
	for (struct request *r = c->first, *next; r; r = next) {
		next = r->next;
		if (r->end == REQ_END_OPEN && r->first_ns)
			req_emit(c, r);
	}
}

/* ---- connections ---- */

static void set_role(struct sinsp_conn *c, const struct sinsp_fd *fd)
{
	const unsigned int roles = SINSP_FD_F_CLIENT | SINSP_FD_F_SERVER;

	/* A socket from a message, or from /proc, may have a guessed role if it is a unix one; that
	 * of a datagram socket is the one of its first datagram. */
	if (!(fd->flags & roles) || (c->is_unix && c->files->imported) || c->is_udp)
		return;
	c->client = !!(fd->flags & SINSP_FD_F_CLIENT);
	c->role_known = 1;
}

struct sinsp_conn *conn_new(struct sinsp_requests *rs, const struct sinsp_fd *fd,
			    struct sinsp_open_file *file, const struct conn_key *key)
{
	struct sinsp_conn *c;

	if (rs->stats.n_conns >= CONNS_MAX) {
		rs->stats.n_evicted_conns++;
		conn_free(rs->oldest, "evicted");
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->rs = rs;
	c->files = file;
	c->is_tcp = fd->l4proto == SCAP_L4_TCP;
	c->is_udp = fd->l4proto == SCAP_L4_UDP;
	c->is_unix = fd->type == SCAP_FD_UNIX_SOCK;
	c->client = 1;
	if (c->is_unix)
		c->path = sinsp_str_ref(fd->name);
	set_role(c, fd);
	rs->stats.n_conns++;
	conn_link(c);
	conn_use(c, sizeof(*c));
	if (key->family) {
		c->key = *key;
		conn_add_key(c);
	}
	return c;
}

static int is_followed(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_UNIX_SOCK || (conn_is_inet(fd) && fd->l4proto == SCAP_L4_TCP);
}

/* A socket that was created here is a new connection, even if its ends are those of an older one,
 * whose end was not seen. */
struct sinsp_conn *conn_of(struct sinsp_requests *rs, const struct sinsp_fd *fd)
{
	struct sinsp_open_file *file = sinsp_fd_file(fd);
	struct sinsp_conn *c;
	struct conn_key key;

	if (!file || file->conn || !is_followed(fd))
		return file && file->conn && !file->conn->is_udp ? file->conn : NULL;
	conn_make_key(&key, fd);
	c = key.family ? conn_find(rs, &key) : NULL;
	if (c && file->imported) {
		file->next = c->files;
		c->files = file;
		file->conn = c;
		return c;
	}
	if (c)
		conn_free(c, "lost");
	c = conn_new(rs, fd, file, &key);
	if (!c)
		return NULL;
	file->conn = c;
	file->next = NULL;
	return c;
}

/* Tells the other end who closed the connection. */
static void note_peer(const struct sinsp_conn *c)
{
	struct sinsp_conn *peer = conn_peer(c);
	struct sinsp_thread *t = peer ? sinsp_thread_find(c->rs->s, c->now.tid) : NULL;
	const char *name;

	if (peer && !t)
		t = sinsp_threads_find_dead(&c->rs->s->threads, c->now.tid);
	name = t ? sinsp_thread_proc_name(t) : NULL;
	if (!name || peer->peer_name)
		return;
	peer->peer_name = sinsp_str_get(&c->rs->s->threads.strings, name, strlen(name));
	peer->peer_pid = t->pid;
}

static void leave_files(struct sinsp_conn *c)
{
	if (c->kept)
		*c->kept = NULL;
	if (c->is_udp) {
		*(c->prev_peer ? &c->prev_peer->next_peer : &c->files->conn) = c->next_peer;
		if (c->next_peer)
			c->next_peer->prev_peer = c->prev_peer;
		return;
	}
	for (struct sinsp_open_file *f = c->files, *next; f; f = next) {
		next = f->next;
		f->conn = NULL;
	}
}

void conn_free(struct sinsp_conn *c, const char *why)
{
	struct sinsp_requests *rs = c->rs;

	if (!strcmp(why, "evicted"))
		rs->stats.n_evicted_requests += c->n_open;
	conn_end_requests(c, why);
	conn_set_protocol(c, NULL);
	conn_drop_streams(c);
	leave_files(c);
	note_peer(c);
	conn_remove_key(c);
	conn_remove_tls(c);
	conn_unlink(c);
	if (c->path)
		sinsp_str_put(&rs->s->threads.strings, c->path);
	if (c->peer_name)
		sinsp_str_put(&rs->s->threads.strings, c->peer_name);
	rs->used -= c->used;
	rs->stats.n_conns--;
	free(c);
}
