/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth.h"
#include "option_values.h"
#include "say.h"

enum { ERRORS_MAX = 20 };
#define BLANKS " \t\r"

/* Cuts blanks at both ends. */
static char *trim(char *text, size_t len)
{
	while (len && strchr(BLANKS, text[len - 1]))
		len--;
	text[len] = 0;
	return text + strspn(text, BLANKS);
}

/* Returns value @nth of an option, from 0; NULL: it has fewer. */
static const char *value_of(const struct exporter_config *c, const struct option_row *row,
			    size_t nth)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->values[i].row == row && !nth--)
			return c->values[i].text;
	return NULL;
}

static int has_same_values(const struct exporter_config *old, const struct exporter_config *new,
			   const struct option_row *row)
{
	for (size_t i = 0;; i++) {
		const char *a = value_of(old, row, i), *b = value_of(new, row, i);

		if (!a || !b)
			return a == b;
		if (strcmp(a, b))
			return 0;
	}
}

static int keep(struct exporter_config *c, const struct option_row *row, const char *text)
{
	struct config_value *more = c->values;

	if (!(c->n & (c->n - 1))) { /* a power of two, or 0: it is full */
		more = realloc(c->values, (c->n ? 2 * c->n : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
	}
	c->values = more;
	c->values[c->n++] = (struct config_value){row, text};
	return 0;
}

/* What resembles no option may be a secret: the message does not have it. */
static int unknown_key(const struct option_row *rows, const char *key)
{
	const char *near = option_nearest(rows, key, strlen(key));

	if (near)
		say("unknown key '%.64s': did you mean %s?", key, near);
	else
		say("unknown key: keys are the options of saker exporter --help");
	return -EINVAL;
}

/* Stores the value of an option without an argument. */
static int store_switch(void *member, const struct option_row *row, const char *text)
{
	if (strcmp(text, "no") == 0)
		return 0;
	if (strcmp(text, "yes") == 0)
		return row->take(member, row, NULL);
	say("%s is yes or no, not '%.64s'", row->name, text);
	return -EINVAL;
}

static int store(struct exporter_config *c, void *options, const struct option_row *rows,
		 const char *key, const char *text)
{
	const struct option_row *row = option_find(rows, key, strlen(key));
	void *member = row ? (char *)options + row->member : NULL;

	if (!row)
		return unknown_key(rows, key);
	if (row->group == GROUP_NOT_IN_FILE) {
		say("%s is for the command line", key);
		return -EINVAL;
	}
	if (row->take != parse_list && row->take != parse_redact && value_of(c, row, 0)) {
		say("%s is given twice", key);
		return -EINVAL;
	}
	return keep(c, row, text) ?: (row->arg ? row->take : store_switch)(member, row, text);
}

static int read_line(struct exporter_config *c, void *options, const struct option_row *rows,
		     char *line, size_t len)
{
	char *text = trim(line, len), *equals;

	if (!*text || *text == '#')
		return 0;
	equals = strchr(text, '=');
	if (!equals) {
		say("a line is KEY = VALUE");
		return -EINVAL;
	}
	return store(c, options, rows, trim(text, (size_t)(equals - text)),
		     trim(equals + 1, strlen(equals + 1)));
}

int exporter_config_read(struct exporter_config *c, void *options, const struct option_row *rows,
			 const char *path)
{
	int err = read_whole_file(&c->text, path, "--config", FILE_TRUSTED), bad = 0, n_errors = 0;
	char *next = NULL, where[256];
	unsigned int number = 0;

	for (char *line = err ? NULL : c->text; line && n_errors < ERRORS_MAX; line = next) {
		const size_t len = strcspn(line, "\n");

		next = line[len] ? line + len + 1 : NULL;
		snprintf(where, sizeof(where), "%.230s:%u", path, ++number);
		say_at(where);
		bad = read_line(c, options, rows, line, len);
		n_errors += bad != 0;
		err = err ?: bad;
	}
	say_at(NULL);
	if (n_errors == ERRORS_MAX)
		say("%s: too many errors: the rest is not read", path);
	return err;
}

void exporter_config_fini(struct exporter_config *c)
{
	free(c->text);
	free(c->values);
	*c = (struct exporter_config){0};
}

int exporter_config_fixed(char *names, size_t sz, const struct option_row *rows,
			  const struct exporter_config *old, const struct exporter_config *new)
{
	size_t len = 0;

	*names = 0;
	for (const struct option_row *row = rows; row->name; row++) {
		if (row->group == GROUP_RELOADED || has_same_values(old, new, row) || len >= sz)
			continue;
		len += (size_t)snprintf(names + len, sz - len, "%s%s", len ? ", " : "", row->name);
	}
	return len != 0;
}
