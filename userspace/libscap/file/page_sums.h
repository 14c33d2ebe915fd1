/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checksums of a plain file: a CRC-32C of each page of 64 KiB, counted from the beginning of the
 * file. The writer puts them into an option of a later event (OPT_SUMS), the reader compares them
 * (sums_check.h). gzip and zstd have checksums of their own.
 */
#ifndef SCAP_FILE_PAGE_SUMS_H
#define SCAP_FILE_PAGE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUM_PAGE_SZ (64u << 10)
#define PAGE_SUMS_EVERY 16 /* pages for which an option is due */
#define PAGE_SUMS_MAX 4096 /* pages that are kept: 256 MiB of the file */
#define PAGE_SUMS_OPTION_MAX (16 + 4 * (PAGE_SUMS_MAX + 1))

struct page_sums {
	uint64_t at; /* offset behind the bytes so far */
	uint64_t begin; /* the first page all of whose bytes were added */
	uint64_t next; /* writer: the first page that is in no option yet */
	uint32_t crc; /* of the page that @at is in, up to there */
	uint32_t v[PAGE_SUMS_MAX]; /* of the last complete pages: by number % PAGE_SUMS_MAX */
};

/* @s is all zeros. The first byte has offset @at. */
void page_sums_begin(struct page_sums *s, uint64_t at);
void page_sums_add(struct page_sums *s, const uint8_t *p, size_t n);

/* Returns the number of complete pages that are in no option yet. */
static inline uint64_t page_sums_n_due(const struct page_sums *s)
{
	return s->at / SUM_PAGE_SZ - s->next;
}
/* Writes the value of an option for a block at offset @at: with these, and in the @last one with
 * that of the bytes between them and @at if all of these were added. Returns its length, at most
 * PAGE_SUMS_OPTION_MAX; 0: there are no checksums for it. */
size_t page_sums_put(struct page_sums *s, uint8_t *out, uint64_t at, bool last);

#endif /* SCAP_FILE_PAGE_SUMS_H */
