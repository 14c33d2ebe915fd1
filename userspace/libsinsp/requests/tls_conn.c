/* SPDX-License-Identifier: Apache-2.0 */
#include "tls_conn.h"

#include <string.h>

#include "conn_life.h"
#include "event/event_table.h"
#include "fields/evt_io.h"
#include "request_event.h"
#include "state/thread.h"

extern const struct req_protocol req_tls; /* generic.c */

int tls_is_plain(const struct sinsp_evt *evt)
{
	return evt->raw.type == EVT_TLS_READ_X || evt->raw.type == EVT_TLS_WRITE_X;
}

/* TLS runs over TCP; whether over IPv4 or IPv6, and which end this is, is unknown. */
static struct sinsp_conn *new_unbound(struct sinsp_requests *rs, const struct tls_key *key)
{
	static const struct sinsp_fd unknown = {.type = SCAP_FD_IPV4_SOCK, .l4proto = SCAP_L4_TCP};
	static const struct conn_key no_ends;
	struct sinsp_conn *c = conn_new(rs, &unknown, NULL, &no_ends);

	if (!c)
		return NULL;
	c->plain = 1;
	conn_add_tls(c, key);
	return c;
}

/* ---- from here on there is plaintext ---- */

static void begin_plain(struct sinsp_conn *c)
{
	const int encrypted = c->is_generic || c->proto == &req_tls;

	c->plain = 1;
	/* What was open is made of encrypted bytes of the same requests. */
	while (encrypted && c->first)
		req_drop(c, c->first);
	conn_end_requests(c, "closed");
	conn_set_protocol(c, NULL);
	conn_drop_streams(c);
	c->opaque = 0;
	c->is_generic = 0;
	c->looks = 0;
}

/* The socket of @c is known now. */
static struct sinsp_conn *bind_socket(struct sinsp_conn *c, const struct sinsp_evt *evt,
				      const struct sinsp_fd *fd)
{
	struct sinsp_open_file *file = sinsp_fd_file(fd);
	struct sinsp_conn *old = conn_of(c->rs, fd);

	conn_remove_tls(c);
	if (!old || !file || old->plain || old->files != file || file->next) {
		conn_free(c, "lost");
		return old;
	}
	old->files = NULL;
	file->conn = c;
	c->files = file;
	c->is_unix = old->is_unix;
	if (old->role_known && !c->proto) {
		conn_drop_streams(c);
		c->client = old->client;
		c->role_known = 1;
	}
	c->key = old->key;
	while (old->first)
		req_drop(old, old->first);
	conn_free(old, "closed");
	if (c->key.family)
		conn_add_key(c);
	for (struct request *r = c->first; r; r = r->next)
		r->fd = evt->fdnum;
	return c;
}

static int read_key(struct tls_key *key, const struct sinsp_evt *evt)
{
	static const unsigned int at = 2; /* ssl */

	if (evt->params.n <= at || evt->params.v[at].len != sizeof(uint64_t))
		return 0;
	*key = (struct tls_key){.ssl = get_u64(evt->params.v[at].p), .pid = evt->thread->pid};
	return key->ssl != 0;
}

struct sinsp_conn *tls_conn_of(struct sinsp_requests *rs, const struct sinsp_evt *evt,
			       const struct sinsp_fd *fd)
{
	struct sinsp_conn *c;
	struct tls_key key;

	if (!read_key(&key, evt))
		return NULL;
	c = conn_find_tls(rs, &key);
	if (!fd)
		return c ? c : new_unbound(rs, &key);
	c = c ? bind_socket(c, evt, fd) : conn_of(rs, fd);
	if (c && !c->plain)
		begin_plain(c);
	return c;
}
