/* SPDX-License-Identifier: Apache-2.0 */
#include "spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "marker.h"
#include "shared/stack.h"
#include "state/fd.h"
#include "state/inspector.h"
#include "state/thread.h"

#define N_LISTS 4096u /* of spans whose names have the same hash; a power of two */
#define N_PLACES (2u * SINSP_SPANS_MAX)
#define GAPS_MAX 64u /* places of ended spans, besides as many as spans are open */

/* An open span; what a walk compares stands beside. NULL: it ended. */
struct place {
	int64_t numbers[SPANS_ALL]; /* by scope */
	struct sinsp_span *span; /* owned */
};

struct sinsp_spans {
	struct place places[N_PLACES];
	struct sinsp_span *latest[N_LISTS]; /* by the hash of the name */
	uint64_t seed;
	uint32_t n_places, n_open;
	uint32_t text_sz; /* of all open spans */
	struct sinsp_span *begun; /* by the current event; open. NULL: none */
	struct sinsp_span *ended; /* by the current event; owned. NULL: none */
	struct sinsp_marker_stats stats;
};

/* ---- open spans ---- */

/* Removes the places of ended spans. */
static void close_gaps(struct sinsp_spans *sp)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sp->n_places; i++) {
		if (!sp->places[i].span)
			continue;
		sp->places[n] = sp->places[i];
		sp->places[n].span->at = n;
		n++;
	}
	sp->n_places = n;
}

static uint32_t hash_name(const struct sinsp_spans *sp, int64_t id, const void *tags, size_t sz)
{
	return (uint32_t)scap_hash_bytes(sp->seed ^ (uint64_t)id, tags, sz);
}

/* Adds a span; there is room for it. */
static void add(struct sinsp_spans *sp, struct sinsp_span *span, int64_t tid, int64_t ptid)
{
	struct sinsp_span **latest;

	if (sp->n_places == N_PLACES)
		close_gaps(sp);
	span->at = sp->n_places;
	sp->places[sp->n_places++] = (struct place){{tid, span->pid, ptid}, span};
	span->hash = hash_name(sp, span->id, span->text, span->tags_sz);
	latest = &sp->latest[span->hash & (N_LISTS - 1)];
	span->older = *latest;
	if (*latest)
		(*latest)->newer = span;
	*latest = span;
	sp->n_open++;
	sp->text_sz += span->tags_sz + span->args_sz;
}

static struct sinsp_span *take(struct sinsp_spans *sp, struct sinsp_span *span)
{
	if (span->older)
		span->older->newer = span->newer;
	if (span->newer)
		span->newer->older = span->older;
	else
		sp->latest[span->hash & (N_LISTS - 1)] = span->older;
	sp->places[span->at].span = NULL;
	sp->n_open--;
	sp->text_sz -= span->tags_sz + span->args_sz;
	if (sp->n_places > 2 * sp->n_open + GAPS_MAX)
		close_gaps(sp);
	return span;
}

static struct sinsp_span *next_span(const struct sinsp_spans *sp, uint32_t *at,
				    enum span_scope scope, int64_t number)
{
	while (sp && *at < sp->n_places) {
		const struct place *place = &sp->places[(*at)++];

		if (place->span && (scope == SPANS_ALL || place->numbers[scope] == number))
			return place->span;
	}
	return NULL;
}

const struct sinsp_span *sinsp_spans_next(const struct sinsp_spans *sp, uint32_t *at,
					  enum span_scope scope, int64_t number)
{
	return next_span(sp, at, scope, number);
}

uint32_t sinsp_spans_count(const struct sinsp_spans *sp)
{
	return sp ? sp->n_open : 0;
}

const struct sinsp_span *sinsp_spans_current(const struct sinsp_spans *sp)
{
	return !sp ? NULL : sp->ended ?: sp->begun;
}

void sinsp_spans_free(struct sinsp_spans *sp)
{
	if (!sp)
		return;
	for (uint32_t i = 0; i < sp->n_places; i++)
		free(sp->places[i].span);
	free(sp->ended);
	free(sp);
}

/* Returns the spans of @s; NULL: no memory. */
static struct sinsp_spans *spans_of(struct sinsp *s)
{
	if (!s->spans) {
		s->spans = calloc(1, sizeof(*s->spans));
		if (s->spans)
			s->spans->seed = scap_hash_seed(s->spans);
	}
	return s->spans;
}

void sinsp_marker_get_stats(const struct sinsp *s, struct sinsp_marker_stats *st)
{
	*st = s->spans ? s->spans->stats : (struct sinsp_marker_stats){0};
}

/* ---- spans ---- */

/* Makes room for a span of the process: evicts its own oldest ones; if it has none, the oldest. */
static void make_room(struct sinsp_spans *sp, int64_t pid, size_t text_sz)
{
	while (sp->n_open == SINSP_SPANS_MAX || sp->text_sz + text_sz > SINSP_SPAN_TEXTS_MAX) {
		uint32_t own = 0, any = 0;

		free(take(sp, next_span(sp, &own, SPANS_OF_PROCESS, pid)
				      ?: next_span(sp, &any, SPANS_ALL, 0)));
		sp->stats.n_evicted++;
	}
}

/* Returns the text of @n bytes behind @p, or NULL; *p and *n skip it. */
static const char *next_text(const char **p, size_t *n)
{
	const char *text = *p, *end = *n ? memchr(text, 0, *n) : NULL;

	if (!end)
		return NULL;
	*n -= (size_t)(end + 1 - text);
	*p = end + 1;
	return text;
}

/* Sets *ns to the argument @name, a decimal number. Returns whether there is one. */
static int time_arg(const struct scap_param *args, const char *name, uint64_t *ns)
{
	const char *p = (const char *)args->p, *key, *value;
	size_t n = args->len;

	while ((key = next_text(&p, &n)) && (value = next_text(&p, &n))) {
		char *end;

		if (strcmp(key, name))
			continue;
		*ns = strtoull(value, &end, 10);
		return end != value && !*end;
	}
	return 0;
}

/* Sets the time of a span of Kindling, which its arguments give. */
static void set_time(struct sinsp_span *span, const struct scap_param *args, uint64_t now)
{
	uint64_t begin, end = 0;

	if (span->tags_sz < sizeof("kd") || memcmp(span->text, "kd", sizeof("kd")))
		return;
	if (time_arg(args, MARKER_ARG_DURATION, &begin))
		begin = begin < now ? now - begin : 0;
	else if (!time_arg(args, MARKER_ARG_BEGIN, &begin))
		return;
	time_arg(args, MARKER_ARG_END, &end);
	if (!begin || begin > (end ?: now))
		return;
	span->begin_ns = begin;
	span->end_ns = end;
}

static void begin(struct sinsp_spans *sp, const struct sinsp_evt *evt)
{
	const struct scap_param *p = evt->params.v, *tags = &p[TRACER_P_TAGS],
				*args = &p[TRACER_P_ARGS];
	const struct sinsp_thread *t = evt->thread;
	const size_t sz = (size_t)tags->len + args->len;
	struct sinsp_span *span = sz <= SINSP_SPAN_TEXT_MAX ? malloc(sizeof(*span) + sz) : NULL;

	if (!span) {
		sp->stats.n_evicted++;
		return;
	}
	*span = (struct sinsp_span){
		.id = (int64_t)get_u64(p[TRACER_P_ID].p),
		.pid = t ? t->pid : -1,
		.begin_ns = evt->raw.ts_ns,
		.tags_sz = (uint16_t)tags->len,
		.args_sz = (uint16_t)args->len,
	};
	memcpy(span->text, tags->p, tags->len);
	memcpy(span->text + tags->len, args->p, args->len);
	set_time(span, args, evt->raw.ts_ns);
	make_room(sp, span->pid, sz);
	add(sp, span, (int64_t)evt->raw.hdr->tid, t ? t->ptid : -1);
	sp->begun = span;
}

static void end(struct sinsp_spans *sp, const struct sinsp_evt *evt)
{
	const struct scap_param *p = evt->params.v, *tags = &p[TRACER_P_TAGS];
	const int64_t id = (int64_t)get_u64(p[TRACER_P_ID].p);
	const uint32_t hash = hash_name(sp, id, tags->p, tags->len);
	struct sinsp_span *span = sp->latest[hash & (N_LISTS - 1)];

	for (; span; span = span->older) {
		if (span->hash != hash || span->id != id || span->tags_sz != tags->len ||
		    memcmp(span->text, tags->p, tags->len))
			continue;
		sp->ended = take(sp, span);
		if (!span->end_ns)
			span->end_ns = evt->raw.ts_ns;
		return;
	}
	sp->stats.n_unmatched++;
}

void sinsp_spans_event(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct sinsp_spans *sp = spans_of(s);

	if (!sp)
		return;
	free(sp->ended);
	sp->begun = sp->ended = NULL;
	if (evt->params.n <= TRACER_P_ARGS || evt->params.v[TRACER_P_ID].len != sizeof(uint64_t))
		return;
	(evt->raw.type == EVT_MARKER_E ? begin : end)(sp, evt);
}

/* ---- events of markers ---- */

int sinsp_marker_type(unsigned int type)
{
	return type == EVT_WRITE_X || type == EVT_WRITEV_X || type == EVT_PWRITE_X;
}

/* Returns the TID of the thread that has @number in the namespace of @t, of its process only. */
static int64_t other_thread(struct sinsp *s, const struct sinsp_thread *t, int64_t number)
{
	const struct sinsp_thread *other = sinsp_thread_in_pidns(s, t, number);

	return other && other->pid == t->pid ? other->tid : number;
}

static int64_t id_of(struct sinsp *s, const struct marker *m, const struct sinsp_thread *t)
{
	switch (m->id_kind) {
	case MARKER_ID_THREAD:
		return t->tid;
	case MARKER_ID_PROCESS:
		return t->pid;
	case MARKER_ID_PARENT:
		return t->ptid;
	case MARKER_ID_OTHER_THREAD:
		return other_thread(s, t, m->id);
	default:
		return m->id;
	}
}

static void warn_cut(struct sinsp *s)
{
	if (!s->spans->stats.n_cut++ && s->log)
		s->log(s->log_ctx, SCAP_LOG_WARN,
		       "a marker is longer than the captured bytes: some spans or arguments are "
		       "missing; capture with a larger --snaplen");
}

static void add_event(struct sinsp *s, const struct sinsp_evt *evt, const struct marker *m,
		      unsigned int type)
{
	const int64_t id = id_of(s, m, evt->thread);
	const int no_args = m->is_whole && type == EVT_MARKER_X;

	sinsp_derived_add(&s->derived, type, evt->thread->tid,
			  (const struct evt_value[]){
				  {&id, sizeof(id)},
				  {m->tags.text, m->tags.sz},
				  {m->args.text, no_args ? 0 : m->args.sz},
			  },
			  3);
}

static __attribute__((noinline)) void derive(struct sinsp *s, const struct sinsp_evt *evt,
					     const struct scap_param *data, int is_cut)
{
	struct sinsp_spans *sp = spans_of(s);
	struct marker m; /* large */
	const int r = sinsp_marker_parse(&m, data->p, data->len, is_cut);

	if (!r || !sp)
		return;
	sp->stats.n++;
	sp->stats.n_malformed += r == -EINVAL;
	if (r == -EMSGSIZE || (r == 1 && m.is_cut))
		warn_cut(s);
	if (r < 0)
		return;
	if (!m.is_exit)
		add_event(s, evt, &m, EVT_MARKER_E);
	if (m.is_exit || m.is_whole)
		add_event(s, evt, &m, EVT_MARKER_X);
}

void sinsp_marker_event(struct sinsp *s, const struct sinsp_evt *evt)
{
	const struct scap_param *p = evt->params.v;
	int64_t written;

	if (!sinsp_marker_type(evt->raw.type) || !evt->thread || !evt->fd ||
	    strcmp(evt->fd->name, "/dev/null") || evt->params.n < 2 || p[0].len != sizeof(written))
		return;
	written = (int64_t)get_u64(p[0].p);
	if (written > 0)
		derive(s, evt, &p[1], (uint64_t)written > p[1].len);
}
