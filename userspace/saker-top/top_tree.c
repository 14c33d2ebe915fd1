/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows are numbered in the order of the sorted table. Each is a child of the row with its parent's
 * PID; a row without one is a root, and so is the first row of a cycle, which reused PIDs may make:
 * every row has exactly one place.
 */
#include "top_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"

enum { NONE = UINT32_MAX };

struct node {
	int64_t pid;
	uint32_t row;
	uint32_t parent, first, last, next; /* rows; first and last child, next sibling */
	uint8_t is_placed;
};

struct sorted {
	struct node *nodes; /* by row */
	uint32_t *by_pid; /* rows, sorted by PID */
	uint32_t *order; /* rows in the order of the tree */
	size_t n, n_placed;
};

/* Returns the index of the column with the field; -1: there is none. */
static int column_of(const struct view_table *t, const char *field)
{
	size_t n;
	const struct view_column *cols = view_table_columns(t, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(cols[i].info->field, field) == 0 && cols[i].type.kind == VIEW_INT)
			return (int)i;
	return -1;
}

int top_tree_applies(const struct view_table *t)
{
	const struct sinsp_view_column *key = view_table_key_column(t);

	return key && strcmp(key->field, "proc.pid") == 0 && column_of(t, "proc.ppid") >= 0;
}

/* ---- parents ---- */

static int compare_pids(const void *a, const void *b, void *ctx)
{
	const struct node *nodes = ctx;
	const int64_t x = nodes[*(const uint32_t *)a].pid, y = nodes[*(const uint32_t *)b].pid;

	return (x > y) - (x < y);
}

static uint32_t find(const struct sorted *s, int64_t pid)
{
	size_t from = 0, to = s->n;

	while (from < to) {
		const size_t at = from + (to - from) / 2;

		if (s->nodes[s->by_pid[at]].pid < pid)
			from = at + 1;
		else
			to = at;
	}
	return from < s->n && s->nodes[s->by_pid[from]].pid == pid ? s->by_pid[from] : NONE;
}

static void add_child(struct node *nodes, uint32_t parent, uint32_t child)
{
	nodes[child].parent = parent;
	if (nodes[parent].last == NONE)
		nodes[parent].first = child;
	else
		nodes[nodes[parent].last].next = child;
	nodes[parent].last = child;
}

static void link_rows(struct sorted *s, const int64_t *pids, const int64_t *ppids)
{
	for (size_t i = 0; i < s->n; i++) {
		s->nodes[i] = (struct node){pids[i], (uint32_t)i, NONE, NONE, NONE, NONE, 0};
		s->by_pid[i] = (uint32_t)i;
	}
	qsort_r(s->by_pid, s->n, sizeof(*s->by_pid), compare_pids, s->nodes);
	for (uint32_t i = 0; i < s->n; i++) {
		const uint32_t parent = find(s, ppids[i]);

		if (parent != NONE && parent != i)
			add_child(s->nodes, parent, i);
	}
}

/* ---- places ---- */

static void place(struct sorted *s, struct top_tree_row *rows, uint32_t row)
{
	const struct node *node = &s->nodes[row];
	struct top_tree_row *out = &rows[s->n_placed];

	*out = (struct top_tree_row){0};
	if (s->n_placed && node->parent != NONE && s->nodes[node->parent].is_placed) {
		/* The parent's place is kept in its node. */
		const struct top_tree_row *above = &rows[s->nodes[node->parent].row];

		out->depth = above->depth + 1;
		out->goes_on = above->goes_on;
		if (node->next != NONE && out->depth <= TOP_TREE_LEVELS)
			out->goes_on |= 1u << (out->depth - 1);
		else if (out->depth <= TOP_TREE_LEVELS)
			out->goes_on &= ~(1u << (out->depth - 1));
	}
	s->nodes[row].is_placed = 1;
	s->nodes[row].row = (uint32_t)s->n_placed;
	s->order[s->n_placed++] = row;
}

/* Returns the row behind @row that is not placed: a child, a sibling, or one of an ancestor. */
static uint32_t next_of(const struct sorted *s, uint32_t row, uint32_t root)
{
	uint32_t next = s->nodes[row].first;

	for (;;) {
		while (next != NONE && s->nodes[next].is_placed)
			next = s->nodes[next].next;
		if (next != NONE || row == root)
			return next;
		next = s->nodes[row].next;
		row = s->nodes[row].parent;
	}
}

static void place_below(struct sorted *s, struct top_tree_row *rows, uint32_t root)
{
	for (uint32_t row = root; row != NONE; row = next_of(s, row, root))
		place(s, rows, row);
}

static void place_all(struct sorted *s, struct top_tree_row *rows)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->nodes[i].parent == NONE)
			place_below(s, rows, i);
	for (uint32_t i = 0; i < s->n; i++)
		if (!s->nodes[i].is_placed)
			place_below(s, rows, i);
}

int top_tree_order(struct top_tree_row *rows, uint32_t *order, const int64_t *pids,
		   const int64_t *ppids, size_t n)
{
	struct sorted s = {.n = n, .order = order};
	int err = -ENOMEM;

	s.nodes = calloc(n, sizeof(*s.nodes));
	s.by_pid = calloc(n, sizeof(*s.by_pid));
	if (s.nodes && s.by_pid) {
		link_rows(&s, pids, ppids);
		place_all(&s, rows);
		err = 0;
	}
	free(s.nodes);
	free(s.by_pid);
	return err;
}

static void read_pids(const struct view_table *t, int64_t *pids, int64_t *ppids, size_t n)
{
	const int ppid = column_of(t, "proc.ppid");
	struct view_type type;

	for (size_t i = 0; i < n; i++) {
		const struct view_cell *c = &view_table_cells(t, i)[ppid];

		pids[i] = view_table_key(t, i, &type)->i;
		ppids[i] = c->n ? c->i : pids[i]; /* none */
	}
}

int top_tree_sort(struct top_tree *tree, struct view_table *t)
{
	const size_t n = view_table_n_rows(t);
	struct top_tree_row *rows;
	int64_t *pids;
	uint32_t *order;
	int err = -ENOMEM;

	tree->n = 0;
	if (!tree->is_on || !n || n >= NONE || !top_tree_applies(t))
		return 0;
	rows = realloc(tree->rows, n * sizeof(*rows));
	tree->rows = rows ?: tree->rows;
	pids = calloc(n, 2 * sizeof(*pids));
	order = calloc(n, sizeof(*order));
	if (rows && pids && order) {
		read_pids(t, pids, pids + n, n);
		err = top_tree_order(rows, order, pids, pids + n, n);
		err = err ?: view_table_reorder(t, order);
		tree->n = err ? 0 : n;
	}
	free(pids);
	free(order);
	return err;
}

void top_tree_fini(struct top_tree *tree)
{
	free(tree->rows);
	*tree = (struct top_tree){0};
}

/* ---- text ---- */

int top_tree_put(struct sinsp_text *out, const struct top_tree *tree, size_t i, int utf8)
{
	static const char *const lines[2][4] = {
		{"|  ", "   ", "|- ", "`- "},
		{"│  ", "   ", "├─ ", "└─ "},
	};
	const struct top_tree_row *row = i < tree->n ? &tree->rows[i] : NULL;
	const uint32_t depth = row ? row->depth : 0;
	int err = 0;

	for (uint32_t level = 1; level <= depth && level <= TOP_TREE_LEVELS && !err; level++) {
		const int goes_on = row->goes_on >> (level - 1) & 1;

		err = top_put(out, "%s", lines[utf8 != 0][2 * (level == depth) + !goes_on]);
	}
	return err;
}
