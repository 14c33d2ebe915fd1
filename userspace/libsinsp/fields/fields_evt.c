/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of every event: number, time, source. */
#include <math.h>

#include "field_rows.h"
#include "text.h"

#define NS_PER_S 1000000000u

/* Variants of rows: forms of a duration. */
enum part { WHOLE, SECONDS, FRACTION };

static int part_of(struct sinsp_value *v, enum part part, uint64_t ns)
{
	switch (part) {
	case SECONDS:
		return field_u(v, ns / NS_PER_S);
	case FRACTION:
		return field_u(v, ns % NS_PER_S);
	default:
		return field_u(v, ns);
	}
}

static int get_num(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	return e->evt->raw.num ? field_u(v, e->evt->raw.num) : 0;
}

static int get_rawtime(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	(void)more;
	return part_of(v, f->row->variant, e->evt->raw.ts_ns);
}

/* Times in a file may go back. */
static int get_reltime(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	const uint64_t first = sinsp_first_ns(e->insp), ns = e->evt->raw.ts_ns;

	(void)more;
	return part_of(v, f->row->variant, ns > first ? ns - first : 0);
}

enum { TIME, TIME_S, DATETIME, DATETIME_S, ISO8601, OUTPUT };

static int get_time(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const uint64_t ns = e->evt->raw.ts_ns;
	char *const start = sinsp_eval_alloc(e, 2 * TIME_TEXT_ROOM), *p = start;

	(void)more;
	if (!start)
		return -ENOMEM;
	switch (f->row->variant) {
	case DATETIME:
	case DATETIME_S:
		p = time_text_date(&e->time, p, ns);
		p = time_text_clock(&e->time, p, ns);
		break;
	case ISO8601:
		p = time_text_iso8601(p, ns);
		break;
	case OUTPUT:
		p = time_text_put(&e->time, p, e->evt);
		break;
	default:
		p = time_text_clock(&e->time, p, ns);
	}
	if (f->row->variant == TIME_S || f->row->variant == DATETIME_S)
		p -= sizeof(".000000000") - 1;
	return field_mem(v, start, (size_t)(p - start));
}

/* ---- durations ---- */

/* Returns whether the latency is known; for sysdig, an unknown one is 0. Events of the capture
 * itself have none. */
static int has_latency(const struct sinsp_evt *evt)
{
	if (evt->info->category & EC_INTERNAL)
		return 0;
	return !(evt->raw.flags & SCAP_EVT_F_FULL) || evt->latency_known;
}

static int get_latency(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	(void)more;
	return has_latency(e->evt) ? part_of(v, f->row->variant, e->evt->latency_ns) : 0;
}

static int get_latency_exit(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more)
{
	return evt_is_enter(e->evt->info->id) ? 0 : get_latency(e, f, v, more);
}

static int get_latency_human(struct sinsp_eval *e, const struct sinsp_field *f,
			     struct sinsp_value *v, const struct sinsp_value **more)
{
	char *const start = sinsp_eval_alloc(e, 2 * TEXT_NUM_MAX);

	(void)f, (void)more;
	if (!has_latency(e->evt))
		return 0;
	if (!start)
		return -ENOMEM;
	return field_mem(v, start, (size_t)(time_text_human(start, e->evt->latency_ns) - start));
}

int field_spectrum_column(const struct sinsp_eval *e, struct sinsp_value *v, uint64_t ns)
{
	double power;

	if (!ns)
		return 0;
	power = log10((double)ns);
	return field_u(v, (uint64_t)((power > 11 ? 11 : power) * e->columns / 11) + 1);
}

static int get_latency_quantized(struct sinsp_eval *e, const struct sinsp_field *f,
				 struct sinsp_value *v, const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_spectrum_column(e, v, e->evt->latency_ns);
}

static int get_wait_latency(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more)
{
	const struct sinsp_evt *evt = e->evt;

	(void)f, (void)more;
	if (!(evt->info->flags & EF_WAITS) || evt_is_enter(evt->info->id) || !has_latency(evt))
		return 0;
	return field_u(v, evt->latency_ns);
}

/* Gets the time since the previously evaluated event, the same for all fields of one event. */
static int get_deltatime(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	const uint64_t ns = e->evt->raw.ts_ns;

	(void)more;
	if (e->delta.serial != e->serial) {
		e->delta.prev_ns = e->delta.serial ? e->delta.ns : ns;
		e->delta.ns = ns;
		e->delta.serial = e->serial;
	}
	return part_of(v, f->row->variant, ns > e->delta.prev_ns ? ns - e->delta.prev_ns : 0);
}

/* Checks the time, which is in f->index. */
static int check_around(struct sinsp_field *f, const char **why)
{
	if (!f->has_index)
		return sinsp_field_error(
			f, why, "the argument of evt.around is the evt.rawtime of an event");
	return 0;
}

/* Gets the distance to that time in milliseconds, rounded up. */
static int get_around(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const uint64_t at = (uint64_t)f->index, ns = e->evt->raw.ts_ns;
	const uint64_t away = ns > at ? ns - at : at - ns;

	(void)more;
	return field_u(v, away / 1000000 + (away % 1000000 != 0));
}

/* ---- sources ---- */

static int get_cpu(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_i(v, (int16_t)e->evt->raw.cpu); /* as sysdig: 65535 is -1, no CPU */
}

static int get_capture(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_str(v, sinsp_source_name(e->evt->insp));
}

static int get_hostname(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	const char *name = sinsp_hostname(e->insp);

	(void)f, (void)more;
	return *name ? field_str(v, name) : 0;
}

static int is_plugins(const struct sinsp_evt *evt)
{
	return evt->info->id == EVT_PLUGINEVENT_E;
}

/* Gets the source; only a plugin itself has the name of its source. */
static int get_source(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)f, (void)more;
	return is_plugins(e->evt) ? 0 : field_str(v, "syscall");
}

/* Gets no value: only the plugin can decode its events. */
static int get_of_plugin(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	(void)e, (void)f, (void)v, (void)more;
	return 0;
}

static int get_is_async(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_u(v, e->evt->info->id == EVT_ASYNCEVENT_E);
}

static int get_asynctype(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	enum { NAME = 1 };
	const struct scap_params *ps = &e->evt->params;

	(void)f, (void)more;
	if (e->evt->info->id != EVT_ASYNCEVENT_E || ps->n <= NAME || !ps->v[NAME].len)
		return 0;
	return field_mem(v, ps->v[NAME].p, strnlen((const char *)ps->v[NAME].p, ps->v[NAME].len));
}

/* Counts the events that this filter, format or chisel evaluated. */
static int get_count(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_u(v, e->serial);
}

/* clang-format off */
static const struct sinsp_field_row rows[] = {
	{"evt.num", FIELD_UINT, 0, FIELD_COST_HEADER, 0, 0, get_num,
	 "number of the event"},
	{"evt.time", FIELD_STR, 0, FIELD_COST_TEXT, FIELD_F_TIME_TEXT, TIME, get_time,
	 "local time of day, with nanoseconds"},
	{"evt.time.s", FIELD_STR, 0, FIELD_COST_TEXT, FIELD_F_TIME_TEXT, TIME_S, get_time,
	 "local time of day, in whole seconds"},
	{"evt.time.iso8601", FIELD_STR, 0, FIELD_COST_TEXT, FIELD_F_TIME_TEXT, ISO8601, get_time,
	 "date and time in UTC as in ISO 8601, with nanoseconds"},
	{"evt.datetime", FIELD_STR, 0, FIELD_COST_TEXT, FIELD_F_TIME_TEXT, DATETIME, get_time,
	 "local date and time, with nanoseconds"},
	{"evt.datetime.s", FIELD_STR, 0, FIELD_COST_TEXT, FIELD_F_TIME_TEXT, DATETIME_S, get_time,
	 "local date and time, in whole seconds"},
	{"evt.outputtime", FIELD_STR, 0, FIELD_COST_TEXT, FIELD_F_TIME_TEXT | FIELD_F_HIDDEN, OUTPUT,
	 get_time, "time in the format of option -t"},
	{"evt.rawtime", FIELD_TIME, 0, FIELD_COST_HEADER, 0, WHOLE, get_rawtime,
	 "nanoseconds since the epoch (1970)"},
	{"evt.rawtime.s", FIELD_TIME, 0, FIELD_COST_HEADER, 0, SECONDS, get_rawtime,
	 "seconds since the epoch"},
	{"evt.rawtime.ns", FIELD_TIME, FIELD_FMT_PADDED, FIELD_COST_HEADER, 0, FRACTION, get_rawtime,
	 "nanosecond part of evt.rawtime"},
	{"evt.reltime", FIELD_DURATION, FIELD_FMT_PADDED, FIELD_COST_HEADER, 0, WHOLE, get_reltime,
	 "nanoseconds since the start of the capture"},
	{"evt.reltime.s", FIELD_DURATION, 0, FIELD_COST_HEADER, 0, SECONDS, get_reltime,
	 "seconds since the start of the capture"},
	{"evt.reltime.ns", FIELD_DURATION, FIELD_FMT_PADDED, FIELD_COST_HEADER, 0, FRACTION, get_reltime,
	 "nanosecond part of evt.reltime"},
	{"evt.latency", FIELD_DURATION, 0, FIELD_COST_HEADER, 0, WHOLE, get_latency,
	 "nanoseconds from the enter to the exit of a call; exit events only"},
	{"evt.latency.s", FIELD_DURATION, 0, FIELD_COST_HEADER, 0, SECONDS, get_latency,
	 "whole seconds of evt.latency"},
	{"evt.latency.ns", FIELD_DURATION, FIELD_FMT_PADDED, FIELD_COST_HEADER, 0, FRACTION, get_latency,
	 "nanosecond part of evt.latency"},
	{"evt.latency.exit", FIELD_DURATION, 0, FIELD_COST_HEADER, FIELD_F_HIDDEN, WHOLE, get_latency_exit,
	 "evt.latency, with no value for enter events, which would be part of an average"},
	{"evt.latency.human", FIELD_STR, 0, FIELD_COST_TEXT, 0, 0, get_latency_human,
	 "evt.latency with a unit, such as 1.79us or 12ms"},
	{"evt.latency.quantized", FIELD_UINT, 0, FIELD_COST_TEXT, FIELD_F_HIDDEN, 0, get_latency_quantized,
	 "column of evt.latency in a spectrogram"},
	{"evt.wait_latency", FIELD_DURATION, 0, FIELD_COST_HEADER, 0, 0, get_wait_latency,
	 "evt.latency of calls that may block, such as poll and nanosleep"},
	{"evt.deltatime", FIELD_DURATION, 0, FIELD_COST_HEADER, FIELD_F_MEMORY, WHOLE, get_deltatime,
	 "nanoseconds since the previous event"},
	{"evt.deltatime.s", FIELD_DURATION, 0, FIELD_COST_HEADER, FIELD_F_MEMORY, SECONDS, get_deltatime,
	 "whole seconds of evt.deltatime"},
	{"evt.deltatime.ns", FIELD_DURATION, FIELD_FMT_PADDED, FIELD_COST_HEADER, FIELD_F_MEMORY,
	 FRACTION, get_deltatime,
	 "nanosecond part of evt.deltatime"},
	{"evt.around", FIELD_UINT, 0, FIELD_COST_HEADER,
	 FIELD_F_ARG_NEEDED | FIELD_F_ARG_INDEX | FIELD_F_FILTER_ONLY | FIELD_F_WITHIN, 0, get_around,
	 "evt.around[T]=D is true up to D milliseconds before and after time T, an evt.rawtime", check_around},
	{"evt.cpu", FIELD_INT, 0, FIELD_COST_HEADER, 0, 0, get_cpu,
	 "CPU on which the event happened"},
	{"evt.capture", FIELD_STR, 0, FIELD_COST_STATE, 0, 0, get_capture,
	 "name of the capture file that contains the event"},
	{"evt.hostname", FIELD_STR, 0, FIELD_COST_STATE, 0, 0, get_hostname,
	 "name of the captured machine"},
	{"evt.source", FIELD_STR, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, 0, get_source,
	 "source of the event: syscall, except for events of plugins"},
	{"evt.is_async", FIELD_BOOL, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, 0, get_is_async,
	 "true if another tool added the event to the capture (asyncevent)"},
	{"evt.asynctype", FIELD_STR, 0, FIELD_COST_HEADER, 0, 0, get_asynctype,
	 "type of an asyncevent, such as container"},
	{"evt.pluginname", FIELD_STR, 0, FIELD_COST_HEADER, 0, 0, get_of_plugin,
	 "no value: saker has no plugins"},
	{"evt.plugininfo", FIELD_STR, 0, FIELD_COST_HEADER, 0, 0, get_of_plugin,
	 "no value: saker has no plugins"},
	{"util.cnt", FIELD_UINT, 0, FIELD_COST_HEADER, FIELD_F_HIDDEN | FIELD_F_MEMORY, 0, get_count,
	 "counts the events that a format or filter looks at"},
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_evt = {
	.name = "evt",
	.title = "evt (all events)",
	.help = "When and where an event happened",
	FIELD_ROWS(rows),
};
