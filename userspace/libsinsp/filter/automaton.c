/* SPDX-License-Identifier: Apache-2.0 */
/* Builds and runs the automaton that searches a text for several patterns (Aho-Corasick). */
#include "automaton.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_MAX (4u << 20) /* entries of the table */

/* State 0 is the start, 1 a match, which is final. */
#define START 0
#define MATCH 1

static unsigned int folded(unsigned char c, int fold)
{
	return fold && c >= 'A' && c <= 'Z' ? c + 32u : c;
}

static void make_columns(struct sinsp_automaton *am, const struct sinsp_pattern *patterns, size_t n,
			 int fold)
{
	am->n_columns = 1; /* 0: for bytes in no pattern */
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < patterns[i].len; k++) {
			const unsigned int c = folded((unsigned char)patterns[i].p[k], fold);

			if (!am->column[c])
				am->column[c] = (uint8_t)am->n_columns++;
		}
	}
	for (unsigned int c = 'A'; fold && c <= 'Z'; c++)
		am->column[c] = am->column[c + 32];
}

/* Builds the trie of patterns, without states after a match. Returns its number of states. */
static uint32_t add_patterns(struct sinsp_automaton *am, const struct sinsp_pattern *patterns,
			     size_t n)
{
	uint32_t n_states = 2;

	for (size_t i = 0; i < n; i++) {
		uint32_t state = START;

		for (size_t k = 0; k < patterns[i].len && state != MATCH; k++) {
			const unsigned int col = am->column[(unsigned char)patterns[i].p[k]];
			uint32_t *next = &am->next[state * am->n_columns + col];

			if (k + 1 == patterns[i].len)
				*next = MATCH;
			else if (!*next)
				*next = n_states++;
			state = *next;
		}
	}
	return n_states;
}

/* Adds failure links: without a transition, the longest suffix that is a prefix continues. */
static int add_failures(struct sinsp_automaton *am, uint32_t n_states)
{
	uint32_t *const queue = calloc(2 * (size_t)n_states, sizeof(*queue));
	uint32_t *const fail = queue ? queue + n_states : NULL;
	uint32_t head = 0, tail = 0;

	if (!queue)
		return -ENOMEM;
	for (uint32_t col = 0; col < am->n_columns; col++)
		if (am->next[col] > MATCH)
			queue[tail++] = am->next[col];
	while (head < tail) {
		const uint32_t state = queue[head++];

		for (uint32_t col = 0; col < am->n_columns; col++) {
			uint32_t *next = &am->next[state * am->n_columns + col];
			const uint32_t other = am->next[fail[state] * am->n_columns + col];

			if (other == MATCH || !*next) {
				*next = other;
			} else if (*next > MATCH) {
				fail[*next] = other;
				queue[tail++] = *next;
			}
		}
	}
	free(queue);
	return 0;
}

int sinsp_automaton_make(struct sinsp_automaton *out, struct sinsp_arena *a,
			 const struct sinsp_pattern *patterns, size_t n, int fold)
{
	size_t n_states = 2;

	*out = (struct sinsp_automaton){0};
	make_columns(out, patterns, n, fold);
	for (size_t i = 0; i < n; i++)
		n_states += patterns[i].len;
	if (n_states > TABLE_MAX / out->n_columns)
		return -E2BIG;
	out->next = sinsp_arena_alloc(a, n_states * out->n_columns * sizeof(*out->next));
	if (!out->next)
		return -ENOMEM;
	n_states = add_patterns(out, patterns, n);
	for (unsigned int c = 0; c < 256; c++)
		out->first[c] = out->next[out->column[c]] != START;
	return add_failures(out, (uint32_t)n_states);
}
