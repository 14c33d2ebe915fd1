/* SPDX-License-Identifier: Apache-2.0 */
#include "pushdown.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fields/field.h"
#include "fields/format.h"
#include "markers/spans.h"
#include "requests/requests.h"
#include "shared/events.h"
#include "timeline/timeline.h"

enum { FEW_TYPES = 64 }; /* such a filter matches exactly these, if not all */

/* The filter is about these events, if they are few. */
static int means(const struct sinsp_filter *f, unsigned int type)
{
	unsigned int n_all;

	return sinsp_filter_n_types(f, &n_all) <= FEW_TYPES && sinsp_filter_may_match(f, type);
}

static void demand(struct pushdown *p, const struct sinsp_filter *f)
{
	p->switches |= means(f, EVT_SWITCH_E);
	p->page_faults |= means(f, EVT_PAGE_FAULT_E);
	p->wakeups |= means(f, EVT_WAKEUP_E);
	for (unsigned int type = EVT_TCP_STATE_E; type <= EVT_TCP_OVERFLOW_E; type += 2)
		p->tcp |= means(f, type);
}

/* How a kind of derived events is requested: by its fields, its type, or the option. */
struct derived_kind {
	uint32_t kind; /* SINSP_DERIVE_* */
	unsigned int needs; /* enum sinsp_field_needs */
	unsigned int type;
	size_t option; /* offset of an int in the options; 0: none */
};

static const struct derived_kind derived_kinds[] = {
	{SINSP_DERIVE_REQUESTS, FIELD_NEEDS_REQUESTS, EVT_REQUEST_E,
	 offsetof(struct options, requests)},
	{SINSP_DERIVE_SLICES, FIELD_NEEDS_SLICES, EVT_SLICE_E, offsetof(struct options, slices)},
	{SINSP_DERIVE_TRACERS, FIELD_NEEDS_TRACERS, EVT_MARKER_E, 0},
	{SINSP_DERIVE_TRACERS, FIELD_NEEDS_TRACERS, EVT_MARKER_X, 0},
};

static int is_about(const struct derived_kind *k, const struct sinsp_filter *f)
{
	return f && (sinsp_filter_field_needs(f) & k->needs ||
		     sinsp_filter_names_type(f, k->type) || means(f, k->type));
}

static int wants_kind(const struct derived_kind *k, const struct sinsp_filter *f,
		      const struct chisels *cs, const struct options *o)
{
	if ((k->option && *(const int *)((const char *)o + k->option)) || is_about(k, f) ||
	    sinsp_format_needs(o->line.format) & k->needs)
		return 1;
	for (size_t i = 0; cs && i < cs->n; i++)
		if (sinsp_chisel_needs(cs->v[i].c) & k->needs ||
		    is_about(k, sinsp_chisel_filter(cs->v[i].c)))
			return 1;
	return 0;
}

uint32_t pushdown_derives(const struct sinsp_filter *f, const struct chisels *cs,
			  const struct options *o)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < sizeof(derived_kinds) / sizeof(derived_kinds[0]); i++)
		if (wants_kind(&derived_kinds[i], f, cs, o))
			kinds |= derived_kinds[i].kind;
	return kinds;
}

static void add_marker_type(void *ctx, const struct scap_event_info *info)
{
	uint64_t *types = ctx;

	if (sinsp_marker_type(info->id))
		scap_types_add(types, info->id);
}

/* Adds the calls that requests and markers are derived from. The filter need not match them, nor
 * the threads in which a span begins and ends, and they also succeed. */
static void add_calls_of_derived(struct pushdown *p, uint64_t *types)
{
	if (p->derive & SINSP_DERIVE_REQUESTS)
		sinsp_requests_types(types);
	if (p->derive & SINSP_DERIVE_TRACERS) {
		scap_event_each(add_marker_type, types);
		p->needs = (struct sinsp_filter_needs){0};
	}
	if (p->derive & (SINSP_DERIVE_REQUESTS | SINSP_DERIVE_TRACERS)) {
		p->needs.failed = 0;
		p->needs.files = 1;
	}
}

static int narrow(struct pushdown *p, struct sinsp_filter *f)
{
	uint64_t types[(EVT_INDEX_MAX + 63) / 64];
	unsigned int n_all;
	int err = sinsp_filter_needs(f, &p->needs);

	if (err)
		return err;
	p->decides = 1;
	if (p->needs.history) {
		p->needs = (struct sinsp_filter_needs){.history = 1};
		return 0;
	}
	p->by_type = sinsp_filter_n_types(f, &n_all) < n_all;
	memcpy(types, sinsp_filter_types(f), sizeof(types));
	add_calls_of_derived(p, types);
	scap_calls_set_types(&p->calls, types);
	return 0;
}

int pushdown_init(struct pushdown *p, struct sinsp_filter *f, const struct options *o,
		  uint32_t derive)
{
	int err = 0;

	*p = (struct pushdown){.needed = sinsp_format_needs(o->line.format), .derive = derive};
	if (!f)
		return 0;
	p->needed |= sinsp_filter_field_needs(f);
	demand(p, f);
	if (!o->no_pushdown && !o->flight.span_ns) /* that needs all events around those of @f */
		err = narrow(p, f);
	/* Chisels may request the table of threads, with their files, at any time. */
	p->needs.files |= o->chisels.n || p->needed & FIELD_NEEDS_FILES;
	return err;
}

/* Fields that only switches provide. */
static int asks_for_turns(const struct sinsp_chisel *c)
{
	return sinsp_chisel_uses_field(c, "thread.exectime") ||
	       sinsp_chisel_uses_field(c, "thread.totexectime");
}

int pushdown_init_chisels(struct pushdown *p, const struct chisels *cs,
			  const struct pushdown *lines, const struct options *o)
{
	int err;

	*p = (struct pushdown){.derive = lines->derive};
	for (size_t i = 0; i < cs->n; i++) {
		const struct sinsp_filter *f = sinsp_chisel_filter(cs->v[i].c);

		if (f)
			demand(p, f);
		p->turns |= asks_for_turns(cs->v[i].c);
		p->needed |= sinsp_chisel_needs(cs->v[i].c);
	}
	p->switches |= p->turns;
	if (o->no_pushdown || o->write || lines->needs.history)
		return 0;
	err = chisels_filter(cs, &p->filter);
	if (!err && p->filter)
		err = narrow(p, p->filter);
	p->needs.files = 1;
	return err;
}

static void unite(struct scap_calls *a, const struct scap_calls *b)
{
	uint64_t *x = &a->bits[0][0];
	const uint64_t *y = &b->bits[0][0];

	for (size_t i = 0; i < sizeof(a->bits) / sizeof(*x); i++)
		x[i] |= y[i];
	for (size_t i = 0; i < sizeof(a->events) / sizeof(a->events[0]); i++)
		a->events[i] |= b->events[i];
}

void pushdown_select_slices(struct scap_select *sel, struct scap_calls *room, int named)
{
	uint64_t types[(EVT_INDEX_MAX + 63) / 64] = {0};
	struct scap_calls calls;

	sel->files = 1;
	if (!sel->calls)
		return;
	if (!named)
		sinsp_slice_types(types);
	scap_calls_set_types(&calls, types);
	*room = *sel->calls;
	unite(room, &calls);
	scap_types_add(room->events, EVT_SWITCH_E);
	scap_types_add(room->events, EVT_WAKEUP_E);
	sel->calls = room;
}

void pushdown_fini(struct pushdown *p)
{
	sinsp_filter_free(p->filter);
	*p = (struct pushdown){0};
}

static void intersect(struct scap_calls *a, const struct scap_calls *b)
{
	uint64_t *x = &a->bits[0][0];
	const uint64_t *y = &b->bits[0][0];

	for (size_t i = 0; i < sizeof(a->bits) / sizeof(*x); i++)
		x[i] &= y[i];
	for (size_t i = 0; i < sizeof(a->events) / sizeof(a->events[0]); i++)
		a->events[i] &= b->events[i];
	a->unknown &= b->unknown;
}

void pushdown_apply(struct pushdown *p, struct scap_select *sel)
{
	if (!p->decides)
		return;
	if (p->by_type) {
		p->left = p->calls;
		if (sel->calls)
			intersect(&p->left, sel->calls);
		sel->calls = &p->left;
	}
	if (p->needs.n_comms && !sel->n_comms) {
		sel->comms = p->needs.comms;
		sel->n_comms = p->needs.n_comms;
	}
	if (p->needs.n_pids && !sel->n_pids) {
		sel->pids = p->needs.pids;
		sel->n_pids = p->needs.n_pids;
		sel->pids_to_come = 1;
	}
	if (p->needs.n_tids && !sel->n_tids) {
		sel->tids = p->needs.tids;
		sel->n_tids = p->needs.n_tids;
	}
	if (p->needs.n_uids && !sel->n_uids) {
		sel->uids = (const uint32_t *)p->needs.uids;
		sel->n_uids = p->needs.n_uids;
		sel->uids_apart = 1;
	}
	sel->failed_only |= p->needs.failed;
	sel->files |= p->needs.files;
	sel->peers = 1;
}

static int has_calls(const struct scap_calls *calls)
{
	const uint64_t *bits = &calls->bits[0][0];
	int any = calls->unknown != 0;

	for (size_t i = 0; i < sizeof(calls->bits) / sizeof(*bits); i++)
		any |= bits[i] != 0;
	return any;
}

void pushdown_calls(const struct pushdown *lines, const struct pushdown *chisels,
		    const struct options *o, struct scap_select *sel)
{
	const unsigned int needed = (lines->needed | chisels->needed) & ~FIELD_NEEDS_NAMES;

	sel->no_calls = samples_wanted(&o->sample) && !o->no_pushdown && sel->calls &&
			!has_calls(sel->calls) && !needed;
}

static void put_numbers(const char *what, const int32_t *v, size_t n, FILE *f)
{
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s%d%s", i ? ", " : what, v[i], i + 1 == n ? "\n" : "");
}

void pushdown_explain(const struct pushdown *p, FILE *f)
{
	const struct sinsp_filter_needs *n = &p->needs;
	const int tasks = n->n_comms || n->n_pids || n->n_tids || n->n_uids;

	fputs("Pushed down to the kernel (live)\n", f);
	if (p->by_type)
		fputs("  only syscalls and events of these types\n", f);
	for (size_t i = 0; i < n->n_comms; i++)
		fprintf(f, "%s%s%s", i ? ", " : "  only threads and processes with the names ",
			n->comms[i], i + 1 == n->n_comms ? "\n" : "");
	put_numbers("  only the processes ", n->pids, n->n_pids, f);
	put_numbers("  only the threads ", n->tids, n->n_tids, f);
	put_numbers("  only the users ", n->uids, n->n_uids, f);
	if (n->failed)
		fputs("  only syscalls that fail\n", f);
	if (p->by_type || tasks || n->failed)
		fprintf(f, "  and events that create, change and end threads%s\n",
			n->files ? " and files" : "");
	else
		fputs("  nothing: this filter cannot be evaluated in the kernel\n", f);
}
