/* SPDX-License-Identifier: Apache-2.0 */
/* A heat map on the screen: time goes down, durations grow to the right. The cursor and a marked
 * corner select a rectangle of cells, whose events the user may go down to. */
#ifndef SAKER_TOP_HEAT_H
#define SAKER_TOP_HEAT_H

#include "top_draw.h"
#include "top_graph.h"
#include "top_keys.h"

struct top_heat {
	uint64_t first; /* line at the top of the screen */
	uint64_t line, mark_line; /* of the cursor, and of the other corner */
	unsigned int cell, mark_cell, per; /* cells, of this number a decade */
	uint8_t has_cursor, has_mark;
	uint8_t stays; /* new lines do not scroll it */
};

/* Moves the cursor, or marks its cell as a corner. Returns whether it handled the key. */
int top_heat_move(struct top_heat *h, const struct top_graph *g, const struct top_area *area,
		  enum top_action action);
/* Forgets the corner; without one, the cursor. Returns whether there was one. */
int top_heat_close(struct top_heat *h);
/* Moves the cursor to a place on the screen; @marks: and marks it. Returns whether it is a cell. */
int top_heat_point(struct top_heat *h, const struct top_graph *g, const struct top_area *area,
		   int y, int x, int marks);

/* Sets the rectangle that is selected. Returns whether there is a cursor. */
int top_heat_rect(const struct top_heat *h, struct top_rect *r);
/* Returns the number of values in it. */
uint64_t top_heat_count(const struct top_graph *g, const struct top_rect *r);
/* Appends what it covers: the range of durations, which are called @what, and of time. Returns 0 or
 * -ENOMEM. */
int top_heat_name(struct sinsp_text *out, const struct top_graph *g, const struct top_rect *r,
		  const char *what);
/* Appends that as the condition of a filter, with its NUL. Returns 0 or -ENOMEM. */
int top_heat_condition(struct sinsp_text *out, const struct top_graph *g, const struct top_rect *r);

/* Draws it with the scale in the last line, and in the line above the area what is selected, or
 * what the colours mean. */
void top_heat_draw(struct top_heat *h, const struct top_graph *g, const struct top_area *area);

#endif /* SAKER_TOP_HEAT_H */
