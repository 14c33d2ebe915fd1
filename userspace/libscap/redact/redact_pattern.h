/* SPDX-License-Identifier: Apache-2.0 */
/* Overwrites what a regular expression matches, with bounded work. */
#ifndef SCAP_REDACT_REDACT_PATTERN_H
#define SCAP_REDACT_REDACT_PATTERN_H

#include <stddef.h>
#include <stdint.h>

struct redact_pattern;

/* Returns 0; -EINVAL with the reason in *why (256 bytes) and the place in *at; -ENOMEM. */
int redact_pattern_new(struct redact_pattern **out, const char *text, size_t len, char *why,
		       size_t *at);
void redact_pattern_free(struct redact_pattern *p);

/* Searches @from, and overwrites each match in @to, a copy of it. Returns the number of matches;
 * -1: the search exceeded its limit, and all bytes were overwritten. */
int redact_pattern_apply(struct redact_pattern *p, uint8_t *to, const uint8_t *from, size_t len);

#endif /* SCAP_REDACT_REDACT_PATTERN_H */
