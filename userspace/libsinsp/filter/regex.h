/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions that match a whole text, with bounded effort. */
#ifndef SINSP_FILTER_REGEX_H
#define SINSP_FILTER_REGEX_H

#include <stddef.h>

struct sinsp_regex;

/* 0; -EINVAL: it is none, *why says what is wrong (256 bytes), *at where; -ENOMEM. */
int sinsp_regex_new(struct sinsp_regex **out, const char *pattern, size_t len, char *why,
		    size_t *at);
void sinsp_regex_free(struct sinsp_regex *re);

/* 1, 0; also 0 if it would take too many steps, which sinsp_regex_gave_up tells from then on. */
int sinsp_regex_match(struct sinsp_regex *re, const char *p, size_t len);
int sinsp_regex_gave_up(const struct sinsp_regex *re);

#endif /* SINSP_FILTER_REGEX_H */
