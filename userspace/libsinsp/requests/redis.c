/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redis: RESP2 and RESP3. Commands are answered in order; a push message has no command. Values are
 * read line by line, and their bytes skipped, so that a value may have any size and any nesting
 * costs one number a level.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "protocol.h"
#include "wire.h"

enum {
	DEPTH_MAX = 16, /* deeper values end the parsing of the stream */
	ARG_MAX = 512, /* bytes of an argument, and of a statement */
	LINE_MAX_SZ = 4096,
	WORD_MAX = 24,
};

/* The value that is being read from a stream. */
struct value {
	uint64_t left[DEPTH_MAX]; /* elements to come, by level */
	uint8_t depth; /* levels that are open */
	uint8_t in_bulk; /* the line before announced bytes, which are not skipped: text of bulk */
	uint64_t bulk; /* their number */
	uint32_t n_elements; /* of the first level, that were read */
};

struct redis {
	struct value values[2]; /* by enum req_from */
	uint8_t is_push; /* the value of the server answers no command */
	uint8_t is_error; /* its text is that of an error: "!" */
	uint8_t silent; /* CLIENT REPLY OFF */
	uint8_t skip; /* CLIENT REPLY SKIP: commands without a reply to come */
	uint8_t unsure; /* commands were lost, whose replies are to come */
	uint8_t spoke; /* the server answered since then */
	char word[WORD_MAX]; /* the first element of the server's value: the kind of a push */
};

/* Commands whose arguments are secret from the one with this number on. */
static const struct {
	const char *name;
	uint8_t shown; /* arguments that are not secret */
} secret[] = {{"AUTH", 0}, {"HELLO", 1},  {"MIGRATE", 3},
	      {"ACL", 2},  {"CONFIG", 2}, {"SENTINEL", 2}};

/* ---- lines ---- */

/* Reads the number behind the type of a line. Returns 0 if there is none. -1: a null value, or one
 * of unknown length. */
static int read_count(const uint8_t *p, int len, int64_t *out)
{
	uint64_t count;

	if (len == 3 && p[1] == '-' && p[2] == '1') {
		*out = -1;
		return 1;
	}
	if (len < 2 || len > 16 || !wire_decimal(p + 1, (size_t)len - 1, &count))
		return 0;
	*out = (int64_t)count;
	return 1;
}

/* An element was read: closes the levels that it completes. Returns whether the value ended. */
static int close_element(struct value *v)
{
	while (v->depth) {
		if (v->depth == 1)
			v->n_elements++;
		if (--v->left[v->depth - 1])
			return 0;
		v->depth--;
	}
	return 1;
}

/* ---- recognition ---- */

/* A command: *N, then $LEN. */
static enum req_match match_command(const struct req_look *l)
{
	const uint8_t *p = l->p;
	int64_t count;
	size_t len;
	int text;

	if (*p != '*')
		return REQ_NO;
	text = wire_line(p, l->n, &len);
	if (text < 0)
		return l->n < 12 ? REQ_MAYBE : REQ_NO;
	if (p[len - 2] != '\r' || !read_count(p, text, &count) || count < 1)
		return REQ_NO;
	if (l->n == len)
		return REQ_MAYBE;
	return p[len] == '$' ? REQ_IS_REQUEST : REQ_NO;
}

/* The same bytes may be a command and a reply: the protocol itself does not show who is who. */
static enum req_match match(const struct req_look *l)
{
	const uint8_t *p = l->p;
	size_t len;
	int text;

	if (l->from == REQ_CLIENT)
		return match_command(l);
	if (l->from == REQ_UNKNOWN || !l->by_port)
		return REQ_NO;
	text = wire_line(p, l->n, &len);
	return *p && strchr("+-:$*_,#>%~", *p) && text > 0 && p[len - 2] == '\r' ? REQ_IS_RESPONSE
										 : REQ_NO;
}

/* ---- commands ---- */

static int is_secret(const struct request *r, uint32_t arg)
{
	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
		if (!strcmp(req_text(r, REQ_METHOD), secret[i].name))
			return arg > secret[i].shown;
	return 0;
}

/* Adds argument number @arg; 0 is the name of the command. */
static void add_argument(struct request *r, uint32_t arg, const uint8_t *p, size_t n)
{
	if (!r)
		return;
	if (!arg)
		req_set_upper(r, REQ_METHOD, p, n);
	else if (arg == 1 && !is_secret(r, arg))
		req_set_text(r, REQ_RESOURCE, p, n);
	if (strlen(req_text(r, REQ_STATEMENT)) + n > ARG_MAX && arg)
		return;
	if (arg)
		req_add_text(r, REQ_STATEMENT, " ", 1);
	if (is_secret(r, arg))
		req_add_text(r, REQ_STATEMENT, "***", 3);
	else
		req_add_text(r, REQ_STATEMENT, p, n);
}

static int is_command(const struct request *r, const char *name)
{
	return r && !strcasecmp(req_text(r, REQ_STATEMENT), name);
}

/* The command is complete. */
static void end_command(struct sinsp_conn *c, struct redis *st)
{
	struct request *r = req_message(c, REQ_CLIENT);
	const int silent = st->silent || st->skip;

	if (!r)
		return;
	st->skip -= st->skip != 0;
	if (is_command(r, "CLIENT REPLY OFF")) {
		st->silent = 1;
	} else if (is_command(r, "CLIENT REPLY SKIP")) {
		st->skip = 1;
	} else if (is_command(r, "CLIENT REPLY ON")) {
		st->silent = 0;
		return;
	} else if (!silent) {
		return;
	}
	r->kind = REQ_KIND_ONEWAY;
	req_end(c, r, REQ_CLIENT);
}

/* A command on a line of its own, as people type it. */
static int parse_inline(struct sinsp_conn *c, struct redis *st, const uint8_t *p, size_t n,
			unsigned int flags)
{
	size_t len, at = 0;
	int text = wire_line(p, n, &len);
	struct request *r;

	if (*p == '\r' || *p == '\n')
		return 1;
	if (!isalpha(*p) || flags & REQ_F_SEARCH)
		return REQ_LOST;
	if (text < 0)
		return n < LINE_MAX_SZ ? REQ_MORE : REQ_LOST;
	r = req_begin(c);
	for (uint32_t arg = 0; at < (size_t)text && arg < 64; arg++) {
		const uint8_t *sp = memchr(p + at, ' ', (size_t)text - at);
		const size_t word = sp ? (size_t)(sp - p) - at : (size_t)text - at;

		add_argument(r, arg, p + at, word);
		at += word + 1;
	}
	end_command(c, st);
	return (int)len;
}

/* Begins a command: "*N". */
static int begin_command(struct sinsp_conn *c, struct redis *st, const uint8_t *p, size_t n,
			 unsigned int flags)
{
	struct value *v = &st->values[REQ_CLIENT];
	struct request *r;
	int64_t count;
	size_t len;
	int text;

	if (*p != '*')
		return parse_inline(c, st, p, n, flags);
	text = wire_line(p, n, &len);
	if (text < 0)
		return n < 32 ? REQ_MORE : REQ_LOST;
	if (!read_count(p, text, &count))
		return REQ_LOST;
	if (count <= 0)
		return (int)len;
	if (!req_first_waiting(c) && st->spoke)
		st->unsure = 0;
	r = req_begin(c);
	if (!r)
		return REQ_LOST;
	r->truncated = st->unsure;
	*v = (struct value){.left = {(uint64_t)count}, .depth = 1};
	return (int)len;
}

static void end_argument(struct sinsp_conn *c, struct redis *st)
{
	if (close_element(&st->values[REQ_CLIENT]))
		end_command(c, st);
}

/* The bytes of an argument: kept if they are few. */
static int parse_argument(struct sinsp_conn *c, struct redis *st, const uint8_t *p, size_t n,
			  unsigned int flags)
{
	struct value *v = &st->values[REQ_CLIENT];
	struct request *r = req_message(c, REQ_CLIENT);
	const uint64_t sz = v->bulk + 2;
	const size_t here = n < v->bulk ? n : (size_t)v->bulk;

	if (n < sz && v->bulk <= ARG_MAX && !(flags & REQ_F_CUT))
		return REQ_MORE;
	if (r && n < v->bulk && v->n_elements < 2)
		r->truncated = 1;
	add_argument(r, v->n_elements, p, here < ARG_MAX ? here : ARG_MAX);
	v->in_bulk = 0;
	if (n < sz)
		req_skip(c, REQ_CLIENT, sz - n);
	end_argument(c, st);
	return n < sz ? (int)n : (int)sz;
}

static int parse_command(struct sinsp_conn *c, struct redis *st, const uint8_t *p, size_t n,
			 unsigned int flags)
{
	struct value *v = &st->values[REQ_CLIENT];
	int64_t count;
	size_t len;
	int text;

	if (v->in_bulk)
		return parse_argument(c, st, p, n, flags);
	if (!v->depth)
		return begin_command(c, st, p, n, flags);
	text = wire_line(p, n, &len);
	if (text < 0)
		return n < 32 ? REQ_MORE : REQ_LOST;
	if (*p != '$' || !read_count(p, text, &count) || count < 0)
		return REQ_LOST;
	v->bulk = (uint64_t)count;
	v->in_bulk = 1;
	return (int)len;
}

/* ---- replies ---- */

static int is_push_kind(const char *word)
{
	static const char *const kinds[] = {"message", "pmessage", "smessage", "invalidate"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(word, kinds[i]))
			return 1;
	return 0;
}

/* Returns whether @word confirms a subscription: the reply to a command of that name. */
static int is_confirmation(const char *word)
{
	const size_t n = strlen(word);

	return n >= 9 && !strcmp(word + n - 9, "subscribe");
}

/* "-WRONGTYPE Operation against ..." */
static void set_error(struct request *r, const uint8_t *p, size_t n)
{
	const uint8_t *sp = memchr(p, ' ', n);

	if (!r)
		return;
	req_set_text(r, REQ_ERROR, p, sp ? (size_t)(sp - p) : n);
	if (sp)
		req_set_text(r, REQ_ERROR_TEXT, sp + 1, n - (size_t)(sp + 1 - p));
}

/* A message to a subscriber is a one-way request by the server. Returns whether it is one. */
static int end_push(struct sinsp_conn *c, struct redis *st)
{
	struct request *r = req_message(c, REQ_SERVER);

	if (!r || r->kind != REQ_KIND_ONEWAY)
		return 0;
	if (!is_push_kind(st->word)) {
		req_cancel(c, r);
		return 0;
	}
	req_set_string(r, REQ_METHOD, st->word);
	req_end(c, r, REQ_SERVER);
	return 1;
}

/* The value of the server is complete. */
static void end_reply(struct sinsp_conn *c, struct redis *st)
{
	struct request *r = req_first_waiting(c);

	st->spoke = 1;
	if (end_push(c, st))
		return;
	if (is_confirmation(st->word)) {
		if (r && !strcasecmp(req_text(r, REQ_METHOD), st->word)) {
			req_answer(c, r);
			req_end(c, r, REQ_SERVER);
		}
	} else if (!st->is_push) {
		req_end(c, r, REQ_SERVER);
	}
	if (r && (is_command(r, "SYNC") || !strcmp(req_text(r, REQ_METHOD), "PSYNC")))
		req_switch(c, NULL); /* a replica: a stream of its own follows */
}

static void end_value(struct sinsp_conn *c, struct redis *st)
{
	if (close_element(&st->values[REQ_SERVER]))
		end_reply(c, st);
}

/* Keeps the first element of an array, which is the kind of a push. */
static void note_word(struct redis *st, const uint8_t *p, size_t n)
{
	const struct value *v = &st->values[REQ_SERVER];

	if (v->depth != 1 || v->n_elements || n >= sizeof(st->word))
		return;
	memcpy(st->word, p, n);
	st->word[n] = 0;
}

/* The second element of a push is its channel. */
static void note_channel(struct sinsp_conn *c, const struct redis *st, const uint8_t *p, size_t n)
{
	const struct value *v = &st->values[REQ_SERVER];
	struct request *r = req_message(c, REQ_SERVER);

	if (v->depth == 1 && v->n_elements == 1 && r && r->kind == REQ_KIND_ONEWAY)
		req_set_text(r, REQ_RESOURCE, p, n);
}

static int parse_bulk(struct sinsp_conn *c, struct redis *st, const uint8_t *p, size_t n,
		      unsigned int flags)
{
	struct value *v = &st->values[REQ_SERVER];
	const uint64_t sz = v->bulk + 2;
	const int kept = st->is_error || (v->depth == 1 && v->n_elements < 2 && v->bulk < ARG_MAX);
	const size_t here = n < v->bulk ? n : (size_t)v->bulk;

	if (kept && n < sz && v->bulk < LINE_MAX_SZ && !(flags & REQ_F_CUT))
		return REQ_MORE;
	if (st->is_error && !v->depth)
		set_error(req_first_waiting(c), p, here);
	note_word(st, p, here);
	note_channel(c, st, p, here);
	v->in_bulk = 0;
	if (n < sz)
		req_skip(c, REQ_SERVER, sz - n);
	end_value(c, st);
	return n < sz ? (int)n : (int)sz;
}

static void begin_reply(struct sinsp_conn *c, struct redis *st, uint8_t type)
{
	st->is_push = type == '>';
	st->is_error = 0;
	st->word[0] = 0;
	st->values[REQ_SERVER].n_elements = 0;
	if (st->is_push || (type == '*' && !req_first_waiting(c)))
		req_push(c);
	else
		req_answer(c, req_first_waiting(c));
}

/* Opens a level with @n elements. Returns 0 if there are too many levels. */
static int open_level(struct sinsp_conn *c, struct redis *st, uint64_t n)
{
	struct value *v = &st->values[REQ_SERVER];

	if (!n) {
		end_value(c, st);
		return 1;
	}
	if (v->depth == DEPTH_MAX)
		return 0;
	v->left[v->depth++] = n;
	return 1;
}

static int parse_reply(struct sinsp_conn *c, struct redis *st, const uint8_t *p, size_t n,
		       unsigned int flags)
{
	struct value *v = &st->values[REQ_SERVER];
	int64_t count = 0;
	size_t len;
	int text;

	if (v->in_bulk)
		return parse_bulk(c, st, p, n, flags);
	if (!strchr("+-:$*_,#(!=%~>|", *p) || !*p)
		return REQ_LOST;
	text = wire_line(p, n, &len);
	if (text < 0)
		return n < LINE_MAX_SZ ? REQ_MORE : REQ_LOST;
	if (strchr("$*!=%~>|", *p) && !read_count(p, text, &count))
		return REQ_LOST;
	if (!v->depth)
		begin_reply(c, st, *p);
	switch (*p) {
	case '$':
	case '=':
	case '!':
		st->is_error = *p == '!';
		v->bulk = (uint64_t)count;
		v->in_bulk = count >= 0;
		if (count < 0)
			end_value(c, st);
		break;
	case '|': /* attributes come before the value */
	case '%':
		return open_level(c, st, count < 0 ? 0 : (uint64_t)count * 2 + (*p == '|'))
			       ? (int)len
			       : REQ_LOST;
	case '*':
	case '~':
	case '>':
		return open_level(c, st, count < 0 ? 0 : (uint64_t)count) ? (int)len : REQ_LOST;
	case '-':
		if (!v->depth)
			set_error(req_first_waiting(c), p + 1, (size_t)text - 1);
		/* fall through */
	default:
		note_word(st, p + 1, (size_t)text - 1);
		end_value(c, st);
	}
	return (int)len;
}

static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	struct redis *st = req_state(c);

	if (flags & REQ_F_SEARCH)
		st->values[from] = (struct value){0};
	return from == REQ_CLIENT ? parse_command(c, st, p, n, flags)
				  : parse_reply(c, st, p, n, flags);
}

/* Replies that were lost may be those of any open command: which one is next is only known after
 * the client sends again. */
static void lost_replies(struct sinsp_conn *c)
{
	const struct request *message = req_message(c, REQ_SERVER);
	struct request *r = req_first_waiting(c);

	if (r && !(message && message->kind == REQ_KIND_ONEWAY))
		req_answer_rest(c, r);
}

/* Commands that were lost have replies as well, which cannot be told from those of the next. */
static void lost(struct sinsp_conn *c, enum req_from from)
{
	struct redis *st = req_state(c);

	req_lost(c, from);
	if (from == REQ_CLIENT) {
		st->unsure = 1;
		st->spoke = 0;
	} else {
		lost_replies(c);
	}
}

static const uint16_t ports[] = {6379, 6380, 26379, 0};

const struct req_protocol req_redis = {
	.name = "redis",
	.ports = ports,
	.state_sz = sizeof(struct redis),
	.streams = 1,
	.match = match,
	.parse = parse,
	.lost = lost,
};
