/* SPDX-License-Identifier: Apache-2.0 */
/* Completes the filter: fields by their table, values by those that the view shows. */
#include <stdlib.h>
#include <string.h>

#include "fields/field.h"
#include "scap.h"
#include "top_cell.h"
#include "top_screen_state.h"
#include "top_words.h"

enum { HINTS = 60, ROWS_MAX = 100000 };

struct completion {
	struct top_words words;
	const char *prefix;
	size_t len;
	int err;
};

static void add(struct completion *c, const char *text, size_t n)
{
	if (n && !c->err)
		c->err = top_words_add(&c->words, text, n, c->prefix, c->len);
}

static void add_list(struct completion *c, const char *const *texts)
{
	for (; *texts; texts++)
		add(c, *texts, strlen(*texts));
}

static void add_fields(struct completion *c)
{
	for (const struct sinsp_field_class *const *class = sinsp_field_classes; *class; class ++)
		for (size_t i = 0; i < (*class)->n_rows; i++) {
			const struct sinsp_field_row *row = &(*class)->rows[i];

			if (!(row->flags & (FIELD_F_UNSUPPORTED | FIELD_F_HIDDEN)))
				add(c, row->name, strlen(row->name));
		}
}

static void add_name(void *ctx, const char *name)
{
	add(ctx, name, strlen(name));
}

/* Adds the values of the key or column @at of all rows; -1: the key. */
static void add_column(struct completion *c, const struct view_table *t, int at)
{
	size_t n_cols, n = view_table_n_rows(t);
	const struct view_column *cols = view_table_columns(t, &n_cols);
	struct sinsp_text text = {0};
	struct view_type type;

	for (size_t i = 0; i < n && i < ROWS_MAX && !c->err; i++) {
		const struct view_cell *cell = view_table_key(t, i, &type);

		if (at >= 0) {
			cell = &view_table_cells(t, i)[at];
			type = cols[at].type;
		}
		text.len = 0;
		c->err = top_key_text(&text, cell, &type);
		if (!c->err)
			add(c, text.p ?: "", text.len);
	}
	free(text.p);
}

static void add_values(struct completion *c, const struct top_screen *s, const char *field,
		       size_t len)
{
	const struct view_table *t = s->snap ? s->snap->table : NULL;
	const struct sinsp_view_column *key = t ? view_table_key_column(t) : NULL;
	const struct sinsp_field_row *row = sinsp_field_find(field, len);
	const struct view_column *cols;
	size_t n = 0;

	if (top_is_word("evt.type", field, len))
		scap_calls_each_name(add_name, c);
	if (row && row->values) /* it has no others */
		add_list(c, row->values);
	if (!t)
		return;
	cols = view_table_columns(t, &n);
	if (key && top_is_word(key->field, field, len))
		add_column(c, t, -1);
	for (size_t i = 0; i < n; i++)
		if (top_is_word(cols[i].info->field, field, len))
			add_column(c, t, (int)i);
}

/* ---- the text ---- */

static int needs_quotes(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strchr(" \t\"'\\=!<>(),", s[i]) || (unsigned char)s[i] < ' ')
			return 1;
	return 0;
}

/* Appends a value as filters have it; only a whole one has a quote at its end. */
static int put_value(struct sinsp_text *out, const char *s, size_t n, int is_whole, int quoted)
{
	int err = 0;

	if (!quoted && !needs_quotes(s, n))
		return top_put(out, "%.*s", (int)n, s);
	err = top_put(out, "\"");
	for (size_t i = 0; i < n && !err; i++)
		err = top_put(out, s[i] == '"' || s[i] == '\\' ? "\\%c" : "%c", s[i]);
	return err ?: is_whole ? top_put(out, "\"") : 0;
}

/* Puts the text in the place of the word before the cursor. */
static void replace(struct top_prompt *p, size_t begin, const struct sinsp_text *text)
{
	const size_t rest = p->len - p->cursor;

	if (begin + text->len + rest + 1 > TOP_PROMPT_SZ)
		return;
	memmove(p->text + begin + text->len, p->text + p->cursor, rest + 1);
	memcpy(p->text + begin, text->p ?: "", text->len);
	p->len = begin + text->len + rest;
	p->cursor = begin + text->len;
}

static void show_words(struct top_screen *s, const struct top_words *w)
{
	struct sinsp_text text = {0};

	for (size_t i = 0; i < w->n && i < HINTS; i++)
		top_put(&text, "%s%s", i ? "  " : "", w->v[i]);
	if (w->n > HINTS)
		top_put(&text, "  and %zu more", w->n - HINTS);
	top_say(s, "%.*s", (int)text.len, text.p ?: "");
	free(text.p);
}

/* Removes the quote and the backslashes of an unfinished value. */
static size_t plain(char *text)
{
	char *to = text;
	const char quote = *text;

	if (quote != '"' && quote != '\'')
		return strlen(text);
	for (const char *from = text + 1; *from; from++) {
		if (*from == '\\' && from[1])
			from++;
		*to++ = *from;
	}
	*to = 0;
	return (size_t)(to - text);
}

static void collect(struct completion *c, const struct top_screen *s,
		    const struct top_place_of_word *at)
{
	static const char *const operators[] = {
		"=",         "!=",         "<",        ">",    "<=", ">=",     "contains",
		"icontains", "startswith", "endswith", "glob", "in", "exists", NULL};
	static const char *const connectives[] = {"and", "or", NULL};

	if (at->kind == TOP_WORD_FIELD)
		add_fields(c);
	else if (at->kind == TOP_WORD_OPERATOR)
		add_list(c, operators);
	else if (at->kind == TOP_WORD_CONNECTIVE)
		add_list(c, connectives);
	else
		add_values(c, s, s->prompt.text + at->field, at->field_len);
	top_words_sort(&c->words);
}

void top_complete(struct top_screen *s)
{
	struct top_prompt *p = &s->prompt;
	struct completion c = {.words = {0}};
	struct sinsp_text text = {0};
	struct top_place_of_word at;
	char *word;
	int quoted;

	top_word_at(&at, p->text, p->cursor);
	word = strndup(p->text + at.begin, p->cursor - at.begin);
	if (!word)
		return;
	quoted = *word == '"' || *word == '\'';
	c.prefix = word;
	c.len = at.kind == TOP_WORD_VALUE ? plain(word) : strlen(word);
	collect(&c, s, &at);
	if (!c.words.n) {
		top_say(s, "no known word begins like this");
	} else {
		const size_t n = top_words_common(&c.words);

		if (at.kind == TOP_WORD_VALUE)
			c.err = put_value(&text, c.words.v[0], n, c.words.n == 1, quoted);
		else
			c.err = top_put(&text, "%.*s", (int)n, c.words.v[0]);
		if (!c.err && n >= c.len)
			replace(p, at.begin, &text);
		if (c.words.n > 1)
			show_words(s, &c.words);
	}
	top_words_fini(&c.words);
	free(text.p);
	free(word);
}
