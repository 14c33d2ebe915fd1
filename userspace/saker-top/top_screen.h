/* SPDX-License-Identifier: Apache-2.0 */
/* The interactive screen. */
#ifndef SAKER_TOP_SCREEN_H
#define SAKER_TOP_SCREEN_H

#include "top_options.h"
#include "views/view_find.h"

/* Shows views until the user ends saker. @list has all views. Returns 0, or a negative errno after
 * reporting it. */
int top_screen_run(const struct top_options *o, const struct view_list *list);

#endif /* SAKER_TOP_SCREEN_H */
