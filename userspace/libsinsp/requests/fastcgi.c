/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FastCGI 1.0. Records of several requests may alternate, each has a header with the number of its
 * request. Parameters and headers of the response run across records, so they are read as they
 * come, and only those that a request has; all else is skipped by its length.
 */
#include <string.h>
#include <strings.h>

#include "protocol.h"
#include "wire.h"

enum {
	HEADER_SZ = 8,
	VERSION = 1,
	T_BEGIN = 1,
	T_END = 3,
	T_PARAMS = 4,
	T_STDOUT = 6,
	T_STDERR = 7,
	T_VALUES = 10,
	T_UNKNOWN = 11,
	T_MAX = 11,
	N_READERS = 8, /* requests of a connection whose parameters and headers are read */
	NAME_KEPT = 24,
	LINE_KEPT = 64,
};

/* What comes next of the parameters. */
enum step { S_NAME_SIZE, S_VALUE_SIZE, S_NAME, S_VALUE, S_LOST };

/* Reads the streams of one request. */
struct reader {
	uint64_t id; /* of the request; 0: unused */
	uint32_t name_left, value_left;
	uint32_t size; /* what is known of one with four bytes */
	uint16_t n_name, n_line;
	uint8_t step, size_left; /* bytes of the size */
	uint8_t in_body; /* behind the headers of the response */
	uint8_t moved; /* the response has a Location */
	char name[NAME_KEPT], line[LINE_KEPT];
};

struct fastcgi {
	struct reader readers[N_READERS];
	uint32_t next; /* reader to use again */
	struct {
		uint64_t id; /* request of the record */
		uint32_t left; /* bytes of its content that are to be read */
		uint8_t type, padding;
	} records[2]; /* by enum req_from */
};

/* ---- recognition ---- */

static int is_header(const uint8_t *p)
{
	return p[0] == VERSION && p[1] && p[1] <= T_MAX && !p[7];
}

/* The record that begins a request, of a role, without unknown flags. Records of a response are
 * too short a sign without the port. */
static enum req_match match(const struct req_look *l)
{
	static const uint8_t begin[] = {VERSION, T_BEGIN};
	const size_t n = l->n < sizeof(begin) ? l->n : sizeof(begin);

	if (l->from != REQ_CLIENT && l->by_port && l->n >= HEADER_SZ && is_header(l->p) &&
	    (l->p[1] == T_STDOUT || l->p[1] == T_STDERR) && wire_be16(l->p + 2))
		return REQ_IS_RESPONSE;
	if (l->from == REQ_SERVER || memcmp(l->p, begin, n) != 0)
		return REQ_NO;
	if (l->n < 2 * HEADER_SZ)
		return l->cut ? REQ_NO : REQ_MAYBE;
	if (!is_header(l->p) || !wire_be16(l->p + 2) || wire_be16(l->p + 4) != HEADER_SZ)
		return REQ_NO;
	if (l->p[8] || !l->p[9] || l->p[9] > 3 || l->p[10] > 1 || memcmp(l->p + 11, "\0\0\0\0", 5))
		return REQ_NO;
	return REQ_IS_REQUEST;
}

/* ---- requests ---- */

static struct reader *reader_of(struct fastcgi *st, uint64_t id)
{
	for (int i = 0; i < N_READERS; i++)
		if (st->readers[i].id == id)
			return &st->readers[i];
	return NULL;
}

/* Begins the request with this number. */
static void begin(struct sinsp_conn *c, struct fastcgi *st, uint64_t id)
{
	struct request *old = req_find(c, id), *r;
	struct reader *reader;

	if (old) { /* its end was not seen */
		if (old->end != REQ_END_OPEN)
			req_set_string(old, REQ_ERROR, "lost");
		req_end_now(c, old);
	}
	r = req_begin(c);
	reader = reader_of(st, id);
	if (!reader)
		reader = &st->readers[st->next++ % N_READERS];
	memset(reader, 0, sizeof(*reader));
	reader->id = id;
	if (r)
		r->id = id;
}

/* ---- parameters ---- */

/* Returns the text that the parameter is; REQ_TEXT_MAX: none. */
static enum req_text text_of(const struct reader *p)
{
	static const struct {
		const char *name;
		enum req_text text;
	} names[] = {
		{"REQUEST_METHOD", REQ_METHOD},
		{"REQUEST_URI", REQ_RESOURCE},
		{"SCRIPT_FILENAME", REQ_STATEMENT},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == p->n_name &&
		    !memcmp(names[i].name, p->name, p->n_name))
			return names[i].text;
	return REQ_TEXT_MAX;
}

/* Reads a byte of a size: one, or four if the first has its upper bit. */
static void take_size(struct reader *p, uint8_t byte)
{
	if (!p->size_left && byte & 0x80) {
		p->size = byte & 0x7f;
		p->size_left = 3;
		return;
	}
	p->size = p->size_left ? p->size << 8 | byte : byte;
	if (p->size_left && --p->size_left)
		return;
	*(p->step == S_NAME_SIZE ? &p->name_left : &p->value_left) = p->size;
	p->n_name = 0;
	p->step++;
}

static size_t take_name(struct reader *p, const uint8_t *from, size_t n)
{
	if (n > p->name_left)
		n = p->name_left;
	for (size_t i = 0; i < n; i++, p->n_name += p->n_name < NAME_KEPT)
		if (p->n_name < NAME_KEPT)
			p->name[p->n_name] = (char)from[i];
	p->name_left -= (uint32_t)n;
	return n;
}

static size_t take_value(struct reader *p, struct request *r, const uint8_t *from, size_t n)
{
	const enum req_text text = text_of(p);

	if (n > p->value_left)
		n = p->value_left;
	if (text != REQ_TEXT_MAX)
		req_add_text(r, text, from, n);
	p->value_left -= (uint32_t)n;
	return n;
}

static void take_params(struct reader *p, struct request *r, const uint8_t *from, size_t n)
{
	size_t used;

	while (n) {
		used = 1;
		if (p->step < S_NAME)
			take_size(p, *from);
		else
			used = p->step == S_NAME ? take_name(p, from, n)
						 : take_value(p, r, from, n);
		if (p->step == S_NAME && !p->name_left)
			p->step = S_VALUE;
		if (p->step == S_VALUE && !p->value_left)
			p->step = S_NAME_SIZE;
		from += used;
		n -= used;
	}
}

/* ---- responses ---- */

static int is(const struct reader *p, const char *name)
{
	return p->n_line >= strlen(name) && !strncasecmp(p->line, name, strlen(name));
}

static void set_status(struct request *r, const uint8_t *text, size_t n)
{
	uint64_t status = 0;

	while (n && *text == ' ') {
		text++;
		n--;
	}
	if (n < 3 || !wire_decimal(text, 3, &status))
		return;
	req_set_status(r, (int64_t)status);
	if (status < 400)
		return;
	req_set_text(r, REQ_ERROR, text, 3);
	if (n > 4)
		req_set_text(r, REQ_ERROR_TEXT, text + 4, n - 4);
}

/* A line of the response's header. An empty one is the last: the status is 200 unless a header says
 * otherwise. */
static void take_line(struct reader *p, struct request *r)
{
	if (p->n_line && p->line[p->n_line - 1] == '\r')
		p->n_line--;
	if (is(p, "Status:"))
		set_status(r, (const uint8_t *)p->line + 7, p->n_line - 7u);
	p->moved |= is(p, "Location:");
	if (!p->n_line) {
		p->in_body = 1;
		if (!r->has_status)
			req_set_status(r, p->moved ? 302 : 200);
	}
	p->n_line = 0;
}

static void take_header(struct reader *p, struct request *r, const uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n && !p->in_body; i++) {
		if (from[i] == '\n')
			take_line(p, r);
		else if (p->n_line < LINE_KEPT)
			p->line[p->n_line++] = (char)from[i];
	}
}

/* The content of the record that ends a request: the program's status, and why there is none. */
static void take_end(struct request *r, uint8_t reason)
{
	static const char *const reasons[] = {NULL, "CANT_MPX_CONN", "OVERLOADED", "UNKNOWN_ROLE"};

	if (reason && reason < sizeof(reasons) / sizeof(reasons[0]))
		req_set_string(r, REQ_ERROR, reasons[reason]);
}

/* ---- records ---- */

/* Returns whether a record of the type comes from this end. */
static int is_from(enum req_from from, uint8_t type)
{
	const unsigned int servers =
		1u << T_END | 1u << T_STDOUT | 1u << T_STDERR | 1u << T_VALUES | 1u << T_UNKNOWN;

	return (from == REQ_SERVER) == (servers >> type & 1);
}

/* Skips the rest of the record. */
static void skip_record(struct sinsp_conn *c, struct fastcgi *st, enum req_from from)
{
	req_skip(c, from, (uint64_t)st->records[from].left + st->records[from].padding);
	st->records[from].left = 0;
}

static int is_read(const struct reader *reader, uint8_t type)
{
	if (reader && type == T_PARAMS)
		return reader->step != S_LOST;
	if (reader && type == T_STDOUT)
		return !reader->in_body;
	return type == T_END || type == T_STDERR;
}

static int parse_header(struct sinsp_conn *c, struct fastcgi *st, enum req_from from,
			const uint8_t *p, size_t n, unsigned int flags)
{
	uint64_t id;

	if (n < HEADER_SZ)
		return flags & REQ_F_CUT ? REQ_LOST : REQ_MORE;
	id = wire_be16(p + 2);
	if (!is_header(p) || (flags & REQ_F_SEARCH && p[1] != T_BEGIN && !req_find(c, id)))
		return REQ_LOST;
	if (!is_from(from, p[1])) /* of no request */
		id = 0;
	st->records[from].id = id;
	st->records[from].type = p[1];
	st->records[from].left = wire_be16(p + 4);
	st->records[from].padding = p[6];
	if (p[1] == T_BEGIN && from == REQ_CLIENT && id)
		begin(c, st, id);
	else
		req_belong(c, from, id ? req_find(c, id) : NULL);
	if (!req_message(c, from) || !is_read(reader_of(st, id), p[1]) || !st->records[from].left)
		skip_record(c, st, from);
	return HEADER_SZ;
}

static void take_content(struct fastcgi *st, enum req_from from, struct request *r,
			 const uint8_t *p, size_t n)
{
	struct reader *reader = reader_of(st, st->records[from].id);

	if (st->records[from].type == T_STDERR)
		req_add_text(r, REQ_ERROR_TEXT, p, n);
	else if (reader && st->records[from].type == T_PARAMS)
		take_params(reader, r, p, n);
	else if (reader && st->records[from].type == T_STDOUT)
		take_header(reader, r, p, n);
}

static int parse_end(struct sinsp_conn *c, struct fastcgi *st, struct request *r, const uint8_t *p,
		     size_t n, unsigned int flags)
{
	struct reader *reader = reader_of(st, st->records[REQ_SERVER].id);

	if (st->records[REQ_SERVER].left != HEADER_SZ)
		return REQ_LOST;
	if (n < HEADER_SZ && !(flags & REQ_F_CUT))
		return REQ_MORE;
	if (n > HEADER_SZ)
		n = HEADER_SZ;
	if (n > 4)
		take_end(r, p[4]);
	if (reader)
		reader->id = 0;
	st->records[REQ_SERVER].left -= (uint32_t)n;
	skip_record(c, st, REQ_SERVER);
	req_end(c, r, REQ_SERVER);
	return (int)n;
}

static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	struct fastcgi *st = req_state(c);
	const struct reader *reader;
	struct request *r;

	if (!st->records[from].left)
		return parse_header(c, st, from, p, n, flags);
	r = req_message(c, from);
	if (r && from == REQ_SERVER && st->records[from].type == T_END)
		return parse_end(c, st, r, p, n, flags);
	if (n > st->records[from].left)
		n = st->records[from].left;
	if (r)
		take_content(st, from, r, p, n);
	st->records[from].left -= (uint32_t)n;
	reader = reader_of(st, st->records[from].id);
	if (!st->records[from].left || !r || !is_read(reader, st->records[from].type))
		skip_record(c, st, from);
	return (int)n;
}

/* What was being read of the streams goes on at an unknown place. The end of a response may be
 * among what was lost. */
static void lost(struct sinsp_conn *c, enum req_from from)
{
	struct fastcgi *st = req_state(c);

	st->records[from].left = 0;
	for (int i = 0; i < N_READERS; i++) {
		if (from == REQ_CLIENT)
			st->readers[i].step = S_LOST;
		else
			st->readers[i].in_body = 1;
	}
	for (struct request *r = req_first(c); r; r = req_next(r)) {
		r->truncated = 1;
		if (from == REQ_SERVER && r->first_ns)
			r->end = REQ_END_OPEN;
	}
}

static const uint16_t ports[] = {9000, 0};

const struct req_protocol req_fastcgi = {
	.name = "fastcgi",
	.ports = ports,
	.state_sz = sizeof(struct fastcgi),
	.streams = 1,
	.open_max = REQ_SEARCHED_MAX,
	.match = match,
	.parse = parse,
	.lost = lost,
};
