/* SPDX-License-Identifier: Apache-2.0 */
#include "pushdown.h"

#include <stdio.h>
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
	return 0;
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
		sel->pids = p->needs.pids;
		sel->n_pids = p->needs.n_pids;
		sel->pids_to_come = 1;
	}
	sel->tids = p->needs.tids;
	sel->n_tids = p->needs.n_tids;
	if (p->needs.n_uids && !sel->n_uids) {
		sel->uids = (const uint32_t *)p->needs.uids;
		sel->n_uids = p->needs.n_uids;
		sel->uids_apart = 1;
	}
	sel->failed_only |= p->needs.failed;
	sel->files |= p->needs.files;
	sel->peers = 1;
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

	fputs("In the kernel, live\n", f);
	if (p->by_type)
		fputs("  only calls and events of these types\n", f);
	for (size_t i = 0; i < n->n_comms; i++)
		fprintf(f, "%s%s%s", i ? ", " : "  only threads and processes of the names ",
			n->comms[i], i + 1 == n->n_comms ? "\n" : "");
	put_numbers("  only the processes ", n->pids, n->n_pids, f);
	put_numbers("  only the threads ", n->tids, n->n_tids, f);
	put_numbers("  only the users ", n->uids, n->n_uids, f);
	if (n->failed)
		fputs("  only calls that fail\n", f);
	if (p->by_type || tasks || n->failed)
		fprintf(f, "  and what makes, changes and ends threads%s\n",
			n->files ? " and files" : "");
	else
		fputs("  everything: nothing of this filter can be decided there\n", f);
}
