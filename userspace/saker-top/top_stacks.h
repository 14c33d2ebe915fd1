/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph on the screen: the frame that is zoomed into at the top, callees below their
 * caller. The selection follows its frame while samples are added. */
#ifndef SAKER_TOP_STACKS_H
#define SAKER_TOP_STACKS_H

#include "top_draw.h"
#include "top_flame.h"
#include "top_keys.h"

enum { TOP_STACKS_ZOOMS = 64 };

struct top_stacks {
	struct top_bar *bars; /* owned: those of the last layout */
	size_t n, cap;
	uint32_t top, selected; /* frames */
	uint32_t zooms[TOP_STACKS_ZOOMS]; /* frames that were at the top before */
	unsigned int n_zooms, generation;
	uint32_t first; /* row at the top of the screen */
};

void top_stacks_fini(struct top_stacks *st);

/* Bars have the lines of the area but its last one, which describes the selected frame. */

/* Moves the selection, or zooms. Returns whether it handled the key. */
int top_stacks_move(struct top_stacks *st, struct top_flame *f, const struct top_area *area,
		    enum top_action action);
/* Selects the bar at a place of the screen. Returns whether there is one. */
int top_stacks_point(struct top_stacks *st, struct top_flame *f, const struct top_area *area, int y,
		     int x);
/* Selects the next bar whose name has the text, in any case. Returns whether there is one. */
int top_stacks_search(struct top_stacks *st, struct top_flame *f, const struct top_area *area,
		      const char *text, int from_next);
void top_stacks_draw(struct top_stacks *st, struct top_flame *f, const struct top_area *area);

#endif /* SAKER_TOP_STACKS_H */
