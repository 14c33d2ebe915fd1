/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings: a hash table of counted texts, and a ring of retired ones. */
#include "memory/intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

struct sinsp_str {
	struct sinsp_str *next;
	uint32_t hash;
	uint32_t refs;
	uint32_t len;
	uint32_t place; /* in the ring of retired texts, if refs is 0 */
	char s[];
};

/* The empty text: shared, and not counted. */
static union {
	struct sinsp_str h;
	char room[sizeof(struct sinsp_str) + 1];
} empty;

static struct sinsp_str *str_of(const char *s)
{
	return (struct sinsp_str *)(s - offsetof(struct sinsp_str, s));
}

static size_t bytes_of(size_t len)
{
	return sizeof(struct sinsp_str) + len + 1;
}

int sinsp_strings_init(struct sinsp_strings *st)
{
	memset(st, 0, sizeof(*st));
	st->n_buckets = 1024;
	st->buckets = calloc(st->n_buckets, sizeof(*st->buckets));
	if (!st->buckets)
		return -ENOMEM;
	st->seed = scap_hash_seed(st);
	return 0;
}

void sinsp_strings_fini(struct sinsp_strings *st)
{
	for (uint32_t i = 0; st->buckets && i < st->n_buckets; i++) {
		struct sinsp_str *x = st->buckets[i];

		while (x) {
			struct sinsp_str *next = x->next;

			free(x);
			x = next;
		}
	}
	free(st->buckets);
	memset(st, 0, sizeof(*st));
}

static void grow(struct sinsp_strings *st)
{
	uint32_t n = st->n_buckets * 2;
	struct sinsp_str **b = calloc(n, sizeof(*b));

	if (!b)
		return; /* without memory chains only grow longer */
	for (uint32_t i = 0; i < st->n_buckets; i++) {
		struct sinsp_str *x = st->buckets[i];

		while (x) {
			struct sinsp_str *next = x->next;

			x->next = b[x->hash & (n - 1)];
			b[x->hash & (n - 1)] = x;
			x = next;
		}
	}
	free(st->buckets);
	st->buckets = b;
	st->n_buckets = n;
}

static void forget(struct sinsp_strings *st, struct sinsp_str *x)
{
	struct sinsp_str **at = &st->buckets[x->hash & (st->n_buckets - 1)];

	while (*at != x)
		at = &(*at)->next;
	*at = x->next;
	st->n--;
	st->n_bytes -= bytes_of(x->len);
	free(x);
}

static void retire(struct sinsp_strings *st, struct sinsp_str *x)
{
	uint32_t place = st->next_retired++ % SINSP_STR_RETIRED;

	if (st->retired[place])
		forget(st, st->retired[place]);
	st->retired[place] = x;
	x->place = place;
}

const char *sinsp_str_get(struct sinsp_strings *st, const char *p, size_t len)
{
	struct sinsp_str *x;
	uint32_t h;

	if (!len || len > UINT32_MAX / 2)
		return empty.h.s;
	h = (uint32_t)scap_hash_bytes(st->seed, p, len);
	for (x = st->buckets[h & (st->n_buckets - 1)]; x; x = x->next) {
		if (x->hash != h || x->len != len || memcmp(x->s, p, len))
			continue;
		if (!x->refs++)
			st->retired[x->place] = NULL;
		return x->s;
	}

	x = malloc(bytes_of(len));
	if (!x) {
		st->n_refused++;
		return empty.h.s;
	}
	if (st->n >= st->n_buckets)
		grow(st);
	x->hash = h;
	x->refs = 1;
	x->len = len;
	memcpy(x->s, p, len);
	x->s[len] = 0;
	x->next = st->buckets[h & (st->n_buckets - 1)];
	st->buckets[h & (st->n_buckets - 1)] = x;
	st->n++;
	st->n_bytes += bytes_of(len);
	return x->s;
}

const char *sinsp_str_ref(const char *s)
{
	if (s != empty.h.s)
		str_of(s)->refs++;
	return s;
}

void sinsp_str_put(struct sinsp_strings *st, const char *s)
{
	if (s && s != empty.h.s && !--str_of(s)->refs)
		retire(st, str_of(s));
}

size_t sinsp_str_len(const char *s)
{
	return str_of(s)->len;
}

void sinsp_str_set(struct sinsp_strings *st, const char **dst, const char *p, size_t len)
{
	const char *old = *dst;

	*dst = sinsp_str_get(st, p, len);
	sinsp_str_put(st, old);
}
