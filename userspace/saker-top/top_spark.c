/* SPDX-License-Identifier: Apache-2.0 */
#include "top_spark.h"

#include "top_cell.h"

enum { LEVELS = 8 };

int top_spark_is_quantity(const struct view_column *col)
{
	const int kind = col->type.kind;

	return (kind == VIEW_INT || kind == VIEW_UINT || kind == VIEW_DOUBLE ||
		kind == VIEW_DURATION) &&
	       !col->type.is_id;
}

double top_spark_value(const struct view_cell *c, const struct view_column *col, double seconds)
{
	double value = (double)c->u;

	if (top_cell_is_unknown(c, col))
		return -1;
	if (col->type.kind == VIEW_DOUBLE)
		value = c->d;
	else if (col->type.kind == VIEW_INT)
		value = (double)c->i;
	return col->is_rate && seconds > 0 ? value / seconds : value;
}

size_t top_spark_fit(double *points, size_t n, size_t max)
{
	const size_t each = max ? (n + max - 1) / max : n;
	size_t to = 0;

	for (size_t from = 0; from < n; from += each) {
		const size_t end = from + each < n ? from + each : n;
		size_t known = 0;
		double sum = 0;

		for (size_t i = from; i < end; i++) {
			sum += points[i] >= 0 ? points[i] : 0;
			known += points[i] >= 0;
		}
		points[to++] = known ? sum / (double)known : -1;
	}
	return to;
}

/* Appends the value as the column shows it. */
static int put_value(struct sinsp_text *out, const struct view_column *col, double value)
{
	struct view_column plain = *col;
	struct view_cell cell = {.u = (uint64_t)value, .n = 1};

	plain.is_rate = 0;
	if (col->type.kind == VIEW_DOUBLE)
		cell.d = value;
	return top_cell_text(out, &cell, &plain, 0);
}

int top_spark_put(struct sinsp_text *out, const struct view_column *col, const double *points,
		  size_t n, double seconds, int utf8)
{
	static const char *const blocks[2][LEVELS] = {
		{"_", ".", ":", "-", "=", "+", "*", "#"},
		{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	};
	double least = -1, most = -1;
	int err;

	for (size_t i = 0; i < n; i++) {
		if (points[i] < 0)
			continue;
		least = least < 0 || points[i] < least ? points[i] : least;
		most = points[i] > most ? points[i] : most;
	}
	if (most < 0)
		return 0;
	err = top_put(out, "\n%-12s ", col->info->name);
	for (size_t i = 0; i < n && !err; i++) {
		const int level = most > 0 ? (int)(points[i] / most * (LEVELS - 1) + 0.5) : 0;

		err = top_put(out, "%s", points[i] < 0 ? " " : blocks[utf8 != 0][level]);
	}
	err = err ?: top_put(out, "  ");
	err = err ?: put_value(out, col, least);
	err = err ?: top_put(out, " to ");
	err = err ?: put_value(out, col, most);
	return err ?: top_put(out, ", %.0f s\n", seconds);
}
