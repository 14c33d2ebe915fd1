/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_logs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "filter/filter.h"
#include "otlp_resource.h"
#include "say.h"
#include "thread.h"

enum { BODY_MAX = 8 << 10 };

struct otlp_logs {
	struct sinsp_filter *filter;
	struct otlp_groups *groups;
	struct sinsp_text text; /* scratch */
};

static int compile(struct sinsp_filter **out, const char *text)
{
	const struct sinsp_filter_opts opts = {.sz = sizeof(opts), .log = say_log};
	struct sinsp_filter_error e;
	const int err = sinsp_filter_new(out, text, &opts, &e);

	if (err == -EINVAL)
		say_filter_error("--otlp-logs", &e);
	return err;
}

int otlp_logs_new(struct otlp_logs **out, const char *filter, const char *version)
{
	struct otlp_logs *l = calloc(1, sizeof(*l));
	int err = l ? compile(&l->filter, filter) : -ENOMEM;

	err = err ?: otlp_groups_new(&l->groups, OTLP_LOGS, version);
	if (err)
		otlp_logs_free(l);
	else
		*out = l;
	return err;
}

void otlp_logs_free(struct otlp_logs *l)
{
	if (!l)
		return;
	sinsp_filter_free(l->filter);
	otlp_groups_free(l->groups);
	free(l->text.p);
	free(l);
}

void otlp_logs_types(const struct otlp_logs *l, uint64_t *types)
{
	const uint64_t *of_filter = sinsp_filter_types(l->filter);

	for (size_t i = 0; i < (EVT_INDEX_MAX + 63) / 64; i++)
		types[i] |= of_filter[i];
}

static void put_record(struct otlp_logs *l, struct pb *b, const struct sinsp_evt *evt)
{
	const size_t record = pb_begin(b, SCOPES_ITEMS);
	size_t body;

	pb_fixed64(b, LOG_TIME, evt->raw.ts_ns);
	pb_u64(b, LOG_SEVERITY, SEVERITY_INFO);
	l->text.len = 0;
	if (!sinsp_evt_info(&l->text, evt, SINSP_BUF_DOTS) && l->text.len) {
		body = pb_begin(b, LOG_BODY);
		otlp_text(b, ANY_STRING, l->text.p,
			  l->text.len < BODY_MAX ? l->text.len : BODY_MAX);
		pb_end(b, body);
	}
	otlp_attr_string(b, LOG_ATTRIBUTES, "saker.event.type", sinsp_evt_type(evt));
	if (evt->thread)
		otlp_attr_int(b, LOG_ATTRIBUTES, "thread.id", evt->thread->tid);
	pb_fixed64(b, LOG_OBSERVED_TIME, clock_read_ns(CLOCK_REALTIME));
	pb_string(b, LOG_EVENT_NAME, sinsp_evt_type(evt));
	pb_end(b, record);
}

struct otlp_batch *otlp_logs_add(struct otlp_logs *l, const struct sinsp_evt *evt)
{
	struct pb *b;

	if (!sinsp_evt_shown(evt->insp, evt) || sinsp_filter_run(l->filter, evt) != 1)
		return NULL;
	b = otlp_groups_item(l->groups, evt);
	if (b)
		put_record(l, b, evt);
	return otlp_groups_full(l->groups) ? otlp_groups_flush(l->groups) : NULL;
}

uint32_t otlp_logs_take_lost(struct otlp_logs *l)
{
	return otlp_groups_take_lost(l->groups);
}

struct otlp_batch *otlp_logs_flush(struct otlp_logs *l)
{
	return otlp_groups_flush(l->groups);
}
