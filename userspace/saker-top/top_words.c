/* SPDX-License-Identifier: Apache-2.0 */
#include "top_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 100000 };

/* ---- the place ---- */

struct scan {
	struct top_place_of_word *at;
	const char *text;
	size_t i, n;
	int in_list;
};

int top_is_word(const char *word, const char *s, size_t n)
{
	return strlen(word) == n && memcmp(word, s, n) == 0;
}

static void pass_symbol(struct scan *s)
{
	struct top_place_of_word *at = s->at;
	const char c = s->text[s->i++];

	if (c == '(' && at->kind == TOP_WORD_VALUE)
		s->in_list = 1;
	else if (c == '(')
		at->kind = TOP_WORD_FIELD;
	else if (c == ',')
		at->kind = s->in_list ? TOP_WORD_VALUE : at->kind;
	else if (c == ')') {
		s->in_list = 0;
		at->kind = TOP_WORD_CONNECTIVE;
	} else if (at->kind == TOP_WORD_OPERATOR) {
		at->kind = TOP_WORD_VALUE;
	}
}

/* A whole word, which others follow. */
static void pass_word(struct scan *s, size_t from, size_t to)
{
	struct top_place_of_word *at = s->at;

	switch (at->kind) {
	case TOP_WORD_FIELD:
		if (top_is_word("not", s->text + from, to - from))
			break;
		at->field = from;
		at->field_len = to - from;
		at->kind = TOP_WORD_OPERATOR;
		break;
	case TOP_WORD_OPERATOR:
		at->kind = top_is_word("exists", s->text + from, to - from) ? TOP_WORD_CONNECTIVE
									    : TOP_WORD_VALUE;
		break;
	case TOP_WORD_VALUE:
		at->kind = s->in_list ? TOP_WORD_VALUE : TOP_WORD_CONNECTIVE;
		break;
	case TOP_WORD_CONNECTIVE:
		at->kind = TOP_WORD_FIELD;
		break;
	}
}

/* Returns the end of the word or quoted text; behind @n: it is unfinished. */
static size_t end_of(const struct scan *s)
{
	const char quote = s->text[s->i];
	size_t i = s->i;

	if (quote != '"' && quote != '\'') {
		while (i < s->n && !strchr(" \t=!<>(),", s->text[i]))
			i++;
		return i < s->n ? i : s->n + 1;
	}
	for (i++; i < s->n && s->text[i] != quote; i++)
		if (s->text[i] == '\\')
			i++;
	return i < s->n ? i + 1 : s->n + 1;
}

void top_word_at(struct top_place_of_word *at, const char *text, size_t n)
{
	struct scan s = {.at = at, .text = text, .n = n};

	*at = (struct top_place_of_word){.begin = n};
	while (s.i < n) {
		const char c = text[s.i];
		size_t end;

		if (c == ' ' || c == '\t') {
			s.i++;
			continue;
		}
		if (strchr("=!<>(),", c)) {
			pass_symbol(&s);
			continue;
		}
		end = end_of(&s);
		if (end > n) {
			at->begin = s.i;
			return;
		}
		pass_word(&s, s.i, end);
		s.i = end;
	}
}

/* ---- the words ---- */

int top_words_add(struct top_words *w, const char *text, size_t n, const char *prefix, size_t k)
{
	char **v = w->v;

	if (n < k || memcmp(text, prefix, k) != 0 || w->n == WORDS_MAX)
		return 0;
	if (w->n == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 64;
		v = realloc(w->v, w->cap * sizeof(*v));
		if (!v)
			return -ENOMEM;
		w->v = v;
	}
	v[w->n] = strndup(text, n);
	if (!v[w->n])
		return -ENOMEM;
	w->n++;
	return 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void top_words_sort(struct top_words *w)
{
	size_t n = 0;

	if (w->n)
		qsort(w->v, w->n, sizeof(*w->v), compare);
	for (size_t i = 0; i < w->n; i++) {
		if (n && strcmp(w->v[n - 1], w->v[i]) == 0)
			free(w->v[i]);
		else
			w->v[n++] = w->v[i];
	}
	w->n = n;
}

size_t top_words_common(const struct top_words *w)
{
	size_t len = w->n ? strlen(w->v[0]) : 0;

	for (size_t i = 1; i < w->n; i++) {
		size_t k = 0;

		while (k < len && w->v[i][k] == w->v[0][k])
			k++;
		len = k;
	}
	/* Not within a character. */
	while (len && ((unsigned char)w->v[0][len] & 0xc0) == 0x80)
		len--;
	return len;
}

void top_words_fini(struct top_words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
	*w = (struct top_words){0};
}
