/* SPDX-License-Identifier: Apache-2.0 */
/* Series by family, hash and last use. The rendered labels are the key, so they are rendered once.
 */
#include "registry_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "hash.h"
#include "label_text.h"

enum { DEFAULT_LINES = 50000, FIRST_BUCKETS = 1024 };
#define DEFAULT_IDLE_NS 3600000000000ull
#define MS 1000000ull

const uint64_t registry_bounds_ns[METRIC_BUCKETS] = {
	MS / 2,   1 * MS,   5 * MS / 2, 5 * MS,    10 * MS,   25 * MS,   50 * MS,
	100 * MS, 250 * MS, 500 * MS,   1000 * MS, 2500 * MS, 5000 * MS, 10000 * MS,
};

static uint64_t hash_of(const struct registry *r, size_t row, const char *labels, size_t len)
{
	return scap_hash_bytes(r->seed ^ row, labels, len);
}

static void free_series(struct series *s)
{
	if (s && s->h)
		free(s->h->exemplars);
	if (s)
		free(s->h);
	free(s);
}

static struct series *new_series(const struct metric_row *rows, size_t row, const char *labels,
				 size_t len)
{
	struct series *s = calloc(1, sizeof(*s) + len);

	if (!s)
		return NULL;
	s->row = (uint16_t)row;
	s->kind = rows[row].kind;
	s->labels_len = (uint32_t)len;
	memcpy(s->labels, labels, len);
	if (buckets_of(s->kind)) {
		s->h = calloc(1, sizeof(*s->h) + (buckets_of(s->kind) + 1) * sizeof(uint64_t));
		if (!s->h) {
			free(s);
			return NULL;
		}
	}
	return s;
}

/* Renders the labels to r->key. Returns their length. */
static size_t render_labels(struct registry *r, size_t row, const struct label_value *values)
{
	const char *const *names = r->rows[row].labels;
	char *p = r->key;

	for (size_t i = 0; names[i]; i++) {
		if (!values[i].len)
			continue;
		if (p != r->key)
			*p++ = ',';
		p = stpcpy(p, names[i]);
		*p++ = '=';
		*p++ = '"';
		p = label_put_value(p, values[i].p, values[i].len);
		*p++ = '"';
	}
	return (size_t)(p - r->key);
}

static void link_hash(struct registry *r, struct series *s)
{
	struct series **at = &r->buckets[s->hash & (r->n_buckets - 1)];

	s->hash_next = *at;
	*at = s;
}

/* Without memory the chains become longer. */
static void grow(struct registry *r)
{
	struct series **old = r->buckets, **new = calloc(2 * r->n_buckets, sizeof(*new));
	const size_t n_old = r->n_buckets;

	if (!new)
		return;
	r->buckets = new;
	r->n_buckets = 2 * n_old;
	for (size_t i = 0; i < n_old; i++) {
		for (struct series *s = old[i], *next; s; s = next) {
			next = s->hash_next;
			link_hash(r, s);
		}
	}
	free(old);
}

static void unlink_hash(struct registry *r, const struct series *s)
{
	struct series **at = &r->buckets[s->hash & (r->n_buckets - 1)];

	while (*at != s)
		at = &(*at)->hash_next;
	*at = s->hash_next;
}

static void unlink_use(struct registry *r, struct series *s)
{
	*(s->older ? &s->older->newer : &r->oldest) = s->newer;
	*(s->newer ? &s->newer->older : &r->newest) = s->older;
}

static void link_newest(struct registry *r, struct series *s)
{
	s->older = r->newest;
	s->newer = NULL;
	*(r->newest ? &r->newest->newer : &r->oldest) = s;
	r->newest = s;
}

static void add(struct registry *r, struct series *s, uint64_t hash)
{
	struct family *f = &r->families[s->row];

	s->hash = hash;
	s->prev = f->last;
	*(f->last ? &f->last->next : &f->first) = s;
	f->last = s;
	if (r->n++ >= r->n_buckets)
		grow(r);
	link_hash(r, s);
}

static int can_end(const struct registry *r, const struct series *s)
{
	return r->rows[s->row].set != METRIC_FIXED && s != r->families[s->row].other;
}

/* Gauges have no total. */
static void move_value(struct series *to, const struct series *from)
{
	if (from->kind != METRIC_COUNTER && !from->h)
		return;
	to->used |= from->used;
	to->value += from->value;
	for (size_t i = 0; from->h && i <= buckets_of(from->kind); i++)
		to->h->buckets[i] += from->h->buckets[i];
}

/* Takes an open series out of the registry: the caller owns it. */
static void detach(struct registry *r, struct series *s)
{
	struct family *f = &r->families[s->row];

	f->ended_ns = clock_now_ns();
	*(s->prev ? &s->prev->next : &f->first) = s->next;
	*(s->next ? &s->next->prev : &f->last) = s->prev;
	unlink_hash(r, s);
	unlink_use(r, s);
	r->n--;
	r->n_open_lines -= lines_of(&r->rows[s->row]);
}

void registry_end(struct registry *r, struct series *s)
{
	if (!s || !can_end(r, s))
		return;
	move_value(r->families[s->row].other, s);
	detach(r, s);
	r->n_evicted++;
	free_series(s);
}

/* Makes room for a series by evicting idle ones. Returns whether there is room. */
static int make_room(struct registry *r, const struct metric_row *row, uint64_t now_ns)
{
	const uint64_t kept = row->set == METRIC_MANY ? r->max_lines / 4 : 0;

	while (r->n_open_lines + lines_of(row) > r->max_lines - kept) {
		if (!r->oldest || r->oldest->last_ns + r->idle_ns > now_ns)
			return 0;
		registry_end(r, r->oldest);
	}
	return 1;
}

static struct series *find(const struct registry *r, size_t row, uint64_t hash, size_t len)
{
	struct series *s = r->buckets[hash & (r->n_buckets - 1)];

	while (s && (s->hash != hash || s->row != row || s->labels_len != len ||
		     memcmp(s->labels, r->key, len) != 0))
		s = s->hash_next;
	return s;
}

static void use(struct registry *r, struct series *s, uint64_t now_ns)
{
	if (!can_end(r, s))
		return;
	s->last_ns = now_ns;
	if (s == r->newest)
		return;
	unlink_use(r, s);
	link_newest(r, s);
}

/* A series that does not exist yet; its labels are in r->key. */
static struct series *make(struct registry *r, size_t row, uint64_t hash, size_t len,
			   uint64_t now_ns)
{
	const struct metric_row *m = &r->rows[row];
	const int is_open = m->set != METRIC_FIXED;
	struct series *s = NULL;

	if (!is_open || make_room(r, m, now_ns))
		s = new_series(r->rows, row, r->key, len);
	if (!s) {
		r->n_refused++;
		return r->families[row].other; /* NULL: a fixed set without memory */
	}
	s->start_ns = r->families[row].ended_ns; /* one with these labels may have ended */
	add(r, s, hash);
	*(is_open ? &r->n_open_lines : &r->n_fixed_lines) += lines_of(m);
	if (is_open) {
		s->last_ns = now_ns;
		link_newest(r, s);
	}
	return s;
}

struct series *registry_series(struct registry *r, size_t row, const struct label_value *values,
			       uint64_t now_ns)
{
	const size_t len = render_labels(r, row, values);
	const uint64_t hash = hash_of(r, row, r->key, len);
	struct series *s = find(r, row, hash, len);

	if (!s)
		return make(r, row, hash, len, now_ns);
	use(r, s, now_ns);
	return s;
}

struct series *registry_find(struct registry *r, size_t row, const struct label_value *values)
{
	const size_t len = render_labels(r, row, values);

	return find(r, row, hash_of(r, row, r->key, len), len);
}

void registry_rename(struct registry *r, size_t row, const struct label_value *old,
		     const struct label_value *new, uint64_t now_ns)
{
	struct series *from = registry_find(r, row, old), *to;

	if (!from || !can_end(r, from))
		return;
	detach(r, from); /* first: its room is that of the new one */
	to = registry_series(r, row, new, now_ns);
	if (to) {
		if (to->kind == METRIC_INFO && from->used)
			series_add(to, 1);
		move_value(to, from);
	}
	free_series(from);
}

void series_add(struct series *s, uint64_t n)
{
	if (!s)
		return;
	s->value = s->kind == METRIC_INFO ? 1 : s->value + n; /* of several owners, too */
	s->used = 1;
}

void series_set(struct series *s, uint64_t value)
{
	if (!s)
		return;
	if (s->kind != METRIC_COUNTER || value > s->value)
		s->value = value;
	s->used = 1;
}

void series_set_buckets(struct series *s, const uint64_t *buckets, uint64_t sum_ns)
{
	if (!s)
		return;
	for (size_t i = 0; i <= buckets_of(s->kind); i++)
		if (buckets[i] > s->h->buckets[i])
			s->h->buckets[i] = buckets[i];
	if (sum_ns > s->value)
		s->value = sum_ns;
	s->used = 1;
}

void series_add_buckets(struct series *s, const uint64_t *buckets, uint64_t sum_ns)
{
	if (!s)
		return;
	for (size_t i = 0; i <= buckets_of(s->kind); i++)
		s->h->buckets[i] += buckets[i];
	series_add(s, sum_ns);
}

static void keep_exemplar(struct histogram *h, size_t bucket, uint64_t ns,
			  const struct exemplar *exemplar)
{
	struct kept_exemplar *k;

	if (!h->exemplars)
		h->exemplars = calloc(METRIC_BUCKETS + 1, sizeof(*h->exemplars));
	if (!h->exemplars)
		return;
	k = &h->exemplars[bucket];
	k->len = (uint8_t)label_put_word(k->trace_id, sizeof(k->trace_id), exemplar->trace_id.p,
					 exemplar->trace_id.len);
	k->ns = ns;
	k->at_ns = exemplar->at_ns;
}

void series_observe(struct series *s, uint64_t ns, const struct exemplar *exemplar)
{
	size_t i = 0;

	if (!s)
		return;
	while (i < METRIC_BUCKETS && ns > registry_bounds_ns[i])
		i++;
	s->h->buckets[i]++;
	series_add(s, ns);
	if (exemplar && exemplar->trace_id.len)
		keep_exemplar(s->h, i, ns, exemplar);
}

void registry_get_stats(const struct registry *r, struct registry_stats *st)
{
	*st = (struct registry_stats){
		.n_lines = r->n_open_lines + r->n_fixed_lines,
		.n_evicted = r->n_evicted,
		.n_refused = r->n_refused,
	};
}

/* The series `other` has that text for its first label, and no other label. */
static int add_other(struct registry *r, size_t row)
{
	static const struct label_value other = {"other", 5};
	const struct label_value values[METRIC_LABELS] = {other};
	const size_t len = render_labels(r, row, values);
	struct series *s = new_series(r->rows, row, r->key, len);

	if (!s)
		return -ENOMEM;
	add(r, s, hash_of(r, row, r->key, len));
	r->families[row].other = s;
	r->n_fixed_lines += lines_of(&r->rows[row]);
	return 0;
}

void registry_set_limits(struct registry *r, const struct registry_opts *opts)
{
	r->max_lines = opts && opts->max_lines ? opts->max_lines : DEFAULT_LINES;
	r->idle_ns = opts && opts->idle_ns ? opts->idle_ns : DEFAULT_IDLE_NS;
}

int registry_new(struct registry **out, const struct metric_row *rows, size_t n_rows,
		 const struct registry_opts *opts)
{
	struct registry *r = calloc(1, sizeof(*r));
	int err = 0;

	if (!r)
		return -ENOMEM;
	r->rows = rows;
	r->n_rows = n_rows;
	registry_set_limits(r, opts);
	r->seed = scap_hash_seed(r);
	r->n_buckets = FIRST_BUCKETS;
	r->families = calloc(n_rows, sizeof(*r->families));
	r->buckets = calloc(r->n_buckets, sizeof(*r->buckets));
	if (!r->families || !r->buckets)
		err = -ENOMEM;
	for (size_t i = 0; i < n_rows && !err; i++)
		err = rows[i].set != METRIC_FIXED ? add_other(r, i) : 0;
	if (err)
		registry_free(r);
	else
		*out = r;
	return err;
}

void registry_free(struct registry *r)
{
	for (size_t i = 0; r && r->families && i < r->n_rows; i++) {
		for (struct series *s = r->families[i].first, *next; s; s = next) {
			next = s->next;
			free_series(s);
		}
	}
	if (r) {
		free(r->families);
		free(r->buckets);
	}
	free(r);
}
