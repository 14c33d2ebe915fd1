/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AMQP 0-9-1 (its specification, and "AMQP 0-9-1 Complete Reference" of RabbitMQ). Methods of a
 * channel are answered in their order. A publication is one-way, or ends with the confirmation of
 * its number if the channel has confirmations. Content follows its method in frames of its own,
 * which are counted and skipped.
 */
#include <string.h>

#include "protocol.h"
#include "trace_ids.h"
#include "wire.h"

enum {
	HEADER_SZ = 7, /* of a frame */
	FRAME_END = 0xce,
	FRAME_MAX = 16 << 20, /* brokers allow 128 KiB, unless configured otherwise */
	KEPT_MAX = 2048, /* bytes of a frame that are waited for */
	CHANNELS_MAX = 64,
	OPEN_MAX = 1024, /* clients wait for hundreds of confirmations at once */
	FRAME_METHOD = 1,
	FRAME_CONTENT = 2,
	FRAME_BODY = 3,
	FRAME_HEARTBEAT = 8,
};

/* Of a request. */
enum {
	MARK_WAITS = 1, /* for the method that answers it */
	MARK_CONFIRM = 2, /* for the confirmation of its number */
	MARK_CONTENT =
		4, /* its content from the client is not complete; shifted by enum req_from */
};

struct channel {
	uint64_t rest[2]; /* of the content's body, by enum req_from */
	uint64_t published; /* number of the last publication */
	uint16_t number;
	uint8_t used;
	uint8_t in_content[2]; /* a content header or its body follows */
	uint8_t confirms;
	uint8_t uncounted; /* publications were lost: the numbers of others are unknown */
};

struct amqp {
	struct channel channels[CHANNELS_MAX];
	uint32_t next; /* the one that is forgotten for lack of room */
};

#define METHOD(class, number) ((uint32_t)(class) << 16 | (number))

enum {
	HANDSHAKE = METHOD(10, 1), /* no method: what the client sends before connection.tune */
	CONNECTION_START_OK = METHOD(10, 11),
	CONNECTION_SECURE_OK = METHOD(10, 21),
	CONNECTION_CLOSE = METHOD(10, 50),
	CONNECTION_CLOSE_OK = METHOD(10, 51),
	CHANNEL_OPEN = METHOD(20, 10),
	CHANNEL_CLOSE = METHOD(20, 40),
	CHANNEL_CLOSE_OK = METHOD(20, 41),
	QUEUE_DECLARE_OK = METHOD(50, 11),
	PUBLISH = METHOD(60, 40),
	RETURN = METHOD(60, 50),
	DELIVER = METHOD(60, 60),
	GET = METHOD(60, 70),
	GET_OK = METHOD(60, 71),
	ACK = METHOD(60, 80),
	NACK = METHOD(60, 120),
	CONFIRM_SELECT = METHOD(85, 10),
};

enum { FROM_C = 1, FROM_S = 2, ANSWERED = 4, REPLY_C = 8 };

/* The strings of a method begin behind @skip bytes; @resource: which of them it is, from 1
 * on. @no_wait: the bit behind @strings of them, from 1 on. */
static const struct method {
	uint32_t id;
	uint32_t answers; /* the request that it ends */
	const char *name;
	uint8_t flags;
	uint8_t skip, strings, resource, no_wait;
} methods[] = {
	{METHOD(10, 10), HANDSHAKE, "connection.start", FROM_S, 0, 0, 0, 0},
	{CONNECTION_START_OK, 0, "connection.start-ok", FROM_C | ANSWERED, 0, 0, 0, 0},
	{METHOD(10, 20), HANDSHAKE, "connection.secure", FROM_S, 0, 0, 0, 0},
	{CONNECTION_SECURE_OK, 0, "connection.secure-ok", FROM_C | ANSWERED, 0, 0, 0, 0},
	{METHOD(10, 30), HANDSHAKE, "connection.tune", FROM_S, 0, 0, 0, 0},
	{METHOD(10, 31), 0, "connection.tune-ok", FROM_C, 0, 0, 0, 0},
	{METHOD(10, 40), 0, "connection.open", FROM_C | ANSWERED, 0, 1, 1, 0},
	{METHOD(10, 41), METHOD(10, 40), "connection.open-ok", FROM_S, 0, 0, 0, 0},
	{CONNECTION_CLOSE, 0, "connection.close", FROM_C | FROM_S | ANSWERED, 0, 0, 0, 0},
	{CONNECTION_CLOSE_OK, CONNECTION_CLOSE, "connection.close-ok", FROM_C | FROM_S | REPLY_C, 0,
	 0, 0, 0},
	{METHOD(10, 60), 0, "connection.blocked", FROM_S, 0, 0, 0, 0},
	{METHOD(10, 61), 0, "connection.unblocked", FROM_S, 0, 0, 0, 0},
	{METHOD(10, 70), 0, "connection.update-secret", FROM_C | ANSWERED, 0, 0, 0, 0},
	{METHOD(10, 71), METHOD(10, 70), "connection.update-secret-ok", FROM_S, 0, 0, 0, 0},
	{CHANNEL_OPEN, 0, "channel.open", FROM_C | ANSWERED, 0, 0, 0, 0},
	{METHOD(20, 11), CHANNEL_OPEN, "channel.open-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(20, 20), 0, "channel.flow", FROM_C | FROM_S | ANSWERED, 0, 0, 0, 0},
	{METHOD(20, 21), METHOD(20, 20), "channel.flow-ok", FROM_C | FROM_S | REPLY_C, 0, 0, 0, 0},
	{CHANNEL_CLOSE, 0, "channel.close", FROM_C | FROM_S | ANSWERED, 0, 0, 0, 0},
	{CHANNEL_CLOSE_OK, CHANNEL_CLOSE, "channel.close-ok", FROM_C | FROM_S | REPLY_C, 0, 0, 0,
	 0},
	{METHOD(40, 10), 0, "exchange.declare", FROM_C | ANSWERED, 2, 2, 1, 5},
	{METHOD(40, 11), METHOD(40, 10), "exchange.declare-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(40, 20), 0, "exchange.delete", FROM_C | ANSWERED, 2, 1, 1, 2},
	{METHOD(40, 21), METHOD(40, 20), "exchange.delete-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(40, 30), 0, "exchange.bind", FROM_C | ANSWERED, 2, 3, 1, 1},
	{METHOD(40, 31), METHOD(40, 30), "exchange.bind-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(40, 40), 0, "exchange.unbind", FROM_C | ANSWERED, 2, 3, 1, 1},
	{METHOD(40, 51), METHOD(40, 40), "exchange.unbind-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(50, 10), 0, "queue.declare", FROM_C | ANSWERED, 2, 1, 1, 5},
	{QUEUE_DECLARE_OK, METHOD(50, 10), "queue.declare-ok", FROM_S, 0, 1, 1, 0},
	{METHOD(50, 20), 0, "queue.bind", FROM_C | ANSWERED, 2, 3, 1, 1},
	{METHOD(50, 21), METHOD(50, 20), "queue.bind-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(50, 30), 0, "queue.purge", FROM_C | ANSWERED, 2, 1, 1, 1},
	{METHOD(50, 31), METHOD(50, 30), "queue.purge-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(50, 40), 0, "queue.delete", FROM_C | ANSWERED, 2, 1, 1, 3},
	{METHOD(50, 41), METHOD(50, 40), "queue.delete-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(50, 50), 0, "queue.unbind", FROM_C | ANSWERED, 2, 3, 1, 0},
	{METHOD(50, 51), METHOD(50, 50), "queue.unbind-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(60, 10), 0, "basic.qos", FROM_C | ANSWERED, 0, 0, 0, 0},
	{METHOD(60, 11), METHOD(60, 10), "basic.qos-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(60, 20), 0, "basic.consume", FROM_C | ANSWERED, 2, 2, 1, 4},
	{METHOD(60, 21), METHOD(60, 20), "basic.consume-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(60, 30), 0, "basic.cancel", FROM_C | FROM_S | ANSWERED, 0, 1, 1, 1},
	{METHOD(60, 31), METHOD(60, 30), "basic.cancel-ok", FROM_C | FROM_S | REPLY_C, 0, 0, 0, 0},
	{PUBLISH, 0, "basic.publish", FROM_C, 2, 2, 0, 0},
	{RETURN, 0, "basic.return", FROM_S, 2, 3, 0, 0},
	{DELIVER, 0, "basic.deliver", FROM_S, 0, 0, 0, 0},
	{GET, 0, "basic.get", FROM_C | ANSWERED, 2, 1, 1, 0},
	{GET_OK, GET, "basic.get-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(60, 72), GET, "basic.get-empty", FROM_S, 0, 0, 0, 0},
	{ACK, 0, "basic.ack", FROM_C | FROM_S, 0, 0, 0, 0},
	{METHOD(60, 90), 0, "basic.reject", FROM_C, 0, 0, 0, 0},
	{METHOD(60, 100), 0, "basic.recover-async", FROM_C, 0, 0, 0, 0},
	{METHOD(60, 110), 0, "basic.recover", FROM_C | ANSWERED, 0, 0, 0, 0},
	{METHOD(60, 111), METHOD(60, 110), "basic.recover-ok", FROM_S, 0, 0, 0, 0},
	{NACK, 0, "basic.nack", FROM_C | FROM_S, 0, 0, 0, 0},
	{CONFIRM_SELECT, 0, "confirm.select", FROM_C | ANSWERED, 0, 0, 0, 1},
	{METHOD(85, 11), CONFIRM_SELECT, "confirm.select-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(90, 10), 0, "tx.select", FROM_C | ANSWERED, 0, 0, 0, 0},
	{METHOD(90, 11), METHOD(90, 10), "tx.select-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(90, 20), 0, "tx.commit", FROM_C | ANSWERED, 0, 0, 0, 0},
	{METHOD(90, 21), METHOD(90, 20), "tx.commit-ok", FROM_S, 0, 0, 0, 0},
	{METHOD(90, 30), 0, "tx.rollback", FROM_C | ANSWERED, 0, 0, 0, 0},
	{METHOD(90, 31), METHOD(90, 30), "tx.rollback-ok", FROM_S, 0, 0, 0, 0},
};

static const struct method *method_of(uint32_t id)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (methods[i].id == id)
			return &methods[i];
	return NULL;
}

/* ---- reading ---- */

struct text {
	const uint8_t *p;
	size_t n;
};

static uint64_t take64(struct wire_reader *f)
{
	const uint64_t high = wire_take_be32(f);

	return high << 32 | wire_take_be32(f);
}

static struct text take_text(struct wire_reader *f)
{
	const size_t n = wire_take8(f);
	const uint8_t *p = wire_take(f, n);

	return (struct text){p, p ? n : 0};
}

static void set_text(struct request *r, enum req_text which, const struct text *t)
{
	if (t->n)
		req_set_text(r, which, t->p, t->n);
}

/* Reads exchange and routing key. With the exchange without a name the key is a queue. */
static void take_route(struct wire_reader *f, struct request *r)
{
	const struct text exchange = take_text(f), key = take_text(f);

	if (f->is_short)
		return;
	set_text(r, REQ_RESOURCE, exchange.n ? &exchange : &key);
	if (!exchange.n || !key.n)
		return;
	req_add_text(r, REQ_RESOURCE, "/", 1);
	req_add_text(r, REQ_RESOURCE, key.p, key.n);
}

/* Returns the size of a value in a table, without what the value itself says; -1: unknown type. */
static int value_size(uint8_t type)
{
	static const char types[] = "V0t1b1B1s2u2I4i4f4S4x4F4A4D5l8L8d8T8";

	for (const char *t = types; *t; t += 2)
		if ((uint8_t)*t == type)
			return t[1] - '0';
	return -1;
}

static int has_length(uint8_t type)
{
	return type == 'S' || type == 'x' || type == 'F' || type == 'A';
}

/* Reads the headers of a content: those of traces matter. */
static void take_headers(struct wire_reader *f, struct request *r)
{
	const uint32_t sz = wire_take_be32(f);
	struct wire_reader t = {f->p, sz < f->n ? sz : f->n, f->is_short};

	while (t.n && !t.is_short) {
		const struct text name = take_text(&t);
		const uint8_t type = (uint8_t)wire_take8(&t);
		const int n = value_size(type);
		const uint8_t *value;
		uint32_t len;

		if (n < 0)
			return;
		if (!has_length(type)) {
			wire_take(&t, (size_t)n);
			continue;
		}
		len = wire_take_be32(&t);
		value = wire_take(&t, len);
		if (value && name.n && (type == 'S' || type == 'x'))
			req_trace_header(r, (const char *)name.p, name.n, (const char *)value, len);
	}
}

/* ---- recognition ---- */

static const uint8_t protocol_header[8] = {'A', 'M', 'Q', 'P', 0, 0, 9, 1};

static int is_frame_header(const uint8_t *p)
{
	const uint32_t sz = wire_be32(p + 3);

	if (p[0] == FRAME_HEARTBEAT)
		return !sz && !wire_be16(p + 1);
	if (p[0] < FRAME_METHOD || p[0] > FRAME_BODY || sz > FRAME_MAX)
		return 0;
	return p[0] == FRAME_BODY || sz >= (p[0] == FRAME_METHOD ? 4 : 14);
}

/* Returns the method of the frame; NULL: it is none, or not here. */
static const struct method *frame_method(const uint8_t *p, size_t n)
{
	const struct method *m = NULL;

	if (n >= HEADER_SZ + 4 && p[0] == FRAME_METHOD)
		m = method_of(wire_be32(p + HEADER_SZ));
	if (m && (m->id >> 16 == 10) != !wire_be16(p + 1)) /* channel 0 is the connection's */
		m = NULL;
	return m;
}

/* Returns who sent the frame; 0: it is none of a known method. */
static int frame_senders(const uint8_t *p, size_t n)
{
	const struct method *m = frame_method(p, n);

	if (p[0] == FRAME_HEARTBEAT)
		return FROM_C | FROM_S;
	return m ? m->flags & (FROM_C | FROM_S) : 0;
}

static enum req_match match_frame(const struct req_look *l)
{
	const size_t sz = (size_t)wire_be32(l->p + 3) + HEADER_SZ + 1;
	int from = frame_senders(l->p, l->n);

	if (l->n < sz && l->n < REQ_MATCH_MAX && !l->cut)
		return l->by_port ? REQ_MAYBE : REQ_NO;
	if (l->n >= sz ? l->p[sz - 1] != FRAME_END : !l->by_port)
		return REQ_NO;
	if (l->from != REQ_UNKNOWN)
		from &= l->from == REQ_CLIENT ? FROM_C : FROM_S;
	if (from == FROM_C)
		return REQ_IS_REQUEST;
	return from == FROM_S ? REQ_IS_RESPONSE : REQ_NO;
}

static enum req_match match(const struct req_look *l)
{
	const size_t n = l->n < sizeof(protocol_header) ? l->n : sizeof(protocol_header);

	if (!memcmp(l->p, protocol_header, n)) {
		if (l->from == REQ_SERVER)
			return REQ_NO;
		if (n < sizeof(protocol_header))
			return l->cut ? REQ_NO : REQ_MAYBE;
		return REQ_IS_REQUEST;
	}
	if (l->p[0] != FRAME_METHOD && l->p[0] != FRAME_HEARTBEAT)
		return REQ_NO;
	if (l->n < HEADER_SZ)
		return l->by_port && !l->cut ? REQ_MAYBE : REQ_NO;
	return is_frame_header(l->p) ? match_frame(l) : REQ_NO;
}

/* ---- requests of a channel ---- */

static int is_in_content(const struct request *r, enum req_from from)
{
	return r->mark & MARK_CONTENT << from;
}

static struct request *content_request(struct sinsp_conn *c, enum req_from from, uint16_t channel)
{
	struct request *r = req_message(c, from);

	if (r && r->stream == channel && is_in_content(r, from))
		return r;
	r = req_last(c);
	while (r && !(r->stream == channel && is_in_content(r, from)))
		r = r->prev;
	return r;
}

static struct channel *channel_of(struct amqp *st, uint16_t number)
{
	for (size_t i = 0; i < CHANNELS_MAX; i++)
		if (st->channels[i].used && st->channels[i].number == number)
			return &st->channels[i];
	return NULL;
}

/* Ends the request whose content cannot be followed any more. One that waits for a confirmation
 * may still get it. */
static void drop_content(struct sinsp_conn *c, struct channel *ch, enum req_from from)
{
	struct request *r = ch->in_content[from] ? content_request(c, from, ch->number) : NULL;

	ch->in_content[from] = 0;
	if (!r)
		return;
	r->truncated = 1;
	r->mark &= (uint8_t) ~(MARK_CONTENT << from);
	if (r->mark & MARK_CONFIRM)
		return;
	if (r->kind != REQ_KIND_ONEWAY)
		req_set_string(r, REQ_ERROR, "lost");
	req_end_now(c, r);
}

static void forget_channel(struct sinsp_conn *c, struct channel *ch)
{
	drop_content(c, ch, REQ_CLIENT);
	drop_content(c, ch, REQ_SERVER);
	ch->used = 0;
}

/* Returns the channel, which may be a new one. */
static struct channel *use_channel(struct sinsp_conn *c, uint16_t number)
{
	struct amqp *st = req_state(c);
	struct channel *ch = channel_of(st, number);

	for (size_t i = 0; !ch && i < CHANNELS_MAX; i++)
		if (!st->channels[i].used)
			ch = &st->channels[i];
	if (!ch) {
		ch = &st->channels[st->next++ % CHANNELS_MAX];
		forget_channel(c, ch);
	}
	if (!ch->used)
		*ch = (struct channel){.number = number, .used = 1};
	return ch;
}

static void begin_content(struct channel *ch, enum req_from from, struct request *r)
{
	ch->in_content[from] = 1;
	ch->rest[from] = UINT64_MAX; /* the size follows */
	if (r)
		r->mark |= (uint8_t)(MARK_CONTENT << from);
}

/* Ends what is open on the channel, or on all of them, but @but. */
static void close_requests(struct sinsp_conn *c, int all, uint16_t channel,
			   const struct request *but)
{
	struct amqp *st = req_state(c);
	struct channel *ch = channel_of(st, channel);

	for (struct request *r = req_first(c), *next; r; r = next) {
		next = req_next(r);
		if (r == but || (!all && r->stream != channel))
			continue;
		if (r->kind != REQ_KIND_ONEWAY)
			req_set_string(r, REQ_ERROR, "closed");
		else
			r->truncated = 1; /* its content is not complete */
		req_end_now(c, r);
	}
	if (all)
		memset(st, 0, sizeof(*st));
	else if (ch)
		ch->used = 0;
}

/* ---- methods of the client ---- */

/* Reads resource and no-wait, as the table says where they are. */
static void read_method(const struct method *m, struct wire_reader *f, struct request *r)
{
	wire_take(f, m->skip);
	for (unsigned int i = 1; i <= m->strings; i++) {
		const struct text t = take_text(f);

		if (i == m->resource)
			set_text(r, REQ_RESOURCE, &t);
	}
	if (m->no_wait && wire_take8(f) >> (m->no_wait - 1) & 1)
		r->kind = REQ_KIND_ONEWAY;
}

static void publish(struct sinsp_conn *c, uint16_t channel, struct wire_reader *f,
		    struct request *r)
{
	struct channel *ch = use_channel(c, channel);

	ch->published++;
	if (r) {
		wire_take_be16(f);
		take_route(f, r);
		r->kind = REQ_KIND_ONEWAY;
		r->mark = 0;
		if (ch->confirms && !ch->uncounted) {
			r->kind = REQ_KIND_REQUEST;
			r->mark = MARK_CONFIRM;
			r->id = ch->published;
		}
		r->truncated = f->is_short || (ch->confirms && ch->uncounted);
	}
	begin_content(ch, REQ_CLIENT, r);
}

static void select_confirms(struct sinsp_conn *c, uint16_t channel)
{
	struct channel *ch = use_channel(c, channel);

	if (ch->confirms)
		return;
	ch->confirms = 1;
	ch->uncounted = 0;
	ch->published = 0;
}

static struct request *begin(struct sinsp_conn *c, const char *name, uint16_t channel, uint32_t id)
{
	struct request *r = req_begin(c);

	if (!r)
		return NULL;
	req_set_string(r, REQ_METHOD, name);
	req_set_stream(r, channel);
	r->id = id;
	r->mark = MARK_WAITS;
	return r;
}

static void client_method(struct sinsp_conn *c, const struct method *m, uint16_t channel,
			  struct wire_reader *f)
{
	const int handshake = m->id == CONNECTION_START_OK || m->id == CONNECTION_SECURE_OK;
	struct channel *ch = channel_of(req_state(c), channel);
	struct request *r;

	if (ch)
		drop_content(c, ch, REQ_CLIENT);
	if (m->flags & REPLY_C) { /* answers the server */
		req_continue(c, NULL);
		return;
	}
	if (ch && m->id == CHANNEL_OPEN)
		forget_channel(c, ch);
	if (m->id == CONFIRM_SELECT)
		select_confirms(c, channel);
	r = begin(c, m->name, channel, handshake ? HANDSHAKE : m->id);
	if (m->id == PUBLISH) {
		publish(c, channel, f, r);
		return;
	}
	if (!r)
		return;
	read_method(m, f, r);
	r->truncated = (uint8_t)f->is_short;
	if (!(m->flags & ANSWERED))
		r->kind = REQ_KIND_ONEWAY;
	if (r->kind == REQ_KIND_ONEWAY) {
		r->mark = 0;
		req_end(c, r, REQ_CLIENT);
	}
}

/* ---- methods of the server ---- */

static void set_code(struct request *r, uint32_t code, const struct text *t)
{
	static const struct {
		uint32_t code;
		const char *name;
	} names[] = {
		{311, "CONTENT_TOO_LARGE"}, {312, "NO_ROUTE"},         {313, "NO_CONSUMERS"},
		{320, "CONNECTION_FORCED"}, {402, "INVALID_PATH"},     {403, "ACCESS_REFUSED"},
		{404, "NOT_FOUND"},         {405, "RESOURCE_LOCKED"},  {406, "PRECONDITION_FAILED"},
		{501, "FRAME_ERROR"},       {502, "SYNTAX_ERROR"},     {503, "COMMAND_INVALID"},
		{504, "CHANNEL_ERROR"},     {505, "UNEXPECTED_FRAME"}, {506, "RESOURCE_ERROR"},
		{530, "NOT_ALLOWED"},       {540, "NOT_IMPLEMENTED"},  {541, "INTERNAL_ERROR"},
	};
	const char *name = "ERROR";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].code == code)
			name = names[i].name;
	req_set_status(r, code);
	if (code != 200)
		req_set_string(r, REQ_ERROR, name);
	set_text(r, REQ_ERROR_TEXT, t);
}

/* Returns the oldest request of the channel that waits for an answer to the method. */
static struct request *waiting(struct sinsp_conn *c, uint16_t channel, uint32_t id)
{
	struct request *r = req_first(c);

	while (r && !(r->mark & MARK_WAITS && r->stream == channel && r->id == id))
		r = req_next(r);
	return r;
}

static struct request *push(struct sinsp_conn *c, const struct method *m, uint16_t channel)
{
	struct request *r = req_push(c);

	if (!r)
		return NULL;
	req_set_string(r, REQ_METHOD, m->name);
	req_set_stream(r, channel);
	return r;
}

/* Returns the request that the server ends by closing: the oldest of the method on the channel, or
 * if the connection is closed on any. Of several open publications nothing shows which it is. */
static struct request *closed_by(struct sinsp_conn *c, int all, uint16_t channel, uint32_t id)
{
	struct request *found = NULL;

	for (struct request *r = req_first(c); r; r = req_next(r)) {
		if (!all && r->stream != channel)
			continue;
		if (r->mark & MARK_WAITS && r->id == id)
			return r;
		if (!(r->mark & MARK_CONFIRM) || id != PUBLISH)
			continue;
		if (found)
			return NULL;
		found = r;
	}
	return found;
}

/* connection.close, channel.close: code, text, and the method that failed. */
static void server_close(struct sinsp_conn *c, const struct method *m, uint16_t channel,
			 struct wire_reader *f)
{
	const int all = m->id == CONNECTION_CLOSE;
	const uint32_t code = wire_take_be16(f);
	const struct text text = take_text(f);
	uint32_t id = wire_take_be32(f);
	struct request *r;

	if (id == CONNECTION_START_OK || id == CONNECTION_SECURE_OK)
		id = HANDSHAKE;
	r = f->is_short ? NULL : closed_by(c, all, channel, id);
	req_answer(c, r);
	if (!r)
		r = push(c, m, channel);
	close_requests(c, all, channel, r);
	if (!r)
		return;
	r->truncated |= (uint8_t)f->is_short;
	if (!f->is_short || text.n)
		set_code(r, code, &text);
	req_end(c, r, REQ_SERVER);
}

static int is_confirmed(const struct request *r, uint16_t channel, uint64_t tag, int multiple)
{
	if (!(r->mark & MARK_CONFIRM) || r->stream != channel)
		return 0;
	return r->id == tag || (multiple && (!tag || r->id < tag));
}

/* basic.ack, basic.nack: the confirmation of one publication, or of all up to it. Its bytes belong
 * to the last of them. */
static void confirm(struct sinsp_conn *c, const struct method *m, uint16_t channel,
		    struct wire_reader *f)
{
	const uint64_t tag = take64(f);
	const int multiple = wire_take8(f) & 1;
	struct request *last = NULL;

	req_answer(c, NULL);
	if (f->is_short)
		return;
	for (struct request *r = req_first(c), *next; r; r = next) {
		next = req_next(r);
		if (!is_confirmed(r, channel, tag, multiple))
			continue;
		if (last)
			req_end_now(c, last);
		last = r;
		req_answer(c, r);
		if (m->id == NACK)
			req_set_string(r, REQ_ERROR, "nack");
		if (!multiple)
			break;
	}
	req_end(c, last, REQ_SERVER);
}

/* basic.deliver, basic.return: messages without a request. */
static void message(struct sinsp_conn *c, const struct method *m, uint16_t channel,
		    struct wire_reader *f)
{
	struct request *r = push(c, m, channel);
	struct text text = {0};
	uint32_t code = 0;

	begin_content(use_channel(c, channel), REQ_SERVER, r);
	if (!r)
		return;
	if (m->id == RETURN)
		code = wire_take_be16(f);
	text = take_text(f);
	if (m->id == DELIVER)
		wire_take(f, 9); /* number, redelivered */
	take_route(f, r);
	r->truncated = (uint8_t)f->is_short;
	if (m->id == DELIVER)
		set_text(r, REQ_STATEMENT, &text); /* the consumer's tag */
	else if (code)
		set_code(r, code, &text);
}

static void answer(struct sinsp_conn *c, const struct method *m, uint16_t channel,
		   struct wire_reader *f)
{
	struct request *r = waiting(c, channel, m->answers);

	req_answer(c, r);
	if (m->id == GET_OK) {
		begin_content(use_channel(c, channel), REQ_SERVER, r);
		return;
	}
	if (r && m->id == QUEUE_DECLARE_OK)
		read_method(m, f, r); /* the server may have named it */
	req_end(c, r, REQ_SERVER);
	if (m->id == CHANNEL_CLOSE_OK || m->id == CONNECTION_CLOSE_OK)
		close_requests(c, m->id == CONNECTION_CLOSE_OK, channel, r);
}

static void server_method(struct sinsp_conn *c, const struct method *m, uint16_t channel,
			  struct wire_reader *f)
{
	struct channel *ch = channel_of(req_state(c), channel);
	struct request *r;

	if (ch)
		drop_content(c, ch, REQ_SERVER);
	if (m->answers) {
		answer(c, m, channel, f);
	} else if (m->id == CHANNEL_CLOSE || m->id == CONNECTION_CLOSE) {
		server_close(c, m, channel, f);
	} else if (m->id == ACK || m->id == NACK) {
		confirm(c, m, channel, f);
	} else if (m->id == DELIVER || m->id == RETURN) {
		message(c, m, channel, f);
	} else {
		r = push(c, m, channel);
		if (!r)
			return;
		read_method(m, f, r);
		r->kind = REQ_KIND_ONEWAY;
		r->truncated = (uint8_t)f->is_short;
		req_end(c, r, REQ_SERVER);
	}
}

/* ---- content ---- */

static void end_content(struct sinsp_conn *c, struct channel *ch, enum req_from from,
			struct request *r)
{
	ch->in_content[from] = 0;
	if (!r)
		return;
	r->mark &= (uint8_t) ~(MARK_CONTENT << from);
	if (!(r->mark & MARK_CONFIRM))
		req_end(c, r, from);
}

/* A content header has the size of the body, and properties: type, encoding, headers, ... */
static void content(struct sinsp_conn *c, enum req_from from, struct channel *ch, struct request *r,
		    struct wire_reader *f)
{
	uint64_t rest;
	uint32_t has;

	wire_take_be32(f);
	rest = take64(f);
	if (f->is_short) { /* the end is unknown */
		if (r)
			r->truncated = 1;
		return;
	}
	ch->rest[from] = rest;
	has = wire_take_be16(f);
	if (has & 1u << 15)
		take_text(f);
	if (has & 1u << 14)
		take_text(f);
	if (r && has & 1u << 13)
		take_headers(f, r);
	if (!rest)
		end_content(c, ch, from, r);
}

/* A frame of a content whose method was not seen belongs to none. */
static void content_frame(struct sinsp_conn *c, enum req_from from, const uint8_t *p,
			  struct wire_reader *f)
{
	const uint16_t number = (uint16_t)wire_be16(p + 1);
	struct channel *ch = channel_of(req_state(c), number);
	struct request *r = NULL;
	const uint32_t sz = wire_be32(p + 3);

	if (ch && ch->in_content[from])
		r = content_request(c, from, number);
	req_belong(c, from, r);
	if (!ch || !ch->in_content[from])
		return;
	if (p[0] == FRAME_CONTENT) {
		content(c, from, ch, r, f);
		return;
	}
	if (ch->rest[from] == UINT64_MAX) /* unknown: up to the next method */
		return;
	ch->rest[from] -= sz < ch->rest[from] ? sz : ch->rest[from];
	if (!ch->rest[from])
		end_content(c, ch, from, r);
}

/* ---- frames ---- */

/* The client's header is a request, which connection.start answers; the server sends one to refuse
 * another version. */
static int parse_header(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
			unsigned int flags)
{
	const size_t sz = sizeof(protocol_header);
	struct request *r;

	if (memcmp(p, protocol_header, n < 4 ? n : 4) != 0)
		return REQ_LOST;
	if (n < sz)
		return flags & REQ_F_CUT ? REQ_LOST : REQ_MORE;
	if (from == REQ_CLIENT) {
		if (memcmp(p, protocol_header, sz) != 0)
			return REQ_LOST;
		begin(c, "connection.start", 0, HANDSHAKE);
		return (int)sz;
	}
	r = waiting(c, 0, HANDSHAKE);
	req_answer(c, r);
	if (r)
		req_set_string(r, REQ_ERROR, "version");
	req_end(c, r, REQ_SERVER);
	return (int)sz;
}

static int parse_frame(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n)
{
	const size_t sz = (size_t)wire_be32(p + 3) + HEADER_SZ + 1;
	const size_t here = n < sz ? n : sz;
	struct wire_reader f = {p + HEADER_SZ, (here < sz ? here : sz - 1) - HEADER_SZ, 0};
	const struct method *m;

	if (p[0] == FRAME_METHOD) {
		m = frame_method(p, here);
		if (!m || !(m->flags & (from == REQ_CLIENT ? FROM_C : FROM_S)))
			return REQ_LOST;
		wire_take(&f, 4);
		if (from == REQ_CLIENT)
			client_method(c, m, (uint16_t)wire_be16(p + 1), &f);
		else
			server_method(c, m, (uint16_t)wire_be16(p + 1), &f);
	} else if (p[0] == FRAME_HEARTBEAT) {
		req_belong(c, from, NULL);
	} else {
		content_frame(c, from, p, &f);
	}
	req_skip(c, from, sz - here);
	return (int)here;
}

static int parse_any(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		     unsigned int flags)
{
	size_t sz, need;

	if (p[0] == protocol_header[0])
		return parse_header(c, from, p, n, flags);
	if (n < HEADER_SZ)
		return flags & REQ_F_CUT ? REQ_LOST : REQ_MORE;
	if (!is_frame_header(p))
		return REQ_LOST;
	sz = (size_t)wire_be32(p + 3) + HEADER_SZ + 1;
	need = p[0] == FRAME_BODY ? HEADER_SZ : sz < KEPT_MAX ? sz : KEPT_MAX;
	if (n < need && !(flags & REQ_F_CUT))
		return REQ_MORE;
	if (n >= sz && p[sz - 1] != FRAME_END)
		return REQ_LOST;
	if (flags & REQ_F_SEARCH && n < sz && p[0] != FRAME_METHOD)
		return REQ_LOST;
	return parse_frame(c, from, p, n);
}

/* Bytes that are no frame belong to no request. */
static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	const int r = parse_any(c, from, p, n, flags);

	if (r == REQ_LOST)
		req_belong(c, from, NULL);
	return r;
}

/* The numbers of publications, and which requests were answered, are unknown from here on. */
static void lost(struct sinsp_conn *c, enum req_from from)
{
	struct amqp *st = req_state(c);

	for (size_t i = 0; i < CHANNELS_MAX; i++) {
		if (!st->channels[i].used)
			continue;
		drop_content(c, &st->channels[i], from);
		if (from == REQ_CLIENT)
			st->channels[i].uncounted = 1;
	}
	for (struct request *r = req_first(c), *next; r; r = next) {
		next = req_next(r);
		if (!(r->mark & (MARK_WAITS | MARK_CONFIRM)) || is_in_content(r, REQ_CLIENT))
			continue;
		r->truncated = 1;
		if (from == REQ_CLIENT && r->mark & MARK_CONFIRM) /* its number is known */
			continue;
		req_set_string(r, REQ_ERROR, "lost");
		req_end_now(c, r);
	}
}

static const uint16_t ports[] = {5672, 0};

const struct req_protocol req_amqp = {
	.name = "amqp",
	.ports = ports,
	.state_sz = sizeof(struct amqp),
	.streams = 1,
	.open_max = OPEN_MAX,
	.match = match,
	.parse = parse,
	.lost = lost,
};
