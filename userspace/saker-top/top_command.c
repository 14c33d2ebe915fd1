/* SPDX-License-Identifier: Apache-2.0 */
#include "top_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"

/* What a shell would do more than splitting. */
int top_command_is_plain(const char *command)
{
	return !strpbrk(command, "$`|&;<>(){}*?~#\n");
}

static size_t field_len(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.");
}

static int put_field(struct sinsp_text *word, const char **text, top_value_fn value, void *ctx)
{
	size_t n = field_len(*text + 1);
	int r;

	while (n && (*text)[n] == '.') /* the end of a sentence */
		n--;
	if (!n) {
		*text += 1;
		return top_put(word, "%%");
	}
	r = value(ctx, *text + 1, n, word);
	*text += 1 + n;
	if (!r)
		return -ENOENT;
	return r < 0 ? r : 0;
}

/* Appends a word, and moves *text behind it. */
static int put_word(struct sinsp_text *word, const char **text, top_value_fn value, void *ctx)
{
	char quote = 0;
	int err = 0;

	while (**text && !err && (quote || **text != ' ')) {
		const char c = **text;

		if (c == quote)
			quote = 0;
		else if (!quote && (c == '"' || c == '\''))
			quote = c;
		else if (c == '%') {
			err = put_field(word, text, value, ctx);
			continue;
		} else {
			if (c == '\\' && (*text)[1])
				++*text;
			err = top_put(word, "%c", **text);
		}
		++*text;
	}
	return err ?: top_put(word, "%c", 0);
}

/* The program would take a value such as "-1" as an option, but not behind "--". */
static int is_option(const struct top_command *c, const char *word, int is_value)
{
	if (!is_value || *word != '-')
		return 0;
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->words[i], "--") == 0)
			return 0;
	return 1;
}

int top_command_init(struct top_command *c, const char *command, top_value_fn value, void *ctx)
{
	struct sinsp_text word = {0};
	int err = 0;

	*c = (struct top_command){0};
	while (!err && *(command += strspn(command, " "))) {
		const int is_value = command[strspn(command, "\"'")] == '%';

		if (c->n == TOP_COMMAND_WORDS) {
			err = -EINVAL;
			continue;
		}
		word.len = 0;
		err = put_word(&word, &command, value, ctx);
		if (!err && strlen(word.p) + 1 != word.len)
			err = -EINVAL; /* a value with a NUL is no argument */
		if (!err && is_option(c, word.p, is_value))
			err = -EPERM;
		if (err)
			continue;
		c->words[c->n] = strdup(word.p);
		err = c->words[c->n] ? 0 : -ENOMEM;
		c->n += !err;
	}
	free(word.p);
	return err ?: c->n ? 0 : -EINVAL;
}

void top_command_fini(struct top_command *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->words[i]);
	*c = (struct top_command){0};
}
