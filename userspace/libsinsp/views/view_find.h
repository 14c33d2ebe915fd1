/* SPDX-License-Identifier: Apache-2.0 */
/* Finds views among the Lua files of chisels: a view is a file with a table view_info. */
#ifndef SINSP_VIEWS_VIEW_FIND_H
#define SINSP_VIEWS_VIEW_FIND_H

#include "chisel/chisel.h"

/* Views of different ids: where two files have the same, the first in the order of the search. */
struct view_list {
	struct view_list_row {
		struct sinsp_chisel *chisel; /* owned */
		const struct sinsp_view *view;
	} * v; /* owned; sorted by name */
	size_t n;
};

/* Where views are searched, in this order: folders, the built-in files of the run, more folders.
 * Each list of folders ends with NULL, and may be NULL. */
struct view_folders {
	const char *const *first, *const *last;
};

/* Loads the views; @id: only that one; NULL: all. @run has no folders. A file that is wrong is
 * reported to run->log. Returns 0 or -ENOMEM. Free @list with view_list_fini, also then. */
int view_list_load(struct view_list *list, struct sinsp_chisel_run *run,
		   const struct view_folders *folders, const char *id);
void view_list_fini(struct view_list *list);

/* Returns the view; NULL: there is none. */
const struct sinsp_view *view_list_find(const struct view_list *list, const char *id);

#endif /* SINSP_VIEWS_VIEW_FIND_H */
