/* SPDX-License-Identifier: Apache-2.0 */
/* Draws text, cells of heat maps and bars of flame graphs: whatever its bytes, text takes the
 * columns that it is given. Also which lines of the screen the table or pane has. */
#ifndef SAKER_TOP_DRAW_H
#define SAKER_TOP_DRAW_H

#include "sinsp.h"

enum top_style {
	TOP_PLAIN,
	TOP_TITLE,
	TOP_HEADER,
	TOP_SORTED, /* the header of the column that sorts */
	TOP_SELECTED,
	TOP_BAR, /* text of the bar of keys */
	TOP_ERROR,
};

enum { TOP_HEADER_LINE = 2, TOP_FIRST_LINE = 3 }; /* of the table or pane */

/* Where a table or graph is drawn: the lines below its header, which is in the line above. */
struct top_area {
	int y, height, width;
};

void top_draw_init(void);
void top_draw_fini(void);

/* Draws text in exactly @width columns. */
void top_draw_text(int y, int x, int width, const char *s, size_t n, enum top_style style);
/* Draws a cell of a heat map: its level as colour or character. */
void top_draw_heat(int y, int x, unsigned int level, int selected);
/* Draws a bar of a flame graph with its name. */
void top_draw_bar_of_frame(int y, int x, int width, const char *name, int is_odd);
/* Draws a whole line. */
void top_draw_line(int y, const struct sinsp_text *text, enum top_style style);
/* Draws the bar of keys in the last line: those with a function key. */
void top_draw_bar(void);
/* Returns the code of the key at column @x of the bar; 0: none. */
int top_draw_bar_code(int x);
/* Returns the number of rows or lines that there is room for. */
int top_page_height(void);
/* Returns the area of that height. */
struct top_area top_page_area(void);

#endif /* SAKER_TOP_DRAW_H */
