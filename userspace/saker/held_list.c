// SPDX-License-Identifier: Apache-2.0
/*
 * A list is reduced from the newest event to the oldest: a descriptor that is closed later need not
 * be opened, unless the fd table was copied in between. Only events of the list itself can need a
 * descriptor: for other events the whole list is written first.
 */
#include "held_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

enum { MIN_REDUCE = 32 << 10 };

struct held_rec {
	uint32_t sz; /* size of the record with its event, a multiple of 8 */
	uint32_t dropped;
	struct held_what what;
	struct scap_evt evt; /* followed by its hdr */
};

static struct ppm_evt_hdr *hdr_of(struct held_rec *r)
{
	return (struct ppm_evt_hdr *)(r + 1);
}

static int make_room(struct held_list *l, size_t sz)
{
	size_t cap = l->cap;
	uint8_t *p;

	if (l->len + sz <= cap)
		return 0;
	while (cap < l->len + sz)
		cap = cap * 2 + 512;
	p = realloc(l->p, cap);
	if (!p)
		return -ENOMEM;
	l->p = p;
	l->cap = cap;
	return 0;
}

int held_list_add(struct held_list *l, const struct scap_evt *evt, const struct held_what *what)
{
	const size_t sz = (sizeof(struct held_rec) + evt->hdr->len + 7) & ~(size_t)7;
	struct held_rec *r;

	if (sz > UINT32_MAX / 2 || make_room(l, sz))
		return -ENOMEM;
	r = (struct held_rec *)(l->p + l->len);
	*r = (struct held_rec){.sz = (uint32_t)sz, .what = *what, .evt = *evt};
	memcpy(hdr_of(r), evt->hdr, evt->hdr->len);
	l->len += sz;
	l->n++;
	return 0;
}

int held_list_each(const struct held_list *l,
		   int (*fn)(void *ctx, const struct scap_evt *evt, const struct held_what *what),
		   void *ctx)
{
	int err = 0;

	for (size_t at = 0; at < l->len && !err;) {
		struct held_rec *r = (struct held_rec *)(l->p + at);

		r->evt.hdr = hdr_of(r);
		err = fn(ctx, &r->evt, &r->what);
		at += r->sz;
	}
	return err;
}

void held_list_drop_end(struct held_list *l, int64_t tid)
{
	size_t to = 0;

	for (size_t at = 0; at < l->len;) {
		const struct held_rec *r = (const struct held_rec *)(l->p + at);
		const uint32_t sz = r->sz;

		if (r->what.kind == HELD_ENDS_THREAD && r->what.key == tid) {
			l->n--;
		} else {
			memmove(l->p + to, l->p + at, sz);
			to += sz;
		}
		at += sz;
	}
	l->len = to;
}

void held_list_clear(struct held_list *l)
{
	free(l->p);
	*l = (struct held_list){0};
}

/* A map of numbers, cleared for each round. */
struct map {
	struct map_slot {
		int64_t key;
		uint32_t round, is_set;
		int64_t value;
	} * slots; /* owned */
	size_t mask, n_slots;
	uint64_t seed;
	uint32_t round;
};

/* Empties the map, and makes room for @n keys. */
static int map_begin(struct map *m, size_t n)
{
	size_t n_slots = 16;

	while (n_slots < n * 2)
		n_slots *= 2;
	if (n_slots > m->n_slots) {
		free(m->slots);
		m->slots = calloc(n_slots, sizeof(*m->slots));
		m->n_slots = m->slots ? n_slots : 0;
		m->seed = scap_hash_seed(m);
		m->round = 0;
	}
	m->mask = n_slots - 1;
	m->round++;
	return m->slots ? 0 : -ENOMEM;
}

/* Returns the slot of @key, or the free one for it. There are at most as many keys as records. */
static struct map_slot *map_slot(const struct map *m, int64_t key)
{
	size_t i = scap_hash_number(m->seed, (uint64_t)key) & m->mask;

	while (m->slots[i].round == m->round && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

static void map_put(struct map *m, int64_t key, int64_t value)
{
	*map_slot(m, key) = (struct map_slot){key, m->round, 1, value};
}

/* NULL: missing. */
static int64_t *map_find(const struct map *m, int64_t key)
{
	struct map_slot *s = map_slot(m, key);

	return s->round == m->round && s->is_set ? &s->value : NULL;
}

static void map_remove(struct map *m, int64_t key)
{
	struct map_slot *s = map_slot(m, key);

	if (s->round == m->round)
		s->is_set = 0;
}

enum { NO_CANDIDATE = -1 };

struct held_reducer {
	struct held_rec **v; /* owned; in list order */
	size_t cap;
	struct map set; /* group: its newest record */
	struct map closed; /* file: the record that closes it */
	struct map freed; /* file: the record that closes it, if its open is dropped */
	struct map transfers; /* file: the second newest transfer, which may be dropped */
	struct map ended; /* thread: record of its end */
	struct map busy; /* thread: number of its events kept so far */
	held_gone_fn is_gone;
	void *ctx;
};

static int64_t tid_of(struct held_rec *r)
{
	return (int64_t)hdr_of(r)->tid;
}

static void count(struct held_reducer *d, struct held_rec *r, int by)
{
	int64_t *n = map_find(&d->busy, tid_of(r));

	if (n)
		*n += by;
	else
		map_put(&d->busy, tid_of(r), by);
}

/* Drops a newer record than the current one: it was counted as kept. */
static void drop(struct held_reducer *d, int64_t i)
{
	d->v[i]->dropped = 1;
	count(d, d->v[i], -1);
}

/* Drops what was opened and closed, except the oldest close of a descriptor: that also closes an
 * earlier file whose close was lost. */
static void drop_file(struct held_reducer *d, struct held_rec *r, int64_t num, int64_t end)
{
	r->dropped = 1;
	map_remove(&d->closed, num);
	map_put(&d->freed, num, end);
}

static void reduce_made(struct held_reducer *d, struct held_rec *r)
{
	const int64_t *end = map_find(&d->closed, r->what.key);

	if (end)
		drop_file(d, r, r->what.key, *end);
	map_remove(&d->transfers, r->what.key);
}

static void reduce_end(struct held_reducer *d, struct held_rec *r, int64_t i)
{
	const int64_t *newer = map_find(&d->freed, r->what.key);

	if (newer)
		drop(d, *newer);
	map_remove(&d->freed, r->what.key);
	map_put(&d->closed, r->what.key, i);
	map_remove(&d->transfers, r->what.key);
}

/* A descriptor that had another file before is closed for that one: the close stays. */
static void reduce_copied(struct held_reducer *d, struct held_rec *r)
{
	const int64_t *end = map_find(&d->closed, r->what.made);

	if (end) {
		r->dropped = 1;
		if (r->what.is_new)
			drop_file(d, r, r->what.made, *end);
		return;
	}
	map_remove(&d->closed, r->what.key);
	map_remove(&d->transfers, r->what.key);
	map_remove(&d->transfers, r->what.made);
}

/* The first transfer shows who began, the last one the peer. */
static void reduce_transfer(struct held_reducer *d, struct held_rec *r, int64_t i)
{
	int64_t *candidate = map_find(&d->transfers, r->what.key);

	if (map_find(&d->closed, r->what.key)) {
		r->dropped = 1;
	} else if (!candidate) {
		map_put(&d->transfers, r->what.key, NO_CANDIDATE);
	} else {
		if (*candidate != NO_CANDIDATE)
			drop(d, *candidate);
		*candidate = i;
	}
}

/* What is closed later in one table stays open in the other. */
static void reduce_copied_table(struct held_reducer *d)
{
	d->closed.round++;
	d->freed.round++;
	d->transfers.round++;
}

static void reduce_thread(struct held_reducer *d, struct held_rec *r)
{
	const int64_t *end = map_find(&d->ended, r->what.key);
	const int64_t *n = map_find(&d->busy, r->what.key);
	const int is_busy = n && *n > (end && !d->v[*end]->dropped);

	if (!is_busy && (end || d->is_gone(d->ctx, r->what.key))) {
		r->dropped = 1;
		if (end && !d->v[*end]->dropped)
			drop(d, *end);
	} else if (r->what.copies_files) {
		reduce_copied_table(d);
	}
}

static void reduce_record(struct held_reducer *d, int64_t i)
{
	struct held_rec *r = d->v[i];
	const struct held_what *w = &r->what;

	switch (w->kind) {
	case HELD_OTHER:
		break;
	case HELD_SETS:
		r->dropped = map_find(&d->set, w->key) != NULL;
		map_put(&d->set, w->key, i);
		break;
	case HELD_MAKES_FILE:
		reduce_made(d, r);
		break;
	case HELD_COPIES_FILE:
		reduce_copied(d, r);
		break;
	case HELD_CHANGES_FILE:
		r->dropped = map_find(&d->closed, w->key) != NULL;
		map_remove(&d->transfers, w->key);
		break;
	case HELD_IO:
		reduce_transfer(d, r, i);
		break;
	case HELD_ENDS_FILE:
		reduce_end(d, r, i);
		break;
	case HELD_COPIES_FILES:
		reduce_copied_table(d);
		break;
	case HELD_MAKES_THREAD:
		reduce_thread(d, r);
		break;
	case HELD_ENDS_THREAD:
		map_put(&d->ended, w->key, i);
		break;
	}
	if (!r->dropped)
		count(d, r, 1);
}

static void remove_dropped(struct held_list *l, struct held_reducer *d)
{
	const uint32_t n = l->n;
	size_t to = 0;

	l->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct held_rec *r = d->v[i];
		const struct held_rec *whole = r->what.with_next && i + 1 < n ? d->v[i + 1] : r;
		const uint32_t sz = r->sz;

		if (whole->dropped)
			continue;
		memmove(l->p + to, r, sz);
		d->v[i] = (struct held_rec *)(l->p + to);
		to += sz;
		l->n++;
	}
	l->len = to;
}

static int begin(struct held_reducer *d, const struct held_list *l)
{
	size_t at = 0;

	if (l->n > d->cap) {
		free(d->v);
		d->cap = l->n + l->n / 2;
		d->v = calloc(d->cap, sizeof(*d->v));
		if (!d->v)
			d->cap = 0;
	}
	if (!d->v || map_begin(&d->set, l->n) || map_begin(&d->closed, l->n) ||
	    map_begin(&d->transfers, l->n) || map_begin(&d->freed, l->n) ||
	    map_begin(&d->ended, l->n) || map_begin(&d->busy, l->n))
		return -ENOMEM;
	for (uint32_t i = 0; i < l->n; i++) {
		d->v[i] = (struct held_rec *)(l->p + at);
		d->v[i]->dropped = 0;
		at += d->v[i]->sz;
	}
	return 0;
}

struct held_reducer *held_reducer_new(void)
{
	return calloc(1, sizeof(struct held_reducer));
}

void held_reducer_free(struct held_reducer *d)
{
	if (!d)
		return;
	free(d->v);
	free(d->set.slots);
	free(d->closed.slots);
	free(d->freed.slots);
	free(d->transfers.slots);
	free(d->ended.slots);
	free(d->busy.slots);
	free(d);
}

void held_list_reduce(struct held_reducer *d, struct held_list *l, held_gone_fn is_gone, void *ctx)
{
	d->is_gone = is_gone;
	d->ctx = ctx;
	if (l->n > 1 && !begin(d, l)) {
		for (int64_t i = l->n; i--;)
			if (!d->v[i]->what.with_next)
				reduce_record(d, i);
		remove_dropped(l, d);
	}
	l->reduce_at = l->len * 2 > MIN_REDUCE ? l->len * 2 : MIN_REDUCE;
}
