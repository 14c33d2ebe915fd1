/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command of an action as words. No shell sees it: the value of a field, which others may
 * choose, stays one argument, whatever its bytes. No screen.
 */
#ifndef SAKER_TOP_COMMAND_H
#define SAKER_TOP_COMMAND_H

#include "sinsp.h"

enum { TOP_COMMAND_WORDS = 64 };

struct top_command {
	char *words[TOP_COMMAND_WORDS + 1]; /* owned; ends with NULL */
	size_t n;
};

/* Appends the value of a field. Returns 1; 0: the row has none; -ENOMEM. */
typedef int (*top_value_fn)(void *ctx, const char *field, size_t len, struct sinsp_text *out);

/* Returns whether the command has only what a list of words can express. */
int top_command_is_plain(const char *command);

/* Splits the command at blanks; quotes enclose blanks. Each %FIELD becomes its value. Returns 0;
 * -ENOENT: a field without a value; -EPERM: a value that would be an option; -EINVAL: no words, or
 * too many; -ENOMEM. Free @c with top_command_fini, also then. */
int top_command_init(struct top_command *c, const char *command, top_value_fn value, void *ctx);
void top_command_fini(struct top_command *c);

#endif /* SAKER_TOP_COMMAND_H */
