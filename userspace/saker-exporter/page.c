/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "clock.h"
#include "metrics.h"

struct printed {
	struct page page; /* first */
	struct pages *pages;
	struct sinsp_text text;
	uint64_t at_ns;
	unsigned int refs; /* readers, and one of the newest page of its format */
};

struct pages {
	pthread_mutex_t lock; /* of the registry */
	struct registry *registry; /* owned */
	page_collect_fn collect;
	void *ctx;
	page_refresh_fn refresh; /* NULL: none */
	void *refresh_ctx;
	/* Of what follows, and of refs. During a print, too: a second server's thread waits for the
	 * page that the first one prints. Taken before the other lock. */
	pthread_mutex_t printed_lock;
	struct printed *newest[EXPOSITION_MAX];
	size_t sz[EXPOSITION_MAX]; /* of the last print: the next one needs about as much */
	uint64_t n_scrapes[EXPOSITION_MAX];
};

static const char *const format_names[EXPOSITION_MAX] = {"text", "openmetrics"};

int pages_new(struct pages **out, struct registry *r, page_collect_fn collect, void *ctx)
{
	struct pages *ps = calloc(1, sizeof(*ps));

	if (!ps) {
		registry_free(r);
		return -ENOMEM;
	}
	pthread_mutex_init(&ps->lock, NULL);
	pthread_mutex_init(&ps->printed_lock, NULL);
	ps->registry = r;
	ps->collect = collect;
	ps->ctx = ctx;
	*out = ps;
	return 0;
}

void pages_set_refresh(struct pages *ps, page_refresh_fn refresh, void *ctx)
{
	ps->refresh = refresh;
	ps->refresh_ctx = ctx;
}

static void put(struct printed *p)
{
	if (!p || --p->refs)
		return;
	free(p->text.p);
	free(p);
}

void pages_free(struct pages *ps)
{
	if (!ps)
		return;
	for (size_t i = 0; i < EXPOSITION_MAX; i++)
		put(ps->newest[i]);
	registry_free(ps->registry);
	pthread_mutex_destroy(&ps->lock);
	pthread_mutex_destroy(&ps->printed_lock);
	free(ps);
}

struct registry *pages_lock(struct pages *ps)
{
	pthread_mutex_lock(&ps->lock);
	return ps->registry;
}

void pages_unlock(struct pages *ps)
{
	pthread_mutex_unlock(&ps->lock);
}

/* What the page says about the pages. */
static void collect_own(struct pages *ps)
{
	struct registry *r = ps->registry;
	struct registry_stats st;

	for (size_t i = 0; i < EXPOSITION_MAX; i++)
		metric_set(r, METRIC_SCRAPES, format_names[i], NULL,
			   __atomic_load_n(&ps->n_scrapes[i], __ATOMIC_RELAXED));
	registry_get_stats(r, &st);
	metric_set(r, METRIC_EVICTED, NULL, NULL, st.n_evicted);
	metric_set(r, METRIC_REFUSED, NULL, NULL, st.n_refused);
	metric_set(r, METRIC_SERIES, NULL, NULL, st.n_lines);
}

/* Has what other threads count brought up to date, which may take a while: without a lock. */
static void refresh(struct pages *ps)
{
	if (ps->refresh)
		ps->refresh(ps->refresh_ctx);
}

/* Brings the registry up to date, and leaves it locked. */
static void lock_current(struct pages *ps, uint64_t now_ns)
{
	pthread_mutex_lock(&ps->lock);
	if (ps->collect)
		ps->collect(ps->ctx, ps->registry, now_ns);
	collect_own(ps);
}

void pages_read(struct pages *ps, page_read_fn fn, void *ctx)
{
	refresh(ps);
	lock_current(ps, clock_now_ns());
	fn(ctx, ps->registry);
	pthread_mutex_unlock(&ps->lock);
}

/* Makes room for about this size, before the lock. Memory that is much larger is returned. */
static void make_room(struct sinsp_text *text, size_t sz)
{
	text->len = 0;
	if (text->cap >= sz && text->cap / 2 <= sz)
		return;
	free(text->p);
	sz += sz / 16;
	text->p = sz ? malloc(sz) : NULL;
	text->cap = text->p ? sz : 0;
}

/* Returns the page to print into in place of @old. It is @old again if no reader has it: the kernel
 * would have to clear new memory. NULL: no memory. */
static struct printed *renew(struct pages *ps, struct printed *old)
{
	struct printed *p;

	if (old && old->refs == 1)
		return old;
	put(old);
	p = calloc(1, sizeof(*p));
	if (p) {
		p->pages = ps;
		p->refs = 1;
	}
	return p;
}

static int print(struct pages *ps, struct printed *p, enum exposition format, uint64_t now_ns)
{
	int err;

	make_room(&p->text, ps->sz[format]);
	lock_current(ps, now_ns);
	err = registry_print(ps->registry, &p->text, format);
	pthread_mutex_unlock(&ps->lock);
	p->page = (struct page){p->text.p, p->text.len};
	ps->sz[format] = p->text.len;
	return err;
}

static int is_old(const struct printed *newest, uint64_t now_ns)
{
	return !newest || now_ns >= newest->at_ns + PAGE_MIN_AGE_NS;
}

static struct printed *get(struct pages *ps, enum exposition format, uint64_t now_ns)
{
	struct printed **newest = &ps->newest[format];

	if (is_old(*newest, now_ns)) {
		struct printed *p = renew(ps, *newest);

		*newest = p;
		if (!p)
			return NULL;
		p->at_ns = now_ns;
		if (print(ps, p, format, now_ns)) {
			put(p);
			*newest = NULL;
			return NULL;
		}
	}
	__atomic_fetch_add(&ps->n_scrapes[format], 1, __ATOMIC_RELAXED);
	(*newest)->refs++;
	return *newest;
}

const struct page *pages_get(struct pages *ps, enum exposition format, uint64_t now_ns)
{
	struct printed *p;

	pthread_mutex_lock(&ps->printed_lock);
	if (is_old(ps->newest[format], now_ns)) {
		pthread_mutex_unlock(&ps->printed_lock);
		refresh(ps);
		pthread_mutex_lock(&ps->printed_lock);
	}
	p = get(ps, format, now_ns);
	pthread_mutex_unlock(&ps->printed_lock);
	return p ? &p->page : NULL;
}

void pages_put(const struct page *page)
{
	struct printed *p = (struct printed *)page;
	pthread_mutex_t *lock = &p->pages->printed_lock;

	pthread_mutex_lock(lock);
	put(p);
	pthread_mutex_unlock(lock);
}
