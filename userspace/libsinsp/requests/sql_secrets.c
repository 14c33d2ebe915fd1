/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_secrets.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "fields/sql_text.h"
#include "request.h"

enum { PARTS_MAX = 8192 };

struct scan {
	const char *p;
	size_t n, at;
	enum sql_dialect dialect;
};

enum part_kind { PART_END, PART_WORD, PART_TEXT, PART_OTHER };

struct part {
	enum part_kind kind;
	size_t from, to;
};

/* Returns whether the bytes have the word, of small letters, whatever their case. Every statement
 * is searched, so most bytes cost one comparison. */
static int has(const char *p, size_t n, const char *word)
{
	const size_t len = strlen(word);

	for (size_t i = 0; i + len <= n; i++)
		if ((p[i] | 0x20) == *word && !strncasecmp(p + i, word, len))
			return 1;
	return 0;
}

static int begins(const struct scan *s, size_t i, const char *text)
{
	const size_t len = strlen(text);

	return s->n - i >= len && !memcmp(s->p + i, text, len);
}

static size_t end_of_line(const struct scan *s, size_t i)
{
	const char *nl = memchr(s->p + i, '\n', s->n - i);

	return nl ? (size_t)(nl - s->p) + 1 : s->n;
}

/* A comment of PostgreSQL has comments in it. */
static size_t end_of_nested(const struct scan *s, size_t i)
{
	int depth = 1;

	for (i += 2; i < s->n && depth; i++) {
		const int opens = begins(s, i, "/*"), closes = begins(s, i, "*/");

		depth += opens - closes;
		i += (size_t)(opens | closes);
	}
	return i < s->n ? i : s->n;
}

/* Returns the end of a space or comment; @i: there is none. MySQL and MariaDB execute what is in
 * some comments, and take -- for two signs where no space follows. */
static size_t end_of_space(const struct scan *s, size_t i)
{
	if (isspace((unsigned char)s->p[i]))
		return i + 1;
	if (s->dialect == SQL_PGSQL)
		return begins(s, i, "/*")   ? end_of_nested(s, i)
		       : begins(s, i, "--") ? end_of_line(s, i)
					    : i;
	if (begins(s, i, "/*!") || begins(s, i, "/*M!"))
		return i + 3;
	if (s->p[i] == '#' ||
	    (begins(s, i, "--") && (s->n - i == 2 || (unsigned char)s->p[i + 2] <= ' ')))
		return end_of_line(s, i);
	return begins(s, i, "/*") ? sql_end_of_comment(s->p, s->n, i) : i;
}

/* Returns the end of a text $tag$...$tag$ of PostgreSQL; @i: there is none. */
static size_t end_of_dollars(const struct scan *s, size_t i)
{
	size_t end = i + 1, len;
	const char *close;

	if (s->dialect != SQL_PGSQL || s->p[i] != '$')
		return i;
	while (end < s->n && s->p[end] != '$' && sql_is_word(s->p[end]))
		end++;
	if (end == s->n || s->p[end] != '$' || isdigit((unsigned char)s->p[i + 1]))
		return i;
	len = ++end - i;
	close = memmem(s->p + end, s->n - end, s->p + i, len);
	return close ? (size_t)(close - s->p) + len : s->n;
}

/* Double quotes are those of names in PostgreSQL, of texts in MySQL. */
static enum part_kind quoted_kind(const struct scan *s, char c)
{
	if (c == '\'' || (c == '"' && s->dialect == SQL_MYSQL))
		return PART_TEXT;
	return c == '"' || (c == '`' && s->dialect == SQL_MYSQL) ? PART_WORD : PART_END;
}

/* Returns whether a backslash escapes in a text: in PostgreSQL, behind E. */
static int escapes(const struct scan *s, size_t i)
{
	if (s->dialect == SQL_MYSQL)
		return 1;
	return i && (s->p[i - 1] | 0x20) == 'e' && (i == 1 || !sql_is_word(s->p[i - 2]));
}

static struct part next_part(struct scan *s)
{
	struct part part = {PART_END, 0, 0};
	size_t i = s->at, end;

	while (i < s->n && (end = end_of_space(s, i)) > i)
		i = end;
	part.from = i;
	if (i == s->n)
		return part;
	part.kind = quoted_kind(s, s->p[i]);
	if (part.kind) {
		i = sql_end_of_quoted(s->p, s->n, i, part.kind == PART_TEXT && escapes(s, i));
	} else if ((end = end_of_dollars(s, i)) > i) {
		part.kind = PART_TEXT;
		i = end;
	} else if (sql_is_word(s->p[i])) {
		part.kind = PART_WORD;
		while (i < s->n && sql_is_word(s->p[i]))
			i++;
	} else {
		part.kind = PART_OTHER;
		i++;
	}
	part.to = s->at = i;
	return part;
}

/* A quote behind a backslash ends the text, or not, by settings of the server. */
static int has_sure_end(const char *p, size_t n)
{
	for (const char *at = p, *end = p + n; (at = memchr(at, '\\', (size_t)(end - at))); at++)
		if (at + 1 < end && at[1] == *p)
			return 0;
	return 1;
}

/* 0x1F may be a text, too. */
static int is_hex(const struct part *part, const char *p)
{
	return part->kind == PART_WORD && part->to - part->from > 2 && p[0] == '0' && p[1] == 'x';
}

void sql_set_statement(struct request *r, const char *p, size_t n, enum sql_dialect dialect)
{
	struct scan s = {p, n, 0, dialect};
	size_t done = 0;
	int secrets = 0;

	if (!has(p, n, "passw") && !has(p, n, "identified")) {
		req_set_text(r, REQ_STATEMENT, p, n);
		return;
	}
	req_set_string(r, REQ_STATEMENT, "");
	for (int i = 0; i < PARTS_MAX; i++) {
		const struct part part = next_part(&s);
		const char *at = p + part.from;
		const size_t len = part.to - part.from;
		int hides;

		if (part.kind == PART_END) {
			req_add_text(r, REQ_STATEMENT, p + done, n - done);
			return;
		}
		if (part.kind == PART_TEXT)
			hides = secrets || has(at, len, "passw") || !has_sure_end(at, len);
		else
			hides = secrets && is_hex(&part, at);
		if (hides) {
			req_add_text(r, REQ_STATEMENT, p + done, part.from - done);
			req_add_text(r, REQ_STATEMENT, "'***'", 5);
			done = part.to;
			if (!has_sure_end(at, len))
				return;
		} else if (part.kind == PART_WORD) {
			secrets |= has(at, len, "passw") || has(at, len, "identified");
		}
	}
	req_add_text(r, REQ_STATEMENT, p + done, s.at - done);
	req_add_text(r, REQ_STATEMENT, "***", 3);
}
