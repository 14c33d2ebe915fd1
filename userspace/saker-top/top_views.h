/* SPDX-License-Identifier: Apache-2.0 */
/* The views of saker top: of the user's folders, built in, and of the machine's folders. */
#ifndef SAKER_TOP_VIEWS_H
#define SAKER_TOP_VIEWS_H

#include "chisel_dirs.h"
#include "views/view_find.h"

struct top_views {
	struct sinsp_chisel_run run;
	struct view_list list;
	char *user_dirs[CHISEL_DIRS_MAX + 1]; /* owned; ends with NULL */
};

extern const struct sinsp_chisel_file view_files[]; /* built in; ends with a NULL name */

/* Loads all views, or the one of @id; @json: as csysdig's JSON has them. Returns 0 or a negative
 * errno. Free @v with top_views_fini, also then; @v does not move. */
int top_views_load(struct top_views *v, const char *id, int json);
void top_views_fini(struct top_views *v);

#endif /* SAKER_TOP_VIEWS_H */
