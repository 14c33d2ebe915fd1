/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of the command line. */
#ifndef SAKER_FILTER_ARG_H
#define SAKER_FILTER_ARG_H

#include "options.h"

/* Compiles @text, called @what in messages. *out is NULL without a text. Returns 0, or a negative
 * errno after reporting the error and its place. */
int filter_arg_compile(struct sinsp_filter **out, const char *text, const char *what,
		       const struct options *o);

/* --explain-filter. Returns the exit status. */
int filter_arg_explain(const struct options *o);

#endif /* SAKER_FILTER_ARG_H */
