/* SPDX-License-Identifier: Apache-2.0 */
#include "top_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct top_line *at(const struct top_lines *l, uint64_t number)
{
	return &l->v[number % TOP_LINES_MAX];
}

static void drop_first(struct top_lines *l)
{
	struct top_line *line = at(l, l->from++);

	l->bytes -= line->len;
	free(line->text);
	*line = (struct top_line){0};
}

void top_lines_clear(struct top_lines *l)
{
	while (l->from < l->to)
		drop_first(l);
	l->from = l->to = 0;
}

void top_lines_fini(struct top_lines *l)
{
	top_lines_clear(l);
	free(l->v);
	l->v = NULL;
}

static int add_line(struct top_lines *l, const char *text, size_t n)
{
	char *copy = malloc(n + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, n);
	copy[n] = 0;
	while (l->from < l->to &&
	       (l->to - l->from == TOP_LINES_MAX || l->bytes + n > TOP_LINES_BYTES))
		drop_first(l);
	*at(l, l->to++) = (struct top_line){copy, n};
	l->bytes += n;
	return 0;
}

int top_lines_add(struct top_lines *l, const char *text, size_t n)
{
	const char *const end = text + n;
	int err = 0;

	if (!l->v)
		l->v = calloc(TOP_LINES_MAX, sizeof(*l->v));
	if (!l->v)
		return -ENOMEM;
	while (text < end && !err) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *const stop = newline ?: end;

		err = add_line(l, text, (size_t)(stop - text));
		text = newline ? newline + 1 : end;
	}
	return err;
}

const struct top_line *top_lines_at(const struct top_lines *l, uint64_t number)
{
	return number >= l->from && number < l->to ? at(l, number) : NULL;
}
