/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of a table as text for a terminal: valid UTF-8 without control characters. */
#ifndef SAKER_TOP_CELL_H
#define SAKER_TOP_CELL_H

#include "views/view_table.h"

/* Returns whether no value of a number is known. A sum of none is 0. */
int top_cell_is_unknown(const struct view_cell *c, const struct view_column *col);

/* Returns whether the column is aligned to the left: a text. */
int top_cell_is_left(const struct view_column *col);

/* Returns the width of the column on the screen. */
size_t top_cell_width(const struct view_column *col);

/* Appends the cell's text; @seconds divides rates. Returns 0 or -ENOMEM. */
int top_cell_text(struct sinsp_text *out, const struct view_cell *c, const struct view_column *col,
		  double seconds);

/* Appends the value of a key as filters and csysdig's JSON have it. Returns 0 or -ENOMEM. */
int top_key_text(struct sinsp_text *out, const struct view_cell *key, const struct view_type *type);

/* Appends text of valid UTF-8 in exactly @width columns: cut, or filled with blanks. Returns 0 or
 * -ENOMEM. */
int top_text_pad(struct sinsp_text *out, const char *s, size_t n, size_t width, int left);

/*
 * Appends any bytes as text that never moves what stands beside it: each byte that is not UTF-8 and
 * each control, direction or format character becomes a dot, so does an accent without a letter
 * before it. Without @utf8, for terminals of other encodings, each character beyond ASCII does.
 * Returns 0 or -ENOMEM.
 */
int top_text_safe(struct sinsp_text *out, const char *s, size_t n, int utf8);

/* Appends formatted text. Returns 0 or -ENOMEM. */
__attribute__((format(printf, 2, 3))) int top_put(struct sinsp_text *out, const char *fmt, ...);
/* Appends text in lines of up to @width columns, cut at blanks where there are any; lines but the
 * first begin with @indent blanks. Returns 0 or -ENOMEM. */
int top_put_wrapped(struct sinsp_text *out, const char *s, size_t n, size_t width, size_t indent);

#endif /* SAKER_TOP_CELL_H */
