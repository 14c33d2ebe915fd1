/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of the command line. */
#ifndef SAKER_FILTER_ARG_H
#define SAKER_FILTER_ARG_H

#include "options.h"

/* *out is NULL without a filter. 0, or a negative errno after saying what is wrong, and where. */
int filter_arg_compile(struct sinsp_filter **out, const struct options *o);

/* --explain-filter. The exit status. */
int filter_arg_explain(const struct options *o);

#endif /* SAKER_FILTER_ARG_H */
