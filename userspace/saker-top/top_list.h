/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the views, for --list-views: as text, or as csysdig's JSON. */
#ifndef SAKER_TOP_LIST_H
#define SAKER_TOP_LIST_H

#include <stdio.h>

#include "views/view_find.h"

/* Each returns 0 or a negative errno. */
int top_list_text(FILE *f, const struct view_list *list);
int top_list_json(FILE *f, const struct view_list *list); /* as csysdig --list-views */

#endif /* SAKER_TOP_LIST_H */
