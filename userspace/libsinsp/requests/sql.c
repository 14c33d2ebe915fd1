/* SPDX-License-Identifier: Apache-2.0 */
#include "sql.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "fields/sql_text.h"
#include "request.h"
#include "sql_secrets.h"

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

/* Reads the token at *at. A name of several parts, quoted or not, is one: "a"."b". */
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

void sql_set(struct request *r, const char *p, size_t n, enum sql_dialect dialect)
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
	sql_set_statement(r, p, n, dialect);
}
