/* SPDX-License-Identifier: Apache-2.0 */
#include "pushdown.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"

enum { FEW_TYPES = 64 }; /* a filter with no more means just these, and not all but some */

static int has_type(const uint64_t *types, unsigned int type)
{
	return types[evt_index(type) / 64] >> evt_index(type) % 64 & 1;
}

/* Kinds that stand in the table of events only for old files are not counted. */
struct count {
	const uint64_t *types;
	unsigned int n, n_all;
};

static void count_type(void *ctx, const struct scap_event_info *info)
{
	struct count *c = ctx;

	if (info->flags & (EF_UNUSED | EF_OLD_VERSION) || info->category & EC_INTERNAL)
		return;
	c->n_all++;
	c->n += has_type(c->types, info->id);
}

/* Lines may show files where the events that can match do not. */
static int lines_show_files(const struct options *o)
{
	const char *format = o->line.format;

	return format && (strstr(format, "fd") || strstr(format, "std") || strstr(format, "path"));
}

static int copy_pids(struct pushdown *p)
{
	if (!p->needs.n_pids)
		return 0;
	p->pids = calloc(p->needs.n_pids, sizeof(*p->pids));
	if (!p->pids)
		return -ENOMEM;
	for (size_t i = 0; i < p->needs.n_pids; i++)
		p->pids[i] = (int32_t)p->needs.pids[i];
	return 0;
}

int pushdown_init(struct pushdown *p, struct sinsp_filter *f, const struct options *o)
{
	struct count c = {0};
	int err;

	*p = (struct pushdown){0};
	if (!f)
		return 0;
	c.types = sinsp_filter_types(f);
	scap_event_each(count_type, &c);
	p->switches = c.n <= FEW_TYPES && has_type(c.types, EVT_SWITCH_E);
	p->page_faults = c.n <= FEW_TYPES && has_type(c.types, EVT_PAGE_FAULT_E);
	if (o->no_pushdown)
		return 0;
	err = sinsp_filter_needs(f, &p->needs);
	if (err)
		return err;
	if (p->needs.history) {
		memset(&p->needs, 0, sizeof(p->needs));
		return 0;
	}
	p->needs.files |= lines_show_files(o);
	p->by_type = c.n < c.n_all;
	scap_calls_set_types(&p->calls, c.types);
	return copy_pids(p);
}

void pushdown_fini(struct pushdown *p)
{
	free(p->pids);
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

void pushdown_apply(const struct pushdown *p, struct scap_select *sel, struct scap_calls *room)
{
	if (p->by_type) {
		*room = p->calls;
		if (sel->calls)
			intersect(room, sel->calls);
		sel->calls = room;
	}
	if (p->needs.n_comms && !sel->n_comms) {
		sel->comms = p->needs.comms;
		sel->n_comms = p->needs.n_comms;
	}
	if (p->needs.n_pids && !sel->n_pids) {
		sel->pids = p->pids;
		sel->n_pids = p->needs.n_pids;
		sel->pids_to_come = 1;
	}
	sel->failed_only |= p->needs.failed;
	sel->files |= p->needs.files;
	sel->peers = 1;
}

void pushdown_explain(const struct pushdown *p, FILE *f)
{
	fputs("In the kernel, live\n", f);
	if (p->by_type)
		fputs("  only calls and events of these types\n", f);
	for (size_t i = 0; i < p->needs.n_comms; i++)
		fprintf(f, "%s%s%s", i ? ", " : "  only threads and processes of the names ",
			p->needs.comms[i], i + 1 == p->needs.n_comms ? "\n" : "");
	for (size_t i = 0; i < p->needs.n_pids; i++)
		fprintf(f, "%s%d%s", i ? ", " : "  only the processes ", p->pids[i],
			i + 1 == p->needs.n_pids ? "\n" : "");
	if (p->needs.failed)
		fputs("  only calls that fail\n", f);
	if (p->by_type || p->needs.n_comms || p->needs.n_pids || p->needs.failed)
		fprintf(f, "  and what makes, changes and ends threads%s\n",
			p->needs.files ? " and files" : "");
	else
		fputs("  everything: nothing of this filter can be decided there\n", f);
}
