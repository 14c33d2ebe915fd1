/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot becomes batches of about BATCH_SZ bytes: a family can be in several of them. Names are
 * those of the page of Prometheus, so that one metric has one name.
 */
#include "otlp_metrics.h"

#include "metrics.h"
#include "otlp_ids.h"
#include "otlp_message.h"
#include "registry_impl.h"

enum { BATCH_SZ = 1 << 20, BATCH_MAX = 4 << 20 };

struct encoder {
	const struct otlp_metrics_opts *o;
	struct pb b;
	struct otlp_request request;
	size_t metric, data; /* places; metric 0: none is begun */
	uint32_t n_points; /* of the batch; 0: it is not begun */
	uint32_t n_lost; /* points */
	struct otlp_batch **last; /* end of the list */
	char text[METRIC_LABELS * (64 + 3 * METRIC_VALUE_SZ)]; /* scratch: values of labels */
};

static const char *unit_of(const struct metric_row *m)
{
	static const char *const units[] = {
		[METRIC_COUNT] = NULL, [METRIC_NS] = "s", [METRIC_BYTES] = "By", [METRIC_UJ] = "J"};

	return units[m->unit];
}

static int is_sum(const struct metric_row *m)
{
	return m->kind == METRIC_COUNTER;
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static uint64_t start_of(const struct encoder *e, const struct series *s)
{
	const struct otlp_metrics_opts *o = e->o;

	return s->start_ns > o->start_monotonic_ns
		       ? o->start_ns + (s->start_ns - o->start_monotonic_ns)
		       : o->start_ns;
}

/* Copies the value at @p, behind its first quote, without escapes. Returns the place behind its
 * last quote. */
static const char *unescape(char **to, const char *p, const char *end)
{
	for (; p < end && *p != '"'; p++) {
		const int escaped = *p == '\\' && p + 1 < end;

		p += escaped;
		*(*to)++ = escaped && *p == 'n' ? '\n' : *p;
	}
	return p < end ? p + 1 : end;
}

/* The rendered labels are the key of the series: name="value",... */
static void put_labels(struct encoder *e, uint32_t field, const struct series *s)
{
	const char *p = s->labels, *end = p + s->labels_len;

	while (p < end) {
		const char *eq = memchr(p, '=', (size_t)(end - p));
		char name[64], *value = e->text, *to = e->text;
		const size_t len = eq ? (size_t)(eq - p) : 0;

		if (!len || len >= sizeof(name))
			return;
		memcpy(name, p, len);
		name[len] = 0;
		p = unescape(&to, eq + 2, end);
		otlp_attr(&e->b, field, name, value, (size_t)(to - value));
		p += p < end; /* the comma */
	}
}

static void put_number(struct encoder *e, const struct metric_row *m, const struct series *s)
{
	struct pb *b = &e->b;
	const size_t point = pb_begin(b, DATA_POINTS);

	put_labels(e, NUMBER_ATTRIBUTES, s);
	if (is_sum(m))
		pb_fixed64(b, NUMBER_START, start_of(e, s));
	pb_fixed64(b, NUMBER_TIME, e->o->now_ns);
	if (m->unit == METRIC_NS)
		pb_double(b, NUMBER_DOUBLE, seconds(s->value));
	else if (m->unit == METRIC_UJ)
		pb_double(b, NUMBER_DOUBLE, (double)s->value / 1e6);
	else
		pb_fixed64(b, NUMBER_INT, s->value);
	pb_end(b, point);
}

static void put_exemplar(struct pb *b, const struct kept_exemplar *k)
{
	uint8_t id[TRACE_ID_BYTES];
	size_t at;

	if (!otlp_id_read(id, sizeof(id), k->trace_id, k->len))
		return;
	at = pb_begin(b, HISTOGRAM_EXEMPLARS);
	pb_fixed64(b, EXEMPLAR_TIME, k->at_ns);
	pb_double(b, EXEMPLAR_DOUBLE, seconds(k->ns));
	pb_bytes(b, EXEMPLAR_TRACE_ID, id, sizeof(id));
	pb_end(b, at);
}

static void put_buckets(struct pb *b, const struct series *s)
{
	const uint32_t n = buckets_of(s->kind);
	size_t packed = pb_begin(b, HISTOGRAM_BUCKETS);

	for (size_t i = 0; i <= n; i++)
		pb_put_fixed64(b, s->h->buckets[i]);
	pb_end(b, packed);
	packed = pb_begin(b, HISTOGRAM_BOUNDS);
	for (size_t i = 0; i < n; i++)
		pb_put_double(b, seconds(bound_ns(s->kind, i)));
	pb_end(b, packed);
}

static void put_histogram(struct encoder *e, const struct series *s)
{
	struct pb *b = &e->b;
	const size_t point = pb_begin(b, DATA_POINTS);
	const uint32_t n_buckets = buckets_of(s->kind);
	uint64_t n = 0;

	for (size_t i = 0; i <= n_buckets; i++)
		n += s->h->buckets[i];
	put_labels(e, HISTOGRAM_ATTRIBUTES, s);
	pb_fixed64(b, HISTOGRAM_START, start_of(e, s));
	pb_fixed64(b, HISTOGRAM_TIME, e->o->now_ns);
	pb_fixed64(b, HISTOGRAM_COUNT, n);
	pb_double(b, HISTOGRAM_SUM, seconds(s->value));
	put_buckets(b, s);
	for (size_t i = 0; s->h->exemplars && i <= n_buckets; i++)
		put_exemplar(b, &s->h->exemplars[i]);
	pb_end(b, point);
}

static void begin_metric(struct encoder *e, const struct metric_row *m)
{
	struct pb *b = &e->b;

	if (!e->n_points)
		otlp_request_begin(&e->request, b, e->o->resource, e->o->version);
	e->metric = pb_begin(b, SCOPES_ITEMS);
	pb_string(b, OTLP_METRIC_NAME, m->name);
	pb_string(b, OTLP_METRIC_DESCRIPTION, m->help);
	if (unit_of(m))
		pb_string(b, OTLP_METRIC_UNIT, unit_of(m));
	e->data = pb_begin(b, buckets_of(m->kind) ? OTLP_METRIC_HISTOGRAM
			      : is_sum(m)         ? OTLP_METRIC_SUM
						  : OTLP_METRIC_GAUGE);
	if (buckets_of(m->kind) || is_sum(m))
		pb_u64(b, DATA_TEMPORALITY, TEMPORALITY_CUMULATIVE);
	if (is_sum(m))
		pb_u64(b, DATA_MONOTONIC, 1);
}

static void end_metric(struct encoder *e)
{
	if (!e->metric)
		return;
	pb_end(&e->b, e->data);
	pb_end(&e->b, e->metric);
	e->metric = 0;
}

static void end_batch(struct encoder *e)
{
	end_metric(e);
	if (!e->n_points)
		return;
	otlp_request_end(&e->request, &e->b);
	if (!e->b.failed)
		*e->last = otlp_batch_new(OTLP_METRICS, e->b.p, e->b.len, e->n_points);
	if (*e->last)
		e->last = &(*e->last)->next;
	else
		e->n_lost += e->n_points;
	pb_reset(&e->b);
	e->n_points = 0;
}

uint32_t otlp_metrics_encode(struct otlp_batch **first, const struct registry *r,
			     const struct otlp_metrics_opts *o)
{
	struct encoder e = {.o = o, .last = first};

	pb_init(&e.b, BATCH_MAX);
	while (*e.last)
		e.last = &(*e.last)->next;
	for (size_t i = 0; i < r->n_rows; i++) {
		for (const struct series *s = r->families[i].first; s; s = s->next) {
			if (!s->used || i == METRIC_TARGET) /* the resource has it */
				continue;
			if (!e.metric)
				begin_metric(&e, &r->rows[i]);
			if (s->h)
				put_histogram(&e, s);
			else
				put_number(&e, &r->rows[i], s);
			e.n_points++;
			if (e.b.len >= BATCH_SZ || e.b.failed)
				end_batch(&e);
		}
		end_metric(&e);
	}
	end_batch(&e);
	pb_fini(&e.b);
	return e.n_lost;
}
