/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of spans: of the event tracer (span), and of the open spans that an event is in (evtin).
 * Both have the same parts. */
#include <errno.h>

#include "field_params.h"
#include "field_rows.h"
#include "markers/spans.h"
#include "shared/stack.h"
#include "state/inspector.h"
#include "state/thread.h"

/* Texts as in an event: each ends with a NUL. */
struct texts {
	const char *p;
	size_t sz;
};

/* What a field is about. */
struct part_source {
	int64_t id;
	struct texts tags, args;
};

enum part { PART_ID, PART_NTAGS, PART_NARGS, PART_TAGS, PART_TAG, PART_ARGS, PART_ARG, PARTS };

/* ---- lists of texts ---- */

/* Takes the first text. Returns 0 if there is none. */
static int next_text(struct texts *list, struct texts *out)
{
	size_t n;

	if (!list->sz)
		return 0;
	n = strnlen(list->p, list->sz);
	*out = (struct texts){list->p, n};
	n += n < list->sz;
	list->p += n;
	list->sz -= n;
	return 1;
}

static size_t count(struct texts list)
{
	struct texts one;
	size_t n = 0;

	while (next_text(&list, &one))
		n++;
	return n;
}

/* Sets text @i; a negative @i counts from the end. */
static int nth(struct sinsp_value *v, struct texts list, int64_t i)
{
	struct texts one;

	if (i < 0)
		i += (int64_t)count(list);
	if (i < 0)
		return 0;
	while (next_text(&list, &one))
		if (!i--)
			return field_mem(v, one.p, one.sz);
	return 0;
}

/* Sets the value of the argument @name. */
static int named(struct sinsp_value *v, struct texts args, const char *name)
{
	struct texts key, value;

	while (next_text(&args, &key) && next_text(&args, &value))
		if (key.sz == strlen(name) && !memcmp(key.p, name, key.sz))
			return field_mem(v, value.p, value.sz);
	return 0;
}

/* Sets the texts with @seps between them, in turn. */
static int joined(struct sinsp_eval *e, struct sinsp_value *v, struct texts list, const char *seps)
{
	char *const start = sinsp_eval_alloc(e, list.sz + 1), *p = start;
	struct texts one;

	if (!start)
		return -ENOMEM;
	for (size_t i = 0; next_text(&list, &one); i++) {
		if (i)
			*p++ = seps[(i - 1) % strlen(seps)];
		memcpy(p, one.p, one.sz);
		p += one.sz;
	}
	return field_mem(v, start, (size_t)(p - start));
}

static int get_arg(const struct sinsp_field *f, struct sinsp_value *v, struct texts args)
{
	int64_t i = f->index;

	if (!f->has_index)
		return named(v, args, f->arg);
	if (i < 0)
		i += (int64_t)count(args) / 2;
	return i < 0 || i > INT32_MAX ? 0 : nth(v, args, i * 2 + 1);
}

static int get_part(struct sinsp_eval *e, const struct sinsp_field *f, enum part part,
		    struct sinsp_value *v, const struct part_source *src)
{
	switch (part) {
	case PART_ID:
		return field_i(v, src->id);
	case PART_NTAGS:
		return field_u(v, count(src->tags));
	case PART_NARGS:
		return field_u(v, count(src->args) / 2);
	case PART_TAGS:
		return joined(e, v, src->tags, ".");
	case PART_TAG:
		return nth(v, src->tags, f->index);
	case PART_ARGS:
		return joined(e, v, src->args, "=,");
	default:
		return get_arg(f, v, src->args);
	}
}

/* ---- span ---- */

static int is_tracer(const struct sinsp_evt *evt)
{
	return evt->raw.type == EVT_MARKER_E || evt->raw.type == EVT_MARKER_X;
}

static struct texts param_texts(const struct sinsp_evt *evt, unsigned int at)
{
	const struct scap_param *p = field_param(evt, evt->raw.type, at);

	return p ? (struct texts){(const char *)p->p, p->len} : (struct texts){"", 0};
}

/* Returns the span that the exit ended; NULL: no exit, or its enter was not seen. */
static const struct sinsp_span *ended_of(const struct sinsp_evt *evt)
{
	return evt->raw.type == EVT_MARKER_X ? sinsp_spans_current(evt->insp->spans) : NULL;
}

static int get_span(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct scap_param *id = field_param(e->evt, e->evt->raw.type, TRACER_P_ID);

	(void)more;
	if (!is_tracer(e->evt) || !id || id->len != sizeof(uint64_t))
		return 0;
	return get_part(e, f, (enum part)f->row->variant, v,
			&(struct part_source){(int64_t)get_u64(id->p),
					      param_texts(e->evt, TRACER_P_TAGS),
					      param_texts(e->evt, TRACER_P_ARGS)});
}

/* Gets a part of the enter's arguments. */
static int get_enter(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const struct sinsp_span *span = ended_of(e->evt);
	struct part_source src = {.tags = {"", 0}};

	(void)more;
	if (span)
		src.args = (struct texts){span->text + span->tags_sz, span->args_sz};
	else if (e->evt->raw.type == EVT_MARKER_E)
		src.args = param_texts(e->evt, TRACER_P_ARGS);
	else
		return 0;
	return get_part(e, f, (enum part)f->row->variant, v, &src);
}

/* Returns the begin of the span; 0: unknown. */
static uint64_t begin_of(const struct sinsp_evt *evt)
{
	const struct sinsp_span *span =
		is_tracer(evt) ? sinsp_spans_current(evt->insp->spans) : NULL;

	if (span)
		return span->begin_ns;
	return evt->raw.type == EVT_MARKER_E ? evt->raw.ts_ns : 0;
}

static int get_time(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const uint64_t ns = begin_of(e->evt);
	char *p;

	(void)f, (void)more;
	if (!ns)
		return 0;
	p = sinsp_eval_alloc(e, TIME_TEXT_ROOM);
	if (!p)
		return -ENOMEM;
	return field_mem(v, p, (size_t)(time_text_clock(&e->time, p, ns) - p));
}

static int get_rawtime(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	const uint64_t ns = begin_of(e->evt);

	(void)f, (void)more;
	return ns ? field_u(v, ns) : 0;
}

/* Sets *ns to the length of the span that the exit ended. Returns whether there is one. */
static int length_of(const struct sinsp_evt *evt, uint64_t *ns)
{
	const struct sinsp_span *span = ended_of(evt);

	if (span)
		*ns = span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;
	return !!span;
}

static int get_duration(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	uint64_t ns;

	(void)f, (void)more;
	return length_of(e->evt, &ns) ? field_u(v, ns) : 0;
}

static int get_duration_human(struct sinsp_eval *e, const struct sinsp_field *f,
			      struct sinsp_value *v, const struct sinsp_value **more)
{
	uint64_t ns;
	char *p;

	(void)f, (void)more;
	if (!length_of(e->evt, &ns))
		return 0;
	p = sinsp_eval_alloc(e, TIME_TEXT_ROOM);
	return p ? field_mem(v, p, (size_t)(time_text_human(p, ns) - p)) : -ENOMEM;
}

static int get_duration_quantized(struct sinsp_eval *e, const struct sinsp_field *f,
				  struct sinsp_value *v, const struct sinsp_value **more)
{
	uint64_t ns;

	(void)f, (void)more;
	return length_of(e->evt, &ns) ? field_spectrum_column(e, v, ns) : 0;
}

/* Of views: values of the span whose last tag is tag N, and of those below it. */
enum for_tag { TAG_DURATION, TAG_COUNT, TAG_CHILDREN };

static int get_for_tag(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	const int is_exit = e->evt->raw.type == EVT_MARKER_X;
	int64_t below;

	if (!is_tracer(e->evt))
		return 0;
	below = (int64_t)count(param_texts(e->evt, TRACER_P_TAGS)) - 1 - f->index;
	if (f->row->variant == TAG_CHILDREN)
		return field_u(v, is_exit && below > 0);
	if (f->row->variant == TAG_COUNT)
		return field_u(v, is_exit && !below);
	return below ? 0 : get_duration(e, f, v, more);
}

/* ---- evtin ---- */

/* Sets the number whose spans of @scope the event is in. Returns 0 if it is in none. */
static int number_in(const struct sinsp_evt *evt, enum span_scope scope, int64_t *number)
{
	const struct sinsp_thread *t = evt->thread;

	*number = scope == SPANS_OF_THREAD    ? (int64_t)evt->raw.hdr->tid
		  : !t                        ? 0
		  : scope == SPANS_OF_PROCESS ? t->pid
					      : t->ptid;
	return t || scope == SPANS_OF_THREAD || scope == SPANS_ALL;
}

/* Gets a value for each open span, the outermost first. */
static int get_evtin(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const enum span_scope scope = (enum span_scope)(f->row->variant / PARTS);
	const struct sinsp_spans *sp = e->evt->insp->spans;
	struct sinsp_value *list = NULL;
	const struct sinsp_span *span;
	uint32_t at = 0;
	int64_t number;
	int n = 0;

	if (is_tracer(e->evt) || !number_in(e->evt, scope, &number))
		return 0;
	while ((span = sinsp_spans_next(sp, &at, scope, number))) {
		struct sinsp_value one = *v;
		const int r = get_part(
			e, f, (enum part)(f->row->variant % PARTS), &one,
			&(struct part_source){span->id,
					      {span->text, span->tags_sz},
					      {span->text + span->tags_sz, span->args_sz}});

		if (r > 0 && !list)
			list = sinsp_eval_alloc(e, sinsp_spans_count(sp) * sizeof(*list));
		if (r < 0 || (r && !list))
			return -ENOMEM;
		if (r)
			list[n++] = one;
	}
	if (n)
		*v = list[0];
	*more = list;
	return n;
}

/* clang-format off */
#define NEEDS .needs = FIELD_NEEDS_FILES | FIELD_NEEDS_TRACERS
#define INDEX (FIELD_F_ARG_NEEDED | FIELD_F_ARG_INDEX)
#define OF_LIST (INDEX | FIELD_F_ARG_FROM_END)
#define KEY (OF_LIST | FIELD_F_ARG_KEY)
#define ROW(name, type, flags, variant, get, help)                                                 \
	{name, FIELD_##type, FIELD_FMT_DEC, FIELD_COST_SEARCH, flags, variant, get, help, NEEDS}

static const struct sinsp_field_row span_rows[] = {
	ROW("span.id", INT, 0, PART_ID, get_span, "ID of the marker: a number, or the TID (t), PID (p) or "
	    "parent's PID (pp) of its thread; 0 if it has none"),
	ROW("span.time", STR, FIELD_F_TIME_TEXT, 0, get_time, "time of the enter marker, as in evt.time"),
	ROW("span.ntags", UINT, 0, PART_NTAGS, get_span, "number of tags"),
	ROW("span.nargs", UINT, 0, PART_NARGS, get_enter, "number of arguments of the enter marker"),
	ROW("span.tags", STR, 0, PART_TAGS, get_span, "all tags: a.b.c"),
	ROW("span.tag", STR, OF_LIST, PART_TAG, get_span,
	    "tag N, from 0 on: span.tag[1]; span.tag[-1] is the last"),
	ROW("span.args", STR, 0, PART_ARGS, get_span, "all arguments of the marker: a=1,b=2"),
	ROW("span.arg", STR, KEY, PART_ARG, get_span,
	    "argument by name or number: span.arg.name, span.arg[0]; span.arg[-1] is the last"),
	ROW("span.enterargs", STR, 0, PART_ARGS, get_enter, "arguments of the enter marker"),
	ROW("span.enterarg", STR, KEY, PART_ARG, get_enter,
	    "argument of the enter marker, by name or number"),
	ROW("span.duration", DURATION, 0, 0, get_duration,
	    "nanoseconds from the enter marker to the exit marker; exit markers only"),
	ROW("span.duration.human", STR, 0, 0, get_duration_human, "span.duration with a unit: 10.3ms"),
	ROW("span.rawtime", UINT, FIELD_F_HIDDEN, 0, get_rawtime,
	    "time of the enter marker, in nanoseconds since the epoch"),
	ROW("span.duration.quantized", UINT, FIELD_F_HIDDEN, 0, get_duration_quantized,
	    "column of the duration in a spectrogram"),
	ROW("span.duration.fortag", DURATION, INDEX | FIELD_F_HIDDEN, TAG_DURATION, get_for_tag,
	    "span.duration, if the last tag is tag N"),
	ROW("span.count.fortag", UINT, INDEX | FIELD_F_HIDDEN, TAG_COUNT, get_for_tag,
	    "1 if the last tag is tag N"),
	ROW("span.childcount.fortag", UINT, INDEX | FIELD_F_HIDDEN, TAG_CHILDREN, get_for_tag,
	    "1 if tags follow tag N"),
};

#define ANY_OF (FIELD_F_LIST | FIELD_F_ANY)
#define IN(name, type, flags, scope, part, help)                                                   \
	ROW("evtin.span" name, type, ANY_OF | (flags), SPANS_##scope * PARTS + PART_##part, get_evtin, help)
#define IN_SCOPE(name, scope, of)                                                                  \
	IN(name ".id", INT, 0, scope, ID, "IDs of the open spans " of),                            \
	IN(name ".ntags", UINT, 0, scope, NTAGS, "number of tags of each open span " of),          \
	IN(name ".nargs", UINT, 0, scope, NARGS, "number of arguments of each open span " of),     \
	IN(name ".tags", STR, 0, scope, TAGS, "tags of each open span " of),                       \
	IN(name ".tag", STR, OF_LIST, scope, TAG, "tag N of each open span " of),                  \
	IN(name ".args", STR, 0, scope, ARGS, "arguments of each open span " of),                  \
	IN(name ".arg", STR, KEY, scope, ARG, "one argument of each open span " of)

static const struct sinsp_field_row evtin_rows[] = {
	IN_SCOPE("", OF_THREAD, "that the event's thread began"),
	IN_SCOPE(".p", OF_PROCESS, "that the event's process began"),
	IN_SCOPE(".s", OF_PARENT, "that a process with the same parent began"),
	IN_SCOPE(".m", ALL, "of the machine"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_span = {
	.name = "span",
	.title = "span",
	.help = "Markers that programs write to /dev/null: an event tracer each, derived when one "
		"of these is used",
	FIELD_ROWS(span_rows),
};

const struct sinsp_field_class sinsp_fields_evtin = {
	.name = "evtin",
	.title = "event in span",
	.help = "Spans that are open when an event comes: events between two markers",
	FIELD_ROWS(evtin_rows),
};
