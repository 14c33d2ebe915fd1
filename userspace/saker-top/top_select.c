/* SPDX-License-Identifier: Apache-2.0 */
#include "top_select.h"

#include <stdlib.h>
#include <string.h>

#include "fields/field.h"
#include "inspector_open.h"
#include "requests/requests.h"
#include "sinsp.h"
#include "timeline/timeline.h"

enum {
	SAMPLE_NS = 1000000000 / 99,
	OF_ALL_TASKS = 2, /* switches and wake-ups: also of tasks that are not selected */
};

uint32_t top_derives(unsigned int needs)
{
	return (needs & FIELD_NEEDS_REQUESTS ? SINSP_DERIVE_REQUESTS : 0) |
	       (needs & FIELD_NEEDS_SLICES ? SINSP_DERIVE_SLICES : 0) |
	       (needs & FIELD_NEEDS_TRACERS ? SINSP_DERIVE_TRACERS : 0);
}

static void select_slices(struct top_select *sel, struct scap_open_opts *opts)
{
	sinsp_slice_types(sel->types);
	scap_types_add(sel->types, EVT_SWITCH_E);
	scap_types_add(sel->types, EVT_WAKEUP_E);
	opts->switches = opts->wakeups = OF_ALL_TASKS;
}

static void select_samples(struct top_select *sel, struct scap_open_opts *opts)
{
	sel->sampler = (struct scap_sampler_opts){
		.sz = sizeof(sel->sampler),
		.period_ns = SAMPLE_NS,
		.session = getenv("SAKER_SAMPLER_SESSION"),
		.maps = 1,
	};
	opts->sampler = &sel->sampler;
}

void top_select_types(struct top_select *sel, struct scap_open_opts *opts, const uint64_t *types,
		      const struct sinsp_filter_needs *tasks)
{
	*sel = (struct top_select){.select = {.calls = &sel->calls, .files = 1, .peers = 1}};
	memcpy(sel->types, types, sizeof(sel->types));
	scap_calls_set_types(&sel->calls, sel->types);
	opts->select = &sel->select;
	opts->snaplen = 1; /* 0 is the default */
	if (!tasks || tasks->history)
		return;
	sel->select.pids = tasks->pids;
	sel->select.n_pids = tasks->n_pids;
	sel->select.tids = tasks->tids;
	sel->select.n_tids = tasks->n_tids;
	sel->select.comms = tasks->comms;
	sel->select.n_comms = tasks->n_comms;
}

void top_select(struct top_select *sel, struct scap_open_opts *opts,
		const struct sinsp_filter *filter, unsigned int needs)
{
	*sel = (struct top_select){.select = {.calls = &sel->calls, .files = 1, .peers = 1}};
	opts->tcp = (needs & FIELD_NEEDS_TCP) != 0;
	if (!filter)
		return;
	memcpy(sel->types, sinsp_filter_types(filter), sizeof(sel->types));
	if (needs & FIELD_NEEDS_REQUESTS) {
		sinsp_requests_types(sel->types);
		inspector_keep_requests(opts);
	}
	if (needs & FIELD_NEEDS_SLICES)
		select_slices(sel, opts);
	if (sinsp_filter_names_type(filter, EVT_SAMPLE_E))
		select_samples(sel, opts);
	scap_calls_set_types(&sel->calls, sel->types);
	opts->select = &sel->select;
}
