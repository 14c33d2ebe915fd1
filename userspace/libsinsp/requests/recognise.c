/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises the protocol of a connection by its bytes; ports are a hint. A stream that no protocol
 * claims is generic, if it is known who is the client; it is looked at again where its requests
 * begin, since a capture may begin in the middle of anything.
 */
#include "recognise.h"

#include "conn_life.h"

static const struct req_protocol *const protocols[] = {
#define PROTOCOL(symbol) &req_##symbol,
#include "protocols.def"
#undef PROTOCOL
};

enum { N_PROTOCOLS = sizeof(protocols) / sizeof(protocols[0]) };

int conn_is_undecided(const struct sinsp_conn *c, enum req_from from)
{
	if (c->opaque || c->streams[from].skip)
		return 0;
	if (!c->proto)
		return 1;
	return c->is_generic && c->looks < CONN_LOOKS_MAX && from == REQ_CLIENT &&
	       (!c->last || c->last->first_ns);
}

static int has_port(const struct req_protocol *p, uint16_t number)
{
	for (const uint16_t *port = p->ports; port && *port; port++)
		if (*port == number)
			return 1;
	return 0;
}

static int is_by_port(const struct sinsp_conn *c, const struct req_protocol *p)
{
	return has_port(p, c->key.local_port) || has_port(p, c->key.remote_port);
}

/* Returns who sent the bytes: if nothing else shows it, the server is the end with its port. */
static enum req_from sender(const struct sinsp_conn *c, const struct req_protocol *p,
			    enum req_from known)
{
	const int local = has_port(p, c->key.local_port);

	if (known != REQ_UNKNOWN || local == has_port(p, c->key.remote_port))
		return known;
	return local == !!c->now.out ? REQ_SERVER : REQ_CLIENT;
}

static int runs_over(const struct req_protocol *p, const struct sinsp_conn *c)
{
	return c->is_udp ? p->datagrams : p->streams;
}

/* Returns the protocol that claims the bytes. @maybe: one needs more of them. */
static const struct req_protocol *look_at(struct sinsp_conn *c, struct req_look *look, int *maybe,
					  enum req_match *match)
{
	const enum req_from known = look->from;

	for (int by_port = 1; by_port >= 0; by_port--) {
		for (int i = 0; i < N_PROTOCOLS; i++) {
			if (!runs_over(protocols[i], c) || is_by_port(c, protocols[i]) != by_port)
				continue;
			look->by_port = (uint8_t)by_port;
			look->from = sender(c, protocols[i], known);
			*match = protocols[i]->match(look);
			if (*match == REQ_IS_REQUEST || *match == REQ_IS_RESPONSE)
				return protocols[i];
			*maybe |= *match == REQ_MAYBE;
		}
	}
	return NULL;
}

static void swap_sides(struct sinsp_conn *c)
{
	const struct req_stream s = c->streams[0];

	c->streams[0] = c->streams[1];
	c->streams[1] = s;
	c->client = !c->client;
}

/* Sets the role by who sent the bytes. Returns 0 if that contradicts what is known. */
static int set_role(struct sinsp_conn *c, enum req_from *from, enum req_match match)
{
	const enum req_from is = match == REQ_IS_REQUEST ? REQ_CLIENT : REQ_SERVER;

	if (is == *from) {
		c->role_known = 1;
		return 1;
	}
	if (c->role_known)
		return 0;
	swap_sides(c);
	c->role_known = 1;
	*from = is;
	return 1;
}

static void use(struct sinsp_conn *c, const struct req_protocol *p)
{
	if (c->proto == p)
		return;
	if (c->is_generic)
		conn_end_requests(c, "closed");
	conn_set_protocol(c, p);
	c->is_generic = 0;
}

int conn_recognise(struct sinsp_conn *c, enum req_from *from, const uint8_t *p, size_t n, int cut)
{
	struct req_look look = {
		.p = p,
		.n = n < REQ_MATCH_MAX ? n : REQ_MATCH_MAX,
		.from = c->role_known ? *from : REQ_UNKNOWN,
		.datagram = c->now.datagram,
		.cut = (uint8_t)cut,
	};
	enum req_match match = REQ_NO;
	int maybe = 0;
	const struct req_protocol *found = look_at(c, &look, &maybe, &match);

	if (found && set_role(c, from, match)) {
		use(c, found);
		return 0;
	}
	if (maybe && !found && !cut && !look.datagram && !c->is_generic && n < REQ_MATCH_MAX)
		return 1;
	c->looks += c->looks < CONN_LOOKS_MAX;
	if (!c->proto && c->role_known && !look.datagram) {
		conn_set_protocol(c, &req_generic);
		c->is_generic = 1;
	} else if (!c->proto && c->looks == CONN_LOOKS_MAX) {
		c->opaque = 1;
	}
	return 0;
}
