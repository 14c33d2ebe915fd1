/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information (.eh_frame, .debug_frame) as rows of an unwind table. The sections are
 * hostile: every length is checked, every loop ends with its bytes, and what cannot be
 * understood covers its code with a row that says so.
 */
#ifndef SCAP_UNWIND_CFI_H
#define SCAP_UNWIND_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "shared/unwind_row.h"
#include "unwind/unwind_work.h"

/* Rows in order of pc, no two neighbours alike. */
struct unwind_rows {
	struct unwind_row *v;
	size_t n, cap;
};

/* Appends a row unless it says what the last one does. One at the same pc is replaced. 0 or
 * -ENOMEM. */
int unwind_rows_add(struct unwind_rows *rows, struct unwind_row row);
void unwind_rows_fini(struct unwind_rows *rows);

/* Code that is loaded: what it is in the file, and where addresses of the file say that it is. */
struct cfi_code {
	uint64_t vaddr;
	uint64_t sz;
	uint64_t offset; /* offset + sz is at most UINT32_MAX */
};

struct cfi_section {
	const uint8_t *data;
	size_t sz;
	uint64_t addr; /* of its first byte */
	int is_debug; /* .debug_frame */
};

#define CFI_SECTIONS_MAX 2

struct cfi;

/* Borrows @code, @work (NULL: no bound) and, below, sections' data until cfi_free. */
int cfi_new(struct cfi **out, const struct cfi_code *code, size_t n_code, struct unwind_work *work);
void cfi_free(struct cfi *c);

/* Takes in all entries of a section. Those whose code no segment has, or that are damaged, are
 * passed over. 0 or -ENOMEM, -E2BIG: it is too large, or there are too many; or as
 * unwind_work_take. */
int cfi_add_section(struct cfi *c, const struct cfi_section *s);
/* The same for entries that a table lists, where nobody knows the section's end: the offsets
 * in the section of @n of them. */
int cfi_add_listed(struct cfi *c, const struct cfi_section *s, const uint32_t *offsets, size_t n);

/* Functions that were found. */
size_t cfi_n(const struct cfi *c);

/* Makes rows of all that was added. Code between functions, unless it is short enough to be but
 * filling, gets rows of the kind UNWIND_NONE. 0 or -ENOMEM, or as unwind_work_take. */
int cfi_rows(struct cfi *c, struct unwind_rows *rows);

#endif /* SCAP_UNWIND_CFI_H */
