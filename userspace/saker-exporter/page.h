/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of metrics: consistent snapshots of a registry that the capture's thread fills and a
 * server's thread prints. The lock is held for one print at most, and each format is printed at
 * most once in PAGE_MIN_AGE_NS: clients cannot keep the capture from its work.
 */
#ifndef SAKER_EXPORTER_PAGE_H
#define SAKER_EXPORTER_PAGE_H

#include "registry_text.h"

#define PAGE_MIN_AGE_NS 100000000ull

struct pages;

struct page {
	const char *p;
	size_t len;
};

/* Called before each print, with the lock: for values that are read and not counted. */
typedef void (*page_collect_fn)(void *ctx, struct registry *r, uint64_t now_ns);

/* Takes the registry, also on failure. Returns 0 or -ENOMEM. */
int pages_new(struct pages **out, struct registry *r, page_collect_fn collect, void *ctx);
/* @refresh is called before each print, without the lock: it brings the registry up to date. */
typedef void (*page_refresh_fn)(void *ctx);
void pages_set_refresh(struct pages *ps, page_refresh_fn refresh, void *ctx);
void pages_free(struct pages *ps);

/* Any thread: calls @fn with the registry, up to date and locked. */
typedef void (*page_read_fn)(void *ctx, const struct registry *r);
void pages_read(struct pages *ps, page_read_fn fn, void *ctx);

/* The capture's thread: the registry, until pages_unlock. */
struct registry *pages_lock(struct pages *ps);
void pages_unlock(struct pages *ps);

/* Any thread: after a reload two servers share the pages for a while. Returns a page, to be put
 * before pages_free; NULL: no memory. */
const struct page *pages_get(struct pages *ps, enum exposition format, uint64_t now_ns);
void pages_put(const struct page *page);

#endif /* SAKER_EXPORTER_PAGE_H */
