/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of connections. Each open socket with bytes has one; sockets that are one and the same
 * to the kernel (passed by a message, or found in /proc twice) are joined by their ends. The least
 * recently used connection is evicted when there is no room.
 */
#include "conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/hash.h"
#include "memory/intern.h"
#include "state/thread.h"

enum { N_BUCKETS = 1 << 14 };

static uint32_t bucket_of(const struct sinsp_requests *rs, const struct conn_key *key)
{
	return sinsp_hash_bytes(rs->seed, (const char *)key, sizeof(*key)) & (N_BUCKETS - 1);
}

static struct sinsp_conn *find(const struct sinsp_requests *rs, const struct conn_key *key)
{
	struct sinsp_conn *c = rs->by_key[bucket_of(rs, key)];

	while (c && memcmp(&c->key, key, sizeof(*key)) != 0)
		c = c->next_by_key;
	return c;
}

static void add_key(struct sinsp_conn *c)
{
	struct sinsp_conn **at = &c->rs->by_key[bucket_of(c->rs, &c->key)];

	c->next_by_key = *at;
	*at = c;
}

static void remove_key(struct sinsp_conn *c)
{
	struct sinsp_conn **at = &c->rs->by_key[bucket_of(c->rs, &c->key)];

	if (!c->key.family)
		return;
	while (*at != c)
		at = &(*at)->next_by_key;
	*at = c->next_by_key;
	c->key.family = 0;
}

/* ---- order of use ---- */

static void unlink_use(struct sinsp_conn *c)
{
	struct sinsp_requests *rs = c->rs;

	*(c->newer ? &c->newer->older : &rs->newest) = c->older;
	*(c->older ? &c->older->newer : &rs->oldest) = c->newer;
}

static void link_newest(struct sinsp_conn *c)
{
	struct sinsp_requests *rs = c->rs;

	c->newer = NULL;
	c->older = rs->newest;
	*(rs->newest ? &rs->newest->newer : &rs->oldest) = c;
	rs->newest = c;
}

void conn_touch(struct sinsp_conn *c)
{
	if (c->rs->newest == c)
		return;
	unlink_use(c);
	link_newest(c);
}

void conn_use(struct sinsp_conn *c, int64_t bytes)
{
	struct sinsp_requests *rs = c->rs;

	c->used += (uint64_t)bytes;
	rs->used += (uint64_t)bytes;
	while (rs->used > CONN_MEMORY_MAX && rs->oldest != c) {
		rs->stats.n_evicted_conns++;
		conn_free(rs->oldest, "evicted");
	}
}

/* ---- identity ---- */

static int is_stream_of(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_IPV4_SOCK || fd->type == SCAP_FD_IPV6_SOCK;
}

static void put_end(uint8_t *to, uint16_t *port, const uint8_t *ip, uint16_t ip_port)
{
	memcpy(to, ip, 16);
	*port = ip_port;
}

/* The ends of a descriptor run from client to server; those of an unknown role begin with the
 * local one. */
static void inet_key(struct conn_key *key, const struct sinsp_fd *fd)
{
	struct sinsp_tuple t = *sinsp_fd_tuple(fd);
	const int is_server = !!(fd->flags & SINSP_FD_F_SERVER);

	if (fd->type == SCAP_FD_IPV4_SOCK) {
		memset(t.sip + 4, 0, 12);
		memset(t.dip + 4, 0, 12);
	}
	key->family = fd->type;
	key->is_udp = fd->l4proto == SCAP_L4_UDP;
	put_end(is_server ? key->remote : key->local,
		is_server ? &key->remote_port : &key->local_port, t.sip, t.sport);
	put_end(is_server ? key->local : key->remote,
		is_server ? &key->local_port : &key->remote_port, t.dip, t.dport);
}

/* The tuple of a connect has the peer first, that of an accept the socket itself: in both the
 * server's socket comes first. Ends of a socketpair have no role, and equal tuples. */
static void unix_key(struct conn_key *key, const struct sinsp_fd *fd)
{
	const union sinsp_fd_ends *e = sinsp_fd_ends(fd);
	const struct sinsp_open_file *file = sinsp_fd_file(fd);
	const int first = file && !file->imported && fd->flags & SINSP_FD_F_SERVER;
	const uint64_t local = first ? e->unix_src : e->unix_dst;
	const uint64_t remote = first ? e->unix_dst : e->unix_src;

	if (!local || !(fd->flags & (SINSP_FD_F_CLIENT | SINSP_FD_F_SERVER)))
		return;
	key->family = fd->type;
	memcpy(key->local, &local, sizeof(local));
	memcpy(key->remote, &remote, sizeof(remote));
}

static void make_key(struct conn_key *key, const struct sinsp_fd *fd)
{
	memset(key, 0, sizeof(*key));
	if (is_stream_of(fd) && sinsp_fd_tuple(fd)->dport)
		inet_key(key, fd);
	else if (fd->type == SCAP_FD_UNIX_SOCK)
		unix_key(key, fd);
}

struct sinsp_conn *conn_peer(const struct sinsp_conn *c)
{
	struct conn_key key = c->key;

	if (!key.family)
		return NULL;
	key.local_port = c->key.remote_port;
	key.remote_port = c->key.local_port;
	memcpy(key.local, c->key.remote, sizeof(key.local));
	memcpy(key.remote, c->key.local, sizeof(key.remote));
	return find(c->rs, &key);
}

uint64_t conn_peer_hash(const struct sinsp_conn *c, const struct sinsp_fd *fd)
{
	struct conn_key key;

	if (!c->is_udp || !fd)
		return 0;
	make_key(&key, fd);
	return sinsp_hash_bytes(c->rs->seed, (const char *)key.remote, sizeof(key.remote)) ^
	       key.remote_port;
}

/* ---- life ---- */

static void set_role(struct sinsp_conn *c, const struct sinsp_fd *fd)
{
	const unsigned int roles = SINSP_FD_F_CLIENT | SINSP_FD_F_SERVER;

	/* A socket from a message, or from /proc, may have a guessed role if it is a unix one. */
	if (!(fd->flags & roles) || (c->is_unix && c->files->imported))
		return;
	c->client = !!(fd->flags & SINSP_FD_F_CLIENT);
	c->role_known = 1;
}

static struct sinsp_conn *new_conn(struct sinsp_requests *rs, const struct sinsp_fd *fd,
				   struct sinsp_open_file *file)
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
	file->conn = c;
	file->next = NULL;
	c->is_tcp = fd->l4proto == SCAP_L4_TCP;
	c->is_udp = fd->l4proto == SCAP_L4_UDP;
	c->is_unix = fd->type == SCAP_FD_UNIX_SOCK;
	c->client = 1;
	if (c->is_unix)
		c->path = sinsp_str_ref(fd->name);
	set_role(c, fd);
	rs->stats.n_conns++;
	link_newest(c);
	conn_use(c, sizeof(*c));
	return c;
}

static int is_followed(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_UNIX_SOCK ||
	       (is_stream_of(fd) && (fd->l4proto == SCAP_L4_TCP || fd->l4proto == SCAP_L4_UDP));
}

/* A socket that was created here is a new connection, even if its ends are those of an older one,
 * whose end was not seen. */
struct sinsp_conn *conn_of(struct sinsp_requests *rs, const struct sinsp_fd *fd)
{
	struct sinsp_open_file *file = sinsp_fd_file(fd);
	struct sinsp_conn *c;
	struct conn_key key;

	if (!file || file->conn || !is_followed(fd))
		return file ? file->conn : NULL;
	make_key(&key, fd);
	c = key.family ? find(rs, &key) : NULL;
	if (c && file->imported) {
		file->next = c->files;
		c->files = file;
		file->conn = c;
		return c;
	}
	if (c)
		conn_free(c, "lost");
	c = new_conn(rs, fd, file);
	if (c && key.family && !(key.is_udp && !c->client)) {
		c->key = key;
		add_key(c);
	}
	return c;
}

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

void conn_end_requests(struct sinsp_conn *c, const char *why)
{
	while (c->first) {
		struct request *r = c->first;

		if (!ends_here(r, why) && !r->texts[REQ_ERROR])
			req_set_string(r, REQ_ERROR,
				       !strcmp(why, "closed") && !r->first_ns ? "unanswered" : why);
		req_emit(c, r);
	}
}

/* Tells the other end who closed the connection. */
static void note_peer(const struct sinsp_conn *c)
{
	struct sinsp_conn *peer = conn_peer(c);
	struct sinsp_thread *t = peer ? sinsp_thread_find(c->rs->s, c->now.tid) : NULL;
	const char *name = t ? sinsp_thread_proc_name(t) : NULL;

	if (!name || peer->peer_name)
		return;
	peer->peer_name = sinsp_str_get(&c->rs->s->threads.strings, name, strlen(name));
	peer->peer_pid = t->pid;
}

void conn_free(struct sinsp_conn *c, const char *why)
{
	struct sinsp_requests *rs = c->rs;

	if (!strcmp(why, "evicted"))
		rs->stats.n_evicted_requests += c->n_open;
	conn_end_requests(c, why);
	conn_set_protocol(c, NULL);
	conn_drop_streams(c);
	for (struct sinsp_open_file *f = c->files, *next; f; f = next) {
		next = f->next;
		f->conn = NULL;
	}
	note_peer(c);
	remove_key(c);
	unlink_use(c);
	if (c->path)
		sinsp_str_put(&rs->s->threads.strings, c->path);
	if (c->peer_name)
		sinsp_str_put(&rs->s->threads.strings, c->peer_name);
	rs->used -= c->used;
	rs->stats.n_conns--;
	free(c);
}
