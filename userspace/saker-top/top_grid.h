/* SPDX-License-Identifier: Apache-2.0 */
/* A table on the screen: which row is selected, which part is shown. A selection that the user made
 * follows the key of its row. */
#ifndef SAKER_TOP_GRID_H
#define SAKER_TOP_GRID_H

#include "top_draw.h"
#include "top_feed.h"
#include "top_keys.h"
#include "top_path.h"

/* Sorts a new snapshot, and finds the selected row again. Returns 0 or -ENOMEM. */
int top_grid_arrive(struct top_place *place, const struct top_snapshot *snap);
/* Sorts by the column, from 1; if it sorts already, in the other order. Returns 0; -ERANGE: there
 * is none; -ENOMEM. */
int top_grid_sort(struct top_place *place, const struct top_snapshot *snap, uint32_t col);
/* Moves the selection or the columns. */
void top_grid_move(struct top_place *place, const struct top_snapshot *snap, int height,
		   enum top_action action);
/* Selects a row. */
void top_grid_select(struct top_place *place, const struct top_snapshot *snap, size_t row);
/* Returns whether the selected row is the one that the user selected. */
int top_grid_has_selected(const struct top_place *place, const struct top_snapshot *snap);
/* Selects the next row that has the text in a cell, in any case. Returns whether there is one. */
int top_grid_search(struct top_place *place, const struct top_snapshot *snap, const char *text,
		    int from_next);

/* Returns the column of the view, from 1, at @x on the screen; 0: none. */
uint32_t top_grid_column_at(const struct top_place *place, const struct top_snapshot *snap, int x);
void top_grid_draw(struct top_place *place, const struct top_snapshot *snap,
		   const struct top_area *area);

#endif /* SAKER_TOP_GRID_H */
