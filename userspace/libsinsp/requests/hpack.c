/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libnghttp2's inflater holds the table. A table that is unknown is filled with entries that mark
 * unknown ones. The size of a table is announced in blocks; SETTINGS only limit it, so they need
 * not be followed.
 */
#include "hpack.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum {
	N_UNKNOWN = 128, /* entries of 32 bytes at least, in a table of the default size */
	FAILED_MAX = 8, /* wrong blocks of a connection */
};

/* Name of the unknown: no header can have it. */
static const char unknown_name = '?';

/* ---- memory ---- */

static void *count(struct hpack *h, void *p)
{
	h->used += (int64_t)malloc_usable_size(p);
	return p;
}

static void *counted_malloc(size_t sz, void *ctx)
{
	return count(ctx, malloc(sz));
}

static void *counted_calloc(size_t n, size_t sz, void *ctx)
{
	return count(ctx, calloc(n, sz));
}

static void *counted_realloc(void *p, size_t sz, void *ctx)
{
	struct hpack *h = ctx;
	const size_t old = malloc_usable_size(p);
	void *to = realloc(p, sz);

	if (!to)
		return NULL;
	h->used -= (int64_t)old;
	return count(h, to);
}

static void counted_free(void *p, void *ctx)
{
	struct hpack *h = ctx;

	h->used -= (int64_t)malloc_usable_size(p);
	free(p);
}

/* ---- life ---- */

void hpack_fini(struct hpack *h)
{
	if (h->inflater)
		nghttp2_hd_inflate_del(h->inflater);
	h->inflater = NULL;
}

void hpack_forget(struct hpack *h)
{
	hpack_fini(h);
	h->empty = 0;
	h->began = 1;
}

void hpack_start(struct hpack *h)
{
	if (!h->began)
		h->empty = 1;
}

/* Feeds the inflater. Returns 0 if the bytes are wrong. */
static int inflate(struct hpack *h, const uint8_t *p, size_t n, int last, hpack_fn fn, void *ctx)
{
	for (;;) {
		nghttp2_nv nv;
		int flags = 0;
		const ssize_t used = nghttp2_hd_inflate_hd2(h->inflater, &nv, &flags, p, n, last);

		if (used < 0)
			return 0;
		p += used;
		n -= (size_t)used;
		if (flags & NGHTTP2_HD_INFLATE_EMIT && fn) {
			const int known = nv.namelen != 1 || *nv.name != unknown_name;
			const struct hpack_field field = {
				.name = known ? (const char *)nv.name : NULL,
				.value = known ? (const char *)nv.value : NULL,
				.name_len = known ? nv.namelen : 0,
				.len = known ? nv.valuelen : 0,
			};

			fn(ctx, &field);
		}
		if (flags & NGHTTP2_HD_INFLATE_FINAL) {
			nghttp2_hd_inflate_end_headers(h->inflater);
			return 1;
		}
		if (!(flags & NGHTTP2_HD_INFLATE_EMIT) && !n)
			return 1;
	}
}

/* Adds the entries that stand for those that were not seen. The table is as large as allowed, so
 * that it keeps what the sender keeps. */
static int fill(struct hpack *h)
{
	static const uint8_t size[] = {0x3f, 0xe1, 0xff, 0x03}; /* HPACK_TABLE_MAX */
	static const uint8_t entry[] = {0x40, 1, '?', 0};
	uint8_t block[sizeof(size) + N_UNKNOWN * sizeof(entry)];

	memcpy(block, size, sizeof(size));
	for (size_t i = 0; i < N_UNKNOWN; i++)
		memcpy(block + sizeof(size) + i * sizeof(entry), entry, sizeof(entry));
	return inflate(h, block, sizeof(block), 1, NULL, NULL);
}

static int begin(struct hpack *h)
{
	h->mem = (nghttp2_mem){
		.mem_user_data = h,
		.malloc = counted_malloc,
		.free = counted_free,
		.calloc = counted_calloc,
		.realloc = counted_realloc,
	};
	h->began = 1;
	if (h->n_failed >= FAILED_MAX || nghttp2_hd_inflate_new2(&h->inflater, &h->mem) != 0)
		return 0;
	return nghttp2_hd_inflate_change_table_size(h->inflater, HPACK_TABLE_MAX) == 0 &&
	       (h->empty || fill(h));
}

int hpack_read(struct hpack *h, const uint8_t *p, size_t n, int last, hpack_fn fn, void *ctx)
{
	if ((h->inflater || begin(h)) && inflate(h, p, n, last, fn, ctx))
		return 1;
	h->n_failed += h->n_failed < FAILED_MAX;
	hpack_forget(h);
	return 0;
}
