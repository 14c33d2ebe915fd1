/* SPDX-License-Identifier: Apache-2.0 */
/* Transformers: texts made of other texts, in the scratch memory of who asks. */
#ifndef SINSP_FILTER_TRANSFORM_H
#define SINSP_FILTER_TRANSFORM_H

#include "ast.h"

/* Values, and how many. */
struct sinsp_values {
	const struct sinsp_value *v;
	int n;
};

/* tolower, toupper, b64, basename: of each value. The number of values, all of @in or none (it is
 * no base64), or -ENOMEM. */
int sinsp_transform_each(struct sinsp_asker *a, enum filter_fn fn, struct sinsp_values in,
			 struct sinsp_value *v, const struct sinsp_value **more);

/* Texts one behind the other with @sep between. 1 or -ENOMEM. */
int sinsp_transform_join(struct sinsp_asker *a, struct sinsp_values in,
			 const struct sinsp_value *sep, struct sinsp_value *v);

/* What getopt finds in the arguments @in. With @letter only the last value of that option, of one
 * without a value its letter; else options and values as they come, "?" for an unknown one; a value
 * that is missing is empty. */
int sinsp_transform_getopt(struct sinsp_asker *a, struct sinsp_values in,
			   const struct sinsp_value *letters, char letter, struct sinsp_value *v,
			   const struct sinsp_value **more);

#endif /* SINSP_FILTER_TRANSFORM_H */
