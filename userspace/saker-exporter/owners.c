/* SPDX-License-Identifier: Apache-2.0 */
#include "owners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "label_text.h"

enum { BUCKETS = 4096, KEY_SZ = OWNER_LABELS * (3 * METRIC_VALUE_SZ + 1) };

/* Labels, and so the series, of one or several owners: a cgroup is made again with the path of one
 * that is about to end, a process gets the PID of another one. */
struct name {
	struct name *next; /* in the bucket */
	uint64_t hash;
	size_t n_owners;
	size_t key_len;
	uint64_t exported; /* bit i: the total i has a series */
	struct label_value labels[METRIC_LABELS]; /* texts are behind the key */
	char key[]; /* the values as they are rendered */
};

struct owner {
	struct owner *next; /* in the bucket */
	struct name *name;
	uint64_t id, start;
	uint64_t round; /* of its last update */
	uint64_t totals[]; /* added so far */
};

struct owners {
	size_t first_row, n_totals;
	size_t n_rows; /* 1: the totals are those of a histogram, if there are several */
	uint64_t round, seed;
	int has_whole;
	uint64_t skip; /* bit i: the whole i is unknown */
	/* Added of each total so far, to all series; what the whole has beyond it. */
	uint64_t added[OWNER_TOTALS], rest[OWNER_TOTALS];
	struct owner *buckets[BUCKETS];
	struct name *names[BUCKETS];
};

int owners_new(struct owners **out, size_t first_row, size_t n_totals)
{
	struct owners *os = calloc(1, sizeof(*os));

	if (!os)
		return -ENOMEM;
	os->first_row = first_row;
	os->n_totals = n_totals;
	os->n_rows = n_totals;
	os->seed = scap_hash_seed(os);
	*out = os;
	return 0;
}

int owners_new_histogram(struct owners **out, size_t row, size_t n_buckets)
{
	int err = owners_new(out, row, n_buckets + 1);

	if (!err)
		(*out)->n_rows = 1;
	return err;
}

void owners_free(struct owners *os)
{
	for (size_t i = 0; os && i < BUCKETS; i++) {
		for (struct owner *o = os->buckets[i], *next; o; o = next) {
			next = o->next;
			free(o);
		}
		for (struct name *n = os->names[i], *next; n; n = next) {
			next = n->next;
			free(n);
		}
	}
	free(os);
}

void owners_begin(struct owners *os)
{
	os->round++;
}

void owners_begin_whole(struct owners *os, const uint64_t *whole, uint64_t skip)
{
	owners_begin(os);
	os->has_whole = 1;
	os->skip = skip;
	for (size_t i = 0; i < os->n_totals; i++)
		os->rest[i] = whole[i] > os->added[i] ? whole[i] - os->added[i] : 0;
}

static struct owner **bucket_of(struct owners *os, uint64_t id, uint64_t start)
{
	return &os->buckets[scap_hash_number(scap_hash_number(os->seed, id), start) % BUCKETS];
}

/* Writes the values of labels as the registry renders them, each with a NUL. Returns their length.
 */
static size_t render_key(char *key, const struct label_value *labels)
{
	char *p = key;

	for (size_t i = 0; i < OWNER_LABELS; i++) {
		p = label_put_value(p, labels[i].p, labels[i].len);
		*p++ = 0;
	}
	return (size_t)(p - key);
}

static struct name *new_name(const char *key, size_t key_len, const struct label_value *labels)
{
	size_t sz = key_len;
	struct name *n;
	char *text;

	for (size_t i = 0; i < OWNER_LABELS; i++)
		sz += labels[i].len;
	n = calloc(1, sizeof(*n) + sz);
	if (!n)
		return NULL;
	memcpy(n->key, key, key_len);
	n->key_len = key_len;
	text = n->key + key_len;
	for (size_t i = 0; i < OWNER_LABELS; i++) {
		if (labels[i].len)
			memcpy(text, labels[i].p, labels[i].len);
		n->labels[i] = (struct label_value){text, labels[i].len};
		text += labels[i].len;
	}
	return n;
}

/* Returns the name with these labels, which has one owner more. NULL: no memory. */
static struct name *get_name(struct owners *os, const struct label_value *labels)
{
	char key[KEY_SZ];
	const size_t len = render_key(key, labels);
	const uint64_t hash = scap_hash_bytes(os->seed, key, len);
	struct name **bucket = &os->names[hash % BUCKETS], *n = *bucket;

	while (n && (n->hash != hash || n->key_len != len || memcmp(n->key, key, len) != 0))
		n = n->next;
	if (!n) {
		n = new_name(key, len, labels);
		if (!n)
			return NULL;
		n->hash = hash;
		n->next = *bucket;
		*bucket = n;
	}
	n->n_owners++;
	return n;
}

static void free_name(struct owners *os, struct name *n)
{
	struct name **at = &os->names[n->hash % BUCKETS];

	while (*at != n)
		at = &(*at)->next;
	*at = n->next;
	free(n);
}

/* Without owners, its series end. What was evicted before is in `other` already. */
static void put_name(struct owners *os, struct registry *r, struct name *n)
{
	if (--n->n_owners)
		return;
	for (size_t i = 0; i < os->n_rows; i++)
		if (n->exported >> i & 1)
			registry_end(r, registry_find(r, os->first_row + i, n->labels));
	free_name(os, n);
}

static struct owner *new_owner(struct owners *os, uint64_t id, uint64_t start,
			       const struct label_value *labels)
{
	struct owner **bucket = bucket_of(os, id, start), *o;

	o = calloc(1, sizeof(*o) + os->n_totals * sizeof(o->totals[0]));
	if (!o)
		return NULL;
	o->name = get_name(os, labels);
	if (!o->name) {
		free(o);
		return NULL;
	}
	o->id = id;
	o->start = start;
	o->next = *bucket;
	*bucket = o;
	return o;
}

static struct owner *find(struct owners *os, uint64_t id, uint64_t start)
{
	struct owner *o = *bucket_of(os, id, start);

	while (o && (o->id != id || o->start != start))
		o = o->next;
	return o;
}

/* Returns what the total @i of the owner has more than before, which is added now. What exceeds the
 * whole is left to the next round: the whole may have been read before. */
static uint64_t claim(struct owners *os, struct owner *o, size_t i, uint64_t total)
{
	uint64_t n = total > o->totals[i] ? total - o->totals[i] : 0;

	if (os->has_whole && n > os->rest[i])
		n = os->rest[i];
	if (os->has_whole)
		os->rest[i] -= n;
	os->added[i] += n;
	o->totals[i] += n;
	return n;
}

/* Adds what a histogram has more than before. */
static void update_histogram(struct owners *os, struct registry *r, struct owner *o,
			     const uint64_t *totals, uint64_t now_ns)
{
	uint64_t added[OWNER_BUCKETS + 1], any = !o->name->exported;

	for (size_t i = 0; i < os->n_totals; i++) {
		added[i] = claim(os, o, i, totals[i]);
		any |= added[i];
	}
	if (any)
		series_add_buckets(registry_series(r, os->first_row, o->name->labels, now_ns),
				   added, added[os->n_totals - 1]);
	o->name->exported = 1;
}

void owners_update(struct owners *os, struct registry *r, uint64_t id, uint64_t start,
		   const struct label_value *labels, const uint64_t *totals, uint64_t skip,
		   uint64_t now_ns)
{
	struct owner *o = find(os, id, start) ?: new_owner(os, id, start, labels);

	if (!o)
		return;
	o->round = os->round;
	if (os->n_rows < os->n_totals) {
		update_histogram(os, r, o, totals, now_ns);
		return;
	}
	for (size_t i = 0; i < os->n_totals; i++) {
		uint64_t added;

		if (skip >> i & 1)
			continue;
		added = claim(os, o, i, totals[i]);
		/* An idle one keeps its series without a look-up. */
		if (!added && o->name->exported >> i & 1)
			continue;
		series_add(registry_series(r, os->first_row + i, o->name->labels, now_ns), added);
		o->name->exported |= 1ull << i;
	}
}

void owners_rename(struct owners *os, struct registry *r, uint64_t id, uint64_t start,
		   const struct label_value *labels, uint64_t now_ns)
{
	struct owner *o = find(os, id, start);
	struct name *old = o ? o->name : NULL, *new = o ? get_name(os, labels) : NULL;

	if (!new)
		return;
	o->name = new;
	if (new == old || --old->n_owners) {
		old->n_owners -= new == old;
		return;
	}
	for (size_t i = 0; i < os->n_rows; i++)
		if (old->exported >> i & 1)
			registry_rename(r, os->first_row + i, old->labels, new->labels, now_ns);
	new->exported |= old->exported;
	free_name(os, old);
}

/* Adds what the whole has beyond all owners to `other`: it is of those that ended. */
static void add_rest(struct owners *os, struct registry *r)
{
	static const struct label_value other[METRIC_LABELS] = {{"other", 5}};
	uint64_t any = 0;

	for (size_t i = 0; i < os->n_totals; i++) {
		any |= os->rest[i];
		os->added[i] += os->rest[i];
		if (os->n_rows == os->n_totals && os->rest[i] && !(os->skip >> i & 1))
			series_add(registry_find(r, os->first_row + i, other), os->rest[i]);
	}
	if (os->n_rows < os->n_totals && any)
		series_add_buckets(registry_find(r, os->first_row, other), os->rest,
				   os->rest[os->n_totals - 1]);
}

void owners_end(struct owners *os, struct registry *r)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct owner **at = &os->buckets[i]; *at;) {
			struct owner *o = *at;

			if (o->round == os->round) {
				at = &o->next;
				continue;
			}
			*at = o->next;
			put_name(os, r, o->name);
			free(o);
		}
	}
	if (os->has_whole)
		add_rest(os, r);
}
