/* SPDX-License-Identifier: Apache-2.0 */
#include "top_side.h"

#include <errno.h>
#include <stdlib.h>

static void end_record(struct top_side *side, int err)
{
	struct top_record_status st;

	if (!side->record)
		return;
	top_record_status(side->record, &st);
	side->n_events = st.n_events;
	side->record_err = top_record_free(side->record) ?: err;
	side->record = NULL;
}

static void end_watch(struct top_side *side)
{
	top_watch_free(side->watch);
	side->watch = NULL;
}

void top_side_fini(struct top_side *side)
{
	end_record(side, 0);
	end_watch(side);
	top_record_free(side->record_request);
	top_watch_free(side->watch_request);
	free(side->watch_text.p);
}

int top_side_is_asked(const struct top_side *side)
{
	return side->record_request || side->watch_request || side->ends_record || side->ends_watch;
}

static void begin_record(struct top_side *side, struct sinsp *s)
{
	int err;

	side->record = side->record_request;
	side->record_request = NULL;
	side->n_events = 0;
	side->record_err = 0;
	if (side->o->read)
		err = top_record_open_source(side->record, side->o);
	else
		err = s ? top_record_attach(side->record, s) : -ENODEV;
	if (err)
		end_record(side, err);
}

static void begin_watch(struct top_side *side)
{
	side->watch = side->watch_request;
	side->watch_request = NULL;
	if (side->o->read && top_watch_open_source(side->watch, side->o))
		end_watch(side);
}

void top_side_take(struct top_side *side, struct sinsp *s)
{
	if (side->ends_record || side->record_request)
		end_record(side, 0);
	if (side->ends_watch || side->watch_request) {
		end_watch(side);
		side->watch_text.len = 0;
	}
	side->ends_record = side->ends_watch = 0;
	if (side->record_request)
		begin_record(side, s);
	if (side->watch_request)
		begin_watch(side);
	top_side_update(side, s);
}

void top_side_attach(struct top_side *side, struct sinsp *s)
{
	const int err = side->record && !top_record_reads(side->record)
				? top_record_attach(side->record, s)
				: 0;

	if (err)
		end_record(side, err);
}

void top_side_event(struct top_side *side, struct sinsp_evt *evt)
{
	int err = side->record ? top_record_put(side->record, evt) : 0;

	if (err)
		end_record(side, err);
	if (side->watch && top_watch_put(side->watch, evt))
		end_watch(side);
}

int top_side_reads(const struct top_side *side)
{
	return top_record_reads(side->record) || top_watch_reads(side->watch);
}

void top_side_step(struct top_side *side)
{
	int r;

	if (top_record_reads(side->record)) {
		r = top_record_step(side->record);
		if (r <= 0)
			end_record(side, r);
	}
	if (top_watch_reads(side->watch) && top_watch_step(side->watch) < 0)
		end_watch(side);
}

void top_side_update(struct top_side *side, struct sinsp *s)
{
	top_record_status(side->record, &side->record_status);
	if (!side->record) {
		side->record_status.n_events = side->n_events;
		side->record_status.err = side->record_err;
	} else if (s && top_record_flush(side->record)) {
		end_record(side, -EIO);
	}
	if (!side->watch)
		return;
	side->watch_text.len = 0;
	if ((s && top_watch_files(side->watch, s)) ||
	    top_watch_text(side->watch, &side->watch_text))
		end_watch(side);
}
