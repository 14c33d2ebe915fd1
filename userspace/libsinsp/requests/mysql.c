/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MySQL and MariaDB ("Client/Server Protocol" in their manuals). Packets have a length and a
 * number; a command is packet 0. One ends with OK, with an error, or with the rows of its result
 * sets, whose end has the mark of an EOF in both forms of the protocol, with and without
 * CLIENT_DEPRECATE_EOF.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "protocol.h"
#include "sql.h"
#include "statements.h"
#include "wire.h"

enum {
	HEADER_SZ = 4,
	PACKET_MAX = 0xffffff, /* one of this length is continued by the next */
	KEPT_MAX = 8192, /* bytes of a packet that are waited for */
	SSL_REQUEST_SZ = 32,
	CLIENT_CONNECT_WITH_DB = 1 << 3,
	CLIENT_COMPRESS = 1 << 5,
	CLIENT_SSL = 1 << 11,
	CLIENT_SECURE_CONNECTION = 1 << 15,
	CLIENT_LENENC_AUTH = 1 << 21,
	CLIENT_DEPRECATE_EOF = 1 << 24,
	CLIENT_ZSTD = 1 << 26,
	STATUS_MORE_RESULTS = 1 << 3,
	STATUS_CURSOR = 1 << 6,
	ERROR_PROGRESS = 0xffff, /* MariaDB tells how far it is, and goes on */
};

/* Which packet of the server comes next. */
enum step {
	S_FIRST, /* of a result: OK, an error, or the number of columns */
	S_COLUMNS,
	S_ROWS_OR_EOF, /* behind the columns */
	S_ROWS,
	S_ANY, /* one packet of any kind ends the request */
	S_AUTH, /* OK or an error ends it */
	S_PREPARED,
	S_DEFINITIONS, /* of what was prepared */
};

#define LAST_PREPARED UINT64_MAX /* key of the statement that number -1 stands for */

struct mysql {
	struct statements statements;
	uint64_t left; /* columns, or definitions, that are to come */
	uint8_t step; /* enum step, of the first open request */
	uint8_t continues[2]; /* by enum req_from: the next packet is the rest of one */
	uint8_t greeted; /* the first packet of the client is no command */
	uint8_t met; /* there was a greeting, or a packet of the client */
	uint8_t old_eof; /* the client knows no other: one is behind definitions for certain */
	uint8_t compresses; /* what follows the login is compressed */
};

struct command {
	const char *name;
	uint8_t step; /* how it is answered */
	uint8_t oneway;
};

/* By number. */
static const struct command commands[] = {
	[0x01] = {"QUIT", 0, 1},
	[0x02] = {"INIT_DB", S_FIRST},
	[0x03] = {"QUERY", S_FIRST},
	[0x04] = {"FIELD_LIST", S_ROWS},
	[0x09] = {"STATISTICS", S_ANY},
	[0x0a] = {"PROCESS_INFO", S_FIRST},
	[0x0c] = {"PROCESS_KILL", S_FIRST},
	[0x0d] = {"DEBUG", S_ANY},
	[0x0e] = {"PING", S_FIRST},
	[0x11] = {"CHANGE_USER", S_AUTH},
	[0x12] = {"BINLOG_DUMP", 0, 1},
	[0x15] = {"REGISTER_SLAVE", S_FIRST},
	[0x16] = {"PREPARE", S_PREPARED},
	[0x17] = {"EXECUTE", S_FIRST},
	[0x18] = {"SEND_LONG_DATA", 0, 1},
	[0x19] = {"CLOSE", 0, 1},
	[0x1a] = {"RESET", S_FIRST},
	[0x1b] = {"SET_OPTION", S_ANY},
	[0x1c] = {"FETCH", S_ROWS},
	[0x1e] = {"BINLOG_DUMP_GTID", 0, 1},
	[0x1f] = {"RESET_CONNECTION", S_FIRST},
	[0xfa] = {"BULK_EXECUTE", S_FIRST},
};

enum {
	C_QUERY = 3,
	C_INIT_DB = 2,
	C_PREPARE = 0x16,
	C_EXECUTE = 0x17,
	C_CLOSE = 0x19,
	C_BULK = 0xfa
};

static uint32_t packet_len(const uint8_t *p)
{
	return wire_le32(p) & PACKET_MAX;
}

static const struct command *command_of(uint8_t number)
{
	if (number >= sizeof(commands) / sizeof(commands[0]) || !commands[number].name)
		return NULL;
	return &commands[number];
}

/* ---- recognition ---- */

/* The greeting: packet 0, version 10 of the protocol, the version of the server as text. */
static enum req_match match_greeting(const struct req_look *l)
{
	size_t i = 5;

	if (packet_len(l->p) < 30 || packet_len(l->p) > 512 || l->p[4] != 10)
		return REQ_NO;
	while (i < l->n && isprint(l->p[i]))
		i++;
	if (i == l->n && i < 64 && !l->cut)
		return REQ_MAYBE;
	return i > 7 && i < l->n && !l->p[i] ? REQ_IS_RESPONSE : REQ_NO;
}

/* A query that is one whole packet, or the beginning of a long one. */
static enum req_match match_query(const struct req_look *l)
{
	const uint32_t len = packet_len(l->p);
	const uint8_t *text = l->p + 5;

	if (l->p[4] != C_QUERY && l->p[4] != C_PREPARE && !(l->by_port && l->p[4] == C_EXECUTE))
		return REQ_NO;
	if (len < 4 || (len + HEADER_SZ != l->n &&
			!(len + HEADER_SZ > l->n && (l->cut || l->n == REQ_MATCH_MAX))))
		return REQ_NO;
	if (l->p[4] == C_EXECUTE)
		return len >= 10 ? REQ_IS_REQUEST : REQ_NO;
	if (l->p[4] == C_QUERY && !text[0])
		text += 2; /* a number of attributes, and one of sets */
	return isalpha(*text) && (l->by_port || l->from == REQ_CLIENT) ? REQ_IS_REQUEST : REQ_NO;
}

/* An error instead of the greeting: too many connections, a host that is blocked. */
static enum req_match match_refusal(const struct req_look *l)
{
	const size_t sz = packet_len(l->p) + HEADER_SZ;
	const uint32_t code = wire_le16(l->p + 5);

	if (l->n > sz || sz > REQ_MATCH_MAX || l->cut || code < 1000 || code >= 5000)
		return REQ_NO;
	for (size_t i = 7; i < l->n; i++)
		if (!isprint(l->p[i]))
			return REQ_NO;
	return l->n == sz ? REQ_IS_RESPONSE : REQ_MAYBE;
}

static enum req_match match(const struct req_look *l)
{
	if (l->n < 8)
		return l->by_port && !l->cut ? REQ_MAYBE : REQ_NO;
	if (l->p[3])
		return REQ_NO;
	if (l->from != REQ_CLIENT && l->p[4] == 10)
		return match_greeting(l);
	if (l->from != REQ_CLIENT && l->p[4] == 0xff)
		return match_refusal(l);
	return l->from == REQ_SERVER ? REQ_NO : match_query(l);
}

/* ---- the client's packets ---- */

/* Sets user and database of the login: "HandshakeResponse41". */
static void set_login(struct request *r, const uint8_t *p, size_t n)
{
	size_t at = 32, len;
	uint32_t caps;

	if (n < at)
		return;
	caps = wire_le32(p);
	len = wire_text(p + at, n - at);
	req_set_string(r, REQ_STATEMENT, "user=");
	req_add_text(r, REQ_STATEMENT, p + at, len);
	at += len + 1;
	if (at >= n || !(caps & CLIENT_CONNECT_WITH_DB))
		return;
	if (caps & (CLIENT_LENENC_AUTH | CLIENT_SECURE_CONNECTION))
		at += 1 + (size_t)p[at]; /* longer ones do not exist */
	else
		at += wire_text(p + at, n - at) + 1;
	if (at < n)
		req_set_text(r, REQ_RESOURCE, p + at, wire_text(p + at, n - at));
}

/* The first packet behind the greeting: the login, or a request for encryption. */
static void take_login(struct sinsp_conn *c, struct mysql *st, const uint8_t *p, size_t n,
		       size_t len)
{
	const uint32_t caps = n >= 4 ? wire_le32(p) : 0;
	struct request *r;

	st->greeted = 0;
	if (caps & CLIENT_SSL && len == SSL_REQUEST_SZ) {
		req_continue(c, NULL);
		req_switch(c, &req_tls);
		return;
	}
	r = req_begin(c);
	if (!r)
		return;
	req_set_string(r, REQ_METHOD, "CONNECT");
	set_login(r, p, n);
	r->truncated = n < len;
	r->mark = S_AUTH;
	st->step = S_AUTH;
	st->old_eof = n >= 4 && !(caps & CLIENT_DEPRECATE_EOF);
	st->compresses = !!(caps & (CLIENT_COMPRESS | CLIENT_ZSTD));
}

/* Text of a query. One of attributes is behind their number and the number of their sets. */
static void take_query(struct request *r, const uint8_t *p, size_t n)
{
	if (n > 2 && !p[0])
		sql_set(r, (const char *)p + 2, n - 2, SQL_MYSQL);
	else if (n && isprint(*p))
		sql_set(r, (const char *)p, n, SQL_MYSQL);
}

static void take_execute(struct mysql *st, struct request *r, const uint8_t *p, size_t n)
{
	const uint64_t id = n >= 4 ? wire_le32(p) : 0;
	const struct statement *s =
		statements_get(&st->statements, id == UINT32_MAX ? LAST_PREPARED : id);

	if (s)
		sql_set(r, s->text, s->n, SQL_MYSQL);
}

static void take_text(struct sinsp_conn *c, struct mysql *st, struct request *r, uint8_t number,
		      const uint8_t *p, size_t n)
{
	switch (number) {
	case C_QUERY:
		take_query(r, p, n);
		break;
	case C_PREPARE:
		sql_set(r, (const char *)p, n, SQL_MYSQL);
		req_set_string(r, REQ_METHOD, "PREPARE");
		statements_put(&st->statements, c, LAST_PREPARED, p, n);
		break;
	case C_EXECUTE:
	case C_BULK:
		take_execute(st, r, p, n);
		break;
	case C_CLOSE:
		if (n >= 4)
			statements_drop(&st->statements, c, wire_le32(p));
		break;
	case C_INIT_DB:
		req_set_text(r, REQ_RESOURCE, p, n);
		break;
	default:
		break;
	}
}

static int take_command(struct sinsp_conn *c, struct mysql *st, const uint8_t *p, size_t n,
			size_t len)
{
	const struct command *cmd = n ? command_of(*p) : NULL;
	struct request *r;

	if (!cmd)
		return 0;
	r = req_begin(c);
	if (!r)
		return 1;
	if (req_first(c) == r)
		st->step = cmd->step;
	r->mark = cmd->step;
	req_set_string(r, REQ_METHOD, cmd->name);
	take_text(c, st, r, *p, p + 1, n - 1);
	r->truncated = n < len && n < KEPT_MAX && (*p == C_QUERY || *p == C_PREPARE);
	if (!cmd->oneway)
		return 1;
	r->kind = REQ_KIND_ONEWAY;
	req_end(c, r, REQ_CLIENT);
	if (strstr(cmd->name, "BINLOG"))
		req_switch(c, NULL); /* a stream of its own follows */
	return 1;
}

/* Returns how many bytes of the message are here and looked at; 0: more are needed. */
static size_t here_of(const uint8_t *p, size_t n, unsigned int flags)
{
	const size_t sz = HEADER_SZ + packet_len(p), wanted = sz < KEPT_MAX ? sz : KEPT_MAX;

	if (n < wanted && !(flags & REQ_F_CUT))
		return 0;
	return n < sz ? n : sz;
}

static int parse_client(struct sinsp_conn *c, struct mysql *st, const uint8_t *p, size_t n,
			unsigned int flags)
{
	size_t here, len;
	int rest;

	if (n < HEADER_SZ)
		return flags & REQ_F_CUT ? REQ_LOST : REQ_MORE;
	if (flags & REQ_F_SEARCH && (p[3] || (n > HEADER_SZ && !command_of(p[HEADER_SZ]))))
		return REQ_LOST; /* the middle of a file, for example */
	len = packet_len(p);
	here = here_of(p, n, flags);
	if (!here)
		return REQ_MORE;
	st->met = 1;
	rest = st->continues[REQ_CLIENT];
	st->continues[REQ_CLIENT] = len == PACKET_MAX;
	if (rest || (p[3] && !st->greeted)) /* answers to the server, or a rest */
		req_continue(c, req_message(c, REQ_CLIENT) ? req_message(c, REQ_CLIENT)
							   : req_first(c));
	else if (st->greeted)
		take_login(c, st, p + HEADER_SZ, here - HEADER_SZ, len);
	else if (!take_command(c, st, p + HEADER_SZ, here - HEADER_SZ, len))
		return REQ_LOST;
	req_skip(c, REQ_CLIENT, HEADER_SZ + len - here);
	return (int)here;
}

/* ---- the server's packets ---- */

/* Reads a number of the protocol. Returns its size; 0: it is not here. */
static size_t lenenc(const uint8_t *p, size_t n, uint64_t *out)
{
	static const uint8_t sizes[] = {[0xfc - 0xfb] = 3, [0xfd - 0xfb] = 4, [0xfe - 0xfb] = 9};
	size_t sz;

	if (!n || *p == 0xfb || *p == 0xff)
		return 0;
	if (*p < 0xfb) {
		*out = *p;
		return 1;
	}
	sz = sizes[*p - 0xfb];
	if (n < sz)
		return 0;
	*out = 0;
	for (size_t i = sz - 1; i; i--)
		*out = *out << 8 | p[i];
	return sz;
}

/* Returns the flags of an OK, or of an EOF of the old form. */
static uint32_t status_of(const uint8_t *p, size_t n, size_t len)
{
	uint64_t ignored;
	size_t at = 1, sz;

	if (*p == 0xfe && len < 7)
		return n >= 5 ? wire_le16(p + 3) : 0;
	for (int i = 0; i < 2; i++) {
		sz = lenenc(p + at, n - at, &ignored);
		if (!sz)
			return 0;
		at += sz;
	}
	return n >= at + 2 ? wire_le16(p + at) : 0;
}

/* 0xff, number, '#' and SQLSTATE, message. */
static void set_error(struct request *r, const uint8_t *p, size_t n)
{
	char code[8];
	size_t at = 3;

	if (n < 3)
		return;
	req_set_status(r, wire_le16(p + 1));
	if (n >= 9 && p[3] == '#') {
		req_set_text(r, REQ_ERROR, p + 4, 5);
		at = 9;
	} else {
		snprintf(code, sizeof(code), "%u", wire_le16(p + 1));
		req_set_string(r, REQ_ERROR, code);
	}
	req_set_text(r, REQ_ERROR_TEXT, p + at, n - at);
}

static int is_progress(const uint8_t *p, size_t n)
{
	return n >= 3 && *p == 0xff && wire_le16(p + 1) == ERROR_PROGRESS;
}

/* The request ends with this packet. The next one is answered from its beginning. */
static void end(struct sinsp_conn *c, struct mysql *st, struct request *r)
{
	struct request *next = req_next(r);

	req_end(c, r, REQ_SERVER);
	while (next && next->kind == REQ_KIND_ONEWAY)
		next = req_next(next);
	st->step = next ? next->mark : S_FIRST;
}

/* A result ends: more may follow. */
static void end_result(struct sinsp_conn *c, struct mysql *st, struct request *r, uint32_t status)
{
	if (status & STATUS_MORE_RESULTS)
		st->step = S_FIRST;
	else
		end(c, st, r);
}

/* The number of columns. A byte behind it says whether their definitions follow. */
static void take_columns(struct mysql *st, const uint8_t *p, size_t n, size_t len)
{
	const size_t sz = lenenc(p, n, &st->left);

	st->step = S_COLUMNS;
	if (!sz || !st->left || (len == sz + 1 && n == len && !p[sz]))
		st->step = S_ROWS_OR_EOF;
}

static void take_first(struct sinsp_conn *c, struct mysql *st, struct request *r, const uint8_t *p,
		       size_t n, size_t len)
{
	if (!*p || *p == 0xfe)
		end_result(c, st, r, status_of(p, n, len));
	else if (*p == 0xfb)
		req_answer_early(c, r); /* the client sends a file */
	else
		take_columns(st, p, n, len);
}

/* OK to PREPARE: number of the statement, of columns, of parameters. */
static void take_prepared(struct sinsp_conn *c, struct mysql *st, struct request *r,
			  const uint8_t *p, size_t n)
{
	const struct statement *s = statements_get(&st->statements, LAST_PREPARED);
	char copy[STATEMENT_KEPT];
	uint32_t len, columns, parameters;

	if (n < 9) {
		end(c, st, r);
		return;
	}
	if (s) {
		len = s->n;
		memcpy(copy, s->text, len);
		statements_put(&st->statements, c, wire_le32(p + 1), copy, len);
	}
	columns = wire_le16(p + 5);
	parameters = wire_le16(p + 7);
	st->left = columns + parameters;
	if (st->old_eof)
		st->left += !!columns + !!parameters;
	st->step = S_DEFINITIONS;
	if (!st->left)
		end(c, st, r);
}

/* A row, or the end of the rows. */
static void take_row(struct sinsp_conn *c, struct mysql *st, struct request *r, const uint8_t *p,
		     size_t n, size_t len)
{
	const int is_end = *p == 0xfe && len < PACKET_MAX, is_old = is_end && len < 7;
	const uint32_t status = is_end ? status_of(p, n, len) : 0;

	if (st->step == S_ROWS_OR_EOF && is_old && !(status & STATUS_CURSOR))
		st->step = S_ROWS;
	else if (is_end)
		end_result(c, st, r, status);
	else
		st->step = S_ROWS;
}

/* OK ends a login; what else comes goes on with it. */
static void take_auth(struct sinsp_conn *c, struct mysql *st, struct request *r, const uint8_t *p)
{
	if (*p) {
		req_answer_early(c, r);
		return;
	}
	end(c, st, r);
	if (st->compresses)
		req_switch(c, NULL);
}

static void take_packet(struct sinsp_conn *c, struct mysql *st, struct request *r, const uint8_t *p,
			size_t n, size_t len)
{
	if (!n || is_progress(p, n))
		return;
	if (*p == 0xff && st->step != S_COLUMNS && st->step != S_DEFINITIONS) {
		set_error(r, p, n);
		end(c, st, r);
		return;
	}
	switch (st->step) {
	case S_FIRST:
		take_first(c, st, r, p, n, len);
		break;
	case S_COLUMNS:
		st->left--;
		st->step = st->left ? S_COLUMNS : S_ROWS_OR_EOF;
		break;
	case S_ROWS_OR_EOF:
	case S_ROWS:
		take_row(c, st, r, p, n, len);
		break;
	case S_ANY:
		end(c, st, r);
		break;
	case S_AUTH:
		take_auth(c, st, r, p);
		break;
	case S_PREPARED:
		take_prepared(c, st, r, p, n);
		break;
	case S_DEFINITIONS: /* an EOF that may be missing belongs to no request, if it is last */
		if ((st->old_eof || *p != 0xfe || len >= 9) && !--st->left)
			end(c, st, r);
		break;
	}
}

/* Adds what the server says without a request: an error, as no one can connect, or it closes. */
static struct request *add_error(struct sinsp_conn *c, const struct mysql *st)
{
	struct request *r = req_push(c);

	if (r && !st->met)
		req_set_string(r, REQ_METHOD, "CONNECT");
	return r;
}

static int parse_server(struct sinsp_conn *c, struct mysql *st, const uint8_t *p, size_t n,
			unsigned int flags)
{
	struct request *r = req_first_waiting(c);
	size_t here, len;
	int rest;

	if (n < HEADER_SZ + 1)
		return flags & REQ_F_CUT ? REQ_LOST : REQ_MORE;
	if (!r && flags & REQ_F_SEARCH && !(p[4] == 10 && !p[3]))
		return REQ_LOST; /* of no request that is known */
	len = packet_len(p);
	here = here_of(p, n, flags);
	if (!here && (!r || *(p + HEADER_SZ) == 0xff || n < 32))
		return REQ_MORE;
	here = here ? here : n;
	rest = st->continues[REQ_SERVER];
	st->continues[REQ_SERVER] = len == PACKET_MAX;
	if (!r && !p[3] && p[4] == 10)
		st->greeted = st->met = 1;
	if (r || p[3] || p[4] != 0xff)
		req_answer(c, r);
	else
		r = add_error(c, st);
	if (r && !rest)
		take_packet(c, st, r, p + HEADER_SZ, here - HEADER_SZ, len);
	req_skip(c, REQ_SERVER, HEADER_SZ + len - here);
	return (int)here;
}

static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	struct mysql *st = req_state(c);

	if (flags & REQ_F_SEARCH)
		st->continues[from] = 0;
	return from == REQ_CLIENT ? parse_client(c, st, p, n, flags)
				  : parse_server(c, st, p, n, flags);
}

static void lost(struct sinsp_conn *c, enum req_from from)
{
	struct mysql *st = req_state(c);
	struct request *r = from == REQ_SERVER ? req_first_waiting(c) : NULL;

	req_lost(c, from);
	if (!r)
		return;
	req_answer_rest(c, r);
	st->step = S_FIRST;
}

static void fini(void *state)
{
	struct mysql *st = state;

	statements_fini(&st->statements);
}

static const uint16_t ports[] = {3306, 3307, 0};

const struct req_protocol req_mysql = {
	.name = "mysql",
	.ports = ports,
	.state_sz = sizeof(struct mysql),
	.streams = 1,
	.match = match,
	.parse = parse,
	.lost = lost,
	.fini = fini,
};
