/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a column over time as a line of blocks. No screen. */
#ifndef SAKER_TOP_SPARK_H
#define SAKER_TOP_SPARK_H

#include "views/view_table.h"

/* Returns whether the column's values are amounts, not names or numbers of things. */
int top_spark_is_quantity(const struct view_column *col);

/* Returns the value of a cell, per second if it is a rate; -1: it is not known. */
double top_spark_value(const struct view_cell *c, const struct view_column *col, double seconds);

/* Replaces the points by at most @max, each the mean of as many neighbours, without the unknown
 * ones. Returns their number. */
size_t top_spark_fit(double *points, size_t n, size_t max);

/* Appends a line: the column's name, a block for each point (negative: none), the least and the
 * greatest value, and the time that they cover. @utf8: else ASCII. Returns 0 or -ENOMEM. */
int top_spark_put(struct sinsp_text *out, const struct view_column *col, const double *points,
		  size_t n, double seconds, int utf8);

#endif /* SAKER_TOP_SPARK_H */
