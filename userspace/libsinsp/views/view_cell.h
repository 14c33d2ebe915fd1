/* SPDX-License-Identifier: Apache-2.0 */
/* Combines and compares cells by the type of their column. */
#ifndef SINSP_VIEWS_VIEW_CELL_H
#define SINSP_VIEWS_VIEW_CELL_H

#include "chisel/chisel.h"
#include "view_rows.h"

/* Sets the cell to the field's value in e->evt; bytes are valid until the next event. Returns 1; 0:
 * it has none; -ENOMEM. */
int view_cell_get(struct view_cell *c, struct sinsp_eval *e, const struct sinsp_field *f,
		  enum view_kind kind);

/* Adds a value to a number of a row. */
void view_cell_combine(struct view_cell *dst, const struct view_cell *src, enum view_kind kind,
		       enum sinsp_view_aggregation how);

/* Replaces a sum of several values by their mean. */
void view_cell_settle(struct view_cell *c, enum view_kind kind);

/* Returns -1, 0 or 1. */
int view_cell_compare(const struct view_cell *a, const struct view_cell *b, enum view_kind kind);

#endif /* SINSP_VIEWS_VIEW_CELL_H */
