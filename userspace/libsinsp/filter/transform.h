/* SPDX-License-Identifier: Apache-2.0 */
/* Transformers: compute texts from other texts, in the scratch memory of the evaluation. */
#ifndef SINSP_FILTER_TRANSFORM_H
#define SINSP_FILTER_TRANSFORM_H

#include "ast.h"

/* Values and their number. */
struct sinsp_values {
	const struct sinsp_value *v;
	int n;
};

/* Applies tolower, toupper, b64 or basename to each value. Returns the number of values, as many as
 * @in or 0 (invalid base64), or -ENOMEM. */
int sinsp_transform_each(struct sinsp_eval *e, enum filter_fn fn, struct sinsp_values in,
			 struct sinsp_value *v, const struct sinsp_value **more);

/* Joins texts with @sep between. Returns 1 or -ENOMEM. */
int sinsp_transform_join(struct sinsp_eval *e, struct sinsp_values in,
			 const struct sinsp_value *sep, struct sinsp_value *v);

/*
 * Returns the options that getopt finds in the arguments @in. With @letter only the last value of
 * that option, its letter if it takes none; else options and values in order, "?" for an unknown
 * one; a missing value is empty.
 */
int sinsp_transform_getopt(struct sinsp_eval *e, struct sinsp_values in,
			   const struct sinsp_value *letters, char letter, struct sinsp_value *v,
			   const struct sinsp_value **more);

#endif /* SINSP_FILTER_TRANSFORM_H */
