/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS (RFC 1035, 6891, 7766) over UDP and TCP. A request is one question, found again by number and
 * question of the response, in any order. The same query sent again, while there is no response, is
 * the same request: its latency is the client's.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "protocol.h"
#include "wire.h"

enum {
	HEADER_SZ = 12,
	NAME_MAX_SZ = 255, /* with the lengths of its labels */
	NAME_TEXT = NAME_MAX_SZ * 4 + 1,
	KEPT_MAX = 8192, /* bytes of a message over TCP that are waited for */
	UNSEEN_MAX = 1024, /* messages of a call */
	F_RESPONSE = 0x8000,
	F_TRUNCATED = 0x0200,
	F_RECURSION = 0x0100,
	F_ZERO = 0x0040,
	OP_QUERY = 0,
	OP_NOTIFY = 4,
	OP_UPDATE = 5,
	CLASS_IN = 1,
	CLASS_CHAOS = 3,
	CLASS_ANY = 255,
	TYPE_SOA = 6,
	TYPE_OPT = 41,
	TYPE_IXFR = 251,
	TYPE_AXFR = 252,
};

/* What the protocol keeps in the mark of a request. */
enum {
	MARK_UNSEEN = 1, /* its question was not captured */
	MARK_TRANSFER = 2, /* several messages answer it */
	MARK_SOA = 4, /* the record that begins a transfer, and ends it, was seen */
	MARK_OPEN = 8, /* the end of the transfer cannot be seen */
	MARK_COUNTED = 16, /* the statement has the number of answers */
};

struct message {
	const uint8_t *p;
	size_t n; /* captured */
	uint32_t id, flags, n_questions, n_answers, n_authorities, n_additional;
	size_t behind; /* the question; 0: the question is not here */
	uint32_t type, class;
	char name[NAME_TEXT];
	size_t name_len;
	uint8_t whole; /* all of it was captured */
};

/* ---- messages ---- */

static unsigned int opcode_of(const struct message *m)
{
	return m->flags >> 11 & 15;
}

/* Appends a byte of a label as zone files have it. */
static size_t put_escaped(char *to, uint8_t b)
{
	if (b == '.' || b == '\\') {
		to[0] = '\\';
		to[1] = (char)b;
		return 2;
	}
	if (b > ' ' && b < 0x7f) {
		to[0] = (char)b;
		return 1;
	}
	to[0] = '\\';
	to[1] = (char)('0' + b / 100);
	to[2] = (char)('0' + b / 10 % 10);
	to[3] = (char)('0' + b % 10);
	return 4;
}

/* Reads the name of the question. Returns its size; 0: it is none, or is not here. */
static size_t read_name(struct message *m)
{
	size_t at = HEADER_SZ, out = 0;

	while (at < m->n && at - HEADER_SZ < NAME_MAX_SZ) {
		const uint8_t len = m->p[at++];

		if (!len) {
			if (!out)
				m->name[out++] = '.';
			m->name_len = out;
			return at - HEADER_SZ;
		}
		if (len > 63 || at + len > m->n || at + len - HEADER_SZ >= NAME_MAX_SZ)
			return 0;
		if (out)
			m->name[out++] = '.';
		for (uint8_t i = 0; i < len; i++)
			out += put_escaped(m->name + out, m->p[at++]);
	}
	return 0;
}

/* Returns 0 if there is no header. */
static int read_message(struct message *m, const uint8_t *p, size_t n)
{
	size_t sz;

	if (n < HEADER_SZ)
		return 0;
	m->p = p;
	m->n = n;
	m->id = wire_be16(p);
	m->flags = wire_be16(p + 2);
	m->n_questions = wire_be16(p + 4);
	m->n_answers = wire_be16(p + 6);
	m->n_authorities = wire_be16(p + 8);
	m->n_additional = wire_be16(p + 10);
	m->behind = m->name_len = 0;
	m->type = m->class = 0;
	sz = m->n_questions ? read_name(m) : 0;
	if (sz && HEADER_SZ + sz + 4 <= n) {
		m->type = wire_be16(p + HEADER_SZ + sz);
		m->class = wire_be16(p + HEADER_SZ + sz + 2);
		m->behind = HEADER_SZ + sz + 4;
	}
	return 1;
}

/* Returns a number for the message's number and question. */
static uint64_t question_id(const struct sinsp_conn *c, const struct message *m)
{
	uint64_t h = (uint64_t)m->type << 32 | m->class << 8 | opcode_of(m);
	char lower[NAME_TEXT];

	for (size_t i = 0; i < m->name_len; i++) /* servers may change the case */
		lower[i] = (char)tolower((unsigned char)m->name[i]);
	h = scap_hash_bytes(scap_hash_number(h, (uintptr_t)c), lower, m->name_len);
	return (uint64_t)m->id << 48 | h >> 16;
}

struct record {
	uint32_t type;
	uint32_t ttl;
	size_t behind;
};

/* Reads the record at byte @at. Returns 0 if it is not here. */
static int read_record(const struct message *m, size_t at, struct record *r)
{
	while (at < m->n && m->p[at] && m->p[at] < 0xc0)
		at += 1 + (size_t)m->p[at];
	if (at >= m->n)
		return 0;
	at += m->p[at] ? 2 : 1;
	if (at + 10 > m->n)
		return 0;
	r->type = wire_be16(m->p + at);
	r->ttl = wire_be32(m->p + at + 4);
	r->behind = at + 10 + wire_be16(m->p + at + 8);
	return r->behind <= m->n;
}

/* ---- recognition ---- */

static int is_class(uint32_t class)
{
	return class == CLASS_IN || class == CLASS_CHAOS || class == CLASS_ANY;
}

/* Returns whether the header is one of a message. At another port than that of DNS it is a query of
 * a stub resolver, or the response to one: mDNS has the same format. */
static int is_message(const struct message *m, int by_port, int cut)
{
	const unsigned int op = opcode_of(m);
	const int is_response = !!(m->flags & F_RESPONSE);
	const uint32_t n_records = m->n_answers + m->n_authorities + m->n_additional;

	if (m->n_questions != 1 || !m->behind || !is_class(m->class) || m->flags & F_ZERO)
		return 0;
	if (!is_response && (m->flags & 15 || m->n_additional > 3))
		return 0;
	if (!n_records && m->behind != m->n && !cut)
		return 0;
	if (!by_port)
		return op == OP_QUERY && m->flags & F_RECURSION && m->class == CLASS_IN &&
		       (is_response || !(m->n_answers + m->n_authorities));
	return op == OP_QUERY || op == OP_NOTIFY || op == OP_UPDATE;
}

static enum req_match match(const struct req_look *l)
{
	size_t at = 0, len = l->n;
	struct message m;

	if (!l->datagram) {
		if (l->n < 2 + HEADER_SZ)
			return l->by_port && !l->cut ? REQ_MAYBE : REQ_NO;
		len = wire_be16(l->p);
		at = 2;
		if (len < HEADER_SZ + 5)
			return REQ_NO;
		if (len + 2 > l->n && !l->cut && l->n < REQ_MATCH_MAX)
			return l->by_port ? REQ_MAYBE : REQ_NO;
		len = len > l->n - 2 ? l->n - 2 : len;
	}
	if (!read_message(&m, l->p + at, len) ||
	    !is_message(&m, l->by_port, l->cut || l->n == REQ_MATCH_MAX))
		return REQ_NO;
	if (m.flags & F_RESPONSE)
		return l->from == REQ_CLIENT ? REQ_NO : REQ_IS_RESPONSE;
	return l->from == REQ_SERVER ? REQ_NO : REQ_IS_REQUEST;
}

/* ---- requests ---- */

static const struct {
	uint16_t type;
	char name[12];
} types[] = {
	{1, "A"},      {2, "NS"},    {5, "CNAME"},  {6, "SOA"},    {12, "PTR"},   {13, "HINFO"},
	{15, "MX"},    {16, "TXT"},  {28, "AAAA"},  {29, "LOC"},   {33, "SRV"},   {35, "NAPTR"},
	{39, "DNAME"}, {43, "DS"},   {44, "SSHFP"}, {46, "RRSIG"}, {47, "NSEC"},  {48, "DNSKEY"},
	{50, "NSEC3"}, {52, "TLSA"}, {64, "SVCB"},  {65, "HTTPS"}, {249, "TKEY"}, {251, "IXFR"},
	{252, "AXFR"}, {255, "ANY"}, {256, "URI"},  {257, "CAA"},
};

static void type_text(char *to, size_t sz, uint32_t type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == type) {
			snprintf(to, sz, "%s", types[i].name);
			return;
		}
	snprintf(to, sz, "TYPE%u", type);
}

static void set_question(struct request *r, const struct message *m)
{
	const unsigned int op = opcode_of(m);
	char type[16];

	type_text(type, sizeof(type), m->type);
	req_set_string(r, REQ_METHOD,
		       op == OP_QUERY    ? type
		       : op == OP_NOTIFY ? "NOTIFY"
		       : op == OP_UPDATE ? "UPDATE"
					 : "OTHER");
	req_set_text(r, REQ_RESOURCE, m->name, m->name_len);
	req_set_string(r, REQ_STATEMENT, m->class == CLASS_CHAOS ? "CH " : "");
	req_add_text(r, REQ_STATEMENT, type, strlen(type));
	req_add_text(r, REQ_STATEMENT, " ", 1);
	req_add_text(r, REQ_STATEMENT, m->name, m->name_len);
	if (op == OP_QUERY && (m->type == TYPE_AXFR || m->type == TYPE_IXFR))
		r->mark = MARK_TRANSFER;
}

static int take_query(struct sinsp_conn *c, struct message *m)
{
	struct request *r;
	uint64_t id;

	if (!m->behind || m->flags & F_RESPONSE)
		return 0;
	id = question_id(c, m);
	r = req_find(c, id);
	if (r) { /* sent again */
		req_continue(c, r);
		return 1;
	}
	r = req_begin(c);
	if (!r)
		return 1;
	r->id = id;
	set_question(r, m);
	return 1;
}

/* Returns the request that the response answers. Some errors come without the question, and that of
 * others may be cut. */
static struct request *answered(struct sinsp_conn *c, const struct message *m)
{
	struct request *r, *found = m->behind ? req_find(c, question_id(c, m)) : NULL;
	const int by_number = !m->n_questions || (!m->behind && !m->whole);
	struct request *unseen = NULL;

	for (r = req_first(c); r && !found; r = req_next(r)) {
		if (!unseen && r->mark & MARK_UNSEEN)
			unseen = r;
		if (by_number && !(r->mark & MARK_UNSEEN) && r->id >> 48 == m->id)
			found = r;
	}
	if (found || !unseen || !m->behind)
		return found;
	set_question(unseen, m);
	return unseen;
}

static const char *const rcodes[] = {
	NULL,       "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP",  "REFUSED",
	"YXDOMAIN", "YXRRSET", "NXRRSET",  "NOTAUTH",  "NOTZONE",
};

/* Returns the code, whose upper bits are in a record of EDNS; -1: that was not captured. */
static int read_rcode(const struct message *m)
{
	const uint32_t n = m->n_answers + m->n_authorities + m->n_additional;
	struct record r = {.behind = m->behind ? m->behind : HEADER_SZ};

	for (uint32_t i = 0; m->n_additional && i < n; i++) {
		if (!read_record(m, r.behind, &r))
			return m->whole ? (int)(m->flags & 15) : -1;
		if (r.type == TYPE_OPT)
			return (int)(r.ttl >> 24 << 4 | (m->flags & 15));
	}
	return (int)(m->flags & 15);
}

static void add_count(struct request *r, const struct message *m)
{
	char text[32];

	snprintf(text, sizeof(text), ", answers=%u%s", m->n_answers,
		 m->flags & F_TRUNCATED ? ", truncated" : "");
	req_add_text(r, REQ_STATEMENT, text, strlen(text));
	r->mark |= MARK_COUNTED;
}

static void set_result(struct request *r, const struct message *m)
{
	const int rcode = read_rcode(m);
	char text[32];

	if (*req_text(r, REQ_ERROR))
		req_set_string(r, REQ_ERROR, "");
	if (!(r->mark & MARK_COUNTED))
		add_count(r, m);
	if (rcode < 0) {
		r->truncated = 1;
		return;
	}
	req_set_status(r, rcode);
	if (!rcode)
		return;
	snprintf(text, sizeof(text), "RCODE%d", rcode);
	req_set_string(r, REQ_ERROR,
		       rcode < (int)(sizeof(rcodes) / sizeof(rcodes[0])) ? rcodes[rcode]
		       : rcode == 16                                     ? "BADVERS"
									 : text);
}

/* Returns whether the message is the last one of the transfer, which ends with the record that it
 * began with. The end of differences shows only to a client that knows what it has. */
static int ends_transfer(struct request *r, const struct message *m)
{
	struct record rec = {.behind = m->behind ? m->behind : HEADER_SZ};
	int n_soa = !!(r->mark & MARK_SOA);

	if (m->flags & 15)
		return 1;
	if (m->type == TYPE_IXFR)
		r->mark |= MARK_OPEN;
	if (r->mark & MARK_OPEN)
		return 0;
	for (uint32_t i = 0; i < m->n_answers; i++) {
		if (!read_record(m, rec.behind, &rec)) {
			r->mark |= MARK_OPEN;
			return 0;
		}
		n_soa += rec.type == TYPE_SOA;
	}
	r->mark |= n_soa ? MARK_SOA : 0;
	return n_soa > 1 && rec.type == TYPE_SOA;
}

static int take_response(struct sinsp_conn *c, struct message *m, unsigned int flags)
{
	struct request *r;

	if (!(m->flags & F_RESPONSE))
		return 0;
	r = answered(c, m);
	req_answer(c, r);
	if (!r)
		return 1;
	if (!r->has_status)
		set_result(r, m);
	if (!(r->mark & MARK_TRANSFER) || flags & REQ_F_DATAGRAM || ends_transfer(r, m))
		req_end(c, r, REQ_SERVER);
	else if (r->mark & MARK_OPEN)
		r->end = REQ_END_OPEN;
	return 1;
}

static int take(struct sinsp_conn *c, enum req_from from, struct message *m, unsigned int flags)
{
	return from == REQ_CLIENT ? take_query(c, m) : take_response(c, m, flags);
}

static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	struct message m;
	size_t sz, here;

	if (flags & REQ_F_DATAGRAM) {
		m.whole = !(flags & REQ_F_CUT);
		if (!read_message(&m, p, n) || !take(c, from, &m, flags))
			return REQ_LOST;
		return (int)n;
	}
	if (n < 2)
		return REQ_MORE;
	sz = 2 + (size_t)wire_be16(p);
	if (sz < 2 + HEADER_SZ)
		return REQ_LOST;
	if (n < sz && n < KEPT_MAX && !(flags & REQ_F_CUT))
		return REQ_MORE;
	here = n < sz ? n : sz;
	m.whole = here == sz;
	if (!read_message(&m, p + 2, here - 2) || !take(c, from, &m, flags))
		return REQ_LOST;
	req_skip(c, from, sz - here);
	return (int)here;
}

/* Questions get a request each, which the response names. Any request may have its response among
 * those that were not captured. */
static void unseen(struct sinsp_conn *c, enum req_from from, uint32_t n, uint64_t bytes)
{
	struct request *r;

	for (uint32_t i = 0; from == REQ_CLIENT && i < n && i < UNSEEN_MAX; i++) {
		r = req_begin(c);
		if (!r)
			return;
		r->mark = MARK_UNSEEN;
		r->truncated = 1;
		r->bytes[REQ_CLIENT] = n == 1 ? bytes : 0;
	}
	for (r = req_first(c); r && from == REQ_SERVER; r = req_next(r)) {
		r->truncated = 1;
		req_set_string(r, REQ_ERROR, "lost");
	}
}

static void lost(struct sinsp_conn *c, enum req_from from)
{
	for (struct request *r = req_first(c); r; r = req_next(r)) {
		r->truncated = 1;
		if (r->mark & MARK_TRANSFER && from == REQ_SERVER && r->first_ns) {
			r->mark |= MARK_OPEN;
			r->end = REQ_END_OPEN;
		}
	}
}

static const uint16_t ports[] = {53, 0};

const struct req_protocol req_dns = {
	.name = "dns",
	.ports = ports,
	.streams = 1,
	.datagrams = 1,
	.open_max = REQ_SEARCHED_MAX,
	.match = match,
	.parse = parse,
	.lost = lost,
	.unseen = unseen,
};
