/* SPDX-License-Identifier: Apache-2.0 */
#include "option_args.h"

#include <errno.h>
#include <string.h>

#include "fields/nearest.h"
#include "say.h"

static int store(void *o, const struct option_row *row, const char *arg)
{
	return row->take((char *)o + row->member, row, arg);
}

static const struct option_row *find_letter(const struct option_args *args, char letter)
{
	const struct option_row *row;

	for (row = args->rows; row->name; row++) {
		if (row->letter == letter)
			return row;
	}
	return NULL;
}

const struct option_row *option_find(const struct option_row *rows, const char *name, size_t len)
{
	const struct option_row *row;

	for (row = rows; row->name; row++) {
		if (strlen(row->name) == len && memcmp(row->name, name, len) == 0)
			return row;
	}
	return NULL;
}

static int is_reported(const void *o, const struct option_args *args)
{
	return args->unknown && args->unknown(o, args->v[args->next - 1]);
}

const char *option_nearest(const struct option_row *rows, const char *name, size_t len)
{
	char text[64] = "";
	struct nearest near;

	if (len < sizeof(text))
		memcpy(text, name, len);
	nearest_begin(&near, text);
	for (const struct option_row *row = rows; row->name; row++)
		nearest_try(&near, row->name);
	return near.best;
}

static int unknown_name(const void *o, const struct option_args *args, const char *name, size_t len)
{
	const char *near = option_nearest(args->rows, name, len);

	if (is_reported(o, args))
		return -EINVAL;
	if (near)
		say("unknown option --%.*s: did you mean --%s?", (int)len, name, near);
	else
		say("unknown option --%.*s: see %s", (int)len, name, args->help_of(args->rows));
	return -EINVAL;
}

/* The other case is the likeliest mistake: -l for -L. */
static int unknown_letter(const void *o, const struct option_args *args, char letter)
{
	const struct option_row *row =
		find_letter(args, letter ^ 0x20); /* long option without a letter: 0 */

	if (is_reported(o, args))
		return -EINVAL;
	if (row && row->letter)
		say("unknown option -%c: did you mean -%c, --%s?", letter, row->letter, row->name);
	else
		say("unknown option -%c: see %s", letter, args->help_of(args->rows));
	return -EINVAL;
}

static int parse_argument(void *o, const struct option_row *row, struct option_args *args)
{
	if (args->next >= args->n) {
		say("--%s needs an argument: %s", row->name, row->arg);
		return -EINVAL;
	}
	return store(o, row, args->v[args->next++]);
}

/* --name, --name=ARG, --name ARG */
static int parse_name(void *o, const char *text, struct option_args *args)
{
	size_t len = strcspn(text, "=");
	const char *arg = text[len] ? text + len + 1 : NULL;
	const struct option_row *row = option_find(args->rows, text, len);

	if (!row)
		return unknown_name(o, args, text, len);
	if (!row->arg && arg) {
		say("--%s takes no argument", row->name);
		return -EINVAL;
	}
	if (!row->arg || arg)
		return store(o, row, arg);
	return parse_argument(o, row, args);
}

/* -abc, -nARG, -n ARG */
static int parse_letters(void *o, const char *text, struct option_args *args)
{
	const struct option_row *row;
	int err = 0;

	for (; !err && *text; text++) {
		row = find_letter(args, *text);
		if (!row)
			return unknown_letter(o, args, *text);
		if (row->arg && text[1])
			return store(o, row, text + 1);
		err = row->arg ? parse_argument(o, row, args) : store(o, row, NULL);
	}
	return err;
}

int option_is_one(const char *text)
{
	return text[0] == '-' && text[1];
}

int option_parse(void *options, const char *text, struct option_args *args)
{
	return text[1] == '-' ? parse_name(options, text + 2, args)
			      : parse_letters(options, text + 1, args);
}
