/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of connections. Each open socket with bytes has one; sockets that are one and the same
 * to the kernel (passed by a message, or found in /proc twice) are joined by their ends.
 */
#include "conn.h"

#include <string.h>

#include "hash.h"

enum { N_BUCKETS = 1 << 14 };

static uint32_t bucket_of(const struct sinsp_requests *rs, const struct conn_key *key)
{
	return scap_hash_bytes(rs->seed, (const char *)key, sizeof(*key)) & (N_BUCKETS - 1);
}

struct sinsp_conn *conn_find(const struct sinsp_requests *rs, const struct conn_key *key)
{
	struct sinsp_conn *c = rs->by_key[bucket_of(rs, key)];

	while (c && memcmp(&c->key, key, sizeof(*key)) != 0)
		c = c->next_by_key;
	return c;
}

void conn_add_key(struct sinsp_conn *c)
{
	struct sinsp_conn **at = &c->rs->by_key[bucket_of(c->rs, &c->key)];

	c->next_by_key = *at;
	*at = c;
}

void conn_remove_key(struct sinsp_conn *c)
{
	struct sinsp_conn **at = &c->rs->by_key[bucket_of(c->rs, &c->key)];

	if (!c->key.family)
		return;
	while (*at != c)
		at = &(*at)->next_by_key;
	*at = c->next_by_key;
	c->key.family = 0;
}

static struct sinsp_conn **tls_bucket_of(struct sinsp_requests *rs, const struct tls_key *key)
{
	return &rs->by_tls[scap_hash_bytes(rs->seed, (const char *)key, sizeof(*key)) &
			   (TLS_BUCKETS - 1)];
}

struct sinsp_conn *conn_find_tls(struct sinsp_requests *rs, const struct tls_key *key)
{
	struct sinsp_conn *c = *tls_bucket_of(rs, key);

	while (c && (c->tls.ssl != key->ssl || c->tls.pid != key->pid))
		c = c->next_by_tls;
	return c;
}

void conn_add_tls(struct sinsp_conn *c, const struct tls_key *key)
{
	struct sinsp_conn **at = tls_bucket_of(c->rs, key);

	c->tls = *key;
	c->next_by_tls = *at;
	*at = c;
}

void conn_remove_tls(struct sinsp_conn *c)
{
	struct sinsp_conn **at = tls_bucket_of(c->rs, &c->tls);

	if (!c->tls.ssl)
		return;
	while (*at != c)
		at = &(*at)->next_by_tls;
	*at = c->next_by_tls;
	c->tls.ssl = 0;
}

/* ---- order of use ---- */

void conn_unlink(struct sinsp_conn *c)
{
	struct sinsp_requests *rs = c->rs;

	*(c->newer ? &c->newer->older : &rs->newest) = c->older;
	*(c->older ? &c->older->newer : &rs->oldest) = c->newer;
}

void conn_link(struct sinsp_conn *c)
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
	conn_unlink(c);
	conn_link(c);
}

/* ---- identity ---- */

int conn_is_inet(const struct sinsp_fd *fd)
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

void conn_make_key(struct conn_key *key, const struct sinsp_fd *fd)
{
	memset(key, 0, sizeof(*key));
	if (conn_is_inet(fd) && sinsp_fd_tuple(fd)->dport)
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
	return conn_find(c->rs, &key);
}
