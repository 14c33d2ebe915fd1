/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of processes as a tree: each below its parent, siblings in the order of the table. No
 * screen. */
#ifndef SAKER_TOP_TREE_H
#define SAKER_TOP_TREE_H

#include "views/view_table.h"

struct top_tree {
	uint8_t is_on;
	size_t n; /* rows of the sorted table; 0: the table is no tree */
	struct top_tree_row {
		uint32_t depth;
		uint32_t goes_on; /* bit of each level above: it has more siblings below */
	} * rows; /* owned */
};

enum { TOP_TREE_LEVELS = 32 }; /* that are drawn */

/* Returns whether rows are processes whose parents are known. */
int top_tree_applies(const struct view_table *t);
/* Sets @order to the @n rows in the order of the tree, and @rows to their places. A row whose
 * parent is none of them, or itself, is a root. Returns 0 or -ENOMEM. */
int top_tree_order(struct top_tree_row *rows, uint32_t *order, const int64_t *pids,
		   const int64_t *ppids, size_t n);
/* Puts the sorted rows in the order of the tree. Returns 0 or -ENOMEM. */
int top_tree_sort(struct top_tree *tree, struct view_table *t);
void top_tree_fini(struct top_tree *tree);

/* Appends the branch before the text of row @i; @utf8: with lines, else in ASCII. Returns 0 or
 * -ENOMEM. */
int top_tree_put(struct sinsp_text *out, const struct top_tree *tree, size_t i, int utf8);

#endif /* SAKER_TOP_TREE_H */
