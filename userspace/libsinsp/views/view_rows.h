/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of cells, found by their first one, the key. Rows are numbered in the order of creation;
 * texts are copied. Number of rows and bytes of texts are bounded: beyond, no row is added.
 */
#ifndef SINSP_VIEWS_VIEW_ROWS_H
#define SINSP_VIEWS_VIEW_ROWS_H

#include "filter/arena.h"
#include "view_hist.h"
#include "view_type.h"

struct view_cell {
	union {
		uint64_t u;
		int64_t i;
		double d;
		const char *p;
		struct view_hist *hist; /* of a percentile, until it is settled */
	};
	uint32_t len; /* of what p points to */
	uint32_t n; /* number of values: 0, a default stands for a missing one; more than 1 in sums
		       of averages */
};

struct view_rows {
	struct view_cell *cells; /* of all rows; owned, as all members */
	uint64_t *hashes;
	uint32_t *slots; /* number of a row + 1; 0: empty */
	size_t n_cols, n, cap, n_slots, max;
	size_t text_sz, text_max; /* memory of texts */
	struct sinsp_arena texts;
};

enum { VIEW_ROW_NONE = -1 };

void view_rows_init(struct view_rows *r, size_t n_cols, size_t max, size_t text_max);
void view_rows_fini(struct view_rows *r);
/* Removes all rows; keeps memory for as many. */
void view_rows_clear(struct view_rows *r);

static inline struct view_cell *view_row(const struct view_rows *r, size_t i)
{
	return r->cells + i * r->n_cols;
}

/* Returns the hash of a cell. */
uint64_t view_cell_hash(const struct view_cell *c, enum view_kind kind);
/* Returns the number of the row with the key; VIEW_ROW_NONE. */
int64_t view_rows_find(const struct view_rows *r, const struct view_cell *key, enum view_kind kind,
		       uint64_t hash);
/* Makes room for exactly @n rows in an empty table. Returns 0 or -ENOMEM. */
int view_rows_reserve(struct view_rows *r, size_t n);
/* Adds a row of empty cells. Returns its number; -ENOSPC at the bound, -ENOMEM. */
int64_t view_rows_add(struct view_rows *r, uint64_t hash);
/* Removes the row that was added last. */
void view_rows_drop_last(struct view_rows *r);
/* Stores a copy of the cell in @dst. Returns 0; -ENOSPC at the bound, with an empty text; -ENOMEM.
 */
int view_rows_store(struct view_rows *r, struct view_cell *dst, const struct view_cell *src,
		    enum view_kind kind);

/* Makes the cell an empty percentile. Returns 0; -ENOSPC at the bound of texts, without one;
 * -ENOMEM. */
int view_rows_new_hist(struct view_rows *r, struct view_cell *dst);

#endif /* SINSP_VIEWS_VIEW_ROWS_H */
