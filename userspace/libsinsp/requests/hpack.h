/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header blocks of HTTP/2 (RFC 7541), for one direction of a connection. A field that refers to an
 * entry of the dynamic table which was not seen is unknown. Invariant: the newest entries of the
 * table are those that the sender added since its state was last forgotten, so that an index is
 * either right or unknown.
 */
#ifndef SINSP_REQUESTS_HPACK_H
#define SINSP_REQUESTS_HPACK_H

#include <nghttp2/nghttp2.h>
#include <stddef.h>
#include <stdint.h>

#define HPACK_TABLE_MAX (64 << 10) /* bytes; fields of a sender with a larger one are unknown */

/* Zeros: nothing is known of the sender's table. */
struct hpack {
	nghttp2_hd_inflater *inflater; /* owned; NULL: none yet */
	nghttp2_mem mem;
	int64_t used; /* bytes that the inflater has allocated */
	uint8_t empty; /* the sender's table is known to be empty */
	uint8_t began; /* blocks were read, or lost */
	uint8_t n_failed; /* blocks that are wrong */
};

struct hpack_field {
	const char *name, *value; /* borrowed, not terminated; NULL: unknown */
	size_t name_len, len;
};

typedef void (*hpack_fn)(void *ctx, const struct hpack_field *field);

/* Notes that the sender's table is empty, as at the beginning of a connection; has no effect once a
 * block was read or lost. */
void hpack_start(struct hpack *h);
/* Reads the next @n bytes of a block, and calls @fn for each field. @last: the block ends with
 * them. Returns 0 if the block is wrong: the rest of it cannot be read, and the table is unknown.
 */
int hpack_read(struct hpack *h, const uint8_t *p, size_t n, int last, hpack_fn fn, void *ctx);
/* A part of a block was lost: the table is unknown. */
void hpack_forget(struct hpack *h);
void hpack_fini(struct hpack *h);

#endif /* SINSP_REQUESTS_HPACK_H */
