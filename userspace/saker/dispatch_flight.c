/* SPDX-License-Identifier: Apache-2.0 */
#include "dispatch_flight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields/format.h"
#include "file_needs.h"
#include "say.h"

#define KEY_DEFAULT "%proc.name"
#define WHAT "*%evt.type of %proc.name (%proc.pid)"

/* Compiles a format in which a missing value is <NA>. */
static int compile(struct sinsp_format **out, const char *text)
{
	static const struct sinsp_format_opts opts = {.sz = sizeof(opts)};
	struct sinsp_format_error error;
	char *lenient = NULL;
	int err = asprintf(&lenient, "*%s", text + (*text == '*')) < 0 ? -ENOMEM : 0;

	if (!err)
		err = sinsp_format_new(out, lenient, &opts, &error);
	if (err == -EINVAL)
		say("--trigger-key: %s", error.message);
	free(lenient);
	return err;
}

int dispatch_open_flight(struct dispatch *t)
{
	const unsigned int before = say_n_errors();
	int err = compile(&t->flight_key, t->o->flight.key ?: KEY_DEFAULT)
			  ?: compile(&t->flight_what, WHAT);

	if (!err)
		err = flight_new(&t->flight, t->o, t->provenance ?: "");
	if (err)
		say_cause(before, "cannot keep events", err);
	return err;
}

void dispatch_close_flight(struct dispatch *t)
{
	flight_free(t->flight);
	sinsp_format_free(t->flight_key);
	sinsp_format_free(t->flight_what);
}

int dispatch_before_flight(void *ctx, const struct scap_evt *evt)
{
	struct dispatch *t = ctx;
	struct scap_state_build *state;
	int err;

	if (t->done || !evt->ts_ns || !flight_is_due(t->flight, evt->ts_ns))
		return 0;
	err = sinsp_export(t->inspector, &state);
	if (!err)
		err = flight_begin(t->flight, state, evt->ts_ns);
	if (!err)
		err = file_needs_known(t, evt->ts_ns);
	flight_begun(t->flight);
	return err;
}

static int is_trigger(struct dispatch *t, const struct sinsp_evt *evt)
{
	return t->trigger && evt->info && !(evt->info->category & EC_INTERNAL) &&
	       !(evt->raw.flags & SCAP_EVT_F_STATE_ONLY) && sinsp_evt_shown(evt->insp, evt) &&
	       sinsp_filter_run(t->trigger, evt) > 0;
}

/* Returns the line of an event without its newline; owned. NULL without memory. */
static char *line_of(struct sinsp_format *f, const struct sinsp_evt *evt)
{
	struct sinsp_text text = {0};
	char *line = NULL;

	if (sinsp_format_line(f, &text, evt) > 0 && text.len)
		line = strndup(text.p, text.len - 1);
	free(text.p);
	return line;
}

static void trigger(struct dispatch *t, const struct sinsp_evt *evt)
{
	char *key = line_of(t->flight_key, evt), *what = line_of(t->flight_what, evt);

	flight_trigger(t->flight, evt->raw.ts_ns, key ?: "", what ?: "an event");
	free(key);
	free(what);
}

void dispatch_put_flight(struct dispatch *t, const struct sinsp_evt *evt)
{
	const unsigned int before = say_n_errors();
	const int err = file_needs_of(t, evt) ?: flight_put(t->flight, &evt->raw);

	if (err) {
		say_cause(before, "cannot keep events", err);
		t->file_failed = t->done = 1;
	} else if (is_trigger(t, evt)) {
		trigger(t, evt);
	}
}

void dispatch_trigger(struct dispatch *t, uint64_t now_ns)
{
	if (t->flight)
		flight_trigger(t->flight, now_ns, NULL, "SIGUSR1");
}
