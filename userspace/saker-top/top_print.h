/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a table: as text, or as a slice of csysdig's JSON. */
#ifndef SAKER_TOP_PRINT_H
#define SAKER_TOP_PRINT_H

#include "top_options.h"
#include "views/view_table.h"

/* What is printed. */
struct top_slice {
	const struct view_table *table;
	const struct sinsp_view *view;
	const struct sinsp_view *target; /* of a drill-down; NULL: none */
	const struct top_options *options;
	uint64_t ns; /* time of its end */
	uint64_t length_ns; /* divides rates */
	uint64_t number; /* of the tables before it */
};

/* Each appends to @out. Returns 0 or -ENOMEM. */
int top_print_text(struct sinsp_text *out, const struct top_slice *slice);
int top_print_json(struct sinsp_text *out, const struct top_slice *slice);

/* Sets the rows to print: from *from up to, not including, *to. */
void top_slice_rows(const struct top_slice *slice, size_t *from, size_t *to);

#endif /* SAKER_TOP_PRINT_H */
