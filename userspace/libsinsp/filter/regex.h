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

/* 1, 0; -E2BIG: it would take too many steps. */
int sinsp_regex_match(struct sinsp_regex *re, const char *p, size_t len);

#endif /* SINSP_FILTER_REGEX_H */
