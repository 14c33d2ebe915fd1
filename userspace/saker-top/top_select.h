/* SPDX-License-Identifier: Apache-2.0 */
/* What a live capture records for a view: only what its filter can match, what the events that it
 * counts are derived from, and what the state of threads and files needs. */
#ifndef SAKER_TOP_TOP_SELECT_H
#define SAKER_TOP_TOP_SELECT_H

#include "filter/filter.h"
#include "scap.h"
#include "shared/events.h"

struct top_select { /* what the options point to */
	uint64_t types[(EVT_INDEX_MAX + 63) / 64];
	struct scap_calls calls;
	struct scap_select select;
	struct scap_sampler_opts sampler;
};

/* Returns the kinds of derived events that a view needs: SINSP_DERIVE_*. @needs: enum
 * sinsp_field_needs of its fields and filter. */
uint32_t top_derives(unsigned int needs);

/* Sets that calls of @types are recorded, without their data, of the threads that @tasks has (NULL:
 * all); as below. */
void top_select_types(struct top_select *sel, struct scap_open_opts *opts, const uint64_t *types,
		      const struct sinsp_filter_needs *tasks);

/* Sets what is recorded in @opts, which then point to @sel and to static data. @filter: of the
 * view; NULL: none. */
void top_select(struct top_select *sel, struct scap_open_opts *opts,
		const struct sinsp_filter *filter, unsigned int needs);

#endif /* SAKER_TOP_TOP_SELECT_H */
