/* SPDX-License-Identifier: Apache-2.0 */
#include "view_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_table.h"
#include "fields/evt_io.h"
#include "filter/filter.h"
#include "state/inspector.h"
#include "view_cell.h"
#include "view_columns.h"

#define OPT(opts, field)                                                                           \
	(opts->sz >= offsetof(struct view_table_opts, field) + sizeof(opts->field) ? opts->field   \
										   : 0)

enum { DEFAULT_ROWS = 1000000, DEFAULT_TEXT = 256 << 20, SECOND_NS = 1000000000 };

struct view_table {
	const struct sinsp_view *view;
	struct sinsp_filter *filter; /* NULL: all events */
	struct sinsp_eval eval;
	struct view_columns cols;
	struct view_cell *cells; /* of the current event or row */
	struct view_rows rows, merged;
	struct view_rows *shown; /* of the two: what is sorted; NULL: the interval goes on */
	uint32_t *order; /* numbers of rows, sorted */
	size_t order_cap;
	uint32_t sorting_col; /* 0: none */
	uint8_t reversed; /* the order of that column */
	uint8_t is_copy; /* the columns are those of another table */
	uint64_t n_listed; /* numbers rows of a list */
	uint64_t n_lost;
};

static int is_list(const struct view_table *t)
{
	return t->cols.n_keys == 0;
}

/* ---- new and free ---- */

static int compile_filter(struct view_table *t, const char *more, uint32_t depth,
			  struct view_error *err)
{
	struct sinsp_filter_error why = {0};
	char *own = view_text_at_depth(t->view->filter, depth), *both = NULL;
	const int has_more = more && *more;
	int r = 0;

	if (!own || (has_more && *own && asprintf(&both, "(%s) and (%s)", more, own) < 0)) {
		free(own);
		return -ENOMEM;
	}
	if (both || *own || has_more)
		r = sinsp_filter_new(&t->filter, both ?: *own ? own : more, NULL, &why);
	if (r == -EINVAL)
		view_error(err, "filter '%s' of view %s: %s",
			   both
				   ?: *own ? own
					   : more,
			   t->view->id, why.message);
	free(own);
	free(both);
	return r;
}

static int init(struct view_table *t, const struct view_table_opts *opts, struct view_error *err)
{
	const size_t max = OPT(opts, max_rows) ?: DEFAULT_ROWS;
	const size_t text = OPT(opts, max_text) ?: DEFAULT_TEXT;
	const uint32_t depth = OPT(opts, depth);
	int r = view_columns_init(&t->cols, t->view, OPT(opts, containers), depth, err);

	if (r)
		return r;
	t->sorting_col = OPT(opts, sorting_col) ?: t->cols.sorting_col;
	if (t->sorting_col > t->cols.n - t->cols.n_keys)
		return view_error(err, "view %s has %zu columns: cannot sort by column %u",
				  t->view->id, t->cols.n - t->cols.n_keys, t->sorting_col);
	view_rows_init(&t->rows, t->cols.n + is_list(t), max, text);
	view_rows_init(&t->merged, t->cols.n - 1, max, text); /* without the key */
	t->cells = calloc(t->cols.n + 1, sizeof(*t->cells));
	return t->cells ? compile_filter(t, OPT(opts, filter), depth, err) : -ENOMEM;
}

int view_table_new(struct view_table **out, const struct view_table_opts *opts,
		   struct view_error *err)
{
	struct view_table *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->view = opts->view;
	sinsp_eval_init(&t->eval, NULL);
	r = init(t, opts, err);
	if (r)
		view_table_free(t);
	else
		*out = t;
	return r;
}

void view_table_free(struct view_table *t)
{
	if (!t)
		return;
	sinsp_filter_free(t->filter);
	sinsp_eval_fini(&t->eval);
	if (!t->is_copy)
		view_columns_fini(&t->cols);
	view_rows_fini(&t->rows);
	view_rows_fini(&t->merged);
	free(t->cells);
	free(t->order);
	free(t);
}

/* ---- events ---- */

/* Returns 1, 0 if the event has no row, or a negative errno. */
static int get(struct view_table *t, size_t i)
{
	struct view_cell *c = &t->cells[i];
	const struct view_type *type = &t->cols.columns[i].type;
	const int n = view_cell_get(c, &t->eval, &t->cols.fields[i].field, type->kind);

	if (n)
		return n;
	*c = (struct view_cell){0};
	if (type->kind == VIEW_TEXT)
		c->p = "";
	return type->is_zero || (t->view->use_defaults && !type->no_default);
}

/* Gets all fields but the first @n_done; of an existing row only those that change it. */
static int get_others(struct view_table *t, size_t n_done, int is_new)
{
	int r = 1;

	for (size_t i = n_done; i < t->cols.n && r > 0; i++)
		if (is_new || !t->cols.fields[i].keeps_first)
			r = get(t, i);
	return r;
}

/* No room is no error: the bound is reported by its counter. */
static int count_lost(struct view_table *t, int64_t r)
{
	if (r == -ENOSPC) {
		t->n_lost++;
		return 0;
	}
	return r < 0 ? (int)r : 0;
}

/* Negative numbers are not counted: they are errors. */
static void add_to_hist(struct view_cell *dst, const struct view_cell *src, enum view_kind kind)
{
	if (dst->hist && src->n && (kind != VIEW_INT || src->i >= 0))
		view_hist_add(dst->hist, src->u);
}

/* Events have values of which a row keeps percentiles; a row to be merged has the percentiles. */
static int store_cell(struct view_table *t, struct view_rows *rows, struct view_cell *dst, size_t i,
		      const struct view_cell *src, enum view_kind kind)
{
	int err;

	if (rows != &t->rows || !t->cols.fields[i].percent)
		return view_rows_store(rows, dst, src, kind);
	err = view_rows_new_hist(rows, dst);
	add_to_hist(dst, src, kind);
	return err;
}

static int store_row(struct view_table *t, struct view_rows *rows, uint64_t hash,
		     const struct view_cell *cells, const struct view_column *cols)
{
	const int64_t at = view_rows_add(rows, hash);
	int err = 0;

	if (at < 0)
		return count_lost(t, at);
	for (size_t i = 0; i < rows->n_cols && !err; i++) {
		err = store_cell(t, rows, &view_row(rows, (size_t)at)[i], i, &cells[i],
				 cols[i].type.kind);
		if (err == -ENOSPC && !i) { /* without its key it would not be found */
			view_rows_drop_last(rows);
			return count_lost(t, err);
		}
		err = count_lost(t, err);
	}
	return err;
}

/* Appends a row to a list: its number as key, and the cells. */
static int append_row(struct view_table *t, uint64_t number, const struct view_cell *cells)
{
	const int64_t at = view_rows_add(&t->rows, number);
	struct view_cell *row;
	int err = 0;

	if (at < 0)
		return count_lost(t, at);
	row = view_row(&t->rows, (size_t)at);
	row[0] = (struct view_cell){.u = number, .n = 1};
	for (size_t i = 0; i < t->cols.n && !err; i++)
		err = count_lost(t, view_rows_store(&t->rows, &row[i + 1], &cells[i],
						    t->cols.columns[i].type.kind));
	return err;
}

static int list_event(struct view_table *t)
{
	const uint64_t number = ++t->n_listed;
	const int r = get_others(t, 0, 1);

	return r > 0 ? append_row(t, number, t->cells) : r;
}

/* A missing text does not replace one. */
static int update_row(struct view_table *t, struct view_cell *row)
{
	int err = 0;

	for (size_t i = 1; i < t->cols.n && !err; i++) {
		const struct view_field *f = &t->cols.fields[i];
		const struct view_column *col = &t->cols.columns[i];

		if (f->takes_last && t->cells[i].len)
			err = count_lost(
				t, view_rows_store(&t->rows, &row[i], &t->cells[i], VIEW_TEXT));
		else if (f->percent)
			add_to_hist(&row[i], &t->cells[i], col->type.kind);
		else if (!f->keeps_first && !f->takes_last)
			view_cell_combine(&row[i], &t->cells[i], col->type.kind,
					  col->info->aggregation);
	}
	return err;
}

static int table_event(struct view_table *t)
{
	const enum view_kind kind = t->cols.columns[0].type.kind;
	int r = get(t, 0);
	uint64_t hash;
	int64_t at;

	if (r <= 0)
		return r;
	hash = view_cell_hash(&t->cells[0], kind);
	at = view_rows_find(&t->rows, &t->cells[0], kind, hash);
	r = get_others(t, 1, at < 0);
	if (r <= 0)
		return r;
	return at < 0 ? store_row(t, &t->rows, hash, t->cells, t->cols.columns)
		      : update_row(t, view_row(&t->rows, (size_t)at));
}

static void set_event(struct view_table *t, const struct sinsp_evt *evt)
{
	t->eval.insp = evt->insp;
	sinsp_eval_set(&t->eval, evt);
}

static int add_event(struct view_table *t, const struct sinsp_evt *evt)
{
	set_event(t, evt);
	return is_list(t) ? list_event(t) : table_event(t);
}

/* Returns whether both ends of a call are in one row, such as that of a directory; or a negative
 * errno. */
static int have_same_key(struct view_table *t, const struct sinsp_evt ends[2])
{
	const enum view_kind kind = t->cols.columns[0].type.kind;
	struct view_cell key = {0};
	char *text = NULL;
	int r;

	set_event(t, &ends[0]);
	r = get(t, 0);
	if (r <= 0)
		return r;
	key = t->cells[0];
	if (key.len) { /* valid up to the next event */
		text = malloc(key.len);
		if (!text)
			return -ENOMEM;
		key.p = memcpy(text, key.p, key.len);
	}
	set_event(t, &ends[1]);
	r = get(t, 0);
	if (r > 0)
		r = view_cell_compare(&key, &t->cells[0], kind) == 0;
	free(text);
	return r;
}

/* Adds a call to the rows of those of its two files that are @selected. If both have the same row,
 * it is added once: calls are counted, too. */
static int add_ends(struct view_table *t, const struct sinsp_evt *evt,
		    const struct sinsp_evt ends[2], int selected)
{
	const int in = selected & SINSP_IO_READ, out = selected & SINSP_IO_WRITE;
	int r = 0;

	if (in && out)
		r = t->cols.is_by_file ? have_same_key(t, ends) : 1;
	if (r)
		return r < 0 ? r : add_event(t, evt);
	if (in)
		r = add_event(t, &ends[0]);
	if (out && !r)
		r = add_event(t, &ends[1]);
	return r;
}

int view_table_event(struct view_table *t, const struct sinsp_evt *evt)
{
	const int r = sinsp_filter_select(t->filter, evt);
	struct sinsp_evt ends[2];

	if (r <= 0)
		return r;
	if (r & ~SINSP_SELECTED && t->cols.has_io && !is_list(t) && sinsp_evt_split(evt, ends))
		return add_ends(t, evt, ends, r);
	/* As in csysdig, a call belongs to one file then. */
	return !t->cols.is_by_file || r & SINSP_SELECTED ? add_event(t, evt) : 0;
}

/* ---- the end of an interval ---- */

/* Each thread gets an event, so that those without events have rows, too; as in sysdig at the last
 * nanosecond before the current second. */
static int add_threads(struct view_table *t, struct sinsp *s, uint64_t ns)
{
	struct ppm_evt_hdr hdr = {.ts = ns - ns % SECOND_NS - (ns >= SECOND_NS),
				  .len = sizeof(hdr),
				  .type = FIELD_INTERVAL_END};
	struct sinsp_evt evt = {
		.raw = {.hdr = &hdr,
			.type = FIELD_INTERVAL_END,
			.ts_ns = hdr.ts,
			.true_ns = hdr.ts,
			.nr = REC_NR_NONE},
		.insp = s,
		.info = scap_event_info(EVT_SYSDIGEVENT_E),
		.fdnum = -1,
		.other_fdnum = -1,
	};
	int err = 0;

	for (uint32_t i = 0; i < s->threads.n_slots && !err; i++) {
		struct sinsp_thread *thread = s->threads.slots[i].t;

		if (!thread || !thread->known)
			continue;
		hdr.tid = (uint64_t)thread->tid;
		evt.thread = thread;
		err = view_table_event(t, &evt);
	}
	return err;
}

static void settle_hist(struct view_cell *c, unsigned int percent)
{
	const struct view_hist *h = c->hist;

	c->n = h && h->n;
	c->u = c->n ? view_hist_at(h, percent) : 0;
}

static void settle_row(const struct view_columns *cols, struct view_cell *row)
{
	for (size_t i = 1; i < cols->n; i++)
		if (cols->fields[i].percent)
			settle_hist(&row[i], cols->fields[i].percent);
		else
			view_cell_settle(&row[i], cols->columns[i].type.kind);
}

static void settle(struct view_table *t)
{
	for (size_t r = 0; r < t->rows.n; r++)
		settle_row(&t->cols, view_row(&t->rows, r));
}

static int merge_row(struct view_table *t, const struct view_cell *cells)
{
	const struct view_column *cols = t->cols.columns + 1;
	const enum view_kind kind = cols->type.kind;
	const uint64_t hash = view_cell_hash(cells, kind);
	const int64_t at = view_rows_find(&t->merged, cells, kind, hash);
	struct view_cell *row;

	if (at < 0)
		return store_row(t, &t->merged, hash, cells, cols);
	row = view_row(&t->merged, (size_t)at);
	for (size_t i = 1; i < t->merged.n_cols; i++)
		view_cell_combine(&row[i], &cells[i], cols[i].type.kind,
				  cols[i].info->groupby_aggregation);
	return 0;
}

/* Merges rows by the groupby key, which is their second cell. */
static int merge(struct view_table *t)
{
	int err = 0;

	view_rows_clear(&t->merged);
	for (size_t r = 0; r < t->rows.n && !err; r++)
		err = merge_row(t, view_row(&t->rows, r) + 1);
	for (size_t r = 0; r < t->merged.n; r++)
		for (size_t i = 1; i < t->merged.n_cols; i++)
			view_cell_settle(&view_row(&t->merged, r)[i],
					 t->cols.columns[i + 1].type.kind);
	return err;
}

static int is_descending(enum view_kind kind)
{
	return kind != VIEW_TEXT && kind != VIEW_IP && kind != VIEW_PORT;
}

static int is_activity(const struct view_column *col)
{
	return is_descending(col->type.kind) && (col->info->aggregation == SINSP_VIEW_SUM ||
						 col->info->aggregation == SINSP_VIEW_TIME_AVG);
}

/* Compares what the owners of two rows did, most first: of a file without CPU times, processes that
 * did something come before those that did nothing. */
static int compare_activity(const struct view_table *t, const struct view_cell *x,
			    const struct view_cell *y)
{
	const struct view_column *cols = t->cols.columns + t->cols.n_keys;

	for (uint32_t i = 1; i <= t->cols.n - t->cols.n_keys; i++) {
		const struct view_column *col = &cols[i - 1];
		const int r =
			is_activity(col) ? view_cell_compare(&x[i], &y[i], col->type.kind) : 0;

		if (r)
			return -r;
	}
	return 0;
}

/* Rows of equal values are sorted by what else their owners did, then by key. */
static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct view_table *t = ctx;
	const struct view_cell *x = view_row(t->shown, *(const uint32_t *)a);
	const struct view_cell *y = view_row(t->shown, *(const uint32_t *)b);
	const struct view_column *cols = t->cols.columns + t->cols.n_keys;
	int r = 0;

	if (t->sorting_col) {
		const enum view_kind kind = cols[t->sorting_col - 1].type.kind;

		r = view_cell_compare(&x[t->sorting_col], &y[t->sorting_col], kind);
		r = is_descending(kind) != t->reversed ? -r : r;
		if (!r && !is_list(t) && is_descending(kind))
			r = compare_activity(t, x, y);
	}
	return r ?: view_cell_compare(x, y, is_list(t) ? VIEW_UINT : cols[-1].type.kind);
}

static int sort(struct view_table *t)
{
	if (t->shown->n > t->order_cap) {
		uint32_t *order = realloc(t->order, t->shown->n * sizeof(*order));

		if (!order)
			return -ENOMEM;
		t->order = order;
		t->order_cap = t->shown->n;
	}
	for (size_t i = 0; i < t->shown->n; i++)
		t->order[i] = (uint32_t)i;
	if (t->shown->n)
		qsort_r(t->order, t->shown->n, sizeof(*t->order), compare_rows, t);
	return 0;
}

int view_table_end(struct view_table *t, struct sinsp *s, uint64_t ns)
{
	int err = s ? add_threads(t, s, ns) : 0;

	if (!is_list(t))
		settle(t);
	t->shown = &t->rows;
	if (t->cols.n_keys > 1) {
		err = err ?: merge(t);
		t->shown = &t->merged;
	}
	return err ?: sort(t);
}

int view_table_sort(struct view_table *t, uint32_t col, int reverse)
{
	if (col > t->cols.n - t->cols.n_keys)
		return -EINVAL;
	t->sorting_col = col;
	t->reversed = reverse != 0;
	return t->shown ? sort(t) : 0;
}

int view_table_reorder(struct view_table *t, const uint32_t *rows)
{
	const size_t n = view_table_n_rows(t);
	uint32_t *order = malloc(n * sizeof(*order));

	if (!order && n)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = t->order[rows[i]];
	if (n)
		memcpy(t->order, order, n * sizeof(*order));
	free(order);
	return 0;
}

/* ---- copies ---- */

static const struct view_column *columns_of_rows(const struct view_table *t)
{
	return t->cols.columns + (t->cols.n_keys > 1);
}

static int copy_row(struct view_table *t, const struct view_table *src, size_t i)
{
	const struct view_column *cols = columns_of_rows(src);
	const struct view_cell *from = view_row(src->shown, i);
	const int64_t at = view_rows_add(&t->rows, src->shown->hashes[i]);
	struct view_cell *row = at < 0 ? NULL : view_row(&t->rows, (size_t)at);
	int err = at < 0 ? (int)at : 0;

	for (size_t c = 0; c < t->rows.n_cols && !err; c++)
		err = view_rows_store(&t->rows, &row[c], &from[c], cols[c].type.kind);
	return err;
}

int view_table_copy(struct view_table **out, const struct view_table *src)
{
	const struct view_rows *rows = src->shown ?: &src->rows;
	const size_t n = view_table_n_rows(src);
	struct view_table *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->view = src->view;
	t->cols = src->cols;
	t->is_copy = 1;
	t->sorting_col = src->sorting_col;
	t->reversed = src->reversed;
	t->n_lost = src->n_lost;
	view_rows_init(&t->rows, rows->n_cols, rows->max, rows->text_max);
	err = view_rows_reserve(&t->rows, n);
	for (size_t i = 0; i < n && !err; i++)
		err = copy_row(t, src, i);
	t->shown = &t->rows;
	err = err ?: sort(t);
	if (err)
		view_table_free(t);
	else
		*out = t;
	return err;
}

size_t view_table_bytes(const struct view_table *t)
{
	const struct view_rows *r = t->shown ?: &t->rows;
	const size_t per_row = r->n_cols * sizeof(*r->cells) + sizeof(*r->hashes) +
			       2 * sizeof(*r->slots) + sizeof(*t->order);

	return sizeof(*t) + r->n * per_row + r->text_sz;
}

const struct view_cell *view_table_find(const struct view_table *t, const struct view_cell *key)
{
	const enum view_kind kind = columns_of_rows(t)->type.kind;
	int64_t at = VIEW_ROW_NONE;

	if (t->shown && !is_list(t))
		at = view_rows_find(t->shown, key, kind, view_cell_hash(key, kind));
	return at < 0 ? NULL : view_row(t->shown, (size_t)at) + 1;
}

/* Rows of a list are only ever appended. */
int view_table_catch_up(struct view_table *t, const struct view_table *src)
{
	int err = 0;

	for (size_t r = t->rows.n; r < src->rows.n && !err; r++) {
		const struct view_cell *from = view_row(&src->rows, r);

		err = append_row(t, from->u, from + 1);
	}
	t->n_listed = src->n_listed;
	t->n_lost = src->n_lost;
	return err;
}

void view_table_clear(struct view_table *t)
{
	view_rows_clear(&t->rows);
	view_rows_clear(&t->merged);
	t->shown = NULL;
	t->n_lost = 0;
}

/* ---- reading ---- */

size_t view_table_n_rows(const struct view_table *t)
{
	return t->shown ? t->shown->n : 0;
}

const struct view_cell *view_table_key(const struct view_table *t, size_t i, struct view_type *type)
{
	static const struct view_type number = {VIEW_UINT, .is_id = 1, .name = "UINT64",
						.format = "DEC"};

	*type = is_list(t) ? number : t->cols.columns[t->cols.n_keys - 1].type;
	return view_row(t->shown, t->order[i]);
}

const struct view_cell *view_table_cells(const struct view_table *t, size_t i)
{
	return view_row(t->shown, t->order[i]) + 1;
}

const struct view_column *view_table_columns(const struct view_table *t, size_t *n)
{
	*n = t->cols.n - t->cols.n_keys;
	return t->cols.columns + t->cols.n_keys;
}

uint32_t view_table_sorting_col(const struct view_table *t)
{
	return t->cols.sorting_col;
}

const struct sinsp_view_column *view_table_key_column(const struct view_table *t)
{
	return is_list(t) ? NULL : t->cols.columns[t->cols.n_keys - 1].info;
}

uint64_t view_table_n_lost(const struct view_table *t)
{
	return t->n_lost;
}

const struct sinsp_filter *view_table_filter(const struct view_table *t)
{
	return t->filter;
}

unsigned int view_table_needs(const struct view_table *t)
{
	unsigned int needs = t->filter ? sinsp_filter_field_needs(t->filter) : 0;

	for (size_t i = 0; i < t->cols.n; i++)
		needs |= t->cols.fields[i].field.row->needs;
	return needs;
}
