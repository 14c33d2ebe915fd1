/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NATS ("Client Protocol" in its manual). A publication is one-way; one with an inbox for replies
 * is a request, which ends with the message to that inbox. Messages of subscriptions come without a
 * request. A message is a line, and some have a payload, which is skipped by its length.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "hash.h"
#include "protocol.h"
#include "wire.h"

enum {
	LINE_MAX_SZ = 4096, /* a longer one is no line of the protocol, but of CONNECT or INFO */
	WORDS_MAX = 6,
	MARK_REPLY = 1, /* the request ends with a message to its inbox */
	MARK_ACK = 2, /* with +OK, if the connection is verbose */
	MARK_PING = 4,
};

struct nats {
	uint8_t verbose; /* the server answers each line */
	uint8_t in_line[2]; /* by enum req_from: the rest of a line that was too long */
};

/* The words of a line. */
struct line {
	const char *word[WORDS_MAX];
	size_t len[WORDS_MAX];
	unsigned int n; /* WORDS_MAX: as many, or more */
};

static void split(struct line *l, const uint8_t *p, size_t n)
{
	size_t i = 0;

	l->n = 0;
	while (l->n < WORDS_MAX) {
		while (i < n && (p[i] == ' ' || p[i] == '\t'))
			i++;
		if (i == n)
			return;
		l->word[l->n] = (const char *)p + i;
		while (i < n && p[i] != ' ' && p[i] != '\t')
			i++;
		l->len[l->n] = (size_t)((const char *)p + i - l->word[l->n]);
		l->n++;
	}
}

static int is(const struct line *l, const char *name)
{
	return l->n && l->len[0] == strlen(name) && !strncasecmp(l->word[0], name, l->len[0]);
}

static int number(const struct line *l, unsigned int at, uint64_t *out)
{
	return at < l->n && l->len[at] < 10 &&
	       wire_decimal((const uint8_t *)l->word[at], l->len[at], out);
}

/* ---- recognition ---- */

/* Returns whether the line publishes, or delivers, a message: its name, words, and a size. */
static int is_message(const struct line *l, const char *name, unsigned int fewest,
		      unsigned int most)
{
	uint64_t sz;

	return is(l, name) && l->n >= fewest && l->n <= most && number(l, l->n - 1, &sz);
}

static enum req_match match_line(const struct req_look *l, const struct line *w)
{
	uint64_t id;

	if (l->from != REQ_SERVER) {
		if (is_message(w, "PUB", 3, 4) || is_message(w, "HPUB", 4, 5))
			return REQ_IS_REQUEST;
		if (is(w, "SUB") && w->n >= 3 && w->n <= 4 && l->by_port)
			return REQ_IS_REQUEST;
	}
	if (l->from != REQ_CLIENT)
		if ((is_message(w, "MSG", 4, 5) || is_message(w, "HMSG", 5, 6)) &&
		    (l->by_port || number(w, 2, &id)))
			return REQ_IS_RESPONSE;
	return REQ_NO;
}

/* INFO and CONNECT have an object of JSON; a line of another kind is recognised by its words. */
static enum req_match match(const struct req_look *l)
{
	static const char info[] = "INFO {", connect[] = "CONNECT {";
	const size_t n_info = l->n < sizeof(info) - 1 ? l->n : sizeof(info) - 1;
	const size_t n_connect = l->n < sizeof(connect) - 1 ? l->n : sizeof(connect) - 1;
	struct line w;
	size_t len;
	int text;

	if (!isalpha(l->p[0]))
		return REQ_NO;
	if (l->from != REQ_CLIENT && !strncasecmp((const char *)l->p, info, n_info))
		return n_info == sizeof(info) - 1 ? REQ_IS_RESPONSE : REQ_MAYBE;
	if (l->from != REQ_SERVER && !strncasecmp((const char *)l->p, connect, n_connect))
		return n_connect == sizeof(connect) - 1 ? REQ_IS_REQUEST : REQ_MAYBE;
	text = wire_line(l->p, l->n, &len);
	if (text < 0)
		return l->by_port && l->n < REQ_MATCH_MAX && !l->cut ? REQ_MAYBE : REQ_NO;
	if ((size_t)text + 2 != len)
		return REQ_NO;
	split(&w, l->p, (size_t)text);
	return match_line(l, &w);
}

/* ---- the client ---- */

/* Returns a number for an inbox. */
static uint64_t inbox_id(const struct sinsp_conn *c, const char *p, size_t n)
{
	return scap_hash_bytes((uintptr_t)c, p, n);
}

/* Begins a request, or a one-way message. */
static struct request *begin(struct sinsp_conn *c, const struct line *l, unsigned int subject)
{
	const struct nats *st = req_state(c);
	struct request *r = req_begin(c);

	if (!r)
		return NULL;
	req_set_upper(r, REQ_METHOD, l->word[0], l->len[0]);
	if (subject && subject < l->n)
		req_set_text(r, REQ_RESOURCE, l->word[subject], l->len[subject]);
	if (st->verbose && !is(l, "PING")) {
		r->mark = MARK_ACK;
		return r;
	}
	r->kind = REQ_KIND_ONEWAY;
	req_end(c, r, REQ_CLIENT);
	return r;
}

/* PUB subject [inbox] size, HPUB subject [inbox] headers size */
static int publish(struct sinsp_conn *c, const struct line *l, size_t len)
{
	const unsigned int with_inbox = is(l, "HPUB") ? 5 : 4;
	struct request *r;
	uint64_t sz;

	if (l->n < with_inbox - 1 || l->n > with_inbox || !number(l, l->n - 1, &sz))
		return REQ_LOST;
	r = begin(c, l, 1);
	if (r && l->n == with_inbox) {
		r->kind = REQ_KIND_REQUEST;
		r->ends_with = 0;
		r->mark |= MARK_REPLY;
		r->id = inbox_id(c, l->word[2], l->len[2]);
	}
	req_skip(c, REQ_CLIENT, sz + 2);
	return (int)len;
}

/* Returns whether the server will answer each line: unless the object says "verbose": false, as all
 * usual clients do; so a @cut object in which it was not seen counts as one that does. */
static uint8_t is_verbose(const uint8_t *p, size_t n, int cut)
{
	static const char name[] = "\"verbose\"";
	const size_t sz = sizeof(name) - 1;
	size_t i = 0;

	while (i + sz <= n && memcmp(p + i, name, sz) != 0)
		i++;
	if (i + sz > n)
		return !cut;
	for (i += sz; i < n && (p[i] == ' ' || p[i] == ':'); i++)
		;
	return i < n && p[i] == 't';
}

/* The object has names and passwords: nothing of it is shown. */
static void connect(struct sinsp_conn *c, const struct line *l, const uint8_t *p, size_t n)
{
	struct nats *st = req_state(c);

	st->verbose = is_verbose(p, n, st->in_line[REQ_CLIENT]);
	begin(c, l, 0);
}

static void ping(struct sinsp_conn *c, const struct line *l)
{
	struct request *r = begin(c, l, 0);

	if (!r)
		return;
	r->kind = REQ_KIND_REQUEST;
	r->ends_with = 0;
	r->mark = MARK_PING;
}

static int take_client(struct sinsp_conn *c, const struct line *l, const uint8_t *p, size_t text,
		       size_t len)
{
	if (!l->n) {
		req_continue(c, NULL);
		return (int)len;
	}
	if (is(l, "PUB") || is(l, "HPUB"))
		return publish(c, l, len);
	if (is(l, "CONNECT"))
		connect(c, l, p, text);
	else if (is(l, "SUB"))
		begin(c, l, 1);
	else if (is(l, "UNSUB"))
		begin(c, l, 0);
	else if (is(l, "PING"))
		ping(c, l);
	else if (is(l, "PONG")) /* answers the server */
		req_continue(c, NULL);
	else
		return REQ_LOST;
	return (int)len;
}

/* ---- the server ---- */

static struct request *first_marked(struct sinsp_conn *c, uint8_t mark)
{
	struct request *r = req_first(c);

	while (r && !(r->mark & mark))
		r = req_next(r);
	return r;
}

static struct request *waiting_for(struct sinsp_conn *c, const char *subject, size_t n)
{
	const uint64_t id = inbox_id(c, subject, n);
	struct request *r = req_first(c);

	while (r && !(r->mark & MARK_REPLY && r->id == id))
		r = req_next(r);
	return r;
}

/* Without a subscriber the reply has no payload, and this header. */
static int is_no_responders(const uint8_t *p, size_t n)
{
	static const char header[] = "NATS/1.0 503";

	return n >= sizeof(header) - 1 && !memcmp(p, header, sizeof(header) - 1);
}

/* MSG subject sid [inbox] size, HMSG subject sid [inbox] headers size: of a subscription, or the
 * reply to a request. */
static int deliver(struct sinsp_conn *c, const struct line *l, const uint8_t *p, size_t n,
		   size_t len, unsigned int flags)
{
	const int has_headers = is(l, "HMSG");
	struct request *r;
	uint64_t sz;

	if (l->n < (has_headers ? 5u : 4u) || !number(l, l->n - 1, &sz))
		return REQ_LOST;
	if (has_headers && n - len < 12 && sz >= 12 && !(flags & REQ_F_CUT))
		return REQ_MORE;
	r = waiting_for(c, l->word[1], l->len[1]);
	if (r) {
		req_answer(c, r);
		if (has_headers && is_no_responders(p + len, n - len)) {
			req_set_status(r, 503);
			req_set_string(r, REQ_ERROR, "503");
			req_set_string(r, REQ_ERROR_TEXT, "no responders");
		}
	} else {
		r = req_push(c);
		if (r)
			req_set_upper(r, REQ_METHOD, l->word[0], l->len[0]);
		if (r)
			req_set_text(r, REQ_RESOURCE, l->word[1], l->len[1]);
	}
	req_skip(c, REQ_SERVER, sz + 2);
	req_end(c, r, REQ_SERVER);
	return (int)len;
}

/* -ERR 'text' is of the oldest line that waits for an answer; of a connection that is not verbose
 * nothing shows which line it is about. */
static void error(struct sinsp_conn *c, const uint8_t *p, size_t n)
{
	struct request *r = first_marked(c, MARK_ACK);

	req_answer(c, r);
	if (!r) {
		r = req_push(c);
		if (r)
			req_set_string(r, REQ_METHOD, "-ERR");
	}
	if (!r)
		return;
	req_set_string(r, REQ_ERROR, "ERR");
	if (n > 5)
		req_set_text(r, REQ_ERROR_TEXT, p + 5, n - 5);
	req_end(c, r, REQ_SERVER);
}

static int answer(struct sinsp_conn *c, uint8_t mark, size_t len)
{
	struct request *r = first_marked(c, mark);

	if (r && r->mark & MARK_REPLY) { /* the reply follows */
		r->mark = MARK_REPLY;
		req_answer_early(c, r);
		return (int)len;
	}
	req_answer(c, r);
	req_end(c, r, REQ_SERVER);
	return (int)len;
}

static int take_server(struct sinsp_conn *c, const struct line *l, const uint8_t *p, size_t n,
		       size_t text, size_t len, unsigned int flags)
{
	if (is(l, "MSG") || is(l, "HMSG"))
		return deliver(c, l, p, n, len, flags);
	if (is(l, "PONG"))
		return answer(c, MARK_PING, len);
	if (is(l, "+OK"))
		return answer(c, MARK_ACK, len);
	if (is(l, "-ERR"))
		error(c, p, text);
	else if (!l->n || is(l, "INFO") || is(l, "PING"))
		req_answer(c, NULL);
	else
		return REQ_LOST;
	return (int)len;
}

/* ---- lines ---- */

/* Consumes what is here of a line whose rest does not matter. */
static int skip_line(struct nats *st, enum req_from from, const uint8_t *p, size_t n)
{
	const uint8_t *nl = memchr(p, '\n', n);

	st->in_line[from] = !nl;
	return nl ? (int)(nl + 1 - p) : (int)n;
}

static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	struct nats *st = req_state(c);
	struct line l;
	size_t len = n;
	int text;

	if (flags & REQ_F_SEARCH)
		st->in_line[from] = 0;
	if (st->in_line[from])
		return skip_line(st, from, p, n);
	text = wire_line(p, n, &len);
	if (text < 0 && n < LINE_MAX_SZ && !(flags & REQ_F_CUT))
		return REQ_MORE;
	split(&l, p, text < 0 ? n : (size_t)text);
	if (text < 0 && !(from == REQ_CLIENT ? is(&l, "CONNECT") : is(&l, "INFO")))
		return REQ_LOST;
	if (text < 0) {
		st->in_line[from] = 1;
		text = (int)n;
	}
	if (from == REQ_CLIENT)
		return take_client(c, &l, p, (size_t)text, len);
	return take_server(c, &l, p, n, (size_t)text, len, flags);
}

/* Which lines the next answers belong to is unknown. */
static void lost(struct sinsp_conn *c, enum req_from from)
{
	(void)from;
	for (struct request *r = req_first(c), *next; r; r = next) {
		next = req_next(r);
		r->truncated = 1;
		if (!(r->mark & (MARK_ACK | MARK_PING)))
			continue;
		req_set_string(r, REQ_ERROR, "lost");
		req_end_now(c, r);
	}
}

static const uint16_t ports[] = {4222, 0};

const struct req_protocol req_nats = {
	.name = "nats",
	.ports = ports,
	.state_sz = sizeof(struct nats),
	.streams = 1,
	.open_max = REQ_SEARCHED_MAX,
	.match = match,
	.parse = parse,
	.lost = lost,
};
