/* SPDX-License-Identifier: Apache-2.0 */
#include "top_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/scap_file.h"
#include "file_filter.h"
#include "filter/filter.h"
#include "procfs/state_build.h"
#include "say.h"
#include "top_capture.h"

enum { STEP_EVENTS = 4096 };

struct top_record {
	char *path;
	struct sinsp_filter *filter; /* NULL: all events */
	uint64_t from_ns;
	struct scap_writer *writer;
	struct held *held; /* with a filter, or a begin */
	struct sinsp *source; /* own; NULL: events come from others */
	uint64_t n_events;
};

int top_record_new(struct top_record **out, const char *path, const char *filter, uint64_t from_ns)
{
	struct top_record *r = calloc(1, sizeof(*r));
	struct sinsp_filter_error why;
	int err = 0;

	if (!r)
		return -ENOMEM;
	r->from_ns = from_ns;
	r->path = strdup(path);
	if (!r->path)
		err = -ENOMEM;
	else if (*filter || from_ns) /* without one, a condition that all events match */
		err = sinsp_filter_new(&r->filter, *filter ? filter : "evt.num>=0", NULL, &why);
	if (err)
		top_record_free(r);
	else
		*out = r;
	return err;
}

int top_record_free(struct top_record *r)
{
	static const struct scap_stats none;
	int err = 0;

	if (!r)
		return 0;
	if (r->writer)
		err = scap_writer_close(r->writer, &none, NULL);
	held_free(r->held);
	sinsp_close(r->source);
	sinsp_filter_free(r->filter);
	free(r->path);
	free(r);
	return err;
}

/* ---- events ---- */

static int put_raw(void *ctx, const struct scap_evt *evt)
{
	struct top_record *r = ctx;
	struct scap_evt as_state = *evt;

	as_state.flags |= SCAP_EVT_F_STATE_ONLY;
	return scap_writer_put(r->writer, &as_state);
}

int top_record_attach(struct top_record *r, struct sinsp *s)
{
	const struct scap_writer_opts opts = {
		.sz = sizeof(opts),
		.provenance = "saker=" SAKER_VERSION "\nsource=top\n",
		.log = say_log,
	};
	struct scap_state_build *state = NULL;
	int err = sinsp_export(s, &state);

	if (err)
		return err;
	if (r->writer)
		err = scap_writer_section(r->writer, scap_state_build_done(state));
	else
		err = scap_writer_open(&r->writer, r->path, scap_state_build_done(state), &opts);
	scap_state_build_free(state);
	held_free(r->held);
	r->held = NULL;
	return err ?: r->filter ? held_new(&r->held, s, NULL, put_raw, r) : 0;
}

/* The flags of the event stay as they are: others see it, too. */
int top_record_put(struct top_record *r, struct sinsp_evt *evt)
{
	const uint16_t flags = evt->raw.flags;
	int matches = 1, held = 0, err = 0;

	if (r->filter && evt_is_of_system(evt))
		matches = evt->raw.ts_ns >= r->from_ns ? sinsp_filter_select(r->filter, evt) : 0;
	if (matches < 0)
		return matches;
	if (r->filter)
		held = file_filter_event(r->held, r->filter, evt, matches);
	if (!held)
		err = scap_writer_put(r->writer, &evt->raw);
	if (!held && matches && sinsp_evt_shown(evt->insp, evt))
		r->n_events++;
	evt->raw.flags = flags;
	return held < 0 ? held : err;
}

int top_record_flush(struct top_record *r)
{
	return scap_writer_flush(r->writer);
}

/* ---- a file ---- */

int top_record_open_source(struct top_record *r, const struct top_options *o)
{
	const unsigned int needs = r->filter ? sinsp_filter_field_needs(r->filter) : 0;
	const int err = top_capture_open(&r->source, o, r->filter, needs);

	return err ?: top_record_attach(r, r->source);
}

int top_record_step(struct top_record *r)
{
	struct sinsp_evt evt;
	int n = 1, err = 0;

	for (int i = 0; i < STEP_EVENTS && n >= 0 && !err; i++) {
		n = sinsp_next(r->source, &evt, 0);
		if (n > 0)
			err = top_record_put(r, &evt);
	}
	return err ?: n == -ENODATA ? 0 : n < 0 ? n : 1;
}

int top_record_reads(const struct top_record *r)
{
	return r && r->source;
}

void top_record_status(const struct top_record *r, struct top_record_status *st)
{
	*st = (struct top_record_status){0};
	if (!r)
		return;
	st->is_on = 1;
	st->n_events = r->n_events;
	if (r->source)
		st->progress = scap_progress(sinsp_source(r->source));
}
