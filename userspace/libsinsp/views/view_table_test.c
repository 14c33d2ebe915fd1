/* SPDX-License-Identifier: Apache-2.0 */
/* The model of views: keys, aggregations, merging, sorting, bounds; no screen and no Lua. */
#include "view_table.h"

#include <errno.h>

#include "fields/text_test.h"
#include "filter/filter.h"

#define NO_TEXTS ((const char *const[]){NULL})

#define COLUMN(field_, ...)                                                                        \
	{                                                                                          \
		.name = field_, .description = "", .field = field_, .filterfield = "",             \
		.tags = NO_TEXTS, __VA_ARGS__                                                      \
	}

#define VIEW(columns_, type_, filter_)                                                             \
	{                                                                                          \
		.id = "test", .name = "Test", .description = "", .type = type_, .filter = filter_, \
		.drilldown_target = "", .tags = NO_TEXTS, .tips = NO_TEXTS,                        \
		.applies_to = NO_TEXTS, .columns = columns_,                                       \
		.n_columns = sizeof(columns_) / sizeof(columns_[0])                                \
	}

static struct view_table *make_bounded(const struct sinsp_view *view, uint32_t max_rows,
				       size_t max_text)
{
	const struct view_table_opts opts = {
		.sz = sizeof(opts), .view = view, .max_rows = max_rows, .max_text = max_text};
	struct view_error err = {""};
	struct view_table *t = NULL;

	if (view_table_new(&t, &opts, &err))
		fail_msg("%s", err.message);
	return t;
}

static struct view_table *make(const struct sinsp_view *view, uint32_t max_rows)
{
	return make_bounded(view, max_rows, 0);
}

/* Adds a read that returned @res, by the thread @tid. */
static void add_read(struct fixture *f, struct view_table *t, uint64_t tid, int64_t res)
{
	const struct scap_param params[] = {I64(res), {(const uint8_t *)"x", 1}};
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_READ_X, params, 2);

	hdr.tid = tid;
	assert_int_equal(view_table_event(t, &evt), 0);
}

static const struct view_cell *only_row(struct view_table *t)
{
	assert_int_equal(view_table_end(t, NULL, FIXTURE_TS), 0);
	assert_int_equal(view_table_n_rows(t), 1);
	return view_table_cells(t, 0);
}

static void test_aggregations(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("evt.type", .is_key = 1),
		COLUMN("evt.rawres"),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_SUM),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_AVG),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_TIME_AVG),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_MIN),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_MAX),
	};
	const struct sinsp_view view = VIEW(cols, "table", "");
	static const int64_t expected[] = {5, 16, 4, 16, -1, 8};
	struct view_table *t = make(&view, 0);
	static const int64_t results[] = {5, -1, 8, 4};
	const struct view_column *shown;
	const struct view_cell *cells;
	size_t n;

	for (size_t i = 0; i < 4; i++)
		add_read(*state, t, FIXTURE_TID, results[i]);
	cells = only_row(t);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(cells[i].i, expected[i]);
	shown = view_table_columns(t, &n);
	assert_int_equal(n, 6);
	assert_int_equal(shown[3].is_rate, 1);
	assert_int_equal(shown[2].is_rate, 0);
	view_table_free(t);
}

/* Rows that are equal in the column of sorting: those that did most first. */
static void test_equal_rows(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("thread.tid", .is_key = 1),
		COLUMN("evt.count", .aggregation = SINSP_VIEW_SUM, .is_sorting = 1),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_MAX),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_SUM),
		COLUMN("thread.tid"),
	};
	const struct sinsp_view view = VIEW(cols, "table", "");
	static const uint64_t tids[] = {3, 2, 1};
	struct view_table *t = make(&view, 0);

	add_read(*state, t, 1, 9);
	add_read(*state, t, 2, 10);
	add_read(*state, t, 3, 11);
	assert_int_equal(view_table_end(t, NULL, FIXTURE_TS), 0);
	assert_int_equal(view_table_n_rows(t), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(view_table_cells(t, i)[3].u, tids[i]);
	view_table_free(t);
}

/* They are exact below 32, and at most 1/16 too large. */
static void test_percentiles(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("thread.tid", .is_key = 1),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_P50),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_P90),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_P99),
	};
	const struct sinsp_view view = VIEW(cols, "table", "");
	struct view_table *t = make(&view, 0);
	const struct view_cell *cells;

	for (int64_t i = 1; i <= 1000; i++)
		add_read(*state, t, FIXTURE_TID, i <= 500 ? 20 : i);
	add_read(*state, t, FIXTURE_TID, -2);
	cells = only_row(t);
	assert_int_equal(cells[0].u, 20);
	assert_in_range(cells[1].u, 900, 900 + 900 / 16);
	assert_in_range(cells[2].u, 990, 1000);
	view_table_clear(t);
	add_read(*state, t, FIXTURE_TID, 7);
	assert_int_equal(only_row(t)[2].u, 7);
	view_table_free(t);
}

static void test_ranges_of_percentiles(void **state)
{
	static const uint64_t values[] = {0, 31, 32, 33, 1000, 1023, 1024, 1ull << 43, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct view_hist h = {0};

		view_hist_add(&h, values[i]);
		view_hist_add(&h, UINT64_MAX);
		assert_in_range(view_hist_at(&h, 50), values[i],
				i < 8 ? values[i] + values[i] / 16 : UINT64_MAX);
	}
}

/* Two threads of a process: the means of each are added. */
static void test_groups(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("thread.tid", .is_key = 1),
		COLUMN("proc.pid", .is_groupby_key = 1),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_AVG,
		       .groupby_aggregation = SINSP_VIEW_SUM),
		COLUMN("evt.count", .aggregation = SINSP_VIEW_SUM,
		       .groupby_aggregation = SINSP_VIEW_MAX),
	};
	const struct sinsp_view view = VIEW(cols, "table", "");
	struct view_table *t = make(&view, 0);
	const struct view_cell *cells;
	struct view_type type;

	add_read(*state, t, 10, 4);
	add_read(*state, t, 10, 8);
	add_read(*state, t, 11, 1);
	cells = only_row(t);
	assert_int_equal(cells[0].i, 7);
	assert_int_equal(cells[1].u, 2);
	assert_int_equal(view_table_key(t, 0, &type)->i, FIXTURE_TID);
	assert_string_equal(view_table_key_column(t)->field, "proc.pid");
	view_table_free(t);
}

static void test_sorting_and_bound(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("thread.tid", .is_key = 1),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_SUM, .is_sorting = 1),
	};
	const struct sinsp_view view = VIEW(cols, "table", "");
	struct view_table *t = make(&view, 3);
	static const int64_t expected[] = {12, 11, 13};
	struct view_type type;

	add_read(*state, t, 13, 1);
	add_read(*state, t, 12, 9);
	add_read(*state, t, 11, 1);
	add_read(*state, t, 14, 5); /* no room */
	assert_int_equal(view_table_end(t, NULL, FIXTURE_TS), 0);
	assert_int_equal(view_table_n_rows(t), 3);
	assert_int_equal(view_table_n_lost(t), 1);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(view_table_key(t, i, &type)->i, expected[i]);
	view_table_clear(t);
	assert_int_equal(view_table_n_lost(t), 0);
	add_read(*state, t, 14, 5);
	assert_int_equal(only_row(t)[0].i, 5);
	view_table_free(t);
}

/* An event without a value has no row, unless the view has defaults. */
static void test_defaults(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("evt.type", .is_key = 1),
		COLUMN("evt.buflen.net", .aggregation = SINSP_VIEW_SUM),
	};
	struct sinsp_view view = VIEW(cols, "table", "");
	struct view_table *t = make(&view, 0);

	add_read(*state, t, FIXTURE_TID, 5);
	assert_int_equal(view_table_end(t, NULL, FIXTURE_TS), 0);
	assert_int_equal(view_table_n_rows(t), 0);
	view_table_free(t);
	view.use_defaults = 1;
	t = make(&view, 0);
	add_read(*state, t, FIXTURE_TID, 5);
	assert_int_equal(only_row(t)[0].u, 0);
	view_table_free(t);
}

enum { A_FILE = 3, CONNECTION = 4 }; /* descriptors of the fixture */

/* Adds a sendfile of 9 bytes from a file to the descriptor @to. */
static void add_sendfile(struct fixture *f, struct view_table *t, int64_t to)
{
	const struct scap_param params[] = {I64(9), U64(0)};
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_SENDFILE_X, params, 2);

	evt.fdnum = to;
	evt.other_fdnum = A_FILE;
	evt.fd = sinsp_thread_fd(evt.thread, evt.fdnum);
	evt.other_fd = sinsp_thread_fd(evt.thread, evt.other_fdnum);
	assert_int_equal(view_table_event(t, &evt), 0);
}

/* A call with two files has a row for each; in the row of its thread it is one call. */
static void test_two_files(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("fd.type", .is_key = 1, .is_sorting = 1),
		COLUMN("evt.io.file_read_bytes", .aggregation = SINSP_VIEW_SUM),
		COLUMN("evt.io.net_write_bytes", .aggregation = SINSP_VIEW_SUM),
		COLUMN("evt.count", .aggregation = SINSP_VIEW_SUM),
	};
	static const uint64_t by_file[][3] = {{9, 0, 1}, {0, 9, 1}}; /* file, ipv4 */
	/* of its thread, by filter: both files, and each */
	static const struct {
		const char *filter;
		uint64_t sums[3];
	} rows[] = {
		{"", {9, 9, 1}},
		{"evt.io.bytes=18", {9, 9, 1}},
		{"fd.in.type=file and fd.out.type=ipv4", {9, 9, 1}},
		{"fd.type=pipe", {0, 0, 0}},
		{"fd.type in (file, ipv4)", {9, 9, 1}},
		{"fd.type=file", {9, 0, 1}},
		{"fd.type=ipv4", {0, 9, 1}},
	};
	struct sinsp_view view = VIEW(cols, "table", "");
	struct view_table *t;

	view.use_defaults = 1;
	t = make(&view, 0);
	add_sendfile(*state, t, CONNECTION);
	assert_int_equal(view_table_end(t, NULL, FIXTURE_TS), 0);
	assert_int_equal(view_table_n_rows(t), 2);
	for (size_t i = 0; i < 2; i++)
		for (size_t c = 0; c < 3; c++)
			assert_int_equal(view_table_cells(t, i)[c].u, by_file[i][c]);
	view_table_clear(t);
	add_sendfile(*state, t, A_FILE); /* to itself: both are one row */
	assert_int_equal(only_row(t)[0].u, 9);
	assert_int_equal(only_row(t)[2].u, 1);
	view_table_free(t);
	cols[1].field = cols[2].field = "evt.count"; /* no bytes of either file */
	view.filter = "fd.type=file";
	t = make(&view, 0);
	add_sendfile(*state, t, CONNECTION);
	assert_int_equal(view_table_end(t, NULL, FIXTURE_TS), 0);
	assert_int_equal(view_table_n_rows(t), 0);
	view_table_free(t);
	cols[0].field = "thread.tid";
	cols[1].field = "evt.io.file_read_bytes";
	cols[2].field = "evt.io.net_write_bytes";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		view.filter = rows[i].filter;
		t = make(&view, 0);
		add_sendfile(*state, t, CONNECTION);
		for (size_t c = 0; c < 3 && rows[i].sums[2]; c++)
			assert_int_equal(only_row(t)[c].u, rows[i].sums[c]);
		assert_int_equal(view_table_n_rows(t), rows[i].sums[2]);
		view_table_free(t);
	}
}

/* A sum of means is known if one of them is. */
static void test_unknown(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("thread.tid", .is_key = 1),
		COLUMN("proc.pid", .is_groupby_key = 1),
		COLUMN("thread.cpu", .aggregation = SINSP_VIEW_AVG,
		       .groupby_aggregation = SINSP_VIEW_SUM),
	};
	struct sinsp_view view = VIEW(cols, "table", "");
	struct fixture *f = *state;
	struct sinsp_thread *t = sinsp_thread_find(f->s, FIXTURE_TID);
	struct sinsp_cpu_use use = {.user = 20, .system = 5, .known = 1};
	struct view_table *table;

	view.use_defaults = 1;
	table = make(&view, 0);
	add_read(f, table, 10, 1); /* its row is merged first */
	assert_int_equal(only_row(table)->n, 0);
	view_table_clear(table);
	t->cpu_use = &use;
	add_read(f, table, 10, 1);
	add_read(f, table, FIXTURE_TID, 1);
	assert_int_equal(view_table_end(table, f->s, FIXTURE_TS), 0);
	for (size_t i = 0; i < view_table_n_rows(table); i++) {
		struct view_type type;
		const int is_own = view_table_key(table, i, &type)->i == t->pid;

		assert_int_equal(view_table_cells(table, i)->n, is_own);
		assert_true(view_table_cells(table, i)->d == (is_own ? 25 : 0));
	}
	t->cpu_use = NULL;
	view_table_free(table);
}

/* Threads without events have rows, too. */
static void test_threads(void **state)
{
	struct fixture *f = *state;
	struct sinsp_view_column cols[] = {
		COLUMN("proc.pid", .is_key = 1),
		COLUMN("proc.name"),
	};
	const struct sinsp_view view = VIEW(cols, "table", "proc.name=cat");
	struct view_table *t = make(&view, 0);

	assert_int_equal(view_table_end(t, f->s, FIXTURE_TS), 0);
	assert_int_equal(view_table_n_rows(t), 1);
	assert_memory_equal(view_table_cells(t, 0)[0].p, "cat", 3);
	view_table_free(t);
}

static void test_errors(void **state)
{
	struct sinsp_view_column no_key[] = {COLUMN("evt.type")};
	struct sinsp_view_column no_field[] = {COLUMN("evt.nothing", .is_key = 1)};
	struct sinsp_view_column good[] = {COLUMN("evt.type", .is_key = 1), COLUMN("evt.count")};
	const struct sinsp_view views[] = {
		VIEW(no_key, "table", ""),
		VIEW(no_field, "table", ""),
		VIEW(good, "list", ""),
		VIEW(good, "table", "evt.nothing=1"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		const struct view_table_opts opts = {.sz = sizeof(opts), .view = &views[i]};
		struct view_error err = {""};
		struct view_table *t = NULL;

		assert_int_equal(view_table_new(&t, &opts, &err), -EINVAL);
		assert_null(t);
		assert_true(*err.message);
	}
}

static void test_depth(void **state)
{
	char *text = view_text_at_depth("a[%depth] b>%depth+1 c=%depth-1", 1);

	(void)state;
	assert_string_equal(text, "a[1] b>2 c=0");
	free(text);
}

/* Another column, and the other order. */
static void test_sorting_again(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("thread.tid", .is_key = 1),
		COLUMN("thread.tid"),
		COLUMN("evt.rawres", .aggregation = SINSP_VIEW_SUM),
	};
	const struct sinsp_view view = VIEW(cols, "table", "");
	static const struct {
		uint32_t col;
		int reverse;
		int64_t first; /* sum of the first row */
	} cases[] = {{2, 0, 9}, {2, 1, 4}, {1, 0, 4}, {1, 1, 9}};
	struct view_table *t = make(&view, 0);

	add_read(*state, t, FIXTURE_TID, 4);
	add_read(*state, t, FIXTURE_TID - 1, 9);
	assert_int_equal(view_table_end(t, NULL, FIXTURE_TS), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(view_table_sort(t, cases[i].col, cases[i].reverse), 0);
		assert_int_equal(view_table_cells(t, 0)[1].i, cases[i].first);
	}
	view_table_free(t);
}

/* A list that another one continues. */
static void test_catching_up(void **state)
{
	struct sinsp_view_column cols[] = {COLUMN("evt.rawres"), COLUMN("evt.type")};
	const struct sinsp_view view = VIEW(cols, "list", "");
	struct view_table *first = make(&view, 0), *second = make(&view, 0);
	struct view_type type;

	assert_true(sinsp_view_is_list(&view));
	add_read(*state, first, FIXTURE_TID, 4);
	add_read(*state, first, FIXTURE_TID, 5);
	assert_int_equal(view_table_catch_up(second, first), 0);
	add_read(*state, second, FIXTURE_TID, 6);
	assert_int_equal(view_table_catch_up(first, second), 0);
	view_table_free(second);
	assert_int_equal(view_table_end(first, NULL, FIXTURE_TS), 0);
	assert_int_equal(view_table_n_rows(first), 3);
	assert_int_equal(view_table_sort(first, 1, 0), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(view_table_cells(first, i)[0].i, 6 - (int64_t)i);
		assert_int_equal(view_table_key(first, i, &type)->u, 3 - i);
		assert_memory_equal(view_table_cells(first, i)[1].p, "read", 4);
	}
	view_table_free(first);
}

/* A text that changes again and again takes no more room than its longest. */
static void test_replaced_text(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("evt.type", .is_key = 1),
		COLUMN("evt.args", .aggregation = SINSP_VIEW_MAX),
	};
	const struct sinsp_view view = VIEW(cols, "table", "");
	struct view_table *t = make_bounded(&view, 0, 200);
	const struct view_cell *cells;

	for (int i = 0; i < 10000; i++)
		add_read(*state, t, 1, i % 2 ? 1 : 1000000000000000);
	add_read(*state, t, 1, 77);
	assert_int_equal(view_table_n_lost(t), 0);
	cells = only_row(t);
	assert_int_equal(cells[0].len, 14);
	assert_memory_equal(cells[0].p, "res=77 data=x ", 14);
	view_table_free(t);
}

/* A key for which there is no room has no row. */
static void test_key_without_room(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("evt.args", .is_key = 1),
		COLUMN("evt.count", .aggregation = SINSP_VIEW_SUM),
	};
	const struct sinsp_view view = VIEW(cols, "table", "");
	struct view_table *t = make_bounded(&view, 0, 100);
	struct view_type type;

	for (int i = 0; i < 60; i++)
		add_read(*state, t, 1, i % 20);
	assert_int_equal(view_table_end(t, NULL, FIXTURE_TS), 0);
	assert_in_range(view_table_n_rows(t), 2, 10);
	assert_int_equal(view_table_n_lost(t), 3 * (20 - view_table_n_rows(t)));
	for (size_t i = 0; i < view_table_n_rows(t); i++) {
		assert_true(view_table_key(t, i, &type)->len > 0);
		assert_int_equal(view_table_cells(t, i)[0].u, 3);
	}
	assert_int_equal(view_table_sort(t, 1, 0), 0);
	assert_int_equal(view_table_sort(t, 2, 0), -EINVAL);
	view_table_free(t);
}

/* %depth of a column and of the filter. */
static void test_depth_of_table(void **state)
{
	struct sinsp_view_column cols[] = {COLUMN("evt.type", .is_key = 1),
					   COLUMN("span.tag[%depth]")};
	const struct sinsp_view view = VIEW(cols, "table", "span.ntags>=%depth+1");
	const struct view_table_opts opts = {.sz = sizeof(opts), .view = &view, .depth = 2};
	struct sinsp_text text = {0};
	struct view_error err = {""};
	struct view_table *t = NULL;

	(void)state;
	assert_int_equal(view_table_new(&t, &opts, &err), 0);
	assert_int_equal(sinsp_filter_explain(view_table_filter(t), &text), 0);
	assert_non_null(memmem(text.p, text.len, ">= \"3\"", 6));
	free(text.p);
	view_table_free(t);
}

/* A copy keeps rows that the table no longer has, in its order; rows are found by their key. */
static void test_copy(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("thread.tid", .is_key = 1),
		COLUMN("evt.count", .aggregation = SINSP_VIEW_SUM, .is_sorting = 1),
		COLUMN("evt.type", .aggregation = SINSP_VIEW_MAX),
	};
	const struct sinsp_view view = VIEW(cols, "table", "");
	struct view_table *t = make(&view, 0), *copy = NULL;
	static const uint32_t backwards[] = {1, 0};
	struct view_type type;

	add_read(*state, t, FIXTURE_TID, 1);
	add_read(*state, t, FIXTURE_TID, 1);
	add_read(*state, t, FIXTURE_TID + 1, 1);
	assert_int_equal(view_table_end(t, NULL, FIXTURE_TS), 0);
	assert_int_equal(view_table_copy(&copy, t), 0);
	view_table_clear(t);
	assert_int_equal(view_table_n_rows(copy), 2);
	assert_int_equal(view_table_cells(copy, 0)[0].u, 2);
	assert_memory_equal(view_table_cells(copy, 1)[1].p, "read", 4);
	assert_ptr_equal(view_table_find(copy, view_table_key(copy, 1, &type)),
			 view_table_cells(copy, 1));
	assert_null(view_table_find(copy, &(struct view_cell){.i = 1, .n = 1}));
	assert_int_equal(view_table_reorder(copy, backwards), 0);
	assert_int_equal(view_table_cells(copy, 0)[0].u, 1);
	assert_int_equal(view_table_sort(copy, 1, 0), 0);
	assert_int_equal(view_table_cells(copy, 0)[0].u, 2);
	view_table_free(copy);
	view_table_free(t);
}

/* A copy has the columns of the merged rows, not also the key of the others. As many groups as have
 * room: what is read behind the last row is read behind the memory. */
static void test_copy_of_groups(void **state)
{
	struct sinsp_view_column cols[] = {
		COLUMN("thread.tid", .is_key = 1),
		COLUMN("evt.rawres", .is_groupby_key = 1),
		COLUMN("evt.type", .aggregation = SINSP_VIEW_MAX),
	};
	const struct sinsp_view view = VIEW(cols, "table", "");
	struct view_table *t = make(&view, 0), *copy = NULL;

	for (int64_t i = 0; i < 64; i++)
		add_read(*state, t, FIXTURE_TID + i, i);
	assert_int_equal(view_table_end(t, NULL, FIXTURE_TS), 0);
	assert_int_equal(view_table_copy(&copy, t), 0);
	assert_int_equal(view_table_n_rows(copy), 64);
	assert_int_equal(view_table_bytes(copy), view_table_bytes(t));
	for (size_t i = 0; i < 64; i++)
		assert_memory_equal(view_table_cells(copy, i)[0].p, "read", 4);
	view_table_free(copy);
	view_table_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aggregations),   cmocka_unit_test(test_equal_rows),
		cmocka_unit_test(test_percentiles),    cmocka_unit_test(test_ranges_of_percentiles),
		cmocka_unit_test(test_groups),         cmocka_unit_test(test_sorting_and_bound),
		cmocka_unit_test(test_defaults),       cmocka_unit_test(test_two_files),
		cmocka_unit_test(test_unknown),        cmocka_unit_test(test_threads),
		cmocka_unit_test(test_errors),         cmocka_unit_test(test_depth),
		cmocka_unit_test(test_sorting_again),  cmocka_unit_test(test_catching_up),
		cmocka_unit_test(test_depth_of_table), cmocka_unit_test(test_copy),
		cmocka_unit_test(test_replaced_text),  cmocka_unit_test(test_key_without_room),
		cmocka_unit_test(test_copy_of_groups),
	};

	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
