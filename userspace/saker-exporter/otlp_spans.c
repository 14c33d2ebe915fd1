/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of a request is that of its header, else that of what it is part of, else its own: the
 * identifiers follow from numbers of requests, so a span that ends before its parent has the right
 * one. A client that passes on the header of what it serves is part of that; one with a span of its
 * own is part of what its header names, and has a link.
 */
#include "otlp_spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect.h"
#include "fields/request_cluster.h"
#include "fields/request_params.h"
#include "otlp_ids.h"
#include "otlp_resource.h"
#include "span_attributes.h"

struct otlp_spans {
	struct otlp_spans_opts o;
	struct otlp_groups *groups;
};

/* Identifiers of a span. */
struct ids {
	uint8_t trace[TRACE_ID_BYTES], span[SPAN_ID_BYTES], parent[SPAN_ID_BYTES];
	uint8_t link_trace[TRACE_ID_BYTES], link[SPAN_ID_BYTES];
	int has_parent, has_link;
};

static int read_id(uint8_t *out, size_t sz, const struct sinsp_evt *evt, unsigned int at)
{
	const struct label_value text = collect_text(evt, at);

	return otlp_id_read(out, sz, text.p, text.len);
}

static int is_same_text(const struct sinsp_evt *evt, unsigned int a, unsigned int b)
{
	const struct label_value x = collect_text(evt, a), y = collect_text(evt, b);

	return x.len == y.len && memcmp(x.p ?: "", y.p ?: "", x.len) == 0;
}

/* What the request is part of on this machine: its identifiers. Returns 0 if nothing is known. */
static int local_parent(uint8_t *trace, uint8_t *span, uint64_t seed, const struct sinsp_evt *evt)
{
	uint64_t parent, root;

	if (!collect_number(evt, REQUEST_P_PARENT, &parent) ||
	    !collect_number(evt, REQUEST_P_ROOT, &root))
		return 0;
	otlp_id_make(span, SPAN_ID_BYTES, seed, parent);
	if (!read_id(trace, TRACE_ID_BYTES, evt, REQUEST_P_PARENT_TRACE))
		otlp_id_make(trace, TRACE_ID_BYTES, seed, root);
	return 1;
}

static void find_ids(struct ids *to, uint64_t seed, const struct sinsp_evt *evt, int is_client)
{
	const int has_local = local_parent(to->link_trace, to->link, seed, evt);
	const int has_header = read_id(to->trace, sizeof(to->trace), evt, REQUEST_P_TRACE_ID);
	uint64_t id = 0;

	to->has_parent = to->has_link = 0;
	if (!collect_number(evt, REQUEST_P_ID, &id)) /* of an older file: it is part of nothing */
		collect_number(evt, REQUEST_P_NUM, &id);
	otlp_id_make(to->span, sizeof(to->span), seed, id);
	if (has_local && (!has_header || (memcmp(to->trace, to->link_trace, TRACE_ID_BYTES) == 0 &&
					  (!is_client || is_same_text(evt, REQUEST_P_SPAN_ID,
								      REQUEST_P_PARENT_SPAN))))) {
		memcpy(to->trace, to->link_trace, sizeof(to->trace));
		memcpy(to->parent, to->link, sizeof(to->parent));
		to->has_parent = 1;
		return;
	}
	to->has_link = has_local;
	if (has_header)
		to->has_parent = read_id(to->parent, sizeof(to->parent), evt, REQUEST_P_SPAN_ID);
	else
		otlp_id_make(to->trace, sizeof(to->trace), seed, id);
}

static void put_ids(struct pb *b, const struct ids *ids)
{
	size_t link;

	pb_bytes(b, SPAN_TRACE_ID, ids->trace, sizeof(ids->trace));
	pb_bytes(b, SPAN_ID, ids->span, sizeof(ids->span));
	if (ids->has_parent)
		pb_bytes(b, SPAN_PARENT_ID, ids->parent, sizeof(ids->parent));
	if (!ids->has_link)
		return;
	link = pb_begin(b, SPAN_LINKS);
	pb_bytes(b, SPAN_LINK_TRACE_ID, ids->link_trace, sizeof(ids->link_trace));
	pb_bytes(b, SPAN_LINK_ID, ids->link, sizeof(ids->link));
	pb_end(b, link);
}

static void put_span(struct pb *b, const struct span_request *r, uint64_t seed)
{
	struct ids ids;
	size_t span;

	find_ids(&ids, seed, r->evt, r->is_client);
	span = pb_begin(b, SCOPES_ITEMS);
	put_ids(b, &ids);
	span_put_name(b, r);
	pb_u64(b, SPAN_KIND, span_kind_of(r));
	pb_fixed64(b, SPAN_START, r->begin_ns);
	pb_fixed64(b, SPAN_END, r->begin_ns + r->latency_ns);
	span_put_attributes(b, r);
	span_put_status(b, r);
	pb_end(b, span);
}

struct otlp_batch *otlp_spans_add(struct otlp_spans *sp, const struct sinsp_evt *evt)
{
	struct span_request r;
	struct pb *b;

	if (!span_request_read(&r, evt))
		return NULL;
	b = otlp_groups_item(sp->groups, evt);
	if (b)
		put_span(b, &r, sp->o.seed);
	return otlp_groups_full(sp->groups) ? otlp_groups_flush(sp->groups) : NULL;
}

uint32_t otlp_spans_take_lost(struct otlp_spans *sp)
{
	return otlp_groups_take_lost(sp->groups);
}

struct otlp_batch *otlp_spans_flush(struct otlp_spans *sp)
{
	return otlp_groups_flush(sp->groups);
}

int otlp_spans_new(struct otlp_spans **out, const struct otlp_spans_opts *o)
{
	struct otlp_spans *sp = calloc(1, sizeof(*sp));

	if (!sp || otlp_groups_new(&sp->groups, OTLP_TRACES, o->version)) {
		free(sp);
		return -ENOMEM;
	}
	sp->o = *o;
	*out = sp;
	return 0;
}

void otlp_spans_free(struct otlp_spans *sp)
{
	if (sp)
		otlp_groups_free(sp->groups);
	free(sp);
}
