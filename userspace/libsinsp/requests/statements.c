/* SPDX-License-Identifier: Apache-2.0 */
#include "statements.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "protocol.h"

enum { N_PLACES = 8 }; /* of a key, one behind the other */

/* Returns the place of the key; 0 of @add: NULL if there is none. 1: else a free one, else that of
 * another. */
static struct statement **place_of(const struct statements *s, uint64_t key, int add)
{
	const uint64_t first = scap_hash_number(0, key);
	struct statement **at, **unused = NULL;

	for (uint64_t i = 0; i < N_PLACES; i++) {
		at = &s->by_key[(first + i) % STATEMENTS_MAX];
		if (*at && (*at)->key == key)
			return at;
		if (!*at && !unused)
			unused = at;
	}
	if (!add)
		return NULL;
	return unused ? unused : &s->by_key[first % STATEMENTS_MAX];
}

static int64_t size_of(const struct statement *st)
{
	return st ? (int64_t)(sizeof(*st) + st->n) : 0;
}

void statements_put(struct statements *s, struct sinsp_conn *c, uint64_t key, const void *text,
		    size_t n)
{
	struct statement **place, *st;

	if (!s->by_key) {
		s->by_key = calloc(STATEMENTS_MAX, sizeof(*s->by_key));
		if (!s->by_key)
			return;
		req_use(c, STATEMENTS_MAX * sizeof(*s->by_key));
	}
	place = place_of(s, key, 1);
	if (n > STATEMENT_KEPT)
		n = STATEMENT_KEPT;
	st = malloc(sizeof(*st) + n);
	req_use(c, (st ? (int64_t)(sizeof(*st) + n) : 0) - size_of(*place));
	free(*place);
	*place = st;
	if (!st)
		return;
	st->key = key;
	st->n = (uint32_t)n;
	memcpy(st->text, text, n);
}

const struct statement *statements_get(const struct statements *s, uint64_t key)
{
	struct statement **place = s->by_key ? place_of(s, key, 0) : NULL;

	return place ? *place : NULL;
}

void statements_drop(struct statements *s, struct sinsp_conn *c, uint64_t key)
{
	struct statement **place = s->by_key ? place_of(s, key, 0) : NULL;

	if (!place)
		return;
	req_use(c, -size_of(*place));
	free(*place);
	*place = NULL;
}

void statements_fini(struct statements *s)
{
	for (int i = 0; s->by_key && i < STATEMENTS_MAX; i++)
		free(s->by_key[i]);
	free(s->by_key);
}

uint64_t statements_key(const struct statements *s, const void *name, size_t n, char kind)
{
	return scap_hash_bytes((uintptr_t)s ^ (uint64_t)kind, name, n); /* not to be foreseen */
}
