/* SPDX-License-Identifier: Apache-2.0 */
/* Prints events as lines, in sysdig's default format. */
#include <stdlib.h>

#include "colours.h"
#include "container/containers.h"
#include "info.h"
#include "thread.h"
#include "time_text.h"

struct sinsp_printer {
	struct sinsp_printer_opts opts;
	struct time_text time;
};

/* ---- lines ---- */

/* Colours the text from offset @from on: puts escape sequences around it. */
static char *paint(struct sinsp_text *out, char *p, size_t from, const char *colour)
{
	const size_t n_colour = strlen(colour);

	p = p ? text_room(out, p, n_colour + sizeof(COLOUR_END) + VALUE_ROOM) : NULL;
	if (!p)
		return NULL;
	memmove(out->p + from + n_colour, out->p + from, (size_t)(p - out->p) - from);
	memcpy(out->p + from, colour, n_colour);
	return put_lit(p + n_colour, COLOUR_END);
}

/* Writes "NUM TIME CPU ". Private events have no number. */
static char *put_head(struct sinsp_printer *pr, char *p, const struct sinsp_evt *evt)
{
	if (evt->raw.num)
		p = put_u64(p, evt->raw.num);
	else
		*p++ = '-';
	*p++ = ' ';
	p = time_text_put(&pr->time, p, evt);
	*p++ = ' ';
	p = put_i64(p, (int16_t)evt->raw.cpu); /* as sysdig: 65535 is -1, no CPU */
	*p++ = ' ';
	return p;
}

/* Leaves room for two numbers and the text around them. */
static char *put_name(struct sinsp_text *out, char *p, const char *name)
{
	const size_t n = strlen(name);

	p = text_room(out, p, n + 3 * TEXT_NUM_MAX);
	return p ? put_utf8(p, name, n) : NULL;
}

/* Returns the name of the container, or of its pod; NULL: unknown. */
static const char *name_of(const struct sinsp_printer *pr, const struct sinsp_container *c)
{
	if (pr->opts.line_fmt == SINSP_LINE_POD)
		return c ? sinsp_container_label(c, SINSP_LABEL_POD_NAME) : NULL;
	return c && *c->name ? c->name : NULL;
}

/* Writes "NAME (ID) ". The host has no pod. */
static char *put_container(const struct sinsp_printer *pr, struct sinsp_text *out, char *p,
			   const struct sinsp_evt *evt)
{
	const struct sinsp_thread *t = evt->thread;
	const struct sinsp_container *c = t ? sinsp_thread_container(t) : NULL;
	const char *id = t ? sinsp_thread_container_id(t) : "<NA>";
	const char *name = c || pr->opts.line_fmt == SINSP_LINE_POD ? name_of(pr, c) : id;

	p = put_name(out, p, name ?: "<NA>");
	p = p ? put_name(out, put_lit(p, " ("), id) : NULL;
	return p ? put_lit(p, ") ") : NULL;
}

/* Writes "PROCESS (TID", with containers "PROCESS (TID:VTID". */
static char *put_thread(const struct sinsp_printer *pr, struct sinsp_text *out, char *p,
			const struct sinsp_evt *evt)
{
	const int with_vtid = pr->opts.line_fmt != SINSP_LINE_DEFAULT;

	p = put_name(out, p, evt->thread ? sinsp_thread_proc_name(evt->thread) : "<NA>");
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

/* Reads a parameter of 4 or 8 bytes; 0 if it is missing. */
static uint64_t number(const struct sinsp_evt *evt, unsigned int i)
{
	const struct scap_params *p = &evt->params;
	uint64_t v = 0;

	if (i < p->n && (p->v[i].len == 4 || p->v[i].len == 8))
		memcpy(&v, p->v[i].p, p->v[i].len);
	return v;
}

/* Parameters of EVT_LOST_E. */
#define LOST_ROOM_TEXT 512 /* of all reasons */
enum { LOST_N = 1, LOST_REASON, LOST_FROM, LOST_TO, LOST_KINDS };

/* Writes " (3 open, 2 close)": lost events that changed the state. */
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

/* Writes "-- TIME CPU 1 lost 5123 events within 0.120123456 s: REASON" */
static int put_lost(struct sinsp_printer *pr, struct sinsp_text *out, const struct sinsp_evt *evt)
{
	const struct scap_params *params = &evt->params;
	char *p = text_begin(out, LOST_ROOM_TEXT);

	if (p) {
		p = time_text_put(&pr->time, put_lit(p, "-- "), evt);
		p = put_i64(put_lit(p, " CPU "), (int16_t)evt->raw.cpu);
		p = put_u64(put_lit(p, " lost "), number(evt, LOST_N));
		p = put_lit(p, " events");
		if (number(evt, LOST_TO) > number(evt, LOST_FROM))
			p = put_lit(time_text_span(put_lit(p, " within "), number(evt, LOST_FROM),
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

/* Writes "-- TIME CPU 1 recording pauses: of each second the first 1/4 is recorded" */
static int put_pause(struct sinsp_printer *pr, struct sinsp_text *out, const struct sinsp_evt *evt)
{
	char *p = text_begin(out, LOST_ROOM_TEXT);

	if (p) {
		p = time_text_put(&pr->time, put_lit(p, "-- "), evt);
		p = put_i64(put_lit(p, " CPU "), (int16_t)evt->raw.cpu);
		if (evt->raw.type == EVT_DROP_E)
			p = put_lit(p, " recording pauses");
		else
			p = put_lit(p, " recording goes on");
		if (evt->raw.type == EVT_DROP_E && number(evt, 0)) {
			p = put_u64(put_lit(p, ": of each second the first 1/"), number(evt, 0));
			p = put_lit(p, " is recorded");
		}
		*p++ = '\n';
	}
	return text_end(out, p);
}

/* Writes "NUM TIME CPU PROCESS (TID) DIR TYPE ". */
static char *put_beginning(struct sinsp_printer *pr, struct value_writer *w, char *p)
{
	p = put_head(pr, p, w->evt);
	if (pr->opts.line_fmt != SINSP_LINE_DEFAULT)
		p = put_container(pr, w->out, p, w->evt);
	if (p)
		p = put_thread(pr, w->out, p, w->evt);
	return p ? sinsp_type_put(w, p) : NULL;
}

static const char *type_colour(const struct sinsp_evt *evt)
{
	int64_t res;

	return sinsp_evt_result(evt, &res) && res < 0 ? COLOUR_FAILED : COLOUR_TYPE;
}

/* Writes the same in colours. */
static char *put_painted(struct sinsp_printer *pr, struct value_writer *w, char *p)
{
	struct sinsp_text *const out = w->out;
	size_t from = (size_t)(p - out->p);

	p = paint(out, put_head(pr, p, w->evt), from, COLOUR_DIM);
	if (p && pr->opts.line_fmt != SINSP_LINE_DEFAULT) {
		from = (size_t)(p - out->p);
		p = paint(out, put_container(pr, out, p, w->evt), from, COLOUR_CONTAINER);
	}
	if (p) {
		from = (size_t)(p - out->p);
		p = paint(out, put_thread(pr, out, p, w->evt), from, COLOUR_PROCESS);
	}
	if (p) {
		from = (size_t)(p - out->p) + sizeof(") < ") - 1;
		p = paint(out, sinsp_type_put(w, p), from, type_colour(w->evt));
	}
	return p;
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
		.port_names = pr->opts.port_names,
	};
	char *p;

	if (evt->raw.type == EVT_LOST_E)
		return put_lost(pr, out, evt);
	if (evt->raw.type == EVT_DROP_E || evt->raw.type == EVT_DROP_X)
		return put_pause(pr, out, evt);
	p = text_begin(out, VALUE_ROOM);
	if (p)
		p = pr->opts.colour ? put_painted(pr, &w, p) : put_beginning(pr, &w, p);
	if (p)
		p = sinsp_info_put(&w, p);
	p = p ? text_room(out, p, 1) : NULL;
	if (p)
		*p++ = '\n';
	return text_end(out, p);
}

int sinsp_printer_new(struct sinsp_printer **out, const struct sinsp_printer_opts *opts)
{
	struct sinsp_printer *pr;

	if (opts && opts->sz > sizeof(*opts))
		return -E2BIG;
	pr = calloc(1, sizeof(*pr));
	if (!pr)
		return -ENOMEM;
	if (opts)
		memcpy(&pr->opts, opts, opts->sz);
	if (!pr->opts.buf_max)
		pr->opts.buf_max = VALUE_BUF_MAX;
	time_text_init(&pr->time, pr->opts.time_fmt);
	*out = pr;
	return 0;
}

void sinsp_printer_free(struct sinsp_printer *pr)
{
	free(pr);
}
