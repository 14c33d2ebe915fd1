/* SPDX-License-Identifier: Apache-2.0 */
/* Parses options by their rows, for each command with a table of its own. */
#ifndef SAKER_OPTION_ARGS_H
#define SAKER_OPTION_ARGS_H

#include "options.h"

/* State of parsing a command line. */
struct option_args {
	char **v;
	int n, next;
	const struct option_row *rows; /* allowed in this command */
	const char *(*help_of)(const struct option_row *rows); /* the command that shows them */
	/* May report an unknown option better than by similar names, and returns whether it did.
	 * NULL: never. */
	int (*unknown)(const void *options, const char *option);
};

/* Returns the row of a long name; NULL: there is none. */
const struct option_row *option_find(const struct option_row *rows, const char *name, size_t len);

/* Returns the long name that is most like @name; NULL: none is. */
const char *option_nearest(const struct option_row *rows, const char *name, size_t len);

/* Returns whether a word is an option, and not a file or part of a filter. */
int option_is_one(const char *text);

/* Stores the option @text, and takes its argument from the next word if it has none. @options is
 * the struct of the rows' members. Returns 0, or -EINVAL after reporting the error. */
int option_parse(void *options, const char *text, struct option_args *args);

#endif /* SAKER_OPTION_ARGS_H */
