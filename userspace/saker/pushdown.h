/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel decides of the filter of a live capture: it records the calls that can match,
 * of the processes that can, and what the state of threads and files needs. What it leaves out
 * could not have been shown.
 */
#ifndef SAKER_PUSHDOWN_H
#define SAKER_PUSHDOWN_H

#include "chisels.h"
#include "filter/filter.h"
#include "options.h"

struct pushdown {
	struct scap_calls calls;
	struct scap_calls left; /* of those that are asked for otherwise */
	struct sinsp_filter_needs needs;
	struct sinsp_filter *filter; /* what the needs are of, if it is our own; else NULL */
	int decides;
	int by_type; /* not all types of events can match */
	int switches, page_faults; /* the filter is about these events */
	unsigned int asked; /* enum sinsp_field_needs: of the fields that it is about, or that are
			       shown */
	int turns; /* how long threads run is asked for, which only the switches of all tell */
};

/* Each: 0 or -ENOMEM. With --no-pushdown nothing is decided. */

/* Of the filter; NULL: there is none. */
int pushdown_init(struct pushdown *p, struct sinsp_filter *f, const struct options *o);
/* Of chisels, which get what the filter means, that is @lines. Nothing is left out of a file. */
int pushdown_init_chisels(struct pushdown *p, const struct chisels *cs,
			  const struct pushdown *lines, const struct options *o);
void pushdown_fini(struct pushdown *p);

/* Narrows a selection that options made. @sel borrows from @p. */
void pushdown_apply(struct pushdown *p, struct scap_select *sel);

/*
 * After both were applied: system calls are not recorded at all if only samples can be shown, and
 * nothing of what calls tell. Threads are then known by their forks, execs and ends.
 */
void pushdown_calls(const struct pushdown *lines, const struct pushdown *chisels,
		    const struct options *o, struct scap_select *sel);

/* What is decided, for --explain-filter. */
void pushdown_explain(const struct pushdown *p, FILE *f);

#endif /* SAKER_PUSHDOWN_H */
