/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcached: the text protocol with its meta commands (doc/protocol.txt of memcached), and the
 * binary one. Commands are answered in order. Quiet ones are answered only if there is something to
 * say, so an answer may belong to a later command than the oldest: it names the command, or shows
 * that those before it have none.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "protocol.h"
#include "wire.h"

enum {
	KEY_MAX = 250,
	LINE_KEPT = 2048, /* bytes of a command line; a longer one has no more of its keys */
	HEADER_SZ = 24, /* of the binary protocol */
	MAGIC_REQUEST = 0x80,
	MAGIC_RESPONSE = 0x81,
};

/* How the answer to a command ends. */
enum answer {
	A_LINE, /* it is one line */
	A_VALUES, /* lines and values, then END */
	A_LINES, /* any lines, then END, or one that is not of a list */
	A_META, /* one line, with a value behind VA */
	A_NONE,
};

struct command {
	const char *name;
	uint8_t answer; /* enum answer */
	uint8_t key; /* number of the word that is the key; 0: none */
	uint8_t size; /* number of the word with the length of the value that follows; 0: none */
};

static const struct command commands[] = {
	{"get", A_VALUES, 1, 0},
	{"gets", A_VALUES, 1, 0},
	{"gat", A_VALUES, 2, 0},
	{"gats", A_VALUES, 2, 0},
	{"set", A_LINE, 1, 4},
	{"add", A_LINE, 1, 4},
	{"replace", A_LINE, 1, 4},
	{"append", A_LINE, 1, 4},
	{"prepend", A_LINE, 1, 4},
	{"cas", A_LINE, 1, 4},
	{"delete", A_LINE, 1, 0},
	{"incr", A_LINE, 1, 0},
	{"decr", A_LINE, 1, 0},
	{"touch", A_LINE, 1, 0},
	{"mg", A_META, 1, 0},
	{"ms", A_META, 1, 2},
	{"md", A_META, 1, 0},
	{"ma", A_META, 1, 0},
	{"me", A_LINE, 1, 0},
	{"mn", A_LINE, 0, 0},
	{"stats", A_LINES, 0, 0},
	{"flush_all", A_LINE, 0, 0},
	{"version", A_LINE, 0, 0},
	{"verbosity", A_LINE, 0, 0},
	{"slabs", A_LINE, 0, 0},
	{"lru_crawler", A_LINES, 0, 0},
	{"lru", A_LINE, 0, 0},
	{"watch", A_LINES, 0, 0},
	{"cache_memlimit", A_LINE, 0, 0},
	{"shutdown", A_NONE, 0, 0},
	{"quit", A_NONE, 0, 0},
};

struct memcached {
	uint8_t in_line; /* the rest of a long command line follows */
};

/* What the protocol keeps in the mark of a request. */
enum { MARK_ANSWER = 7, MARK_QUIET = 8 };

/* ---- lines ---- */

struct word {
	const char *p;
	size_t n;
};

/* Returns word number @at of the line; n is 0 if there is none. */
static struct word word_at(const uint8_t *p, size_t n, unsigned int at)
{
	struct word w = {NULL, 0};
	size_t i = 0;

	for (;;) {
		while (i < n && p[i] == ' ')
			i++;
		w.p = (const char *)p + i;
		while (i < n && p[i] != ' ')
			i++;
		w.n = (size_t)((const char *)p + i - w.p);
		if (!w.n || !at--)
			return w;
	}
}

static struct word last_word(const uint8_t *p, size_t n)
{
	size_t i;

	while (n && p[n - 1] == ' ')
		n--;
	for (i = n; i && p[i - 1] != ' '; i--)
		;
	return (struct word){(const char *)p + i, n - i};
}

static int is(struct word w, const char *text)
{
	return w.n == strlen(text) && !memcmp(w.p, text, w.n);
}

/* Reads a decimal number of at most 10 digits. Returns 0 if it is none. */
static int number(struct word w, uint64_t *out)
{
	return w.n <= 10 && wire_decimal((const uint8_t *)w.p, w.n, out);
}

static const struct command *find_command(struct word w)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (is(w, commands[i].name))
			return &commands[i];
	return NULL;
}

/* Returns whether a line without an end may be one of a command. */
static int may_be_command(const uint8_t *p, size_t n)
{
	const struct word w = word_at(p, n, 0);

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (n > w.n ? is(w, commands[i].name) : !strncmp(w.p, commands[i].name, w.n))
			return 1;
	return 0;
}

/* ---- recognition ---- */

/* Returns whether the bytes are the header of a message with this first byte. */
static int is_header(const uint8_t *p, size_t n, uint8_t magic)
{
	return n >= HEADER_SZ && p[0] == magic && p[1] <= 0x48 && !p[5] &&
	       wire_be16(p + 2) <= KEY_MAX && p[4] <= 64 &&
	       wire_be32(p + 8) >= (uint32_t)wire_be16(p + 2) + p[4];
}

/* A whole line of a command with its key and numbers. A command without a key is too short a sign.
 */
static enum req_match match_text(const struct req_look *l)
{
	const struct command *cmd;
	struct word key;
	uint64_t sz;
	size_t len;
	int text;

	if (!islower(l->p[0]))
		return REQ_NO;
	text = wire_line(l->p, l->n, &len);
	if (text < 0 && !may_be_command(l->p, l->n))
		return REQ_NO;
	if (text < 0 && (l->cut || l->n == REQ_MATCH_MAX))
		return l->by_port ? REQ_IS_REQUEST : REQ_NO;
	if (text < 0)
		return REQ_MAYBE;
	cmd = find_command(word_at(l->p, (size_t)text, 0));
	if (!cmd || (size_t)text + 2 != len)
		return REQ_NO;
	key = word_at(l->p, (size_t)text, cmd->key);
	if (cmd->size && !number(word_at(l->p, (size_t)text, cmd->size), &sz))
		return REQ_NO;
	if (cmd->key ? !key.n || key.n > KEY_MAX : !l->by_port)
		return REQ_NO;
	return REQ_IS_REQUEST;
}

static enum req_match match(const struct req_look *l)
{
	if (l->p[0] == MAGIC_REQUEST && l->from != REQ_SERVER) {
		if (l->n < HEADER_SZ)
			return l->by_port ? REQ_MAYBE : REQ_NO;
		return is_header(l->p, l->n, MAGIC_REQUEST) ? REQ_IS_REQUEST : REQ_NO;
	}
	if (l->p[0] == MAGIC_RESPONSE && l->from != REQ_CLIENT && l->by_port)
		return is_header(l->p, l->n, MAGIC_RESPONSE) ? REQ_IS_RESPONSE : REQ_NO;
	if (l->from == REQ_SERVER)
		return REQ_NO;
	return match_text(l);
}

/* ---- commands as text ---- */

/* Returns the flag of a meta command that begins with this letter; n is 0 if there is none. */
static struct word meta_flag(const uint8_t *p, size_t n, unsigned int from, char flag)
{
	struct word w;

	for (unsigned int i = from; i < from + 32; i++) {
		w = word_at(p, n, i);
		if (!w.n || *w.p == flag)
			return w;
	}
	return (struct word){NULL, 0};
}

/* Returns a number for the opaque token of a meta command; 0: it has none. */
static uint64_t token_id(const uint8_t *p, size_t n, unsigned int first_flag)
{
	const struct word w = meta_flag(p, n, first_flag, 'O');
	uint64_t id = 0;

	for (size_t i = 1; i < w.n; i++)
		id = id * 131 + (uint8_t)w.p[i];
	return id;
}

/* An answer may not come, also until the connection ends. */
static void set_quiet(struct request *r)
{
	r->mark |= MARK_QUIET;
	r->end = REQ_END_CLOSE;
}

/* Marks how the command is answered. */
static void mark_answer(struct request *r, const struct command *cmd, const uint8_t *p, size_t n)
{
	const unsigned int first_flag = cmd->size ? 3 : 2;

	r->mark = cmd->answer;
	if (cmd->answer == A_NONE || is(last_word(p, n), "noreply"))
		r->kind = REQ_KIND_ONEWAY;
	if (cmd->answer != A_META)
		return;
	if (meta_flag(p, n, first_flag, 'q').n)
		set_quiet(r);
	r->id = token_id(p, n, first_flag);
}

/* Takes a command line. */
static struct request *take_command(struct sinsp_conn *c, const struct command *cmd,
				    const uint8_t *p, size_t n)
{
	struct request *r = req_begin(c);
	struct word key;

	if (!r)
		return NULL;
	req_set_upper(r, REQ_METHOD, cmd->name, strlen(cmd->name));
	key = word_at(p, n, cmd->key);
	if (cmd->key)
		req_set_text(r, REQ_RESOURCE, key.p, key.n);
	req_set_text(r, REQ_STATEMENT, p, n);
	mark_answer(r, cmd, p, n);
	return r;
}

/* The beginning of a line that is long, or was cut: lists of keys are. */
static int parse_long_line(struct sinsp_conn *c, const uint8_t *p, size_t n, unsigned int flags)
{
	struct memcached *st = req_state(c);
	const struct command *cmd = find_command(word_at(p, n, 0));
	struct request *r;

	if (!cmd || cmd->answer != A_VALUES)
		return REQ_LOST;
	r = take_command(c, cmd, p, n);
	if (!r)
		return REQ_LOST;
	r->truncated = !!(flags & REQ_F_CUT);
	st->in_line = 1;
	return (int)n;
}

static int skip_line(struct memcached *st, const uint8_t *p, size_t n)
{
	const uint8_t *nl = memchr(p, '\n', n);

	st->in_line = !nl;
	return nl ? (int)(nl + 1 - p) : (int)n;
}

static int parse_command(struct sinsp_conn *c, const uint8_t *p, size_t n, unsigned int flags)
{
	struct memcached *st = req_state(c);
	const struct command *cmd;
	uint64_t sz = 0;
	struct request *r;
	size_t len;
	int text;

	if (st->in_line)
		return skip_line(st, p, n);
	text = wire_line(p, n, &len);
	if (text < 0)
		return n < LINE_KEPT && !(flags & REQ_F_CUT) ? REQ_MORE
							     : parse_long_line(c, p, n, flags);
	cmd = find_command(word_at(p, (size_t)text, 0));
	if (cmd && cmd->size && !number(word_at(p, (size_t)text, cmd->size), &sz))
		cmd = NULL;
	if (!cmd && flags & REQ_F_SEARCH)
		return REQ_LOST;
	if (!cmd) { /* the server answers ERROR */
		static const struct command unknown = {"", A_LINE, 0, 0};
		const struct word name = word_at(p, (size_t)text, 0);

		r = take_command(c, &unknown, p, (size_t)text);
		if (r)
			req_set_upper(r, REQ_METHOD, name.p, name.n);
		return (int)len;
	}
	r = take_command(c, cmd, p, (size_t)text);
	if (cmd->size)
		req_skip(c, REQ_CLIENT, sz + 2);
	if (r && r->kind == REQ_KIND_ONEWAY)
		req_end(c, r, REQ_CLIENT);
	return (int)len;
}

/* ---- answers as text ---- */

/* Returns whether the answer can be one to the command: quiet ones have no good news. */
static int may_answer(const struct request *r, struct word first)
{
	const char *method = req_text(r, REQ_METHOD);

	if (r->kind == REQ_KIND_ONEWAY)
		return 0;
	if (!(r->mark & MARK_QUIET))
		return 1;
	if (!strcmp(method, "MG"))
		return is(first, "HD") || is(first, "VA");
	return !is(first, "HD") && !(is(first, "NF") && strcmp(method, "MS") != 0) &&
	       !is(first, "MN");
}

/* Ends quiet commands before the one that is answered: they had nothing to say. */
static void end_quiet(struct sinsp_conn *c, const struct request *before)
{
	for (struct request *r = req_first(c), *next; r && r != before; r = next) {
		next = req_next(r);
		if (!(r->mark & MARK_QUIET))
			continue;
		r->kind = REQ_KIND_ONEWAY;
		req_end_now(c, r);
	}
}

/* Returns the command that the line answers. */
static struct request *answered(struct sinsp_conn *c, const uint8_t *p, size_t n)
{
	const struct word first = word_at(p, n, 0);
	const uint64_t id = first.n == 2 ? token_id(p, n, 1) : 0;
	struct request *r, *possible = NULL;

	for (r = req_first(c); r; r = req_next(r)) {
		if (!may_answer(r, first))
			continue;
		if (!id || r->id == id)
			break;
		possible = possible ? possible : r;
	}
	r = r ? r : possible;
	if (r)
		end_quiet(c, r);
	return r;
}

/* "CLIENT_ERROR bad command line format" */
static int set_error(struct request *r, const uint8_t *p, size_t n)
{
	const struct word first = word_at(p, n, 0);

	if (!is(first, "ERROR") && !is(first, "CLIENT_ERROR") && !is(first, "SERVER_ERROR"))
		return 0;
	if (!r)
		return 1;
	req_set_text(r, REQ_ERROR, first.p, first.n);
	if (n > first.n + 1)
		req_set_text(r, REQ_ERROR_TEXT, first.p + first.n + 1, n - first.n - 1);
	return 1;
}

/* Returns whether a line is the last of an answer that is a list. */
static int ends_list(uint8_t answer, const uint8_t *p, size_t n)
{
	const struct word first = word_at(p, n, 0);

	if (is(first, "END"))
		return 1;
	return answer == A_LINES && (is(first, "OK") || is(first, "RESET") || is(first, "BUSY"));
}

static int parse_answer(struct sinsp_conn *c, const uint8_t *p, size_t n, unsigned int flags)
{
	struct request *r;
	struct word first;
	uint64_t sz = 0;
	uint8_t answer;
	size_t len;
	int text = wire_line(p, n, &len);

	if (text < 0)
		return n < LINE_KEPT ? REQ_MORE : REQ_LOST;
	first = word_at(p, (size_t)text, 0);
	if (!first.n || (flags & REQ_F_SEARCH && !isupper((unsigned char)*first.p) &&
			 !isdigit((unsigned char)*first.p)))
		return REQ_LOST;
	r = answered(c, p, (size_t)text);
	answer = r ? r->mark & MARK_ANSWER : A_VALUES;
	req_answer(c, r);
	if (is(first, "VALUE") && !number(word_at(p, (size_t)text, 3), &sz))
		return REQ_LOST;
	if (is(first, "VA") && answer == A_META && !number(word_at(p, (size_t)text, 1), &sz))
		return REQ_LOST;
	if (is(first, "VALUE") || is(first, "VA"))
		req_skip(c, REQ_SERVER, sz + 2);
	if (set_error(r, p, (size_t)text) || answer == A_LINE || answer == A_META ||
	    ends_list(answer, p, (size_t)text))
		req_end(c, r, REQ_SERVER);
	return (int)len;
}

/* ---- the binary protocol ---- */

enum { OPCODE_STAT = 0x10, STATUS_NOT_FOUND = 1, STATUS_EXISTS = 2, STATUS_NOT_STORED = 5 };

/* By opcode. A name in lower case is that of the quiet form. */
static const char *const opcodes[] = {
	"GET",       "SET",       "ADD",       "REPLACE",   "DELETE", "INCR", "DECR",   "QUIT",
	"FLUSH",     "get",       "NOOP",      "VERSION",   "GETK",   "getk", "APPEND", "PREPEND",
	"STAT",      "set",       "add",       "replace",   "delete", "incr", "decr",   "quit",
	"flush",     "append",    "prepend",   "VERBOSITY", "TOUCH",  "GAT",  "gat",    NULL,
	"SASL_LIST", "SASL_AUTH", "SASL_STEP", "GATK",      "gatk",
};

static const char *opcode_name(uint8_t opcode)
{
	return opcode < sizeof(opcodes) / sizeof(opcodes[0]) ? opcodes[opcode] : NULL;
}

static int parse_request(struct sinsp_conn *c, const uint8_t *p, size_t n, unsigned int flags)
{
	const uint32_t key_len = n >= 4 ? wire_be16(p + 2) : 0;
	const char *name;
	struct request *r;
	size_t need;

	if (n < HEADER_SZ)
		return flags & REQ_F_CUT ? REQ_LOST : REQ_MORE;
	if (!is_header(p, n, MAGIC_REQUEST))
		return REQ_LOST;
	need = HEADER_SZ + (size_t)p[4] + key_len;
	if (n < need && !(flags & REQ_F_CUT))
		return REQ_MORE;
	r = req_begin(c);
	if (!r)
		return REQ_LOST;
	name = opcode_name(p[1]);
	if (name)
		req_set_upper(r, REQ_METHOD, name, strlen(name));
	if (name && islower((unsigned char)*name))
		set_quiet(r);
	r->id = (uint64_t)p[1] << 32 | wire_be32(p + 12);
	r->truncated = n < need;
	if (key_len && n >= need)
		req_set_text(r, REQ_RESOURCE, p + HEADER_SZ + p[4], key_len);
	if (n > need)
		n = need;
	req_skip(c, REQ_CLIENT, HEADER_SZ + (uint64_t)wire_be32(p + 8) - n);
	return (int)n;
}

static void set_status(struct request *r, const uint8_t *p, const uint8_t *text, size_t n)
{
	const uint16_t status = wire_be16(p + 6);
	char code[16];

	req_set_status(r, status);
	if (!status || status == STATUS_NOT_FOUND || status == STATUS_EXISTS ||
	    status == STATUS_NOT_STORED)
		return;
	snprintf(code, sizeof(code), "0x%02x", status);
	req_set_string(r, REQ_ERROR, code);
	if (n)
		req_set_text(r, REQ_ERROR_TEXT, text, n);
}

static int parse_response(struct sinsp_conn *c, const uint8_t *p, size_t n, unsigned int flags)
{
	struct request *r;
	uint32_t body;
	size_t here;

	if (n < HEADER_SZ)
		return flags & REQ_F_CUT ? REQ_LOST : REQ_MORE;
	if (!is_header(p, n, MAGIC_RESPONSE))
		return REQ_LOST;
	body = wire_be32(p + 8);
	if (n < HEADER_SZ + body && body < 256 && !(flags & REQ_F_CUT))
		return REQ_MORE;
	here = n < HEADER_SZ + (size_t)body ? n : HEADER_SZ + (size_t)body;
	r = req_find(c, (uint64_t)p[1] << 32 | wire_be32(p + 12));
	if (r)
		end_quiet(c, r);
	req_answer(c, r);
	if (r)
		set_status(r, p, p + HEADER_SZ, body < 256 ? here - HEADER_SZ : 0);
	if (r && !(p[1] == OPCODE_STAT && wire_be16(p + 2)))
		req_end(c, r, REQ_SERVER);
	req_skip(c, REQ_SERVER, HEADER_SZ + (uint64_t)body - here);
	return (int)here;
}

static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	struct memcached *st = req_state(c);

	if (flags & REQ_F_SEARCH)
		st->in_line = 0;
	if (from == REQ_CLIENT)
		return *p == MAGIC_REQUEST && !st->in_line ? parse_request(c, p, n, flags)
							   : parse_command(c, p, n, flags);
	return *p == MAGIC_RESPONSE ? parse_response(c, p, n, flags) : parse_answer(c, p, n, flags);
}

/* Answers to commands that were lost cannot be told from others. */
static void lost(struct sinsp_conn *c, enum req_from from)
{
	struct request *r = from == REQ_SERVER ? req_message(c, REQ_SERVER) : NULL;

	req_lost(c, from);
	if (r)
		req_answer_rest(c, r);
}

static const uint16_t ports[] = {11211, 0};

const struct req_protocol req_memcached = {
	.name = "memcached",
	.ports = ports,
	.state_sz = sizeof(struct memcached),
	.streams = 1,
	.match = match,
	.parse = parse,
	.lost = lost,
};
