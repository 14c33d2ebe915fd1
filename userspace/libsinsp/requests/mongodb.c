/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MongoDB: OP_MSG ("Wire Protocol" in its manual), and OP_QUERY, with which old clients say hello.
 * The document of a message begins with the name of its command, whose value is the collection.
 * Responses name the request that they answer.
 */
#include <stdio.h>
#include <string.h>

#include "protocol.h"
#include "wire.h"

enum {
	HEADER_SZ = 16,
	MESSAGE_MAX = 48000000, /* of the servers */
	KEPT_MAX = 2048, /* bytes of a message that are waited for */
	OP_REPLY = 1,
	OP_QUERY = 2004,
	OP_COMPRESSED = 2012,
	OP_MSG = 2013,
	F_CHECKSUM = 1 << 0,
	F_MORE = 1 << 1, /* another message of the same sender follows, without a response */
	F_EXHAUST = 1 << 16,
	NAME_MAX_SZ = 64,
};

/* Types of the elements of a document. */
enum {
	B_DOUBLE = 1,
	B_STRING = 2,
	B_DOCUMENT = 3,
	B_ARRAY = 4,
	B_BINARY = 5,
	B_OBJECT_ID = 7,
	B_BOOL = 8,
	B_DATE = 9,
	B_NULL = 10,
	B_INT32 = 16,
	B_TIMESTAMP = 17,
	B_INT64 = 18,
	B_DECIMAL = 19,
};

struct element {
	uint8_t type;
	const char *name;
	size_t name_len;
	const uint8_t *value;
	size_t len;
};

/* ---- documents ---- */

/* Returns the size of a value, of which @n bytes are here; 0: it is unknown. */
static size_t size_of(uint8_t type, const uint8_t *p, size_t n)
{
	switch (type) {
	case B_STRING:
		return n >= 4 ? 4 + (size_t)wire_le32(p) : 0;
	case B_DOCUMENT:
	case B_ARRAY:
		return n >= 4 ? wire_le32(p) : 0;
	case B_BINARY:
		return n >= 4 ? 5 + (size_t)wire_le32(p) : 0;
	case B_OBJECT_ID:
		return 12;
	case B_BOOL:
		return 1;
	case B_INT32:
		return 4;
	case B_DOUBLE:
	case B_DATE:
	case B_TIMESTAMP:
	case B_INT64:
		return 8;
	case B_DECIMAL:
		return 16;
	}
	return 0;
}

/* Reads the element at byte *@at, and sets that to the next. Returns 0 if it is not here; of a
 * document or an array the beginning is enough. */
static int next_element(const uint8_t *p, size_t n, size_t *at, struct element *e)
{
	const uint8_t *nul;

	if (*at >= n || !p[*at])
		return 0;
	e->type = p[*at];
	e->name = (const char *)p + *at + 1;
	nul = memchr(e->name, 0, n - *at - 1);
	if (!nul)
		return 0;
	e->name_len = (size_t)((const char *)nul - e->name);
	e->value = nul + 1;
	*at = (size_t)(e->value - p);
	e->len = size_of(e->type, e->value, n - *at);
	if (e->len > n - *at && (e->type == B_DOCUMENT || e->type == B_ARRAY))
		e->len = n - *at;
	if (e->type != B_NULL && (!e->len || e->len > n - *at))
		return 0;
	*at += e->len;
	return 1;
}

static int is(const struct element *e, const char *name)
{
	return e->name_len == strlen(name) && !memcmp(e->name, name, e->name_len);
}

/* Sets *p and *n to the text of a string. Returns 0 if it is none. */
static int read_string(const struct element *e, const uint8_t **p, size_t *n)
{
	if (e->type != B_STRING || e->len < 5)
		return 0;
	*p = e->value + 4;
	*n = wire_text(*p, e->len - 4);
	return 1;
}

/* Reads a number of the types that servers use for results. Returns 0 if it is none. */
static int read_number(const struct element *e, int64_t *out)
{
	double d;

	if (e->type == B_INT32)
		*out = (int32_t)wire_le32(e->value);
	else if (e->type == B_BOOL)
		*out = e->value[0];
	else if (e->type == B_INT64)
		*out = (int64_t)((uint64_t)wire_le32(e->value + 4) << 32 | wire_le32(e->value));
	else if (e->type == B_DOUBLE) {
		memcpy(&d, e->value, sizeof(d));
		*out = d > -1e9 && d < 1e9 ? (int64_t)d : -1;
	} else {
		return 0;
	}
	return 1;
}

/* ---- messages ---- */

struct message {
	uint64_t sz;
	uint32_t id, answers, op, flags;
	const uint8_t *document; /* behind its size; NULL: not here */
	size_t n;
};

static int is_op(uint32_t op)
{
	return op == OP_MSG || op == OP_QUERY || op == OP_REPLY || op == OP_COMPRESSED;
}

/* Returns where the document of the message begins; 0: unknown. */
static size_t document_at(const struct message *m, const uint8_t *p, size_t n)
{
	size_t at = HEADER_SZ + 4, sz;

	if (m->op == OP_REPLY)
		return HEADER_SZ + 20;
	if (m->op == OP_QUERY && n > at)
		return at + wire_text(p + at, n - at) + 1 + 8;
	if (m->op != OP_MSG)
		return 0;
	while (at + 5 <= n && p[at] == 1) { /* a sequence of documents, which may come first */
		sz = wire_le32(p + at + 1);
		if (sz < 5 || sz > n - at)
			return 0;
		at += 1 + sz;
	}
	return at < n && !p[at] ? at + 1 : 0;
}

/* Reads what is here of a message. Returns 0 if it is none. */
static int read_message(struct message *m, const uint8_t *p, size_t n)
{
	size_t at;

	if (n < HEADER_SZ + 4)
		return 0;
	m->sz = wire_le32(p);
	m->id = wire_le32(p + 4);
	m->answers = wire_le32(p + 8);
	m->op = wire_le32(p + 12);
	if (m->sz < HEADER_SZ + 5 || m->sz > MESSAGE_MAX || !is_op(m->op))
		return 0;
	if (n > m->sz)
		n = (size_t)m->sz;
	m->flags = m->op == OP_MSG ? wire_le32(p + HEADER_SZ) : 0;
	if (m->flags & ~(uint32_t)(F_CHECKSUM | F_MORE | F_EXHAUST))
		return 0;
	at = document_at(m, p, n);
	m->document = at && at + 4 < n ? p + at + 4 : NULL;
	m->n = m->document ? n - at - 4 : 0;
	return 1;
}

/* Returns whether the bytes are a header alone: servers read it by a call of its own. */
static int is_header(const uint8_t *p, size_t n)
{
	const uint32_t sz = n >= HEADER_SZ ? wire_le32(p) : 0;

	return sz >= HEADER_SZ + 5 && sz <= MESSAGE_MAX && is_op(wire_le32(p + 12));
}

/* A header whose opcode and flags are those of a message. */
static enum req_match match(const struct req_look *l)
{
	struct message m;

	if (l->n < HEADER_SZ + 4)
		return !l->cut && (l->by_port || is_header(l->p, l->n)) ? REQ_MAYBE : REQ_NO;
	if (!read_message(&m, l->p, l->n) || m.op == OP_COMPRESSED)
		return REQ_NO;
	if (!m.document)
		return l->cut || l->n == REQ_MATCH_MAX ? REQ_NO : REQ_MAYBE;
	if (m.answers)
		return l->from == REQ_CLIENT || m.op == OP_QUERY ? REQ_NO : REQ_IS_RESPONSE;
	return l->from == REQ_SERVER || m.op == OP_REPLY ? REQ_NO : REQ_IS_REQUEST;
}

/* ---- requests ---- */

/* The first element is the command. Most have the collection as its value, getMore as another. */
static void set_command(struct request *r, const struct message *m)
{
	struct element e;
	const uint8_t *text;
	size_t at = 0, n;

	if (!next_element(m->document, m->n, &at, &e))
		return;
	if (!e.name_len || e.name_len > NAME_MAX_SZ)
		return;
	req_set_text(r, REQ_METHOD, e.name, e.name_len);
	if (is(&e, "saslStart") || is(&e, "saslContinue"))
		return; /* no more of it is looked at */
	if (read_string(&e, &text, &n))
		req_set_text(r, REQ_RESOURCE, text, n);
	while (is(&e, "getMore") && next_element(m->document, m->n, &at, &e))
		if (is(&e, "collection") && read_string(&e, &text, &n)) {
			req_set_text(r, REQ_RESOURCE, text, n);
			return;
		}
}

static void take_request(struct sinsp_conn *c, const struct message *m, int whole)
{
	struct request *r = req_begin(c);

	if (!r)
		return;
	r->id = m->id;
	if (m->document)
		set_command(r, m);
	r->truncated = !r->texts[REQ_METHOD] && !whole;
	if (m->flags & F_MORE) {
		r->kind = REQ_KIND_ONEWAY;
		req_end(c, r, REQ_CLIENT);
	}
}

/* Sets what the element says of an error. */
static void set_error(struct request *r, const struct element *e)
{
	const uint8_t *text;
	int64_t code;
	size_t n;

	if (is(e, "code") && read_number(e, &code))
		req_set_status(r, code);
	else if (is(e, "codeName") && read_string(e, &text, &n))
		req_set_text(r, REQ_ERROR, text, n);
	else if (is(e, "errmsg") && read_string(e, &text, &n))
		req_set_text(r, REQ_ERROR_TEXT, text, n);
}

/* The first of the writes that failed, in a response that is ok, or that they are not safe yet. */
static void set_write_error(struct request *r, const struct element *of)
{
	struct element inner = *of, e;
	size_t at = 4;
	char code[24];

	if (of->type == B_ARRAY && !next_element(of->value, of->len, &at, &inner))
		return;
	if (inner.type != B_DOCUMENT || r->texts[REQ_ERROR])
		return;
	at = 4;
	while (next_element(inner.value, inner.len, &at, &e))
		set_error(r, &e);
	if (!r->has_status || r->texts[REQ_ERROR])
		return;
	snprintf(code, sizeof(code), "%lld", (long long)r->status);
	req_set_string(r, REQ_ERROR, code);
}

/* A response is ok, or has a code with a text. What was not captured of it may be an error. */
static void set_result(struct request *r, const struct message *m, int whole)
{
	struct element e;
	int64_t ok = -1;
	size_t at = 0;

	while (m->document && next_element(m->document, m->n, &at, &e)) {
		if (is(&e, "ok"))
			read_number(&e, &ok);
		else if (is(&e, "writeErrors") || is(&e, "writeConcernError"))
			set_write_error(r, &e);
		else
			set_error(r, &e);
	}
	if (ok == 0 && !r->texts[REQ_ERROR])
		req_set_string(r, REQ_ERROR, "ERROR");
	if (ok > 0 && !r->texts[REQ_ERROR])
		req_set_status(r, 0);
	if (ok < 0 && !whole)
		r->truncated = 1;
}

/* The first response ends the request. Those that follow it, as long as the client listens, answer
 * none. */
static void take_response(struct sinsp_conn *c, const struct message *m, int whole)
{
	struct request *r = req_find(c, m->answers);

	req_answer(c, r);
	if (!r)
		return;
	set_result(r, m, whole);
	req_end(c, r, REQ_SERVER);
}

static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	struct message m;
	size_t here, wanted;

	if (n < HEADER_SZ + 4)
		return flags & REQ_F_CUT ? REQ_LOST : REQ_MORE;
	if (!read_message(&m, p, n) || (from == REQ_SERVER && !m.answers))
		return REQ_LOST;
	wanted = m.sz < KEPT_MAX ? (size_t)m.sz : KEPT_MAX;
	if (n < wanted && !(flags & REQ_F_CUT))
		return REQ_MORE;
	here = n < m.sz ? n : (size_t)m.sz;
	if (from == REQ_CLIENT)
		take_request(c, &m, here == m.sz);
	else
		take_response(c, &m, here == m.sz);
	req_skip(c, from, m.sz - here);
	return (int)here;
}

static const uint16_t ports[] = {27017, 27018, 27019, 0};

const struct req_protocol req_mongodb = {
	.name = "mongodb",
	.ports = ports,
	.streams = 1,
	.open_max = REQ_SEARCHED_MAX,
	.match = match,
	.parse = parse,
	.lost = req_lost,
};
