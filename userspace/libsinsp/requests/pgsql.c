/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PostgreSQL's protocol 3.0 ("Frontend/Backend Protocol" in its manual). A simple query is a
 * request up to ReadyForQuery. In the extended protocol a request is what leads to an Execute:
 * Parse, Bind, Describe and Execute, with the Sync behind it; without Execute it is PARSE. The
 * server answers in order, and after an error skips all up to Sync.
 */
#include <ctype.h>
#include <string.h>

#include "protocol.h"
#include "sql.h"
#include "statements.h"
#include "wire.h"

enum {
	CODE_CANCEL = 80877102,
	CODE_SSL = 80877103,
	CODE_GSSENC = 80877104,
	STARTUP_MAX = 10000,
	MESSAGE_MAX = 1 << 30,
	SHORT_MAX = 8192, /* messages whose text matters are waited for if they are not longer */
};

/* What the server's message that ends a request is: in its mark. */
enum mark {
	M_READY, /* ReadyForQuery */
	M_EXECUTED, /* CommandComplete, or what stands for it */
	M_OPEN, /* the client's messages are not complete */
	M_BYTE, /* one byte: the answer to a request for encryption */
};

struct pgsql {
	struct statements statements; /* and portals */
	uint32_t n_ready; /* requests that wait for ReadyForQuery, or more */
	uint8_t began; /* the messages have a type, as after the startup */
};

/* Reads the size of the message, with its type. Returns 1, REQ_MORE or REQ_LOST. */
static int read_size(const uint8_t *p, size_t n, unsigned int flags, size_t *sz)
{
	if (n < 5)
		return flags & REQ_F_CUT ? REQ_LOST : REQ_MORE;
	*sz = (size_t)wire_be32(p + 1) + 1;
	return *sz < 5 || *sz > MESSAGE_MAX ? REQ_LOST : 1;
}

/* ---- recognition ---- */

static int is_client_type(uint8_t t)
{
	return t && strchr("QPBDECHSXpFdcf", t);
}

static int is_server_type(uint8_t t)
{
	return t && strchr("RKSZTDCENAIGHWVvdcnst123", t);
}

/* @p: 8 bytes. */
static int is_startup(const uint8_t *p)
{
	const uint32_t len = wire_be32(p), code = wire_be32(p + 4);

	if (code == CODE_SSL || code == CODE_GSSENC)
		return len == 8;
	if (code == CODE_CANCEL)
		return len == 16;
	return code >> 16 == 3 && (code & 0xffff) <= 2 && len >= 9 && len <= STARTUP_MAX;
}

/* Behind a version is the name of the first parameter: requests of Kafka have its number, too. */
static enum req_match match_startup(const struct req_look *l)
{
	if (l->n < 8)
		return REQ_MAYBE;
	if (!is_startup(l->p))
		return REQ_NO;
	if (wire_be32(l->p + 4) >> 16 != 3)
		return REQ_IS_REQUEST;
	if (l->n == 8)
		return l->cut ? REQ_NO : REQ_MAYBE;
	return isalpha(l->p[8]) ? REQ_IS_REQUEST : REQ_NO;
}

/* A query whose end, if it is here, is that of its text. */
static int is_query(const struct req_look *l, uint32_t len)
{
	return l->p[0] == 'Q' && isalpha(l->p[5]) && (len >= l->n || !l->p[len]);
}

/* The middle of a connection begins with a whole message: a query, or one of few that lead to one.
 */
static enum req_match match_message(const struct req_look *l)
{
	const uint32_t len = wire_be32(l->p + 1);

	if (len < 5 || len > MESSAGE_MAX)
		return REQ_NO;
	if (l->from == REQ_CLIENT && is_query(l, len))
		return REQ_IS_REQUEST;
	if (!l->by_port)
		return REQ_NO;
	if (l->from != REQ_SERVER && (is_query(l, len) || l->p[0] == 'P' || l->p[0] == 'B'))
		return REQ_IS_REQUEST;
	if (l->from != REQ_CLIENT && (l->p[0] == 'R' || l->p[0] == 'T') && len < 0x10000)
		return REQ_IS_RESPONSE;
	return REQ_NO;
}

static enum req_match match(const struct req_look *l)
{
	if (!l->p[0]) {
		if (l->from == REQ_SERVER || (l->n > 1 && l->p[1]))
			return REQ_NO;
		return match_startup(l);
	}
	if (!is_client_type(l->p[0]) && !is_server_type(l->p[0]))
		return REQ_NO;
	if (l->n < 6)
		return l->by_port && l->n < 5 ? REQ_MAYBE : REQ_NO;
	return match_message(l);
}

/* ---- texts ---- */

/* Moves behind a string and its end. */
static void skip_text(const uint8_t **p, size_t *n)
{
	size_t len = wire_text(*p, *n);

	len += len < *n;
	*p += len;
	*n -= len;
}

/* Sets resource and statement of a startup: names and values, of which user and database matter. */
static void set_startup(struct request *r, const uint8_t *p, size_t n)
{
	while (n) {
		const char *name = (const char *)p, *value;
		const size_t name_len = wire_text(p, n);
		size_t len;

		skip_text(&p, &n);
		value = (const char *)p;
		len = wire_text(p, n);
		if (!name_len || !n)
			break;
		if (name_len == 8 && !memcmp(name, "database", 8))
			req_set_text(r, REQ_RESOURCE, value, len);
		if (name_len == 4 && !memcmp(name, "user", 4)) {
			req_set_string(r, REQ_STATEMENT, "user=");
			req_add_text(r, REQ_STATEMENT, value, len);
			if (!*req_text(r, REQ_RESOURCE))
				req_set_text(r, REQ_RESOURCE, value, len);
		}
		skip_text(&p, &n);
	}
}

/* ---- the client's messages ---- */

/* Marks a request that ends with ReadyForQuery. */
static void wait_for_ready(struct pgsql *st, struct request *r)
{
	r->mark = M_READY;
	st->n_ready++;
}

/* The first message has no type. */
static int parse_startup(struct sinsp_conn *c, struct pgsql *st, const uint8_t *p, size_t n,
			 unsigned int flags)
{
	struct request *r;
	uint32_t len, code;

	if (n < 8)
		return flags & REQ_F_CUT ? REQ_LOST : REQ_MORE;
	if (!is_startup(p))
		return REQ_LOST;
	len = wire_be32(p);
	code = wire_be32(p + 4);
	if (n < len && !(flags & REQ_F_CUT))
		return REQ_MORE;
	r = req_begin(c);
	if (!r)
		return REQ_LOST;
	if (code >> 16 == 3) {
		req_set_string(r, REQ_METHOD, "STARTUP");
		r->truncated = n < len;
		set_startup(r, p + 8, (n < len ? n : len) - 8);
		st->began = 1;
		wait_for_ready(st, r);
	} else if (code == CODE_CANCEL) {
		req_set_string(r, REQ_METHOD, "CANCEL");
		r->kind = REQ_KIND_ONEWAY;
		req_end(c, r, REQ_CLIENT);
	} else {
		req_set_string(r, REQ_METHOD, code == CODE_SSL ? "SSLREQUEST" : "GSSENCREQUEST");
		r->mark = M_BYTE;
	}
	if (n < len)
		req_skip(c, REQ_CLIENT, len - n);
	return n < len ? (int)n : (int)len;
}

/* Returns the extended request that the message belongs to: the last one, unless it is complete. */
static struct request *building(struct sinsp_conn *c)
{
	struct request *r = req_last(c);

	if (r && r->mark == M_OPEN) {
		req_continue(c, r);
		return r;
	}
	r = req_begin(c);
	if (r)
		r->mark = M_OPEN;
	return r;
}

static void set_method(struct request *r, const char *name)
{
	if (r && !*req_text(r, REQ_METHOD))
		req_set_string(r, REQ_METHOD, name);
}

/* Parse: name of the statement, its text. */
static void take_parse(struct sinsp_conn *c, struct pgsql *st, struct request *r, const uint8_t *p,
		       size_t n)
{
	const uint64_t key = statements_key(&st->statements, p, wire_text(p, n), 's');
	size_t len;

	skip_text(&p, &n);
	len = wire_text(p, n);
	statements_put(&st->statements, c, key, p, len);
	if (r)
		sql_set(r, (const char *)p, len, SQL_PGSQL);
}

static void set_statement(struct request *r, const struct statement *s)
{
	if (r && s)
		sql_set(r, s->text, s->n, SQL_PGSQL);
}

/* Bind: name of the portal, name of the statement. */
static void take_bind(struct sinsp_conn *c, struct pgsql *st, struct request *r, const uint8_t *p,
		      size_t n)
{
	const size_t portal_len = wire_text(p, n);
	const uint64_t portal = statements_key(&st->statements, p, portal_len, 'p');
	const struct statement *s;

	skip_text(&p, &n);
	s = statements_get(&st->statements,
			   statements_key(&st->statements, p, wire_text(p, n), 's'));
	set_statement(r, s);
	if (portal_len && s) {
		char copy[STATEMENT_KEPT]; /* statements_put may free it */

		memcpy(copy, s->text, s->n);
		statements_put(&st->statements, c, portal, copy, s->n);
	}
}

/* Execute: name of the portal. Of one that was bound before, the statement is known by its name. */
static void take_execute(struct pgsql *st, struct request *r, const uint8_t *p, size_t n)
{
	const uint64_t portal = statements_key(&st->statements, p, wire_text(p, n), 'p');

	if (!r)
		return;
	if (!*req_text(r, REQ_STATEMENT))
		set_statement(r, statements_get(&st->statements, portal));
	if (!*req_text(r, REQ_STATEMENT))
		req_set_string(r, REQ_METHOD, "EXECUTE");
	r->mark = M_EXECUTED;
}

/* Close: 'S' or 'P', and a name. */
static void take_close(struct sinsp_conn *c, struct pgsql *st, const uint8_t *p, size_t n)
{
	if (n > 1 && p[1])
		statements_drop(&st->statements, c,
				statements_key(&st->statements, p + 1, wire_text(p + 1, n - 1),
					       *p == 'S' ? 's' : 'p'));
}

/* Sync: the last request ends with ReadyForQuery, unless the server has answered it. */
static void take_sync(struct sinsp_conn *c, struct pgsql *st)
{
	struct request *r = req_last(c);

	if (!r || (r->mark != M_OPEN && r->mark != M_EXECUTED))
		return;
	req_continue(c, r);
	if (r->mark == M_OPEN && *req_text(r, REQ_STATEMENT))
		req_set_string(r, REQ_METHOD, "PARSE");
	wait_for_ready(st, r);
}

static void take_message(struct sinsp_conn *c, struct pgsql *st, uint8_t type, const uint8_t *p,
			 size_t n, int cut)
{
	struct request *r = NULL;

	switch (type) {
	case 'Q':
	case 'F':
		r = req_begin(c);
		if (!r)
			break;
		wait_for_ready(st, r);
		if (type == 'Q')
			sql_set(r, (const char *)p, wire_text(p, n), SQL_PGSQL);
		else
			req_set_string(r, REQ_METHOD, "FUNCTION");
		break;
	case 'P':
		take_parse(c, st, r = building(c), p, n);
		break;
	case 'B':
		take_bind(c, st, building(c), p, n);
		break;
	case 'E':
		take_execute(st, building(c), p, n);
		break;
	case 'D':
		set_method(building(c), "DESCRIBE");
		break;
	case 'C':
		set_method(building(c), "CLOSE");
		take_close(c, st, p, n);
		break;
	case 'S':
		take_sync(c, st);
		break;
	case 'X':
		r = req_begin(c);
		if (!r)
			break;
		req_set_string(r, REQ_METHOD, "TERMINATE");
		r->kind = REQ_KIND_ONEWAY;
		req_end(c, r, REQ_CLIENT);
		break;
	default: /* answers to authentication, data of COPY: of the request before */
		req_continue(c, req_message(c, REQ_CLIENT) ? req_message(c, REQ_CLIENT)
							   : req_first(c));
	}
	if (r && cut)
		r->truncated = 1;
}

/* Returns how many bytes of the message are looked at. */
static size_t wanted(uint8_t type, size_t sz)
{
	if (!strchr("QPBEC", type))
		return 5;
	return sz < SHORT_MAX ? sz : SHORT_MAX;
}

static int parse_client(struct sinsp_conn *c, struct pgsql *st, const uint8_t *p, size_t n,
			unsigned int flags)
{
	size_t sz, here;
	int known;

	if (!st->began && !*p)
		return parse_startup(c, st, p, n, flags);
	if (!is_client_type(*p))
		return REQ_LOST;
	known = read_size(p, n, flags, &sz);
	if (known != 1)
		return known;
	if (n < wanted(*p, sz) && !(flags & REQ_F_CUT))
		return REQ_MORE;
	st->began = 1;
	here = n < sz ? n : sz;
	take_message(c, st, *p, p + 5, here - 5, here < wanted(*p, sz));
	req_skip(c, REQ_CLIENT, sz - here);
	return (int)here;
}

/* ---- the server's messages ---- */

/* Fields of an error: a letter and a text each. 'C': SQLSTATE, 'M': message. */
static void set_error(struct request *r, const uint8_t *p, size_t n)
{
	while (n > 1 && *p) {
		const uint8_t field = *p++;

		n--;
		if (field == 'C')
			req_set_text(r, REQ_ERROR, p, wire_text(p, n));
		else if (field == 'M')
			req_set_text(r, REQ_ERROR_TEXT, p, wire_text(p, n));
		skip_text(&p, &n);
	}
	if (!*req_text(r, REQ_ERROR))
		req_set_string(r, REQ_ERROR, "error");
}

/* ReadyForQuery ends the first request that waits for it. Those before it were skipped. */
static void end_ready(struct sinsp_conn *c, struct pgsql *st)
{
	struct request *ready = st->n_ready ? req_first_waiting(c) : NULL, *r, *next;
	int failed = 0;

	while (ready && ready->mark != M_READY)
		ready = req_next(ready);
	if (!ready) {
		st->n_ready = 0;
		return;
	}
	st->n_ready--;
	for (r = req_first(c); r != ready; r = next) {
		next = req_next(r);
		failed |= *req_text(r, REQ_ERROR) != 0;
		if (!r->first_ns)
			req_set_string(r, REQ_ERROR, "skipped");
		req_end_now(c, r);
	}
	if (failed && !ready->first_ns)
		req_set_string(ready, REQ_ERROR, "skipped");
	req_answer(c, ready);
	req_end(c, ready, REQ_SERVER);
}

/* Returns whether the client goes on with its request after the message: it asks for a password, or
 * for the data of COPY, or the messages of an extended request are not complete. */
static int is_early(const struct request *r, uint8_t type, const uint8_t *p, size_t n)
{
	return r->mark == M_OPEN || type == 'G' || type == 'W' ||
	       (type == 'R' && n >= 4 && wire_be32(p));
}

static void take_response(struct sinsp_conn *c, struct pgsql *st, uint8_t type, const uint8_t *p,
			  size_t n)
{
	struct request *r = req_first_waiting(c);

	if (type == 'Z') {
		end_ready(c, st);
		return;
	}
	if (type == 'A') /* a notification is of no request */
		r = NULL;
	if (r && is_early(r, type, p, n))
		req_answer_early(c, r);
	else
		req_answer(c, r);
	if (type == 'E' && r)
		set_error(r, p, n);
	else if (r && strchr("CsI", type) && r->mark == M_EXECUTED && !*req_text(r, REQ_ERROR))
		req_end(c, r, REQ_SERVER);
}

/* The answer to a request for encryption. */
static int parse_byte(struct sinsp_conn *c, struct request *r, uint8_t byte)
{
	if (byte != 'S' && byte != 'N' && byte != 'G')
		return REQ_LOST;
	req_answer(c, r);
	req_end(c, r, REQ_SERVER);
	if (byte == 'S')
		req_switch(c, &req_tls);
	return 1;
}

static int parse_server(struct sinsp_conn *c, struct pgsql *st, const uint8_t *p, size_t n,
			unsigned int flags)
{
	struct request *r = req_first_waiting(c);
	size_t sz, here;
	int known;

	if (!r && flags & REQ_F_SEARCH)
		return REQ_LOST; /* of no request that is known */
	if (r && r->mark == M_BYTE)
		return parse_byte(c, r, *p);
	if (!is_server_type(*p))
		return REQ_LOST;
	known = read_size(p, n, flags, &sz);
	if (known != 1)
		return known;
	if (*p == 'E' && n < sz && sz < SHORT_MAX && !(flags & REQ_F_CUT))
		return REQ_MORE;
	here = n < sz ? n : sz;
	take_response(c, st, *p, p + 5, here - 5);
	req_skip(c, REQ_SERVER, sz - here);
	return (int)here;
}

static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	struct pgsql *st = req_state(c);

	return from == REQ_CLIENT ? parse_client(c, st, p, n, flags)
				  : parse_server(c, st, p, n, flags);
}

static void lost(struct sinsp_conn *c, enum req_from from)
{
	struct pgsql *st = req_state(c);
	struct request *r;

	for (r = req_first(c); r; r = req_next(r)) {
		r->truncated = 1;
		if (r->mark == M_OPEN)
			wait_for_ready(st, r);
	}
	r = from == REQ_SERVER ? req_first_waiting(c) : NULL;
	if (r)
		req_answer_rest(c, r);
}

static void fini(void *state)
{
	struct pgsql *st = state;

	statements_fini(&st->statements);
}

static const uint16_t ports[] = {5432, 5433, 6432, 0};

const struct req_protocol req_pgsql = {
	.name = "pgsql",
	.ports = ports,
	.state_sz = sizeof(struct pgsql),
	.streams = 1,
	.match = match,
	.parse = parse,
	.lost = lost,
	.fini = fini,
};
