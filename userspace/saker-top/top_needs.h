/* SPDX-License-Identifier: Apache-2.0 */
/* Which events a view needs: of processes and threads few, for each known thread has a row, and
 * most of its columns come from the state of the thread, not from events. */
#ifndef SAKER_TOP_NEEDS_H
#define SAKER_TOP_NEEDS_H

#include "chisel/chisel.h"
#include "shared/events.h"

struct top_needs {
	uint8_t few; /* these events are all that the view needs; else it needs all */
	uint64_t types[(EVT_INDEX_MAX + 63) / 64];
};

/* @filter: besides that of the view; NULL: none. Returns 0 or -ENOMEM. */
int top_needs_init(struct top_needs *n, const struct sinsp_view *view, const char *filter);
/* Returns whether a capture for @n has all that @other needs, too. */
int top_needs_cover(const struct top_needs *n, const struct top_needs *other);

#endif /* SAKER_TOP_NEEDS_H */
