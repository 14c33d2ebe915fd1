/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts are searched where they lie: they differ from what is shown only in bytes that are not
 * UTF-8, which have a dot. Numbers have to be formatted, which takes longer than all else, but only
 * if the text may be of a number.
 */
#include "top_find.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"

/* Numbers, their units, true and false, addresses. */
#define OF_NUMBERS "0123456789.-:abcdefgklmnprstu"

int top_find_init(struct top_find *f, const char *text)
{
	*f = (struct top_find){.text = strdup(text), .n = strlen(text)};
	if (!f->text)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++)
		f->text[i] = (char)tolower((unsigned char)text[i]);
	f->first[0] = (unsigned char)f->text[0];
	f->first[1] = (unsigned char)toupper(f->first[0]);
	f->may_be_number = f->text[strspn(f->text, OF_NUMBERS)] == 0;
	return 0;
}

void top_find_fini(struct top_find *f)
{
	free(f->text);
	free(f->scratch.p);
}

static int is_here(const struct top_find *f, const char *s)
{
	for (size_t i = 1; i < f->n; i++)
		if (tolower((unsigned char)s[i]) != (unsigned char)f->text[i])
			return 0;
	return 1;
}

int top_find_in_bytes(const struct top_find *f, const char *s, size_t n)
{
	for (size_t i = 0; i + f->n <= n; i++) {
		const unsigned char c = (unsigned char)s[i];

		if ((c == f->first[0] || c == f->first[1]) && is_here(f, s + i))
			return 1;
	}
	return 0;
}

static int in_cell(struct top_find *f, const struct view_cell *c, const struct view_column *col,
		   double seconds)
{
	if (col->type.kind == VIEW_TEXT)
		return top_find_in_bytes(f, c->p ?: "", c->len);
	if (!f->may_be_number)
		return 0;
	f->scratch.len = 0;
	if (top_cell_text(&f->scratch, c, col, seconds))
		return 0;
	return top_find_in_bytes(f, f->scratch.p, f->scratch.len);
}

int top_find_in_row(struct top_find *f, const struct view_table *t, size_t row, double seconds)
{
	size_t n;
	const struct view_column *cols = view_table_columns(t, &n);
	const struct view_cell *cells = view_table_cells(t, row);

	for (size_t i = 0; i < n; i++)
		if (in_cell(f, &cells[i], &cols[i], seconds))
			return 1;
	return 0;
}
