/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts call frame information (.eh_frame, .debug_frame: CIEs and FDEs) to rows of an unwind
 * table. The sections are hostile: every length is checked, every loop ends with its bytes, and
 * code whose FDE cannot be interpreted gets a row that says so.
 */
#ifndef SCAP_UNWIND_CFI_H
#define SCAP_UNWIND_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "shared/unwind_row.h"
#include "unwind/unwind_work.h"

/* Rows in order of pc; neighbours differ. */
struct unwind_rows {
	struct unwind_row *v;
	size_t n, cap;
};

/*
 * Appends a row unless it equals the last one. Replaces one at the same pc. Returns 0 or -ENOMEM.
 */
int unwind_rows_add(struct unwind_rows *rows, struct unwind_row row);
void unwind_rows_fini(struct unwind_rows *rows);

/* Loaded code: its place in the file, and its address by the file. */
struct cfi_code {
	uint64_t vaddr;
	uint64_t sz;
	uint64_t offset; /* offset + sz is at most UINT32_MAX */
};

struct cfi_section {
	const uint8_t *data;
	size_t sz;
	uint64_t addr; /* address of its first byte */
	int is_debug; /* .debug_frame */
};

#define CFI_SECTIONS_MAX 2

struct cfi;

/* Borrows @code, @work (NULL: no limit) and later the sections' data until cfi_free. */
int cfi_new(struct cfi **out, const struct cfi_code *code, size_t n_code, struct unwind_work *work);
void cfi_free(struct cfi *c);

/* Reads all entries of a section. Skips damaged ones, and those whose code is in no segment.
 * Returns 0 or -ENOMEM, -E2BIG: too large, or too many; or as unwind_work_spend. */
int cfi_add_section(struct cfi *c, const struct cfi_section *s);
/* The same for entries that a table lists, if the end of the section is unknown: @n offsets in the
 * section. */
int cfi_add_listed(struct cfi *c, const struct cfi_section *s, const uint32_t *offsets, size_t n);

/* Returns the number of functions found. */
size_t cfi_n(const struct cfi *c);

/*
 * Builds the rows of everything that was added. Code between functions gets rows of the kind
 * UNWIND_NONE, unless it is short enough to be padding. Returns 0 or -ENOMEM, or as
 * unwind_work_spend.
 */
int cfi_rows(struct cfi *c, struct unwind_rows *rows);

#endif /* SCAP_UNWIND_CFI_H */
