/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions that match a whole text, with bounded work. */
#ifndef SINSP_FILTER_REGEX_H
#define SINSP_FILTER_REGEX_H

#include <stddef.h>

struct sinsp_regex;

/* Returns 0; -EINVAL with the reason in *why (256 bytes) and the place in *at; -ENOMEM. */
int sinsp_regex_new(struct sinsp_regex **out, const char *pattern, size_t len, char *why,
		    size_t *at);
void sinsp_regex_free(struct sinsp_regex *re);

/* Returns 1 or 0; also 0 beyond the limit of steps, which sinsp_regex_hit_limit returns from then
 * on. */
int sinsp_regex_match(struct sinsp_regex *re, const char *p, size_t len);
int sinsp_regex_hit_limit(const struct sinsp_regex *re);

#endif /* SINSP_FILTER_REGEX_H */
