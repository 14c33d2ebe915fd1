/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushdown: the part of a live capture's filter that the kernel evaluates. It records the calls
 * that can match, of the processes that can, and what the state of threads and files needs. Events
 * that it leaves out would not have been shown.
 */
#ifndef SAKER_PUSHDOWN_H
#define SAKER_PUSHDOWN_H

#include "chisels.h"
#include "filter/filter.h"
#include "options.h"

struct pushdown {
	struct scap_calls calls;
	struct scap_calls left; /* selected by options */
	struct sinsp_filter_needs needs;
	struct sinsp_filter *filter; /* owner of the needs, if they are ours; else NULL */
	int decides;
	int by_type; /* some types of events cannot match */
	int switches, page_faults, wakeups, tcp; /* the filter is about these events */
	unsigned int needed; /* enum sinsp_field_needs of the fields in the filter or on display */
	uint32_t derive; /* SINSP_DERIVE_*: these events are requested */
	int turns; /* CPU time of threads is shown, which needs the switches of all tasks */
};

/* Returns the kinds of derived events that lines, the filter or the chisels need: SINSP_DERIVE_*.
 * @f, @cs: NULL: none. */
uint32_t pushdown_derives(const struct sinsp_filter *f, const struct chisels *cs,
			  const struct options *o);

/* Each returns 0 or -ENOMEM. With --no-pushdown nothing is pushed down. */

/* For the filter; NULL: none. @derive: pushdown_derives. */
int pushdown_init(struct pushdown *p, struct sinsp_filter *f, const struct options *o,
		  uint32_t derive);
/* For chisels, which receive what the filter matches (@lines). A capture file gets everything. */
int pushdown_init_chisels(struct pushdown *p, const struct chisels *cs,
			  const struct pushdown *lines, const struct options *o);
void pushdown_fini(struct pushdown *p);

/* Adds the events that slices are made from to the selection; *room holds the calls then. @named:
 * the user named the calls, so no others are added. */
void pushdown_select_slices(struct scap_select *sel, struct scap_calls *room, int named);

/* Narrows a selection made by options. @sel borrows from @p. */
void pushdown_apply(struct pushdown *p, struct scap_select *sel);

/* After both were applied: if only samples can be shown, and nothing that only calls report, system
 * calls are not recorded at all. Threads are then known by forks, execs and ends. */
void pushdown_calls(const struct pushdown *lines, const struct pushdown *chisels,
		    const struct options *o, struct scap_select *sel);

/* Prints the result, for --explain-filter. */
void pushdown_explain(const struct pushdown *p, FILE *f);

#endif /* SAKER_PUSHDOWN_H */
