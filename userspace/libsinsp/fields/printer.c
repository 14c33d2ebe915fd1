/* SPDX-License-Identifier: Apache-2.0 */
/* Events as lines, in sysdig's default format. */
#include <stdlib.h>
#include <time.h>

#include "container/containers.h"
#include "info.h"
#include "thread.h"

#define NS_PER_S 1000000000u

/* The second that was printed last, and until when the offset of its time zone holds. */
struct clock_cache {
	uint64_t sec; /* since the epoch */
	uint64_t quarter; /* the quarter of an hour that gmtoff is read for */
	int64_t gmtoff;
	char text[9]; /* "HH:MM:SS." of sec */
};

struct sinsp_printer {
	struct sinsp *s;
	struct sinsp_printer_opts opts;
	struct clock_cache clock;
	uint64_t prev_ns; /* time of the line before; 0: none yet */
};

/* ---- times ---- */

/* Clocks change at quarters of an hour: there the offset is read anew. */
static void clock_set(struct clock_cache *c, uint64_t sec)
{
	const time_t t = (time_t)sec;
	struct tm tm;
	uint32_t of_day;

	c->sec = sec;
	if (c->quarter != sec / 900) {
		c->quarter = sec / 900;
		c->gmtoff = localtime_r(&t, &tm) ? tm.tm_gmtoff : 0;
	}
	of_day = (uint32_t)((sec + 86400u + (uint64_t)c->gmtoff) % 86400);
	memcpy(c->text, &sinsp_two_digits[of_day / 3600 * 2], 2);
	c->text[2] = ':';
	memcpy(c->text + 3, &sinsp_two_digits[of_day / 60 % 60 * 2], 2);
	c->text[5] = ':';
	memcpy(c->text + 6, &sinsp_two_digits[of_day % 60 * 2], 2);
	c->text[8] = '.';
}

static char *put_clock(struct clock_cache *c, char *p, uint64_t ns)
{
	const uint64_t sec = ns / NS_PER_S;

	if (c->sec != sec)
		clock_set(c, sec);
	p = put_mem(p, c->text, sizeof(c->text));
	return put_9digits(p, (uint32_t)(ns - sec * NS_PER_S));
}

/* From @from to @to: time may run backwards in a file. */
static char *put_span(char *p, uint64_t from, uint64_t to)
{
	uint64_t ns = to - from;

	if (to < from) {
		*p++ = '-';
		ns = from - to;
	}
	p = put_u64(p, ns / NS_PER_S);
	*p++ = '.';
	return put_9digits(p, (uint32_t)(ns % NS_PER_S));
}

static char *put_latency(char *p, const struct sinsp_evt *evt)
{
	/* sysdig shows no latency and one not known alike; a saker source tells them apart. */
	if (evt->raw.flags & SCAP_EVT_F_FULL && !evt->latency_known)
		return put_lit(p, "<NA>");
	return put_span(p, 0, evt->latency_ns);
}

static char *put_time(struct sinsp_printer *pr, char *p, const struct sinsp_evt *evt)
{
	const uint64_t ns = evt->raw.ts_ns, prev = pr->prev_ns;

	switch (pr->opts.time_fmt) {
	case SINSP_TIME_EPOCH:
		return put_span(p, 0, ns);
	case SINSP_TIME_RELATIVE:
		return put_span(p, sinsp_first_ns(pr->s), ns);
	case SINSP_TIME_DELTA:
		pr->prev_ns = ns;
		return put_span(p, prev ? prev : ns, ns);
	case SINSP_TIME_LATENCY:
		return put_latency(p, evt);
	default:
		return put_clock(&pr->clock, p, ns);
	}
}

/* ---- lines ---- */

/* "NUM TIME CPU ". Private events take no number. */
static char *put_head(struct sinsp_printer *pr, char *p, const struct sinsp_evt *evt)
{
	if (evt->raw.num)
		p = put_u64(p, evt->raw.num);
	else
		*p++ = '-';
	*p++ = ' ';
	p = put_time(pr, p, evt);
	*p++ = ' ';
	p = put_i64(p, (int16_t)evt->raw.cpu); /* as sysdig: 65535 is -1, no CPU */
	*p++ = ' ';
	return p;
}

/* With room for two numbers and what is around them behind it. */
static char *put_name(struct sinsp_text *out, char *p, const char *name)
{
	const size_t n = strlen(name);

	p = text_room(out, p, n + 3 * TEXT_NUM_MAX);
	return p ? put_utf8(p, name, n) : NULL;
}

/* "NAME (ID) " */
static char *put_container(struct sinsp_text *out, char *p, const struct sinsp_evt *evt)
{
	const struct sinsp_container *c;
	const char *name = "host", *id = name;

	if (!evt->thread) {
		name = id = "<NA>";
	} else if ((c = sinsp_thread_container(evt->thread))) {
		name = *c->name ? c->name : "<NA>";
		id = c->id;
	}
	p = put_name(out, p, name);
	p = p ? put_name(out, put_lit(p, " ("), id) : NULL;
	return p ? put_lit(p, ") ") : NULL;
}

/* "PROCESS (TID", with containers "PROCESS (TID:VTID" */
static char *put_thread(const struct sinsp_printer *pr, struct sinsp_text *out, char *p,
			const struct sinsp_evt *evt)
{
	const int with_vtid = pr->opts.line_fmt == SINSP_LINE_CONTAINER;

	p = put_name(out, p, evt->thread ? evt->thread->comm : "<NA>");
	if (!p)
		return NULL;
	if (evt->thread && !sinsp_thread_is_certain(evt->insp, evt->thread, evt->raw.true_ns))
		*p++ = '?';
	p = put_i64(put_lit(p, " ("), (int64_t)evt->raw.hdr->tid);
	if (!with_vtid)
		return p;
	*p++ = ':';
	if (!evt->thread || !evt->thread->vtid_known)
		return put_lit(p, "<NA>");
	return put_i64(p, evt->thread->vtid);
}

static uint64_t number(const struct sinsp_evt *evt, unsigned int i)
{
	const struct scap_params *p = &evt->params;
	uint64_t v = 0;

	if (i < p->n && p->v[i].len == sizeof(v))
		memcpy(&v, p->v[i].p, sizeof(v));
	return v;
}

/* Parameters of EVT_LOST_E. */
#define LOST_ROOM_TEXT 512 /* for all but the reason */
enum { LOST_N = 1, LOST_REASON, LOST_FROM, LOST_TO, LOST_KINDS };

/* " (3 open, 2 close)": what changed the state of things, and was not seen. */
static char *put_lost_kinds(char *p, const struct sinsp_evt *evt)
{
	int n = 0;

	for (unsigned int i = LOST_KINDS; i < evt->info->n_params; i++) {
		const char *name = evt->info->params[i].name;

		if (!number(evt, i))
			continue;
		p = n++ ? put_lit(p, ", ") : put_lit(p, " (among them ");
		p = put_u64(p, number(evt, i));
		*p++ = ' ';
		p = put_mem(p, name, strlen(name));
	}
	if (n)
		*p++ = ')';
	return p;
}

/* "-- TIME CPU 1 lost 5123 events within 0.120123456 s: REASON" */
static int put_lost(struct sinsp_printer *pr, struct sinsp_text *out, const struct sinsp_evt *evt)
{
	const struct scap_params *params = &evt->params;
	char *p = text_begin(out, LOST_ROOM_TEXT);

	if (p) {
		p = put_time(pr, put_lit(p, "-- "), evt);
		p = put_i64(put_lit(p, " CPU "), (int16_t)evt->raw.cpu);
		p = put_u64(put_lit(p, " lost "), number(evt, LOST_N));
		p = put_lit(p, " events");
		if (number(evt, LOST_TO) > number(evt, LOST_FROM))
			p = put_lit(put_span(put_lit(p, " within "), number(evt, LOST_FROM),
					     number(evt, LOST_TO)),
				    " s");
		p = put_lost_kinds(p, evt);
		p = put_lit(p, ": ");
	}
	if (p && params->n > LOST_REASON) {
		const struct scap_param *reason = &params->v[LOST_REASON];
		const size_t n = strnlen((const char *)reason->p, reason->len);

		p = text_room(out, p, n + 1);
		p = p ? put_utf8(p, (const char *)reason->p, n) : NULL;
	}
	if (p)
		*p++ = '\n';
	return text_end(out, p);
}

int sinsp_printer_line(struct sinsp_printer *pr, struct sinsp_text *out,
		       const struct sinsp_evt *evt)
{
	struct value_writer w = {
		.out = out,
		.evt = evt,
		.buf_fmt = pr->opts.buf_fmt,
		.buf_max = pr->opts.buf_max,
		.buf_cut = pr->opts.buf_cut,
	};
	char *p;

	if (evt->raw.type == EVT_LOST_E)
		return put_lost(pr, out, evt);
	p = text_begin(out, VALUE_ROOM);
	if (p)
		p = put_head(pr, p, evt);
	if (p && pr->opts.line_fmt == SINSP_LINE_CONTAINER)
		p = put_container(out, p, evt);
	if (p)
		p = put_thread(pr, out, p, evt);
	if (p)
		p = sinsp_type_put(&w, p);
	if (p)
		p = sinsp_info_put(&w, p);
	p = p ? text_room(out, p, 1) : NULL;
	if (p)
		*p++ = '\n';
	return text_end(out, p);
}

int sinsp_printer_new(struct sinsp_printer **out, struct sinsp *s,
		      const struct sinsp_printer_opts *opts)
{
	struct sinsp_printer *pr;

	if (opts && opts->sz > sizeof(*opts))
		return -E2BIG;
	pr = calloc(1, sizeof(*pr));
	if (!pr)
		return -ENOMEM;
	if (opts)
		memcpy(&pr->opts, opts, opts->sz);
	if (!pr->opts.time_fmt)
		pr->opts.time_fmt = SINSP_TIME_ABSOLUTE;
	if (!pr->opts.buf_max)
		pr->opts.buf_max = VALUE_BUF_MAX;
	pr->s = s;
	pr->clock.sec = pr->clock.quarter = UINT64_MAX;
	tzset();
	*out = pr;
	return 0;
}

void sinsp_printer_free(struct sinsp_printer *pr)
{
	free(pr);
}
