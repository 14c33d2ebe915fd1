/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of unknown or encrypted protocols: a request is what the client sends until the server
 * answers, the response is what the server sends until the client sends again. What the server
 * sends first, such as a greeting, belongs to no request.
 */
#include "protocol.h"

static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	struct request *r = req_first(c);

	(void)p;
	(void)flags;
	if (from == REQ_SERVER) {
		if (r && !r->first_ns)
			r->kind = REQ_KIND_REQUEST;
		req_answer(c, r);
		return (int)n;
	}
	if (r && r->first_ns) {
		req_end_now(c, r);
		r = NULL;
	}
	if (r) {
		req_continue(c, r);
		return (int)n;
	}
	r = req_begin(c);
	if (r) {
		r->kind = REQ_KIND_ONEWAY; /* until there is an answer */
		r->end = REQ_END_OPEN;
	}
	return (int)n;
}

const struct req_protocol req_generic = {.name = "generic", .parse = parse, .streams = 1};

/* A TLS record: handshake, version 3.x, a length that is allowed, a hello of the client or the
 * server. */
static enum req_match match_tls(const struct req_look *l)
{
	static const uint8_t begin[] = {0x16, 0x03};

	for (size_t i = 0; i < 2 && i < l->n; i++)
		if (l->p[i] != begin[i])
			return REQ_NO;
	if (l->n < 6)
		return REQ_MAYBE;
	if (l->p[2] > 4 || l->p[3] > 0x40 || (l->p[5] != 1 && l->p[5] != 2))
		return REQ_NO;
	return l->p[5] == 1 ? REQ_IS_REQUEST : REQ_IS_RESPONSE;
}

static const uint16_t tls_ports[] = {443, 8443, 0};

const struct req_protocol req_tls = {
	.name = "tls",
	.ports = tls_ports,
	.streams = 1,
	.match = match_tls,
	.parse = parse,
};
