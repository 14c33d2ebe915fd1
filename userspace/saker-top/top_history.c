/* SPDX-License-Identifier: Apache-2.0 */
#include "top_history.h"

#include "top_spark.h"

static struct top_snapshot *slot(struct top_history *h, uint64_t number)
{
	return &h->v[number % TOP_HISTORY_MAX];
}

const struct top_snapshot *top_history_at(const struct top_history *h, uint64_t number)
{
	return number >= h->from && number < h->to ? &h->v[number % TOP_HISTORY_MAX] : NULL;
}

/* Returns whether it could be dropped: the one that is shown stays, and all after it. */
static int drop_first(struct top_history *h)
{
	struct top_snapshot *first = slot(h, h->from);

	if (h->from == h->to || h->pinned == h->from + 1)
		return 0;
	h->bytes -= view_table_bytes(first->table);
	view_table_free(first->table);
	*first = (struct top_snapshot){0};
	h->from++;
	return 1;
}

const struct top_snapshot *top_history_pin(struct top_history *h, uint64_t number)
{
	const struct top_snapshot *snap = top_history_at(h, number);

	if (snap || number == UINT64_MAX)
		h->pinned = snap ? number + 1 : 0;
	return snap;
}

int top_history_add(struct top_history *h, const struct top_snapshot *snap)
{
	const size_t bytes = view_table_bytes(snap->table);
	struct top_snapshot copy = *snap;
	int err;

	while (h->to - h->from == TOP_HISTORY_MAX || h->bytes + bytes > TOP_HISTORY_BYTES)
		if (!drop_first(h))
			return 0;
	err = view_table_copy(&copy.table, snap->table);
	if (err)
		return err;
	h->bytes += view_table_bytes(copy.table);
	*slot(h, h->to++) = copy;
	return 0;
}

uint64_t top_history_find(const struct top_history *h, uint64_t ns)
{
	uint64_t number = h->to - 1;

	while (number > h->from && top_history_at(h, number)->end_ns > ns)
		number--;
	return number;
}

size_t top_history_series(const struct top_history *h, double *points, size_t max,
			  const struct view_cell *key, size_t col, double *seconds)
{
	const uint64_t from = h->to - h->from > max ? h->to - max : h->from;
	size_t n_cols;

	*seconds = 0;
	for (uint64_t i = from; i < h->to; i++) {
		const struct top_snapshot *snap = top_history_at(h, i);
		const struct view_column *cols = view_table_columns(snap->table, &n_cols);
		const struct view_cell *cells = view_table_find(snap->table, key);
		const double length = (double)snap->length_ns / 1e9;

		points[i - from] = cells ? top_spark_value(&cells[col], &cols[col], length) : -1;
		*seconds += length;
	}
	return (size_t)(h->to - from);
}

void top_history_clear(struct top_history *h)
{
	h->pinned = 0;
	while (drop_first(h))
		;
}
