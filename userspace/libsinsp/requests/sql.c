/* SPDX-License-Identifier: Apache-2.0 */
#include "sql.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "fields/sql_text.h"
#include "request.h"

enum { METHOD_MAX = 32, TABLE_MAX = 128, TOKENS_MAX = 4096 };

struct token {
	const char *p;
	size_t n;
	char kind; /* 'w': word or name, '\'': text, else the character itself; 0: the end */
};

static size_t skip_space(const char *p, size_t n, size_t i)
{
	size_t end;

	for (; i < n; i = end) {
		if (n - i > 3 && !memcmp(p + i, "/*!", 3))
			end = i + 3; /* MySQL executes what is in it */
		else
			end = isspace((unsigned char)p[i]) ? i + 1 : sql_end_of_comment(p, n, i);
		if (end == i)
			break;
	}
	return i;
}

/* A name has its schema in front of it. */
static int is_word(char c)
{
	return sql_is_word(c) || c == '.';
}

/* Reads the token at *at. A name of several parts, quoted or not, is one: "a"."b". So is a text
 * with what says how it is written: E'', U&'', _utf8''. */
static struct token next_token(const char *p, size_t n, size_t *at)
{
	size_t i = skip_space(p, n, *at);
	struct token t = {p + i, 0, 0};

	if (i < n && p[i] == '\'') {
		t.kind = '\'';
		i = sql_end_of_quoted(p, n, i, 1);
	} else if (i < n && (is_word(p[i]) || p[i] == '"' || p[i] == '`')) {
		t.kind = 'w';
		while (i < n && (is_word(p[i]) || p[i] == '"' || p[i] == '`'))
			i = is_word(p[i]) ? i + 1 : sql_end_of_quoted(p, n, i, 0);
		if (n - i > 1 && p[i] == '&' && p[i + 1] == '\'')
			i++;
		if (i < n && p[i] == '\'') {
			t.kind = '\'';
			i = sql_end_of_quoted(p, n, i, 1);
		}
	} else if (i < n) {
		t.kind = p[i++];
	}
	t.n = (size_t)(p + i - t.p);
	*at = i;
	return t;
}

static int is(struct token t, const char *word)
{
	return t.kind == 'w' && t.n == strlen(word) && !strncasecmp(t.p, word, t.n);
}

/* Sets the name of a table without its quotes. */
static void set_table(struct request *r, struct token t)
{
	char name[TABLE_MAX];
	size_t n = 0;

	for (size_t i = 0; i < t.n && n < sizeof(name); i++)
		if (t.p[i] != '"' && t.p[i] != '`')
			name[n++] = t.p[i];
	req_set_text(r, REQ_RESOURCE, name, n);
}

/* Returns whether a table, or one behind ONLY or IF EXISTS, follows the word. */
static int precedes_table(struct token t)
{
	static const char *const words[] = {"FROM",  "INTO", "UPDATE",  "JOIN",
					    "TABLE", "COPY", "TRUNCATE"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is(t, words[i]))
			return 1;
	return 0;
}

static int is_between(struct token t)
{
	static const char *const words[] = {"ONLY",  "IF",     "NOT",         "EXISTS",
					    "TABLE", "IGNORE", "LOW_PRIORITY"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is(t, words[i]))
			return 1;
	return 0;
}

/* ---- secrets ---- */

/* Returns whether the bytes have the word, whatever its case. */
static int has(const char *p, size_t n, const char *word)
{
	const size_t len = strlen(word);

	for (size_t i = 0; i + len <= n; i++)
		if (tolower((unsigned char)p[i]) == *word && !strncasecmp(p + i, word, len))
			return 1;
	return 0;
}

/* Words behind which texts may be passwords, up to the end of the statement: PASSWORD,
 * MASTER_PASSWORD, mysql_native_password, IDENTIFIED. */
static int precedes_secrets(struct token t)
{
	return is(t, "IDENTIFIED") || (t.kind == 'w' && t.n >= 8 && sql_is_word(*t.p) &&
				       !strncasecmp(t.p + t.n - 8, "PASSWORD", 8));
}

/* $1, $2: the text is elsewhere. */
static int is_place(struct token t)
{
	size_t i = 1;

	while (i < t.n && isdigit((unsigned char)t.p[i]))
		i++;
	return *t.p == '$' && i > 1 && i == t.n;
}

/* Returns whether a token behind such a word may be one. In double quotes it may be a name. */
static int may_be_secret(struct token before, struct token t)
{
	if (t.kind == '\'' || (*t.p == '$' && !is_place(t)))
		return 1;
	if (*t.p == '"')
		return precedes_secrets(before) || is(before, "BY") || is(before, "AS") ||
		       before.kind == '=' || before.kind == '(';
	return t.n > 2 && *t.p == '0' && (t.p[1] | 0x20) == 'x';
}

/* Where a text ends depends on the server if a backslash is in it, and $$ is not understood: what
 * follows may be a part of it. */
static int has_sure_end(struct token t)
{
	return *t.p != '$' && !memchr(t.p, '\\', t.n);
}

/* Appends the statements without the texts that may be passwords. */
static void add_without_passwords(struct request *r, const char *p, size_t n)
{
	struct token t, before = {p, 0, 0};
	size_t at = 0, done = 0;
	int secrets = 0;

	req_set_string(r, REQ_STATEMENT, "");
	for (int i = 0; i < TOKENS_MAX; i++) {
		t = next_token(p, n, &at);
		if (!t.kind) {
			req_add_text(r, REQ_STATEMENT, p + done, n - done);
			return;
		}
		if ((secrets && may_be_secret(before, t)) ||
		    (t.kind == '\'' && has(t.p, t.n, "passw"))) {
			req_add_text(r, REQ_STATEMENT, p + done, (size_t)(t.p - p) - done);
			req_add_text(r, REQ_STATEMENT, "'***'", 5);
			done = at;
			if (!has_sure_end(t))
				return;
		} else if (t.kind == ';') {
			secrets = 0;
		} else if (precedes_secrets(t)) {
			secrets = 1;
		}
		before = t;
	}
	req_add_text(r, REQ_STATEMENT, p + done, at - done);
	req_add_text(r, REQ_STATEMENT, "***", 3);
}

void sql_set(struct request *r, const char *p, size_t n)
{
	struct token t, first;
	size_t at = 0;
	int table = 0;

	first = next_token(p, n, &at);
	while (first.kind == '(')
		first = next_token(p, n, &at);
	if (first.kind == 'w')
		req_set_upper(r, REQ_METHOD, first.p, first.n < METHOD_MAX ? first.n : METHOD_MAX);
	table = precedes_table(first);
	t = next_token(p, n, &at);
	for (int i = 0; t.kind && i < TOKENS_MAX; i++) {
		if (table && t.kind == 'w' && !is_between(t)) {
			set_table(r, t);
			break;
		}
		table = precedes_table(t) || (table && is_between(t));
		t = next_token(p, n, &at);
	}
	if (has(p, n, "passw") || has(p, n, "identified"))
		add_without_passwords(r, p, n);
	else
		req_set_text(r, REQ_STATEMENT, p, n);
}
