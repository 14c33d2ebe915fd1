/* SPDX-License-Identifier: Apache-2.0 */
/* Searches a text in the cells of a table; the case of ASCII letters does not matter. No screen. */
#ifndef SAKER_TOP_FIND_H
#define SAKER_TOP_FIND_H

#include "views/view_table.h"

struct top_find {
	char *text; /* in lower case; owned */
	size_t n;
	unsigned char first[2]; /* its first byte, in both cases */
	uint8_t may_be_number; /* numbers have no other characters */
	struct sinsp_text scratch;
};

/* Returns 0 or -ENOMEM. */
int top_find_init(struct top_find *f, const char *text);
void top_find_fini(struct top_find *f);

/* Returns whether the @n bytes have the text. */
int top_find_in_bytes(const struct top_find *f, const char *s, size_t n);
/* Returns whether a cell of the row has the text as the table shows it; @seconds divides rates. */
int top_find_in_row(struct top_find *f, const struct view_table *t, size_t row, double seconds);

#endif /* SAKER_TOP_FIND_H */
