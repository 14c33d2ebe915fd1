/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a table: keys first, each with its compiled field. */
#ifndef SINSP_VIEWS_VIEW_COLUMNS_H
#define SINSP_VIEWS_VIEW_COLUMNS_H

#include "view_table.h"

struct view_columns {
	struct view_field {
		struct sinsp_field field;
		uint8_t keeps_first; /* the value of a row's first event stays, and any has one */
		uint8_t takes_last; /* a text that each event replaces */
		uint8_t percent; /* of a percentile; 0: none */
	} * fields; /* owned: the key unless it is a list, the groupby key, the others */
	struct view_column *columns; /* owned: of the fields */
	size_t n;
	size_t n_keys; /* not shown: 0 of a list, 1, or 2 with a groupby key */
	uint32_t sorting_col; /* shown column, from 1; 0: none */
	uint8_t has_io; /* a column has bytes of the files that an event reads and writes */
	uint8_t is_by_file; /* the key is of a file */
};

/* Returns 0; -EINVAL with *err set; -ENOMEM. Free @c with view_columns_fini, also then. */
int view_columns_init(struct view_columns *c, const struct sinsp_view *view, int containers,
		      uint32_t depth, struct view_error *err);
void view_columns_fini(struct view_columns *c);

/* Formats the message and returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int view_error(struct view_error *err, const char *fmt, ...);

#endif /* SINSP_VIEWS_VIEW_COLUMNS_H */
