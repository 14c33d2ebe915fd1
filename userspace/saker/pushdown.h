/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel decides of the filter of a live capture: it records the calls that can match,
 * of the processes that can, and what the state of threads and files needs. What it leaves out
 * could not have been shown.
 */
#ifndef SAKER_PUSHDOWN_H
#define SAKER_PUSHDOWN_H

#include "filter/filter.h"
#include "options.h"

struct pushdown {
	struct scap_calls calls;
	struct sinsp_filter_needs needs;
	int by_type; /* not all types of events can match */
	int switches, page_faults; /* the filter is about these events */
};

/* Finds out. Without a filter, or with --no-pushdown, nothing is decided. 0 or -ENOMEM. */
int pushdown_init(struct pushdown *p, struct sinsp_filter *f, const struct options *o);

/* Narrows a selection that options made. @sel borrows from @p. */
void pushdown_apply(const struct pushdown *p, struct scap_select *sel, struct scap_calls *room);

/* What is decided, for --explain-filter. */
void pushdown_explain(const struct pushdown *p, FILE *f);

#endif /* SAKER_PUSHDOWN_H */
