/* SPDX-License-Identifier: Apache-2.0 */
/* Searches a text for several patterns in one pass (Aho-Corasick). Bytes that occur in no pattern
 * share a column of the table. */
#ifndef SINSP_FILTER_AUTOMATON_H
#define SINSP_FILTER_AUTOMATON_H

#include <stdint.h>

#include "arena.h"

struct sinsp_automaton {
	uint8_t column[256]; /* by byte */
	uint8_t first[256]; /* whether a pattern begins with it: other bytes need no table access */
	uint32_t n_columns;
	uint32_t *next; /* [state * n_columns + column]: the next state; state 1 is a match */
};

struct sinsp_pattern {
	const char *p;
	size_t len;
};

/* Patterns are not empty. @fold: ASCII letters match in either case. Returns 0; -E2BIG: the table
 * would be too large; -ENOMEM. */
int sinsp_automaton_make(struct sinsp_automaton *out, struct sinsp_arena *a,
			 const struct sinsp_pattern *patterns, size_t n, int fold);

static inline int sinsp_automaton_match(const struct sinsp_automaton *am, const char *p, size_t len)
{
	uint32_t state = 0;

	for (size_t i = 0; i < len; i++) {
		if (!state && !am->first[(unsigned char)p[i]])
			continue;
		state = am->next[state * am->n_columns + am->column[(unsigned char)p[i]]];
		if (state == 1)
			return 1;
	}
	return 0;
}

#endif /* SINSP_FILTER_AUTOMATON_H */
